package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on workloads: that they can be admitted and can run.

func workloadRules() []Rule {
	return []Rule{
		{Code: "E0801", Severity: diag.Error, Title: "a pod fits no node", check: podFitsNode, whole: true, resolved: true},
		{Code: "E0802", Severity: diag.Error, Title: "a workload can never be admitted", check: copyFitsQuota, whole: true, resolved: true},
		{Code: "E0809", Severity: diag.Error, Title: "a workload goes where its pods fit no node", check: strandedPods, whole: true, resolved: true, Acceptable: true, scheduler: ir.Kueue},
		{Code: "E0803", Severity: diag.Error, Title: "a team submits to a tier it has no quota in", check: workloadTeams, whole: true, resolved: true},
		{Code: "E0804", Severity: diag.Error, Title: "an image that is not pinned", check: pinnedImages},
		{Code: "E0805", Severity: diag.Error, Title: "an environment variable that is set twice", check: rendezvousEnv},
		{Code: "E0806", Severity: diag.Error, Title: "files too large for a ConfigMap", check: fileSizes},
		{Code: "E0807", Severity: diag.Error, Title: "a workload that does not take whole TPU slices", check: wholeSlices, resolved: true},
		{Code: "E0808", Severity: diag.Error, Title: "a workload runs longer than its nodes", check: runTimes, resolved: true},
	}
}

// submission is a workload as one team submits it.
type submission struct {
	workload ir.Workload
	team     *ir.Team
	queue    *ir.Queue
}

// submissions returns the first copy of each workload of each team, by
// template, then team.
func submissions(p *ir.Platform) map[string][]submission {
	teams := map[string]*ir.Team{}
	for i := range p.Teams {
		teams[p.Teams[i].Name] = &p.Teams[i]
	}
	out := map[string][]submission{}
	last := [2]string{}
	for _, w := range p.Workloads {
		if key := [2]string{w.Team, w.Template}; key == last {
			continue
		} else {
			last = key
		}
		team := teams[w.Team]
		queue := slices.IndexFunc(team.Queues, func(q ir.Queue) bool { return q.LocalQueue == w.Queue })
		out[w.Template] = append(out[w.Template], submission{w, team, &team.Queues[queue]})
	}
	return out
}

func capacitiesByName(p *ir.Platform) map[string]ir.Capacity {
	out := map[string]ir.Capacity{}
	for _, c := range p.Capacities {
		out[c.Name] = c
	}
	return out
}

// fits tells whether requests are within what is offered, and of which
// resource there is too little.
func fits(requests []ir.Amount, times int64, offered func(res string) (resource.Quantity, bool)) (short string, ok bool) {
	for _, a := range slices.Backward(requests) {
		need := a.Quantity.DeepCopy()
		need.Mul(times)
		have, known := offered(a.Resource)
		if !known || need.Cmp(have) > 0 {
			return fmt.Sprintf("%s %s of %s", amount(a.Resource, need), a.Resource, amount(a.Resource, have)), false
		}
	}
	return "", true
}

func node(c ir.Capacity) func(string) (resource.Quantity, bool) {
	return func(res string) (resource.Quantity, bool) {
		i := slices.IndexFunc(c.PerNode, func(a ir.Amount) bool { return a.Resource == res })
		if i < 0 {
			return resource.Quantity{}, false
		}
		return c.PerNode[i].Quantity, true
	}
}

func podFitsNode(r *report) {
	capacities := capacitiesByName(r.Plan)
	all := submissions(r.Plan)
	for _, name := range names(all) {
		for _, s := range all[name] {
			var short []string
			fitting := false
			for _, f := range s.queue.Flavors {
				lack, ok := fits(s.workload.Requests, 1, node(capacities[f.Flavor]))
				fitting = fitting || ok
				short = append(short, fmt.Sprintf("%s: %s", f.Flavor, lack))
			}
			if !fitting {
				r.addKey(at("workloads", name, "perPod"), fmt.Sprintf("a pod of workload %q fits no node of tier %q", name, s.queue.Tier),
					label("wanted and offered: %s", strings.Join(short, "; ")), help("request less, or submit it to another tier"))
				break
			}
		}
	}
}

