// Package report computes what a rehearsal shows: who waited, who was evicted, how much of
// the nodes was used, and whether what the blueprint expects has happened. A Scenario and
// its History come in, a Report goes out; Text, Markdown and JSON write it. Compare
// returns what differs between two reports.
package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Report is what a rehearsal shows. All times and lengths are in seconds.
type Report struct {
	Rehearsal string `json:"rehearsal"`
	Shows     string `json:"shows,omitempty"` // what the blueprint says that the rehearsal shows
	Platform  string `json:"platform"`
	// Scheduler is the release whose code decided, and Installed the release that the platform
	// installs.
	Scheduler rehearsal.Scheduler `json:"scheduler"`
	Installed string              `json:"installed"`
	Until     int64               `json:"until"`
	// End is the time up to which the rehearsal was played: Until, unless it was
	// Interrupted.
	End          int64 `json:"end"`
	Interrupted  bool  `json:"interrupted"`
	ReversedTies bool  `json:"reversedTies"`

	Total      Group      `json:"total"` // of all jobs, without names
	Tiers      []Group    `json:"tiers"` // of each tier that has jobs, by falling priority
	Teams      []Group    `json:"teams"` // of each team and tier that has jobs, by team, then as Tiers
	Capacities []Capacity `json:"capacities"`
	// Currency and Cost are the sum of the capacities' costs; both are "" without prices.
	Currency string `json:"currency,omitempty"`
	Cost     string `json:"cost,omitempty"`
	// Fairness is Jain's index of the accelerator hours of the teams, each divided by the
	// team's guarantee: (sum x)^2 / (n * sum x^2). It is 1 if each team has used the same
	// share of its guarantee, and 1/n if one team has used everything. Teams without
	// jobs do not count. It is nil with fewer than two teams that have a guarantee, or if no
	// accelerator was used.
	Fairness *float64 `json:"fairness"`
	// VCPUFairness is the same index of the vCPU hours on capacities without accelerators.
	VCPUFairness *float64 `json:"vcpuFairness,omitempty"`

	Evictions []Evictions `json:"evictions"` // the most frequent first
	Waits     []Wait      `json:"waits"`     // the longest, the longest first
	Waiting   []Waiting   `json:"waiting"`   // the jobs that have never had quota, the longest wait first

	Phases      []Phase                `json:"phases"` // of a demonstration
	Differences []rehearsal.Difference `json:"differences"`
	Verdicts    []Verdict              `json:"verdicts"` // on what the rehearsal expects, in the order of the blueprint
}

// Group counts the jobs of a team in a tier.
type Group struct {
	Team      string `json:"team,omitempty"`
	Tier      string `json:"tier,omitempty"`
	Submitted int    `json:"submitted"`
	Started   int    `json:"started"` // all pods ran at least once
	Finished  int    `json:"finished"`
	Deleted   int    `json:"deleted"`
	Running   int    `json:"running"` // with quota at the end
	Waiting   int    `json:"waiting"` // without quota at the end
	// Wait is the time from the submission of a job to the first start of all its pods.
	Wait Spread `json:"wait"`
	// Completion is the time from the submission of a job to its end.
	Completion Spread `json:"completion"`
	Evictions  int    `json:"evictions"`
	// Used is the accelerator time in which all pods of the jobs ran. Lost is the part of it
	// that has to be done again: the work between the last checkpoint and an eviction, or
	// the loss of a node.
	Used int64 `json:"acceleratorSeconds"`
	Lost int64 `json:"lostAcceleratorSeconds"`
	// UsedVCPU and LostVCPU are the same for the pods on capacities without accelerators: the
	// vCPUs that they request, times the time in which they ran.
	UsedVCPU int64 `json:"vcpuSeconds,omitempty"`
	LostVCPU int64 `json:"lostVCPUSeconds,omitempty"`
	// Stopped is the sum of the times in which jobs that had started did not run, because
	// nodes were lost. No Wait contains it.
	Stopped int64 `json:"stopped"`
}

