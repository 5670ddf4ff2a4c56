package terraform

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

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
	terraform.block("required_providers").setTokens("google", objectTokens([]entry{
		{"source", stringTokens(googleProvider)},
		{"version", stringTokens(p.Versions.GoogleProvider)},
	}))
}

// lockFile is the name of Terraform's lock file, below the root.
const lockFile = ".terraform.lock.hcl"

// writeLock writes the lock file, with which terraform init refuses a provider that has
// another SHA-256. It writes nothing if no SHA-256 is known, or if Infrastructure Manager
// initializes Terraform: its documentation does not say how it treats a lock file.
//
// Source: Terraform documentation, "Dependency Lock File": zh: is the SHA-256 of the zip
// archive for one platform.
func writeLock(b *body, p *ir.Platform) {
	if len(p.Versions.SHA256.GoogleProvider) == 0 || p.Delivery.InfrastructureManager {
		return
	}
	b.note("The provider of versions.tf, as a build downloads it. With -lockfile=readonly, terraform",
		"init changes nothing here.")
	provider := b.block("provider", "registry.terraform.io/"+googleProvider)
	provider.setString("version", p.Versions.GoogleProvider)
	provider.setString("constraints", p.Versions.GoogleProvider)
	var hashes []string
	for _, sum := range p.Versions.SHA256.GoogleProvider {
		hashes = append(hashes, "zh:"+sum)
	}
	slices.Sort(hashes)
	provider.setTokens("hashes", hclwrite.TokensForValue(stringTuple(hashes)))
}
