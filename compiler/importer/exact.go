package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/exports"
)

// The exact design: queues, flavors, topologies and cohorts as they run, on nodes and in
// namespaces that stay with their owners.

// entry is an entity of the blueprint: its fields, and the lines of a comment above it.
type entry struct {
	name    string
	fields  settings
	comment []string
}

// exactDesign is what the blueprint says about queues that run.
type exactDesign struct {
	topologies, capacities, cohorts, tiers, teams []entry
	// everyTier and everyTeam are fields that all tiers, or all teams, have.
	everyTier, everyTeam settings

	indexes map[string]map[string]int // of the entities of a section, by name
}

// exactPlanner plans the exact design.
type exactPlanner struct {
	*design
	out        *exactDesign
	capacities map[string]string // by flavor
	locals     map[string][]typed[v1beta2.LocalQueue]
	teams      map[string]*exactTeam // by namespace
	teamNames  map[string]bool
	tierNames  map[string]bool
	byPolicy   map[string][]*exactTier
	tiers      []*exactTier
}

// exactTeam is a namespace with LocalQueues.
type exactTeam struct {
	name, namespace string
	cohort          string
	hasCohort       bool // whether some queue of the team alone has decided the cohort
	own             map[*exactTier]bool
	quota, queues   settings
}

// exactTier is a policy, with the ClusterQueues that have it: one that teams share, or one for
// each of several teams.
type exactTier struct {
	name    string
	policy  settings
	shared  settings // nil if teams have queues of their own
	queues  []string
	sources []typed[v1beta2.ClusterQueue]
	locals  []string // names of the LocalQueues
}

// planExactly designs the queues as they run.
func (d *design) planExactly() {
	x := &exactPlanner{
		design: d, out: &exactDesign{}, capacities: map[string]string{},
		locals: map[string][]typed[v1beta2.LocalQueue]{}, teams: map[string]*exactTeam{},
		teamNames: map[string]bool{}, tierNames: map[string]bool{}, byPolicy: map[string][]*exactTier{},
	}
	d.exact = x.out
	for _, q := range d.inv.localQueues {
		name := string(q.value.Spec.ClusterQueue)
		x.locals[name] = append(x.locals[name], q)
	}
	x.planFlavors()
	x.planTopologies()
	x.planCohorts()
	for _, q := range d.inv.clusterQueues {
		x.planQueue(q)
		q.reportAmounts(q.value.Spec.ResourceGroups)
		delete(x.locals, q.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(x.locals)) {
		for _, q := range x.locals[name] {
			q.none("clusterQueue", "", "the exports do not contain ClusterQueue %q, so the LocalQueue is left out",
				name)
		}
	}
	x.planPriorities()
	x.writeTiers()
	x.writeTeams()
	x.reportOthers()
}

// planFlavors makes a capacity of each flavor, also of those that only queues name.
func (x *exactPlanner) planFlavors() {
	taken := map[string]bool{}
	add := func(flavor string, fields settings, lines ...string) string {
		name := uniqueName(fitName(flavor, 40), 40, taken)
		x.capacities[flavor] = name
		if name != flavor {
			fields = append(settings{{"name", flavor}}, fields...)
		}
		x.out.capacities = append(x.out.capacities,
			entry{name, settings{{"consumption", settings{{"existing", settings(nil)}}}}.add("flavor", fields), lines})
		return name
	}
	for _, f := range x.inv.flavors {
		spec := f.value.Spec
		fields := settings(nil).add("nodeLabels", textSettings(spec.NodeLabels)).
			add("nodeTaints", taintItems(spec.NodeTaints)).add("tolerations", tolerationItems(spec.Tolerations))
		if spec.TopologyName != nil {
			fields = fields.add("topology", string(*spec.TopologyName))
		}
		name := add(f.Name, fields)
		f.exact("spec", "capacity."+name+".flavor")
	}
	missing := func(name v1beta2.ResourceFlavorReference) {
		if x.capacities[string(name)] == "" {
			name := add(string(name), nil, fillIn+"the flavor, which the exports do not contain.")
			x.assume("capacity."+name, "the exports contain queues of this flavor, but not the flavor: add it to the "+
				"exports")
		}
	}
	for _, q := range x.inv.clusterQueues {
		for _, f := range flavorsOf(q.value) {
			missing(f.Name)
		}
	}
	for _, c := range x.inv.cohorts {
		for _, g := range c.value.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				missing(f.Name)
			}
		}
	}
}

