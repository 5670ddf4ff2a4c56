package report

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// measures holds a rehearsal while its report is computed.
type measures struct {
	plan     *ir.Platform
	scenario *rehearsal.Scenario
	history  *rehearsal.History
	end      int64
	// inVCPUs reports whether a capacity has no accelerators. Amounts of it are then
	// thousandths of vCPUs, and otherwise thousandths of accelerators.
	inVCPUs map[string]bool
	perNode map[string]int64 // the amount of a node, by capacity
	jobs    []*measured      // those that were submitted, in the order of the scenario
	byName  map[string]int   // index in jobs, by namespace/name
}

// measured is a job with what the report needs to know of it.
type measured struct {
	rehearsal.JobHistory
	job      rehearsal.Job
	template *rehearsal.Template
	wait     int64 // from submission to the first start, or to the end of the wait without one
	started  bool
	ended    int64            // the time at which it ended, or the end of the rehearsal
	used     map[string]int64 // amounts times seconds, by capacity
	lost     map[string]int64 // as used
	evicted  int
	stopped  int64
}

func newMeasures(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History) *measures {
	m := &measures{
		plan: p, scenario: s, history: h, end: s.Until, inVCPUs: map[string]bool{}, perNode: map[string]int64{},
		byName: map[string]int{},
	}
	if h.Interrupted {
		m.end = h.End
	}
	for _, c := range p.AllCapacities() {
		m.inVCPUs[c.Name] = !c.HasAccelerators()
		for _, pool := range s.Pools {
			amount, err := resource.ParseQuantity(pool.PerNode[c.CountedIn()])
			if pool.Name == c.Name && err == nil {
				m.perNode[c.Name] = amount.MilliValue()
			}
		}
	}
	for i, job := range s.Jobs {
		if i < len(h.Jobs) && job.At <= m.end && h.Jobs[i].Outcome != "" {
			m.add(job, h.Jobs[i])
		}
	}
	return m
}

// add measures a job.
func (m *measures) add(job rehearsal.Job, history rehearsal.JobHistory) {
	template := &m.scenario.Templates[job.Template]
	j := &measured{
		job: job, JobHistory: history, template: template, ended: cmp.Or(history.End, m.end),
		used: map[string]int64{}, lost: map[string]int64{},
	}
	j.wait = j.ended - job.At
	for _, run := range history.Runs {
		if run.Evicted != "" {
			j.evicted++
		}
		if run.Ran && !j.started {
			j.started, j.wait = true, run.Started-job.At
		}
		j.stopped += run.Stopped
		for _, set := range run.Flavors {
			amount := m.podAmount(template, set)
			ran, redone := m.podSeconds(run, set)
			j.used[set.Flavor] += amount * ran
			j.lost[set.Flavor] += amount * redone
		}
	}
	m.byName[template.Namespace+"/"+job.Name] = len(m.jobs)
	m.jobs = append(m.jobs, j)
}

// podSeconds returns the time that the pods of a set ran, summed over the pods, and the part
// that has to be done again.
func (m *measures) podSeconds(run rehearsal.Run, set rehearsal.PodSetFlavor) (ran, redone int64) {
	switch {
	case run.Pods != nil:
		return run.Pods.Ran, run.Pods.Redone
	case !run.Ran:
		return 0, 0
	}
	together := cmp.Or(run.Ended, m.end) - run.Started - run.Stopped
	return int64(set.Pods) * together, int64(set.Pods) * run.Redone
}

// podAmount returns the amount that each pod of a pod set requests of its capacity.
func (m *measures) podAmount(t *rehearsal.Template, set rehearsal.PodSetFlavor) int64 {
	if m.inVCPUs[set.Flavor] {
		return int64(t.PodMilliCPU[set.PodSet])
	}
	return int64(1000 * t.PodAccelerators[set.PodSet])
}

