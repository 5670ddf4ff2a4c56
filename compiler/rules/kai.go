package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on KAI Scheduler: the blueprint must not use a feature that it lacks.
// Sources: KAI Scheduler 0.17's documentation and code, and runs of its scheduler.

func kaiRules() []Rule {
	return []Rule{
		rule("E0721", "mirror is unavailable for KAI Scheduler", mirrorOfKAI, only(ir.KAI)),
		rule("E1001", "KAI Scheduler with more than one tier", oneTier, basic, only(ir.KAI)),
		rule("E1002", "field is unavailable with KAI Scheduler", noEquivalent, only(ir.KAI)),
		rule("E1003", "KAI Scheduler does not order capacities",
			onEach(workloads, reportUnordered), resolved, acceptable, only(ir.KAI)),
		rule("W1004", "KAI Scheduler counts the GPUs of different capacities together",
			countedTogether, resolved, only(ir.KAI)),
		rule("E1005", "KAI Scheduler does not count the quota", reportUncounted, resolved, acceptable, only(ir.KAI)),
		rule("E1006", "priority of a queue without KAI Scheduler", queuePriorities, except(ir.KAI)),
		rule("E1007", "wrong value for a PriorityClass of KAI Scheduler", ownClasses, only(ir.KAI)),
		rule("E1008", "two queues of KAI Scheduler have the same name", queueNames, only(ir.KAI)),
		rule("W1009", "nodes start for jobs that wait for quota", onEach(capacities, idleNodes), only(ir.KAI)),
		rule("W1090", "cohort guarantees fewer GPUs than its teams", cohortBelowTeams, resolved, only(ir.KAI)),
		rule("E1091", "weight or quota in a form that the scheduler does not support", queueShares),
		rule("E1063", "GitOps is unavailable with KAI Scheduler", reportGitOpsWithKAI, only(ir.KAI)),
	}
}

// oneTier reports a team with several tiers. With KAI Scheduler a team has one
// queue, in which jobs differ by priority, so it would be unclear to which tier a
// quota belongs.
func oneTier(r *report) {
	if tiers := sortedKeys(r.Blueprint.Tiers); len(tiers) > 1 {
		r.addKey(at("tiers", tiers[1]), say("KAI Scheduler gives a team one queue, but there are %d tiers", len(tiers)),
			see(at("tiers", tiers[0]), "the first tier"),
			help("merge the tiers into one, and set its field priorities"))
	}
}

// reportField reports a field without equivalent.
func (r *report) reportField(path fieldPath, why, cure string) {
	r.addKey(path, say("field %s is unavailable with KAI Scheduler%s", path[len(path)-1], why), advise(cure))
}

// unrehearsed reports fields of rehearsals that only the rehearsals of Kueue have.
func unrehearsed(r *report) {
	for field, a := range every[schema.Arrival](r, arrivals) {
		if a.IndependentPods {
			r.reportField(field.at("independentPods"), ": in a rehearsal the pods of a job start together",
				"remove independentPods")
		}
	}
	for field, rehearsal := range every[schema.Rehearsal](r, "rehearsals.*") {
		if len(rehearsal.Holds) > 0 {
			r.reportField(field.at("holds"), ": a rehearsal stops only queues of Kueue", "remove holds")
		}
	}
}

// noQueueSettings reports names, namespaces and order of capacities of queues, and settings of Kueue.
func (r *report) noQueueSettings() {
	if path := at("kueue"); r.Written(path...) {
		r.reportField(path, ", which has no settings of Kueue", "remove kueue")
	}
	for _, name := range sortedKeys(r.Blueprint.Tiers) {
		if path := at("tiers", name, "namespaces"); r.Written(path...) {
			r.reportField(path, ", whose queues take jobs of every namespace", "remove namespaces")
		}
		if path := at("tiers", name, "nextCapacity"); r.Written(path...) {
			r.reportField(path, ", which does not try capacities in an order", "remove nextCapacity")
		}
	}
	if path := at("topologies"); r.Written(path...) {
		r.reportField(path, ", which has topologies of its own", "remove topologies")
	}
	for _, name := range sortedKeys(r.Blueprint.Capacity) {
		if path := at("capacity", name, "flavor"); r.Written(path...) {
			r.reportField(path, ", which reads the labels and taints of nodes themselves", "remove flavor")
		}
	}
	for _, name := range sortedKeys(r.Blueprint.Teams) {
		if path := at("teams", name, "queues"); r.Written(path...) {
			r.reportField(path, ", where the queue has the name of the team", "remove queues")
		}
	}
}

