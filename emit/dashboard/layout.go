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
		return 4, 4
	case monitoring.Table:
		return columns, 8
	default:
		return 12, 8
	}
}

// placeBoxes places boxes side by side, from left to right and from top to bottom,
// starting at the given line. It returns the boxes in the order of the panels, and
// the first free line.
func placeBoxes(panels []monitoring.Panel, line int) ([]box, int) {
	places := make([]box, len(panels))
	x, height := 0, 0
	for i, p := range panels {
		w, h := panelSize(p.Shape)
		if x+w > columns {
			x, line, height = 0, line+height, 0
		}
		places[i] = box{x, line, w, h}
		x, height = x+w, max(height, h)
	}
	return places, line + height
}
