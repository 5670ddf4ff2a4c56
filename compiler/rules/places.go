package rules

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
)

// Rules on the zones that a region has. The table of zones is complete for regions
// that it lists, and Google adds zones rarely: a zone that the table lacks is an
// error, which a blueprint can accept. The table cannot be complete for AI zones,
// because Google does not list all of them.

func placeRules() []Rule {
	return []Rule{
		rule("E0314", "zone does not exist", existingZones, acceptable),
		rule("W0320", "unknown AI zone", existingAIZones),
	}
}

func existingZones(r *report) { r.checkZones(false) }

func existingAIZones(r *report) { r.checkZones(true) }

// checkZones reports the platform's zones that its region does not have: the AI
// zones, or the others. The zones of capacities are zones of the platform. A zone can also
// be the location of an existing cluster.
// zonesInRegion reports zones of other regions, and knownRegion unknown regions.
func (r *report) checkZones(ai bool) {
	zones := slices.Clone(r.Blueprint.Zones)
	if e := r.Blueprint.Cluster.Existing; e != nil && e.Location != nil {
		zones = append(zones, *e.Location) // a region is no zone that is missing
	}
	for i, zone := range zones {
		if !missingZone(zone) || catalog.IsAIZone(zone) != ai || slices.Contains(zones[:i], zone) ||
			catalog.RegionOf(zone) != r.Blueprint.Region {
			continue
		}
		path := at("zones", diag.Index(i))
		if i == len(r.Blueprint.Zones) {
			path = at("cluster", "existing", "location")
		}
		region, _ := catalog.LookupRegion(r.Blueprint.Region)
		alike := slices.DeleteFunc(region.Zones, func(z string) bool { return catalog.IsAIZone(z) != ai })
		what := "has no zone"
		if ai {
			what = "is not known to have AI zone"
		}
		r.add(path, say("region %q %s %q", region.Region, what, zone), choices(alike),
			help("choose a zone of the region; if gcloud compute zones list shows %q, add %s", zone, r.accepting(path)))
	}
}