// Spread is the distribution of a time over jobs: the time that 50% and 95% of the jobs do
// not exceed (nearest rank), and the longest.
type Spread struct {
	P50 Bound `json:"p50"`
	P95 Bound `json:"p95"`
	Max Bound `json:"max"`
}

// Bound is a time in seconds. The time of a job that has not ended, or not started, is not
// known: it is at least the time until now. AtLeast reports whether Seconds would be larger
// if these times were; Seconds is then the lower bound.
type Bound struct {
	Seconds int64 `json:"seconds"`
	AtLeast bool  `json:"atLeast,omitempty"`
}

// Capacity is the use of a capacity's nodes. Accelerator times are 0 for a capacity
// without accelerators.
type Capacity struct {
	Name      string  `json:"name"`
	MeanNodes float64 `json:"meanNodes"`
	MostNodes int     `json:"mostNodes"`
	// NodeSeconds is the time for which the nodes existed, each counted.
	NodeSeconds int64 `json:"nodeSeconds"`
	Paid        int64 `json:"acceleratorSeconds"` // of the nodes that existed
	Used        int64 `json:"usedAcceleratorSeconds"`
	// Maximum is the accelerator time of the most nodes that the blueprint allows, had they
	// existed all the time.
	Maximum int64 `json:"maximumAcceleratorSeconds"`
	// VCPU is the use in vCPU time. It is nil for a capacity with accelerators.
	VCPU *VCPUUse `json:"vcpu,omitempty"`
	// Cost is the price of the nodes that existed, in Report.Currency and rounded to
	// hundredths, such as "1234.50". It is "" without prices.
	Cost string `json:"cost,omitempty"`
}

// VCPUUse is the use of a capacity without accelerators, with the meanings of Capacity. A node
// counts with the vCPUs that it offers to the pods of jobs, and a pod with those it requests.
type VCPUUse struct {
	Paid    int64 `json:"seconds"`
	Used    int64 `json:"usedSeconds"`
	Maximum int64 `json:"maximumSeconds"`
}

// times returns Paid, Used and Maximum in what the capacity is counted in.
func (c Capacity) times() VCPUUse {
	if c.VCPU != nil {
		return *c.VCPU
	}
	return VCPUUse{c.Paid, c.Used, c.Maximum}
}

// Utilization returns the percentage of the accelerator time or vCPU time that jobs used, and
// whether there was any.
func (c Capacity) Utilization() (percent float64, known bool) {
	times := c.times()
	return percentOf(times.Used, times.Paid)
}

// OfMaximum returns the percentage of Maximum that jobs used, and whether there is a Maximum.
func (c Capacity) OfMaximum() (percent float64, known bool) {
	times := c.times()
	return percentOf(times.Used, times.Maximum)
}

// percentOf returns the percentage, and whether there is any time.
func percentOf(used, all int64) (percent float64, known bool) {
	if all == 0 {
		return 0, false
	}
	return 100 * float64(used) / float64(all), true
}

// Evictions counts evictions of jobs of one team and tier for those of another. ByTeam and
// ByTier are "" if no job took the place.
type Evictions struct {
	Reason rehearsal.EvictionReason `json:"reason"`
	Team   string                   `json:"team"`
	Tier   string                   `json:"tier"`
	ByTeam string                   `json:"byTeam,omitempty"`
	ByTier string                   `json:"byTier,omitempty"`
	Count  int                      `json:"count"`
}

// Wait is a long wait of a job.
type Wait struct {
	Job     string `json:"job"`
	Team    string `json:"team"`
	Tier    string `json:"tier"`
	At      int64  `json:"at"` // time of the submission
	Seconds int64  `json:"seconds"`
	Quota   int64  `json:"quotaSeconds"` // the part of Seconds in which the job had no quota
	Started bool   `json:"started"`      // if not, the job still waited at the end, or was Deleted
	Deleted bool   `json:"deleted"`      // before it started
	// Why says why the job waited for quota, "" if it waited only for nodes. Message is the
	// scheduler's last message about this wait, "" if there is none.
	Why     string `json:"why"`
	Message string `json:"message"`
	By      string `json:"by,omitempty"` // namespace/name of the job that preempted this one last during the wait
	// Holders are the teams and tiers that held most of the accelerators which the job
	// could use, in the middle of its wait, the largest first. For a job that can use only
	// capacities without accelerators, they are those that held most vCPUs.
	Holders []Holder `json:"holders,omitempty"`
}

