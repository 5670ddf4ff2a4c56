package rehearsal

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/workload"
)

// OfRehearsal returns the scenario in which the jobs of a rehearsal arrive. tree is the
// platform's deploy folder, as package folder builds it. The scenario has no looks.
//
// Jobs that would arrive at the end of the rehearsal or later are omitted. Random times
// and lengths follow from the seed alone. The jobs stay the same if an arrival is added
// behind the others, if a team is added, or if a count grows.
//
// The error is an Unplayable if the platform uses something that the engine does not
// know, and if the rehearsal is one of another platform and concerns a workload, a team or
// a queue that this platform does not have. Every other error is a bug: the tree was built
// from another plan.
func OfRehearsal(p *ir.Platform, tree emit.Tree, r ir.Rehearsal) (*Scenario, error) {
	if err := checkPlatform(p); err != nil {
		return nil, err
	}
	s, err := ofPlatform(p, tree)
	if err != nil {
		return nil, err
	}
	s.Name, s.Until = r.Name, r.Until
	first := len(s.Templates)
	for _, w := range r.Workloads {
		object, err := json.Marshal(workload.Object(p, w))
		if err != nil {
			return nil, err
		}
		template, err := templateFrom(p, w, object)
		if err != nil {
			return nil, err
		}
		s.Templates = append(s.Templates, template)
	}
	if s.Jobs, err = arrivingJobs(s.Templates, first, r); err != nil {
		return nil, err
	}
	queues := map[string]bool{}
	for q := range p.ClusterQueues() {
		queues[q.ClusterQueue] = true
	}
	for _, h := range r.Holds {
		for _, q := range h.ClusterQueues {
			if !queues[q] {
				return nil, Unplayable(fmt.Sprintf("there is no ClusterQueue %s to stop", q))
			}
		}
		s.Holds = append(s.Holds, Hold{ClusterQueues: h.ClusterQueues, From: h.From, To: h.To, Drain: h.Drain})
	}
	for i := range s.Pools {
		s.Pools[i].Available = availabilityOf(s.Pools[i], r.Limits)
	}
	return s, nil
}

// arrivingJobs returns the jobs of a rehearsal by time, then by arrival, team and number or
// line. first is the index of the template of the rehearsal's first own workload.
func arrivingJobs(templates []Template, first int, r ir.Rehearsal) ([]Job, error) {
	type owner struct{ workload, team string }
	jobs, numbers := []Job{}, map[owner]int{}
	for _, a := range r.Arrivals {
		for _, t := range a.Trace {
			template := first + t.Workload
			jobs = append(jobs, Job{
				Name:     templates[template].Name + "-" + strconv.Itoa(t.Line),
				Template: template, At: t.At, Runs: t.Runs, Checkpoint: a.Checkpoint,
			})
		}
		if a.Trace != nil {
			continue
		}
		for _, team := range a.Teams {
			template := templateOf(templates, ir.Workload{Template: a.Template, Team: team})
			if template < 0 {
				return nil, Unplayable(fmt.Sprintf("team %s does not submit workload %s", team, a.Template))
			}
			d := newDice(r, a, team)
			now := a.At
			for n := range a.Count {
				if n > 0 || a.Random {
					now += d.interval(a)
				}
				if now >= r.Until {
					break
				}
				numbers[owner{a.Template, team}]++
				job := Job{
					Name:     a.Template + "-" + strconv.Itoa(numbers[owner{a.Template, team}]),
					Template: template, At: now, Checkpoint: a.Checkpoint,
				}
				if a.IndependentPods {
					for range templates[template].Pods {
						job.PodRuns = append(job.PodRuns, d.runTime(a.Runs))
					}
				} else {
					job.Runs = d.runTime(a.Runs)
				}
				jobs = append(jobs, job)
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.At, b.At) })
	return jobs, nil
}

// dice draws the random numbers of a team's jobs of one arrival. Times and lengths have
// generators of their own, so that another distribution of the one does not change the
// other.
type dice struct{ intervals, lengths *rand.Rand }

func newDice(r ir.Rehearsal, a ir.Arrival, team string) dice {
	generator := func(use string) *rand.Rand {
		h := fnv.New128a()
		fmt.Fprintf(h, "%d/%d/%s/%s", r.Seed, a.Index, team, use)
		sum := h.Sum(nil)
		return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
	}
	return dice{intervals: generator("intervals"), lengths: generator("lengths")}
}

// interval returns the time before the next job of a team, in seconds.
func (d dice) interval(a ir.Arrival) int64 {
	if !a.Random {
		return a.Every
	}
	return roundSeconds(d.intervals.ExpFloat64() * float64(a.Every))
}

// z95 is the 95th percentile of the standard normal distribution.
const z95 = 1.6448536269514722

// runTime returns the time that the next job runs, in seconds.
func (d dice) runTime(t ir.RunTime) int64 {
	switch {
	case t.Fixed > 0:
		return t.Fixed
	case t.Median > 0:
		sigma := math.Log(float64(t.P95)/float64(t.Median)) / z95
		return roundSeconds(float64(t.Median) * math.Exp(sigma*d.lengths.NormFloat64()))
	}
	return t.From + d.lengths.Int64N(t.To-t.From+1)
}

// roundSeconds rounds to whole seconds, and returns at least 1: the engine takes 0 for a
// job without an end.
func roundSeconds(seconds float64) int64 {
	const most = math.MaxInt32 // 68 years
	return int64(min(max(math.Round(seconds), 1), most))
}

// availabilityOf returns the limits on a pool, by time. A limit cannot raise the number of
// nodes.
func availabilityOf(pool Pool, limits []ir.NodeLimit) []Availability {
	var out []Availability
	for _, l := range limits { // by time
		if l.Capacity == pool.Name {
			out = append(out, Availability{
				From: l.From, To: l.To, Max: min(l.Available, pool.Max), Keeps: !l.Preempts,
			})
		}
	}
	return out
}
