module github.com/batchwright/batchwright/conformance/pictures

go 1.26.0
