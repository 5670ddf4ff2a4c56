package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// Rules on workloads: the scheduler must be able to admit them, and they must be
// able to run.

func workloadRules() []Rule {
	return []Rule{
		{
			Code: "E0801", Severity: diag.Error, Title: "pod fits no node", check: podFitsNode, whole: true,
			resolved: true,
		},
		{
			Code: "E0802", Severity: diag.Error, Title: "workload can never be admitted", check: copyFitsQuota,
			whole: true, resolved: true,
		},
		{
			Code: "E0809", Severity: diag.Error, Title: "workload can be admitted to nodes that are too small",
			check: strandedPods, whole: true, resolved: true, Acceptable: true, except: schedulers{ir.KAI},
		},
		{
			Code: "E0803", Severity: diag.Error, Title: "team has no quota in the workload's tier",
			check: workloadTeams, whole: true, resolved: true,
		},
		{Code: "E0804", Severity: diag.Error, Title: "image without a version", check: pinnedImages, fieldwise: true},
		{Code: "E0805", Severity: diag.Error, Title: "environment variable is set twice", check: setTwice},
		{
			Code: "E0819", Severity: diag.Error,
			Title: kinds.Composite().Name + " with a negative priority never starts",
			check: negativePriority, whole: true, resolved: true,
		},
		{Code: "E0806", Severity: diag.Error, Title: "files exceed the size of a ConfigMap", check: fileSizes},
		{
			Code: "E0807", Severity: diag.Error, Title: "workload does not use whole TPU slices",
			check: wholeSlices, resolved: true,
		},
		{
			Code: "E0808", Severity: diag.Error, Title: "workload can run longer than its nodes", check: runTimes,
			resolved: true,
		},
		{
			Code: "E0818", Severity: diag.Error, Title: "workload asks for nodes for too short a time",
			check: shortRuns, resolved: true,
		},
		{
			Code: "E0810", Severity: diag.Error, Title: "workload chooses a capacity that its tier does not use",
			check: capacityOutsideTier, basic: true, fieldwise: true,
		},
		{
			Code: "E0811", Severity: diag.Error, Title: "workload chooses a priority that its tier does not have",
			check: priorityOutsideTier, basic: true,
		},
		{
			Code: "E0812", Severity: diag.Error, Title: "workload chooses a capacity that its team has no quota on",
			check: chosenQuota, whole: true, resolved: true,
		},
		{
			Code: "E0813", Severity: diag.Error, Title: "no label distinguishes the chosen capacities from others",
			check: chosenApart, whole: true, resolved: true,
		},
		{
			Code: "E0814", Severity: diag.Error, Title: "environment variable is never set", check: unsetVariables,
			resolved: true,
		},
		{
			Code: "E0815", Severity: diag.Error, Title: "command uses a file that does not exist", check: missingFiles,
			Acceptable: true,
		},
	}
}

// submission is a workload as one team submits it.
type submission struct {
	workload ir.Workload
	team     *ir.Team
	queue    *ir.Queue
}

// usableQuotas returns the quotas of the capacities that the workload can run on.
func (s submission) usableQuotas() []ir.FlavorQuota {
	return slices.DeleteFunc(slices.Clone(s.queue.Flavors), func(f ir.FlavorQuota) bool {
		return !slices.Contains(s.workload.Capacities, f.Flavor)
	})
}

// quotaOn returns the queue's quota on a capacity, and reports whether it has one.
func (s submission) quotaOn(capacity string) (ir.FlavorQuota, bool) {
	for _, f := range s.queue.Flavors {
		if f.Flavor == capacity {
			return f, true
		}
	}
	return ir.FlavorQuota{}, false
}

// quotaPath returns the path of the quota of a capacity. For the capacity "" it
// returns the path of the quota of the whole queue.
func (r *report) quotaPath(s submission, capacity string) []string {
	if !s.queue.Shared {
		path := at("teams", s.team.Name, "quota", s.queue.Tier)
		if capacity != "" {
			path = append(path, capacity)
		}
		return path
	}
	quota := r.Blueprint.Tiers[s.queue.Tier].Shared.Quota
	_, given := quota[capacity]
	switch {
	case given:
		return at("tiers", s.queue.Tier, "shared", "quota", capacity)
	case capacity == "" && len(quota) > 0:
		return at("tiers", s.queue.Tier, "shared", "quota")
	}
	return at("tiers", s.queue.Tier, "capacity") // all capacities that it can have
}

