package rehearsal

import (
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

const (
	// submitSeconds is the time between two submissions. demonstrate.sh submits the jobs
	// of a round at once, one after the other. Kueue orders jobs by whole seconds, and
	// breaks ties by chance, so a rehearsal with ties would not have one result.
	submitSeconds = 1
	// deleteSeconds is the time between the deletions and the submissions of a phase.
	// Kueue frees quota in it.
	deleteSeconds = 60
	// settleSeconds is the time in which pods start once their nodes have started.
	settleSeconds = 60
	// phaseUnit divides the times at which phases begin, so that they are whole minutes.
	phaseUnit = 60
)

// checkPhases returns an Unplayable if there are no phases, or if the engine cannot play
// one of them. An engine whose scheduler does not place pods itself has nodes that are alike:
// none of them can keep its pods and refuse new ones.
func checkPhases(p *ir.Platform) error {
	if len(p.Demonstration) == 0 {
		return Unplayable("the platform has no demonstration to rehearse")
	}
	for _, phase := range p.Demonstration {
		if len(phase.Cordon) > 0 && !p.Scheduler.Facts().PacksPods {
			return Unplayable("phase " + phase.Name + " cordons nodes of " + phase.Cordon[0].Capacity +
				"; with " + p.Scheduler.Facts().Name + " a rehearsal cannot play cordon")
		}
	}
	return nil
}

// stage is the demonstration while its phases are performed. It adds jobs and looks
// to the scenario.
type stage struct {
	plan     *ir.Platform
	scenario *Scenario
	startups map[string]int64 // by capacity
	// workloads are the workloads of scenario.Jobs, in the same order.
	workloads []ir.Workload
	// alive are the numbers of the jobs that exist, by the object that they are copies of.
	alive map[objectName]int
	// used are the names of all jobs so far.
	used map[objectName]bool
	now  int64
}

// objectName identifies a job.
type objectName struct{ namespace, name string }

// performPhases adds the jobs, the looks and the end of the platform's demonstration to a
// scenario.
func performPhases(p *ir.Platform, s *Scenario) {
	d := &stage{
		plan: p, scenario: s, startups: map[string]int64{}, alive: map[objectName]int{}, used: map[objectName]bool{},
	}
	for _, pool := range s.Pools {
		d.startups[pool.Name] = pool.Startup
	}
	for _, phase := range p.Demonstration {
		d.perform(phase)
	}
}

// perform performs a phase: it cordons and uncordons, it deletes, it submits, and it waits
// until the phase ends.
//
// The script goes on as soon as the numbers are as expected, and it waits for WaitSeconds
// at most. A rehearsal waits for all of WaitSeconds, or for the nodes of the jobs if they
// take longer. It does not wait any longer than that: a job without nodes that lives
// through several phases would come close to the time after which Kueue evicts it
// (ir.PodsReady).
func (d *stage) perform(phase ir.Phase) {
	began := d.now
	for _, c := range phase.Cordon {
		d.cordon(c.Capacity, c.Count)
	}
	for _, name := range phase.Uncordon {
		d.cordon(name, 0)
	}
	if d.deleteJobs(phase) {
		d.now += deleteSeconds
	}
	for _, name := range phase.Submit {
		d.submit(phase, name)
	}
	d.complete(phase, began)
	d.now += max(int64(phase.WaitSeconds), d.longestStartup()+settleSeconds)
	d.now = (d.now + phaseUnit - 1) / phaseUnit * phaseUnit
	d.scenario.Looks = append(d.scenario.Looks, d.now-1)
	d.scenario.Until = d.now
}

// complete lets the jobs of a phase that expects their end run for their usual time, and the
// jobs of earlier phases for the time before the phase too. All other jobs run until a phase
// deletes them: a rehearsal waits longer than demonstrate.sh, so that jobs could end before a
// phase that needs them.
func (d *stage) complete(phase ir.Phase, began int64) {
	for _, name := range phase.Completed {
		for _, w := range d.jobsOf(phase, name) {
			if i, ok := d.alive[objectName{w.Namespace, w.Name}]; ok {
				job := &d.scenario.Jobs[i]
				job.Runs = int64(w.UsualSeconds) + max(0, began-job.At)
			}
		}
	}
}

// cordon changes the number of cordoned nodes of a capacity.
func (d *stage) cordon(capacity string, nodes int) {
	for i := range d.scenario.Pools {
		if pool := &d.scenario.Pools[i]; pool.Name == capacity {
			pool.Cordoned = append(pool.Cordoned, Count{At: d.now, N: nodes})
		}
	}
}

// deleteJobs deletes the jobs of a phase, and reports whether there were any.
func (d *stage) deleteJobs(phase ir.Phase) bool {
	deleted := false
	for _, name := range phase.Delete {
		for _, w := range d.jobsOf(phase, name) {
			if i, ok := d.alive[objectName{w.Namespace, w.Name}]; ok {
				d.scenario.Jobs[i].Deleted = d.now
				delete(d.alive, objectName{w.Namespace, w.Name})
				deleted = true
			}
		}
	}
	return deleted
}

// submit submits the jobs of a template that do not exist.
func (d *stage) submit(phase ir.Phase, template string) {
	for _, w := range d.jobsOf(phase, template) {
		key := objectName{w.Namespace, w.Name}
		if _, ok := d.alive[key]; ok {
			continue
		}
		d.alive[key] = len(d.scenario.Jobs)
		d.workloads = append(d.workloads, w)
		d.scenario.Jobs = append(d.scenario.Jobs, Job{
			Name: d.nameOf(w), Template: templateOf(d.scenario.Templates, w), At: d.now,
		})
		if phase.OneByOne {
			d.now += d.startupOf(w) + settleSeconds
		} else {
			d.now += submitSeconds
		}
	}
}

// jobsOf returns the jobs of a template that belong to the teams of a phase, in the order
// of submission: the teams take turns, first each with its first copy, then each with its
// second copy.
func (d *stage) jobsOf(phase ir.Phase, template string) []ir.Workload {
	var rounds [][]ir.Workload // by copy
	round, team := 0, ""
	for _, w := range d.plan.Workloads {
		if w.Template != template || !phase.TakesPart(w.Team) {
			continue
		}
		if w.Team != team {
			round, team = 0, w.Team
		}
		if round == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], w)
		round++
	}
	return slices.Concat(rounds...)
}

// nameOf returns the name of a new job: the name of its object, with a number if an
// earlier phase has submitted the object and deleted it. The script uses the name again.
// In a rehearsal a name belongs to one job, so that the history can name it.
func (d *stage) nameOf(w ir.Workload) string {
	name := objectName{w.Namespace, w.Name}
	for n := 2; d.used[name]; n++ {
		name.name = w.Name + "-again-" + strconv.Itoa(n)
	}
	d.used[name] = true
	return name.name
}

// longestStartup returns the longest time in which nodes start for one of the jobs that
// exist, in seconds.
func (d *stage) longestStartup() int64 {
	longest := int64(0)
	for _, i := range d.alive {
		longest = max(longest, d.startupOf(d.workloads[i]))
	}
	return longest
}

// startupOf returns the longest time in which nodes for a job start, in seconds.
func (d *stage) startupOf(w ir.Workload) int64 {
	longest := int64(0)
	for _, c := range w.Capacities {
		longest = max(longest, d.startups[c])
	}
	for _, a := range w.Auxiliaries {
		longest = max(longest, d.startups[a.Capacity])
	}
	return longest
}
