package report

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// The numbers of rows of a report.
const (
	longestWaits = 10
	mostHolders  = 3
)

// Wait is a long wait of a job.
type Wait struct {
	Job     string `json:"job"` // namespace/name
	Team    string `json:"team"`
	Tier    string `json:"tier"`
	Wait    Length `json:"wait"` // as in Group
	Started bool   `json:"started"`
	// Quota is the part of the wait until Kueue reserved quota for the first time. The
	// rest of the wait was for nodes, or for quota after an eviction.
	Quota   int64  `json:"quotaSeconds"`
	Message string `json:"message"` // as rehearsal.JobHistory.Waits
	// Holders are the groups whose other jobs held most of the accelerators of the
	// capacities that the job's queue can use, at the middle of the wait. At most
	// mostHolders, the largest first.
	Holders []Holder `json:"holders"`
}

// Holder is a group whose jobs hold accelerators.
type Holder struct {
	Team         string `json:"team"`
	Tier         string `json:"tier"`
	Accelerators int    `json:"accelerators"`
}

// WithoutQuota counts jobs of a workload that never had quota and wait at the end.
type WithoutQuota struct {
	Team     string `json:"team"`
	Tier     string `json:"tier"`
	Workload string `json:"workload"`
	Jobs     int    `json:"jobs"`
	Message  string `json:"message"` // Kueue's last message about the first of the jobs
}

// longestWaits returns the longest waits, then by arrival.
func (a *analysis) longestWaits() []Wait {
	var waited []*job
	for i := range a.jobs {
		if a.jobs[i].wait.Seconds > 0 {
			waited = append(waited, &a.jobs[i])
		}
	}
	slices.SortStableFunc(waited, func(a, b *job) int { return cmp.Compare(b.wait.Seconds, a.wait.Seconds) })
	out := []Wait{}
	for _, j := range waited[:min(len(waited), longestWaits)] {
		w := Wait{
			Job: j.key, Team: j.Team, Tier: j.Tier, Wait: j.wait, Started: j.started, Quota: j.wait.Seconds,
			Message: j.history.Waits, Holders: a.holdersBeside(j),
		}
		if len(j.runs) > 0 {
			w.Quota = j.runs[0].reserved - j.submitted.At
		}
		out = append(out, w)
	}
	return out
}

// holdersBeside returns the groups that hold most of the accelerators of the capacities
// that the queue of a job can use, at the middle of the job's wait.
func (a *analysis) holdersBeside(waiting *job) []Holder {
	at := waiting.submitted.At + waiting.wait.Seconds/2
	usable := usableBy(a.plan, waiting.history.ClusterQueue)
	type key struct{ team, tier string }
	held := map[key]int{}
	for i := range a.jobs {
		j := &a.jobs[i]
		for n, r := range j.runs {
			if j != waiting && r.reserved <= at && at < r.ended {
				a.eachFlavor(j, n, func(flavor string, accelerators int) {
					if slices.Contains(usable, flavor) && accelerators > 0 {
						held[key{j.Team, j.Tier}] += accelerators
					}
				})
			}
		}
	}
	out := []Holder{}
	for k, n := range held {
		out = append(out, Holder{k.team, k.tier, n})
	}
	slices.SortFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Accelerators, a.Accelerators), cmp.Compare(a.Team, b.Team),
			cmp.Compare(a.Tier, b.Tier))
	})
	return out[:min(len(out), mostHolders)]
}

// usableBy returns the capacities of which a ClusterQueue has quota, or can borrow it.
func usableBy(p *ir.Platform, queue string) []string {
	var out []string
	for q := range p.ClusterQueues() {
		if q.ClusterQueue != queue {
			continue
		}
		for _, f := range q.Flavors {
			if f.Usable() {
				out = append(out, f.Flavor)
			}
		}
	}
	return out
}

// withoutQuota counts the jobs that never had quota and wait at the end, by team, tier and
// workload.
func (a *analysis) withoutQuota() []WithoutQuota {
	type key struct{ team, workload string }
	rows := map[key]int{}
	out := []WithoutQuota{}
	for i := range a.jobs {
		j := &a.jobs[i]
		if j.history.Outcome != rehearsal.Waiting || len(j.runs) > 0 {
			continue
		}
		k := key{j.Team, j.Name}
		row, ok := rows[k]
		if !ok {
			row, rows[k] = len(out), len(out)
			out = append(out, WithoutQuota{Team: j.Team, Tier: j.Tier, Workload: j.Name, Message: j.history.Waits})
		}
		out[row].Jobs++
	}
	slices.SortFunc(out, func(a, b WithoutQuota) int {
		return cmp.Or(cmp.Compare(a.Team, b.Team), cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Workload, b.Workload))
	})
	return out
}
