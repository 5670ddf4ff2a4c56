package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/batchwright/batchwright/emit"
)

const (
	lockPath = emit.OwnDir + "/lock"

	// lockPatience is how long to wait for another compile of the same folder,
	// which takes seconds.
	lockPatience = time.Minute
)

// errLocked is returned while another process keeps writing to a folder.
var errLocked = errors.New("another compile is writing to this folder")

// lockFolder keeps other processes from writing to a folder until the caller calls
// unlock. It creates the directory of batchwright's own files. The lock ends with the
// process: a crash leaves a file, but no lock.
func lockFolder(root *os.Root) (unlock func(), err error) {
	locked := make(chan *lockedfile.File)
	failed := make(chan error, 1)
	expired := make(chan struct{})
	defer close(expired)
	go func() {
		f, err := takeLock(root)
		if err != nil {
			failed <- err
			return
		}
		select {
		case locked <- f:
		case <-expired:
			f.Close()
		}
	}()
	select {
	case f := <-locked:
		return func() {
			err := root.Remove(lockPath) // while the lock is held: see isCurrentLock
			f.Close()
			if err != nil {
				root.Remove(lockPath) // Windows removes no open file
			}
		}, nil
	case err := <-failed:
		return nil, fmt.Errorf("locking %s: %w", lockPath, err)
	case <-time.After(lockPatience):
		return nil, fmt.Errorf("%w (waited %s for %s)", errLocked, lockPatience, lockPath)
	}
}

// takeLock waits until no other process holds the lock, and takes it.
func takeLock(root *os.Root) (*lockedfile.File, error) {
	for {
		if err := root.Mkdir(emit.OwnDir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		for _, p := range []string{emit.OwnDir, lockPath} {
			// None of our own files is a link.
			if info, err := root.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return nil, fmt.Errorf("%s is a symbolic link", p)
			}
		}
		f, err := lockedfile.Edit(filepath.Join(root.Name(), filepath.FromSlash(lockPath)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process has just removed the directory
		case err != nil || isCurrentLock(root, f):
			return f, err
		default:
			f.Close()
		}
	}
}

// isCurrentLock reports whether a file that was opened as the lock is still the
// lock. The holder may have removed the file in between.
func isCurrentLock(root *os.Root, f *lockedfile.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := root.Lstat(lockPath)
	return err == nil && os.SameFile(opened, there)
}
