package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on auxiliary pods of a workload, and on pods with the host network.

func auxiliaryRules() []Rule {
	return []Rule{
		{
			Code: "E0830", Severity: diag.Error, Title: "auxiliary pods in a Job", check: auxiliariesOfJobs,
			resolved: true,
		},
		{
			Code: "E0831", Severity: diag.Error, Title: "auxiliary pod cannot use the capacity",
			check: auxiliaryCapacity, resolved: true,
		},
		{
			Code: "E0832", Severity: diag.Error, Title: "auxiliary pod fits no node",
			check: auxiliaryFitsNode, whole: true, resolved: true,
		},
		{
			Code: "E0833", Severity: diag.Error, Title: "workload with an auxiliary pod can never be admitted",
			check: auxiliaryFitsQuota, whole: true, resolved: true,
		},
		{
			Code: "E0834", Severity: diag.Error, Title: "pods with hostNetwork share a node",
			check: sharedHostNetwork, resolved: true,
		},
		{Code: "E0835", Severity: diag.Error, Title: "port is already used", check: takenPorts, resolved: true},
		{
			Code: "W0836", Severity: diag.Warning, Title: "pods use the identity of the nodes", check: nodeIdentity,
			resolved: true,
		},
	}
}

func auxiliariesOfJobs(r *report) {
	capacities := capacitiesByName(r.Plan)
	severalHosts := func(c string) bool { s := capacities[c].Machine.Slice; return s != nil && s.Hosts > 1 }
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		// wholeSlices reports workloads on slices
		if w := r.Blueprint.Workloads[name]; len(w.Auxiliary) > 0 && !kinds.Of(w.Kind).Composite &&
			!slices.ContainsFunc(r.runsOn(w, capacities), severalHosts) {
			r.addKey(at("workloads", name, "auxiliary"),
				fmt.Sprintf("workload %q is a %s, which cannot have auxiliary pods", name, w.Kind),
				withHelp("set kind: %q", kinds.Composite().Name))
		}
	}
}

func auxiliaryCapacity(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		tier := r.Blueprint.Tiers[w.Tier]
		for _, a := range sortedKeys(w.Auxiliary) {
			capacity := w.Auxiliary[a].Capacity
			path := at("workloads", name, "auxiliary", a, "capacity")
			switch {
			case r.Broken[[2]string{"tiers", w.Tier}]:
			case !slices.Contains(tier.Capacity, capacity):
				plain := plainCapacities(tier, capacities)
				options := []option{
					withRelated(at("tiers", w.Tier, "capacity"), "the tier's capacities"),
					withHelp("add the capacity to the tier: one queue admits all pods of a workload"),
				}
				if plain != nil {
					options = append(options, withChoices(len(plain), quoteNames(plain)))
				}
				r.add(path, fmt.Sprintf("tier %q does not use capacity %q", w.Tier, capacity), options...)
			case capacities[capacity].HasAccelerators():
				r.add(path,
					fmt.Sprintf("nodes of %q have %s, which auxiliary pod %q does not use", capacity,
						capacities[capacity].Machine.Resource, a),
					withHelp("choose a capacity of machines without accelerators"))
			}
		}
	}
}

// eachAuxiliary calls visit for the auxiliary pods of each workload, as each team
// submits them. It skips pods whose capacity another rule reports.
func (r *report) eachAuxiliary(visit func(s submission, a ir.Auxiliary, c ir.Capacity)) {
	capacities := capacitiesByName(r.Plan)
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			for _, a := range s.workload.Auxiliaries {
				c := capacities[a.Capacity]
				if !c.HasAccelerators() && slices.Contains(r.Blueprint.Tiers[s.queue.Tier].Capacity, a.Capacity) {
					visit(s, a, c)
				}
			}
		}
	}
}

func auxiliaryFitsNode(r *report) {
	r.eachAuxiliary(func(s submission, a ir.Auxiliary, c ir.Capacity) {
		if lack, ok := fitsAmounts(a.Requests, 1, nodeAmount(c)); !ok {
			r.addKey(at("workloads", s.workload.Template, "auxiliary", a.Name),
				fmt.Sprintf("auxiliary pod %q fits no node of %q", a.Name, c.Name),
				withLabel("per node: %s", lack), withHelp("request less, or use hardware with larger machines"))
		}
	})
}

