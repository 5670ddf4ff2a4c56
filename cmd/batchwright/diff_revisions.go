package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// side is one of the two sides of a comparison: a revision, the working tree, or the
// folder.
type side struct {
	files  fs.FS // files of a revision; nil for the disk
	paths  []string
	absent bool // the side has no blueprint

	review.State // without plan and tree if the side does not compile
	findings     diag.List
	place        func(key bool, path ...string) diag.Span // as in compiler.Result
}

// workingTree returns the side for the files on the disk.
func workingTree(paths []string) *side {
	return &side{paths: paths, State: review.State{Label: "the working tree"}}
}

// compareRevisions compares two revisions, or one revision with the working tree.
func (d *comparison) compareRevisions(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	repository, err := openRepository(ctx, ".")
	if err != nil {
		return err
	}
	defer repository.Close()
	before, err := revisionSide(repository, d.base, paths)
	if err != nil {
		return err
	}
	after := workingTree(paths)
	if d.head != "" {
		if after, err = revisionSide(repository, d.head, paths); err != nil {
			return err
		}
	}
	if err := d.dropMissingPaths(before, after, paths); err != nil {
		return err
	}

	sides := []*side{before, after}
	collectLess(2)
	var group errgroup.Group
	for _, s := range sides {
		group.Go(func() error { return d.compileSide(ctx, s) })
	}
	if err := cmp.Or(group.Wait(), repository.readError()); err != nil {
		return err
	}
	if before.findings.HasErrors() || after.findings.HasErrors() {
		return d.showFindings(before, after)
	}
	plan := cmp.Or(after.Plan, before.Plan)
	for _, s := range sides {
		if s.absent {
			s.Plan = &ir.Platform{Name: plan.Name}
		}
	}
	r := d.compareStates(before.State, after.State)
	if before.absent || after.absent { // properties that every platform has did not change
		r.Summary = slices.DeleteFunc(r.Summary, func(l summary.Line) bool { return l.Op == delta.Changed })
	}
	if r.Cost, err = d.costOf(ctx, before.Plan, after.Plan); err != nil {
		return err
	}
	if d.rehearse && !r.Same() {
		return d.printRehearsed(ctx, r, before, after)
	}
	return d.printReview(r, d.folderPath(plan), r.Same())
}

// compareStates compares two sides.
func (d *comparison) compareStates(before, after review.State) *review.Review {
	defer d.meter.enter(progress.Comparing)()
	return review.Compare(before, after)
}

// revisionSide returns the side for a revision, with the same paths.
func revisionSide(r *repository, name string, paths []string) (*side, error) {
	tree, err := r.readTree(name)
	if err != nil {
		return nil, err
	}
	s := &side{files: tree, State: review.State{Label: name}}
	for _, p := range paths {
		p, err := r.revisionPath(p)
		if err != nil {
			return nil, err
		}
		s.paths = append(s.paths, p)
	}
	return s, nil
}

// dropMissingPaths removes the paths that a side does not have, and prints a message.
// A path is missing if the blueprint is new or was removed, or if the base does not
// have an overlay yet. A path that neither side has stays in one of them, so that
// the compiler reports it.
func (d *comparison) dropMissingPaths(before, after *side, paths []string) error {
	var kept, lacking []string
	isLater := false // the later side has a path
	for i, p := range paths {
		if before.hasPath(i) {
			kept = append(kept, before.paths[i])
		} else {
			lacking = append(lacking, p)
		}
		isLater = isLater || after.hasPath(i)
	}
	var err error
	switch {
	case !isLater && len(kept) == 0:
		before.absent = true
	case !isLater:
		after.absent = true
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: all of it is removed\n", after.Label, strings.Join(paths, " "))
	case len(kept) == 0:
		before.absent = true
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: all of it is added\n", before.Label, strings.Join(paths, " "))
	case len(lacking) > 0:
		before.paths = kept
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: compared without it\n", before.Label, strings.Join(lacking, " "))
	}
	return err
}

// hasPath reports whether there is a file, or a directory of CUE files, at path i. It
// reports true for an unreadable path, so that the compiler explains the error.
func (s *side) hasPath(i int) bool {
	files, name := s.files, s.paths[i]
	if files == nil {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return true
		}
		files, name = os.DirFS(filepath.Dir(absolute)), filepath.Base(absolute)
	}
	info, err := fs.Stat(files, name)
	if err != nil || !info.IsDir() {
		return !errors.Is(err, fs.ErrNotExist)
	}
	entries, err := fs.ReadDir(files, name)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) == ".cue" })
}

// compileSide compiles a side and renders its folder.
func (d *comparison) compileSide(ctx context.Context, s *side) (err error) {
	// Main does not recover a panic in another goroutine.
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("a bug: %v\n\n%s", bug, debug.Stack())
		}
	}()
	if s.absent {
		return nil
	}
	label := ""
	if d.base != "" {
		label = s.Label // two sides are compiled at once
	}
	at, end := d.meter.start(label)
	defer end()
	in := compiler.Input{Files: s.files, Paths: s.paths, Progress: at}
	if s.files == nil {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		in.Dir, in.Stdin = dir, interruptible{ctx, d.Stdin}
	}
	res, err := d.compileInput(ctx, in)
	if err != nil {
		return err
	}
	s.Plan, s.findings, s.place = res.Plan, res.Findings, res.Place
	if s.files != nil {
		s.findings = *s.findings.Named(func(name string) string { return s.Label + ":" + name })
	}
	if s.Plan != nil {
		startRendering(at, s.Plan)
		s.Tree, err = folder.Build(s.Plan)
	}
	return err
}
