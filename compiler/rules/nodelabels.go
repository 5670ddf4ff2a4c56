package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the labels, taints and repair of nodes, and on the size of the system pool.
//
// Source: Kubernetes documentation, "Labels and Selectors" and "Taints and Tolerations"; GKE
// documentation, "Node labels" and "Node taints"; Kueue 0.19, CRD of ResourceFlavor.

func nodeLabelRules() []Rule {
	return []Rule{
		rule("E0260", "label or taint of nodes is invalid", nodeMarks, fieldwise),
		rule("E0261", "label or taint of nodes is reserved", reservedNodeMarks, fieldwise),
		rule("E0262", "capacity has the same taint twice", on("capacity.*", sameTaints), fieldwise),
		rule("E0263", "too many labels or taints of nodes", onEach(capacities, nodeMarkCount), resolved),
		rule("E0264", "field is unavailable for nodes of a capacity", onEach(capacities, marksOfOwnPools), resolved),
		rule("E0266", "flavor selects a label that the nodes do not have", onEach(capacities, missedLabels), resolved,
			except(ir.KAI)),
		rule("W0267", "flavor does not tolerate a taint of the nodes", onEach(capacities, intolerantFlavor), resolved,
			except(ir.KAI)),
		rule("E0265", "system pool has a maximum below its minimum", systemPoolMaximum),
	}
}

// maxNodeMarks is the number of labels, and the number of taints, of a ResourceFlavor.
const maxNodeMarks = 8

// nodeMark is a label or a taint.
type nodeMark struct {
	what       string
	path       fieldPath // its key
	valuePath  fieldPath
	key, value string
}

// nodeMarksOf returns the labels and taints of nodes that the blueprint sets.
func (r *report) nodeMarksOf() []nodeMark {
	var marks []nodeMark
	for path, value := range every[string](r, "capacity.*.nodeLabels.*") {
		marks = append(marks, nodeMark{"label", path, path, path.last(), value})
	}
	for path, t := range every[schema.NodeTaint](r, "capacity.*.nodeTaints.[]") {
		marks = append(marks, nodeMark{"taint", path.at("key"), path.at("value"), t.Key, t.Value})
	}
	return marks
}

// flavorMarks returns the labels, taints and tolerations of flavors.
func (r *report) flavorMarks() []nodeMark {
	var marks []nodeMark
	for path, value := range every[string](r, "capacity.*.flavor.nodeLabels.*") {
		marks = append(marks, nodeMark{"label", path, path, path.last(), value})
	}
	for path, t := range every[schema.NodeTaint](r, "capacity.*.flavor.nodeTaints.[]") {
		marks = append(marks, nodeMark{"taint", path.at("key"), path.at("value"), t.Key, t.Value})
	}
	for path, t := range every[schema.Toleration](r, "capacity.*.flavor.tolerations.[]") {
		if t.Key != nil {
			value := ""
			if t.Value != nil {
				value = *t.Value
			}
			marks = append(marks, nodeMark{"taint", path.at("key"), path.at("value"), *t.Key, value})
		}
	}
	return marks
}

// addMark reports the key of a label or taint.
func (r *report) addMark(m nodeMark, message string, options ...option) {
	if m.what == "label" {
		r.addKey(m.path, message, options...)
	} else {
		r.add(m.path, message, options...)
	}
}

func nodeMarks(r *report) {
	for _, m := range append(r.nodeMarksOf(), r.flavorMarks()...) {
		if len(validation.IsQualifiedName(m.key)) > 0 {
			r.addMark(
				m,
				say("%q cannot be the key of a node %s", m.key, m.what),
				help("write letters, digits, dashes, "+
					"underscores and dots, at most 63, perhaps behind a domain and a slash"),
			)
		} else if len(validation.IsValidLabelValue(m.value)) > 0 {
			r.add(m.valuePath, say("%q cannot be the value of a node %s", m.value, m.what),
				help("write letters, digits, dashes, underscores and dots, at most 63"))
		}
	}
}

