// Package guide renders the three pages of the deploy folder: README.md for whoever
// builds and runs the platform, USING.md for the people who submit jobs, and
// REFERENCE.md for what is looked up. Each statement is on one page, the page of the
// person who needs it. A fourth page, DEMONSTRATION.md, describes the platform's
// demonstration if it has one. The prose is in the folder pages; the files of the package
// are named by page and topic.
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
	using, err := renderPage(p, "using.md")
	if err != nil {
		return nil, err
	}
	readme, err := renderPage(p, "readme.md")
	if err != nil {
		return nil, err
	}
	reference, err := renderPage(p, "reference.md")
	if err != nil {
		return nil, err
	}
	instructions, err := renderPage(p, "instructions.txt")
	if err != nil {
		return nil, err
	}
	files := []emit.File{
		{Path: ".ghpc/artifacts/expanded_blueprint.yaml", Content: artefact},
		{Path: readmePage, Content: readme},
		{Path: referencePage, Content: reference},
		{Path: usingPage, Content: using},
		{Path: "instructions.txt", Content: instructions},
	}
	if p.Network.Existing != nil {
		content, err := renderPage(p, "network-team.md")
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: networkTeamPage, Content: content})
	}
	if p.TakesOver() {
		content, err := renderPage(p, "takeover.md")
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: takeOverPage, Content: content})
	}
	if len(p.Demonstration) > 0 {
		content, err := renderPage(p, "demonstration.md")
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: demonstrationPage, Content: content})
	}
	return files, nil
}