// sumOf returns the sum of amounts by capacity, of the capacities that are counted in vCPUs,
// or of the others.
func (m *measures) sumOf(amounts map[string]int64, ofVCPUs bool) int64 {
	sum := int64(0)
	for capacity, amount := range amounts {
		if m.inVCPUs[capacity] == ofVCPUs {
			sum += amount
		}
	}
	return sum
}

// quotaWait returns the part of the wait in which the job had no quota. In the other part
// it had quota, and waited for nodes.
func (j *measured) quotaWait() int64 {
	wait := j.wait
	for _, run := range j.Runs {
		if run.Ran {
			return wait - (run.Started - run.Reserved)
		}
		wait -= cmp.Or(run.Ended, j.ended) - run.Reserved
	}
	return wait
}

// countJobs counts jobs.
func (m *measures) countJobs(jobs []*measured) Group {
	var g Group
	used, lost := map[string]int64{}, map[string]int64{}
	outcomes := map[rehearsal.Outcome]int{}
	var waits, completions []observation
	for _, j := range jobs {
		if j.started {
			g.Started++
		}
		outcomes[j.Outcome]++
		g.Evictions += j.evicted
		g.Stopped += j.stopped
		addAmounts(used, j.used)
		addAmounts(lost, j.lost)
		waits = append(waits, observation{j.wait, j.started})
		completions = append(completions, observation{j.ended - j.job.At, j.Outcome == rehearsal.Finished})
	}
	g.Submitted, g.Finished, g.Deleted = len(jobs), outcomes[rehearsal.Finished], outcomes[rehearsal.Deleted]
	g.Running, g.Waiting = outcomes[rehearsal.Running], outcomes[rehearsal.Waiting]
	g.Wait, g.Completion = spreadOf(waits), spreadOf(completions)
	g.Used, g.UsedVCPU = m.sumOf(used, false)/1000, m.sumOf(used, true)/1000
	g.Lost, g.LostVCPU = m.sumOf(lost, false)/1000, m.sumOf(lost, true)/1000
	return g
}

// addAmounts adds amounts by capacity to a sum.
func addAmounts(sum, amounts map[string]int64) {
	for capacity, amount := range amounts {
		sum[capacity] += amount
	}
}

// group identifies the jobs that a Group counts.
type group struct{ team, tier string }

// groups counts the jobs by what a function returns for their template.
func (m *measures) groups(of func(*rehearsal.Template) group) []Group {
	members := map[group][]*measured{}
	for _, j := range m.jobs {
		members[of(j.template)] = append(members[of(j.template)], j)
	}
	out := []Group{}
	for k, jobs := range members {
		g := m.countJobs(jobs)
		g.Team, g.Tier = k.team, k.tier
		out = append(out, g)
	}
	byPriority := ByPriority(m.plan)
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Team, b.Team), byPriority(a.Tier, b.Tier))
	})
	return out
}

// observation is a time, or the lower bound of a time that is not known yet.
type observation struct {
	seconds int64
	known   bool
}

// spreadOf returns the distribution of times. A percentile is exact if it stays the same
// however large the unknown times are: if the known times alone reach its rank with the
// same value.
func spreadOf(times []observation) Spread {
	var all, known []int64
	for _, o := range times {
		all = append(all, o.seconds)
		if o.known {
			known = append(known, o.seconds)
		}
	}
	slices.Sort(all)
	slices.Sort(known)
	rank := func(percent int) Bound {
		if len(all) == 0 {
			return Bound{}
		}
		n := nearestRank(percent, len(all))
		return Bound{all[n-1], len(known) < n || known[n-1] > all[n-1]}
	}
	return Spread{rank(50), rank(95), rank(100)}
}

// nearestRank returns how many of n jobs are at least a percentage of them.
func nearestRank(percent, n int) int { return max(1, (percent*n+99)/100) }

