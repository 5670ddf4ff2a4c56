package catalog

import (
	_ "embed"
	"strings"
)

// Sources: Compute Engine documentation, "Available regions and zones"
// (https://docs.cloud.google.com/compute/docs/regions-zones); for AI zones,
// "AI zones" (https://docs.cloud.google.com/storage/docs/ai-zones), which lists two of
// them and says that access is granted on request; for Infrastructure Manager, "Infrastructure
// Manager locations"; for us-central2, Cloud TPU documentation, "TPU regions and zones".
//
//go:embed regions.jsonl
var regions string

// Region is a region of Google Cloud.
type Region struct {
	Region string   `json:"region"`
	Zones  []string `json:"zones"`

	// InfrastructureManager reports whether Infrastructure Manager is known to be
	// available in the region.
	InfrastructureManager bool `json:"infrastructureManager,omitzero"`

	// Note is a remark for an administrator, or "".
	Note string `json:"note,omitzero"`
}

// LookupRegion returns the region of the given name. A region that the table lacks
// may be new.
func LookupRegion(name string) (Region, bool) {
	return lookupRow[Region](regions, "region", name)
}

// AllRegions returns every region, sorted by name. It reads all rows.
func AllRegions() []Region {
	return decodeRows[Region](regions)
}

// Regions returns the names of all regions, sorted. It reads all rows.
func Regions() []string {
	var names []string
	for _, r := range AllRegions() {
		names = append(names, r.Region)
	}
	return names
}

// RegionOf returns the name of a zone's region: a zone's name is the name of its
// region, a hyphen and a suffix.
func RegionOf(zone string) string { return zone[:max(0, strings.LastIndexByte(zone, '-'))] }

// IsAIZone reports whether the name has the form of an AI zone, such as
// "us-south1-ai1b". Google grants access to AI zones on request, and does not list
// all of them.
func IsAIZone(zone string) bool { return strings.HasPrefix(zone[len(RegionOf(zone)):], "-ai") }
