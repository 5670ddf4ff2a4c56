//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock with flock. The lock ends with the process: a crash leaves
// a file, but no lock. tryLock returns errLocked if another process holds the lock.
func tryLock(root *os.Root) (unlock func(), err error) {
	f, err := root.OpenFile(lockPath, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		err = errLocked
	}
	if err == nil && !isCurrentLock(root, f) {
		err = errLocked
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		root.Remove(lockPath) // while the lock is held: see isCurrentLock
		f.Close()
	}, nil
}

// isCurrentLock reports whether a file that was opened as the lock is still the
// lock. The holder may have removed the file in between.
func isCurrentLock(root *os.Root, f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := root.Lstat(lockPath)
	return err == nil && os.SameFile(opened, there)
}
