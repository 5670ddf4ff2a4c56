package catalog

import "slices"

// infrastructureManager lists the regions where Infrastructure Manager is known to
// be available. Source: Google Cloud documentation, "Infrastructure Manager
// locations".
var infrastructureManager = [...]string{
	"asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2", "asia-northeast3",
	"asia-south1", "asia-south2", "asia-southeast1", "asia-southeast2", "asia-southeast3",
	"australia-southeast1", "australia-southeast2",
	"europe-central2", "europe-north1", "europe-north2", "europe-southwest1",
	"europe-west1", "europe-west2", "europe-west3", "europe-west4", "europe-west6",
	"europe-west8", "europe-west9", "europe-west10", "europe-west12",
	"northamerica-northeast1", "northamerica-northeast2", "southamerica-east1",
	"us-central1", "us-east1", "us-east4", "us-east5", "us-south1",
	"us-west1", "us-west2", "us-west3", "us-west4",
}

// HasInfrastructureManager reports whether Infrastructure Manager is known to be
// available in a region. The list may be incomplete.
func HasInfrastructureManager(region string) bool {
	return slices.Contains(infrastructureManager[:], region)
}
