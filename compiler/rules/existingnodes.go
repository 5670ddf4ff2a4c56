package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on nodes and namespaces that others own, and on how Kueue sees nodes.
//
// Source: Kueue 0.19, CRD of ResourceFlavor and pkg/podset.

func existingNodeRules() []Rule {
	return []Rule{
		rule("E0430", "capacity has existing nodes, but sets a field of nodes that the platform creates",
			on("capacity.*", settingsOfOthers)),
		rule("E0431", "capacity has no hardware, but the platform creates its nodes",
			on("capacity.*", missingHardware), basic),
		rule("E0432", "two capacities have the same ResourceFlavor", sameFlavor, basic, except(ir.KAI)),
		rule("E0433", "flavor has labels, taints or tolerations that Kueue rejects", on("capacity.*", invalidFlavor),
			except(ir.KAI)),
		rule("E0434", "existing nodes or namespaces without an existing cluster", existingWithoutCluster),
		rule("E0435", "quota counts accelerators or vCPUs on nodes of unknown hardware",
			onEach(allGrants, ratioWithoutHardware), basic),
		rule("E0436", "platform creates the team's namespace, but its capacity has no hardware", unknownNodes, whole,
			resolved),
		rule("E0437", "team has an existing namespace, but sets a field that needs a namespace of the platform",
			on("teams.*", settingsInExisting), basic),
		rule("W0438", "two capacities select the same existing nodes", sameExistingNodes, whole, except(ir.KAI)),
		rule("W0439", "platform's policies do not apply in an existing namespace", unguardedNamespaces, whole,
			resolved),
		rule("W0441", "groups of a queue select nodes by different values of a label", conflictingGroups, whole,
			resolved, except(ir.KAI)),
		rule("W0442", "Kueue selects nodes by a label that GKE may not set", onEach(capacities, unknownFlavorLabels),
			resolved, except(ir.KAI)),
		rule("E0443", "topology is invalid", on("topologies.*", invalidTopology), except(ir.KAI)),
		rule("E0444", "flavor has a topology, but no node labels", topologyWithoutLabels, resolved,
			except(ir.KAI)),
		rule("W0445", "flavor has a topology, but its capacity starts nodes only for pods",
			onEach(capacities, scaledTopology), resolved, except(ir.KAI)),
		rule("W0447", "tier has no capacity, so its queues admit no job", on("tiers.*", emptyTier)),
		rule("W0446", "tier mixes capacities with and without a topology", on("tiers.*", mixedTopologies), resolved,
			except(ir.KAI)),
	}
}

// settingsOfOthers reports fields that would change nodes of others.
func settingsOfOthers(r *report, capacity fieldPath, c schema.Capacity) {
	if c.Consumption.Existing == nil {
		return
	}
	for _, field := range []string{
		"minNodes", "placement", "upgrades", "autoRepair", "nodeLabels", "nodeTaints", "autoProvisioned",
		"computeClass", "takeOver",
	} {
		if path := capacity.at(field); r.Written(path...) {
			cure := "remove " + field
			switch field {
			case "nodeLabels", "nodeTaints":
				cure = "write flavor: " + field + ", which Kueue compares with jobs; or remove " + field
			case "takeOver":
				cure += ", or replace existing with the consumption option of the node pool"
			}
			r.addKey(path, say("the nodes of capacity %q exist, so the platform cannot set %s", capacity.name(),
				field), see(capacity.at("consumption", "existing"), "the nodes exist"), advise(cure))
		}
	}
}

func missingHardware(r *report, capacity fieldPath, c schema.Capacity) {
	if c.Hardware == nil && c.Consumption.Existing == nil {
		cure := help("define an entry of hardware, and add hardware with its name")
		if known := sortedKeys(r.Blueprint.Hardware); len(known) > 0 {
			cure = help("write hardware: %s", words.OneOf(len(known), quoteNames(known)))
		}
		r.addKey(capacity, say("capacity %q has no hardware", capacity.name()), cure)
	}
}

func sameFlavor(r *report) {
	first := map[string]string{}
	for _, c := range r.Plan.AllCapacities() {
		other, taken := first[c.Flavor.Name]
		if !taken {
			first[c.Flavor.Name] = c.Name
			continue
		}
		path, options := at("capacity", c.Name, "flavor", "name"), []option{help("choose another name")}
		if !r.Written(path...) {
			path = at("capacity", other, "flavor", "name")
			c.Name, other = other, c.Name
		}
		r.add(path, say("ResourceFlavor %q would also belong to capacity %q", c.Flavor.Name, other),
			append(options, see(at("capacity", other), "the other capacity"))...)
	}
}

