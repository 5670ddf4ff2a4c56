package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/batchwright/batchwright/emit"
)

// Create writes a tree into a directory that belongs to the user, all of it or
// nothing, and reports what it did. The tree must pass Check. It needs no manifest,
// and Create keeps no record of the created files. Create makes the directory if it
// does not exist.
//
// Create replaces files, and removes files that the tree does not have, only in own, a
// directory of the tree. If own is "", there is no such directory. Elsewhere a file
// that already holds the right content stays. Every other existing file is listed as a
// conflict; then Create returns ErrConflict and writes nothing. With force, it
// overwrites regular files instead. Create supports no mode except 0644.
func Create(dir string, tree emit.Tree, own string, force bool) (Report, error) {
	report, err := layTree(dir, tree, own, force, osDisk)
	if err != nil {
		err = fmt.Errorf("writing %s: %w", dir, err)
	}
	return report, err
}

// layTree is Create with a disk whose operations tests can make fail.
func layTree(dir string, tree emit.Tree, own string, force bool, on openDisk) (Report, error) {
	if err := tree.Check(); err != nil {
		return Report{}, err
	}
	return carryOut(dir, on, nil, func(root *os.Root) (plan, error) {
		p := plan{history: history{}}
		if own != "" {
			if err := p.ownFiles(root, own); err != nil {
				return p, err
			}
		}
		err := p.compareTree(newDirectories(root), tree, WriteOptions{Force: force})
		return p, err
	})
}

// ownFiles treats the files in a directory as generated.
func (p *plan) ownFiles(root *os.Root, own string) error {
	entries, err := fs.ReadDir(root.FS(), own)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		name := path.Join(own, e.Name())
		there, err := readRegular(root, name)
		if err != nil {
			return err
		}
		if there.isRegular() {
			p.history[name] = []string{hashContent(there.content)}
		}
	}
	return err
}
