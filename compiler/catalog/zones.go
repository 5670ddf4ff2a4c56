package catalog

import (
	_ "embed"
	"strings"
)

// Source of the zones of a machine: the public catalogue of the SkyPilot project
// (https://github.com/skypilot-org/skypilot-catalog, catalogs/v8/gcp/vms.csv), which
// takes them from Google's API and price lists. It shows where a machine type is
// listed, not where there is capacity or quota; in some zones of TPU v6e the price
// is a placeholder. A zone of a family has at least one machine type of the family. No
// row has C4A and G4, which that catalogue omits. Source of the zones of flex-start and
// of calendar mode: Google's documentation of these two options, which lists zones for
// TPUs.
//
//go:embed zones.jsonl
var zones string

// zoneRow holds the zones of a machine type, of a series such as "a2-highgpu", of an
// accelerator that the machines of several types have, or of a family. Options holds the zones
// that Google documents for a consumption option, by the name of its column.
type zoneRow struct {
	Of      string              `json:"of"`
	Zones   []string            `json:"zones,omitzero"`
	Options map[string][]string `json:"options,omitzero"`
}

func zonesOf(subjects ...string) zoneRow {
	for _, s := range subjects {
		if row := findRows(zones, "of", s); row != "" {
			return decodeRow[zoneRow](row)
		}
	}
	return zoneRow{}
}

func (m Machine) zoneRow() zoneRow {
	series := m.Type[:max(strings.LastIndexByte(m.Type, '-'), 0)]
	return zonesOf(m.Type, series, m.Accelerator, m.Family)
}

// Zones returns the zones that are known to have the machine type, sorted. It
// returns nil if no table has the machine type. The tables are partial: a missing
// zone proves nothing.
func (m Machine) Zones() []string { return m.zoneRow().Zones }

// Zones returns the sorted zones that are known to have the GPU, with the same
// limits as Machine.Zones.
func (a Attachment) Zones() []string { return zonesOf(a.Accelerator).Zones }
