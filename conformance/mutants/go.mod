module github.com/batchwright/batchwright/conformance/mutants

go 1.26.0
