package emit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// WriteOptions says how Write treats what it finds.
type WriteOptions struct {
	// Force overwrites and removes also what was edited by hand, and
	// overwrites files that batchwright did not write. Directories and
	// symbolic links are refused even so.
	Force bool
	// DryRun reports what would be done and leaves the disk alone.
	DryRun bool
	// Only selects the paths to write and to remove; all others stay as they
	// are. nil selects all.
	Only func(path string) bool
	// Owns reports whether a path can be one that was generated: a manifest that
	// lists another one is not followed. nil accepts all.
	Owns func(path string) bool
}

// Report tells what Write did, or with DryRun would do. All paths are relative
// to the folder, slash-separated and sorted.
type Report struct {
	Written   []string
	Unchanged []string
	Removed   []string
	Conflicts []Conflict
}

// Changed tells whether anything was, or would be, written or removed.
func (r Report) Changed() bool { return len(r.Written)+len(r.Removed) > 0 }

// Conflict is something in the folder that Write will not touch.
type Conflict struct {
	Path    string
	Problem Problem
}

// Problem says, after a path, what is wrong with it.
type Problem string

// Problems. Force overcomes the first four.
const (
	Edited   Problem = "was edited by hand since it was generated"
	Foreign  Problem = "exists already and was not generated"
	Damaged  Problem = "is not a manifest that can be read"
	Tampered Problem = "lists a path that is never generated"
	Obstacle Problem = "is in the way: it is not a regular file, or lies below one"
	Linked   Problem = "is a symbolic link, or lies behind one"
)

// Forcible tells whether Force overcomes the problem.
func (p Problem) Forcible() bool {
	return slices.Contains([]Problem{Edited, Foreign, Damaged, Tampered}, p)
}

var (
	// ErrConflict is returned when the report has conflicts. Nothing was
	// written.
	ErrConflict = errors.New("the folder holds what would be lost")
	// ErrSaved is returned as long as the folder holds what an earlier Write
	// could neither replace nor put back.
	ErrSaved = errors.New("a write failed here, and what it could not put back has to be moved or deleted first")
	// ErrNotFolder is returned when the folder is something else.
	ErrNotFolder = errors.New("is not a directory")
)

// Write makes a folder hold a tree, all of it or nothing, and returns what it
// did. The tree must pass Check and hold its Manifest. The folder is made
// where it does not exist; a symbolic link to it is followed.
//
// Files that hold the right content already are not touched. Files that only
// an earlier tree had are removed, with the directories this leaves empty. A
// file is replaced or removed only if it is as an earlier Write left it;
// otherwise, unless forced, Write lists all such conflicts, returns
// ErrConflict and writes nothing. Other files in the folder are never touched.
//
// New contents are put in place by renaming, the manifest last, after all of
// them are on the disk. Where that fails midway everything is put back; where
// that fails too, the error says where the originals are, and no Write touches
// the folder until somebody has seen to them. After a crash midway the next
// Write recognises what was already in place, and completes or replaces it.
// Concurrent writers take turns.
func Write(dir string, tree Tree, opt WriteOptions) (Report, error) {
	report, err := write(dir, tree, opt, osDisk())
	if err != nil {
		err = fmt.Errorf("writing %s: %w", dir, err)
	}
	return report, err
}

// write is Write with the operations that tests make fail.
func write(dir string, tree Tree, opt WriteOptions, disk disk) (report Report, err error) {
	if err := tree.Check(); err != nil {
		return Report{}, err
	}
	if !slices.ContainsFunc(tree, func(f File) bool { return f.Path == ManifestPath }) {
		return Report{}, errors.New("the tree has no manifest")
	}
	if opt.DryRun {
		root, err := open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return allNew(tree, opt.Only)
		}
		if err != nil {
			return Report{}, err
		}
		defer root.Close()
		p, err := inspect(root, tree, opt)
		if err != nil {
			return Report{}, err
		}
		if report = p.report(); len(report.Conflicts) > 0 {
			err = ErrConflict
		}
		return report, err
	}
	root, leave, err := enter(dir)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	p, err := inspect(root, tree, opt)
	if err != nil {
		return Report{}, err
	}
	report = p.report()
	if len(report.Conflicts) > 0 {
		return report, ErrConflict
	}
	if !report.Changed() && !p.unfinished {
		return report, nil
	}
	return report, commit(root, p, disk)
}

// open opens a directory that exists.
func open(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, ErrNotFolder
	}
	return os.OpenRoot(dir)
}

// enter opens a directory to write to it, and makes it where it does not exist.
// Until leave is called no other process writes to it; that also removes again
// what was made and is still empty.
func enter(dir string) (root *os.Root, leave func(), err error) {
	root, err = open(dir)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, nil, err
		}
		root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	unlock, err := lock(root)
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	leave = func() {
		unlock()
		if root.Remove(ownDir) == nil && missing { // where nothing was written
			os.Remove(dir)
		}
		root.Close()
	}
	if err := clearStage(root); err != nil {
		leave()
		return nil, nil, err
	}
	return root, leave, nil
}

// clearStage removes a stage that a crash has left, unless it holds the only
// copy of something.
func clearStage(root *os.Root) error {
	for name, dir := range map[string]string{savedDir: savedDir, keptPath: stageDir} {
		if _, err := root.Lstat(name); err == nil {
			return fmt.Errorf("%w: %s", ErrSaved, dir)
		}
	}
	return root.RemoveAll(stageDir)
}

// allNew reports on a folder that does not exist.
func allNew(tree Tree, only func(string) bool) (report Report, err error) {
	if only != nil {
		tree, err = tree.within(manifest{}, only)
	}
	for _, f := range tree {
		report.Written = append(report.Written, f.Path)
	}
	return report, err
}
