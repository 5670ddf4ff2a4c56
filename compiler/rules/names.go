package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// Rules on names: they must resolve, must be used, and must lead to names that
// Google Cloud and Kubernetes accept.

func nameRules() []Rule {
	return []Rule{
		rule("E0201", "undefined name", checkReferences, basic, fieldwise),
		rule("E0202", "quota on a capacity that its tier does not use", quotaOutsideTier, basic, fieldwise),
		rule("W0203", "unused definition", reportUnused, whole, resolved),
		rule("E0204", "cohorts form a cycle", cohortCircle),
		rule("E0205", "namespace is reserved or already used", checkNamespaces),
		rule("E0206", "derived name is too long", derivedNames),
		rule("E0207", "derived name is not unique", checkCollisions),
		rule("W0208", "instances of two node pools have the same name prefix", poolPrefixes, whole),
		rule("E0213", "setting of a bucket without a bucket", on("teams.*", listedBuckets)),
	}
}

// nameField says that the fields of some patterns refer to entities: by their text, or by
// their own names.
type nameField struct{ entities, patterns string }

func nameFields() []nameField {
	return []nameField{
		{"hardware", "capacity.*.hardware"},
		{"topologies", "capacity.*.flavor.topology"},
		{"capacity", `tiers.*.capacity.[] cohorts.*.quota.* workloads.*.auxiliary.*.capacity
			demonstration.[].uncordon.[] demonstration.[].cordon.* demonstration.[].expect.pods.*
			demonstration.[].expect.moved.*.*
			rehearsals.*.nodes.* rehearsals.*.expect.[].capacity`},
		{"tiers", `teams.*.quota.* teams.*.queues.* workloads.*.tier demonstration.[].expect.queues.*
			rehearsals.*.arrivals.[].job.tier rehearsals.*.arrivals.[].trace.tier rehearsals.*.arrivals.[].trace.tiers.*
			rehearsals.*.holds.[].tier rehearsals.*.expect.[].tier`},
		{"cohorts", "tiers.*.shared.cohort cohorts.*.parent teams.*.cohort"},
		{"teams", `tiers.*.shared.teams.[] workloads.*.teams.[] demonstration.[].teams.[]
			rehearsals.*.arrivals.[].trace.teams.* rehearsals.*.arrivals.[].teams.[] rehearsals.*.holds.[].teams.[]
			rehearsals.*.expect.[].teams.[]`},
		{"workloads", `demonstration.[].delete.[] demonstration.[].submit.[] demonstration.[].expect.evicted.*
			demonstration.[].expect.moved.* demonstration.[].expect.completed.[]
			demonstration.[].expect.nodes.[].[] rehearsals.*.arrivals.[].workload rehearsals.*.expect.[].workload`},
	}
}

// singular returns the word for one of the entities of a field of the blueprint.
func singular(field string) string {
	if field == "topologies" {
		return "topology"
	}
	return strings.TrimSuffix(field, "s")
}

func checkReferences(r *report) {
	for _, ref := range nameFields() {
		known := sortedKeys(r.namesAt(ref.entities + ".*"))
		for _, f := range r.fieldsAt(ref.patterns) {
			r.resolve(f, singular(ref.entities), known)
		}
	}
	for field, job := range every[schema.RehearsalJob](r, "rehearsals.*.arrivals.[].job") {
		if known, ok := r.capacitiesOf(job.Tier); ok {
			r.resolveNames(field.at("capacity"), "capacity of tier "+job.Tier, job.Capacity, known)
		}
	}
}

// namesAt returns the names to which the fields of some patterns refer.
func (r *report) namesAt(patterns string) map[string]bool {
	names := map[string]bool{}
	for _, f := range r.fieldsAt(patterns) {
		names[f.name()] = true
	}
	return names
}

func quotaOutsideTier(r *report) {
	for _, f := range r.fieldsAt("teams.*.quota.*.* tiers.*.shared.quota.*") {
		tier := f.path[1]
		if f.path[0] == "teams" {
			tier = f.path[3]
		}
		if known, ok := r.capacitiesOf(tier); ok {
			r.resolve(f, "capacity of tier "+tier, known)
		}
	}
}