// capacities returns the use of each capacity.
func (m *measures) capacities() []Capacity {
	used := map[string]int64{}
	for _, j := range m.jobs {
		addAmounts(used, j.used)
	}
	out := []Capacity{}
	for i, pool := range m.history.Pools {
		nodeTime, most := nodeSeconds(pool, m.end)
		c := Capacity{Name: pool.Name, MostNodes: most, NodeSeconds: nodeTime}
		times := VCPUUse{
			Paid: nodeTime * m.perNode[pool.Name] / 1000, Used: used[pool.Name] / 1000,
			Maximum: int64(m.scenario.Pools[i].Max) * m.end * m.perNode[pool.Name] / 1000,
		}
		if m.inVCPUs[pool.Name] {
			c.VCPU = &times
		} else {
			c.Paid, c.Used, c.Maximum = times.Paid, times.Used, times.Maximum
		}
		if m.end > 0 {
			c.MeanNodes = float64(nodeTime) / float64(m.end)
		}
		out = append(out, c)
	}
	return out
}

// nodeSeconds returns the time for which the nodes of a pool existed, each counted, and the
// most nodes at a time.
func nodeSeconds(pool rehearsal.PoolUse, end int64) (seconds int64, most int) {
	for i, count := range pool.Nodes {
		until := end
		if i+1 < len(pool.Nodes) {
			until = pool.Nodes[i+1].At
		}
		seconds += int64(count.N) * max(0, min(until, end)-count.At)
		most = max(most, count.N)
	}
	return seconds, most
}

// fairness returns Jain's index of the accelerator hours, or of the vCPU hours; see
// Report.Fairness and Report.VCPUFairness.
func (m *measures) fairness(ofVCPUs bool) *float64 {
	used, submits := map[string]int64{}, map[string]bool{}
	for _, j := range m.jobs {
		team := j.template.Team
		submits[team] = submits[team] || m.canUse(j.template, ofVCPUs)
		used[team] += m.sumOf(j.used, ofVCPUs)
	}
	n, sum, squares := 0, 0.0, 0.0
	for i := range m.plan.Teams {
		team := &m.plan.Teams[i]
		if guaranteed := m.guaranteeOf(team, ofVCPUs); guaranteed > 0 && submits[team.Name] {
			share := float64(used[team.Name]) / float64(guaranteed)
			n, sum, squares = n+1, sum+share, squares+share*share
		}
	}
	if n < 2 || squares == 0 {
		return nil
	}
	index := sum * sum / (float64(n) * squares)
	return &index
}

// canUse reports whether the jobs of a template can run on a capacity that is counted in
// vCPUs, or on one that is not.
func (m *measures) canUse(t *rehearsal.Template, ofVCPUs bool) bool {
	return slices.ContainsFunc(t.Capacities, func(name string) bool { return m.inVCPUs[name] == ofVCPUs })
}

// guaranteeOf returns the accelerators that a team's own queues guarantee, or the vCPUs of
// capacities without accelerators, in thousandths.
func (m *measures) guaranteeOf(team *ir.Team, ofVCPUs bool) int64 {
	total := int64(0)
	for _, queue := range team.Queues {
		for _, flavor := range queue.Flavors {
			if queue.Shared || flavor.Waiting || m.inVCPUs[flavor.Flavor] != ofVCPUs {
				continue
			}
			for _, quota := range flavor.Quotas {
				if quota.Resource == m.plan.CountedIn(flavor.Flavor) {
					total += quota.Nominal.MilliValue()
				}
			}
		}
	}
	return total
}

// evictions groups the evictions.
func (m *measures) evictions() []Evictions {
	counts := map[Evictions]int{}
	for _, j := range m.jobs {
		for _, run := range j.Runs {
			if run.Evicted == "" {
				continue
			}
			e := Evictions{Reason: run.Evicted, Team: j.template.Team, Tier: j.template.Tier}
			if by, ok := m.byName[run.By]; ok {
				e.ByTeam, e.ByTier = m.jobs[by].template.Team, m.jobs[by].template.Tier
			}
			counts[e]++
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

// longestWaits returns the longest waits that took any time.
func (m *measures) longestWaits() []Wait {
	order := make([]int, 0, len(m.jobs))
	for i := range m.jobs {
		if m.jobs[i].wait > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.jobs[b].wait, m.jobs[a].wait), cmp.Compare(a, b))
	})
	out := []Wait{}
	for _, i := range order[:min(len(order), mostWaits)] {
		out = append(out, m.waitOf(m.jobs[i]))
	}
	return out
}

