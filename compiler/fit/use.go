package fit

import (
	"math"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// templates are the names of the first few workloads, in the order in which they are added.
type templates []string

func (t *templates) add(name string) {
	const most = 3
	if len(*t) < most && !slices.Contains(*t, name) {
		*t = append(*t, name)
	}
}

// GPUUse holds what the workloads of the blueprint request of a capacity with GPUs.
type GPUUse struct {
	Templates   templates
	Submissions []Submission
	// least holds, by the number of GPUs of a pod, the lowest requests of cpu (in
	// thousandths) and of memory (in bytes) among pods with that number.
	least map[int][2]int64
	tiers map[string]bool // tiers with such a workload
}

// add records the pods of a workload.
func (u *GPUUse) add(s Submission, gpus int) {
	requests := s.Workload.Requests
	cpu, memory := ir.AmountOf(requests, ir.CPU), ir.AmountOf(requests, ir.Memory)
	now := [2]int64{cpu.MilliValue(), memory.Value()}
	if old, known := u.least[gpus]; known {
		now = [2]int64{min(old[0], now[0]), min(old[1], now[1])}
	}
	u.least[gpus] = now
	u.tiers[s.Queue.Tier] = true
	u.Submissions = append(u.Submissions, s)
	u.Templates.add(s.Workload.Template)
}

// InTier reports whether a workload of a tier uses the GPUs.
func (u *GPUUse) InTier(tier string) bool { return u.tiers[tier] }

// MostOn returns the largest number of GPUs of one node that pods use together beside
// GKE's own pods. It combines the lowest requests of cpu and of memory, even of different
// pods, so it never returns too few.
func (u *GPUUse) MostOn(c ir.Capacity) int {
	free := Free(c, c.SystemPods)
	cpu, memory := ir.AmountOf(free, ir.CPU), ir.AmountOf(free, ir.Memory)
	return u.mostWithin(c.Machine.AcceleratorCount, [2]int64{cpu.MilliValue(), memory.Value()})
}

// Divides reports whether pods can use all of count GPUs together, if they have enough cpu
// and memory.
func (u *GPUUse) Divides(count int) bool {
	return u.mostWithin(count, [2]int64{math.MaxInt64, math.MaxInt64}) == count
}

// mostWithin returns the largest number of GPUs, at most count, that pods use together
// within free thousandths of a vCPU and bytes of memory.
func (u *GPUUse) mostWithin(count int, free [2]int64) int {
	type need struct {
		possible bool
		amounts  [2]int64
	}
	needs, most := make([]need, count+1), 0
	needs[0].possible = true
	for total := 1; total <= count; total++ {
		for gpus, least := range u.least {
			if gpus > total || !needs[total-gpus].possible {
				continue
			}
			before, n := needs[total-gpus].amounts, &needs[total]
			for i := range least {
				if sum := before[i] + least[i]; !n.possible || sum < n.amounts[i] {
					n.amounts[i] = sum
				}
			}
			n.possible = true
		}
		if n := needs[total]; n.possible && n.amounts[0] <= free[0] && n.amounts[1] <= free[1] {
			most = total
		}
	}
	return most
}

// GPUUses returns the use of each capacity with GPUs beside GKE's own pods. It returns
// nothing about the capacities of a workload that cannot run, because its requests must
// change.
func (p *Platform) GPUUses() map[string]*GPUUse {
	out, unclear := map[string]*GPUUse{}, map[string]bool{}
	for s := range p.Submissions().Each() {
		gpus := s.accelerators()
		runs := p.CanRun(s, p.Limited(p.Nodes(s, SystemPods)))
		for _, capacity := range s.Workload.Capacities {
			switch c := p.Named[capacity]; {
			case gpus == 0 || !c.HasGPUs():
			case !runs:
				unclear[capacity] = true
			case c.PodsPerNode(s.Workload.Requests, c.SystemPods...) > 0:
				if out[capacity] == nil {
					out[capacity] = &GPUUse{least: map[int][2]int64{}, tiers: map[string]bool{}}
				}
				out[capacity].add(s, gpus)
			}
		}
	}
	for capacity := range unclear {
		delete(out, capacity)
	}
	return out
}

// RequestedGPUs returns the capacities that workloads with accelerators can use.
func (p *Platform) RequestedGPUs() map[string]bool {
	used := map[string]bool{}
	for s := range p.Submissions().Each() {
		if s.accelerators() > 0 {
			for _, c := range s.Workload.Capacities {
				used[c] = true
			}
		}
	}
	return used
}

// CPUUse holds what the workloads of the blueprint request of a capacity without
// accelerators.
type CPUUse struct {
	Templates   templates
	Least, Most []ir.Amount // the lowest and the highest requests of pods
	Unclear     bool        // the requests of a workload must change
	// admitted holds, by ClusterQueue, the number of pods that the guarantee admits at
	// once: the lowest number among the workloads of the queue.
	admitted map[string]int
	// submitting holds the teams and the tiers of the workloads.
	submitting map[[2]string]bool
}

// Admitted returns how many pods the guarantees admit at the same time.
func (u *CPUUse) Admitted() int {
	sum := 0
	for _, pods := range u.admitted {
		sum += pods
	}
	return sum
}

// CPUUses returns the use of each capacity without accelerators that a workload uses,
// beside GKE's own pods.
func (p *Platform) CPUUses() map[string]*CPUUse {
	out := map[string]*CPUUse{}
	for s := range p.Submissions().Each() {
		on := p.Limited(p.Nodes(s, SystemPods))
		runs := p.CanRun(s, on)
		unclear := !runs || slices.ContainsFunc(on, func(n Nodes) bool { return !n.Fits() }) ||
			p.isCrowded(s, on, SystemPods)
		for _, f := range s.Quotas() {
			c := p.Named[f.Flavor]
			if c.HasAccelerators() || runs && c.PodsPerNode(s.Workload.Requests, c.SystemPods...) == 0 {
				continue
			}
			if out[c.Name] == nil {
				out[c.Name] = &CPUUse{admitted: map[string]int{}, submitting: map[[2]string]bool{}}
			}
			out[c.Name].add(s, f)
			out[c.Name].Unclear = out[c.Name].Unclear || unclear
		}
	}
	for s := range p.Submissions().Each() {
		for _, a := range p.Auxiliaries(s) {
			if use := out[a.Capacity]; use != nil {
				use.addPod(a.Requests)
				use.submitting[[2]string{s.Team.Name, s.Queue.Tier}] = true
			}
		}
	}
	return out
}

// addPod records the requests of a pod.
func (u *CPUUse) addPod(requests []ir.Amount) {
	if u.Least == nil {
		u.Least, u.Most = slices.Clone(requests), slices.Clone(requests)
		return
	}
	for i, a := range u.Least {
		if q := ir.AmountOf(requests, a.Resource); q.Cmp(a.Quantity) < 0 {
			u.Least[i].Quantity = q
		}
	}
	for i, a := range u.Most {
		if q := ir.AmountOf(requests, a.Resource); q.Cmp(a.Quantity) > 0 {
			u.Most[i].Quantity = q
		}
	}
}

// add records a workload of a queue with the given quota.
func (u *CPUUse) add(s Submission, f ir.FlavorQuota) {
	u.addPod(s.Workload.Requests)
	u.Templates.add(s.Workload.Template)
	u.submitting[[2]string{s.Team.Name, s.Queue.Tier}] = true
	var guarantee []ir.Amount
	for _, q := range f.Quotas {
		guarantee = append(guarantee, ir.Amount{Resource: q.Resource, Quantity: q.Nominal})
	}
	pods := ir.TimesWithin(guarantee, multiply(s.Workload.Requests, s.Workload.Pods)) * s.Workload.Pods
	if least, known := u.admitted[s.Queue.ClusterQueue]; !known || pods < least {
		u.admitted[s.Queue.ClusterQueue] = pods
	}
}

// UnknownJobs returns the used capacities on which a team has quota, but no workload in the
// blueprint. The job sizes are then unknown.
func (p *Platform) UnknownJobs(uses map[string]*CPUUse) map[string]bool {
	out := map[string]bool{}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			for _, f := range q.Flavors {
				use := uses[f.Flavor]
				if use != nil && slices.ContainsFunc(f.Quotas, ir.ResourceQuota.Usable) &&
					!use.submitting[[2]string{t.Name, q.Tier}] {
					out[f.Flavor] = true
				}
			}
		}
	}
	return out
}
