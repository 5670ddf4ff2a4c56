package page

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// digest is a rehearsal as the tables and the charts need it.
type digest struct {
	plan     *ir.Platform
	scenario *rehearsal.Scenario
	history  *rehearsal.History
	report   *report.Report
	end      int64          // last time of the page, that of the report
	unit     unit           // of amounts
	teams    []string       // in the order of the platform
	tiers    []string       // by falling priority
	jobs     map[string]int // indexes of the jobs, by namespace/name
	holds    []hold         // by job, then by time
	used     [][]delta      // amounts with quota, by team
	waiting  [][]delta      // jobs without quota, by tier
	// usedOf are the amounts of quota that jobs have, by the quota.
	usedOf map[quota][]delta
}

// unit is what the amounts of the charts count.
type unit struct {
	name      string
	parts     int                          // that amounts are counted in
	of        func(rehearsal.Template) int // what a job counts for, in parts
	resources []string
}

// units returns the units. The first of which a job has some is counted.
func units() []unit {
	return []unit{
		{"accelerators", 1, func(t rehearsal.Template) int { return t.Accelerators }, []string{ir.GPU, ir.TPU}},
		{"vCPUs", 1000, func(t rehearsal.Template) int { return t.MilliCPU }, []string{ir.CPU}},
		{unitJobs, 1, func(rehearsal.Template) int { return 1 }, nil},
	}
}

const unitJobs = "jobs"

// quota names a ClusterQueue's quota of a capacity.
type quota struct{ clusterQueue, capacity string }

// hold is one time for which a job had quota.
type hold struct {
	job         int
	run         rehearsal.Run
	waits       int64 // when the job began to wait for this quota
	started, to int64 // started is -1 if the pods never ran
	capacity    string
	band, lane  int // in the timeline
}

// newDigest returns the digest of a rehearsal.
func newDigest(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History, r *report.Report) *digest {
	d := &digest{
		plan: p, scenario: s, history: h, report: r, end: max(r.End, 1), jobs: map[string]int{},
		usedOf: map[quota][]delta{},
	}
	for _, t := range p.Teams {
		d.teams = append(d.teams, t.Name)
		for _, q := range t.Queues {
			if !slices.Contains(d.tiers, q.Tier) {
				d.tiers = append(d.tiers, q.Tier)
			}
		}
	}
	slices.SortFunc(d.tiers, report.ByPriority(p))
	d.used, d.waiting = make([][]delta, len(d.teams)), make([][]delta, len(d.tiers))
	for _, d.unit = range units() {
		if slices.ContainsFunc(s.Templates, func(t rehearsal.Template) bool { return d.unit.of(t) > 0 }) {
			break
		}
	}
	for i, j := range s.Jobs {
		d.jobs[s.Templates[j.Template].Namespace+"/"+j.Name] = i
	}
	for i := range h.Jobs {
		d.addJob(i)
	}
	return d
}

// isOpen reports whether a job waits or runs at the end of the rehearsal.
func isOpen(j rehearsal.JobHistory) bool {
	return j.Outcome == rehearsal.Running || j.Outcome == rehearsal.Waiting
}

// addJob adds the quota and the waiting of a job.
func (d *digest) addJob(i int) {
	j, t := d.history.Jobs[i], d.templateOf(i)
	team, tier := slices.Index(d.teams, t.Team), slices.Index(d.tiers, t.Tier)
	waits := d.scenario.Jobs[i].At
	for _, r := range j.Runs {
		v := hold{job: i, run: r, waits: waits, started: r.Started, to: r.Ended, capacity: d.capacityOf(r)}
		if v.to == 0 {
			v.to = d.end
		}
		if !r.Ran {
			v.started = -1
		}
		d.holds = append(d.holds, v)
		from := quota{j.ClusterQueue, v.capacity}
		for _, amount := range d.amountsOf(i, r) {
			d.used[team] = addSpan(d.used[team], amount.at, v.to, amount.by)
			d.usedOf[from] = addSpan(d.usedOf[from], amount.at, v.to, amount.by)
		}
		d.waiting[tier] = addSpan(d.waiting[tier], waits, r.Reserved, 1)
		waits = v.to
	}
	until := j.End
	if isOpen(j) {
		until = d.end
	}
	d.waiting[tier] = addSpan(d.waiting[tier], waits, until, 1)
}

