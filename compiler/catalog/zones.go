package catalog

import (
	_ "embed"
	"slices"
	"strings"
)

// Source of the zones that have a machine: the public catalogue of the SkyPilot
// project, read off Google's price lists. It tells where a machine type is
// listed, not where there is capacity or quota; some zones of TPU v6e have a
// placeholder for a price there. Source of the zones of flex-start and of
// calendar mode: Google's documentation of the two, which names them for TPUs.
//
//go:embed zones.jsonl
var zones string

// zoneRow is the zones of a machine type, of a series such as "a2-highgpu", or
// of an accelerator that the machines of several types have.
type zoneRow struct {
	Of        string   `json:"of"`
	Zones     []string `json:"zones,omitzero"`
	FlexStart []string `json:"flexStart,omitzero"`
	Calendar  []string `json:"calendar,omitzero"`
}

func zonesOf(subjects ...string) zoneRow {
	for _, s := range subjects {
		if row := rows(zones, "of", s); row != "" {
			return decode[zoneRow](row)
		}
	}
	return zoneRow{}
}

func (m Machine) zones() zoneRow {
	series := m.Type[:max(strings.LastIndexByte(m.Type, '-'), 0)]
	return zonesOf(m.Type, series, m.Accelerator)
}

// Zones returns the zones that are known to have the machine type, sorted; nil
// where no table exists. The tables are partial: that a zone is not in one
// proves nothing.
func (m Machine) Zones() []string { return m.zones().Zones }

// FlexStartZones returns the zones in which Google states flex-start for the
// machine type's TPUs, sorted; nil where it states none.
func (m Machine) FlexStartZones() []string { return m.zones().FlexStart }

// CalendarZones returns the zones in which Google states calendar mode for the
// machine type's TPUs, sorted; nil where it states none.
func (m Machine) CalendarZones() []string { return m.zones().Calendar }

// Zones returns the zones that are known to have the GPU, as Machine.Zones does.
func (a Attachment) Zones() []string { return zonesOf(a.Accelerator).Zones }

// Regions returns the regions that occur in any table, sorted. There are others.
func Regions() []string {
	var regions []string
	for row := range strings.Lines(zones) {
		r := decode[zoneRow](row)
		for _, zone := range slices.Concat(r.Zones, r.FlexStart, r.Calendar) {
			regions = append(regions, zone[:strings.LastIndexByte(zone, '-')])
		}
	}
	slices.Sort(regions)
	return slices.Compact(regions)
}
