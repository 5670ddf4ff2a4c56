package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/graph"
)

// drawQueues draws cohorts, queues and capacities.
func drawQueues(d *document, p *ir.Platform) {
	d.Heading(3, "Picture")
	drawing := graph.Draw(p, graph.Alike)
	d.Para(explainPicture(p, drawing.Detail))
	d.Code("mermaid", drawing.Lines...)
}

// explainPicture says what the frames, boxes and arrows of a picture are.
func explainPicture(p *ir.Platform, detail graph.Detail) markup {
	const arrows = " An arrow leads to each capacity on which the queues have quota, in the color of the capacity."
	boxes := markup("A box is a queue of a tier. If several teams have equal queues, one box names them all, and " +
		"its quota is the quota of each.")
	if len(p.SharedQueues) > 0 {
		boxes += " A box without quota names the teams of a shared queue: its gray arrow leads to that queue."
	}
	switch detail {
	case graph.Counts:
		return "The platform has too many tiers and capacities for a picture of its queues."
	case graph.Tiers:
		return "A box has all queues of a tier, because the teams are too many and too different for a picture of " +
			"each." + arrows
	case graph.Cohorts:
		return "A frame has all cohorts whose teams are alike. " + boxes + arrows
	}
	if len(p.Cohorts) == 0 {
		return boxes + arrows
	}
	return "A frame is a cohort. " + boxes + arrows
}