// textSettings returns a map as fields, sorted.
func textSettings(m map[string]string) settings {
	var out settings
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, setting{key, m[key]})
	}
	return out
}

func taintItems(taints []corev1.Taint) items {
	var out items
	for _, t := range taints {
		fields := settings{{"key", t.Key}}.add("value", t.Value)
		out = append(out, setting{"", append(fields, setting{"effect", string(t.Effect)})})
	}
	return out
}

func tolerationItems(tolerations []corev1.Toleration) items {
	var out items
	for _, t := range tolerations {
		fields := settings(nil).add("key", t.Key)
		if t.Operator != "" && t.Operator != corev1.TolerationOpEqual {
			fields = fields.add("operator", string(t.Operator))
		}
		fields = fields.add("value", t.Value).add("effect", string(t.Effect))
		if t.TolerationSeconds != nil {
			fields = append(fields, setting{"seconds", *t.TolerationSeconds})
		}
		out = append(out, setting{"", fields})
	}
	return out
}

// planTopologies makes a topology of each Topology, also of those that only flavors name.
func (x *exactPlanner) planTopologies() {
	known := map[string]bool{}
	for _, t := range x.inv.topologies {
		known[t.Name] = true
		var levels []string
		for _, l := range t.value.Spec.Levels {
			levels = append(levels, l.NodeLabel)
		}
		x.out.topologies = append(x.out.topologies, entry{t.Name, settings{{"levels", levels}}, nil})
		t.exact("levels", "topologies."+t.Name+".levels")
	}
	for _, f := range x.inv.flavors {
		if name := f.value.Spec.TopologyName; name != nil && !known[string(*name)] {
			known[string(*name)] = true
			x.out.topologies = append(x.out.topologies, entry{string(*name), nil, []string{
				fillIn + "the levels of the topology, which the exports do not contain.",
			}})
			x.assume("topologies."+string(*name), "the exports do not contain the Topology: fill in its levels")
		}
	}
}

// planCohorts makes a cohort of each name that a queue or a Cohort has.
func (x *exactPlanner) planCohorts() {
	cohorts := map[string]settings{}
	for _, q := range x.inv.clusterQueues {
		if name := string(q.value.Spec.CohortName); name != "" {
			cohorts[name] = nil
		}
	}
	for _, c := range x.inv.cohorts {
		spec := c.value.Spec
		parent := string(spec.ParentName)
		if _, known := cohorts[parent]; parent != "" && !known {
			cohorts[parent] = nil
		}
		var quota settings
		for _, g := range spec.ResourceGroups {
			for _, f := range g.Flavors {
				quota = append(quota, setting{x.capacities[string(f.Name)], quotaOf(f.Resources, parent != "")})
			}
		}
		cohorts[c.Name] = settings(nil).add("parent", parent).add("weight", weightOf(spec.FairSharing)).
			add("quota", quota)
		c.exact("spec", "cohorts."+c.Name)
		c.reportAmounts(c.value.Spec.ResourceGroups)
	}
	for _, name := range slices.Sorted(maps.Keys(cohorts)) {
		x.out.cohorts = append(x.out.cohorts, entry{name, cohorts[name], nil})
	}
}

// weightOf returns a weight in fair sharing as a number, nil for 1.
func weightOf(f *v1beta2.FairSharing) any {
	if f == nil || f.Weight == nil || f.Weight.Cmp(resource.MustParse("1")) == 0 {
		return nil
	}
	return number(strconv.FormatFloat(f.Weight.AsApproximateFloat64(), 'f', -1, 64))
}

// quotaOf returns the quota of a flavor by resource. lends reports whether its queue is in a
// cohort; without one, limits have no meaning.
func quotaOf(resources []v1beta2.ResourceQuota, lends bool) settings {
	unlimited := lends && len(resources) > 0 && !slices.ContainsFunc(resources, func(r v1beta2.ResourceQuota) bool {
		return r.BorrowingLimit != nil
	})
	var list settings
	for _, r := range resources {
		nominal := amount(counted(r.NominalQuota))
		var limits settings
		switch {
		case !lends:
		case r.BorrowingLimit == nil && !unlimited:
			limits = limits.add("borrow", "all")
		case r.BorrowingLimit != nil && !r.BorrowingLimit.IsZero():
			limits = append(limits, setting{"borrow", amount(counted(*r.BorrowingLimit))})
		}
		if lends && r.LendingLimit != nil {
			limits = append(limits, setting{"lend", amount(counted(*r.LendingLimit))})
		}
		if limits == nil {
			list = append(list, setting{string(r.Name), nominal})
			continue
		}
		if !r.NominalQuota.IsZero() {
			limits = append(settings{{"guaranteed", nominal}}, limits...)
		}
		list = append(list, setting{string(r.Name), limits})
	}
	out := settings(nil)
	if unlimited {
		out = out.add("borrow", "all")
	}
	return append(out, setting{"resources", list})
}

