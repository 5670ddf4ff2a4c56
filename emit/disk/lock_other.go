//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package disk

import (
	"errors"
	"io/fs"
	"os"
)

// tryLock takes the lock by creating its file. After a crash the file remains, and
// must be removed by hand.
func tryLock(root *os.Root) (unlock func(), err error) {
	f, err := root.OpenFile(lockPath, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return func() {
		f.Close()
		root.Remove(lockPath)
	}, nil
}
