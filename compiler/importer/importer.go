// Package importer designs a blueprint from what runs on a cluster.
//
// The objects of an export come in: Kueue's objects and the controllers of a cluster, the
// cluster and its node pools, and blueprints of Google's Cluster Toolkit. The text of a
// blueprint goes out, with a report that says for each field of each object whether the
// blueprint has it exactly, approximately or not at all. The package reads and writes no
// files.
//
// Import first gathers the objects (inventory.go), then designs the platform (design.go and
// the files beside it), and then writes the CUE (write.go). A cluster in the exports exists,
// and others own it (existing.go). Tables say what becomes of a field whose fate does not
// depend on the design: of Kueue's objects and of the modules of Cluster Toolkit in fates.go,
// and of node pools in package gke.
package importer

import (
	"cmp"
	"fmt"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
)

// Options are values that exports of queues do not contain. An empty value means that
// Import takes it from the files, or chooses a placeholder.
type Options struct {
	Name    string
	Project string
	Region  string
	Zones   []string
	// OwnPools makes node pools of the platform for the queues, beside those that run. By
	// default the queues stay as they are, on nodes and in namespaces of their owners.
	OwnPools bool
	// Judge returns the findings on the text of a blueprint. Import accepts those that Acceptable
	// reports in queues that stay as they run. It can be nil.
	Judge func(blueprint []byte) (*diag.List, error)
	// Acceptable reports whether a blueprint can accept the findings with a code.
	Acceptable func(code string) bool
}

// Check returns an error if the region or a zone does not exist, or if a zone is in another region.
func (o Options) Check() error {
	if o.Region != "" && !knownRegion(o.Region) {
		return fmt.Errorf("there is no region %q, such as %q", o.Region, "us-central1")
	}
	for _, zone := range o.Zones {
		switch region := catalog.RegionOf(zone); {
		case !zoneName.MatchString(zone) || !knownRegion(region):
			return fmt.Errorf("there is no zone %q, such as %q", zone, cmp.Or(o.Region, "us-central1")+"-a")
		case o.Region != "" && region != o.Region:
			return fmt.Errorf("zone %q is not in region %q", zone, o.Region)
		}
	}
	return nil
}

// Result is the result of an import.
type Result struct {
	// Blueprint is the text of the blueprint in CUE. It is nil if Findings has errors.
	Blueprint []byte
	Report    Report
	// Findings are mistakes in the files.
	Findings diag.List
	// Faults are the errors in Blueprint: Import should have avoided or accepted them. It is nil
	// without Judge.
	Faults *diag.List
}

// Import turns files into one blueprint. The error is a failure of the importer.
func Import(files []exports.File, options Options) (res Result, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = diag.Bug("the files to import", bug)
		}
	}()
	export, findings, err := exports.Read(files, exports.Import)
	res.Findings = findings
	if err != nil || findings.HasErrors() {
		return res, err
	}
	d := newInventory(export).design(options)
	res.Report = d.report()
	res.Blueprint, err = d.write()
	if err != nil || options.Judge == nil {
		return res, err
	}
	found, err := options.Judge(res.Blueprint)
	if err != nil {
		return res, err
	}
	broken := found.HasErrors()
	if d.exact != nil {
		d.accept(acceptableFindings(found, options.Acceptable))
		if res.Blueprint, err = d.write(); err != nil {
			return res, err
		}
		if broken { // errors can be accepted too, and hide others
			found, err = options.Judge(res.Blueprint)
			if err != nil {
				return res, err
			}
		}
	}
	res.Faults = found.Filter(func(f diag.Finding) bool { return f.Severity == diag.Error })
	return res, nil
}

// acceptableFindings returns the warnings and errors that a blueprint can accept.
func acceptableFindings(found *diag.List, acceptable func(code string) bool) []diag.Finding {
	return found.Filter(func(f diag.Finding) bool { return f.Severity != diag.Note && acceptable(f.Code) }).Sorted()
}
