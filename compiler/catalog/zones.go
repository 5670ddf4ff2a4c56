package catalog

import (
	_ "embed"
	"slices"
	"strings"
)

// Source of the zones of a machine: the public catalogue of the SkyPilot project,
// which takes them from Google's price lists. It shows where a machine type is
// listed, not where there is capacity or quota; in some zones of TPU v6e the price
// is a placeholder. Source of the zones of flex-start and of calendar mode: Google's
// documentation of these two options, which lists zones for TPUs.
//
//go:embed zones.jsonl
var zones string

// zoneRow holds the zones of a machine type, of a series such as "a2-highgpu", or of
// an accelerator that the machines of several types have. Options holds the zones
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
	return zonesOf(m.Type, series, m.Accelerator)
}

// Zones returns the zones that are known to have the machine type, sorted. It
// returns nil if no table has the machine type. The tables are partial: a missing
// zone proves nothing.
func (m Machine) Zones() []string { return m.zoneRow().Zones }

// Zones returns the sorted zones that are known to have the GPU, with the same
// limits as Machine.Zones.
func (a Attachment) Zones() []string { return zonesOf(a.Accelerator).Zones }

// Regions returns the regions that occur in any table, sorted. Other regions exist.
func Regions() []string {
	var regions []string
	for _, zone := range AllZones() {
		regions = append(regions, zone[:strings.LastIndexByte(zone, '-')])
	}
	return slices.Compact(slices.Sorted(slices.Values(regions)))
}

// AllZones returns the zones that occur in any table, sorted. Other zones exist.
func AllZones() []string {
	var all []string
	for row := range strings.Lines(zones) {
		r := decodeRow[zoneRow](row)
		all = append(all, r.Zones...)
		for _, documented := range r.Options {
			all = append(all, documented...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