// waitOf describes the wait of a job.
func (m *measures) waitOf(j *measured) Wait {
	by := ""
	for _, run := range j.Runs {
		if run.Ran {
			break
		}
		by = cmp.Or(run.By, by)
	}
	why, quotaWait := "", j.quotaWait()
	if quotaWait > 0 {
		why = Reason(j.Waits, by)
	}
	return Wait{
		Job: j.job.Name, Team: j.template.Team, Tier: j.template.Tier, At: j.job.At, Seconds: j.wait,
		Quota:   quotaWait,
		Started: j.started, Deleted: !j.started && j.Outcome == rehearsal.Deleted, Why: why, Message: j.Waits, By: by,
		Holders: m.holders(j, j.job.At+j.wait/2),
	}
}

// mostHolders is the number of holders that the report names for a wait.
const mostHolders = 3

// holders returns who held the accelerators that a job could use, at one time. It returns who
// held the vCPUs if none of the job's capacities has accelerators.
func (m *measures) holders(j *measured, at int64) []Holder {
	ofVCPUs := !m.canUse(j.template, false)
	held := map[Holder]int64{}
	for _, other := range m.jobs {
		if other == j || other.job.At > at || other.ended < at {
			continue
		}
		for _, run := range other.Runs {
			if run.Reserved > at || run.Ended > 0 && run.Ended <= at {
				continue
			}
			for _, set := range run.Flavors {
				if slices.Contains(j.template.Capacities, set.Flavor) && m.inVCPUs[set.Flavor] == ofVCPUs {
					h := Holder{Team: other.template.Team, Tier: other.template.Tier}
					held[h] += m.podAmount(other.template, set) * int64(set.Pods-finishedPods(run, at))
				}
			}
		}
	}
	out := make([]Holder, 0, len(held))
	for h, n := range held {
		switch {
		case n == 0:
			continue
		case ofVCPUs:
			h.VCPUs = float64(n) / 1000
		default:
			h.Accelerators = int(n / 1000)
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Accelerators, a.Accelerators), cmp.Compare(b.VCPUs, a.VCPUs),
			cmp.Compare(a.Team, b.Team), cmp.Compare(a.Tier, b.Tier))
	})
	return out[:min(len(out), mostHolders)]
}

// finishedPods returns how many independent pods of a run have done their work at a time.
func finishedPods(run rehearsal.Run, at int64) int {
	n := 0
	if run.Pods != nil {
		for _, finished := range run.Pods.Finished {
			if finished.At <= at {
				n = finished.N
			}
		}
	}
	return n
}

// neverStarted counts the jobs that have never had quota, by workload and team.
func (m *measures) neverStarted() []Waiting {
	type key struct{ workload, team string }
	found := map[key]*Waiting{}
	for _, j := range m.jobs {
		if j.Outcome != rehearsal.Waiting || len(j.Runs) > 0 {
			continue
		}
		k := key{j.template.Name, j.template.Team}
		w := found[k]
		if w == nil {
			w = &Waiting{Workload: k.workload, Team: k.team}
			found[k] = w
		}
		if w.Count++; j.wait > w.Longest || w.Count == 1 {
			w.Longest, w.Why, w.Message = j.wait, Reason(j.Waits, ""), j.Waits
		}
	}
	out := []Waiting{}
	for _, w := range found {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(b.Longest, a.Longest), cmp.Compare(a.Team, b.Team),
			cmp.Compare(a.Workload, b.Workload))
	})
	return out
}
