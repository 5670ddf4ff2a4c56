package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// homeModule is the path of the module of batchwright.
const homeModule = "github.com/batchwright/batchwright"

// billOfMaterials returns the software bill of materials of a program, in CycloneDX's
// JSON: the modules that the go command has linked into it, and Go's library.
func (b *builder) billOfMaterials(program program, p platform) ([]byte, error) {
	name := b.path(program.name, p)
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuidOf(sum)
	bom.Metadata = &cdx.Metadata{
		Timestamp: b.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: "program", Type: cdx.ComponentTypeApplication, Name: program.name, Version: b.version,
			PackageURL: moduleURL(homeModule, b.version) + "#cmd/" + program.name,
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}},
			Properties: &[]cdx.Property{
				{Name: "go:os", Value: p.os}, {Name: "go:arch", Value: p.arch}, {Name: "vcs:revision", Value: b.commit},
			},
		},
	}
	if program.module != "." {
		bom.Metadata.Component.PackageURL = moduleURL(homeModule+"/"+program.module, b.version) + "#cmd/" + program.name
	}
	library := strings.TrimPrefix(info.GoVersion, "go")
	components := []cdx.Component{{
		BOMRef: "std", Type: cdx.ComponentTypeLibrary, Name: "std", Version: library,
		PackageURL: moduleURL("std", library),
	}}
	for _, m := range info.Deps {
		components = append(components, b.component(m))
	}
	bom.Components = &components
	var text bytes.Buffer
	err = cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).
		EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

// component describes a module that is linked into a program.
func (b *builder) component(m *debug.Module) cdx.Component {
	if m.Replace != nil {
		m = &debug.Module{Path: m.Path, Version: m.Replace.Version, Sum: m.Replace.Sum}
	}
	if m.Path == homeModule { // replaced by its directory
		m = &debug.Module{Path: m.Path, Version: b.version}
	}
	c := cdx.Component{
		BOMRef: m.Path, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
		PackageURL: moduleURL(m.Path, m.Version),
	}
	if m.Sum != "" {
		// Not the hash of a file: CycloneDX has no algorithm for it.
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}

// moduleURL returns the package URL of a Go module.
func moduleURL(path, version string) string {
	return "pkg:golang/" + path + "@" + url.QueryEscape(version)
}

// uuidOf returns a UUID that a hash alone determines, of the version for such UUIDs.
func uuidOf(sum [sha256.Size]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
