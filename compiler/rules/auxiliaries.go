package rules

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// Rules on auxiliary pods of a workload, and on pods with the host network.

func auxiliaryRules() []Rule {
	return []Rule{
		rule("E0830", "auxiliary pods in a Job", auxiliariesOfJobs, resolved),
		rule("E0831", "auxiliary pod cannot use the capacity", on("workloads.*", auxiliaryCapacity), resolved),
		rule("E0832", "auxiliary pod fits no node", auxiliaryFitsNode, whole, resolved),
		rule("E0833", "workload with an auxiliary pod can never be admitted", auxiliaryFitsQuota, whole, resolved),
		rule("E0834", "pods with hostNetwork share a node", sharedHostNetwork, resolved),
		rule("E0835", "port is already used", on("workloads.*", takenPorts), resolved),
		rule("W0836", "pods use the identity of the nodes", onEach(submissions, nodeIdentity), resolved),
	}
}

func auxiliariesOfJobs(r *report) {
	severalHosts := func(c string) bool { s := r.fit.Named[c].Machine.Slice; return s != nil && s.Hosts > 1 }
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		// wholeSlices reports workloads on slices
		if w := r.Blueprint.Workloads[name]; len(w.Auxiliary) > 0 && !kinds.Of(w.Kind).Composite &&
			!slices.ContainsFunc(r.runsOn(w), severalHosts) {
			r.addKey(at("workloads", name, "auxiliary"),
				say("workload %q is a %s, which cannot have auxiliary pods", name, w.Kind),
				help("set kind: %q", kinds.Composite().Name))
		}
	}
}

func auxiliaryCapacity(r *report, workload fieldPath, w schema.Workload) {
	tier := r.Blueprint.Tiers[w.Tier]
	for _, a := range sortedKeys(w.Auxiliary) {
		capacity := w.Auxiliary[a].Capacity
		path := workload.at("auxiliary", a, "capacity")
		switch {
		case r.Broken[[2]string{"tiers", w.Tier}]:
		case !slices.Contains(tier.Capacity, capacity):
			plain := r.plainCapacities(w.Tier)
			r.add(path, say("tier %q does not use capacity %q", w.Tier, capacity),
				see(at("tiers", w.Tier, "capacity"), "the tier's capacities"), choices(plain),
				help("add the capacity to the tier: one queue admits all pods of a workload"))
		case r.fit.Named[capacity].HasAccelerators():
			r.add(path, say("nodes of %q have %s, which auxiliary pod %q does not use", capacity,
				r.fit.Named[capacity].Machine.Resource, a),
				help("choose a capacity of machines without accelerators"))
		}
	}
}

func auxiliaryFitsNode(r *report) {
	r.eachAuxiliary(func(s fit.Submission, a ir.Auxiliary, c ir.Capacity) {
		if lack, ok := fit.OnNode(a.Requests, c); !ok {
			r.addKey(at("workloads", s.Workload.Template, "auxiliary", a.Name),
				say("auxiliary pod %q fits no node of %q", a.Name, c.Name),
				label("per node: %s", lack), help("request less, or use hardware with larger machines"))
		}
	})
}

// auxiliaryFitsQuota reports auxiliary pods that exceed a quota, because either all
// pods of a workload are admitted or none.
func auxiliaryFitsQuota(r *report) {
	scheduler := r.Plan.Scheduler.Facts()
	r.eachAuxiliary(func(s fit.Submission, a ir.Auxiliary, c ir.Capacity) {
		path := at("workloads", s.Workload.Template, "auxiliary", a.Name)
		if _, ok := fit.OnNode(a.Requests, c); !ok {
			return
		}
		if _, found := s.QuotaOn(c.Name); !found {
			cure := "give quota on this capacity, in cpus, to the team"
			if !scheduler.CountsCPU {
				cure += "; " + scheduler.Name + " does not count this quota, so also add " +
					acceptSource("E1005", at("capacity", c.Name))
			}
			r.add(append(path, "capacity"),
				say("team %q has no quota on %q, so workload %q can never be admitted for this team", s.Team.Name,
					c.Name, s.Workload.Template), see(r.quotaPath(s, ""), "the team's quota"), advise(cure))
			return
		}
		if lack, ok := r.fit.AuxiliariesAdmitted(s, c.Name); !ok {
			r.addKey(at("workloads", s.Workload.Template, "auxiliary"),
				say("workload %q can never be admitted for %q with its auxiliary pods", s.Workload.Template,
					s.Team.Name),
				label("within quota: %s", lack), help("request less, or raise the quota on %q", c.Name))
		}
	})
}

