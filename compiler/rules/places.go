package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
)

// Rules on the zones that a region has. The table of zones is complete for regions
// that it lists, and Google adds zones rarely: a zone that the table lacks is an
// error, which a blueprint can accept. The table cannot be complete for AI zones,
// because Google does not list all of them.

func placeRules() []Rule {
	return []Rule{
		{
			Code: "E0314", Severity: diag.Error, Title: "zone does not exist", Acceptable: true,
			check: existingZones,
		},
		{Code: "W0320", Severity: diag.Warning, Title: "unknown AI zone", check: existingAIZones},
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
		r.add(path, fmt.Sprintf("region %q %s %q", region.Region, what, zone),
			withChoices(len(alike), quoteNames(alike)),
			withHelp("choose a zone of the region; if gcloud compute zones list shows %q, add %s", zone,
				acceptSource(r.rule.Code, path)))
	}
}

// missingZone reports whether the catalogue knows the zone's region, but not the
// zone.
func missingZone(zone string) bool {
	region, known := catalog.LookupRegion(catalog.RegionOf(zone))
	return known && !slices.Contains(region.Zones, zone)
}

// foreignZone reports whether another rule reports the zone: it is in another region
// than the platform or not one of its zones, it does not exist, or its region is
// unknown.
func (r *report) foreignZone(zone string) bool {
	_, known := catalog.LookupRegion(r.Plan.Region)
	return !known || !strings.HasPrefix(zone, r.Plan.Region+"-") || missingZone(zone) ||
		!slices.Contains(r.Blueprint.Zones, zone)
}

// someZone returns the name of a zone of a region. If the catalogue does not know
// the region, it returns the likeliest name.
func someZone(name string) string {
	if region, known := catalog.LookupRegion(name); known {
		return region.Zones[0]
	}
	return name + "-a"
}