func copyFitsQuota(r *report) {
	capacities, pool := capacitiesByName(r.Plan), cohortPools(r.Plan)
	cure := "a copy's pods run side by side on one capacity: use fewer or smaller pods, or raise the quota or what may be borrowed"
	if r.Plan.Scheduler == ir.KAI {
		cure = fmt.Sprintf("a copy's pods run side by side, and within the guarantee if its priority is %d or more: use fewer or smaller pods, or raise the quota or what may be borrowed", ir.KAINonPreemptible)
	}
	all := submissions(r.Plan)
	for _, name := range names(all) {
		var stuck []string
		var short []string
		for _, s := range all[name] {
			lacks, ok := admissible(s, capacities, pool)
			if r.Plan.Scheduler == ir.KAI {
				lacks, ok = startable(r.Plan, s, capacities)
			}
			if !ok {
				if stuck = append(stuck, s.team.Name); short == nil {
					short = lacks
				}
			}
		}
		if len(stuck) > 0 {
			r.addKey(at("workloads", name), fmt.Sprintf("workload %q can never be admitted for %s", name, quoted(stuck)),
				label("wanted and within quota: %s", strings.Join(short, "; ")),
				related(at("teams", stuck[0], "quota", all[name][0].queue.Tier), "the quota"),
				help("%s", cure))
		}
	}
}

// admissible tells whether a copy fits its quota on some capacity whose nodes
// take its pods, with all that could be borrowed.
func admissible(s submission, capacities map[string]ir.Capacity, pool pools) (short []string, ok bool) {
	anyNode := false
	for _, f := range s.queue.Flavors {
		if _, ok := fits(s.workload.Requests, 1, node(capacities[f.Flavor])); !ok {
			continue
		}
		anyNode = true
		lack, ok := fits(s.workload.Requests, int64(s.workload.Pods), quota(s, f, pool))
		if ok {
			return nil, true
		}
		short = append(short, fmt.Sprintf("%s: %s", f.Flavor, lack))
	}
	return short, !anyNode // podFitsNode reports what fits no node
}

// quota is what a queue can ever have of one capacity, with all that could be
// borrowed.
func quota(s submission, f ir.FlavorQuota, pool pools) func(string) (resource.Quantity, bool) {
	return func(res string) (resource.Quantity, bool) {
		i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == res })
		if i < 0 {
			return resource.Quantity{}, false
		}
		most := f.Quotas[i].Nominal.DeepCopy()
		if q := f.Quotas[i]; q.Borrows() {
			lent := pool.others(s.queue.Cohort, f.Flavor, q)
			if !q.BorrowsAll && lent.Cmp(*q.Borrowing) > 0 {
				lent = *q.Borrowing
			}
			most.Add(lent)
		}
		return most, true
	}
}

// strandedPods: Kueue takes the first capacity that has quota to spare, however
// small its nodes are.
func strandedPods(r *report) {
	capacities, pool := capacitiesByName(r.Plan), cohortPools(r.Plan)
	all := submissions(r.Plan)
	for _, name := range names(all) {
		for _, s := range all[name] {
			requests := s.workload.Requests
			fitting := slices.ContainsFunc(s.queue.Flavors, func(f ir.FlavorQuota) bool {
				_, ok := fits(requests, 1, node(capacities[f.Flavor]))
				return ok
			})
			for _, f := range s.queue.Flavors {
				lack, fitsNode := fits(requests, 1, node(capacities[f.Flavor]))
				_, admitted := fits(requests, int64(s.workload.Pods), quota(s, f, pool))
				if !fitting || fitsNode || !admitted { // podFitsNode reports what fits no node
					continue
				}
				r.addKey(at("workloads", name, "perPod"), fmt.Sprintf("workload %q can be admitted to %q, whose nodes are too small for its pods", name, f.Flavor),
					label("wanted and offered: %s", lack), related(at("teams", s.team.Name, "quota", s.queue.Tier, f.Flavor), "the quota that admits it"),
					help("Kueue counts no nodes, and would evict it and queue it again for ever: request less, or make a tier of each size of node"))
			}
		}
	}
}

func workloadTeams(r *report) {
	b := r.Blueprint
	served := map[string]bool{}
	for _, team := range b.Teams {
		for tier := range team.Quota {
			served[tier] = true
		}
	}
	for _, name := range names(b.Workloads) {
		w := b.Workloads[name]
		if _, ok := b.Tiers[w.Tier]; !ok {
			continue
		}
		for i, t := range w.Teams {
			if team, ok := b.Teams[t]; ok && team.Quota[w.Tier] == nil {
				r.add(at("workloads", name, "teams", diag.Index(i)), fmt.Sprintf("team %q has no quota in tier %q", t, w.Tier),
					help("give it quota in the tier, or leave the team out"))
			}
		}
		if len(w.Teams) == 0 && !served[w.Tier] {
			r.add(at("workloads", name, "tier"), fmt.Sprintf("no team has quota in tier %q, so nobody submits workload %q", w.Tier, name),
				help("give a team quota in the tier, or remove the workload"))
		}
	}
}

