package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/batchwright/batchwright/emit"
)

// Create writes a tree into a directory that belongs to the user, all of it or
// nothing, and reports what it did. The tree must pass Check. It needs no manifest,
// and Create keeps no record of the created files. Create makes the directory if it
// does not exist.
//
// Create replaces files, and removes files that the tree does not have, only below
// own, a directory of the tree. If own is "", there is no such directory. Elsewhere
// a file that already holds the right content stays. Every other existing file is
// listed as a conflict; then Create returns ErrConflict and writes nothing. Create
// supports no mode except 0644.
func Create(dir string, tree emit.Tree, own string) (Report, error) {
	report, err := layTree(dir, tree, own, osDisk())
	if err != nil {
		err = fmt.Errorf("writing %s: %w", dir, err)
	}
	return report, err
}

// layTree is Create with the operations that tests make fail.
func layTree(dir string, tree emit.Tree, own string, disk disk) (Report, error) {
	if err := tree.Check(); err != nil {
		return Report{}, err
	}
	root, leave, err := enterFolder(dir)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	p, err := surveyDir(root, tree, own)
	if err != nil {
		return Report{}, err
	}
	report := p.summarizePlan()
	if len(report.Conflicts) > 0 {
		return report, ErrConflict
	}
	if !report.Changed() {
		return report, nil
	}
	c := &committer{root: root, disk: disk}
	return report, c.endCommit(c.layFiles(p), false)
}

// layFiles carries out a plan that has no history.
func (c *committer) layFiles(p plan) error {
	var changes []target
	for _, t := range p.files {
		if t.action == create || t.action == replace {
			changes = append(changes, t)
		}
	}
	if err := c.stageFiles(changes); err != nil {
		return err
	}
	if err := c.makeDirectories(changes); err != nil {
		return err
	}
	return c.moveFiles(changes, p.stale)
}

// surveyDir compares a directory that has no manifest with a tree.
func surveyDir(root *os.Root, tree emit.Tree, own string) (plan, error) {
	var p plan
	below := func(name string) bool { return own != "" && strings.HasPrefix(name, own+"/") }
	dirs := directories{root: root, seen: map[string]Problem{}}
	inTree := map[string]bool{}
	for _, f := range tree {
		inTree[f.Path] = true
		t := target{File: f}
		problem, err := dirs.dirProblem(f.Path)
		if err == nil && problem == "" {
			err = decideFile(root, nil, &t)
		}
		if err != nil {
			return plan{}, err
		}
		if problem != "" {
			t.action, t.problem = conflict, problem
		}
		if below(f.Path) {
			t.forceAction(replace)
		}
		p.files = append(p.files, t)
	}
	if own == "" {
		return p, nil
	}
	entries, err := fs.ReadDir(root.FS(), own)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if name := path.Join(own, e.Name()); !inTree[name] && e.Type().IsRegular() {
			p.stale = append(p.stale, target{File: emit.File{Path: name}, action: remove})
		}
	}
	return p, err
}