// firstCopies returns, by template, the first copy of each workload for each team.
// The copies of a template are sorted by team.
func (r *report) firstCopies() map[string][]submission {
	p := r.Plan
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
		tier := r.Blueprint.Workloads[w.Template].Tier
		queue := slices.IndexFunc(team.Queues, func(q ir.Queue) bool { return q.Tier == tier })
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

// fitsAmounts reports whether times copies of the requests are within the offered
// amounts. If not, short names the resource that is too scarce.
func fitsAmounts(requests []ir.Amount, times int64,
	offered func(res string) (resource.Quantity, bool)) (short string, ok bool) {
	for _, a := range slices.Backward(requests) {
		need := a.Quantity.DeepCopy()
		need.Mul(times)
		have, known := offered(a.Resource)
		if !known || need.Cmp(have) > 0 {
			printed := ir.PrintAlike(a.Resource, need, have)
			return fmt.Sprintf("need %s %s, have %s", printed[0], a.Resource, printed[1]), false
		}
	}
	return "", true
}

func nodeAmount(c ir.Capacity) func(string) (resource.Quantity, bool) {
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
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			var short []string
			fitting := false
			for _, f := range s.usableQuotas() {
				lack, ok := fitsAmounts(s.workload.Requests, 1, nodeAmount(capacities[f.Flavor]))
				fitting = fitting || ok
				if r.Blueprint.Workloads[name].PerPod.Accelerators > 0 && !capacities[f.Flavor].HasAccelerators() {
					lack = "no accelerators" // whichever accelerators they would be
				}
				short = append(short, fmt.Sprintf("%s: %s", f.Flavor, lack))
			}
			if !fitting && !exceedsHosts(r.Blueprint.Workloads[name], s.usableQuotas(), capacities) {
				r.addKey(at("workloads", name, "perPod"),
					fmt.Sprintf("a pod of workload %q fits no node of tier %q", name, s.queue.Tier),
					withLabel("per node: %s", strings.Join(short, "; ")),
					withHelp("request less, or choose another tier"))
				break
			}
		}
	}
}

func copyFitsQuota(r *report) {
	capacities, room := capacitiesByName(r.Plan), r.newPodRoom()
	type admission struct {
		admits func(submission) (short []string, ok bool)
		limit  string // what the pods of a copy need
	}
	scheduler := ir.Choose(r.Plan.Scheduler,
		admission{
			func(s submission) ([]string, bool) { return canAdmit(s, capacities, room.pool) },
			"all pods of a copy run at once on one capacity",
		},
		admission{
			func(s submission) ([]string, bool) { return canStart(r.Plan, s, capacities) },
			fmt.Sprintf("all pods of a copy run at once, and within the guarantee if the priority is %d or more",
				ir.KAINonPreemptible),
		})
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		var stuck []submission
		var teams, short []string
		for _, s := range all[name] {
			if r.isSpoilt(s) {
				continue
			}
			if lacks, ok := scheduler.admits(s); !ok {
				stuck, teams = append(stuck, s), append(teams, s.team.Name)
				if short == nil {
					short = lacks
				}
			}
		}
		if len(stuck) > 0 {
			r.addKey(at("workloads", name),
				fmt.Sprintf("workload %q can never be admitted for %s", name, quoteNames(teams)),
				withLabel("within quota: %s", strings.Join(short, "; ")),
				withRelated(r.quotaPath(stuck[0], ""), "the quota"),
				withHelp("%s", cmp.Or(room.shareCure(stuck, capacities),
					"use fewer or smaller pods, or raise the quota or the borrowing limit: "+scheduler.limit)))
		}
	}
}

// isSpoilt reports whether a queue has no quota, or would borrow without a cohort.
// deadQueues and loneBorrowers report these mistakes.
func (r *report) isSpoilt(s submission) bool {
	t := r.Blueprint.Tiers[s.queue.Tier]
	if s.queue.Shared {
		return len(t.Shared.Quota) == len(t.Capacity) && isDeadQuota(t, t.Shared.Quota) ||
			t.Shared.Cohort == nil && canBorrow(t.Shared.Quota)
	}
	team := r.Blueprint.Teams[s.team.Name]
	return isDeadQuota(t, team.Quota[s.queue.Tier]) || team.Cohort == nil && canBorrow(team.Quota[s.queue.Tier])
}

