package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// clusterQueue is a ClusterQueue with the LocalQueues that lead to it.
type clusterQueue struct {
	typed[v1beta2.ClusterQueue]
	locals []typed[v1beta2.LocalQueue]
}

// flavorsOf returns the flavors of a ClusterQueue in their order.
func flavorsOf(q *v1beta2.ClusterQueue) []v1beta2.FlavorQuotas {
	var out []v1beta2.FlavorQuotas
	for _, g := range q.Spec.ResourceGroups {
		out = append(out, g.Flavors...)
	}
	return out
}

// planner holds what the design of queues needs by name.
type planner struct {
	*design
	capacities map[string]*capacity // by flavor
	teams      map[string]*team     // by namespace
	teamNames  map[string]bool
	cohortName map[string]string // by the name in the export
	byKey      map[string][]*tier
}

// planQueues makes tiers, teams and cohorts of the ClusterQueues.
func (d *design) planQueues() {
	p := &planner{
		design: d, capacities: map[string]*capacity{}, teams: map[string]*team{}, teamNames: map[string]bool{},
		cohortName: map[string]string{}, byKey: map[string][]*tier{},
	}
	for _, c := range d.capacities {
		if c.flavor != "" {
			p.capacities[c.flavor] = c
		}
	}
	p.planCohorts()
	locals := map[string][]typed[v1beta2.LocalQueue]{}
	for _, q := range d.inv.localQueues {
		name := string(q.value.Spec.ClusterQueue)
		locals[name] = append(locals[name], q)
	}
	for _, q := range d.inv.clusterQueues {
		p.planQueue(&clusterQueue{typed: q, locals: locals[q.Name]})
		delete(locals, q.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(locals)) {
		for _, q := range locals[name] {
			q.none("clusterQueue", "", "the exports do not contain ClusterQueue %q", name)
		}
	}
	p.nameTiers()
	if len(d.tiers) == 0 && len(d.capacities) > 0 {
		p.inventTiers()
	}
	for _, t := range d.tiers {
		for _, m := range t.members {
			p.reportQueue(t, m)
		}
	}
	for _, o := range d.inv.namespaces {
		if t := p.teams[o.Name]; t != nil {
			o.exactIf(t.finalNamespace() == o.Name, "metadata.name", "teams."+t.name+".namespace",
				"a team cannot have this namespace: it has %q", t.finalNamespace())
			o.approximate("metadata", "teams."+t.name, "the namespace gets labels and annotations of the platform; "+
				"the pods must meet the Pod Security Standard baseline")
		} else {
			o.none("object", "", "no LocalQueue is in the namespace, so no team has it")
		}
	}
}

// planCohorts makes a cohort of each name that a queue or a Cohort has.
func (p *planner) planCohorts() {
	parents := map[string]string{}
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, q := range p.inv.clusterQueues {
		add(string(q.value.Spec.CohortName))
	}
	used := map[string]bool{}
	for _, c := range p.inv.cohorts {
		parents[c.Name] = string(c.value.Spec.ParentName)
		add(c.Name)
		add(parents[c.Name])
	}
	slices.Sort(names)
	for _, name := range names {
		p.cohortName[name] = uniqueName(fitName(name, 40), 40, used)
	}
	for _, name := range names {
		p.cohorts = append(p.cohorts, cohort{name: p.cohortName[name], parent: p.cohortName[parents[name]]})
	}
	for _, c := range p.inv.cohorts {
		name := p.cohortName[c.Name]
		c.exactIf(name == c.Name, "metadata.name", "cohorts."+name, "the cohort is called %q", name)
		if parent := p.cohortName[parents[c.Name]]; parent != "" {
			c.exactIf(parent == parents[c.Name], "parentName", "cohorts."+name+".parent",
				"the parent is called %q", parent)
		}
	}
}

// planQueue gives a ClusterQueue its place in a tier.
func (p *planner) planQueue(q *clusterQueue) {
	var capacities []*capacity
	for _, f := range flavorsOf(q.value) {
		if c := p.capacities[string(f.Name)]; c != nil && !slices.Contains(capacities, c) {
			capacities = append(capacities, c)
		}
	}
	capacities = p.oneAccelerator(q, capacities)
	m := &member{queue: q, cohort: p.cohortName[string(q.value.Spec.CohortName)]}
	m.quotas = p.quotasOf(q, capacities, m.cohort != "")
	if !m.admits() {
		q.none("object", "", "the queue has no quota that a blueprint counts, so it admits no job: it is not imported")
		for _, l := range q.locals {
			l.none("clusterQueue", "", "its ClusterQueue is not imported")
		}
		return
	}
	t := &tier{capacities: capacities, queueing: cmp.Or(string(q.value.Spec.QueueingStrategy), "BestEffortFIFO")}
	t.setPreemption(q.value.Spec)
	if m.cohort == "" { // without a cohort the fields have no effect
		t.toBorrow = "Never"
		if t.toReclaim == "Any" {
			t.toReclaim = "Never"
		}
	}
	if t.toReclaim == "Never" {
		t.toBorrow = "Never" // Kueue refuses the combination
	}
	m.teams = p.teamsOf(q)
	t.namespaces = selectorOf(q.value.Spec.NamespaceSelector, m.teams)
	t.key = t.queueing + " " + t.inQueue + " " + t.toReclaim + " " + t.toBorrow
	for _, c := range capacities {
		t.key += " " + c.name
	}
	t.key += fmt.Sprintf(" %q", t.namespaces)
	if len(m.teams) == 1 {
		team := m.teams[0]
		if !team.hasCohort {
			team.cohort, team.hasCohort = m.cohort, true
		}
		if team.cohort == m.cohort {
			p.joinTier(t, m, team)
			return
		}
	}
	t.shared = true
	t.members = []*member{m}
	p.tiers = append(p.tiers, t)
}

// admits reports whether the queue has quota, or may borrow some.
func (m *member) admits() bool {
	return slices.ContainsFunc(m.quotas, func(e quota) bool {
		return e.units > 0 || e.borrow != nil && e.borrow != int64(0)
	})
}

// joinTier adds a queue of one team to the first tier of equal queues in which the team
// has no queue yet, or to a new tier.
func (p *planner) joinTier(t *tier, m *member, team *team) {
	for _, same := range p.byKey[t.key] {
		if team.owns[same] == nil {
			same.members = append(same.members, m)
			team.owns[same] = m
			return
		}
	}
	t.members = []*member{m}
	team.owns[t] = m
	p.byKey[t.key] = append(p.byKey[t.key], t)
	p.tiers = append(p.tiers, t)
}

// oneAccelerator returns the capacities without those whose accelerators are not of the
// queue's first kind: a queue of the platform counts GPUs or TPUs.
func (p *planner) oneAccelerator(q *clusterQueue, capacities []*capacity) []*capacity {
	kind := ""
	return slices.DeleteFunc(slices.Clone(capacities), func(c *capacity) bool {
		res := c.hardware.resource()
		kind = cmp.Or(kind, res)
		if res == "" || res == kind {
			return false
		}
		q.none("resourceGroups."+c.name, "", "a queue counts GPUs or TPUs, not both: add a tier for this capacity")
		return true
	})
}

// setPreemption sets whom the jobs of a tier may evict. The API's default is Never.
func (t *tier) setPreemption(spec v1beta2.ClusterQueueSpec) {
	t.inQueue, t.toReclaim, t.toBorrow = "Never", "Never", "Never"
	if in := spec.Preemption; in != nil {
		t.inQueue = cmp.Or(string(in.WithinClusterQueue), t.inQueue)
		t.toReclaim = cmp.Or(string(in.ReclaimWithinCohort), t.toReclaim)
		if in.BorrowWithinCohort != nil {
			t.toBorrow = cmp.Or(string(in.BorrowWithinCohort.Policy), t.toBorrow)
		}
	}
}

// teamsOf returns the teams of a ClusterQueue: one for each namespace with a LocalQueue.
func (p *planner) teamsOf(q *clusterQueue) []*team {
	var namespaces []string
	for _, l := range q.locals {
		namespaces = append(namespaces, cmp.Or(l.Namespace, "default"))
	}
	if len(namespaces) == 0 {
		namespaces = selectedNamespaces(q.value.Spec.NamespaceSelector)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if len(namespaces) == 0 {
		t := p.addTeam(q.Name, "")
		q.approximate("LocalQueues", "teams."+t.name, "no LocalQueue leads to the queue: a team of its name stands "+
			"for its users")
		return []*team{t}
	}
	var out []*team
	for _, ns := range namespaces {
		t := p.teams[ns]
		if t == nil {
			t = p.addTeam(ns, ns)
			p.teams[ns] = t
		}
		out = append(out, t)
	}
	return out
}

// ownLabel matches labels that a selector of a blueprint cannot have: the platform and
// Kubernetes set them.
var ownLabel = regexp.MustCompile(`^team$|^([^/]+\.)?(kubernetes|k8s)\.io/`)

// selectorOf returns what a tier says about the namespaces of a selector: "all", labels,
// or nil for the namespaces of its teams.
func selectorOf(s *metav1.LabelSelector, teams []*team) any {
	switch {
	case s == nil:
		return nil
	case len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		return "all"
	case len(s.MatchExpressions) > 0:
		return nil
	}
	var labels settings
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		value := s.MatchLabels[key]
		if ownLabel.MatchString(key) || len(validation.IsQualifiedName(key)) > 0 ||
			len(validation.IsValidLabelValue(value)) > 0 {
			return nil
		}
		for _, t := range teams {
			if other, set := t.labels[key]; set && other != value {
				return nil // a namespace has one value
			}
		}
		labels = append(labels, setting{key, value})
	}
	for _, t := range teams {
		if t.labels == nil {
			t.labels = map[string]string{}
		}
		maps.Copy(t.labels, s.MatchLabels)
	}
	return labels
}

// selectedNamespaces returns the namespaces that a selector names, nil if it selects by
// anything else.
func selectedNamespaces(s *metav1.LabelSelector) []string {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) != 1 {
		return nil
	}
	if name := s.MatchLabels[corev1.LabelMetadataName]; name != "" {
		return []string{name}
	}
	for _, e := range s.MatchExpressions {
		if e.Key == corev1.LabelMetadataName && e.Operator == metav1.LabelSelectorOpIn {
			return slices.Clone(e.Values)
		}
	}
	return nil
}

