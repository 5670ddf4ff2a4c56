package catalog

import (
	_ "embed"
	"strconv"
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
// type can form it. The topology need not be listed, if it follows the rule of those that
// are.
func (m Machine) Slice(topology string) (Slice, bool) {
	if s, ok := m.listed(topology); ok {
		return s, true
	}
	for row := range strings.Lines(findRows(tpuSlices, "type", m.Type)) {
		if s := decodeRow[sliceRow](row).Slice; strings.Count(s.Topology, "x") == 2 {
			return s.reshaped(topology)
		}
	}
	return Slice{}, false
}

// Lists reports whether a source lists a topology for the machine type, so that Slices
// contains it.
func (m Machine) Lists(topology string) bool {
	_, ok := m.listed(topology)
	return ok
}

func (m Machine) listed(topology string) (Slice, bool) {
	for row := range strings.Lines(findRows(tpuSlices, "type", m.Type)) {
		if strings.Contains(row, `"topology":"`+topology+`"`) {
			return decodeRow[sliceRow](row).Slice, true
		}
	}
	return Slice{}, false
}

// podChips is the number of chips in the largest pod, of TPU7x: 16x24x24. Source: Cloud TPU
// documentation, "TPU7x (Ironwood)".
const podChips = 9216

// reshaped returns the slice of another topology on machines of the same type, and reports
// whether there can be one. In three dimensions, blocks of 4x4x4 chips form a slice of 64 or
// more chips, and no side is shorter than the one before. Source: Cloud TPU documentation,
// "TPU v5p", and xpk, which computes topologies by the same rule.
func (s Slice) reshaped(topology string) (Slice, bool) {
	chips, last := 1, 4
	sides := strings.Split(topology, "x")
	for _, side := range sides {
		n, err := strconv.Atoi(side)
		if err != nil || n < last || n%4 != 0 || n > podChips {
			return Slice{}, false
		}
		if chips, last = chips*n, n; chips > podChips {
			return Slice{}, false
		}
	}
	return Slice{topology, chips, chips * s.Hosts / s.Chips}, len(sides) == 3
}
