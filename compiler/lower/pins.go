package lower

import (
	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerPins returns the SHA-256 of each version: the blueprint's if it is set,
// otherwise the catalogue's, otherwise "".
func lowerPins(v schema.Versions) ir.Pins {
	pin := func(given *string, name, version string) string {
		if given != nil {
			return *given
		}
		return catalog.Pin(name, version)
	}
	return ir.Pins{
		Kueue:       pin(v.SHA256.Kueue, "kueue", v.Kueue),
		JobSet:      pin(v.SHA256.JobSet, "jobset", v.JobSet),
		KueueChart:  pin(v.SHA256.KueueChart, "kueueChart", v.Kueue),
		JobSetChart: pin(v.SHA256.JobSetChart, "jobsetChart", v.JobSet),
		Helm:        pin(v.SHA256.Helm, "helm", v.Helm),
		Terraform:   pin(v.SHA256.Terraform, "terraform", v.Terraform),
		Gcloud:      pin(v.SHA256.Gcloud, "gcloud", v.Gcloud),

		GoogleProvider: providerPins(v),
	}
}

// providerPins returns the SHA-256 of the archives of the Terraform provider.
func providerPins(v schema.Versions) []string {
	if len(v.SHA256.GoogleProvider) > 0 {
		return v.SHA256.GoogleProvider
	}
	return catalog.ProviderPins(v.GoogleProvider)
}
