package disk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/emit"
)

// The ways in which a file can differ from the tree. Each is printed after the
// file's path.
const (
	Missing  Problem = "is missing"
	Outdated Problem = "is out of date"
	Stale    Problem = "is no longer generated"
	Large    Problem = "is far larger than what is generated"
)

// tooLarge reports whether a file is too large to be a generated file that somebody
// edited. A comparison would take long and show nothing useful.
func tooLarge(size int64, generated []byte) bool { return size > 1<<20+8*int64(len(generated)) }

// Folder is the content of a deploy folder.
type Folder struct {
	// Tree holds the files of the folder that the tree or an earlier tree had,
	// sorted by path, with their contents in the folder. It holds no manifest and no
	// Large file.
	Tree emit.Tree
	// Differences holds the differences from the tree, sorted by path.
	Differences []Difference
}

// Difference is a file that differs from the file in the tree. The manifest is
// listed only if no other file differs, or if the manifest cannot be read.
type Difference struct {
	Path    string  `json:"path"`
	Problem Problem `json:"problem"`
}

// Read reads a folder and compares it with a tree, which must satisfy the conditions
// of Write. Read ignores files that no Write has left there and that are not in the
// tree. The error is fs.ErrNotExist if there is no folder, and ErrNotFolder if dir
// is not a directory.
func Read(dir string, tree emit.Tree) (Folder, error) {
	folder, err := readFolder(dir, tree)
	if err != nil {
		err = fmt.Errorf("reading %s: %w", dir, err)
	}
	return folder, err
}

func readFolder(dir string, tree emit.Tree) (Folder, error) {
	if err := tree.Check(); err != nil {
		return Folder{}, err
	}
	root, err := openFolder(dir)
	if err != nil {
		return Folder{}, err
	}
	defer root.Close()
	var folder Folder
	p, err := inspectFolder(root, tree, WriteOptions{})
	if err != nil {
		return Folder{}, err
	}
	if len(p.files) < len(tree) { // a manifest is unusable, so no other file was examined
		bad := p.files[0]
		if bad.problem != Damaged {
			return Folder{}, fmt.Errorf("%s %s", bad.Path, bad.problem)
		}
		folder.Differences = []Difference{{bad.Path, bad.problem}}
		if p, err = inspectFolder(root, tree, WriteOptions{Force: true}); err != nil {
			return Folder{}, err
		}
	}
	var manifest []Difference
	for _, t := range slices.Concat(p.files, p.stale) {
		problem := t.fileDifference()
		if t.Path == emit.ManifestPath {
			if problem != "" {
				manifest = []Difference{{t.Path, problem}}
			}
			continue
		}
		if problem == Edited || problem == Foreign {
			info, err := root.Stat(t.Path)
			if err != nil {
				return Folder{}, err
			}
			if tooLarge(info.Size(), t.Content) {
				problem = Large
			}
		}
		if problem != "" {
			folder.Differences = append(folder.Differences, Difference{t.Path, problem})
		}
		switch problem {
		case Missing, Obstacle, Linked, Large:
			continue
		case "":
			if t.action == forget {
				continue
			}
		default:
			if t.Content, err = root.ReadFile(t.Path); err != nil {
				return Folder{}, err
			}
		}
		folder.Tree = append(folder.Tree, emit.File{Path: t.Path, Content: t.Content, Mode: t.old})
	}
	if len(folder.Differences) == 0 {
		folder.Differences = manifest
	}
	slices.SortFunc(folder.Tree, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(folder.Differences, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return folder, nil
}

// fileDifference returns the Problem of a file, or "".
func (t target) fileDifference() Problem {
	switch t.action {
	case create:
		return Missing
	case replace:
		return Outdated
	case remove:
		return Stale
	case conflict:
		return t.problem
	}
	return ""
}