// reservedNamespace reports whether a team cannot have the namespace.
func reservedNamespace(name string) bool {
	return regexp.MustCompile(`^(kube-|gke-|gmp-|(default|kueue-system|kai-scheduler)$)`).MatchString(name) ||
		slices.ContainsFunc(kinds.Controllers(), func(c kinds.Controller) bool { return c.Namespace == name })
}

// addTeam adds the team of a namespace. original is "" if there is no such namespace.
func (p *planner) addTeam(namespace, original string) *team {
	name := fitName(namespace, 27)
	if len(name) < 3 {
		name = "team-" + name
	}
	t := &team{name: uniqueName(name, 27, p.teamNames), original: original, owns: map[*tier]*member{}}
	switch {
	case reservedNamespace(namespace):
		t.namespace = "team-" + t.name
	case t.name != namespace && original != "" && len(validation.IsDNS1123Label(namespace)) == 0:
		t.namespace = namespace
	}
	p.design.teams = append(p.design.teams, t)
	return t
}

// finalNamespace returns the namespace that the compiled team has.
func (t *team) finalNamespace() string { return cmp.Or(t.namespace, t.name) }

// nameTiers names the tiers after their queues.
func (p *planner) nameTiers() {
	taken := map[string]bool{}
	for _, t := range p.tiers {
		name := t.proposeName()
		if name == "batch" && taken[name] {
			name += "-" + t.capacities[0].name
		}
		t.name = uniqueName(fitName(name, 30), 30, taken)
		for _, m := range t.members {
			p.nameQueues(t, m)
		}
	}
}

