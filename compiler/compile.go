// Package compiler turns a blueprint into the plan of a platform.
//
// Files come in and an ir.Platform goes out, with one list of findings. Compile
// calls the stages in order: package load reads the files with CUE, package
// blueprint compares them with the schema, package lower resolves every default,
// name and reference, and package rules checks the blueprint and the plan. Each
// stage adds its findings and passes on the best result that it has. The package
// itself knows only the order of the stages, the limits of time and memory, and the
// codes.
package compiler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/lower"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Input says what to compile.
type Input struct {
	// Dir is the working directory, absolute. File names in findings are
	// relative to it.
	Dir string
	// Paths are directories (one CUE package each), .cue, .yaml, .yml and .json
	// files, "-" for standard input in CUE or JSON, and "yaml:-" for standard input
	// in YAML. Together they are one blueprint. An empty list means Dir.
	Paths []string
	// Tags are values for @tag attributes, "key=value", and conditions for
	// @if, "key".
	Tags []string
	// Files, if not nil, is read instead of the disk. Dir is then ignored: Paths,
	// and file names in findings, are relative to the root of Files. If Files
	// follows symbolic links, its fs.Sub must reject links that lead out, because a
	// module may embed only its own files.
	Files fs.FS
	// Unsaved is the content of files, by absolute name, that is read instead of
	// their content on the disk: the buffers of an editor. The files need not exist
	// on the disk. It has no effect on Files.
	Unsaved map[string][]byte
	// Stdin is read for "-"; nil means empty input. It is read to its end before
	// anything else is done.
	Stdin io.Reader

	// MaxTime is the longest time that the compilation may take after standard input
	// is read. MaxMemory is the most memory, in bytes, that the process may hold
	// meanwhile. Zero means DefaultMaxTime and DefaultMaxMemory.
	MaxTime   time.Duration
	MaxMemory int64
	// RefuseUnbounded makes Compile return an UnboundedError, before evaluation, for
	// a blueprint whose texts can outgrow MaxMemory in one step, because nothing in
	// this process can stop such a step. The caller can then start a process whose
	// memory the operating system limits.
	RefuseUnbounded bool
	// Progress, if not nil, is told how far the compilation is. It stays Idle until
	// standard input is read.
	Progress *progress.Progress
}

// compilation is one run of Compile. The goroutine that watches the memory reads it
// during the run.
type compilation struct {
	Input
	suspect atomic.Pointer[diag.Span] // a text that can outgrow MaxMemory
}

// Result is the result of compiling an Input.
type Result struct {
	// Plan is the whole platform. It is nil if Findings has errors.
	Plan *ir.Platform
	// Findings are the user's mistakes, warnings and notes.
	Findings diag.List
	// OutOfMemory reports whether the compilation exceeded MaxMemory, which is then the
	// only finding.
	OutOfMemory bool
	// Place returns the place of a field that the blueprint sets, for findings of later
	// stages: the place of its name if key is true, otherwise of its value. An element of
	// a list is diag.Index. It is nil if Plan is nil.
	Place func(key bool, path ...string) diag.Span
}

// Compile compiles a blueprint. The user's mistakes, including unreadable files, are
// findings. The error is a failure of the compiler itself, or ctx is done. The
// result is never nil.
//
// A blueprint that takes too much time or memory is a finding, too. Unless
// RefuseUnbounded is set, the process can exceed the memory limit several times over
// if a single text of the blueprint is longer than the limit. Evaluation cannot be
// stopped: after a limit is exceeded or ctx is done, it goes on in the background,
// so the caller should end the process soon.
func Compile(ctx context.Context, in Input) (*Result, error) {
	in.MaxTime = cmp.Or(in.MaxTime, DefaultMaxTime)
	in.MaxMemory = cmp.Or(in.MaxMemory, DefaultMaxMemory)
	if len(in.Paths) == 0 {
		in.Paths = []string{"."}
	}
	c := &compilation{Input: in}
	request := in.loadInput()
	return c.runWithinLimits(ctx, func() (*Result, error) { return c.runStages(ctx, request) })
}

// loadInput returns the part of the input that package load reads. It reads standard
// input to its end.
func (in Input) loadInput() load.Input {
	return load.Input{
		Dir: in.Dir, Paths: in.Paths, Tags: in.Tags, Files: in.Files, Unsaved: in.Unsaved,
		Stdin: load.ReadStdin(in.Stdin, in.Paths),
	}
}

func (c *compilation) runStages(ctx context.Context, in load.Input) (*Result, error) {
	res := &Result{}
	if c.Progress != nil {
		res.Findings.Observe(c.countFinding)
	}
	c.Progress.Start(progress.Reading, "")
	loader, err := load.Read(in, &res.Findings)
	if err != nil || loader == nil {
		return res, errors.Join(err, ctx.Err())
	}
	if at := loader.BoundGrowth(c.MaxMemory); at.Valid() {
		c.suspect.Store(&at)
		if c.RefuseUnbounded {
			return res, &UnboundedError{c.memoryFinding()}
		}
	}
	checked, err := blueprint.Check(ctx, loader, &res.Findings, c.Progress)
	if err != nil {
		return res, err
	}
	if checked.Blueprint == nil {
		if !res.Findings.HasErrors() {
			return res, errors.New("a blueprint was refused without a finding")
		}
		return res, nil
	}
	c.Progress.Start(progress.Planning, "")
	plan, err := lower.Blueprint(checked.Blueprint)
	if err != nil {
		return res, err
	}
	rules.Run(&rules.Pass{
		Blueprint: checked.Blueprint, Plan: plan, Broken: checked.Broken, Misnamed: checked.Misnamed,
		Rest: checked.Rest, Valid: checked.Valid,
		NamesOnly: !checked.Whole, Misfiled: checked.Misfiled,
		Place: checked.Place, Written: checked.Written, Tag: checked.Tag, Embedded: checked.Embedded,
		Sources: checked.Sources, Findings: &res.Findings, Progress: c.Progress,
	})
	if !res.Findings.HasErrors() {
		res.Plan, res.Place = plan, checked.Place
	}
	return res, ctx.Err()
}

// countFinding counts a finding that its reader will see. Commands hide notes.
func (c *compilation) countFinding(f diag.Finding) {
	if f.Severity != diag.Note {
		c.Progress.Find()
	}
}

// UnboundedError is the error for a blueprint that must be evaluated only in a
// process whose memory the operating system limits.
type UnboundedError struct {
	// Finding is the finding to report if that process exceeds the limit.
	Finding diag.Finding
}

func (e *UnboundedError) Error() string {
	return fmt.Sprintf("a text in %s can outgrow the memory limit", e.Finding.Span.Source.Name)
}