// auxiliaryFitsQuota reports auxiliary pods that exceed a quota, because either all
// pods of a workload are admitted or none.
func auxiliaryFitsQuota(r *report) {
	scheduler := r.Plan.Scheduler.Facts()
	capacities, pool := capacitiesByName(r.Plan), r.lent()
	r.eachAuxiliary(func(s submission, a ir.Auxiliary, c ir.Capacity) {
		path := at("workloads", s.workload.Template, "auxiliary", a.Name)
		if _, ok := fitsAmounts(a.Requests, 1, nodeAmount(c)); !ok {
			return
		}
		if _, found := s.quotaOn(c.Name); !found {
			cure := "give quota on this capacity, in cpus, to the team"
			if !scheduler.CountsCPU {
				cure += "; " + scheduler.Name +
					" does not count this quota, so also add " +
					acceptSource("E1005", at("capacity", c.Name))
			}
			r.add(append(path, "capacity"),
				fmt.Sprintf("team %q has no quota on %q, so workload %q can never be admitted for this team",
					s.team.Name,
					c.Name, s.workload.Template),
				withRelated(r.quotaPath(s, ""), "the team's quota"), withHelp("%s", cure))
			return
		}
		if lack, ok := r.auxiliariesAdmitted(s, c.Name, capacities, pool); !ok {
			r.addKey(at("workloads", s.workload.Template, "auxiliary"),
				fmt.Sprintf("workload %q can never be admitted for %q with its auxiliary pods", s.workload.Template,
					s.team.Name),
				withLabel("within quota: %s", lack), withHelp("request less, or raise the quota on %q", c.Name))
		}
	})
}

// auxiliariesAdmitted reports whether the auxiliary pods of a workload fit the quota of
// a capacity, together with its own pods if these need the same quota. If not, lack
// names the resource that is too scarce.
func (r *report) auxiliariesAdmitted(s submission, capacity string, capacities map[string]ir.Capacity,
	pool ir.Lent) (lack string, ok bool) {
	quota, found := s.quotaOn(capacity)
	switch {
	case !found:
		return "", false
	case !r.Plan.Scheduler.Facts().CountsCPU:
		return "", true
	}
	requests := r.sharedRequests(s, capacity, capacities, pool)
	for _, a := range s.workload.Auxiliaries {
		if a.Capacity == capacity {
			requests = ir.SumAmounts(requests, a.Requests)
		}
	}
	return fitsAmounts(requests, 1, reachableQuota(s, quota, pool))
}

// sharedRequests returns the sum of what a workload's own pods request of a capacity, if
// no other capacity can admit them. If this one cannot either, copyFitsQuota reports it,
// and the sum is empty.
func (r *report) sharedRequests(s submission, capacity string, capacities map[string]ir.Capacity,
	pool ir.Lent) []ir.Amount {
	here := false
	for _, f := range s.usableQuotas() {
		c := capacities[f.Flavor]
		_, fitsNode := fitsAmounts(s.workload.Requests, 1, nodeAmount(c))
		_, admitted := fitsAmounts(s.workload.Requests, int64(s.workload.Pods), reachableQuota(s, f, pool))
		if (fitsNode && admitted || c.Emptied() || lacksSize(c)) && f.Flavor != capacity {
			return nil
		}
		here = here || fitsNode && admitted && f.Flavor == capacity
	}
	if !here {
		return nil
	}
	return multiplyAmounts(s.workload.Requests, s.workload.Pods)
}

// auxiliaryRequests returns the requests of a workload's auxiliary pods by capacity. It
// omits capacities that other rules report, and capacities without nodes for the time
// being.
func (r *report) auxiliaryRequests(s submission, capacities map[string]ir.Capacity,
	pool ir.Lent) map[string][][]ir.Amount {
	out := map[string][][]ir.Amount{}
	for _, a := range s.workload.Auxiliaries {
		c := capacities[a.Capacity]
		if c.HasAccelerators() || c.Emptied() || lacksSize(c) ||
			!slices.Contains(r.Blueprint.Tiers[s.queue.Tier].Capacity, a.Capacity) {
			continue
		}
		_, fits := fitsAmounts(a.Requests, 1, nodeAmount(c))
		_, admitted := r.auxiliariesAdmitted(s, a.Capacity, capacities, pool)
		if fits && admitted { // auxiliaryFitsNode and auxiliaryFitsQuota report the others
			out[a.Capacity] = append(out[a.Capacity], a.Requests)
		}
	}
	return out
}

// auxiliaryFits returns the number of nodes that the auxiliary pods of a workload need
// of each capacity, without its own pods.
func (r *report) auxiliaryFits(s submission, capacities map[string]ir.Capacity, pool ir.Lent) []nodeFit {
	var out []nodeFit
	auxiliaries := r.auxiliaryRequests(s, capacities, pool)
	for _, name := range sortedKeys(auxiliaries) {
		c := capacities[name]
		out = append(out, nodeFit{
			capacity: c, nodes: c.MaxNodes, needed: r.nodesTogether(c, 0, nil, auxiliaries[name]),
		})
	}
	return out
}