func reportUnused(r *report) {
	b := r.Blueprint
	tiers, granted := r.namesAt("teams.*.quota.*"), r.namesAt("teams.*.quota.*.*")
	for name, t := range b.Tiers {
		if t.Shared != nil {
			tiers[name] = true
			for _, c := range t.Capacity {
				granted[c] = true
			}
		}
	}
	submitted := r.namesAt("workloads.*.tier") // workloadTeams reports tiers that only workloads name
	for _, kind := range []struct {
		field, user string
		users       int // without any, missingEntities reports it
		used        map[string]bool
	}{
		{"hardware", "capacity", len(b.Capacity), r.namesAt("capacity.*.hardware")},
		{"topologies", "capacity", len(b.Capacity), r.namesAt("capacity.*.flavor.topology")},
		{"capacity", "tier", len(b.Tiers), r.namesAt("tiers.*.capacity.[] workloads.*.auxiliary.*.capacity")},
		{"tiers", "team", len(b.Teams), tiers},
		{"cohorts", "team", len(b.Teams),
			r.namesAt("tiers.*.shared.cohort teams.*.cohort cohorts.*.parent")},
	} {
		defined := sortedKeys(r.namesAt(kind.field + ".*"))
		for _, n := range defined {
			if kind.users == 0 || kind.used[n] || kind.field == "tiers" && submitted[n] {
				continue
			}
			cure := help("use it, or remove it")
			if twin := r.twinOf(n, kind.field, defined); twin != "" {
				cure = help("did you mean %q? otherwise use it, or remove it", twin)
			}
			r.addKey(at(kind.field, n),
				say("no %s uses %s %q", kind.user, singular(kind.field), n), cure)
		}
	}
	for tier, t := range sorted(b.Tiers) {
		for _, c := range t.Capacity {
			if tiers[tier] && !granted[c] {
				r.addKey(at("capacity", c), say("no team has quota on capacity %q", c),
					see(at("tiers", tier), "this tier uses it"), help("give quota on it to a team, or remove it"))
			}
		}
	}
}

func cohortCircle(r *report) {
	cohorts := r.Blueprint.Cohorts
	seen := map[string]string{} // maps each visited cohort to the cohort at which its chain started
	for _, start := range sortedKeys(cohorts) {
		var chain []string
		name := start
		for seen[name] == "" {
			seen[name] = start
			chain = append(chain, name)
			parent := cohorts[name].Parent
			if parent == nil {
				break
			}
			name = *parent
		}
		last := len(chain) - 1
		if last < 0 || seen[name] != start || cohorts[chain[last]].Parent == nil {
			continue // already visited, or the chain ends
		}
		circle := append(slices.Clone(chain[slices.Index(chain, name):]), name)
		r.add(at("cohorts", chain[last], "parent"),
			"the parents of these cohorts form a cycle: "+strings.Join(circle, " -> "),
			help("remove parent from one of them"))
	}
}

// reservedNamespaces returns a function that reports whether a namespace belongs to
// the cluster itself or to a scheduler, or has a prefix that Kubernetes or GKE reserves.
func reservedNamespaces() func(namespace string) bool {
	names := []string{"default"}
	for _, c := range kinds.Controllers() {
		names = append(names, c.Namespace)
	}
	for _, s := range ir.Schedulers() {
		names = append(names, s.Facts().Namespaces...)
	}
	return func(namespace string) bool {
		return slices.Contains(names, namespace) || strings.HasPrefix(namespace, "kube-") ||
			strings.HasPrefix(namespace, "gke-") || strings.HasPrefix(namespace, "gmp-")
	}
}

func checkNamespaces(r *report) {
	isReserved := reservedNamespaces()
	if g := r.Plan.Monitoring.GrafanaNamespace; isReserved(g) {
		r.add(at("monitoring", "grafanaNamespace"), say("namespace %q is reserved for the cluster", g),
			help("write the namespace of your Grafana"))
	}
	owner := map[string]string{}
	for _, t := range r.Plan.Teams {
		path := at("teams", t.Name, "namespace")
		if r.Blueprint.Teams[t.Name].Namespace == nil {
			path = at("teams", t.Name)
		}
		first, taken := owner[t.Namespace]
		switch {
		case t.InExisting && !taken: // others have chosen it
			owner[t.Namespace] = t.Name
		case isReserved(t.Namespace):
			r.add(path,
				say("namespace %q is reserved for the cluster, as are the prefixes kube-, gke- and gmp-",
					t.Namespace), help("give the team another namespace"))
		case t.Namespace == r.Plan.Monitoring.GrafanaNamespace && r.Plan.Monitoring.Grafana:
			r.add(path, say("namespace %q holds the Grafana dashboards", t.Namespace),
				help("give the team another namespace, or set monitoring.grafanaNamespace"))
		case taken:
			other := first
			if len(path) == 2 { // the other team wrote namespace, and this one has a namespace of its name
				path, other = at("teams", first, "namespace"), t.Name
			}
			r.add(path, say("namespace %q already belongs to team %q", t.Namespace, other),
				see(at("teams", other), "the other team"), help("give each team its own namespace: in one namespace "+
					"they could use each other's quota and identity"))
		default:
			owner[t.Namespace] = t.Name
		}
	}
}

