package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// listNodeMarks lists the labels and taints of the nodes of each capacity, for the
// owner of the cluster, who creates the node pools.
func listNodeMarks(d *document, p *ir.Platform) {
	if p.OwnsCluster() || len(p.Capacities) == 0 {
		return
	}
	d.Heading(2, nodeMarksHeading)
	d.Para("Kueue sends the pods of a capacity to nodes with these labels, and lets the pods tolerate these taints. ",
		"Terraform creates such node pools. If somebody else creates them, with the same machine and in the same ",
		"zones, apply only ", fileLink("kubernetes/"), ": run the commands of ", linkHere(stepsHeading), " that ",
		"follow the `terraform` commands, and neither Terraform nor `./create-platform.sh`.")
	var rows [][]markup
	for _, c := range p.Capacities {
		var byGKE []ir.KeyValue
		for _, l := range c.NodeLabels {
			if !slices.Contains(c.PoolLabels, l) {
				byGKE = append(byGKE, l)
			}
		}
		taints := make([]string, len(c.NodeTaints))
		for i, t := range c.NodeTaints {
			taints[i] = t.Key + "=" + t.Value + ":" + t.Effect
		}
		rows = append(rows, []markup{
			codeSpan(c.Name), describeMachine(c), listLabels(c.PoolLabels), listLabels(byGKE), listOrNone(taints),
		})
	}
	d.Table([]markup{"Capacity", "Machine", "Labels of the node pool", "Labels that GKE sets", "Taints"}, rows)
	if p.AnyCapacity(func(c ir.Capacity) bool { return !c.OwnsPools() }) {
		d.Para("A capacity without labels of the node pool has no pool of its own: GKE creates its nodes.")
	}
}

// listLabels lists labels in the notation of kubectl.
func listLabels(labels []ir.KeyValue) markup {
	texts := make([]string, len(labels))
	for i, l := range labels {
		texts[i] = l.Key + "=" + l.Value
	}
	return listOrNone(texts)
}

// listOrNone lists texts as code, "none" if there are none.
func listOrNone(texts []string) markup {
	if len(texts) == 0 {
		return "none"
	}
	return codeList(texts)
}
