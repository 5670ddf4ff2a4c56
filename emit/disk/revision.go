package disk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/batchwright/batchwright/emit"
)

// ReadRevision reads a folder that version control keeps, and compares it with a tree, as Read
// does for a folder on the disk. Files that neither the manifest nor the tree lists are ignored,
// and so is the mode of files except whether they are executable.
//
// The error is fs.ErrNotExist if there is no manifest: the folder is not there, or batchwright did
// not write it. Another error says why the manifest cannot be read, for example because a later
// version of batchwright wrote it.
func ReadRevision(folder fs.FS, tree emit.Tree) (Folder, error) {
	content, err := fs.ReadFile(folder, emit.ManifestPath)
	if err != nil {
		return Folder{}, err
	}
	manifests, err := parseManifests(content)
	if err != nil {
		return Folder{}, fmt.Errorf("%s: %w", emit.ManifestPath, err)
	}
	known := history{}
	for _, m := range manifests {
		known.addManifest(m)
	}
	generated := map[string]emit.File{}
	for _, f := range tree {
		if f.Path != emit.ManifestPath {
			generated[f.Path] = f
			known[f.Path] = append([]string{}, known[f.Path]...)
		}
	}
	var out Folder
	for name, sums := range known {
		f := emit.File{Path: name}
		info, err := fs.Stat(folder, name)
		switch {
		case err == nil && info.Mode().IsRegular():
			f.Mode = info.Mode().Perm()
			f.Content, err = fs.ReadFile(folder, name)
		case err == nil:
			err = fs.ErrNotExist // a directory in its place
		}
		if errors.Is(err, fs.ErrNotExist) {
			problem := Outdated // it was not generated yet
			if len(sums) > 0 {
				problem = Missing
			}
			if _, ok := generated[name]; ok {
				out.Differences = append(out.Differences, Difference{name, problem})
			}
			continue
		}
		if err != nil {
			return Folder{}, err
		}
		out.Tree = append(out.Tree, f)
		if problem := committedProblem(f, generated, sums); problem != "" {
			out.Differences = append(out.Differences, Difference{name, problem})
		}
	}
	slices.SortFunc(out.Tree, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(out.Differences, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// committedProblem says how a file differs from the generated ones; "" if it does not. sums are
// the hashes of what batchwright has left there.
func committedProblem(f emit.File, generated map[string]emit.File, sums []string) Problem {
	now, still := generated[f.Path]
	switch {
	case still && bytes.Equal(f.Content, now.Content):
		if isExecutable(f.Mode) != isExecutable(now.Mode) {
			return Outdated
		}
		return ""
	case len(sums) == 0:
		return Foreign
	case !slices.Contains(sums, hashContent(f.Content)):
		return Edited
	case still:
		return Outdated
	}
	return Stale
}
