// Package report computes what a rehearsal shows, from its scenario and its history: who
// waited how long, who was evicted, how the accelerators were used, and whether the
// rehearsal went as expected. Text, JSON and Markdown print a report.
package report

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Report is what a rehearsal shows. Times are in whole seconds. Amounts of accelerator
// time are in accelerator seconds: one GPU or TPU chip for one second. Lists are never nil.
type Report struct {
	Name  string `json:"name"`
	Kueue string `json:"kueue"` // release of the Kueue that decided
	Until int64  `json:"until"` // end of the scenario
	// End is the time up to which the report counts: Until, or the time at which the
	// rehearsal was interrupted.
	End          int64 `json:"end"`
	Interrupted  bool  `json:"interrupted"`
	ReversedTies bool  `json:"reversedTies"`

	Total  Group   `json:"total"`
	Groups []Group `json:"groups"` // by team and tier
	Teams  []Group `json:"teams"`  // in the order of the platform; Tier is ""
	Tiers  []Group `json:"tiers"`  // by priority, the highest first; Team is ""

	Capacities []Capacity  `json:"capacities"` // by name
	Evictions  []Evictions `json:"evictions"`  // the most frequent first
	// Fairness is Jain's index of the teams' accelerator time per guaranteed accelerator:
	// with x(i) = accelerator time of team i / guarantee of team i, for n teams,
	//
	//	(x(1) + ... + x(n))² / (n · (x(1)² + ... + x(n)²))
	//
	// It is 1 if all teams have the same x, and 1/n if only one team has any. The
	// guarantee is the nominal quota of accelerators of the team's own queues; teams
	// without a guarantee are omitted, and all accelerators count alike. Fairness is nil
	// for fewer than two teams, and if no team has used any accelerator.
	Fairness *float64 `json:"fairness"`

	Longest      []Wait         `json:"longestWaits"` // at most longestWaits, the longest first
	WithoutQuota []WithoutQuota `json:"withoutQuota"` // by team, tier and workload
	Phases       []Phase        `json:"phases"`       // of the demonstration, empty for another rehearsal
	Verdicts     []Verdict      `json:"verdicts"`     // in the order of the expectations
}

// Group counts the jobs of a team, of a tier or of both. Jobs that an interrupted
// rehearsal did not reach are omitted everywhere.
type Group struct {
	Team string `json:"team"` // "" for all teams
	Tier string `json:"tier"` // "" for all tiers

	Submitted int `json:"submitted"`
	Started   int `json:"started"`  // all pods ran at some time
	Finished  int `json:"finished"` // before the end, as all counts below
	Running   int `json:"running"`  // with quota, and perhaps without nodes
	Waiting   int `json:"waiting"`  // without quota
	Deleted   int `json:"deleted"`

	// Wait is the time from the arrival of a job to the first start of all its pods. A
	// job that has not started has waited at least until the end of the rehearsal, or
	// until it was deleted.
	Wait Times `json:"wait"`
	// Completion is the time from the arrival of a job to its finish. A job that has not
	// finished takes at least until the end of the rehearsal. Jobs that were deleted, or
	// that run until they are deleted, are omitted.
	Completion Times `json:"completion"`

	Evictions int `json:"evictions"`
	// Used is the accelerator time in which all pods of a job ran.
	Used int64 `json:"acceleratorSeconds"`
	// Lost is the part of Used that evictions threw away: the time of an evicted run
	// since its last checkpoint.
	Lost int64 `json:"lostAcceleratorSeconds"`
}

// Capacity is the use of a capacity's nodes.
type Capacity struct {
	Name         string  `json:"name"`
	Nodes        int     `json:"nodes"`        // most nodes at a time
	MeanNodes    float64 `json:"meanNodes"`    // over time
	Accelerators int     `json:"accelerators"` // per node
	Available    int64   `json:"acceleratorSeconds"`
	// Used is the part of Available in which all pods of a job ran.
	Used int64 `json:"usedAcceleratorSeconds"`
	Idle int64 `json:"idleAcceleratorSeconds"`
	// Utilization is Used as a percentage of Available, nil if nothing was available.
	Utilization *float64 `json:"utilization"`
}

