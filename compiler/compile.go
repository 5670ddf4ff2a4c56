// Package compiler turns a blueprint into a plan.
//
// Files come in; load reads them with CUE, check holds them against the
// schema, the Go types of package schema carry the result to lower, which
// resolves every default, name and reference into an ir.Platform, and the
// rules look at both. Every stage adds its findings to one list and hands on
// the best it has.
package compiler

import (
	"context"
	"errors"
	"io"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/inject/embed"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Input says what to compile.
type Input struct {
	// Dir is the working directory, absolute. File names in findings are
	// relative to it.
	Dir string
	// Paths are directories (one CUE package each), .cue, .yaml, .yml and
	// .json files, and "-" for standard input in CUE or JSON, "yaml:-" in
	// YAML. All of them make one blueprint. None stands for Dir.
	Paths []string
	// Tags are values for @tag attributes, "key=value", and conditions for
	// @if, "key".
	Tags []string
	// Stdin is read for "-"; nil reads as empty.
	Stdin io.Reader
}

// Result is what became of an Input.
type Result struct {
	// Plan is the whole platform, nil when Findings has errors.
	Plan *ir.Platform
	// Findings are the mistakes and remarks.
	Findings diag.List
}

// Compile compiles a blueprint. The user's mistakes, unreadable files among
// them, are findings; the error is for trouble of our own, and for ctx being
// done.
func Compile(ctx context.Context, in Input) (*Result, error) {
	res := &Result{}
	sources := &sources{dir: in.Dir}
	loader, err := load(in, sources, &res.Findings)
	if err != nil || loader == nil {
		return res, errors.Join(err, ctx.Err())
	}
	checked, err := check(ctx, newContext(), loader, &res.Findings)
	if err != nil {
		return res, err
	}
	if checked.blueprint == nil {
		if !res.Findings.HasErrors() {
			return res, errors.New("a blueprint was refused without a finding")
		}
		return res, nil
	}
	plan := lower(checked.blueprint)
	rules.Run(&rules.Pass{
		Blueprint: checked.blueprint, Plan: plan, Broken: checked.broken,
		Place: checked.locate.place, Written: checked.locate.written, Findings: &res.Findings,
	})
	if !res.Findings.HasErrors() {
		res.Plan = plan
	}
	return res, ctx.Err()
}

// newContext returns a CUE context for one run: a context keeps all that it
// evaluated.
func newContext() *cue.Context {
	return cuecontext.New(cuecontext.WithInjection(embed.New()))
}