// most is the largest amount that Kueue counts. Source: Kueue 0.19, pkg/resources/requests.go,
// ResourceValue; k8s.io/apimachinery, Quantity.Value.
var most = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)

// counted returns an amount as Kueue counts it: 0 for one that is negative, which Kueue refuses,
// and the largest for one that is larger.
func counted(q resource.Quantity) resource.Quantity {
	switch {
	case q.Sign() < 0:
		return resource.Quantity{Format: resource.DecimalSI}
	case q.Cmp(most) > 0:
		return most
	}
	return q
}

// reportAmounts reports amounts that Kueue counts as others.
func (o *object) reportAmounts(groups []v1beta2.ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				for _, q := range []*resource.Quantity{&r.NominalQuota, r.BorrowingLimit, r.LendingLimit} {
					if q == nil {
						continue
					}
					if c := counted(*q); c.Cmp(*q) != 0 {
						o.approximate("spec.resourceGroups", "", "an amount of %s on flavor %s is more or less than "+
							"Kueue counts: it becomes %v", r.Name, f.Name, amount(c))
					}
				}
			}
		}
	}
}

// amount returns a quantity as a number if it is whole, otherwise as Kubernetes writes it.
func amount(q resource.Quantity) any {
	if n, ok := q.AsInt64(); ok && q.Format == resource.DecimalSI {
		return n
	}
	return q.String()
}

// planQueue gives a ClusterQueue its place: a team's own queue in a tier, if one namespace uses it
// and the team has one cohort, otherwise the shared queue of a tier.
func (x *exactPlanner) planQueue(q typed[v1beta2.ClusterQueue]) {
	spec := q.value.Spec
	byTeam, teams := map[*exactTeam][]typed[v1beta2.LocalQueue]{}, []*exactTeam(nil)
	for _, l := range x.locals[q.Name] {
		t := x.team(cmp.Or(l.Namespace, "default"))
		if byTeam[t] == nil {
			teams = append(teams, t)
		}
		byTeam[t] = append(byTeam[t], l)
	}
	var quota settings
	for _, f := range flavorsOf(q.value) {
		quota = append(quota, setting{x.capacities[string(f.Name)], quotaOf(f.Resources, spec.CohortName != "")})
	}
	policy := x.policyOf(q, teams)
	cohort, byUsage := string(spec.CohortName), isByUsage(spec)
	own := len(teams) == 1 && !byUsage && len(quota) > 0 && (!teams[0].hasCohort || teams[0].cohort == cohort)
	var t *exactTier
	if own {
		teams[0].cohort, teams[0].hasCohort = cohort, true
		t = x.tierOf(teams[0], policy)
		teams[0].quota = append(teams[0].quota, setting{"", tierQuota{t, quota}})
	} else {
		t = &exactTier{policy: policy}
		x.tiers = append(x.tiers, t)
		t.shared = x.sharedOf(q, teams, quota, byUsage)
	}
	t.queues = append(t.queues, q.Name)
	t.sources = append(t.sources, q)
	x.nameLocals(q, t, own, teams, byTeam)
}

// tierQuota is the quota of a team in a tier that has no name yet.
type tierQuota struct {
	tier  *exactTier
	value settings
}

// team returns the team of a namespace.
func (x *exactPlanner) team(namespace string) *exactTeam {
	t := x.teams[namespace]
	if t == nil {
		name := fitName(namespace, 27)
		if len(name) < 3 {
			name = "team-" + name
		}
		t = &exactTeam{
			name: uniqueName(name, 27, x.teamNames), namespace: namespace, own: map[*exactTier]bool{},
		}
		x.teams[namespace] = t
	}
	return t
}

