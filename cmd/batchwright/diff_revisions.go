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
	prefix       string                                   // of the names of files in findings, "" for the disk
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
	missing := dropMissingPaths(before, after, paths)
	collectLess(2)
	var group errgroup.Group
	for _, s := range []*side{before, after} {
		group.Go(func() error { return d.compileSide(ctx, s) })
	}
	if err := cmp.Or(group.Wait(), repository.readError()); err != nil {
		return err
	}
	if err := d.settleBase(repository, before, after); err != nil {
		return err
	}
	if err := d.tellMissing(missing, before, after); err != nil {
		return err
	}
	return d.reviewSides(ctx, before, after)
}

// settleBase decides what the earlier state is: the committed folder or, without one, the
// compiled blueprint. A side without a blueprint and a folder gets an empty platform. If a
// required side does not compile, settleBase shows its findings and returns an error.
func (d *comparison) settleBase(r *repository, before, after *side) error {
	if after.findings.HasErrors() || before.findings.HasErrors() && after.absent {
		return d.showFindings(before, after)
	}
	if err := d.useCommitted(r, before, after.Plan); err != nil {
		return err
	}
	if before.findings.HasErrors() && before.Base.Folder == "" {
		return d.showFindings(before)
	}
	for _, s := range []*side{before, after} {
		if s.absent && s.Tree == nil {
			s.Plan = &ir.Platform{Name: cmp.Or(after.Plan, before.Plan).Name}
		}
	}
	return nil
}

// reviewSides compares two sides and prints the review.
func (d *comparison) reviewSides(ctx context.Context, before, after *side) (err error) {
	r := d.compareStates(before.State, after.State)
	if d.format.value == formatSARIF {
		if before.findings.HasErrors() { // most findings of the base are not known
			return d.showFindings(before)
		}
		return d.printNewFindings(before, after, r.Same())
	}
	if before.Plan == nil && d.prices != "" {
		r.CostUnknown = "the earlier blueprint cannot be compiled"
	}
	if before.Plan != nil {
		if before.Plan.Absent() || after.Plan.Absent() { // properties that every platform has did not change
			r.Summary = slices.DeleteFunc(r.Summary, func(l summary.Line) bool { return l.Op == delta.Changed })
		}
		if r.Findings, err = reviewFindings(before, after); err != nil {
			return err
		}
		if err := d.addCost(ctx, r, before.Plan, after.Plan); err != nil {
			return err
		}
		if !r.Same() && !before.Plan.Absent() && !after.Plan.Absent() {
			r.Played = d.playSamples(ctx, before, after)
		}
	}
	if d.rehearse && !r.Same() {
		return d.printRehearsed(ctx, r, before, after)
	}
	shown := d.printReview(r, d.folderPath(cmp.Or(after.Plan, before.Plan)), r.Same())
	if errors.Is(shown, errFindings) && ctx.Err() != nil {
		return ctx.Err() // the sample jobs were not played to their end
	}
	return shown
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

// dropMissingPaths removes the paths that a side does not have, and returns those that the
// earlier side lacks. A path is missing if the blueprint is new or was removed, or if the base
// does not have an overlay yet. A path that neither side has stays in one of them, so that the
// compiler reports it.
func dropMissingPaths(before, after *side, paths []string) (lacking []string) {
	var kept []string
	isLater := false // the later side has a path
	for i, p := range paths {
		if before.hasPath(i) {
			kept = append(kept, before.paths[i])
		} else {
			lacking = append(lacking, p)
		}
		isLater = isLater || after.hasPath(i)
	}
	switch {
	case !isLater && len(kept) == 0:
		before.absent = true
		return nil
	case !isLater:
		after.absent = true
		return nil
	case len(kept) == 0:
		before.absent = true
	case len(lacking) > 0:
		before.paths = kept
	}
	return lacking
}

// tellMissing prints which paths a side does not have, and what it is compared with.
func (d *comparison) tellMissing(lacking []string, before, after *side) error {
	var err error
	say := func(s *side, paths []string, consequence string) {
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: %s\n", s.Label, strings.Join(paths, " "), consequence)
	}
	switch {
	case after.absent:
		say(after, after.paths, "all of it is removed")
	case before.absent && before.Base.Folder != "":
		say(before, lacking, "compared with the folder "+before.Base.Folder+", which is committed there")
	case before.absent:
		say(before, lacking, "all of it is added")
	case len(lacking) > 0:
		say(before, lacking, "compared without it")
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
		s.prefix = s.Label + ":"
		s.findings = *s.findings.Named(func(name string) string { return s.prefix + name })
	}
	if s.Plan != nil {
		startRendering(at, s.Plan)
		s.Tree, err = folder.Build(s.Plan)
	}
	return err
}
