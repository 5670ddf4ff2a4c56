module github.com/batchwright/batchwright/conformance/pictures

go 1.26.0

require github.com/yuin/goldmark v1.8.7 // Markdown as GitHub reads it