// tierOf returns the first tier with a policy in which a team has no queue yet.
func (x *exactPlanner) tierOf(team *exactTeam, policy settings) *exactTier {
	key := fmt.Sprintf("%q", policy)
	for _, t := range x.byPolicy[key] {
		if !team.own[t] {
			team.own[t] = true
			return t
		}
	}
	t := &exactTier{policy: policy}
	team.own[t] = true
	x.byPolicy[key] = append(x.byPolicy[key], t)
	x.tiers = append(x.tiers, t)
	return t
}

// policyOf returns the fields of a tier with the policy of a ClusterQueue.
func (x *exactPlanner) policyOf(q typed[v1beta2.ClusterQueue], teams []*exactTeam) settings {
	spec := q.value.Spec
	capacities := []string{}
	for _, f := range flavorsOf(q.value) {
		capacities = append(capacities, x.capacities[string(f.Name)])
	}
	out := settings{{"capacity", capacities}}
	out = append(out, setting{"queueing", cmp.Or(string(spec.QueueingStrategy), string(v1beta2.BestEffortFIFO))})
	out = out.add("preempts", preemptsOf(spec)).add("nextCapacity", nextCapacityOf(spec.FlavorFungibility))
	if s := spec.AdmissionChecksStrategy; s != nil {
		var checks settings
		for _, c := range s.AdmissionChecks {
			var on []string
			for _, f := range c.OnFlavors {
				on = append(on, x.capacities[string(f)])
			}
			if on == nil {
				checks = append(checks, setting{string(c.Name), "all"})
			} else {
				checks = append(checks, setting{string(c.Name), on})
			}
		}
		out = out.add("admissionChecks", checks)
	}
	return out.add("namespaces", namespacesOf(spec.NamespaceSelector, teams))
}

// preemptsOf returns the field preempts of a tier. Without a cohort, reclaiming and borrowing have
// no meaning.
func preemptsOf(spec v1beta2.ClusterQueueSpec) settings {
	inQueue, toReclaim, toBorrow := v1beta2.PreemptionPolicyNever, v1beta2.PreemptionPolicyNever, ""
	var upTo *int32
	if p := spec.Preemption; p != nil {
		inQueue, toReclaim = cmp.Or(p.WithinClusterQueue, inQueue), cmp.Or(p.ReclaimWithinCohort, toReclaim)
		if b := p.BorrowWithinCohort; b != nil && spec.CohortName != "" {
			toBorrow, upTo = string(b.Policy), b.MaxPriorityThreshold
		}
	}
	out := settings(nil)
	if inQueue != v1beta2.PreemptionPolicyNever {
		out = out.add("inQueue", string(inQueue))
	}
	if toReclaim != v1beta2.PreemptionPolicyAny {
		out = out.add("toReclaim", string(toReclaim))
	}
	if toBorrow != "" && toBorrow != string(v1beta2.BorrowWithinCohortPolicyNever) {
		out = out.add("toBorrow", toBorrow)
		if upTo != nil {
			out = append(out, setting{"toBorrowUpTo", int64(*upTo)})
		}
	}
	return out
}

// nextCapacityOf returns the field nextCapacity of a tier, nil for the defaults.
func nextCapacityOf(f *v1beta2.FlavorFungibility) settings {
	if f == nil {
		return nil
	}
	var out settings
	if f.WhenCanBorrow == v1beta2.TryNextFlavor {
		out = out.add("beforeBorrowing", true)
	}
	if f.WhenCanPreempt == v1beta2.MayStopSearch {
		out = append(out, setting{"beforeEvicting", false})
	}
	if f.Preference != nil {
		switch *f.Preference {
		case v1beta2.BorrowingOverPreemption:
			out = out.add("prefer", "borrow")
		case v1beta2.PreemptionOverBorrowing:
			out = out.add("prefer", "evict")
		}
	}
	return out
}

// namespacesOf returns the field namespaces of a tier, nil if the selector selects the namespaces
// of the teams as the platform would.
func namespacesOf(s *metav1.LabelSelector, teams []*exactTeam) any {
	if s == nil {
		return "none"
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return "all"
	}
	var own []string
	for _, t := range teams {
		own = append(own, t.namespace)
	}
	slices.Sort(own)
	if selected := selectedNamespaces(s); len(own) > 0 && slices.Equal(selected, own) &&
		(len(own) == 1) == (len(s.MatchLabels) == 1) {
		return nil
	}
	if len(s.MatchExpressions) == 0 {
		return textSettings(s.MatchLabels)
	}
	var out items
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		out = append(out, setting{"", settings{{"label", key}, {"in", []string{s.MatchLabels[key]}}}})
	}
	for _, e := range s.MatchExpressions {
		fields := settings{{"label", e.Key}}
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			fields = append(fields, setting{"in", e.Values})
		case metav1.LabelSelectorOpNotIn:
			fields = append(fields, setting{"notIn", e.Values})
		default:
			fields = append(fields, setting{"exists", e.Operator == metav1.LabelSelectorOpExists})
		}
		out = append(out, setting{"", fields})
	}
	return out
}