// noPriorities reports priorities of a tier that are no PriorityClasses of the platform, and its
// AdmissionChecks.
func (r *report) noPriorities(name string, t schema.Tier) {
	if path := at("tiers", name, "admissionChecks"); r.Written(path...) {
		r.reportField(path, ", which knows no AdmissionChecks", "remove admissionChecks")
	}
	if path := at("tiers", name, "workloadPriorities"); r.Written(path...) {
		r.reportField(path, ", which orders jobs by their PriorityClass", "write priorities instead")
	}
	for _, class := range sortedKeys(t.Priorities) {
		if t.Priorities[class].Existing {
			r.reportField(at("tiers", name, "priorities", class, "existing"),
				", whose platform makes the PriorityClasses", "write the value without existing")
		}
	}
}

// noEquivalent reports fields that would have no effect, or a bad one. For node
// pools that GKE creates, GKE's documentation says that custom scheduling with its
// own filters is not supported ("About node pool auto-creation").
func noEquivalent(r *report) {
	b, facts := r.Blueprint, r.Plan.Scheduler.Facts()
	r.noQueueSettings()
	for name, t := range sorted(b.Tiers) {
		if t.Shared != nil {
			r.reportField(at("tiers", name, "shared"), ", where every team has its own queue",
				"remove shared, and give each team its own quota")
		}
		if path := at("tiers", name, "preempts"); r.Written(path...) {
			r.reportField(path, ", which preempts by the value of the PriorityClass alone",
				fmt.Sprintf("remove preempts: jobs evict jobs of a lower value in the same queue; jobs with a value "+
					"of %d or more are never evicted", ir.KAINonPreemptible))
		}
		if path := at("tiers", name, "queueing"); r.Written(path...) {
			r.reportField(path, ": a job that fits always overtakes a job that does not fit", "remove queueing")
		}
		r.noPriorities(name, t)
		if classes := t.PriorityClasses(name); t.Default && len(classes) > 0 && classes[0].Name != facts.DefaultClass {
			if _, own := facts.ClassValue(classes[0].Name); own {
				r.add(at("tiers", name, "default"),
					say("PriorityClass %q belongs to KAI Scheduler, so it cannot be the default", classes[0].Name),
					help("remove default: KAI Scheduler gives jobs without a class the class %q", facts.DefaultClass))
			}
		}
	}
	unrehearsed(r)
	for name, cohort := range sorted(b.Cohorts) {
		if cohort.Parent != nil {
			r.reportField(at("cohorts", name, "parent"), ", which has two levels of queues: cohorts and their teams",
				"remove parent")
		}
	}
	for _, c := range r.Plan.Capacities {
		if option := c.Option.Facts(); c.Queued() {
			r.reportField(at("capacity", c.Name, "consumption", option.Field, option.Parameter),
				", which does not request nodes before it starts a job", "remove "+option.Parameter)
		}
		for _, created := range []struct {
			field string
			set   bool
		}{{"autoProvisioned", c.AutoProvisioned}, {"computeClass", c.ComputeClass}} {
			if created.set {
				r.addKey(at("capacity", c.Name, created.field),
					"GKE does not create node pools for pods of KAI Scheduler", help(givesOwnPool, created.field))
			}
		}
	}
	for name, team := range sorted(b.Teams) {
		for tier, quota := range sorted(team.Quota) {
			for c, q := range sorted(quota) {
				if q.Lend != nil {
					r.reportField(at("teams", name, "quota", tier, c, "lend"),
						": a queue lends everything that it does not use", "remove lend")
				}
				if q.Resources != nil {
					r.reportField(at("teams", name, "quota", tier, c, "resources"), ": a queue counts only GPUs",
						"count them as accelerators")
				}
			}
		}
	}
}

// reportUnordered reports a tier whose order of capacities has no effect: KAI
// Scheduler places a pod on the fullest node that it can run on.
func reportUnordered(r *report, w ir.Workload) {
	if len(w.Capacities) > 1 {
		r.addKey(at("workloads", w.Template),
			say("workload %q can run on %s, but KAI Scheduler does not try them in order", w.Template,
				quoteNames(w.Capacities)), help("choose one of them: capacity: [%q]", w.Capacities[0]))
	}
}

