package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/batchwright/batchwright/emit"
)

const (
	stageDir = emit.OwnDir + "/stage"
	// savedDir is the new name of the stage after a commit that could not be undone.
	// It holds the only copy of the replaced files.
	savedDir = emit.OwnDir + "/saved"

	defaultMode fs.FileMode = 0o644
)

// keptPath marks a stage that could not become savedDir: nothing may delete it.
const keptPath = stageDir + "/kept"

// disk has the operations that change a folder, except the writing of files in the
// stage.
type disk struct {
	rename, link func(root *os.Root, from, to string) error
	mkdir        func(root *os.Root, name string, mode fs.FileMode) error
	remove       func(root *os.Root, name string) error
}

// osDisk returns the disk of the operating system.
func osDisk() disk {
	return disk{rename: (*os.Root).Rename, link: (*os.Root).Link, mkdir: (*os.Root).Mkdir, remove: (*os.Root).Remove}
}

// commitPlan carries out a plan without conflicts. If it fails, it leaves the folder
// as it was.
//
// New contents are staged in the folder itself, so that every rename stays on one
// file system. They are on the disk before the first rename, and so is the journal:
// the manifest there is, those of unfinished commits, and last the new manifest.
// After a crash the journal tells which files are ours, whichever renames were done.
// The manifest is the last file to change; then the journal is removed.
func commitPlan(root *os.Root, p plan, disk disk, staged func(of int)) error {
	c := &committer{root: root, disk: disk, staged: staged}
	return c.endCommit(c.commitFiles(p), !p.unfinished)
}

type committer struct {
	root *os.Root
	disk disk
	undo []func() error
	lost []savedFile

	staged func(of int) // as in WriteOptions
}

// savedFile is a file that was saved in the stage and could not be put back.
type savedFile struct{ name, saved string }

// endCommit ends a commit, and undoes the commit if err is not nil.
func (c *committer) endCommit(err error, dropJournal bool) error {
	if err == nil {
		return c.root.RemoveAll(stageDir)
	}
	err = errors.Join(err, c.rollBack(dropJournal))
	if len(c.lost) > 0 {
		return errors.Join(err, c.keepLost())
	}
	return errors.Join(err, c.root.RemoveAll(stageDir))
}

// keepLost protects the stage, which holds the only copies of the lost files, from
// the next Write. The error that it returns says where the copies are.
func (c *committer) keepLost() error {
	var failed error
	dir := savedDir
	if err := c.rename(stageDir, savedDir); err != nil {
		dir = stageDir
		failed = c.stageFile(keptPath, target{})
	}
	for _, f := range c.lost {
		kept := path.Join(dir, path.Base(f.saved))
		if failed != nil {
			kept += ", which the next compile deletes"
		}
		failed = errors.Join(failed, fmt.Errorf("%s is kept as %s", f.name, kept))
	}
	return failed
}

// The names in rename, link and remove are relative to the folder.
func (c *committer) rename(from, to string) error { return c.disk.rename(c.root, from, to) }
func (c *committer) link(from, to string) error   { return c.disk.link(c.root, from, to) }
func (c *committer) remove(name string) error     { return c.disk.remove(c.root, name) }

func (c *committer) mkdir(name string, mode fs.FileMode) error {
	return c.disk.mkdir(c.root, name, mode)
}

func (c *committer) commitFiles(p plan) error {
	var changes []target
	for _, t := range p.files {
		if t.action == create || t.action == replace {
			changes = append(changes, t)
		}
	}
	manifest := slices.IndexFunc(p.files, func(t target) bool { return t.Path == emit.ManifestPath })
	last := len(changes)
	if i := slices.IndexFunc(changes, func(t target) bool { return t.Path == emit.ManifestPath }); i >= 0 {
		changes = append(slices.Delete(changes, i, i+1), p.files[manifest])
		last--
	}

	if err := c.stageFiles(changes); err != nil {
		return err
	}
	// The journal comes first, so that after a crash the next Write knows which
	// empty directories are ours.
	if err := c.writeJournal(slices.Concat(p.past, p.files[manifest].Content)); err != nil {
		return err
	}
	if err := c.makeDirectories(changes); err != nil {
		return err
	}
	if err := c.moveFiles(changes[:last], p.stale); err != nil {
		return err
	}
	for i, t := range changes[last:] {
		if err := c.putFile(last+i, t); err != nil {
			return err
		}
	}
	if err := c.syncDirs(map[string]bool{emit.OwnDir: true}); err != nil {
		return err
	}
	c.undo = nil
	for _, t := range p.stale {
		c.pruneParents(t.Path)
	}
	if p.unfinished {
		for name := range p.history {
			c.pruneParents(name)
		}
	}
	return c.remove(journalPath)
}

// moveFiles puts staged files in their places and moves stale files out of the folder.
func (c *committer) moveFiles(changes, stale []target) error {
	touched := map[string]bool{}
	for i, t := range changes {
		if err := c.putFile(i, t); err != nil {
			return err
		}
		touchParents(touched, t.Path)
	}
	for i, t := range stale {
		if t.action != remove {
			continue
		}
		if err := c.takeFile(i, t); err != nil {
			return err
		}
		touchParents(touched, t.Path)
	}
	return c.syncDirs(touched)
}