// invalidFlavor reports what the API of Kueue refuses in a ResourceFlavor.
func invalidFlavor(r *report, capacity fieldPath, c schema.Capacity) {
	if c.Flavor == nil {
		return
	}
	path := capacity.at("flavor")
	for _, part := range []struct {
		field string
		n     int
	}{
		{"nodeLabels", len(c.Flavor.NodeLabels)}, {"nodeTaints", len(c.Flavor.NodeTaints)},
		{"tolerations", len(c.Flavor.Tolerations)},
	} {
		if part.n > maxNodeMarks {
			r.addKey(path.at(part.field), say("the ResourceFlavor of capacity %q has %d %s, and Kueue allows %d",
				capacity.name(), part.n, part.field, maxNodeMarks), label("want at most %d", maxNodeMarks))
		}
	}
	for i, t := range c.Flavor.Tolerations {
		here := path.at("tolerations", diag.Index(i))
		switch exists := t.Operator == "Exists"; {
		case exists && t.Value != nil && *t.Value != "":
			r.addKey(here.at("value"), `a toleration with operator "Exists" has no value`,
				help("remove value, or operator"))
		case t.Key == nil && !exists:
			r.add(here, "a toleration without key tolerates every taint, and needs operator \"Exists\"",
				help(`add key, or operator: "Exists"`))
		case t.Seconds != nil && (t.Effect == nil || *t.Effect != "NoExecute"):
			r.addKey(here.at("seconds"), `seconds holds only with effect "NoExecute"`, help("remove seconds"))
		}
	}
}

// existingWithoutCluster reports nodes and namespaces of others in a cluster that the platform
// creates.
func existingWithoutCluster(r *report) {
	if !r.Plan.OwnsCluster() {
		return
	}
	cure := help("add cluster: existing, or remove existing here")
	for _, c := range r.Plan.ExistingCapacities {
		r.addKey(at("capacity", c.Name, "consumption", "existing"),
			"a cluster that the platform creates has no existing nodes", cure)
	}
	for _, t := range r.Plan.Teams {
		if t.InExisting {
			r.addKey(at("teams", t.Name, "namespace", "existing"),
				"a cluster that the platform creates has no existing namespaces", cure)
		}
	}
}

// ratioWithoutHardware reports a quota by accelerators or vCPUs on nodes whose machine is
// unknown.
func ratioWithoutHardware(r *report, q grant) {
	if !r.lacksRatio(q.capacity, q.Quota) {
		return
	}
	path := q.path
	for _, field := range []string{"accelerators", "cpus", "borrow", "lend"} {
		if below := q.path.at(field); r.Written(below...) {
			path = below
			break
		}
	}
	message := say("capacity %q has no hardware, so its cpu and memory for an accelerator or a vCPU are unknown",
		q.capacity)
	if !isGivenByRatio(q.Quota) {
		message = say("the quota on capacity %q counts no resource, and the capacity has no hardware to derive "+
			"them from", q.capacity)
	}
	r.addKey(path, message, see(at("capacity", q.capacity), "the capacity"),
		help(`write resources, such as resources: {cpu: 8, memory: "32Gi"}; or add the hardware of the nodes`))
}

// isGivenByRatio reports whether a quota gives a number of accelerators or vCPUs.
func isGivenByRatio(q schema.Quota) bool {
	return q.Accelerators != nil || q.CPUs != nil || q.Borrow != 0 || q.Lend != nil
}

// lacksRatio reports whether ratioWithoutHardware reports a quota on a capacity.
func (r *report) lacksRatio(capacity string, q schema.Quota) bool {
	c, known := r.fit.Named[capacity]
	return known && c.Existing() && !c.KnowsNodes() && q.ByRatio()
}