// nodesTogether returns the same as Capacity.NodesTogether, which tries many divisions.
// It computes the number once for all teams that submit equal pods.
func (r *report) nodesTogether(c ir.Capacity, pods int, requests []ir.Amount, singles [][]ir.Amount,
	taken ...ir.Amount) int {
	key := fmt.Appendf(nil, "%s\x00%d", c.Name, pods)
	for _, amounts := range append([][]ir.Amount{taken, requests}, singles...) {
		key = append(key, 0)
		for _, a := range amounts {
			key = fmt.Appendf(key, "%s=%s ", a.Resource, a.Quantity.String())
		}
	}
	n, known := r.together[string(key)]
	if !known {
		n = c.NodesTogether(pods, requests, singles, taken...)
		r.together[string(key)] = n
	}
	return n
}

// crowdedCapacity returns the first capacity that has no room for the auxiliary pods of
// a workload, and the number of nodes that they need; 0 if a pod fits no node. The
// workload's own pods fit the nodes without auxiliary pods, as fits says. If they can
// only run on the same nodes, they count too.
func (r *report) crowdedCapacity(s submission, fits []nodeFit, capacities map[string]ir.Capacity,
	pool ir.Lent, taken takenFunc) (c ir.Capacity, needed int, crowded bool) {
	auxiliaries := r.auxiliaryRequests(s, capacities, pool)
	for _, name := range sortedKeys(auxiliaries) {
		c := capacities[name]
		pods := s.workload.Pods
		if slices.ContainsFunc(fits, func(f nodeFit) bool { return f.fits() && f.capacity.Name != name }) ||
			!r.Plan.Scheduler.Facts().QuotaPerCapacity && len(fits) > 1 {
			pods = 0 // the workload's own pods have other nodes
		}
		needed := r.nodesTogether(c, pods, s.workload.Requests, auxiliaries[name], taken(c)...)
		if needed == 0 || needed > c.MaxNodes {
			return c, needed, true
		}
	}
	return ir.Capacity{}, 0, false
}

// reportAuxiliaries reports a workload whose own pods have room, but not together with
// its auxiliary pods. It reports whether it did.
func (r *report) reportAuxiliaries(s submission, fits []nodeFit, capacities map[string]ir.Capacity,
	pool ir.Lent, taken takenFunc) bool {
	c, needed, crowded := r.crowdedCapacity(s, fits, capacities, pool, taken)
	if !crowded {
		return false
	}
	name := s.workload.Template
	path := at("workloads", name, "auxiliary")
	if gke := taken(c); gke != nil {
		cure := withHelp("request at most %s for each pod, because GKE's pods start first",
			printAmounts(shareBeside(c, gke, 1)))
		if needed > 0 {
			cure = withHelp("%s; or request less, because GKE's pods start first", r.moreNodes(nodeFit{
				capacity: c, needed: needed}))
		}
		r.addKey(path, fmt.Sprintf("the auxiliary pods of workload %q leave no room for GKE's own pods on the nodes "+
			"of %q", name, c.Name),
			withLabel("each node has %s; GKE's pods request %s", printAmounts(c.PerNode), printAmounts(gke)), cure)
		return true
	}
	r.addKey(path, fmt.Sprintf("workload %q can never run: its pods must run at once, but %q has no room for its "+
		"auxiliary pods", name, c.Name),
		withLabel("need %s, have %d", words.Count(needed, "node"), c.MaxNodes),
		withHelp("%s; or request less, so that more pods fit a node",
			r.moreNodes(nodeFit{capacity: c, needed: needed})))
	return true
}

// isCrowded reports whether the nodes of a capacity have no room for a workload together
// with its auxiliary pods.
func (r *report) isCrowded(s submission, fits []nodeFit, capacities map[string]ir.Capacity, pool ir.Lent,
	taken takenFunc) bool {
	_, _, never := r.crowdedCapacity(s, fits, capacities, pool, taken)
	_, first := r.crowdedByAuxiliaries(s, fits, capacities, pool)
	return never || first
}