func reservedNodeMarks(r *report) {
	for _, m := range r.nodeMarksOf() {
		owner, name := "", m.key
		if domain := ir.ReservedDomain(m.key); domain != "" {
			_, name, _ = strings.Cut(m.key, "/")
			owner = say("Kubernetes, GKE or a scheduler sets keys of %s", domain)
		} else if ir.IsMarkOfPlatform(m.key) {
			owner = "batchwright itself sets it on nodes"
		} else {
			continue
		}
		r.addMark(m, say("key %q of a node %s is reserved", m.key, m.what), note("%s", owner),
			help("write another key, such as %q", "example.com/"+name))
	}
}

// sameTaints reports two taints of the same key and effect, of which a node can have one.
func sameTaints(r *report, path fieldPath, c schema.Capacity) {
	for i, t := range c.NodeTaints {
		first := slices.IndexFunc(c.NodeTaints, func(o schema.NodeTaint) bool {
			return o.Key == t.Key && o.Effect == t.Effect
		})
		if first < i {
			here, other := path.at("nodeTaints", diag.Index(i)), path.at("nodeTaints", diag.Index(first))
			r.add(here.at("key"), say("a node has only one taint with key %q and effect %s", t.Key, t.Effect),
				see(other, "the other taint"), help("remove one of them, or write another key"))
		}
	}
}

// nodeMarkCount reports more labels or taints than a ResourceFlavor can have with those of the
// platform.
func nodeMarkCount(r *report, c ir.Capacity) {
	for _, m := range []struct {
		field, what string
		all, own    int
	}{
		{"nodeLabels", "label", len(c.NodeLabels), len(c.OwnLabels)},
		{"nodeTaints", "taint", len(c.NodeTaints), len(c.OwnTaints)},
	} {
		if m.own > 0 && m.all > maxNodeMarks {
			r.addKey(at("capacity", c.Name, m.field),
				say("nodes of capacity %q have %s with those of GKE and the platform, but at most %d are possible",
					c.Name, words.Count(m.all, m.what), maxNodeMarks),
				help("remove at least %s: a ResourceFlavor of Kueue has at most %d",
					words.Count(m.all-maxNodeMarks, m.what), maxNodeMarks))
		}
	}
}

// marksOfOwnPools reports labels, taints and repair of nodes that GKE creates, and repair of
// nodes that GKE never repairs. Source: GKE documentation, "Node auto-repair" and "About GPU
// and TPU provisioning with flex-start".
func marksOfOwnPools(r *report, c ir.Capacity) {
	in := r.Blueprint.Capacity[c.Name]
	path := at("capacity", c.Name)
	if repair := path.at("autoRepair"); c.Option.Facts().NoRepair && in.AutoRepair && r.Written(repair...) {
		r.addKey(
			repair,
			say("field autoRepair is unavailable for %s: GKE never repairs its nodes", c.Option.Facts().Nodes),
			help("remove autoRepair"),
		)
	}
	if c.OwnsPools() {
		return
	}
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"autoRepair", !in.AutoRepair && c.AutoProvisioned && !c.ComputeClass},
		{"nodeLabels", len(in.NodeLabels) > 0},
		{"nodeTaints", len(in.NodeTaints) > 0},
	} {
		if f.set {
			r.addKey(path.at(f.field),
				say("field %s is unavailable for capacity %q: GKE creates its node pools itself", f.field, c.Name),
				help("remove %s; or "+givesOwnPool, f.field, creatorField(c)))
		}
	}
}