// unknownNodes reports a queue of the platform's own namespaces on nodes whose hardware is
// unknown: the policies compare each pod with what a node holds.
func unknownNodes(r *report) {
	if r.Plan.OwnsCluster() {
		return // existingWithoutCluster reports it
	}
	reported := map[string]bool{}
	for q, teams := range r.Plan.ClusterQueues() {
		own := slices.IndexFunc(teams, func(t ir.SharingTeam) bool { return !t.InExisting })
		if own < 0 {
			continue
		}
		for _, f := range q.Flavors {
			c := r.fit.Named[f.Flavor]
			if !c.Existing() || c.KnowsNodes() || reported[c.Name] {
				continue
			}
			reported[c.Name] = true
			r.addKey(at("capacity", c.Name),
				say("capacity %q has no hardware, so the platform's policies cannot compare pods with its nodes",
					c.Name),
				see(at("teams", teams[own].Name), "the platform creates the namespace of this team, whose jobs get "+
					"the nodes"),
				help("add the hardware of the nodes, or write namespace: existing for the team"))
		}
	}
}

// settingsInExisting reports fields of a team that the platform would have to set up in its
// namespace.
func settingsInExisting(r *report, team fieldPath, t schema.Team) {
	if t.Namespace == nil || !t.Namespace.Existing {
		return
	}
	for _, field := range []string{
		"group", "members", "bucket", "deleteBucketData", "nodesListBucket", "roles", "serviceAccount", "allow",
		"maxJobs", "labels",
	} {
		if path := team.at(field); r.Written(path...) {
			r.addKey(path, say("the namespace of team %q exists, so the platform cannot set up its %s", team.name(),
				field), see(team.at("namespace", "existing"), "the namespace exists"),
				help("remove %s, or let the platform create a namespace for the team", field))
		}
	}
	for name, w := range sorted(r.Blueprint.Workloads) {
		for i, of := range w.Teams {
			if of == team.name() {
				r.add(at("workloads", name, "teams", diag.Index(i)),
					say("the namespace of team %q exists, so the platform submits no jobs there", of),
					see(team.at("namespace", "existing"), "the namespace exists"), help("remove the team here"))
			}
		}
	}
}

// sameExistingNodes reports two capacities whose nodes are selected by the same labels: the
// same nodes are then counted twice.
func sameExistingNodes(r *report) {
	first := map[string]ir.Capacity{}
	for _, c := range r.Plan.ExistingCapacities {
		other, taken := first[c.Selector()]
		if !taken {
			first[c.Selector()] = c
			continue
		}
		by := "the labels " + c.Selector()
		if len(c.NodeLabels) == 0 {
			by = "no label"
		}
		r.addKey(at("capacity", c.Name), say("capacities %q and %q select nodes by %s, so they can be the same nodes",
			other.Name, c.Name, by), see(at("capacity", other.Name), "the other capacity"),
			helpOrAccept("if no queue counts the same nodes twice",
				"write flavor: nodeLabels, which tell the nodes apart"))
	}
}

// unguardedNamespaces reports namespaces of others, with the labels that their owners must set so
// that jobs reach their queues.
func unguardedNamespaces(r *report) {
	if r.Plan.OwnsCluster() {
		return // existingWithoutCluster reports it
	}
	for _, t := range r.Plan.Teams {
		if !t.InExisting || len(t.Queues) == 0 {
			continue
		}
		options := []option{
			helpOrAccept("if the owners of the namespace prevent such jobs",
				"let the platform create a namespace for the team"),
		}
		if labels := r.labelsOfOthers(t); labels != nil {
			options = append(options, note("jobs reach no queue unless the owners run kubectl label namespace %s %s",
				t.Namespace, strings.Join(labels, " ")))
		}
		r.addKey(at("teams", t.Name, "namespace", "existing"),
			say("jobs in namespace %q can run without quota, because the platform's policies do not apply there",
				t.Namespace), options...)
	}
}