// Holder is a team and tier that held accelerators or vCPUs.
type Holder struct {
	Team         string  `json:"team"`
	Tier         string  `json:"tier"`
	Accelerators int     `json:"accelerators"`
	VCPUs        float64 `json:"vcpus,omitempty"`
}

// Waiting counts the jobs of one workload and team that have never had quota.
type Waiting struct {
	Workload string `json:"workload"`
	Team     string `json:"team"`
	Count    int    `json:"count"`
	Longest  int64  `json:"longest"`
	// Why and Message are those of the job that has waited longest, as in Wait.
	Why     string `json:"why"`
	Message string `json:"message"`
}

// Phase is the state after a phase of the demonstration. All fields but Name are empty if
// the rehearsal did not reach the end of the phase.
type Phase struct {
	Name    string       `json:"name"`
	Queues  []QueueRow   `json:"queues"`  // by falling priority of the tier, then numbers
	Pods    []CountedRow `json:"pods"`    // running pods, by capacity
	Pending int          `json:"pending"` // pods that wait for nodes
	// ExpectedPending is what the phase expects instead of Pending. It is nil if Pending is
	// as expected, or if nothing is expected.
	ExpectedPending *int `json:"expectedPending,omitempty"`
}

// QueueRow counts the queues of a tier with the same numbers of jobs.
type QueueRow struct {
	Tier     string `json:"tier"`
	Queues   int    `json:"queues"`
	Pending  int    `json:"pending"`
	Admitted int    `json:"admitted"`
	// Expected are the numbers that the phase expects of each queue. It is nil if the queues
	// are as expected, or if nothing is expected.
	Expected *QueueCounts `json:"expected,omitempty"`
}

// QueueCounts are the numbers of jobs in a queue.
type QueueCounts struct {
	Pending  int `json:"pending"`
	Admitted int `json:"admitted"`
}

// CountedRow is a number of pods on a capacity.
type CountedRow struct {
	Capacity string `json:"capacity"`
	Count    int    `json:"count"`
	// Expected is the number that the phase expects. It is nil if Count is as expected, or
	// if nothing is expected.
	Expected *int `json:"expected,omitempty"`
}

// mostWaits is the number of long waits in a report.
const mostWaits = 10

// Of returns the report of a rehearsal. The scenario must be one of the platform, the
// history that of the scenario, and expect what the rehearsal expects, nil for nothing.
// The differences are those of the platform's demonstration, if that is what was rehearsed.
func Of(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History, expect []ir.RehearsalExpectation) *Report {
	m := newMeasures(p, s, h)
	r := &Report{
		Rehearsal: s.Name, Platform: p.Name, Scheduler: h.Scheduler, Installed: s.Scheduler.Version,
		Until: s.Until, End: m.end,
		Interrupted: h.Interrupted, ReversedTies: s.ReversedTies,
		Total:      m.countJobs(m.jobs),
		Tiers:      m.groups(func(t *rehearsal.Template) group { return group{tier: t.Tier} }),
		Teams:      m.groups(func(t *rehearsal.Template) group { return group{t.Team, t.Tier} }),
		Capacities: m.capacities(),
		Fairness:   m.fairness(false), VCPUFairness: m.fairness(true),
		Evictions: m.evictions(),
		Waits:     m.longestWaits(),
		Waiting:   m.neverStarted(),
		Phases:    []Phase{}, Differences: []rehearsal.Difference{}, Verdicts: []Verdict{},
	}
	if s.Name == ir.DemonstrationRehearsal {
		r.Phases = phasesOf(p, s, h)
		r.Differences = append(r.Differences, rehearsal.Differences(p, s, h)...)
	}
	for _, rehearsed := range p.Rehearsals {
		if rehearsed.Name == s.Name {
			r.Shows = rehearsed.Shows
		}
	}
	for _, e := range expect {
		r.Verdicts = append(r.Verdicts, m.judge(e))
	}
	return r
}