func canBorrow(quota map[string]schema.Quota) bool {
	for _, q := range quota {
		if q.Borrow != 0 {
			return true
		}
	}
	return false
}

// canAdmit reports whether a copy fits its quota, including everything that it
// could borrow, on a capacity whose nodes can run its pods. It also reports true for
// a capacity that has been emptied, for which the copy waits. short says, for each
// capacity, what is missing.
func canAdmit(s submission, capacities map[string]ir.Capacity, pool ir.Lent) (short []string, ok bool) {
	anyNode := false
	for _, f := range s.usableQuotas() {
		if _, ok := fitsAmounts(s.workload.Requests, 1, nodeAmount(capacities[f.Flavor])); !ok {
			continue
		}
		anyNode = true
		if c := capacities[f.Flavor]; c.Emptied() || lacksSize(c) {
			return nil, true
		}
		lack, ok := fitsAmounts(s.workload.Requests, int64(s.workload.Pods), reachableQuota(s, f, pool))
		if ok {
			return nil, true
		}
		short = append(short, fmt.Sprintf("%s: %s", f.Flavor, lack))
	}
	return short, !anyNode // podFitsNode reports pods that fit no node
}

// lacksSize reports whether a capacity has no size, which oneCount reports.
func lacksSize(c ir.Capacity) bool { return !c.Static && c.MaxNodes == 0 }

// reachableQuota returns a function that returns the most of a resource that a queue
// can ever have of one capacity, including everything that it could borrow.
func reachableQuota(s submission, f ir.FlavorQuota, pool ir.Lent) func(string) (resource.Quantity, bool) {
	return func(res string) (resource.Quantity, bool) {
		i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == res })
		if i < 0 {
			return resource.Quantity{}, false
		}
		return pool.Most(s.queue.Cohort, f.Flavor, f.Quotas[i]), true
	}
}

// strandedPods reports pods that a capacity's nodes are too small for. Kueue takes
// the first capacity with free quota, however small its nodes are.
func strandedPods(r *report) {
	capacities, pool := capacitiesByName(r.Plan), r.lent()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			requests := s.workload.Requests
			fitting := slices.ContainsFunc(s.usableQuotas(), func(f ir.FlavorQuota) bool {
				_, ok := fitsAmounts(requests, 1, nodeAmount(capacities[f.Flavor]))
				return ok
			})
			for _, f := range s.usableQuotas() {
				lack, fitsNode := fitsAmounts(requests, 1, nodeAmount(capacities[f.Flavor]))
				_, admitted := fitsAmounts(requests, int64(s.workload.Pods), reachableQuota(s, f, pool))
				if !fitting || fitsNode || !admitted { // podFitsNode reports pods that fit no node
					continue
				}
				r.addKey(at("workloads", name, "perPod"),
					fmt.Sprintf("workload %q can be admitted to %q, but its pods do not fit the nodes of that capacity",
						name,
						f.Flavor),
					withLabel("per node: %s", lack),
					withRelated(r.quotaPath(s, f.Flavor), "the quota that admits it"),
					withHelp("request less, or define a tier for each size of node; Kueue does not check whether "+
						"pods fit a node, so it would admit, evict and requeue the workload without end"))
			}
		}
	}
}

func workloadTeams(r *report) {
	b := r.Blueprint
	served, idle := map[string]bool{}, map[string]bool{}
	for _, team := range b.Teams {
		for tier := range team.Quota {
			served[tier] = true
		}
	}
	for _, name := range sortedKeys(b.Workloads) {
		w := b.Workloads[name]
		if _, ok := b.Tiers[w.Tier]; !ok {
			continue
		}
		shared := b.Tiers[w.Tier].Shared
		if !served[w.Tier] && shared == nil {
			if !idle[w.Tier] {
				r.add(at("workloads", name, "tier"),
					fmt.Sprintf("no team has quota in tier %q, so no team can submit workload %q", w.Tier, name),
					withHelp("give quota in the tier to a team, or remove the workload"))
			}
			idle[w.Tier] = true // one mistake, however many workloads
			continue
		}
		var sharing []string // sorted
		if shared != nil {
			sharing = slices.Sorted(slices.Values(shared.Teams))
		}
		for i, t := range w.Teams {
			team, ok := b.Teams[t]
			switch path := at("workloads", name, "teams", diag.Index(i)); {
			case !ok:
			case shared == nil && team.Quota[w.Tier] == nil:
				r.add(path, fmt.Sprintf("team %q has no quota in tier %q", t, w.Tier),
					withHelp("give quota in the tier to the team, or remove the team from the workload"))
			case shared != nil && shared.Teams != nil && !hasName(sharing, t):
				r.add(path, fmt.Sprintf("team %q does not share the queue of tier %q", t, w.Tier),
					withRelated(at("tiers", w.Tier, "shared", "teams"), "the teams that share it"),
					withHelp("add the team to the tier's shared queue, or remove the team from the workload"))
			}
		}
	}
}

