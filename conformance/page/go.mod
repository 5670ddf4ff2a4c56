module github.com/batchwright/batchwright/conformance/page

go 1.26.0

require (
	github.com/batchwright/batchwright v0.0.0 // the page
	k8s.io/apimachinery v0.36.2 // amounts of quota
)

require (
	github.com/agext/levenshtein v1.2.1 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)

replace github.com/batchwright/batchwright => ../..
