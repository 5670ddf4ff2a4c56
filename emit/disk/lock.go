package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/batchwright/batchwright/emit"
)

const (
	lockPath = emit.OwnDir + "/lock"

	// lockPatience is how long to wait for another compile of the same folder,
	// which takes seconds.
	lockPatience = time.Minute
	lockInterval = 20 * time.Millisecond
)

// errLocked is returned while another process keeps writing to a folder.
var errLocked = errors.New("another compile is writing to this folder")

// lockFolder keeps other processes from writing to a folder until the caller calls
// unlock. It creates the directory of batchwright's own files.
func lockFolder(root *os.Root) (unlock func(), err error) {
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(lockInterval) {
		if err := root.Mkdir(emit.OwnDir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		for _, p := range []string{emit.OwnDir, lockPath} {
			// Root follows links that stay inside the folder, but none of our own
			// files is a link.
			if info, err := root.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return nil, fmt.Errorf("%s is a symbolic link", p)
			}
		}
		unlock, err := tryLock(root)
		switch {
		case err == nil:
			return unlock, nil
		case errors.Is(err, fs.ErrNotExist): // another process has just removed the directory
		case !errors.Is(err, errLocked):
			return nil, fmt.Errorf("locking %s: %w", lockPath, err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w (waited %s for %s)", errLocked, lockPatience, lockPath)
		}
	}
}
