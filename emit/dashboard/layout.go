package dashboard

import "github.com/batchwright/batchwright/emit/monitoring"

// columns is the width of the grid, the same as in Grafana.
const columns = 24

// box is a position and size on the grid.
type box struct{ x, y, w, h int }

// panelSize returns the width and height of a panel.
func panelSize(s monitoring.Shape) (w, h int) {
	switch s {
	case monitoring.Number, monitoring.Gauge:
		return 6, 4
	case monitoring.Table:
		return columns, 9
	default:
		return 12, 10 // the legend has room for twelve series
	}
}

// placeBoxes places boxes side by side, from left to right and from top to bottom,
// starting at the given line. A chart alone on its lines has the whole width. It
// returns the boxes in the order of the panels, and the first free line.
func placeBoxes(panels []monitoring.Panel, line int) ([]box, int) {
	places := make([]box, len(panels))
	x, height := 0, 0
	for i, p := range panels {
		w, h := panelSize(p.Shape)
		if x+w > columns {
			widenChart(panels[:i], places[:i])
			x, line, height = 0, line+height, 0
		}
		places[i] = box{x, line, w, h}
		x, height = x+w, max(height, h)
	}
	widenChart(panels, places)
	return places, line + height
}

// widenChart gives the last panel the whole width if it is a chart at the left end.
func widenChart(panels []monitoring.Panel, places []box) {
	last := len(panels) - 1
	if last < 0 || places[last].x > 0 {
		return
	}
	switch panels[last].Shape {
	case monitoring.Lines, monitoring.Stack, monitoring.Heatmap:
		places[last].w = columns
	}
}
