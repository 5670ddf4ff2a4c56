package lower

import (
	"maps"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerExistingNodes resolves a capacity whose nodes others own. Its nodes have no more than
// what the blueprint says: no network between GPUs, no placement, no own labels.
func lowerExistingNodes(c ir.Capacity, b *schema.Blueprint, in schema.Capacity, machine catalog.Machine) ir.Capacity {
	sizeCapacity(&c, in)
	c.Zones = sortedUnique(in.Zones)
	c.PerNode = perNode(c.Machine, machine)
	c.SystemPods = systemPods(c.Machine.Resource, b.Cluster.CSIDrivers)
	c.Flavor.Name = c.Name
	lowerFlavor(&c, in.Flavor)
	c.NodeTaints = c.Flavor.Taints
	return c
}

// lowerFlavor replaces what follows from a capacity by what the blueprint says of its flavor.
func lowerFlavor(c *ir.Capacity, in *schema.Flavor) {
	if in == nil {
		return
	}
	c.Flavor.Name, c.Flavor.Topology = valueOr(in.Name, c.Flavor.Name), valueOr(in.Topology, "")
	c.Flavor.Differs = in.NodeLabels != nil || in.NodeTaints != nil || in.Tolerations != nil
	if in.NodeLabels != nil {
		c.NodeLabels = keyValues(in.NodeLabels)
	}
	if in.NodeTaints != nil {
		c.Flavor.Taints = taintsOf(in.NodeTaints)
	}
	if in.Tolerations != nil {
		c.Flavor.Tolerations = nil
		for _, t := range in.Tolerations {
			c.Flavor.Tolerations = append(c.Flavor.Tolerations, ir.Toleration{
				Key: valueOr(t.Key, ""), Operator: t.Operator, Value: valueOr(t.Value, ""),
				Effect: valueOr(t.Effect, ""), Seconds: t.Seconds,
			})
		}
	}
}

// lowerTopologies resolves the topologies, by name.
func lowerTopologies(b *schema.Blueprint) []ir.Topology {
	var out []ir.Topology
	for name, in := range byName(b.Topologies) {
		out = append(out, ir.Topology{Name: name, Levels: in.Levels})
	}
	return out
}

// flavorName returns the name of the ResourceFlavor of a capacity, "" if it has the same name.
func flavorName(c *ir.Capacity) string {
	if c.Flavor.Name == c.Name {
		return ""
	}
	return c.Flavor.Name
}

// withFlavorLabels returns the labels that the blueprint sets on the nodes of a pool: its
// nodeLabels, and those labels of its flavor that GKE does not set.
func withFlavorLabels(in schema.Capacity) map[string]string {
	if in.Flavor == nil {
		return in.NodeLabels
	}
	out := maps.Clone(in.NodeLabels)
	for key, value := range in.Flavor.NodeLabels {
		if ir.ReservedDomain(key) == "" && !ir.IsMarkOfPlatform(key) {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}

func taintsOf(in []schema.NodeTaint) []ir.Taint {
	var out []ir.Taint
	for _, t := range in {
		out = append(out, ir.Taint(t))
	}
	return out
}

// tolerating returns the tolerations of the taints, in their order.
func tolerating(taints []ir.Taint) []ir.Toleration {
	var out []ir.Toleration
	for _, t := range taints {
		out = append(out, ir.Toleration{Key: t.Key, Operator: "Equal", Value: t.Value, Effect: t.Effect})
	}
	return out
}
