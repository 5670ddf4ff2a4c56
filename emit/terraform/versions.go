package terraform

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// googleProvider is the provider's address in the Terraform Registry.
const googleProvider = "hashicorp/google"

func writeVersions(b *body, p *ir.Platform) {
	terraform := b.block("terraform")
	if p.Delivery.InfrastructureManager {
		terraform.note("Infrastructure Manager supports no later version.")
		terraform.setString("required_version", "~> 1.5.0")
	} else {
		terraform.note("Before version 1.9, a validation cannot refer to another variable.")
		terraform.setString("required_version", ">= 1.9")
	}
	// A provider stays compatible within a major version. The minor version is the
	// first that has every argument used here.
	minor := p.Versions.GoogleProvider[:strings.LastIndex(p.Versions.GoogleProvider, ".")]
	terraform.block("required_providers").setTokens("google", objectTokens([]entry{
		{"source", stringTokens(googleProvider)},
		{"version", stringTokens("~> " + minor)},
	}))
}
