module github.com/batchwright/batchwright/release

go 1.26.0

toolchain go1.26.8

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0 // the types of a software bill of materials
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // CycloneDX's schema in a test
	golang.org/x/mod v0.41.0 // versions; reading go.mod
)

require golang.org/x/text v0.14.0 // indirect
