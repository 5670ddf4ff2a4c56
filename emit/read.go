package emit

import (
	"cmp"
	"fmt"
	"slices"
)

// What is wrong with a file that Write brings up to date, after its path.
const (
	Missing  Problem = "is missing"
	Outdated Problem = "is out of date"
	Stale    Problem = "is no longer generated"
	Large    Problem = "is far larger than what is generated"
)

// tooLarge tells whether a file is too large to be one that was generated and
// edited: to compare it would take long, and say nothing.
func tooLarge(size int64, generated []byte) bool { return size > 1<<20+8*int64(len(generated)) }

// Folder is what a deploy folder holds.
type Folder struct {
	// Tree is sorted by path. It has the files that a tree has or an earlier one
	// had, as they are in the folder, and no manifest and nothing Large.
	Tree Tree
	// Differences from a tree are sorted by path.
	Differences []Difference
}

// Difference is a file that is not as a tree has it. The manifest is one only
// where no other file is, or where it cannot be read.
type Difference struct {
	Path    string
	Problem Problem
}

// Read reads a folder and compares it with a tree, which must be as for Write.
// Files that no Write has left there and that are not in the tree do not
// matter. The error is fs.ErrNotExist where there is no folder, and
// ErrNotFolder where it is something else.
func Read(dir string, tree Tree) (Folder, error) {
	folder, err := read(dir, tree)
	if err != nil {
		err = fmt.Errorf("reading %s: %w", dir, err)
	}
	return folder, err
}

func read(dir string, tree Tree) (Folder, error) {
	if err := tree.Check(); err != nil {
		return Folder{}, err
	}
	root, err := open(dir)
	if err != nil {
		return Folder{}, err
	}
	defer root.Close()
	var folder Folder
	p, err := inspect(root, tree, WriteOptions{})
	if err != nil {
		return Folder{}, err
	}
	if len(p.files) < len(tree) { // a manifest cannot be used: nothing else was looked at
		bad := p.files[0]
		if bad.problem != Damaged {
			return Folder{}, fmt.Errorf("%s %s", bad.Path, bad.problem)
		}
		folder.Differences = []Difference{{bad.Path, bad.problem}}
		if p, err = inspect(root, tree, WriteOptions{Force: true}); err != nil {
			return Folder{}, err
		}
	}
	var manifest []Difference
	for _, t := range slices.Concat(p.files, p.stale) {
		problem := t.difference()
		if t.Path == ManifestPath {
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
		folder.Tree = append(folder.Tree, File{Path: t.Path, Content: t.Content, Mode: t.old})
	}
	if len(folder.Differences) == 0 {
		folder.Differences = manifest
	}
	slices.SortFunc(folder.Tree, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(folder.Differences, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return folder, nil
}

// difference tells what is wrong with a file, or "".
func (t target) difference() Problem {
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