// addSpan adds an amount from one time to another, if there is time between them.
func addSpan(line []delta, from, to int64, amount int) []delta {
	if to <= from {
		return line
	}
	return append(line, delta{from, amount}, delta{to, -amount})
}

// templateOf returns the template of a job.
func (d *digest) templateOf(job int) rehearsal.Template {
	return d.scenario.Templates[d.scenario.Jobs[job].Template]
}

// amountOf returns what a job counts for in the charts, in parts of the unit.
func (d *digest) amountOf(job int) int { return d.unit.of(d.templateOf(job)) }

// amountsOf returns how the amount that a job counts for changes within a run: it becomes
// less when independent pods end.
func (d *digest) amountsOf(job int, r rehearsal.Run) []delta {
	if r.Pods == nil || d.unit.name == unitJobs {
		return []delta{{r.Reserved, d.amountOf(job)}}
	}
	each, pods, before := d.amountOf(job)/d.templateOf(job).Pods, 0, 0
	for _, set := range r.Flavors {
		pods += set.Pods
	}
	out := []delta{{r.Reserved, each * pods}}
	for _, finished := range r.Pods.Finished {
		out = append(out, delta{finished.At, -each * (finished.N - before)})
		before = finished.N
	}
	return out
}

// capacityOf returns the capacity on which most pods of a run are. A capacity with
// accelerators comes before one without.
func (d *digest) capacityOf(r rehearsal.Run) string {
	best, most := "", -1
	for _, f := range r.Flavors {
		weight := f.Pods
		if d.hasAccelerators(f.Flavor) {
			weight += 1 << 30
		}
		if weight > most {
			best, most = f.Flavor, weight
		}
	}
	return best
}

// hasAccelerators reports whether the nodes of a capacity have accelerators.
func (d *digest) hasAccelerators(capacity string) bool {
	i := slices.IndexFunc(d.scenario.Pools, func(p rehearsal.Pool) bool { return p.Name == capacity })
	return i >= 0 && (d.scenario.Pools[i].PerNode[ir.GPU] != "" || d.scenario.Pools[i].PerNode[ir.TPU] != "")
}

// guaranteeOf returns the amount that the queues of a team guarantee to it, and
// reports whether the team has such quota of its own. Shared queues guarantee nothing to
// one team.
func (d *digest) guaranteeOf(team ir.Team) (int64, bool) {
	sum, found := int64(0), false
	for _, q := range team.Queues {
		for _, f := range q.Flavors {
			if nominal, ok := d.nominalOf(f); ok && !q.Shared {
				sum, found = sum+nominal, true
			}
		}
	}
	return sum, found
}

// nominalOf returns the amount of a quota, and reports whether it has some resource of the
// unit. A quota that waits for its reservation has nothing yet.
func (d *digest) nominalOf(f ir.FlavorQuota) (int64, bool) {
	sum, found := resource.Quantity{}, false
	for _, r := range f.Quotas {
		if !slices.Contains(d.unit.resources, r.Resource) {
			continue
		}
		found = true
		if !f.Waiting {
			sum.Add(r.Nominal)
		}
	}
	return sum.Value(), found
}

// borrowedBy returns the amount that a team borrows: what its own queues use of a capacity
// above their quota of it.
func (d *digest) borrowedBy(team ir.Team) []delta {
	var out []delta
	for _, q := range team.Queues {
		for _, f := range q.Flavors {
			if nominal, ok := d.nominalOf(f); ok && !q.Shared {
				limit := int(nominal) * d.unit.parts
				out = append(out, above(d.usedOf[quota{q.ClusterQueue, f.Flavor}], limit)...)
			}
		}
	}
	return out
}

// evictorOf returns the job that took the place of a run as namespace/name, "" for none.
// reason says why, in words of Kueue.
func evictorOf(r rehearsal.Run) (evictor, reason string) {
	if r.By == "" {
		return "", words.OneLine(words.Truncate(r.Message, maxMessage))
	}
	// Kueue's message names the job by its UID, and then the reason and the cohorts.
	_, reason, _ = strings.Cut(r.Message, " due to ")
	reason, _, _ = strings.Cut(reason, ";")
	return r.By, words.OneLine(words.Truncate(reason, maxMessage))
}

// maxMessage is the largest number of characters of a message of Kueue on the page.
const maxMessage = 240