// derivedNames checks the names that are derived from the blueprint's names. The
// limits are those of the APIs.
func derivedNames(r *report) {
	n := nameLengths{report: r, reported: map[string]bool{}}
	for _, c := range r.Plan.Capacities {
		if pools := c.Pools(); c.Sliced() && len(pools) > 0 {
			n.derived(at("capacity", c.Name), fmt.Sprintf("the last node pool of capacity %q", c.Name),
				pools[len(pools)-1], 40)
		}
	}
	for _, t := range r.Plan.Teams {
		if r.Blueprint.Teams[t.Name].Bucket.Name == "" {
			n.derived(at("teams", t.Name), fmt.Sprintf("the bucket of team %q", t.Name), t.Bucket, 63)
		}
		for _, q := range t.Queues {
			n.checkQueue(t.Name, q)
		}
	}
	n.checkWorkloadPriorities()
	n.checkObjects()
	for _, q := range r.Plan.SharedQueues {
		n.given(at("tiers", q.Tier, "shared", "clusterQueue"), fmt.Sprintf("the ClusterQueue of tier %q", q.Tier),
			q.ClusterQueue, 253)
	}
	if name := r.Blueprint.Network.Name; name != nil && r.Plan.OwnsNetwork() {
		n.derived(at("network", "name"), "the firewall rule of the network", *name+"-webhooks", 63)
	}
	if r.Blueprint.Delivery.StateBucket == nil {
		n.derived(at("name"), "the bucket of the Terraform state", r.Plan.Delivery.StateBucket, 63)
	}
	n.checkPods()
}

// nameLengths reports names that are longer than the APIs allow.
type nameLengths struct {
	*report
	reported map[string]bool // derived names: one report for each field, however many objects
}

// given checks a name that is the value of a field.
func (n nameLengths) given(path fieldPath, what, name string, most int) {
	n.check(n.add, path, what, name, most)
}

// givenKey checks a name that is the key of a field.
func (n nameLengths) givenKey(path fieldPath, what, name string, most int) {
	n.check(n.addKey, path, what, name, most)
}

func (nameLengths) check(
	add func(fieldPath, string, ...option), path fieldPath, what, name string, most int,
) {
	if len(name) > most {
		add(path, say("the name of %s has %d characters, but at most %d are allowed", what, len(name), most),
			help("choose a shorter name"))
	}
}

// derived checks a name that contains other names.
func (n nameLengths) derived(path fieldPath, what, name string, most int) {
	if key := diag.Path(path) + what; len(name) > most && !n.reported[key] {
		n.reported[key] = true
		n.addKey(path, say("%s would be named %q, with %d characters, but at most %d are allowed", what, name,
			len(name), most), help("shorten the names that this name contains"))
	}
}

// checkQueue checks the names of a team's queue in a tier.
func (n nameLengths) checkQueue(team string, q ir.Queue) {
	path := at("teams", team, "quota", q.Tier)
	what := fmt.Sprintf("the LocalQueue of team %q for tier %q", team, q.Tier)
	if q.Shared {
		path, what = at("tiers", q.Tier), fmt.Sprintf("the LocalQueue of tier %q", q.Tier)
	}
	names := n.Blueprint.Teams[team].Queues[q.Tier]
	// The name of a LocalQueue is used as the value of a label. The default name of the
	// ClusterQueue is not longer.
	switch {
	case q.LocalQueues != nil:
		for _, l := range q.LocalQueues {
			n.givenKey(at("teams", team, "queues", q.Tier, "localQueues", l.Name), what, l.Name, 63)
		}
	case names.LocalQueue != nil:
		n.given(at("teams", team, "queues", q.Tier, "localQueue"), what, q.LocalQueue, 63)
	default:
		n.derived(path, what, q.LocalQueue, 63)
	}
	if names.ClusterQueue != nil && !q.Shared {
		n.given(at("teams", team, "queues", q.Tier, "clusterQueue"),
			fmt.Sprintf("the ClusterQueue of team %q for tier %q", team, q.Tier), q.ClusterQueue, 253)
	}
}

// checkWorkloadPriorities checks the names of WorkloadPriorityClasses.
func (n nameLengths) checkWorkloadPriorities() {
	for name, t := range sorted(n.Blueprint.Tiers) {
		for _, class := range sortedKeys(t.WorkloadPriorities) { // jobs name it in a label
			n.givenKey(at("tiers", name, "workloadPriorities", class), "a WorkloadPriorityClass", class, 63)
		}
	}
}

