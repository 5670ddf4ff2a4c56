package fit

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Zones are zones of one region for a platform that moves there.
type Zones struct {
	// Platform holds the zones of the platform, sorted: as many as it has now, or fewer if
	// the region does not have as many with the machines.
	Platform []string
	// Capacity holds the zones of each capacity that has fewer zones than the platform, by
	// its name.
	Capacity map[string][]string
}

// ChooseZones chooses zones of a region in which all machines of a platform are known to be
// available. Candidates limits them; nil means all zones of the region except AI zones. If
// there are none, lacks is a capacity whose machines are missing, or nil if the region is
// unknown.
func ChooseZones(p *ir.Platform, region string, candidates []string) (chosen Zones, lacks *ir.Capacity, ok bool) {
	all := candidates
	if all == nil {
		known, _ := catalog.LookupRegion(region)
		all = slices.DeleteFunc(slices.Clone(known.Zones), catalog.IsAIZone)
	}
	if len(all) == 0 {
		return Zones{}, nil, false
	}
	for _, c := range p.Capacities {
		here := zonesWith(c, all)
		if len(here) == 0 {
			return Zones{}, &c, false
		}
		if c.OwnsPools() && slices.Equal(c.Zones, p.Zones) { // each zone of the platform has nodes
			all = here
		}
	}
	suited := func(zone string) int {
		n := 0
		for _, c := range p.Capacities {
			n += len(zonesWith(c, []string{zone}))
		}
		return n
	}
	all = slices.SortedStableFunc(
		slices.Values(all),
		func(a, b string) int { return cmp.Compare(suited(b), suited(a)) },
	)
	chosen = Zones{slices.Sorted(slices.Values(all[:min(len(all), len(p.Zones))])), map[string][]string{}}
	for _, c := range p.Capacities {
		here := zonesWith(c, chosen.Platform)
		if len(here) == 0 {
			return Zones{}, &c, false
		}
		if !slices.Equal(c.Zones, p.Zones) {
			chosen.Capacity[c.Name] = here[:min(len(here), len(c.Zones))]
		}
	}
	return chosen, nil, true
}

// zonesWith returns those of some zones in which a capacity's machines are known to be
// available by its consumption option. If no zone is known to have them, it returns all.
func zonesWith(c ir.Capacity, zones []string) []string {
	known := KnownZones(c)
	if known == nil {
		return zones
	}
	return slices.DeleteFunc(slices.Clone(zones), func(z string) bool { return !slices.Contains(known, z) })
}

// KnownZones returns the zones that are known to have a capacity's machines and to offer
// them by its consumption option, nil if the catalogue does not know any.
func KnownZones(c ir.Capacity) []string {
	m, ok := catalog.Find(c.Machine.Type, c.Machine.Accelerator, c.Machine.AcceleratorCount)
	if !ok {
		m, _ = catalog.Usable(c.Machine.Type) // its accelerators are not attached
	}
	all, offered := m.Zones(), m.OptionZones(c.Option.Facts().Zones)
	if offered == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(offered), func(z string) bool {
		return all != nil && !slices.Contains(all, z)
	})
}