// touchParents adds to dirs the directories that a change of the file may change.
func touchParents(dirs map[string]bool, name string) {
	for dir := range emit.ParentDirs(name) {
		if dirs[dir] {
			return
		}
		dirs[dir] = true
	}
	dirs["."] = true
}

func stagedName(i int) string { return path.Join(stageDir, strconv.Itoa(i)) }

// stageFiles writes the new contents to the stage and syncs them to the disk. Many
// files are synced at once, which takes little longer than one.
func (c *committer) stageFiles(changes []target) error {
	if err := c.mkdir(stageDir, 0o700); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(workers)
	for i, t := range changes {
		group.Go(func() error {
			err := c.stageFile(stagedName(i), t)
			if err == nil && c.staged != nil {
				c.staged(len(changes))
			}
			return err
		})
	}
	return group.Wait()
}

func (c *committer) stageFile(name string, t target) (err error) {
	mode := t.Mode
	if mode == 0 {
		mode = defaultMode
	}
	f, err := c.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(t.Content); err != nil {
		return err
	}
	if t.action == replace {
		if err := f.Chmod(t.keptMode()); err != nil {
			return err
		}
	}
	return f.Sync()
}

// keptMode returns the mode for a file that replaces another: the mode of the old
// file, executable by everyone who may read it if the new file is executable, and by
// nobody if not.
func (t target) keptMode() fs.FileMode {
	mode := t.old &^ 0o111
	if isExecutable(t.Mode) {
		mode |= mode & 0o444 >> 2
	}
	return mode
}

// makeDirectories creates the directories of new files.
func (c *committer) makeDirectories(changes []target) error {
	made := map[string]bool{}
	for _, t := range changes {
		dirs := slices.Collect(emit.ParentDirs(t.Path))
		for _, dir := range slices.Backward(dirs) {
			if made[dir] {
				continue
			}
			made[dir] = true
			err := c.mkdir(dir, 0o777)
			switch {
			case errors.Is(err, fs.ErrExist):
			case err != nil:
				return err
			default:
				c.undo = append(c.undo, func() error { return c.remove(dir) })
			}
		}
	}
	return nil
}

// writeJournal puts the list of contents that a crash may leave behind in place.
func (c *committer) writeJournal(content []byte) error {
	name := path.Join(stageDir, path.Base(journalPath))
	if err := c.stageFile(name, target{File: emit.File{Content: content}}); err != nil {
		return err
	}
	if err := c.rename(name, journalPath); err != nil {
		return err
	}
	return c.syncDirs(map[string]bool{emit.OwnDir: true})
}

// putFile moves a staged file to its place. On a file system without links, the old
// file is missing for a moment.
func (c *committer) putFile(i int, t target) error {
	if t.action == create {
		c.undo = append(c.undo, func() error { return c.remove(t.Path) })
	} else {
		saved := stagedName(i) + ".old"
		if c.link(t.Path, saved) != nil {
			if err := c.rename(t.Path, saved); err != nil {
				return err
			}
		}
		c.undo = append(c.undo, func() error { return c.restoreFile(saved, t.Path) })
	}
	return c.rename(stagedName(i), t.Path)
}

// takeFile moves a file out of the folder into the stage.
func (c *committer) takeFile(i int, t target) error {
	saved := stagedName(i) + ".stale"
	c.undo = append(c.undo, func() error { return c.restoreFile(saved, t.Path) })
	return c.rename(t.Path, saved)
}

// restoreFile puts a saved file back. A file that was not saved yet is still in its
// place.
func (c *committer) restoreFile(saved, name string) error {
	err := c.rename(saved, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c.lost = append(c.lost, savedFile{name, saved})
	return fmt.Errorf("%s: %w", name, err)
}

// pruneParents removes the directories that became empty when the file was removed.
func (c *committer) pruneParents(name string) {
	for dir := range emit.ParentDirs(name) {
		if err := c.remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // not empty
			return
		}
	}
}

// syncDirs writes changes of directories to the disk. Windows has no such operation;
// its file system keeps a journal.
func (c *committer) syncDirs(dirs map[string]bool) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(workers)
	for dir := range dirs {
		group.Go(func() error {
			f, err := c.root.Open(dir)
			if err != nil {
				return err
			}
			defer f.Close()
			// Some file systems do not support syncing a directory, and do not need
			// it.
			if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) &&
				!errors.Is(err, syscall.EINVAL) {
				return err
			}
			return nil
		})
	}
	return group.Wait()
}

// rollBack undoes the finished operations, the latest first. The journal stays if it
// is still needed: for an earlier crash, or if something cannot be undone.
func (c *committer) rollBack(dropJournal bool) error {
	var failed error
	for _, undo := range slices.Backward(c.undo) {
		if err := undo(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("putting things back: %w", err))
		}
	}
	if failed != nil || !dropJournal {
		return failed
	}
	if err := c.remove(journalPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
