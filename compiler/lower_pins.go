package compiler

import (
	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerPins returns the SHA-256 of each version that has one: what the blueprint
// says, or else what is known.
func lowerPins(v schema.Versions) map[string]string {
	out := map[string]string{}
	for name, version := range map[string]string{
		ir.PinKueue: v.Kueue, ir.PinJobSet: v.JobSet, ir.PinHelm: v.Helm, ir.PinTerraform: v.Terraform, ir.PinGcloud: v.Gcloud,
	} {
		sha256 := v.SHA256[name]
		if sha256 == "" {
			sha256 = catalog.Pin(name, version)
		}
		if sha256 != "" {
			out[name] = sha256
		}
	}
	return out
}