// checkObjects checks the names of cohorts, flavors, topologies and checks. The grammar limits their
// characters, but not their length.
func (n nameLengths) checkObjects() {
	for _, kind := range []struct{ what, keys string }{
		{"a Cohort", "cohorts.*"}, {"a Topology", "topologies.*"}, {"an AdmissionCheck", "tiers.*.admissionChecks.*"},
	} {
		for _, f := range n.fieldsAt(kind.keys) {
			n.givenKey(f.path, kind.what, f.path[len(f.path)-1], 253)
		}
	}
	for path, name := range every[string](n.report, "capacity.*.flavor.name") {
		n.given(path, "the ResourceFlavor", name, 253)
	}
	for _, c := range n.Plan.Capacities {
		if path := requestSetting(c.Name, "admissionCheck"); n.Written(path...) {
			n.given(path, "the AdmissionCheck", c.AdmissionCheck, 253)
		}
	}
}

// checkPods checks the names that are derived from the names of workloads.
func (n nameLengths) checkPods() {
	for _, w := range n.Plan.Workloads {
		// The names of a Job's pods are also their host names. The controller of
		// composite jobs checks the names of their pods, which end in five random
		// characters. The last pod has the longest name.
		host := w.Name + "-" + strconv.Itoa(w.Pods-1)
		if w.Kind.Facts().Composite {
			jobs := max(1, w.Slices)
			host = fmt.Sprintf("%s-%s-%d-%d-abcde", w.Name, w.ReplicatedJob(), jobs-1, w.Pods/jobs-1)
		}
		n.derived(at("workloads", w.Template), fmt.Sprintf("the last pod of workload %q", w.Template), host, 63)
		for _, a := range w.Auxiliaries {
			if len(host) > 63 {
				break // the workload's own name must be shortened first
			}
			n.derived(at("workloads", w.Template, "auxiliary", a.Name), fmt.Sprintf("auxiliary pod %q", a.Name),
				w.Name+"-"+a.Name+"-0-0-abcde", 63)
		}
		n.derived(at("workloads", w.Template), fmt.Sprintf("the placement group of workload %q", w.Template),
			w.PlacementGroup, 40)
	}
}

func checkCollisions(r *report) {
	name := r.Plan.SystemPool.Name
	if c, taken := r.fit.Named[name]; taken && c.OwnsPools() {
		r.addKey(at("capacity", name), say("node pool %q is reserved for the cluster", name),
			help("rename the capacity"))
	}
	pools := map[string]string{}
	for _, c := range r.Plan.Capacities {
		for _, pool := range c.Pools() {
			if other, taken := pools[pool]; taken {
				r.addKey(at("capacity", c.Name), say("node pool %q would also belong to capacity %q", pool, other),
					see(at("capacity", other), "the other capacity"), help("rename one of them"))
			}
			pools[pool] = c.Name
		}
	}
	checks := map[string]string{}
	for _, c := range r.Plan.Capacities {
		if other, taken := checks[c.AdmissionCheck]; taken && c.AdmissionCheck != "" {
			r.addKey(at("capacity", c.Name), say("AdmissionCheck %q would also belong to capacity %q", c.AdmissionCheck,
				other), see(at("capacity", other), "the other capacity"),
				help("give one of them another admissionCheck"))
		}
		checks[c.AdmissionCheck] = c.Name
	}
	r.collidingQueues()
	r.collidingNetworks()
	// The files of a team's objects have the names of the objects.
	type object struct{ team, name string }
	templates := map[object]string{}
	for _, w := range r.Plan.Workloads {
		for _, name := range []string{w.Name, w.ConfigMap} {
			key := object{w.Team, name}
			if other, taken := templates[key]; taken && name != "" && other != w.Template {
				r.addKey(at("workloads", w.Template), say("workload %q already has an object named %q", other, name),
					see(at("workloads", other), "the other workload"), help("rename one of them"))
				return
			}
			templates[key] = w.Template
		}
		for _, a := range w.Auxiliaries {
			if a.Name == w.ReplicatedJob() {
				r.addKey(at("workloads", w.Template, "auxiliary", a.Name),
					say("the %s uses the name %q for the main pods", w.Kind, a.Name), help("rename the auxiliary pod"))
			}
		}
		if w.Name == "kustomization" {
			r.addKey(at("workloads", w.Template), `a workload cannot be named "kustomization"`,
				help("rename the workload: kustomization.yaml is the file that lists the workloads"))
			return
		}
	}
}