// sharedHostNetwork reports pods with the host network that could share a node: a
// port that one of them uses is not available to the others.
func sharedHostNetwork(r *report) {
	for name, submissions := range r.fit.Submissions().Sorted() {
		w := r.Blueprint.Workloads[name]
		if on := r.runsOn(w); !w.HostNetwork || r.anyBroken(on) || r.lacksAccelerators(w, on) {
			continue
		}
		for _, c := range submissions[0].Workload.Capacities {
			m := r.fit.Named[c].Machine
			if m.Slice != nil && w.PerPod.Accelerators != m.AcceleratorCount {
				break // wholeSlices reports it
			}
			if m.AcceleratorCount > 0 && w.PerPod.Accelerators == m.AcceleratorCount {
				continue
			}
			r.add(at("workloads", name, "hostNetwork"),
				say("several pods of workload %q can run on one node of %q, where they would share its ports", name, c),
				when(m.AcceleratorCount > 0, label(
					"with hostNetwork, want perPod.accelerators: %d, all of a node of %q", m.AcceleratorCount, c)),
				help("remove hostNetwork: each pod then has its own address"))
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

func takenPorts(r *report, workload fieldPath, w schema.Workload) {
	if w.Rendezvous == nil {
		return
	}
	taken := map[int]string{}
	if w.HostNetwork {
		taken[10248], taken[10249], taken[10250], taken[10255], taken[10256] = kubelet, kubeProxy, kubelet, kubelet,
			kubeProxy
	}
	if w.PerPod.Accelerators > 0 &&
		slices.ContainsFunc(r.runsOn(w), func(c string) bool { return r.fit.Named[c].HasTPUs() }) {
		taken[8471], taken[8080] = tpuHosts, tpuCoordinator
	}
	if who := taken[w.Rendezvous.Port]; who != "" {
		r.add(workload.at("rendezvous", "port"), say("port %d is already used by %s", w.Rendezvous.Port, who),
			help("choose another port, such as 29500"))
	}
}

// nodeIdentity reports pods with the host network that need their team's identity.
// GKE sends their requests for credentials to Compute Engine's metadata server,
// which knows only the identity of the node. Source: GKE documentation, "About
// Workload Identity Federation for GKE", restrictions.
func nodeIdentity(r *report, s fit.Submission) {
	name := s.Workload.Template
	if !r.Blueprint.Workloads[name].HostNetwork {
		return
	}
	team := r.Blueprint.Teams[s.Team.Name]
	if !team.Bucket.Wanted && len(team.Roles) == 0 {
		return
	}
	what := "roles"
	if team.Bucket.Wanted {
		what = "bucket"
	}
	path := at("workloads", name, "hostNetwork")
	r.add(path, say("with hostNetwork, pods of workload %q have the identity of the nodes, not of team %q, "+
		"and cannot use its %s", name, s.Team.Name, what), see(at("teams", s.Team.Name), "the team"),
		helpOrAccept("if not", "remove hostNetwork if the pods use Google Cloud"))
}

// eachAuxiliary calls visit for the auxiliary pods of each workload, as each team
// submits them. It skips pods whose capacity another rule reports.
func (r *report) eachAuxiliary(visit func(s fit.Submission, a ir.Auxiliary, c ir.Capacity)) {
	for s := range r.fit.Submissions().Each() {
		for _, a := range r.fit.Auxiliaries(s) {
			visit(s, a, r.fit.Named[a.Capacity])
		}
	}
}
