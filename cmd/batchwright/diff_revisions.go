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
}

// workingTree returns the side for the files on the disk.
func workingTree(paths []string) *side {
	return &side{paths: paths, State: review.State{Label: "the working tree"}}
}

// revisions compares two revisions, or one revision with the working tree.
func (d *comparison) revisions(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	repository, err := openRepository(ctx, ".")
	if err != nil {
		return err
	}
	defer repository.Close()
	before, err := revision(repository, d.base, paths)
	if err != nil {
		return err
	}
	after := workingTree(paths)
	if d.head != "" {
		if after, err = revision(repository, d.head, paths); err != nil {
			return err
		}
	}
	if err := d.present(before, after, paths); err != nil {
		return err
	}

	sides := []*side{before, after}
	collectLess(2)
	var group errgroup.Group
	for _, s := range sides {
		group.Go(func() error { return d.compile(ctx, s) })
	}
	if err := cmp.Or(group.Wait(), repository.trouble()); err != nil {
		return err
	}
	if before.findings.HasErrors() || after.findings.HasErrors() {
		return d.refuse(before, after)
	}
	plan := cmp.Or(after.Plan, before.Plan)
	for _, s := range sides {
		if s.absent {
			s.Plan = &ir.Platform{Name: plan.Name}
		}
	}
	r := review.Compare(before.State, after.State)
	if before.absent || after.absent { // properties that every platform has did not change
		r.Summary = slices.DeleteFunc(r.Summary, func(l summary.Line) bool { return l.Op == delta.Changed })
	}
	return d.print(r, d.folder(plan), r.Same())
}

// revision returns the side for a revision, with the same paths.
func revision(r *repository, name string, paths []string) (*side, error) {
	tree, err := r.tree(name)
	if err != nil {
		return nil, err
	}
	s := &side{files: tree, State: review.State{Label: name}}
	for _, p := range paths {
		p, err := r.path(p)
		if err != nil {
			return nil, err
		}
		s.paths = append(s.paths, p)
	}
	return s, nil
}

// present removes the paths that a side does not have, and prints a message: those
// of a blueprint that is new or was removed, and overlays that the base does not
// have yet. A path that neither side has stays in one of them, so that the compiler
// reports it.
func (d *comparison) present(before, after *side, paths []string) error {
	var had, has []int
	for i := range paths {
		if before.holds(i) {
			had = append(had, i)
		}
		if after.holds(i) {
			has = append(has, i)
		}
	}
	var err error
	switch {
	case len(had) == 0 && len(has) == 0:
		before.absent = true
	case len(has) == 0:
		after.absent = true
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: all of it is removed\n", after.Label, strings.Join(paths, " "))
	case len(had) == 0:
		before.absent = true
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: all of it is added\n", before.Label, strings.Join(paths, " "))
	case len(had) < len(paths):
		var kept, lacking []string
		for i, p := range before.paths {
			if slices.Contains(had, i) {
				kept = append(kept, p)
			} else {
				lacking = append(lacking, paths[i])
			}
		}
		before.paths = kept
		_, err = fmt.Fprintf(d.Stderr, "%s has no %s: compared without it\n", before.Label, strings.Join(lacking, " "))
	}
	return err
}

// holds reports whether there is a file, or a directory of CUE files, at path i. It
// reports true for an unreadable path, so that the compiler explains the error.
func (s *side) holds(i int) bool {
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

// compile compiles a side and renders its folder.
func (d *comparison) compile(ctx context.Context, s *side) (err error) {
	// Main does not recover a panic in another goroutine.
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("a bug: %v\n\n%s", bug, debug.Stack())
		}
	}()
	if s.absent {
		return nil
	}
	in := compiler.Input{Files: s.files, Paths: s.paths}
	if s.files == nil {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		in.Dir, in.Stdin = dir, interruptible{ctx, d.Stdin}
	}
	res, err := d.input.compile(ctx, in)
	if err != nil {
		return err
	}
	s.Plan, s.findings = res.Plan, res.Findings
	if s.files != nil {
		s.findings = *s.findings.Named(func(name string) string { return s.Label + ":" + name })
	}
	if s.Plan != nil {
		s.Tree, err = folder.Build(s.Plan)
	}
	return err
}
