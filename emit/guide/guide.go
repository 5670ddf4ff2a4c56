// Package guide renders the three pages of the deploy folder: README.md for whoever
// builds and runs the platform, USING.md for the people who submit jobs, and
// REFERENCE.md for what is looked up. Each statement is on one page, the page of the
// person who needs it. The files of the package are named by page and topic. A fourth
// page, DEMONSTRATION.md, describes the platform's demonstration if it has one.
//
// The package also renders two files for Cluster Toolkit's gcluster: the artefact by
// which gcluster recognizes a deploy folder, and the instructions to which gcluster
// points.
package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Files returns .ghpc/artifacts/expanded_blueprint.yaml, the three pages and
// instructions.txt, network-team/README.md if others own the network, takeover/README.md
// if the platform takes over a resource, and DEMONSTRATION.md if it has a demonstration.
// The pages refer to the files of the other emitters.
func Files(p *ir.Platform) ([]emit.File, error) {
	artefact, err := ghpcArtifact(p)
	if err != nil {
		return nil, err
	}
	using, err := usingFile(p)
	if err != nil {
		return nil, err
	}
	files := []emit.File{
		{Path: ".ghpc/artifacts/expanded_blueprint.yaml", Content: artefact},
		{Path: readmePage, Content: readmeFile(p)},
		{Path: referencePage, Content: referenceFile(p)},
		{Path: usingPage, Content: using},
		{Path: "instructions.txt", Content: instructionsFile(p)},
	}
	if p.Network.Existing != nil {
		files = append(files, emit.File{Path: networkTeamPage, Content: networkTeamFile(p)})
	}
	if p.TakesOver() {
		files = append(files, emit.File{Path: takeOverPage, Content: takeOverFile(p)})
	}
	if len(p.Demonstration) > 0 {
		files = append(files, emit.File{Path: demonstrationPage, Content: demonstrationFile(p)})
	}
	return files, nil
}
