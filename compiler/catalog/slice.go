package catalog

import (
	_ "embed"
	"strings"
)

// Sources: GKE documentation, "TPU topologies"; for the shapes that it omits, the
// GKE cluster autoscaler, xpk and Google's Cluster Toolkit.
//
//go:embed slices.jsonl
var tpuSlices string

// Slice is the shape of a TPU slice on a machine type. A node pool for the slice has
// either Hosts nodes or none.
type Slice struct {
	// Topology is the number of chips along each dimension, such as "4x4" or
	// "2x2x4".
	Topology string `json:"topology"`
	Chips    int    `json:"chips"`
	Hosts    int    `json:"hosts"`
}

type sliceRow struct {
	Type string `json:"type"`
	Slice
}

// Slices returns the slices that the machine type can form, ordered by chips, then
// by topology. It returns nil if the machine has no TPUs or if no shape is verified.
func (m Machine) Slices() []Slice {
	var out []Slice
	for row := range strings.Lines(findRows(tpuSlices, "type", m.Type)) {
		out = append(out, decodeRow[sliceRow](row).Slice)
	}
	return out
}

// Slice returns the slice with the given topology, and reports whether the machine
// type can form it.
func (m Machine) Slice(topology string) (Slice, bool) {
	for row := range strings.Lines(findRows(tpuSlices, "type", m.Type)) {
		if strings.Contains(row, `"topology":"`+topology+`"`) {
			return decodeRow[sliceRow](row).Slice, true
		}
	}
	return Slice{}, false
}