// Evictions counts evictions that have everything but the jobs in common.
type Evictions struct {
	Reason rehearsal.EvictionReason `json:"reason"`
	Team   string                   `json:"team"` // of the evicted jobs
	Tier   string                   `json:"tier"`
	ByTeam string                   `json:"byTeam"` // of the jobs that took their place, "" for none
	ByTier string                   `json:"byTier"`
	Count  int                      `json:"count"`
}

// Of returns the report of a rehearsal of a platform. The scenario must be that of the
// platform, and the history that of the scenario. expect are the expectations of the
// rehearsal; a demonstration has its own, in its phases.
func Of(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History, expect []ir.RehearsalExpectation) *Report {
	r := &Report{
		Name: s.Name, Kueue: h.Kueue, Until: s.Until, End: s.Until, Interrupted: h.Interrupted,
		ReversedTies: s.ReversedTies, Verdicts: []Verdict{}, Phases: []Phase{},
	}
	if h.Interrupted {
		r.End = h.End
	}
	a := newAnalysis(p, s, h, r.End)
	a.addGroups(r)
	a.uses = a.capacities()
	r.Capacities = a.uses
	r.Evictions = a.evictions()
	r.Fairness = fairness(p, r.Teams)
	r.Longest = a.longestWaits()
	r.WithoutQuota = a.withoutQuota()
	if len(s.Looks) > 0 {
		r.Phases = a.phases()
	}
	for _, e := range expect {
		r.Verdicts = append(r.Verdicts, a.decide(e))
	}
	return r
}

// analysis holds what the parts of a report are computed from.
type analysis struct {
	plan     *ir.Platform
	scenario *rehearsal.Scenario
	history  *rehearsal.History
	end      int64
	// accelerators are those of a node, by pool.
	accelerators map[string]int
	auxiliaries  []map[string]int // accelerators of a pod by pod set, by template
	jobs         []job            // the submitted jobs, in the order of the scenario
	uses         []Capacity
}

// job is a submitted job.
type job struct {
	*rehearsal.Template
	submitted  rehearsal.Job
	history    *rehearsal.JobHistory
	key        string // namespace/name
	runs       []run  // as history.Runs
	started    bool
	wait       Length
	completion Length
}

// run is the time in which all pods of a job ran, and in which it held quota.
type run struct {
	reserved, ended int64
	started         int64 // ended, if not all pods ran
	lost            int64 // seconds thrown away by an eviction
}

func newAnalysis(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History, end int64) *analysis {
	a := &analysis{plan: p, scenario: s, history: h, end: end, accelerators: map[string]int{}}
	for _, pool := range s.Pools {
		a.accelerators[pool.Name] = acceleratorsPerNode(pool)
	}
	namespaces := map[string]string{}
	for _, t := range p.Teams {
		namespaces[t.Name] = t.Namespace
	}
	for _, t := range s.Templates {
		a.auxiliaries = append(a.auxiliaries, auxiliariesOf(p, t))
	}
	a.jobs = make([]job, 0, len(s.Jobs))
	for i, submitted := range s.Jobs {
		if submitted.At > end || i >= len(h.Jobs) {
			continue
		}
		template := &s.Templates[submitted.Template]
		j := job{
			Template: template, submitted: submitted, history: &h.Jobs[i],
			key: namespaces[template.Team] + "/" + submitted.Name,
		}
		a.measure(&j)
		a.jobs = append(a.jobs, j)
	}
	return a
}

// auxiliariesOf returns the accelerators of each auxiliary pod of a template's workload.
func auxiliariesOf(p *ir.Platform, t rehearsal.Template) map[string]int {
	out := map[string]int{}
	for _, w := range p.Workloads {
		if w.Template != t.Name || w.Team != t.Team {
			continue
		}
		for _, aux := range w.Auxiliaries {
			out[aux.Name] = rehearsal.RequestedAccelerators(aux.Requests)
		}
		break // the other copies are alike
	}
	return out
}