func isByUsage(spec v1beta2.ClusterQueueSpec) bool {
	return spec.AdmissionScope != nil && spec.AdmissionScope.AdmissionMode == v1beta2.UsageBasedAdmissionFairSharing
}

// stopOf returns a stop policy, "" for the default.
func stopOf(p *v1beta2.StopPolicy) string {
	if p == nil || *p == v1beta2.None {
		return ""
	}
	return string(*p)
}

// sharedOf returns the fields of the queue that teams share.
func (x *exactPlanner) sharedOf(
	q typed[v1beta2.ClusterQueue], teams []*exactTeam, quota settings, byUsage bool,
) settings {
	names := []string{}
	for _, t := range teams {
		names = append(names, t.name)
	}
	slices.Sort(names)
	spec := q.value.Spec
	out := settings{{"teams", names}, {"clusterQueue", q.Name}}
	return out.add("cohort", string(spec.CohortName)).add("weight", weightOf(spec.FairSharing)).add("byUsage", byUsage).
		add("stop", stopOf(spec.StopPolicy)).add("quota", quota)
}

// nameLocals gives each team the names of its LocalQueues, and of its own ClusterQueue.
func (x *exactPlanner) nameLocals(
	q typed[v1beta2.ClusterQueue], t *exactTier, own bool, teams []*exactTeam,
	byTeam map[*exactTeam][]typed[v1beta2.LocalQueue],
) {
	for _, team := range teams {
		var fields settings
		if own {
			fields = settings{{"clusterQueue", q.Name}}.add("weight", weightOf(q.value.Spec.FairSharing)).
				add("stop", stopOf(q.value.Spec.StopPolicy))
		}
		var named settings
		plain := true
		for _, l := range byTeam[team] {
			more := settings(nil).add("weight", weightOf(l.value.Spec.FairSharing)).
				add("stop", stopOf(l.value.Spec.StopPolicy))
			plain = plain && more == nil
			named = append(named, setting{l.Name, more})
			t.locals = append(t.locals, l.Name)
			l.exact("spec", "teams."+team.name+".queues")
		}
		if len(named) == 1 && plain {
			fields = append(fields, setting{"localQueue", named[0].name})
		} else {
			fields = append(fields, setting{"localQueues", named})
		}
		team.queues = append(team.queues, setting{"", tierQuota{t, fields}})
	}
}

// reportQueue reports what a blueprint says about a ClusterQueue.
func reportQueue(q typed[v1beta2.ClusterQueue], tier string) {
	spec := q.value.Spec
	q.exact("spec", "tiers."+tier)
	if exports.At(q.Fields, "spec", "concurrentAdmissionPolicy") != nil {
		q.none("concurrentAdmissionPolicy", "", "the field stays as it is, and a blueprint does not have it")
	}
	never := v1beta2.PreemptionPolicyNever
	if p := spec.Preemption; p != nil && spec.CohortName == "" &&
		(cmp.Or(p.ReclaimWithinCohort, never) != never || p.BorrowWithinCohort != nil) {
		q.approximate("preemption", "tiers", "without a cohort, reclaimWithinCohort and borrowWithinCohort have no "+
			"meaning: they are omitted")
	}
}

// writeTiers names the tiers, and writes them.
func (x *exactPlanner) writeTiers() {
	for _, t := range x.tiers {
		t.name = uniqueName(fitName(t.proposeName(), 30), 30, x.tierNames)
		fields := slices.Clone(t.policy)
		if t.shared != nil {
			fields = append(fields, setting{"shared", t.shared})
		}
		lines := "From ClusterQueue " + strconv.Quote(t.queues[0]) + "."
		if n := len(t.queues); n > 1 {
			lines = fmt.Sprintf("From %d ClusterQueues, the first %q.", n, t.queues[0])
		}
		x.out.tiers = append(x.out.tiers, entry{t.name, fields, []string{lines}})
		for _, q := range t.sources {
			reportQueue(q, t.name)
		}
	}
}