// phasesOf returns the states after the phases that the history has.
func phasesOf(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History) []Phase {
	tiers := map[string]string{}
	for q := range p.ClusterQueues() {
		tiers[q.ClusterQueue] = q.Tier
	}
	out := []Phase{}
	for i, phase := range p.Demonstration {
		row := Phase{Name: phase.Name, Queues: []QueueRow{}, Pods: []CountedRow{}}
		if state, known := rehearsal.StateAfter(s, h, i); known {
			row.Queues, row.Pending = queueRows(p, phase, state, tiers), state.Pending
			if phase.Pending != nil && *phase.Pending != state.Pending {
				row.ExpectedPending = phase.Pending
			}
			row.Pods = podRows(phase, state)
		}
		out = append(out, row)
	}
	return out
}

// podRows counts the running pods of a state. A capacity without pods is omitted, except if
// the phase expects some.
func podRows(phase ir.Phase, state rehearsal.State) []CountedRow {
	expected := map[string]*int{}
	counts := maps.Clone(state.Pods)
	for _, e := range phase.Pods {
		if n := state.Pods[e.Capacity]; n != e.Count {
			expected[e.Capacity] = &e.Count
			counts[e.Capacity] = n
		}
	}
	out := []CountedRow{}
	for _, capacity := range slices.Sorted(maps.Keys(counts)) {
		if counts[capacity] > 0 || expected[capacity] != nil {
			out = append(out, CountedRow{capacity, counts[capacity], expected[capacity]})
		}
	}
	return out
}

// queueRows counts the queues of a state. Queues without jobs are omitted, except if the
// phase expects some.
func queueRows(p *ir.Platform, phase ir.Phase, state rehearsal.State, tiers map[string]string) []QueueRow {
	expected := map[string]QueueCounts{}
	for _, e := range phase.Queues {
		for _, name := range p.QueuesOf(phase, e.Tier) {
			expected[name] = QueueCounts{e.Pending, e.Admitted}
		}
	}
	type kind struct {
		tier          string
		got, expected QueueCounts
	}
	counts := map[kind]int{}
	for _, q := range state.Queues {
		k := kind{tier: tiers[q.ClusterQueue], got: QueueCounts{q.Pending, q.Admitted}}
		k.expected = k.got
		if e, ok := expected[q.ClusterQueue]; ok {
			k.expected = e
		}
		if k.got != (QueueCounts{}) || k.expected != k.got {
			counts[k]++
		}
	}
	byPriority := ByPriority(p)
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b kind) int {
		return cmp.Or(byPriority(a.tier, b.tier), cmp.Compare(counts[b], counts[a]), a.got.compare(b.got),
			a.expected.compare(b.expected))
	})
	out := []QueueRow{}
	for _, k := range kinds {
		row := QueueRow{Tier: k.tier, Queues: counts[k], Pending: k.got.Pending, Admitted: k.got.Admitted}
		if k.expected != k.got {
			row.Expected = &k.expected
		}
		out = append(out, row)
	}
	return out
}

func (c QueueCounts) compare(other QueueCounts) int {
	return cmp.Or(cmp.Compare(c.Pending, other.Pending), cmp.Compare(c.Admitted, other.Admitted))
}

// ByPriority returns a function that compares the names of tiers of a platform: the tier with
// the higher priority comes first.
func ByPriority(p *ir.Platform) func(a, b string) int {
	priority := map[string]int32{}
	for _, c := range p.PriorityClasses { // by rising value
		priority[c.Tier] = c.Value
	}
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(priority[b], priority[a]), cmp.Compare(a, b))
	}
}