// measure computes the times of a job.
func (a *analysis) measure(j *job) {
	gone := a.end
	if j.history.Outcome == rehearsal.Deleted {
		gone = j.history.End
	}
	j.wait = Length{gone - j.submitted.At, true}
	j.runs = make([]run, 0, len(j.history.Runs))
	for i, of := range j.history.Runs {
		r := run{reserved: of.Reserved, ended: cmp.Or(of.Ended, a.end)}
		r.started = r.ended
		if start, ok := a.startOf(j, i); ok {
			r.started = start
			if !j.started {
				j.started, j.wait = true, Length{start - j.submitted.At, false}
			}
		}
		if of.Evicted != "" {
			r.lost = r.ended - r.started
			if j.submitted.Checkpoint > 0 {
				r.lost %= j.submitted.Checkpoint
			}
		}
		j.runs = append(j.runs, r)
	}
	j.completion = Length{a.end - j.submitted.At, true}
	if j.history.Outcome == rehearsal.Finished {
		j.completion = Length{j.history.End - j.submitted.At, false}
	}
}

// startOf returns the time at which all pods of a run started, and reports whether they
// did. The history has the same number for a start at time 0 and for none. Pods that got
// quota at time 0 started then if each of their pools had nodes.
func (a *analysis) startOf(j *job, number int) (at int64, ok bool) {
	of := j.history.Runs[number]
	if of.Started > 0 || of.Reserved > 0 {
		return of.Started, of.Started > 0
	}
	for _, f := range of.Flavors {
		for _, use := range a.history.Pools {
			if use.Name == f.Flavor && (len(use.Nodes) == 0 || use.Nodes[0] == rehearsal.Count{}) {
				return 0, false
			}
		}
	}
	return 0, true
}

// eachFlavor calls f with the flavors of a job's run and the accelerators that the job
// holds there. Pods that are no auxiliaries have equal shares of the job's accelerators.
func (a *analysis) eachFlavor(j *job, number int, f func(flavor string, accelerators int)) {
	if j.Accelerators == 0 {
		return
	}
	auxiliaries := a.auxiliaries[j.submitted.Template]
	flavors := j.history.Runs[number].Flavors
	rest, pods := j.Accelerators, 0
	for _, set := range flavors {
		if each, ok := auxiliaries[set.PodSet]; ok {
			rest -= each * set.Pods
		} else {
			pods += set.Pods
		}
	}
	for _, set := range flavors {
		if each, ok := auxiliaries[set.PodSet]; ok {
			f(set.Flavor, each*set.Pods)
		} else if pods > 0 {
			f(set.Flavor, rest*set.Pods/pods)
		}
	}
}

// evictions returns the evictions, the most frequent first, then by names.
func (a *analysis) evictions() []Evictions {
	jobs := make(map[string]*job, len(a.jobs))
	for i := range a.jobs {
		jobs[a.jobs[i].key] = &a.jobs[i]
	}
	counts := map[Evictions]int{}
	for i := range a.jobs {
		j := &a.jobs[i]
		for _, r := range j.history.Runs {
			if r.Evicted == "" {
				continue
			}
			key := Evictions{Reason: r.Evicted, Team: j.Team, Tier: j.Tier}
			if by := jobs[r.By]; by != nil {
				key.ByTeam, key.ByTier = by.Team, by.Tier
			}
			counts[key]++
		}
	}
	out := []Evictions{}
	for e, n := range counts {
		e.Count = n
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Evictions) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Team, b.Team),
			cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.ByTeam, b.ByTeam), cmp.Compare(a.ByTier, b.ByTier))
	})
	return out
}

// fairness returns Report.Fairness.
func fairness(p *ir.Platform, teams []Group) *float64 {
	guarantees := map[string]int64{}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			if !q.Shared {
				guarantees[t.Name] += guaranteeOf(q)
			}
		}
	}
	n, sum, squares := 0, 0.0, 0.0
	for _, t := range p.Teams {
		if guarantees[t.Name] == 0 {
			continue
		}
		x := 0.0
		if i := slices.IndexFunc(teams, func(g Group) bool { return g.Team == t.Name }); i >= 0 {
			x = float64(teams[i].Used) / float64(guarantees[t.Name])
		}
		n, sum, squares = n+1, sum+x, squares+x*x
	}
	if n < 2 || squares == 0 {
		return nil
	}
	index := sum * sum / (float64(n) * squares)
	return &index
}

// guaranteeOf returns the nominal quota of accelerators of a queue.
func guaranteeOf(q ir.Queue) int64 {
	total := int64(0)
	for _, f := range q.Flavors {
		for _, quota := range f.Quotas {
			if !f.Waiting && (quota.Resource == ir.GPU || quota.Resource == ir.TPU) {
				total += quota.Nominal.Value()
			}
		}
	}
	return total
}