// crowdedByAuxiliaries returns the first capacity that can admit all pods of a workload,
// and whose nodes hold its own pods, but not together with its auxiliary pods. needed is
// the number of nodes for all of them.
func (r *report) crowdedByAuxiliaries(s submission, fits []nodeFit, capacities map[string]ir.Capacity,
	pool ir.Lent) (crowded nodeFit, found bool) {
	auxiliaries := r.auxiliaryRequests(s, capacities, pool)
	for _, f := range fits {
		singles := auxiliaries[f.capacity.Name]
		if singles == nil || !f.fits() {
			continue
		}
		all := multiplyAmounts(s.workload.Requests, s.workload.Pods)
		for _, single := range singles {
			all = ir.SumAmounts(all, single)
		}
		quota, _ := s.quotaOn(f.capacity.Name) // it admits the workload's own pods
		if _, admitted := fitsAmounts(all, 1, reachableQuota(s, quota, pool)); !admitted {
			continue
		}
		f.needed = r.nodesTogether(f.capacity, s.workload.Pods, s.workload.Requests, singles)
		if !f.fits() {
			return f, true
		}
	}
	return nodeFit{}, false
}

// sharedHostNetwork reports pods with the host network that could share a node: a
// port that one of them uses is not available to the others.
func sharedHostNetwork(r *report) {
	capacities := capacitiesByName(r.Plan)
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		w := r.Blueprint.Workloads[name]
		if on := r.runsOn(w, capacities); !w.HostNetwork || r.anyBroken(on) || lacksAccelerators(w, on, capacities) {
			continue
		}
		for _, c := range all[name][0].workload.Capacities {
			m := capacities[c].Machine
			if m.Slice != nil && w.PerPod.Accelerators != m.AcceleratorCount {
				break // wholeSlices reports it
			}
			if m.AcceleratorCount > 0 && w.PerPod.Accelerators == m.AcceleratorCount {
				continue
			}
			options := []option{withHelp("remove hostNetwork: each pod then has its own address")}
			if m.AcceleratorCount > 0 {
				options = append(options,
					withLabel("with hostNetwork, want perPod.accelerators: %d, all of a node of %q", m.AcceleratorCount,
						c))
			}
			r.add(at("workloads", name, "hostNetwork"),
				fmt.Sprintf("several pods of workload %q can run on one node of %q, where they would share its ports",
					name, c),
				options...)
			break
		}
	}
}

// Ports of a node that other software uses. Source: Kubernetes documentation, "Ports
// and Protocols"; for TPUs, GKE documentation, "Deploy TPU workloads in GKE
// Standard" and "Deploy TPU Multislices in GKE".
const (
	tpuHosts       = "the hosts of a TPU slice"
	tpuCoordinator = "the coordinator of several TPU slices"
	kubelet        = "the kubelet"
	kubeProxy      = "kube-proxy"
)

func takenPorts(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		if w.Rendezvous == nil {
			continue
		}
		taken := map[int]string{}
		if w.HostNetwork {
			taken[10248], taken[10249], taken[10250], taken[10255], taken[10256] = kubelet, kubeProxy, kubelet, kubelet,
				kubeProxy
		}
		if w.PerPod.Accelerators > 0 &&
			slices.ContainsFunc(r.runsOn(w, capacities), func(c string) bool { return capacities[c].HasTPUs() }) {
			taken[8471], taken[8080] = tpuHosts, tpuCoordinator
		}
		if who := taken[w.Rendezvous.Port]; who != "" {
			r.add(at("workloads", name, "rendezvous", "port"),
				fmt.Sprintf("port %d is already used by %s", w.Rendezvous.Port, who),
				withHelp("choose another port, such as 29500"))
		}
	}
}

// nodeIdentity reports pods with the host network that need their team's identity.
// GKE sends their requests for credentials to Compute Engine's metadata server,
// which knows only the identity of the node. Source: GKE documentation, "About
// Workload Identity Federation for GKE", restrictions.
func nodeIdentity(r *report) {
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		if !r.Blueprint.Workloads[name].HostNetwork {
			continue
		}
		for _, s := range all[name] {
			team := r.Blueprint.Teams[s.team.Name]
			if !team.Bucket && len(team.Roles) == 0 {
				continue
			}
			what := "roles"
			if team.Bucket {
				what = "bucket"
			}
			path := at("workloads", name, "hostNetwork")
			r.add(path,
				fmt.Sprintf("with hostNetwork, pods of workload %q have the identity of the nodes, not of team %q, "+
					"and cannot use its %s", name, s.team.Name, what),
				withRelated(at("teams", s.team.Name), "the team"),
				withHelp("remove hostNetwork if the pods use Google Cloud; if not, add %s",
					acceptSource(r.rule.Code, path)))
			break
		}
	}
}
