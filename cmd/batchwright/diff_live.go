package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/handover"
	"github.com/batchwright/batchwright/emit/review"
	"github.com/batchwright/batchwright/emit/review/live"
)

// compareLive compares exports of a cluster that runs with the folder that the blueprint
// compiles to.
func (d *comparison) compareLive(ctx context.Context, paths []string) error {
	if slices.Contains(d.live, "") {
		return usageErrorf("--live: the name is empty; is a variable unset?")
	}
	if slices.ContainsFunc(d.live, isStdin) && slices.ContainsFunc(paths, isStdin) {
		return usageErrorf("standard input cannot be both the blueprint and an export")
	}
	files, err := d.readExports(ctx, d.live)
	if err != nil {
		return err
	}
	end := d.meter.enter(progress.Importing)
	export, mistakes, err := exports.Read(files, exports.Comparison)
	end()
	if err != nil {
		return err
	}
	if err := d.writeLiveFindings(&mistakes); err != nil {
		return err
	}
	if mistakes.HasErrors() {
		return errors.New("the exports cannot be compared: " + strings.Join(d.live, ", "))
	}
	after, err := d.compileAfter(ctx, paths)
	if err != nil {
		return err
	}
	end = d.meter.enter(progress.Comparing)
	changes, err := live.Compare(live.Folder{Tree: after.Tree, Plan: after.Plan, Place: after.place}, export)
	end()
	if err != nil {
		return err
	}
	if err := d.writeLiveFindings(&changes.Findings); err != nil {
		return err
	}
	if d.handover != "" {
		if err := d.writeHandover(after.Plan.Name, changes); err != nil {
			return err
		}
	}
	r := review.CompareLive("the cluster", after.State, changes)
	// Unlike a comparison of folders, it says what was compared even if nothing changes.
	if err := d.writeReview(r, d.folderPath(after.Plan)); err != nil {
		return err
	}
	switch {
	case !r.Same():
		return errFindings
	case changes.Facts.Unchanged == 0:
		return errors.New("nothing was compared: the exports and the folder have no kind in common")
	}
	return nil
}

// writeLiveFindings writes findings about exports: as annotations for GitHub, and
// otherwise as messages.
func (d *comparison) writeLiveFindings(l *diag.List) error {
	switch d.format.value {
	case formatGitHub:
		return d.writeFindings(d.Stdout, l, formatGitHub)
	case formatJSON:
		if l.Len() == 0 {
			return nil
		}
		return d.writeFindings(d.Stderr, l, formatJSON)
	}
	return d.showText(l)
}

// writeHandover writes the folder for the owners of running objects that the platform takes over.
func (d *comparison) writeHandover(platform string, changes *live.Result) error {
	if _, err := os.Lstat(filepath.Join(d.handover, filepath.FromSlash(emit.IdentityPath))); err == nil {
		return usageErrorf("--handover %s: that is a deploy folder; choose another directory", d.handover)
	}
	tree, err := handover.Files(platform, changes.Foreign, changes.Unexported.Kinds, changes.Unexported.Command)
	if err != nil {
		return err
	}
	manifest, err := disk.Manifest(tree)
	if err != nil {
		return err
	}
	// The manifest is in a folder whose name begins with a dot, so it is the first file.
	report, err := disk.Write(d.handover, append(emit.Tree{manifest}, tree...), disk.WriteOptions{})
	switch {
	case errors.Is(err, disk.ErrNotFolder):
		return usageErrorf("--handover: %s is not a directory", d.handover)
	case errors.Is(err, disk.ErrConflict):
		return d.showConflicts(d.handover, report.Conflicts, "move the file, or choose another directory")
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(d.Stderr, "%s: %s to hand over\n", inFolder(d.handover, "README.md"),
		words.Count(len(changes.Foreign), "object"))
	return err
}