// gpuCapacities returns the capacities of a tier that have GPUs, in the tier's
// order.
func (r *report) gpuCapacities(tier string) []string {
	return slices.DeleteFunc(slices.Clone(r.Blueprint.Tiers[tier].Capacity), func(name string) bool {
		return !r.fit.Named[name].HasGPUs()
	})
}

func countedTogether(r *report) {
	for _, name := range sortedKeys(r.Blueprint.Tiers) {
		if together := r.gpuCapacities(name); len(together) > 1 {
			r.addKey(at("tiers", name, "capacity"),
				say("a queue of KAI Scheduler counts the GPUs of %s together", quoteNames(together)),
				help("a team can use all of its quota on any of them; jobs choose the nodes by their labels"))
		}
	}
}

// reportUncounted reports capacities without GPUs of which a team has quota: KAI
// Scheduler's queues limit only GPUs, and leave everything else unlimited.
func reportUncounted(r *report) {
	reported := map[string]bool{} // one mistake, however many teams
	for name, team := range sorted(r.Blueprint.Teams) {
		for tier, quota := range sorted(team.Quota) {
			for _, c := range sortedKeys(quota) {
				if capacity, known := r.fit.Named[c]; !known || capacity.Machine.VCPUs == 0 || capacity.HasGPUs() ||
					reported[c] {
					continue
				}
				reported[c] = true
				r.addKey(at("capacity", c), say("KAI Scheduler counts GPUs only, but the nodes of %q have none", c),
					see(at("teams", name, "quota", tier, c), "the quota"),
					helpOrAccept("if every team may use all of the capacity", "remove the quota"))
			}
		}
	}
}

// queuePriorities reports queues with a priority. It reports one mistake, however
// many queues have one: most likely the wrong scheduler was chosen.
func queuePriorities(r *report) {
	var paths []fieldPath
	for name, cohort := range sorted(r.Blueprint.Cohorts) {
		if cohort.Priority != nil {
			paths = append(paths, at("cohorts", name, "priority"))
		}
	}
	for name, team := range sorted(r.Blueprint.Teams) {
		if team.Priority != nil {
			paths = append(paths, at("teams", name, "priority"))
		}
	}
	if len(paths) == 0 {
		return
	}
	options := []option{help(`remove priority, or set scheduler: "kai"`)}
	for _, path := range paths[1:] {
		if r.Place(true, path...) != r.Place(true, paths[0]...) {
			options = append(options, see(path, "another priority"))
		}
	}
	r.addKey(paths[0], "priority of a queue is unavailable with "+r.Plan.Scheduler.Facts().Name, options...)
}

// cohortBelowTeams reports a cohort whose own quota is less than the sum of its teams'
// guarantees: KAI Scheduler first divides GPUs among the cohorts, so the teams cannot all
// have their guarantees while others use the rest.
func cohortBelowTeams(r *report) {
	for _, c := range r.Plan.Cohorts {
		if teams := r.Plan.TeamGuarantees(c.Name); c.Quota != nil && int64(*c.Quota) < teams {
			r.add(at("cohorts", c.Name, "quota"),
				say("cohort %q is guaranteed %s, but its teams are guaranteed %d together", c.Name,
					words.Count(*c.Quota, "GPU"), teams),
				helpOrAccept("if the guarantees of the teams hold only while other cohorts leave GPUs idle",
					"raise quota to %d, or remove it", teams))
		}
	}
}

// queueShares reports the quota of a cohort in the form of another scheduler, one mistake
// however many cohorts have one.
func queueShares(r *report) {
	facts := r.Plan.Scheduler.Facts()
	if !facts.QuotaPerCapacity {
		r.brokenWeights()
	}
	for name, c := range sorted(r.Blueprint.Cohorts) {
		path := at("cohorts", name, "quota")
		switch {
		case c.Quota == nil || (c.Quota.GPUs == nil) == facts.QuotaPerCapacity:
			continue
		case facts.QuotaPerCapacity:
			r.addKey(path, say("%s has no quota of a cohort as a number of GPUs", facts.Name),
				help(`write the quota by capacity, such as quota: %q: accelerators: %d; or set scheduler: "kai"`,
					orFirst(sortedKeys(r.Blueprint.Capacity)), *c.Quota.GPUs))
		default:
			r.addKey(path, say("%s counts the GPUs of all capacities together, so quota of a cohort is a number",
				facts.Name), help("write the number of GPUs that are guaranteed to the cohort, such as quota: 16"))
		}
		return
	}
}

