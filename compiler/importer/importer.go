// Package importer turns what runs on a cluster into a blueprint.
//
// Exports come in: Kueue's objects and the controllers of a cluster as kubectl prints them,
// a cluster and its node pools as gcloud prints them, and blueprints of Google's Cluster
// Toolkit. The text of a blueprint goes out, with a report that says for each field of each
// object whether the blueprint has it exactly, approximately or not at all. The package
// reads and writes no files.
//
// Import first reads the files into an inventory of objects (read.go, documents.go), then
// designs the platform (design.go and the files beside it), and then writes the CUE
// (write.go). A cluster in the exports exists, and others own it (existing.go). Three tables
// say what becomes of each field: of Kueue's objects in fields.go, of node pools in
// pools.go, and of the modules of Cluster Toolkit in toolkit.go.
// defaults.go has what the API sets in Kueue's objects. Read (export.go) returns the inventory
// itself, for a comparison with a folder.
package importer

import (
	"github.com/batchwright/batchwright/compiler/diag"
)

// File is a file to import. Name is the user's name of it, "-" for standard input.
type File struct {
	Name    string
	Content []byte
}

// Options are values that exports of queues do not contain. An empty value means that
// Import takes it from the files, or chooses a placeholder.
type Options struct {
	Name    string
	Project string
	Region  string
	Zones   []string
}

// Result is the result of an import.
type Result struct {
	// Blueprint is the text of the blueprint in CUE. It is nil if Findings has errors.
	Blueprint []byte
	Report    Report
	// Findings are mistakes in the files.
	Findings diag.List
}

// Import turns files into one blueprint. The error is a failure of the importer.
func Import(files []File, options Options) (res Result, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = diag.Bug("the files to import", bug)
		}
	}()
	inv := &inventory{findings: &res.Findings, seen: map[string]*object{}}
	for _, f := range files {
		inv.readFile(f)
	}
	inv.decodeAll()
	if res.Findings.HasErrors() {
		return res, nil
	}
	d := inv.design(options)
	res.Report = inv.report(d)
	res.Blueprint, err = d.write()
	return res, err
}

// Codes returns every code that a finding of Import can have.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: codeSyntax, Severity: diag.Error, Title: "export is damaged or incomplete"},
		{ID: codeNothing, Severity: diag.Error, Title: "file has nothing to import"},
		{ID: codeVersion, Severity: diag.Error, Title: "import does not know the API version"},
		{ID: codeTwice, Severity: diag.Error, Title: "two objects to import have the same name"},
		{ID: codeAutopilot, Severity: diag.Error, Title: "cluster to import is an Autopilot cluster"},
		{ID: codeClusters, Severity: diag.Error, Title: "exports contain several clusters"},
		{ID: codeField, Severity: diag.Warning, Title: "object has a field that its API version does not have"},
		{ID: codeSecret, Severity: diag.Warning, Title: "export contains a Secret"},
	}
}

// Codes of the findings.
const (
	codeSyntax    = "E0920"
	codeNothing   = "E0921"
	codeVersion   = "E0922"
	codeTwice     = "E0923"
	codeAutopilot = "E0924"
	codeField     = "W0925"
	codeSecret    = "W0926"
	codeClusters  = "E0929"
)
