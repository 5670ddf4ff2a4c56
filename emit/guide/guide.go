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

// The pages.
const (
	readmePage    = "README.md"
	usingPage     = "USING.md"
	referencePage = "REFERENCE.md"
	// demonstrationPage exists only if the blueprint has a demonstration.
	demonstrationPage = "DEMONSTRATION.md"
	// networkTeamPage is for the owners of an existing network. It repeats
	// network-team/main.tf as tables, for a ticket.
	networkTeamPage = "network-team/README.md"
	// takeOverPage is about the resources that the platform takes over: for whoever builds
	// the platform, and for the former owners.
	takeOverPage = "takeover/README.md"
)

// Files returns the file emit.IdentityPath and the pages that the platform
// needs. The pages refer to the files of the other emitters.
func Files(p *ir.Platform) ([]emit.File, error) {
	artefact, err := ghpcArtifact(p)
	if err != nil {
		return nil, err
	}
	files := []emit.File{{Path: emit.IdentityPath, Content: artefact}}
	for _, page := range []struct {
		path, source string
		needed       bool
	}{
		{readmePage, "readme.md", true},
		{referencePage, "reference.md", true},
		{usingPage, "using.md", true},
		{"instructions.txt", "instructions.txt", true},
		{networkTeamPage, "network-team.md", p.Network.Existing != nil},
		{takeOverPage, "takeover.md", p.TakesOver()},
		{demonstrationPage, "demonstration.md", len(p.Demonstration) > 0},
	} {
		if !page.needed {
			continue
		}
		content, err := renderPage(p, page.source)
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: page.path, Content: content})
	}
	return files, nil
}