// proposeName returns the name of a tier: that of its only ClusterQueue, or of all LocalQueues.
func (t *exactTier) proposeName() string {
	if len(t.queues) == 1 {
		return strings.TrimPrefix(t.queues[0], "cq-")
	}
	names := slices.Compact(slices.Sorted(slices.Values(t.locals)))
	if len(names) == 1 {
		return names[0]
	}
	return "batch"
}

// writeTeams writes the teams, by name.
func (x *exactPlanner) writeTeams() {
	named := func(list settings) settings {
		var out settings
		for _, s := range list {
			of := s.value.(tierQuota)
			out = append(out, setting{of.tier.name, of.value})
		}
		return out
	}
	var teams []*exactTeam
	for _, t := range x.teams {
		teams = append(teams, t)
	}
	slices.SortFunc(teams, func(a, b *exactTeam) int { return strings.Compare(a.name, b.name) })
	for _, t := range teams {
		fields := settings{{"namespace", settings{{"existing", t.namespace}}}}
		if t.hasCohort {
			fields = fields.add("cohort", t.cohort)
		}
		x.out.teams = append(x.out.teams,
			entry{t.name, fields.add("quota", named(t.quota)).add("queues", named(t.queues)), nil})
	}
}

// planPriorities keeps the priorities of the exports: WorkloadPriorityClasses become the
// platform's, and PriorityClasses stay with their owners.
func (x *exactPlanner) planPriorities() {
	var workload, existing settings
	for _, o := range x.inv.workloadClasses {
		value, ok := classValue(o)
		if !ok || !objectName().MatchString(o.Name) {
			o.none("value", "", "a WorkloadPriorityClass needs a number as its value, and a name of lower-case "+
				"letters, digits, dashes and dots")
			continue
		}
		workload = append(workload, setting{o.Name, value})
		o.exact("value", "tiers.*.workloadPriorities."+o.Name)
	}
	for _, o := range x.inv.priorityClasses {
		value, ok := classValue(o)
		switch {
		case strings.HasPrefix(o.Name, "system-") || ok && value > 1_000_000_000:
			o.none("object", "", "the PriorityClass belongs to Kubernetes itself")
		case !ok || fitName(o.Name, 63) != o.Name || value < -2147483648:
			o.none("value", "", "the PriorityClass stays with its owner, and the blueprint cannot name it")
		default:
			existing = append(existing, setting{o.Name, settings{{"existing", value}}})
			o.exact("value", "tiers.*.priorities."+o.Name)
		}
	}
	x.out.everyTier = x.out.everyTier.add("priorities", existing).add("workloadPriorities", workload)
}

// classValue returns the value of a class of priority, and reports whether it is a number.
func classValue(o *object) (int64, bool) {
	n, _ := o.Fields["value"].(json.Number)
	value, err := n.Int64()
	return value, err == nil
}

// reportOthers reports objects that stay with their owners.
func (x *exactPlanner) reportOthers() {
	for _, c := range x.inv.checks {
		c.exact("spec", "tiers.*.admissionChecks."+c.Name)
	}
	for _, c := range x.inv.requestConfigs {
		c.none("spec", "", "the configuration stays with its owner: the blueprint names only its check")
	}
	for _, o := range x.inv.namespaces {
		if t := x.teams[o.Name]; t != nil {
			o.exact("metadata.name", "teams."+t.name+".namespace.existing")
		} else {
			o.none("object", "", "no LocalQueue is in the namespace, so no team has it")
		}
	}
	for _, p := range x.inv.pools {
		p.exact("object", "capacity.*.consumption.existing")
	}
}

// fieldsOf returns entities as fields of the blueprint, after the fields that all of them have.
func fieldsOf(every settings, entries []entry) []*ast.Field {
	var out []*ast.Field
	if len(every) > 0 && len(entries) > 0 {
		pattern := &ast.Field{Label: ast.NewList(ast.NewIdent("string")), Value: block(every)}
		out = append(out, pattern)
	}
	for _, e := range entries {
		f := field(e.name, oneLineOrBlock(e.fields))
		if len(e.comment) > 0 {
			comment(f, e.comment...)
		}
		out = append(out, f)
	}
	return out
}
