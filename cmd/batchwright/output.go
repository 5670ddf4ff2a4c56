package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/batchwright/batchwright/emit"
)

// checkOutput rejects directories that are certainly not meant as a deploy folder:
// the root of a file system, the home directory and the directories above it. Unless
// force is set, it also rejects a directory that is not a deploy folder yet and that
// is the top of a Git repository or contains a blueprint.
func checkOutput(dir string, force bool) error {
	target, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	target = realPath(target)
	if target == filepath.Dir(target) {
		return usageErrorf("%s is the root of the file system: choose a directory for the folder alone", dir)
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) && isBelow(realPath(home), target) {
		return usageErrorf("%s is the home directory, or contains it: choose a directory for the folder alone", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(emit.ManifestPath))); force ||
		!errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const cure = "choose a directory below it, or write there with --force"
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return usageErrorf("%s is the top of a Git repository: %s", dir, cure)
	}
	entries, _ := os.ReadDir(dir) // most often the directory does not exist
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".cue" || e.Name() == "cue.mod" {
			return usageErrorf("%s contains %s, a file of a blueprint: %s", dir, e.Name(), cure)
		}
	}
	return nil
}

// realPath returns a path without symbolic links, or the path itself if it leads nowhere.
func realPath(name string) string {
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		return resolved
	}
	return name
}

// isBelow reports whether path is dir or is below it. Both must be clean and
// absolute.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
