// Package compiler turns a blueprint into a plan.
//
// Files come in; load reads them with CUE, check holds them against the
// schema, the Go types of package schema carry the result to lower, which
// resolves every default, name and reference into an ir.Platform, and the
// rules look at both. Every stage adds its findings to one list and hands on
// the best it has.
package compiler

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

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
	// Files, if not nil, are read instead of those of the disk. Dir has no
	// meaning then: Paths are relative to the root of Files, and so are file
	// names in findings. Where it follows symbolic links, its fs.Sub must refuse
	// those that lead out, as a module may embed only its own files.
	Files fs.FS
	// Stdin is read for "-"; nil reads as empty. It is read to its end before
	// anything else is done.
	Stdin io.Reader

	// MaxTime is how long the compilation may take once standard input is
	// read, and MaxMemory how much memory, in bytes, the process may hold
	// meanwhile. Zero stands for DefaultMaxTime and DefaultMaxMemory.
	MaxTime   time.Duration
	MaxMemory int64
	// RefuseUnbounded makes Compile return an UnboundedError, before evaluation,
	// for a blueprint whose texts can outgrow MaxMemory in one step: nothing in
	// this process can stop that step. The caller then starts a process whose
	// memory the operating system limits.
	RefuseUnbounded bool
}

// compilation is one run of Compile. The guard reads it while compile runs.
type compilation struct {
	Input
	suspect atomic.Pointer[diag.Span] // a text that can outgrow MaxMemory
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
// done. The result is never nil.
//
// A blueprint that takes too much time or memory is a finding, too; the memory
// is exceeded, by several times if need be, where one text of the blueprint is
// longer than that, unless RefuseUnbounded is set. Evaluation
// cannot be stopped: it then goes on behind the caller's back, as it does when
// ctx is done, and the caller had better end the process soon.
func Compile(ctx context.Context, in Input) (*Result, error) {
	in.MaxTime = cmp.Or(in.MaxTime, DefaultMaxTime)
	in.MaxMemory = cmp.Or(in.MaxMemory, DefaultMaxMemory)
	if len(in.Paths) == 0 {
		in.Paths = []string{"."}
	}
	c := &compilation{Input: in}
	stdin := readStdin(in)
	return c.guard(ctx, func() (*Result, error) { return c.compile(ctx, stdin) })
}

func (c *compilation) compile(ctx context.Context, stdin stdin) (*Result, error) {
	res := &Result{}
	loader, err := load(c.Input, stdin, &res.Findings)
	if err != nil || loader == nil {
		return res, errors.Join(err, ctx.Err())
	}
	if at := boundGrowth(loader.inst, loader.sources, c.MaxMemory); at.Valid() {
		c.suspect.Store(&at)
		if c.RefuseUnbounded {
			return res, &UnboundedError{c.memoryFinding()}
		}
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
		Blueprint: checked.blueprint, Plan: plan, Broken: checked.broken, NamesOnly: !checked.whole,
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