func pinnedImages(r *report) {
	for _, name := range names(r.Blueprint.Workloads) {
		if image := r.Blueprint.Workloads[name].Image; strings.HasSuffix(image, ":latest") {
			r.add(at("workloads", name, "image"), fmt.Sprintf("image %q is another one tomorrow", image), help("pin it by a version or by digest"))
		}
	}
}

func rendezvousEnv(r *report) {
	for _, name := range names(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		if w.Rendezvous == nil {
			continue
		}
		set := []string{ir.EnvMasterAddr, ir.EnvMasterPort, ir.EnvNodes}
		if w.Slices > 1 {
			set = append(set, ir.EnvJobIndex)
		}
		for _, v := range set {
			if _, twice := w.Env[v]; twice {
				r.addKey(at("workloads", name, "env", v), fmt.Sprintf("%s is set by rendezvous", v), help("remove it, or remove rendezvous"))
			}
		}
	}
}

// fileSizes: Kubernetes keeps no ConfigMap above 1 MiB.
func fileSizes(r *report) {
	const most = 1 << 20
	for _, name := range names(r.Blueprint.Workloads) {
		total := 0
		for file, content := range r.Blueprint.Workloads[name].Files {
			total += len(file) + len(content)
		}
		if total > most {
			r.addKey(at("workloads", name, "files"), fmt.Sprintf("the files of workload %q take %d KiB, and a ConfigMap holds 1024", name, total>>10),
				help("put large files into the image or a bucket"))
		}
	}
}

// wholeSlices: a pod takes all chips of its host, and a copy all hosts of its
// slices.
func wholeSlices(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range names(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		i := slices.IndexFunc(r.Blueprint.Tiers[w.Tier].Capacity, func(c string) bool { return capacities[c].Machine.Slice != nil })
		if i < 0 {
			if w.Slices > 1 {
				r.add(at("workloads", name, "slices"), fmt.Sprintf("tier %q has no TPU slices", w.Tier), help("remove slices: pods says how many run side by side"))
			}
			continue
		}
		c := capacities[r.Blueprint.Tiers[w.Tier].Capacity[i]]
		perHost, hosts := c.Machine.AcceleratorCount, c.Machine.Slice.Hosts
		if w.PerPod.Accelerators != perHost {
			r.add(at("workloads", name, "perPod", "accelerators"), fmt.Sprintf("a host of %q has %d chips, and one pod takes all of them", c.Name, perHost), label("want %d", perHost))
		}
		switch {
		case hosts == 1 && w.Slices > 1:
			r.add(at("workloads", name, "slices"), fmt.Sprintf("a slice of %q is one host", c.Name), help("remove slices: pods says how many run side by side"))
		case hosts == 1:
		case w.Slices > 1 && slices.ContainsFunc(r.Blueprint.Tiers[w.Tier].Capacity, func(c string) bool { return capacities[c].Queued() }):
			r.add(at("workloads", name, "slices"), "queued flex-start starts one slice for a workload", label("want 1"), help("submit each slice as a copy of its own, or use a capacity that is not queued"))
		case w.Kind != string(ir.JobSet):
			r.addKey(at("workloads", name), fmt.Sprintf("workload %q runs on slices of %d hosts, which a Job cannot keep together", name, hosts), help(`set kind: "JobSet"`))
		case w.Pods != nil && *w.Pods != w.Slices*hosts:
			r.add(at("workloads", name, "pods"), fmt.Sprintf("on %s of %d hosts run %d pods, one on each", plural(w.Slices, "slice"), hosts, w.Slices*hosts),
				label("want %d", w.Slices*hosts), help("leave pods out: it follows from slices"))
		}
	}
}

// runTimes: flex-start ends a node when its time is over, whatever runs on it.
func runTimes(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range names(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		if w.MaxRunSeconds == nil {
			continue
		}
		for _, capacity := range r.Blueprint.Tiers[w.Tier].Capacity {
			if flex := capacities[capacity].Flex; flex != nil && *w.MaxRunSeconds > flex.MaxRunSeconds {
				r.add(at("workloads", name, "maxRunSeconds"), fmt.Sprintf("nodes of %q run for %d seconds at most", capacity, flex.MaxRunSeconds),
					label("want at most %d", flex.MaxRunSeconds), related(at("capacity", capacity, "consumption", "flexStart"), "the nodes"),
					help("flex-start ends a node after that time, whatever runs on it"))
				break
			}
		}
	}
}