// collidingNetworks reports a network or subnet that has the name of one between GPUs.
func (r *report) collidingNetworks() {
	for _, n := range r.Plan.Network.GPUs {
		what := []struct{ field, name, other string }{{"name", r.Plan.Network.Name, n.Name}}
		for _, s := range n.Subnets {
			what = append(what, struct{ field, name, other string }{"subnet", r.Plan.Network.Subnet, s.Name})
		}
		for _, w := range what {
			if r.Plan.OwnsNetwork() && w.name == w.other && r.Written("network", w.field) {
				r.add(at("network", w.field), say("a network between GPUs would also have the name %q", w.name),
					help("choose another name"))
			}
		}
	}
}

// collidingQueues reports ClusterQueues of the same name, and LocalQueues of the same
// name in one namespace.
func (r *report) collidingQueues() {
	if r.Plan.Scheduler.Facts().OneQueue {
		return // the queues have the names of the teams
	}
	owners := map[string][]string{} // by the name of the ClusterQueue
	for q, teams := range r.Plan.ClusterQueues() {
		owner := at("tiers", q.Tier)
		if !q.Shared { // the shared queues come first
			owner = at("teams", teams[0].Name)
		}
		path, report := at("tiers", q.Tier, "shared"), r.addKey
		cure := "choose another name"
		switch {
		case q.Shared && r.Blueprint.Tiers[q.Tier].Shared.ClusterQueue != nil:
			path, report = path.at("clusterQueue"), r.add
		case q.Shared:
		case r.Blueprint.Teams[teams[0].Name].Queues[q.Tier].ClusterQueue != nil:
			path, report = at("teams", teams[0].Name, "queues", q.Tier, "clusterQueue"), r.add
		default:
			path, cure = queueQuota(q, teams), "rename one of the teams or tiers"
		}
		if other, taken := owners[q.ClusterQueue]; taken {
			kind := strings.TrimSuffix(other[0], "s")
			report(path, say("ClusterQueue %q would also belong to %s %q", q.ClusterQueue, kind, other[1]),
				see(other, "the other %s", kind), advise(cure))
		}
		owners[q.ClusterQueue] = owner
	}
	for _, t := range r.Plan.Teams {
		tiers := map[string]string{} // by the name of the LocalQueue
		for i := range t.Queues {
			for _, name := range t.Queues[i].LocalQueueNames() {
				tier := t.Queues[i].Tier
				if other, taken := tiers[name]; taken {
					r.sameLocalQueue(t.Name, name, tier, other)
				}
				tiers[name] = tier
			}
		}
	}
}

// sameLocalQueue reports the name of a LocalQueue that a team has in two tiers, at a tier that
// names it.
func (r *report) sameLocalQueue(team, name, tier, other string) {
	path := func(tier string) fieldPath {
		names := r.Blueprint.Teams[team].Queues[tier]
		switch _, several := names.LocalQueues[name]; {
		case several:
			return at("teams", team, "queues", tier, "localQueues", name)
		case names.LocalQueue != nil:
			return at("teams", team, "queues", tier, "localQueue")
		}
		return nil
	}
	if path(tier) == nil {
		tier, other = other, tier
	}
	report := r.add
	if p := path(tier); p[len(p)-1] == name {
		report = r.addKey
	}
	report(path(tier), say("LocalQueue %q would also belong to tier %q", name, other),
		see(at("tiers", other), "the other tier"), help("choose another name"))
}

// poolPrefixes reports node pools whose names have the same first 16 characters,
// because the names of instances contain only these.
func poolPrefixes(r *report) {
	const seen = 16
	first := map[string]string{}
	for _, c := range r.Plan.Capacities {
		if len(c.Pools()) == 0 {
			continue
		}
		prefix := c.Name[:min(seen, len(c.Name))]
		if other, taken := first[prefix]; taken {
			r.addKey(at("capacity", c.Name), say("instances of %q and %q have the same name prefix", other, c.Name),
				see(at("capacity", other), "the other pool"),
				help("rename one of them, so that the first %d characters differ", seen))
		}
		first[prefix] = c.Name
	}
}

func listedBuckets(r *report, team fieldPath, t schema.Team) {
	if t.Bucket.Wanted {
		return
	}
	if t.NodesListBucket {
		r.add(team.at("nodesListBucket"), say("team %q has no bucket for nodes to list", team.name()),
			help("set bucket: true, or remove nodesListBucket"))
	}
	if t.DeleteBucketData {
		r.add(team.at("deleteBucketData"), say("team %q has no bucket to delete", team.name()),
			help("set bucket: true, or remove deleteBucketData"))
	}
}