// objectName matches the names of queues that a blueprint can have.
var objectName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){0,3}$`)
})

// nameQueues keeps the names of a ClusterQueue and of the first LocalQueue of each team.
func (p *planner) nameQueues(t *tier, m *member) {
	m.clusterQueue = t.defaultClusterQueue(m)
	if objectName().MatchString(m.queue.Name) && len(m.queue.Name) <= 253 {
		m.clusterQueue = m.queue.Name
	}
	m.localQueues = map[*team]string{}
	for _, l := range m.queue.locals {
		team := p.teams[cmp.Or(l.Namespace, "default")]
		if _, named := m.localQueues[team]; !named && objectName().MatchString(l.Name) && len(l.Name) <= 63 {
			m.localQueues[team] = l.Name
		}
	}
	for _, team := range m.teams {
		team.places = append(team.places, place{t, m})
		if m.localQueues[team] == "" {
			m.localQueues[team] = t.defaultLocalQueue(team)
		}
	}
}

// defaultClusterQueue returns the name of a ClusterQueue that a blueprint does not name.
func (t *tier) defaultClusterQueue(m *member) string {
	if t.shared {
		return "cq-" + t.name
	}
	return "cq-" + m.teams[0].name + "-" + t.name
}

// defaultLocalQueue returns the name of a LocalQueue that a blueprint does not name.
func (t *tier) defaultLocalQueue(team *team) string { return "lq-" + team.name + "-" + t.name }

// proposeName returns the name of a tier. Folders of batchwright call their queues
// cq-TEAM-TIER, or cq-TIER if they are shared.
func (t *tier) proposeName() string {
	first := t.members[0].queue
	if t.shared {
		return strings.TrimPrefix(first.Name, "cq-")
	}
	if name, ours := strings.CutPrefix(first.Name, "cq-"+t.members[0].teams[0].name+"-"); ours {
		return name
	}
	if len(t.members) == 1 {
		return first.Name
	}
	name := ""
	for _, m := range t.members {
		for _, l := range m.queue.locals {
			if name != "" && name != l.Name {
				return "batch"
			}
			name = l.Name
		}
	}
	return cmp.Or(name, "batch")
}

// inventTiers makes a team, and a tier for each kind of accelerator, for capacities
// without queues.
func (p *planner) inventTiers() {
	first := p.addTeam("team-a", "")
	byKind := map[string]*tier{}
	taken := map[string]bool{}
	for _, c := range p.design.capacities {
		kind := c.hardware.resource()
		t := byKind[kind]
		if t == nil {
			name := "batch"
			if len(byKind) > 0 {
				name += "-" + c.name
			}
			t = &tier{
				name: uniqueName(fitName(name, 30), 30, taken), queueing: "BestEffortFIFO", inQueue: "Never",
				toReclaim: "Never", toBorrow: "Never", shared: true, members: []*member{{teams: []*team{first}}},
			}
			byKind[kind] = t
			p.tiers = append(p.tiers, t)
			p.assume("tiers."+t.name, "%s: fill in the tiers", p.noQueues())
		}
		t.capacities = append(t.capacities, c)
	}
	p.assume("teams.team-a", "the exports contain no teams: fill in the teams")
	if p.design.quota == 0 {
		return
	}
	for kind, t := range byKind { // the quota counts accelerators of one kind
		if kind != "" && len(t.capacities) == 1 {
			c := t.capacities[0]
			c.units = int64(p.design.quota)
			t.members[0].quotas = []quota{{capacity: c, units: c.units}}
		}
	}
}

// noQueues says why the blueprint has no tier of a queue.
func (d *design) noQueues() string {
	if len(d.inv.clusterQueues) > 0 {
		return "no queue of the exports is imported"
	}
	return "the exports contain no queues"
}

// quotasOf returns the quota of a queue on each capacity.
func (p *planner) quotasOf(q *clusterQueue, capacities []*capacity, lends bool) []quota {
	var out []quota
	for _, c := range capacities {
		unit := cmp.Or(c.hardware.resource(), string(corev1.ResourceCPU))
		entry := quota{capacity: c, units: 0}
		if lends {
			entry.borrow = "all"
		}
		for _, f := range flavorsOf(q.value) {
			for _, r := range f.Resources {
				if string(r.Name) != unit || p.capacities[string(f.Name)] != c {
					continue
				}
				entry.units = wholeUnits(r.NominalQuota)
				if lends && r.BorrowingLimit != nil {
					entry.borrow = wholeUnits(*r.BorrowingLimit)
				}
				if lends && r.LendingLimit != nil {
					entry.lend = wholeUnits(*r.LendingLimit)
				}
			}
		}
		c.units += entry.units
		out = append(out, entry)
	}
	return out
}

// wholeUnits rounds a quantity up to a whole number that a quota can have.
func wholeUnits(q resource.Quantity) int64 { return min(amountOf(q, 0), 1_000_000) }

// reportQueue reports the fields of a ClusterQueue and of its LocalQueues.
func (p *planner) reportQueue(t *tier, m *member) {
	if m.queue == nil {
		return
	}
	q, spec := m.queue, m.queue.value.Spec
	path := "tiers." + t.name
	quotaPath := path + ".shared.quota"
	namePath := path + ".shared.clusterQueue"
	if !t.shared {
		quotaPath = "teams." + m.teams[0].name + ".quota." + t.name
		namePath = "teams." + m.teams[0].name + ".queues." + t.name + ".clusterQueue"
	}
	q.exactIf(q.Name == m.clusterQueue, "metadata.name", namePath, "the compiled ClusterQueue is called %q: delete %q "+
		"when its jobs have ended", m.clusterQueue, q.Name)
	if spec.CohortName != "" {
		q.exactIf(m.cohort == string(spec.CohortName), "cohortName", "cohorts."+m.cohort,
			"the cohort is called %q", m.cohort)
	}
	q.exact("queueingStrategy", path+".queueing")
	p.reportPreemption(t, q, path+".preempts")
	p.reportSelector(q, t, m, path+".namespaces")
	for i, g := range spec.ResourceGroups {
		for _, f := range g.Flavors {
			p.reportQuotas(q, m, f, fmt.Sprintf("resourceGroups[%d].%s", i, f.Name), quotaPath)
		}
	}
	if len(spec.ResourceGroups) > 1 {
		q.approximate("resourceGroups", path+".capacity", "the compiled queue has one resource group with all flavors "+
			"in order: a job gets all its resources in one flavor")
	}
	q.approximate("resourceGroups.coveredResources", "", "the compiled queue covers cpu, memory, the accelerators and "+
		"pods")
	p.reportLocals(t, m)
}

// reportPreemption reports the fields of a queue's preemption.
func (p *planner) reportPreemption(t *tier, q *clusterQueue, path string) {
	in := q.value.Spec.Preemption
	if in == nil {
		return
	}
	type field struct{ name, was, is string }
	fields := []field{
		{"withinClusterQueue", string(in.WithinClusterQueue), t.inQueue},
		{"reclaimWithinCohort", string(in.ReclaimWithinCohort), t.toReclaim},
	}
	if b := in.BorrowWithinCohort; b != nil {
		fields = append(fields, field{"borrowWithinCohort.policy", string(b.Policy), t.toBorrow})
		if b.MaxPriorityThreshold != nil {
			q.none("preemption.borrowWithinCohort.maxPriorityThreshold", "",
				"jobs that borrow can evict jobs of any lower priority, not only those up to the threshold")
		}
	}
	for _, f := range fields {
		if f.was != "" {
			q.exactIf(f.was == f.is, "preemption."+f.name, path,
				"the compiled queue has %s, which has the same effect without a cohort", f.is)
		}
	}
}

// reportSelector reports the namespaces of a queue.
func (p *planner) reportSelector(q *clusterQueue, t *tier, m *member, path string) {
	selector := q.value.Spec.NamespaceSelector
	if selector == nil {
		q.approximate("namespaceSelector", path, "unset, so no namespace may use the queue; the compiled queue "+
			"selects the namespaces of its teams")
		return
	}
	if t.namespaces != nil {
		q.exact("namespaceSelector", path)
		return
	}
	var compiled []string
	for _, t := range m.teams {
		compiled = append(compiled, t.finalNamespace())
	}
	slices.Sort(compiled)
	selected := selectedNamespaces(selector)
	slices.Sort(selected)
	q.exactIf(slices.Equal(selected, compiled), "namespaceSelector", path,
		"the compiled queue selects the namespaces of its teams: %s", strings.Join(compiled, ", "))
}

// reportQuotas reports the quota of a flavor.
func (p *planner) reportQuotas(q *clusterQueue, m *member, f v1beta2.FlavorQuotas, field, path string) {
	i := slices.IndexFunc(m.quotas, func(e quota) bool { return e.capacity == p.capacities[string(f.Name)] })
	if i < 0 {
		for _, r := range f.Resources {
			q.none(field+"."+string(r.Name), "", uncounted)
		}
		return
	}
	entry := m.quotas[i]
	path += "." + entry.capacity.name
	perUnit := entry.capacity.hardware.perUnit()
	for _, r := range f.Resources {
		name := field + "." + string(r.Name)
		per, counted := perUnit[r.Name]
		switch {
		case counted, m.covers(string(r.Name)): // or the accelerators of another capacity
			reportAmount(q, name+".nominalQuota", path, &r.NominalQuota, per, entry.units)
			if r.BorrowingLimit != nil && m.cohort == "" {
				q.approximate(name+".borrowingLimit", "", "a queue without a cohort borrows nothing: the limit is "+
					"omitted")
			} else {
				reportLimit(q, name+".borrowingLimit", path+".borrow", r.BorrowingLimit, per, entry.borrow)
			}
			reportLimit(q, name+".lendingLimit", path+".lend", r.LendingLimit, per, entry.lend)
		case r.NominalQuota.IsZero() && (r.Name == gpuResource || r.Name == tpuResource):
			q.approximate(name, path, "the compiled queue does not cover this resource, and Kueue does not admit jobs "+
				"that request it")
		default:
			q.none(name, "", uncounted)
		}
	}
}

// perUnit returns the resources that a compiled queue counts for each unit of quota.
func (h *hardware) perUnit() map[corev1.ResourceName]resource.Quantity {
	milli, bytes := h.share()
	out := map[corev1.ResourceName]resource.Quantity{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(bytes, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(gke.MaxPods, resource.DecimalSI),
	}
	if accelerators := h.resource(); accelerators != "" {
		out[corev1.ResourceName(accelerators)] = *resource.NewQuantity(1, resource.DecimalSI)
	}
	return out
}

// uncounted is the consequence of a resource that a blueprint does not count.
const uncounted = "no quota limits this resource, and Kueue does not admit jobs that request it"

// covers reports whether the compiled queue covers the accelerators.
func (m *member) covers(accelerators string) bool {
	return slices.ContainsFunc(m.quotas, func(e quota) bool { return e.capacity.hardware.resource() == accelerators })
}

// reportAmount reports an amount that the compiled queue computes from units of quota.
func reportAmount(q *clusterQueue, field, path string, was *resource.Quantity, per resource.Quantity, units int64) {
	is := per.DeepCopy()
	is.Mul(units)
	if was == nil {
		q.approximate(field, path, "unset, and %s in the compiled queue", is.String())
	} else {
		q.exactIf(was.Cmp(is) == 0, field, path, "%s, and %s in the compiled queue", was, &is)
	}
}

// reportLimit reports a limit of borrowing or lending. limit is its number of units, if the
// compiled queue has one.
func reportLimit(q *clusterQueue, field, path string, was *resource.Quantity, per resource.Quantity, limit any) {
	if units, limited := limit.(int64); limited {
		reportAmount(q, field, path, was, per, units)
	} else if was != nil {
		verb := path[strings.LastIndexByte(path, '.')+1:]
		q.approximate(field, path, "the compiled queue %ss without this limit", verb)
	}
}

// reportLocals reports the LocalQueues of a ClusterQueue.
func (p *planner) reportLocals(t *tier, m *member) {
	seen := map[*team]bool{}
	for _, l := range m.queue.locals {
		team := p.teams[cmp.Or(l.Namespace, "default")]
		path := "teams." + team.name
		if seen[team] {
			l.none("metadata.name", "", "the team has one LocalQueue in the tier: jobs that name this one must name %q",
				m.localQueues[team])
			continue
		}
		seen[team] = true
		compiled := m.localQueues[team]
		l.exactIf(l.Name == compiled, "metadata.name", path+".queues."+t.name+".localQueue", "the compiled LocalQueue "+
			"is called %q: jobs must name it in the label kueue.x-k8s.io/queue-name", compiled)
		consequence := "a team cannot have this namespace"
		if l.Namespace == "" {
			consequence = "the object names no namespace, and a team cannot have the namespace default"
		}
		l.exactIf(team.finalNamespace() == l.Namespace, "metadata.namespace", path+".namespace",
			"%s: it has %q, and its jobs must move there", consequence, team.finalNamespace())
		l.exactIf(m.clusterQueue == string(l.value.Spec.ClusterQueue), "clusterQueue", path+".queues",
			"the LocalQueue leads to the compiled ClusterQueue %q", m.clusterQueue)
	}
}

// planPriorities gives the PriorityClasses to the first tier. If there are none, the
// WorkloadPriorityClasses become PriorityClasses.
func (d *design) planPriorities() {
	if len(d.tiers) == 0 {
		return
	}
	t := d.tiers[0]
	classes := d.inv.priorityClasses
	if len(classes) == 0 {
		classes = d.inv.workloadClasses
	} else {
		for _, o := range d.inv.workloadClasses {
			o.none("value", "", "jobs with the label kueue.x-k8s.io/priority-class need a PriorityClass instead")
		}
	}
	for _, o := range classes {
		number, _ := o.Fields["value"].(json.Number)
		value, err := number.Int64()
		switch path := "tiers." + t.name + ".priorities." + o.Name; {
		case strings.HasPrefix(o.Name, "system-") || err == nil && value > 1_000_000_000:
			o.none("object", "", "the PriorityClass belongs to Kubernetes itself")
		case err != nil || fitName(o.Name, 63) != o.Name || value < -2147483648:
			o.none("value", "", "a PriorityClass needs a number as its value, and a name of lower-case letters, "+
				"digits and dashes")
		case o.Kind == "PriorityClass":
			t.addPriority(o, int(value))
			o.exact("value", path)
			t.reportClass(o)
		default:
			t.addPriority(o, int(value))
			o.approximate("value", path, "the platform makes a PriorityClass of this name and value: jobs must name "+
				"it in priorityClassName, not in the label kueue.x-k8s.io/priority-class")
			if o.Fields["description"] != nil {
				o.approximate("description", path, "the text is a comment in the blueprint")
			}
		}
	}
	if len(d.tiers) > 1 && len(t.priorities) > 0 {
		d.assume("tiers."+t.name+".priorities", "a PriorityClass belongs to one tier: jobs of the other tiers have "+
			"the PriorityClass of their tier; %q has the PriorityClasses of the exports", t.name)
	}
	d.reportDefaultClass(t)
}

// reportClass reports the fields of a PriorityClass that follow from its tier.
func (t *tier) reportClass(o *object) {
	consequence := "the compiled class has the description of its tier"
	if exports.Text(o.Fields, "description") != "" {
		consequence = "the text is a comment in the blueprint; " + consequence
	}
	o.report("description", Approximated, "tiers."+t.name+".priorities."+o.Name, consequence)
	was := cmp.Or(exports.Text(o.Fields, "preemptionPolicy"), "PreemptLowerPriority")
	is := "Never"
	if t.inQueue != "Never" {
		is = "PreemptLowerPriority"
	}
	if was != is || o.Fields["preemptionPolicy"] != nil {
		o.exactIf(was == is, "preemptionPolicy", "tiers."+t.name+".preempts.inQueue",
			"the compiled class has %s, as its tier; Kubernetes refuses the change in a class that exists", is)
	}
}

// reportDefaultClass reports which PriorityClass pods without one get: in a new cluster the
// lowest of the first tier.
func (d *design) reportDefaultClass(t *tier) {
	lowest := ""
	least := 0
	for _, p := range t.priorities {
		if value := p.value.(int); lowest == "" || value < least {
			lowest, least = p.name, value
		}
	}
	consequence := fmt.Sprintf("pods without a PriorityClass get %q", lowest)
	if d.exists {
		lowest, consequence = "", "in a cluster of others, no PriorityClass of the platform is the default"
	}
	for _, o := range d.inv.priorityClasses {
		was, is := o.Fields["globalDefault"] == true, o.Name == lowest
		if was || is {
			o.exactIf(was == is, "globalDefault", "tiers."+t.name, "%s", consequence)
		}
	}
}

// addPriority adds a PriorityClass to the tier, with the description as a comment.
func (t *tier) addPriority(o *object, value int) {
	p := priority{setting{o.Name, value}, ""}
	if text, _ := o.Fields["description"].(string); strings.TrimSpace(text) != "" {
		p.comment = words.Truncate(words.OneLine(text), 80)
	}
	t.priorities = append(t.priorities, p)
}

// planChecks reports the admission checks. Queued provisioning is part of a capacity.
func (d *design) planChecks() {
	queued := d.inv.queuedChecks()
	for _, c := range d.inv.checks {
		if queued[c.Name] != nil {
			c.approximate("controllerName", "capacity", "the compiled check belongs to the capacity, and has another "+
				"name")
			c.approximate("parameters", "capacity", "the compiled check names a ProvisioningRequestConfig of its own")
			continue
		}
		c.none("controllerName", "", "jobs start without this check of %s", c.value.Spec.ControllerName)
		if c.value.Spec.Parameters != nil {
			c.none("parameters", "", "jobs start without this check")
		}
	}
	for _, c := range d.inv.requestConfigs {
		if c.value.Spec.ProvisioningClassName == queuedClass {
			c.approximate("provisioningClassName", "capacity", "the capacity's consumption option is flexStart: "+
				"{queued: true}")
		} else {
			c.none("provisioningClassName", "", "only "+queuedClass+" has a counterpart: jobs start without this check")
		}
	}
	for _, q := range d.inv.clusterQueues {
		checks := queueChecks(q.value)
		for _, name := range slices.Sorted(maps.Keys(checks)) {
			if queued[name] != nil {
				q.approximate("admissionChecksStrategy."+name, "capacity", "the check belongs to the capacities with "+
					"flexStart: {queued: true}, in every queue")
			} else {
				q.none("admissionChecksStrategy."+name, "", "jobs start without this check")
			}
		}
	}
}
