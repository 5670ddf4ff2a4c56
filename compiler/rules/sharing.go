package rules

import (
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on how teams share what is idle: by weights, and by past usage.

func sharingRules() []Rule {
	return []Rule{
		rule("E0232", "settings of a Kueue that the platform does not install", foreignSettings, except(ir.KAI)),
		rule("E0233", "strategies in an order that Kueue does not support",
			on("kueue.fairSharing.strategies", shareStrategies), except(ir.KAI)),
		rule("E0234", "weight is too small",
			on(`cohorts.*.weight teams.*.weight teams.*.queues.*.weight teams.*.queues.*.localQueues.*.weight
				tiers.*.shared.weight`, smallWeights), except(ir.KAI)),
		rule("E0235", "duration of a setting of Kueue is too long", longSettings, except(ir.KAI)),
		rule("E0236", "first pause is longer than the longest", pauseOrder, except(ir.KAI)),
		rule("E0530", "jobs evict others to borrow, although weights decide", borrowByWeight, acceptable,
			except(ir.KAI)),
		rule("E0531", "queue is shared by usage that Kueue does not measure", unmeasuredUsage, except(ir.KAI)),
		rule("W0532", "usage decides before priorities", usageBeforePriority, except(ir.KAI)),
		rule("W0533", "weight has no effect", idleWeights, except(ir.KAI)),
	}
}

// foreignSettings reports settings of Kueue that others run.
func foreignSettings(r *report) {
	if e := r.Plan.Cluster.Existing; e == nil || e.Kueue == nil || !r.Written("kueue") {
		return
	}
	r.addKey(at("kueue"), "others decide the settings of the Kueue that they run",
		see(at("cluster", "existing", "kueue"), "the platform uses this Kueue"),
		help("remove kueue; cluster.existing.kueue has fairSharing and admissionFairSharing, which say what is on"))
}

// shareStrategies reports a list of strategies that Kueue refuses. Source: Kueue 0.19,
// pkg/config/validation.go, validStrategySets.
func shareStrategies(r *report, path fieldPath, strategies []string) {
	if len(strategies) == 1 || slices.Equal(strategies, []string{finalShare, initialShare}) {
		return
	}
	r.add(path, "Kueue does not support these strategies in this order",
		label("want [%q, %q], or one of them", finalShare, initialShare),
		help("remove strategies: Kueue then tries both"))
}

// The preemptionStrategies of Kueue's fair sharing.
const finalShare, initialShare = "LessThanOrEqualToFinalShare", "LessThanInitialShare"

// smallWeights reports weights that Kueue rejects, because it cannot tell them from 0. Kubernetes
// rounds a weight up to billionths. Source: Kueue 0.19, pkg/webhooks/common.go, validateFairSharing.
func smallWeights(r *report, path fieldPath, weight float64) {
	const tooSmall = 1e-9
	if weight > 0 && weight <= tooSmall {
		r.add(path, say("weight %s is too small", strconv.FormatFloat(weight, 'f', -1, 64)),
			label("want 0, or more than 0.000000001"),
			help("multiply all weights by the same number"))
	}
}

// longSettings reports durations that are longer than a #Duration can be. Kueue counts the pauses in 32
// bits. Source: Kueue configuration v1beta2 API, RequeuingStrategy; Kueue v1beta2 API,
// ProvisioningRequestRetryStrategy.
func longSettings(r *report) {
	check := func(path fieldPath, duration string) {
		if schema.Seconds(duration) > schema.MaxDuration {
			r.add(path, say("%s is longer than %s", duration, words.FormatSeconds(schema.MaxDuration)),
				label("want at most %q", words.FormatSeconds(schema.MaxDuration)))
		}
	}
	for path, duration := range every[string](r, `kueue.admissionFairSharing.halfLife
		kueue.admissionFairSharing.interval kueue.waitForPodsReady.timeout kueue.waitForPodsReady.recovery
		kueue.waitForPodsReady.first kueue.waitForPodsReady.longest`) {
		check(path, duration)
	}
	for path, retry := range r.requestRetries() {
		check(path.at("first"), retry.First)
		check(path.at("longest"), retry.Longest)
	}
}

// pauseOrder reports a first pause that is longer than the longest one, which Kueue then uses for all.
func pauseOrder(r *report) {
	ready := r.Blueprint.Kueue.WaitForPodsReady
	r.checkPauses(at("kueue", "waitForPodsReady"), ready.First, ready.Longest)
	for path, retry := range r.requestRetries() {
		r.checkPauses(path, retry.First, retry.Longest)
	}
}

// checkPauses compares the pauses of a struct.
func (r *report) checkPauses(path fieldPath, first, longest string) {
	if schema.Seconds(first) <= schema.Seconds(longest) {
		return
	}
	if !r.Written(path.at("longest")...) {
		r.add(path.at("first"), say("the first pause is %s, but the longest is %s", first, longest),
			label("want at most %q", longest), help("write a shorter first, or add longest: %q", first))
		return
	}
	r.add(path.at("longest"), say("the longest pause is %s, but the first is %s", longest, first),
		label("want at least %q", first),
		when(r.Written(path.at("first")...), see(path.at("first"), "the first pause")))
}

// borrowByWeight reports tiers that evict to borrow while weights decide who borrows. The API's
// documentation forbids the field then, but Kueue accepts such a queue and keeps it active. So it is
// an error that a new platform must not repeat, and that a blueprint of running queues can accept.
// Source: Kueue v1beta2 API, ClusterQueuePreemption.borrowWithinCohort; Kueue 0.19,
// pkg/webhooks/clusterqueue_webhook.go.
func borrowByWeight(r *report) {
	if !r.Plan.SharesFairly() {
		return
	}
	for tier, t := range sorted(r.Blueprint.Tiers) {
		if ir.Evicts(t.Preempts.ToBorrow) {
			r.add(at("tiers", tier, "preempts", "toBorrow"),
				say("Kueue does not support toBorrow in tier %q with fair sharing: weights decide whose borrowing "+
					"jobs it evicts", tier), helpOrAccept("if queues run like this today", "remove toBorrow"))
		}
	}
}

func unmeasuredUsage(r *report) {
	if r.Plan.MeasuresUsage() {
		return
	}
	cure := help("add kueue: admissionFairSharing: {}, or remove byUsage")
	if e := r.Plan.Cluster.Existing; e != nil && e.Kueue != nil {
		cure = help("ask the owners of Kueue to set admissionFairSharing, and write admissionFairSharing: true in " +
			"cluster.existing.kueue; or remove byUsage")
	}
	for tier, t := range sorted(r.Blueprint.Tiers) {
		if t.Shared != nil && t.Shared.ByUsage {
			r.addKey(at("tiers", tier, "shared", "byUsage"),
				say("tier %q shares its queue by usage, which Kueue does not measure", tier), cure)
			return // one mistake, however many tiers
		}
	}
}

// usageBeforePriority reports a tier with several priorities that is shared by usage. Kueue
// compares the priorities of two jobs only if their teams have used the same. Source: Kueue
// 0.19, pkg/cache/queue/cluster_queue.go, queueOrderingFunc.
func usageBeforePriority(r *report) {
	for tier, t := range sorted(r.Blueprint.Tiers) {
		if t.Shared != nil && t.Shared.ByUsage && len(t.PriorityClasses(tier)) > 1 {
			r.addKey(at("tiers", tier, "shared", "byUsage"),
				say("in tier %q, a job of a team that has used less comes before jobs of a higher priority", tier),
				see(at("tiers", tier, "priorities"), "the priorities"),
				helpOrAccept("if this is intended", "give the tier one priority"))
		}
	}
}

// idleWeights reports weights that nothing reads, one mistake however many there are: those of LocalQueues
// without byUsage, and all others without fair sharing too.
func idleWeights(r *report) {
	r.idleLocalQueues()
	if r.Plan.SharesFairly() {
		return
	}
	var paths []fieldPath
	for _, f := range r.fieldsAt("cohorts.*.weight tiers.*.shared.weight") {
		paths = append(paths, f.path)
	}
	for name, team := range sorted(r.Blueprint.Teams) {
		if team.Weight != nil && !r.sharesByUsage(name, "") {
			paths = append(paths, at("teams", name, "weight"))
		}
		for tier, names := range sorted(team.Queues) {
			if names.Weight != nil && !r.sharesByUsage(name, tier) {
				paths = append(paths, at("teams", name, "queues", tier, "weight"))
			}
		}
	}
	cure := "add kueue: fairSharing: {}, or remove the weight"
	if e := r.Plan.Cluster.Existing; e != nil && e.Kueue != nil {
		cure = "write fairSharing: true in cluster.existing.kueue if that Kueue shares fairly, or remove the weight"
	}
	r.addIdle(paths, "without fair sharing, the weight has no effect: the job that comes first borrows",
		helpOrAccept("if fair sharing follows later", "%s", cure))
}

// idleLocalQueues reports weights of LocalQueues in queues that are not shared by usage. Source: Kueue 0.19,
// pkg/controller/core/localqueue_controller.go.
func (r *report) idleLocalQueues() {
	var paths []fieldPath
	for _, f := range r.fieldsAt("teams.*.queues.*.localQueues.*.weight") {
		if !r.sharesByUsage(f.path[1], f.path[3]) {
			paths = append(paths, f.path)
		}
	}
	r.addIdle(paths, "the weight of a LocalQueue has no effect: its queue is not shared by usage",
		helpOrAccept("if sharing by usage follows later",
			"remove the weight, or add byUsage: true to shared of the tier"))
}

// addIdle reports the first of some weights whose finding is not accepted, with references to the others.
func (r *report) addIdle(paths []fieldPath, message string, cure option) {
	if len(paths) == 0 {
		return
	}
	if i := slices.IndexFunc(paths, func(p fieldPath) bool { return r.acceptedReason(p) == "" }); i > 0 {
		paths[0], paths[i] = paths[i], paths[0]
	}
	options := []option{cure}
	for _, path := range paths[1:] {
		if r.Place(true, path...) != r.Place(true, paths[0]...) {
			options = append(options, see(path, "another weight"))
		}
	}
	r.addKey(paths[0], message, options...)
}

// sharesByUsage reports whether a team has a queue in a tier, or in any tier for "", that its
// teams share by usage.
func (r *report) sharesByUsage(team, tier string) bool {
	for _, q := range r.Plan.SharedQueues {
		for _, t := range q.Teams {
			if q.ByUsage && t.Name == team && (tier == "" || tier == q.Tier) {
				return true
			}
		}
	}
	return false
}
