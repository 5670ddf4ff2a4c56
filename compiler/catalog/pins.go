package catalog

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// pin is the SHA-256 of the manifest, image or chart of one version. Its name is the
// name of the field in a blueprint's versions.
type pin struct{ name, version, sha256 string }

// pinsDate is the day on which the default versions were last compared with the releases
// of their projects.
const pinsDate = "2026-11-25"

// pins lists the SHA-256 for each default version in a blueprint. The digests for job controllers
// are in compiler/kinds. The Google Cloud CLI and the charts have no row,
// because no public repository pins their digests. A chart's digest depends on the packing
// time, so it cannot be computed from the source.
//
// Sources: for Kueue and the controllers of jobs, the manifest that the artifacts target of their
// Makefile builds from config/default in the Go module of that version, which
// conformance/cluster builds again and compares; for images, the digest that public
// repositories of several owners pin for the tag.
var pins = [...]pin{
	{"kueue", "0.19.2", "88881eb50734eb920b67486ebc2aa978ed325e1b12d99b22fc51a6d7e9e4d370"},
	{"helm", "3.19.0", "aef9b56f64e866207d9591d0abd8f6d767b36aadd12edf68f8a719716d9d29c9"},
	{"terraform", "1.13.5", "6bbb82d575aa7bd4f0a2c6e3a0838ab9590426c08a71d7a2783643f01004d356"},
}

// Pin returns the SHA-256 of a version, "" if it is unknown.
func Pin(name, version string) string {
	for _, p := range pins {
		if p.name == name && p.version == version {
			return p.sha256
		}
	}
	for _, c := range kinds.Controllers() {
		if c.Field == name {
			return c.SHA256[version]
		}
	}
	return ""
}

// providerPins lists, by version, the SHA-256 of the archives of the Terraform provider
// hashicorp/google: for linux_amd64, where the build runs, darwin_amd64, darwin_arm64 and
// linux_arm64.
//
// Source: public repositories that pin the provider: two owners for linux_amd64, one of
// them for the others.
var providerPins = map[string][]string{
	"7.45.0": {
		"fb1b9d1ea7bc79b7409f02aa7c19ba39afa22dbead69e83ae7eb2691ac5c2426",
		"58dadd7b96b7b706e2995a04f356862be7cfd6b55f6257464c8b10986abf8efa",
		"172c9e4902e9a01b1111bbbb9063a47804ec5f4207b2221df9c398239ff3b350",
		"7230a5e49abed243317b9de0ee7fd365b4a2775b532a5d66006b39c4703978ac",
	},
}

// ProviderPins returns the SHA-256 of the provider's archives of a version, nil if they are
// unknown.
func ProviderPins(version string) []string { return slices.Clone(providerPins[version]) }