// labelsOfOthers returns the labels by which Kueue and the queues of a team select its namespace,
// as KEY=VALUE, sorted. It omits the name, which Kubernetes sets: unselectedTeams compares it.
func (r *report) labelsOfOthers(t ir.Team) []string {
	needed := slices.Clone(r.existingLabels())
	for _, q := range t.Queues {
		needed = append(needed, q.Namespaces.Labels...)
	}
	var out []string
	for _, l := range needed {
		if l.Key != labelOfName {
			out = append(out, l.Key+"="+l.Value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// existingLabels returns the labels by which Kueue of others selects the namespaces that it
// manages.
func (r *report) existingLabels() []ir.KeyValue {
	if e := r.Plan.Cluster.Existing; e != nil && e.Kueue != nil {
		return e.Kueue.NamespaceLabels
	}
	return nil
}

// conflictingGroups reports two groups of a queue whose flavors select nodes by different values
// of one label. A pod that requests resources of both gets one of the two values at random: Kueue
// adds the labels of its flavors to one node selector, in the order of a map of Go. Source: Kueue
// 0.19, pkg/podset/podset.go.
func conflictingGroups(r *report) {
	for q, teams := range r.Plan.ClusterQueues() {
		groups := q.Groups()
		for i, g := range groups {
			if a, b, key := r.conflict(groups[:i], g); key != "" && !r.separated(q, teams) {
				r.addKey(queueQuota(q, teams).at(b),
					say("flavors %q and %q select nodes by different values of label %s, and count no common resource",
						a, b, key),
					helpOrAccept("if no pod requests resources of both",
						"count a common resource on both, such as pods: a pod then gets only one of the flavors"))
			}
		}
	}
}

// conflict returns two capacities, of a group and of one before it, that select nodes by different
// values of the same label, and the key of the label; "" if there are none.
func (r *report) conflict(before []ir.ResourceGroup, g ir.ResourceGroup) (first, second, key string) {
	for _, other := range before {
		for _, a := range other.Flavors {
			for _, b := range g.Flavors {
				for _, l := range r.fit.Named[a.Flavor].NodeLabels {
					if r.fit.Named[b.Flavor].Excludes(l) {
						return a.Flavor, b.Flavor, l.Key
					}
				}
			}
		}
	}
	return "", "", ""
}

// separated reports whether separateGroups reports a queue.
func (r *report) separated(q *ir.Queue, teams []ir.SharingTeam) bool {
	return hasOwnTeam(teams) && len(r.ownGroups(q)) > 1
}

// hasOwnTeam reports whether the platform creates the namespace of one of the teams.
func hasOwnTeam(teams []ir.SharingTeam) bool {
	return slices.ContainsFunc(teams, func(t ir.SharingTeam) bool { return !t.InExisting })
}

// ownGroups returns the first capacity of each group of a queue on nodes of the platform.
func (r *report) ownGroups(q *ir.Queue) []string {
	var out []string
	for _, g := range q.Groups() {
		for _, f := range g.Flavors {
			if !r.fit.Named[f.Flavor].Existing() {
				out = append(out, f.Flavor)
				break
			}
		}
	}
	return out
}

// wellKnownLabels are labels that GKE sets on every node. Source: GKE documentation, "Node
// labels"; Kubernetes documentation, "Well-Known Labels, Annotations and Taints".
var wellKnownLabels = []string{
	"beta.kubernetes.io/instance-type", "cloud.google.com/gke-nodepool", "cloud.google.com/gke-boot-disk",
	"cloud.google.com/gke-os-distribution", "cloud.google.com/gke-provisioning", "cloud.google.com/machine-family",
	"kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type", "topology.kubernetes.io/region",
	"topology.kubernetes.io/zone",
}

// unknownFlavorLabels reports a label of a flavor in a domain of GKE that neither GKE nor the
// platform is known to set on the nodes.
func unknownFlavorLabels(r *report, c ir.Capacity) {
	in := r.Blueprint.Capacity[c.Name].Flavor
	if in == nil {
		return
	}
	for key, value := range sorted(in.NodeLabels) {
		has := ir.KeyValue{Key: key, Value: value}
		own := ir.ReservedDomain(key) == "" && !ir.IsMarkOfPlatform(key)
		if own || slices.Contains(wellKnownLabels, key) || slices.Contains(c.PoolLabels, has) ||
			slices.Contains(c.GKELabels, has) || !c.Existing() && r.knownValues(c, key) != nil {
			continue // or missedLabels compares its value
		}
		r.addKey(at("capacity", c.Name, "flavor", "nodeLabels", key),
			say("nodes of capacity %q are not known to have the label %s=%s", c.Name, key, value),
			helpOrAccept("if GKE sets it on these nodes", "remove the label: jobs would wait for nodes that have it"))
	}
}

// labelHostname is the label of a single node.
const labelHostname = "kubernetes.io/hostname"

// maxLevels is the number of levels of a Topology. Source: Kueue v1beta2 API, TopologySpec.
const maxLevels = 16

func invalidTopology(r *report, topology fieldPath, t schema.NodeTopology) {
	path := topology.at("levels")
	if len(t.Levels) > maxLevels {
		r.addKey(path, say("topology %q has %d levels, and Kueue allows %d", topology.name(), len(t.Levels), maxLevels),
			label("want at most %d", maxLevels))
		return
	}
	for i, l := range t.Levels {
		here := path.at(diag.Index(i))
		switch {
		case len(validation.IsQualifiedName(l)) > 0:
			r.add(here, say("%q cannot be the key of a label", l), help("write the key of a label of the nodes"))
		case slices.Index(t.Levels, l) < i:
			r.add(here, say("topology %q has level %q twice", topology.name(), l), help("remove one of them"))
		case l == labelHostname && i < len(t.Levels)-1:
			r.add(here, say("%s is the label of a single node, so only the last level can have it", l),
				help("move it to the end"))
		}
	}
}

// topologyWithoutLabels reports a capacity with a topology and without labels, which the API of
// Kueue refuses.
func topologyWithoutLabels(r *report) {
	for _, c := range r.Plan.AllCapacities() {
		if c.Flavor.Topology != "" && len(c.NodeLabels) == 0 {
			r.addKey(at("capacity", c.Name, "flavor", "topology"),
				say("capacity %q has no node labels, so its flavor cannot have a topology", c.Name),
				help(`add flavor: nodeLabels, such as nodeLabels: "cloud.google.com/gke-nodepool": %q`, c.Name))
		}
	}
}

// scaledTopology reports a topology on nodes that the cluster autoscaler starts for pods: Kueue
// creates no pod before it has found a node. Source: Kueue, KEP 2724, non-goals.
func scaledTopology(r *report, c ir.Capacity) {
	if c.Flavor.Topology != "" && !c.Static && c.MinNodes < c.MaxNodes && !c.Queued() {
		r.addKey(at("capacity", c.Name, "flavor", "topology"),
			say("jobs never start nodes of capacity %q: Kueue places pods only on nodes that exist", c.Name),
			helpOrAccept("if the jobs fit the nodes that always exist",
				"set nodes, or a consumption option that starts all nodes of a job first"))
	}
}

// mixedTopologies reports a tier in which only some capacities have a topology: no job can go on
// from one kind to the other. Source: Kueue 0.19, pkg/scheduler/flavorassigner.
func mixedTopologies(r *report, tier fieldPath, t schema.Tier) {
	var with, without string
	for _, name := range t.Capacity {
		if c := r.fit.Named[name]; c.Flavor.Topology != "" {
			with = name
		} else {
			without = name
		}
	}
	if with != "" && without != "" {
		r.addKey(tier.at("capacity"),
			say("capacity %q has a topology and %q has none, so no job can use both", with, without),
			helpOrAccept("if different jobs use them", "give all capacities of the tier a topology, or none"))
	}
}

// listExistingTiers returns the tiers that have queues, all for teams in namespaces of others. It reads
// the teams of the blueprint: the plan does not have a queue with a mistake.
func (p *Pass) listExistingTiers() map[string]bool {
	tiers, own := map[string]bool{}, map[string]bool{}
	if p.Plan.OwnsCluster() {
		return tiers
	}
	b := cmp.Or(p.Rest, p.Blueprint)
	for tier, t := range b.Tiers {
		if t.Shared != nil {
			tiers[tier] = true
			members := t.Shared.Teams
			if members == nil {
				members = slices.Collect(maps.Keys(b.Teams))
			}
			own[tier] = slices.ContainsFunc(members, func(team string) bool {
				_, defined := b.Teams[team]
				return defined && !p.mayExist(team, b.Teams[team])
			})
			continue
		}
		for name, team := range b.Teams {
			_, given := team.Quota[tier]
			if given || p.Broken[[2]string{"teams", name}] && p.Written("teams", name, "quota", tier) {
				tiers[tier] = true
				own[tier] = own[tier] || !p.mayExist(name, team)
			}
		}
	}
	maps.DeleteFunc(tiers, func(tier string, _ bool) bool { return own[tier] })
	return tiers
}

// mayExist reports whether others own the namespace of a team, or the field that says so is invalid.
func (p *Pass) mayExist(name string, team schema.Team) bool {
	if team.Namespace != nil {
		return team.Namespace.Existing
	}
	return p.Broken[[2]string{"teams", name}] && p.Written("teams", name, "namespace")
}

func emptyTier(r *report, tier fieldPath, t schema.Tier) {
	if len(t.Capacity) == 0 {
		r.add(tier.at("capacity"), say("tier %q has no capacity, so its queues admit no job", tier.name()),
			helpOrAccept("if this is intended", "add the names of capacities, in the order in which Kueue tries them"))
	}
}
