// Package guide renders the deploy folder's README.md, for the administrator who
// builds the platform and the developer who submits jobs to it. It also renders
// two files for Cluster Toolkit's gcluster: the artefact by which gcluster
// recognizes a deploy folder, and the instructions to which gcluster points.
package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Files returns .ghpc/artifacts/expanded_blueprint.yaml, README.md and
// instructions.txt. The README refers to the files of the other emitters.
func Files(p *ir.Platform) ([]emit.File, error) {
	artefact, err := ghpcArtifact(p.Name, p.Project, p.Region)
	if err != nil {
		return nil, err
	}
	return []emit.File{
		{Path: ".ghpc/artifacts/expanded_blueprint.yaml", Content: artefact},
		{Path: "README.md", Content: readmeFile(p)},
		{Path: "instructions.txt", Content: instructionsFile(p)},
	}, nil
}