// brokenWeights reports weights that KAI Scheduler does not support, one mistake however many
// queues have one.
func (r *report) brokenWeights() {
	const most = 1000
	for path, weight := range every[float64](r, "cohorts.*.weight teams.*.weight") {
		if weight != math.Trunc(weight) || weight > most {
			r.add(path, "KAI Scheduler supports only whole numbers as weights", label("want 0 to %d", most),
				help("write whole numbers in the same relation, such as 2 and 1"))
			return
		}
	}
}

// orFirst returns the first of some names, or a name that stands for one.
func orFirst(names []string) string {
	if len(names) == 0 {
		return "CAPACITY"
	}
	return names[0]
}

func ownClasses(r *report) {
	facts := r.Plan.Scheduler.Facts()
	for tier, t := range sorted(r.Blueprint.Tiers) {
		for _, class := range t.PriorityClasses(tier) {
			value, own := facts.ClassValue(class.Name)
			if !own || value == class.Value {
				continue
			}
			r.add(r.priorityPath(tier, class.Name),
				say("PriorityClass %q belongs to KAI Scheduler, which gives it another value", class.Name),
				label("want %d", value), help("use this value, or another name"))
		}
	}
}

// queueNames reports cohorts and teams of the same name: both become queues, which
// are objects of one kind.
func queueNames(r *report) {
	for _, kind := range []struct {
		field string
		names []string
	}{{"cohorts", sortedKeys(r.Blueprint.Cohorts)}, {"teams", sortedKeys(r.Blueprint.Teams)}} {
		for _, name := range kind.names {
			_, cohort := r.Blueprint.Cohorts[name]
			switch {
			case ir.KAIDefaultQueue(name):
				r.addKey(at(kind.field, name), say("queue %q is reserved for KAI Scheduler", name),
					help("rename the %s", strings.TrimSuffix(kind.field, "s")))
			case kind.field == "teams" && cohort:
				r.addKey(at("teams", name), say("team %q and cohort %q would have the same queue name", name, name),
					see(at("cohorts", name), "the cohort"), help("rename one of them"))
			}
		}
	}
}

// idleNodes reports capacities that scale: KAI Scheduler marks every waiting pod as
// unschedulable, and the cluster autoscaler starts nodes for unschedulable pods.
// Source: issue 9828 of kubernetes/autoscaler.
func idleNodes(r *report, c ir.Capacity) {
	if in := r.Blueprint.Capacity[c.Name]; in.MaxNodes != nil && c.OwnsPools() {
		r.addKey(at("capacity", c.Name, "maxNodes"), say("nodes of %q also start for jobs that wait for quota", c.Name),
			helpOrAccept("if unused nodes are acceptable", "set nodes for a fixed number"))
	}
}

// mirrorOfKAI reports a mirror for a platform with KAI Scheduler. Its operator installs
// components whose images no list names, so that mirror.sh could not copy them.
func mirrorOfKAI(r *report) {
	if r.Plan.Images.Mirror != "" {
		r.add(at("images", "mirror"),
			"the images of KAI Scheduler cannot come from a mirror: its operator decides which images it pulls",
			help("remove mirror, or use the scheduler kueue"))
	}
}

// reportGitOpsWithKAI reports a GitOps tool with KAI Scheduler. The chart of KAI
// Scheduler installs an operator, and only the operator installs the kinds, controllers
// and webhooks. The tool cannot wait for them, and would apply queues that no webhook
// checks.
func reportGitOpsWithKAI(r *report) {
	if r.Blueprint.Delivery.GitOps == nil {
		return
	}
	r.add(at("delivery", "gitops"), "a GitOps tool cannot wait until KAI Scheduler is installed",
		see(at("scheduler"), "the scheduler"),
		help("remove gitops: the build then installs KAI Scheduler; or remove scheduler: the platform then uses Kueue"))
}
