package catalog

import (
	_ "embed"
	"strings"
)

// Source: GKE documentation, "TPU topologies"; the GKE cluster autoscaler, xpk
// and Google's Cluster Toolkit for the shapes that it leaves out.
//
//go:embed slices.jsonl
var tpuSlices string

// Slice is the shape of a TPU slice on a machine type. A node pool of it has
// Hosts nodes, or none.
type Slice struct {
	// Topology is the chips along each dimension, such as "4x4" or "2x2x4".
	Topology string `json:"topology"`
	Chips    int    `json:"chips"`
	Hosts    int    `json:"hosts"`
}

type sliceRow struct {
	Type string `json:"type"`
	Slice
}

// Slices returns the slices the machine type can form, by chips and then
// topology; nil without TPUs, or where no shape is verified.
func (m Machine) Slices() []Slice {
	var out []Slice
	for row := range strings.Lines(rows(tpuSlices, "type", m.Type)) {
		out = append(out, decode[sliceRow](row).Slice)
	}
	return out
}

// Slice returns the slice of that topology, if the machine type can form it.
func (m Machine) Slice(topology string) (Slice, bool) {
	for row := range strings.Lines(rows(tpuSlices, "type", m.Type)) {
		if strings.Contains(row, `"topology":"`+topology+`"`) {
			return decode[sliceRow](row).Slice, true
		}
	}
	return Slice{}, false
}
