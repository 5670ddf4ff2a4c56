// Package guide renders what people read: the deploy folder's README.md, for
// the administrator who builds the platform and the developer who submits jobs
// to it. Beside it stand the artefact by which Cluster Toolkit's gcluster knows
// the folder, and the instructions that gcluster points to. A plan goes in, the
// three files come out.
package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Files returns .ghpc/artifacts/expanded_blueprint.yaml, README.md and
// instructions.txt. The README takes for granted that the other emitters' files stand beside it.
func Files(p *ir.Platform) ([]emit.File, error) {
	artefact, err := ghpc(p.Name, p.Project, p.Region)
	if err != nil {
		return nil, err
	}
	return []emit.File{
		{Path: ".ghpc/artifacts/expanded_blueprint.yaml", Content: artefact},
		{Path: "README.md", Content: readme(p)},
		{Path: "instructions.txt", Content: instructions(p)},
	}, nil
}
