package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review"
)

// useCommitted replaces the compiled folder of the earlier side by the folder that is committed
// there: what the platform was built from. The side's Base says which folder that is, or why the
// blueprint is compiled instead.
func (d *comparison) useCommitted(r *repository, before *side, after *ir.Platform) error {
	base := &review.Base{Version: thisVersion().brief()}
	before.Base = base
	plan := cmp.Or(before.Plan, after)
	dir, reason, err := d.findCommitted(r, before, plan)
	if err != nil || reason != "" {
		base.Reason = reason
		return err
	}
	files, err := fs.Sub(before.files, dir)
	if err != nil {
		return err
	}
	committed, err := disk.ReadRevision(files, before.Tree)
	if failed := r.readError(); failed != nil {
		return failed
	}
	if err != nil {
		base.Reason = fmt.Sprintf("the folder %s cannot be read in %s, perhaps because a later version wrote it: %s",
			dir, before.Label, err)
		return nil
	}
	base.Folder = dir
	if manifest, err := fs.ReadFile(files, emit.ManifestPath); err == nil && hasManifest(before.Tree, manifest) {
		base.Edited = editedFiles(committed.Tree, before.Tree)
	} else {
		for _, f := range committed.Differences {
			if f.Problem == disk.Edited || f.Problem == disk.Missing {
				base.Edited = append(base.Edited, f.Path)
			}
		}
	}
	switch {
	case before.Plan != nil:
		before.Compiled = before.Tree
	case before.absent:
		base.Unplanned = fmt.Sprintf("%s does not have the blueprint", before.Label)
	default:
		base.Unplanned = fmt.Sprintf("the blueprint in %s has %s with this version", before.Label,
			words.Count(before.findings.Count(diag.Error), "error"))
	}
	before.Tree = committed.Tree
	return nil
}

// findCommitted returns the path of the folder that is committed on a side for a platform, or the
// reason why there is none. If the folder is not where it is expected, for example because the
// change renames it, the only folder of the platform in the revision is taken.
func (d *comparison) findCommitted(r *repository, s *side, plan *ir.Platform) (dir, reason string, err error) {
	expected, err := r.revisionPath(d.folderPath(plan))
	if err != nil { // outside the repository
		return "", fmt.Sprintf("the folder %s is outside the repository", d.folderPath(plan)), nil
	}
	switch owner, err := folderOwner(s.files, expected); {
	case err == nil && owner.Is(plan):
		return expected, "", nil
	case err == nil:
		return "", fmt.Sprintf("the folder %s belongs to another platform in %s: %s", expected, s.Label, owner), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Sprintf("the folder %s cannot be read in %s: %s", expected, s.Label, err), nil
	}
	all, err := r.findFiles(s.Label, "/"+emit.ManifestPath)
	if err != nil {
		return "", "", err
	}
	var found []string
	for _, name := range all {
		dir := strings.TrimSuffix(name, "/"+emit.ManifestPath)
		if owner, err := folderOwner(s.files, dir); err == nil && owner.Is(plan) {
			found = append(found, dir)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Sprintf("there is no folder %s in %s", expected, s.Label), nil
	case 1:
		return found[0], "", nil
	}
	return "", fmt.Sprintf("there is no folder %s in %s, and there are %s of the platform: %s; --output names one",
		expected, s.Label, words.Count(len(found), "folder"), words.First(found, 4)), nil
}

// folderOwner reads to which platform a folder of a revision belongs.
func folderOwner(files fs.FS, dir string) (folder.Owner, error) {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		return folder.Owner{}, err
	}
	return folder.OwnerOf(sub)
}

// findFiles returns the paths in a revision that end with a suffix, sorted.
func (r *repository) findFiles(revision, suffix string) ([]string, error) {
	out, err := r.runGit("ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", revision)
	if err != nil {
		return nil, err
	}
	var found []string
	for name := range bytes.SplitSeq([]byte(out), []byte{0}) {
		if strings.HasSuffix(string(name), suffix) {
			found = append(found, string(name))
		}
	}
	slices.Sort(found)
	return found, nil
}
