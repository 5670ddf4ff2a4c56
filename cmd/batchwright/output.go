package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/batchwright/batchwright/emit"
)

// checkOutput refuses directories that are surely not meant for a deploy folder:
// the root of a file system, the home directory and those above it; and unless
// forced, one that is not a deploy folder yet and is the top of a Git repository
// or holds a blueprint.
func checkOutput(dir string, force bool) error {
	target, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved
	}
	if target == filepath.Dir(target) {
		return usagef("%s is the root of the file system: choose a directory for the folder alone", dir)
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		if resolved, err := filepath.EvalSymlinks(home); err == nil {
			home = resolved
		}
		if isBelow(home, target) {
			return usagef("%s is the home directory, or contains it: choose a directory for the folder alone", dir)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(emit.ManifestPath))); force ||
		!errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const cure = "choose a directory below it, or write there with --force"
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return usagef("%s is the top of a Git repository: %s", dir, cure)
	}
	entries, _ := os.ReadDir(dir) // mostly there is none
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".cue" || e.Name() == "cue.mod" {
			return usagef("%s contains %s, a file of a blueprint: %s", dir, e.Name(), cure)
		}
	}
	return nil
}

// isBelow reports whether a path is a directory or lies below it. Both are clean
// and absolute.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
