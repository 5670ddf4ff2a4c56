package lower

import (
	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerPins returns the SHA-256 of each version, except those of the controllers of jobs:
// the blueprint's if it is set, otherwise the catalogue's, otherwise "".
func lowerPins(v schema.Versions) ir.Pins {
	return ir.Pins{
		Kueue:          pinOf(v.SHA256.Kueue, "kueue", v.Kueue),
		KueueChart:     pinOf(v.SHA256.KueueChart, "kueueChart", v.Kueue),
		Helm:           pinOf(v.SHA256.Helm, "helm", v.Helm),
		Terraform:      pinOf(v.SHA256.Terraform, "terraform", v.Terraform),
		Gcloud:         pinOf(v.SHA256.Gcloud, "gcloud", v.Gcloud),
		GoogleProvider: providerPins(v),
	}
}

// pinOf returns the SHA-256 of one version.
func pinOf(given *string, name, version string) string {
	if given != nil {
		return *given
	}
	return catalog.Pin(name, version)
}

// providerPins returns the SHA-256 of the archives of the Terraform provider.
func providerPins(v schema.Versions) []string {
	if len(v.SHA256.GoogleProvider) > 0 {
		return v.SHA256.GoogleProvider
	}
	return catalog.ProviderPins(v.GoogleProvider)
}