func pinnedImages(r *report) {
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		r.checkPinned(at("workloads", name, "image"), w.Image)
		for _, a := range sortedKeys(w.Auxiliary) {
			r.checkPinned(at("workloads", name, "auxiliary", a, "image"), w.Auxiliary[a].Image)
		}
	}
}

func (r *report) checkPinned(path []string, image string) {
	if strings.HasSuffix(image, ":latest") {
		r.add(path, fmt.Sprintf("image %q has no fixed version, so it can change between runs", image),
			withHelp("pin the image by a version tag or a digest"))
	}
}

// setTwice reports variables that are set twice, because the pod would have only one
// of the two values.
func setTwice(r *report) {
	buckets := map[string]string{} // for each workload, a team with a bucket that submits it
	for _, w := range r.Plan.Workloads {
		if w.Bucket != "" && buckets[w.Template] == "" {
			buckets[w.Template] = w.Team
		}
	}
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		type setter struct{ by, cure string }
		set := map[string]setter{}
		if w.Rendezvous != nil {
			for _, v := range []string{ir.EnvMasterAddr, ir.EnvMasterPort, ir.EnvNodes} {
				set[v] = setter{"rendezvous", "remove the variable, or remove rendezvous"}
			}
			set["JOB_COMPLETION_INDEX"] = setter{"Kubernetes, which counts the pods", "rename the variable"}
			if w.Slices > 1 {
				set[ir.EnvJobIndex] = set[ir.EnvNodes]
			}
		}
		if team := buckets[name]; team != "" {
			set[ir.EnvBucket] = setter{fmt.Sprintf("team %q's bucket", team), "rename the variable"}
		}
		if r.Plan.Monitoring.TensorBoard != "" {
			set[ir.EnvTensorBoard] = setter{"monitoring.tensorBoard", "rename the variable"}
		}
		for _, v := range sortedKeys(w.Env) {
			if s, twice := set[v]; twice {
				r.addKey(at("workloads", name, "env", v), v+" is set by "+s.by, withHelp("%s", s.cure))
			}
		}
		for _, a := range sortedKeys(w.Auxiliary) { // auxiliary pods take no part in a rendezvous
			for _, v := range []string{ir.EnvBucket, ir.EnvTensorBoard} {
				if _, given := w.Auxiliary[a].Env[v]; given && set[v].by != "" {
					r.addKey(at("workloads", name, "auxiliary", a, "env", v), v+" is set by "+set[v].by,
						withHelp("%s", set[v].cure))
				}
			}
		}
		for _, v := range sortedKeys(w.SecretEnv) {
			path := at("workloads", name, "secretEnv", v)
			if s, twice := set[v]; twice {
				r.addKey(path, v+" is set by "+s.by, withHelp("%s", s.cure))
			} else if _, twice := w.Env[v]; twice {
				r.addKey(path, v+" is also set in env", withRelated(at("workloads", name, "env", v), "set here"),
					withHelp("keep one of them"))
			}
		}
	}
}

// fileSizes reports files that are too large: Kubernetes rejects a ConfigMap above 1
// MiB.
func fileSizes(r *report) {
	const most = 1 << 20
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		total := 0
		for file, content := range r.Blueprint.Workloads[name].Files {
			total += len(file) + len(content)
		}
		if total > most {
			r.addKey(at("workloads", name, "files"),
				fmt.Sprintf("the files of workload %q take %d KiB, but a ConfigMap holds 1024 KiB", name, total>>10),
				withHelp("move large files to the image or to a bucket"))
		}
	}
}