// missedLabels reports labels of a flavor with which the nodes that the platform makes have another
// value: Kueue would select no node.
func missedLabels(r *report, c ir.Capacity) {
	in := r.Blueprint.Capacity[c.Name]
	if in.Flavor == nil || c.Existing() {
		return
	}
	for key, value := range sorted(in.Flavor.NodeLabels) {
		values := r.knownValues(c, key)
		if len(values) == 0 || slices.Contains(values, value) {
			continue
		}
		path := at("capacity", c.Name, "nodeLabels", key)
		_, own := in.NodeLabels[key]
		r.add(at("capacity", c.Name, "flavor", "nodeLabels", key),
			say("nodes of capacity %q never have the label %s=%s", c.Name, key, value), choices(values),
			when(own, see(path, "the nodes get this label")),
			help("write the value that the nodes have, or remove the label: jobs would wait for ever"))
	}
}

// knownValues returns the values with which nodes of a capacity of the platform have a label, none if
// that is unknown. Source: GKE documentation, "Node labels".
func (r *report) knownValues(c ir.Capacity, key string) []string {
	if value, own := r.Blueprint.Capacity[c.Name].NodeLabels[key]; own {
		return []string{value}
	}
	for _, l := range c.GKELabels {
		if l.Key == key {
			return []string{l.Value}
		}
	}
	switch key {
	case "cloud.google.com/gke-nodepool":
		return c.Pools()
	case "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type":
		if c.Machine.Type != "" {
			return []string{c.Machine.Type}
		}
	case "kubernetes.io/os", "beta.kubernetes.io/os":
		return []string{"linux"}
	case "topology.kubernetes.io/region":
		return []string{r.Plan.Region}
	case "topology.kubernetes.io/zone":
		return c.Zones
	}
	return nil
}

// intolerantFlavor reports a flavor with which no job can start on the nodes that the platform makes,
// unless it tolerates their taint by itself.
func intolerantFlavor(r *report, c ir.Capacity) {
	in := r.Blueprint.Capacity[c.Name].Flavor
	if in == nil || c.Existing() || in.Tolerations == nil && in.NodeTaints == nil {
		return
	}
	for _, t := range c.NodeTaints {
		// GKE itself adds a toleration of this taint to pods that request the accelerator, but Kueue
		// compares the taints of a flavor with the job. Source: GKE documentation, "About GPUs".
		fromGKE := t.Key == c.Machine.Resource && !slices.Contains(c.Flavor.Taints, t)
		if t.Effect == "PreferNoSchedule" || fromGKE || tolerates(c.Flavor.Tolerations, t) {
			continue
		}
		path := at("capacity", c.Name, "flavor", "tolerations")
		if in.Tolerations == nil {
			path = at("capacity", c.Name, "flavor", "nodeTaints")
		}
		r.addKey(path, say("nodes of capacity %q have the taint %s=%s:%s, which the flavor does not tolerate", c.Name,
			t.Key, t.Value, t.Effect), helpOrAccept("if the jobs tolerate it by themselves",
			"remove tolerations, or add {key: %q, value: %q, effect: %q}", t.Key, t.Value, t.Effect))
		return // one mistake, however many taints
	}
}

// tolerates reports whether one of some tolerations tolerates a taint for ever.
func tolerates(tolerations []ir.Toleration, t ir.Taint) bool {
	return slices.ContainsFunc(tolerations, func(o ir.Toleration) bool {
		return (o.Key == "" || o.Key == t.Key) && (o.Effect == "" || o.Effect == t.Effect) &&
			(o.Operator == "Exists" || o.Value == t.Value) && o.Seconds == nil
	})
}

func systemPoolMaximum(r *report) {
	pool := r.Blueprint.Cluster.SystemPool
	if most := pool.MaxNodesPerZone; most != nil && *most < pool.NodesPerZone {
		r.add(at("cluster", "systemPool", "maxNodesPerZone"),
			say("the system pool has at least %s in each zone, but at most %d", words.Count(pool.NodesPerZone, "node"),
				*most),
			when(r.Written("cluster", "systemPool", "nodesPerZone"),
				see(at("cluster", "systemPool", "nodesPerZone"), "the minimum")),
			help("raise maxNodesPerZone to %d or more, or remove it", pool.NodesPerZone))
	}
}
