package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// cache is a folder with an entry for each set of module versions, which the clones and
// processes of a user share. An entry is a folder whose name is its key. It is complete as
// soon as it exists, and nothing changes it.
type cache struct{ dir string }

// entry is a folder of the cache that is in use.
type entry struct {
	dir  string
	open *os.File // the folder, with a shared lock
}

// unused is the time since the last use after which an entry is removed. An entry
// has 650 MB, and the branches that a person works on may need several.
const unused = 7 * 24 * time.Hour

// The names in the cache besides the lock: an entry, and an entry that is not complete.
var (
	entryName      = regexp.MustCompile(`^[0-9a-f]{16}$`)
	incompleteName = regexp.MustCompile(`^incomplete-`)
)

// userCache returns the cache in the user's cache directory.
func userCache() (cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return cache{}, fmt.Errorf("the control plane is built into the user's cache directory: %w", err)
	}
	return cache{filepath.Join(dir, "batchwright", "plane")}, nil
}

// get returns the entry of a key. If the cache does not have it, fill makes it in a new
// folder. Only one process at a time fills an entry, so another process that needs the
// same one waits for it. Until the caller closes the entry, no process removes it.
func (c cache) get(ctx context.Context, key string, log io.Writer, fill func(dir string) error) (*entry, error) {
	if found, err := c.find(key); found != nil || err != nil {
		return found, err
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return nil, err
	}
	lock, err := c.lock(ctx, log)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if found, err := c.find(key); found != nil || err != nil {
		return found, err // another process has filled it
	}
	work, err := os.MkdirTemp(c.dir, "incomplete-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := fill(work); err != nil {
		return nil, err
	}
	if err := os.Rename(work, filepath.Join(c.dir, key)); err != nil {
		return nil, err
	}
	if err := c.prune(time.Now().Add(-unused)); err != nil {
		fmt.Fprintf(log, "plane: earlier programs are still in %s: %v\n", c.dir, err)
	}
	found, err := c.find(key)
	if found == nil && err == nil {
		err = fmt.Errorf("%s is gone as soon as it is built", filepath.Join(c.dir, key))
	}
	return found, err
}

// find returns the entry of a key, or nil if the cache does not have it. It records that
// somebody has asked for the entry.
func (c cache) find(key string) (*entry, error) {
	dir := filepath.Join(c.dir, key)
	open, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	err = flock(open, syscall.LOCK_SH)
	if err == nil {
		now := time.Now()
		err = os.Chtimes(dir, now, now)
	}
	if err != nil {
		open.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // removed before it was locked
		}
		return nil, err
	}
	return &entry{dir, open}, nil
}

// close ends the use of the entry.
func (e *entry) close() { e.open.Close() }

// lock waits until no other process fills an entry. Closing the file lets the next one.
func (c cache) lock(ctx context.Context, log io.Writer) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		if !told {
			fmt.Fprintln(log, "plane: waiting for another process that builds a control plane")
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// prune removes the entries that are not in use and were last used before the given
// time, and what interrupted processes have left. The caller has the lock.
func (c cache) prune(since time.Time) error {
	found, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range found {
		dir := filepath.Join(c.dir, f.Name())
		switch info, err := f.Info(); {
		case err != nil:
			errs = append(errs, err)
		case incompleteName.MatchString(f.Name()):
			errs = append(errs, os.RemoveAll(dir))
		case entryName.MatchString(f.Name()) && info.ModTime().Before(since):
			errs = append(errs, c.remove(f.Name()))
		}
	}
	return errors.Join(errs...)
}

// remove removes an entry unless somebody uses it.
func (c cache) remove(key string) error {
	open, err := os.Open(filepath.Join(c.dir, key))
	if err != nil {
		return err
	}
	defer open.Close()
	if err := flock(open, syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return err
	}
	// With its own name, an entry is complete.
	gone := filepath.Join(c.dir, "incomplete-"+key)
	if err := os.Rename(open.Name(), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// flock locks an open file or folder until it is closed.
func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
