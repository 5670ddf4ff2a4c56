package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/batchwright/batchwright/emit"
)

// WriteOptions controls how Write treats existing files.
type WriteOptions struct {
	// Force also overwrites and removes files that were edited by hand, and
	// overwrites files that batchwright did not write. Directories and symbolic
	// links remain conflicts.
	Force bool
	// DryRun reports the changes without writing to the disk.
	DryRun bool
	// Only reports whether Write may write or remove a path; all other files stay as
	// they are. nil selects all paths.
	Only func(path string) bool
	// Owns reports whether a path can have been generated. Write does not use a
	// manifest that lists any other path. nil accepts all paths.
	Owns func(path string) bool
	// Staged, if not nil, is called when the content of another file is on the disk,
	// with the number of files that Write writes. Several goroutines call it at once.
	Staged func(of int)
}

// Report lists what Write did, or would do with DryRun. All paths are relative to
// the folder, slash-separated and sorted.
type Report struct {
	Written   []string
	Unchanged []string
	Removed   []string
	Conflicts []Conflict
}

// Changed reports whether any file was, or would be, written or removed.
func (r Report) Changed() bool { return len(r.Written)+len(r.Removed) > 0 }

// Conflict is a path in the folder that Write refuses to change.
type Conflict struct {
	Path    string  `json:"path"`
	Problem Problem `json:"problem"`
}

// Problem says what is wrong with a path. It is printed after the path.
type Problem string

// The problems. Force overrides the first four.
const (
	Edited   Problem = "was edited by hand since it was generated"
	Foreign  Problem = "exists already and was not generated"
	Damaged  Problem = "is not a manifest that can be read"
	Tampered Problem = "lists a path that is never generated"
	Obstacle Problem = "is in the way: it is not a regular file, or lies below one"
	Linked   Problem = "is a symbolic link, or lies behind one"
)

// forcible reports whether Force overrides the problem.
func (p Problem) forcible() bool {
	return slices.Contains([]Problem{Edited, Foreign, Damaged, Tampered}, p)
}

var (
	// ErrConflict is returned if the report has conflicts. Nothing was written.
	ErrConflict = errors.New("the folder holds what would be lost")
	// errSaved is returned as long as the folder holds files that an earlier Write
	// could neither replace nor put back.
	errSaved = errors.New("a write failed here, and what it could not put back has to be moved or deleted first")
	// ErrNotFolder is returned if the path is not a directory.
	ErrNotFolder = errors.New("is not a directory")
)

// Write makes a folder hold a tree, all of it or nothing, and reports what it did.
// The tree must pass Check and contain its Manifest. Write creates the folder if it
// does not exist, and follows a symbolic link to it.
//
// Write does not touch files that already hold the right content. It removes files
// that only an earlier tree had, and the directories that become empty. It replaces
// or removes a file only if the file is as an earlier Write left it. Otherwise,
// unless forced, Write lists all such conflicts, returns ErrConflict and writes
// nothing. It never touches other files in the folder.
//
// Write first syncs all new contents to the disk, then renames them into place, the
// manifest last. If a rename fails, Write puts everything back. If it cannot, the
// error says where the originals are, and no Write touches the folder until somebody
// has moved or deleted them. After a crash the next Write recognises the files that
// are already in place, and completes or replaces them. Concurrent writers take
// turns.
func Write(dir string, tree emit.Tree, opt WriteOptions) (Report, error) {
	report, err := writeTree(dir, tree, opt, osDisk())
	if err != nil {
		err = fmt.Errorf("writing %s: %w", dir, err)
	}
	return report, err
}

// writeTree is Write with a disk whose operations tests can make fail.
func writeTree(dir string, tree emit.Tree, opt WriteOptions, disk disk) (report Report, err error) {
	if err := tree.Check(); err != nil {
		return Report{}, err
	}
	if !slices.ContainsFunc(tree, func(f emit.File) bool { return f.Path == emit.ManifestPath }) {
		return Report{}, errors.New("the tree has no manifest")
	}
	if opt.DryRun {
		root, err := openFolder(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return allNew(tree, opt.Only)
		}
		if err != nil {
			return Report{}, err
		}
		defer root.Close()
		p, err := inspectFolder(root, tree, opt)
		if err != nil {
			return Report{}, err
		}
		if report = p.summarizePlan(); len(report.Conflicts) > 0 {
			err = ErrConflict
		}
		return report, err
	}
	root, leave, err := enterFolder(dir)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	p, err := inspectFolder(root, tree, opt)
	if err != nil {
		return Report{}, err
	}
	report = p.summarizePlan()
	if len(report.Conflicts) > 0 {
		return report, ErrConflict
	}
	if !report.Changed() && !p.unfinished {
		return report, nil
	}
	return report, commitPlan(root, p, disk, opt.Staged)
}

// openFolder opens an existing directory.
func openFolder(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, ErrNotFolder
	}
	return os.OpenRoot(dir)
}

// enterFolder opens a directory for writing, and creates it if it does not exist. No
// other process writes to the directory until the caller calls leave, which also
// removes directories that enterFolder created and that are still empty.
func enterFolder(dir string) (root *os.Root, leave func(), err error) {
	root, err = openFolder(dir)
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
	unlock, err := lockFolder(root)
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	leave = func() {
		unlock()
		if root.Remove(emit.OwnDir) == nil && missing { // if nothing was written
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

// clearStage removes the stage of a crashed commit, unless it holds the only copy of
// a file.
func clearStage(root *os.Root) error {
	for name, dir := range map[string]string{savedDir: savedDir, keptPath: stageDir} {
		if _, err := root.Lstat(name); err == nil {
			return fmt.Errorf("%w: %s", errSaved, dir)
		}
	}
	return root.RemoveAll(stageDir)
}

// allNew reports every selected file of the tree as new, for a folder that does not
// exist.
func allNew(tree emit.Tree, only func(string) bool) (report Report, err error) {
	if only != nil {
		tree, err = selectTree(tree, manifest{}, only)
	}
	for _, f := range tree {
		report.Written = append(report.Written, f.Path)
	}
	return report, err
}
