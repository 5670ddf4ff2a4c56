// Package folder gathers the output of all emitters for a plan into one deploy
// folder.
package folder

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/cloudbuild"
	"github.com/batchwright/batchwright/emit/dashboard"
	"github.com/batchwright/batchwright/emit/demonstration"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/gitops"
	"github.com/batchwright/batchwright/emit/guide"
	"github.com/batchwright/batchwright/emit/kubernetes"
	"github.com/batchwright/batchwright/emit/terraform"
	"github.com/batchwright/batchwright/emit/workload"
)

// emitter renders one part of the folder. It must not change the plan.
type emitter struct {
	name  string
	files func(*ir.Platform) ([]emit.File, error)
}

// Build renders the whole deploy folder of a platform, sorted by path, with the
// manifest of its files. It does not change the plan. Every error is a bug in
// batchwright, never a mistake in the blueprint. That includes an unknown scheduler or
// GitOps tool, a path that two emitters claim, and a path that leads out of the folder.
func Build(p *ir.Platform) (emit.Tree, error) {
	if err := p.Scheduler.Check(); err != nil {
		return nil, err
	}
	if err := p.Delivery.GitOps.Tool.Check(); err != nil {
		return nil, err
	}
	tree, err := runEmitters(p, []emitter{
		{"cloudbuild", cloudbuild.Files},
		{"dashboard", dashboard.Files},
		{"demonstration", demonstration.Files},
		{"gitops", gitops.Files},
		{"guide", guide.Files},
		{"kubernetes", kubernetes.Files},
		{"terraform", terraform.Files},
		{"workload", workload.Files},
	})
	for _, f := range tree {
		if err == nil && !Owns(f.Path) {
			err = fmt.Errorf("%q is not among the names at the top of a folder", f.Path)
		}
	}
	return tree, err
}

// runEmitters runs the emitters in parallel.
func runEmitters(p *ir.Platform, emitters []emitter) (emit.Tree, error) {
	parts := make([][]emit.File, len(emitters))
	err := emit.InParallel(len(emitters), func(i int) error {
		var err error
		if parts[i], err = emitters[i].files(p); err != nil {
			return fmt.Errorf("emitting %s: %w", emitters[i].name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tree := emit.Tree(slices.Concat(parts...))
	manifest, err := disk.Manifest(tree)
	if err != nil {
		return nil, err
	}
	tree = append(tree, manifest)
	slices.SortFunc(tree, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	return tree, tree.Check()
}
