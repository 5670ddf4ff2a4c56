package catalog

// pin is the SHA-256 of the manifest, image or chart of one version. Its name is the
// name of the field in a blueprint's versions.
type pin struct{ name, version, sha256 string }

// pins lists the SHA-256 of each default version of a blueprint. It has no row for
// the Google Cloud CLI and the charts, because no public repository pins their digests.
// The digest of a chart depends on the time at which it was packed, so nobody can compute
// it from the source.
//
// Sources: for Kueue and JobSet, the manifest that the artifacts target of their
// Makefile builds from config/default in the Go module of that version, which
// conformance/cluster builds again and compares; for images, the digest that public
// repositories of several owners pin for the tag.
var pins = [...]pin{
	{"kueue", "0.19.2", "88881eb50734eb920b67486ebc2aa978ed325e1b12d99b22fc51a6d7e9e4d370"},
	{"jobset", "0.12.0", "a41aaf12dd0b7b0a3d626b8d6107f32c3dc889d7e7830adc46b8cdb77a8963bb"},
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
	return ""
}
