// Package emit holds the compiled folder in memory.
//
// Each package below it renders one format from the plan. Package folder gathers
// the files into a Tree, and package disk writes it.
// The packages below emit/review add nothing to the folder: they read plans and
// trees, and explain changes to a reviewer.
package emit

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

const (
	// OwnDir is the directory of a folder that holds batchwright's own files.
	OwnDir = ".batchwright"
	// ManifestPath is the file that lists the files that batchwright has written to
	// a folder.
	ManifestPath = OwnDir + "/manifest.json"
	// IdentityPath is the file that says to which platform a folder belongs, as the deploy
	// folders of Cluster Toolkit do.
	IdentityPath = ".ghpc/artifacts/expanded_blueprint.yaml"
)

// File is one generated file.
type File struct {
	Path    string // slash-separated, relative to the deploy folder
	Content []byte
	Mode    fs.FileMode // 0 stands for 0644
}

// Tree is a deploy folder: its files sorted by path, each path once.
type Tree []File

// Check returns an error unless the tree can be written to any folder. The files
// must be sorted by path, and each path must occur once. No path may be a directory
// of another, or lead out of the folder or into batchwright's own files.
func (t Tree) Check() error {
	files := make(map[string]bool, len(t))
	for i, f := range t {
		if err := CheckPath(f.Path); err != nil {
			return err
		}
		if i > 0 && f.Path <= t[i-1].Path {
			return fmt.Errorf("%q stands after %q: a tree is sorted and has each path once", f.Path, t[i-1].Path)
		}
		files[f.Path] = true
	}
	for _, f := range t {
		for dir := range ParentDirs(f.Path) {
			if files[dir] {
				return fmt.Errorf("%q is both a file and the directory of %q", dir, f.Path)
			}
		}
	}
	return nil
}

// CheckPath returns an error unless a path is that of a file in a folder, and not among
// batchwright's own files except the manifest.
func CheckPath(p string) error {
	switch {
	case !fs.ValidPath(p), p == ".", !filepath.IsLocal(filepath.FromSlash(p)),
		strings.Contains(p, `\`), strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("%q is not the path of a file in a folder", p)
	case strings.HasPrefix(p, OwnDir+"/") && p != ManifestPath:
		return fmt.Errorf("%q lies among batchwright's own files", p)
	}
	return nil
}

// ParentDirs yields the directories that contain a path, the nearest first, without
// the folder itself.
func ParentDirs(p string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if !yield(dir) {
				return
			}
		}
	}
}

// Select returns the files whose path keep accepts.
func (t Tree) Select(keep func(path string) bool) Tree {
	return slices.DeleteFunc(slices.Clone(t), func(f File) bool { return !keep(f.Path) })
}
