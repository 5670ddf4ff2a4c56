package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
)

// gitTree is a directory of a revision as a file system. It follows symbolic links
// that stay in the directory: neither links nor ".." lead out.
type gitTree struct {
	repository *repository
	id         string
}

// gitEntry is the entry of a file in a tree. Source: git's Documentation, "git
// fast-import", on modes.
type gitEntry struct {
	name string
	mode uint32
	id   string
}

const (
	gitKind      = 0o170000 // mask of the bits of a mode that hold the file's kind
	gitDirectory = 0o040000
	gitLink      = 0o120000
	gitSubmodule = 0o160000
)

// Mode returns the mode of a file that cannot be written.
func (e gitEntry) Mode() fs.FileMode {
	switch e.mode & gitKind {
	case gitDirectory, gitSubmodule:
		return fs.ModeDir | 0o555
	case gitLink:
		return fs.ModeSymlink | 0o777
	}
	return 0o444 | fs.FileMode(e.mode&0o111)
}

var (
	// The message of os.Root.
	errOutside   = errors.New("path escapes from parent")
	errSubmodule = errors.New("is in a submodule, which has its own revisions")
	errLarge     = fmt.Errorf("is larger than %d MiB", load.MaxFile>>20)
)

// mostLinks is the number of symbolic links that are followed in a row, as in Linux.
const mostLinks = 40

// findFile finds a file, behind any symbolic links.
func (t gitTree) findFile(name string) (gitEntry, error) {
	if !fs.ValidPath(name) {
		return gitEntry{}, fs.ErrInvalid
	}
	way := []gitEntry{{".", gitDirectory, t.id}}
	links := 0
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		step := rest[0]
		rest = rest[1:]
		entries, err := t.readDir(way[len(way)-1])
		switch {
		case err != nil:
			return gitEntry{}, err
		case step == "" || step == ".":
			continue
		case step == ".." && len(way) == 1:
			return gitEntry{}, errOutside
		case step == "..":
			way = way[:len(way)-1]
			continue
		}
		i, found := slices.BinarySearchFunc(entries, step, func(e gitEntry, name string) int {
			return cmp.Compare(e.name, name)
		})
		if !found {
			return gitEntry{}, fs.ErrNotExist
		}
		next := entries[i]
		if next.Mode()&fs.ModeSymlink == 0 {
			way = append(way, next)
			continue
		}
		if links++; links > mostLinks {
			return gitEntry{}, errors.New("too many levels of symbolic links")
		}
		o, err := t.repository.readObject(next.id)
		if err != nil {
			return gitEntry{}, err
		}
		if path.IsAbs(string(o.content)) {
			return gitEntry{}, errOutside
		}
		rest = append(strings.Split(string(o.content), "/"), rest...)
	}
	return way[len(way)-1], nil
}

// readDir returns the entries of a directory, sorted by name.
func (t gitTree) readDir(dir gitEntry) ([]gitEntry, error) {
	switch {
	case dir.mode&gitKind == gitSubmodule:
		return nil, errSubmodule
	case !dir.Mode().IsDir():
		return nil, syscall.ENOTDIR
	}
	o, err := t.repository.readObject(dir.id)
	return o.entries, err
}

// Open opens a file or a directory.
func (t gitTree) Open(name string) (fs.File, error) {
	f, err := t.openFile(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func (t gitTree) openFile(name string) (fs.File, error) {
	e, err := t.findFile(name)
	if err != nil {
		return nil, err
	}
	e.name = path.Base(name)
	file := &gitFile{gitInfo: gitInfo{e, t}}
	if file.IsDir() {
		file.entries, err = t.readDir(e)
		return file, err
	}
	o, err := t.repository.readObject(e.id)
	file.content.Reset(o.content)
	return file, err
}

// Sub returns a directory as a file system. No symbolic link leads out of it.
func (t gitTree) Sub(dir string) (fs.FS, error) {
	e, err := t.findFile(dir)
	if err == nil {
		_, err = t.readDir(e)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return gitTree{t.repository, e.id}, nil
}

// gitInfo describes a file. A revision has no times of its files.
type gitInfo struct {
	gitEntry
	tree gitTree
}

func (i gitInfo) Name() string       { return i.name }
func (i gitInfo) ModTime() time.Time { return time.Time{} }
func (i gitInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i gitInfo) Sys() any           { return nil }

// Size returns the size of a file, and 0 for a directory or an object that cannot be
// read. See repository.readError.
func (i gitInfo) Size() int64 {
	if i.IsDir() {
		return 0
	}
	o, _ := i.tree.repository.readObject(i.id)
	return o.size
}

// gitFile is an open file, or a directory with its unread entries.
type gitFile struct {
	gitInfo
	content bytes.Reader
	entries []gitEntry
}

func (f *gitFile) Stat() (fs.FileInfo, error) { return f.gitInfo, nil }
func (f *gitFile) Close() error               { return nil }

// Read reads from the content, which the repository does not have for a large file.
func (f *gitFile) Read(p []byte) (int, error) {
	if f.Size() > load.MaxFile {
		return 0, errLarge
	}
	return f.content.Read(p)
}

// ReadDir reads entries, sorted by name. It does not follow symbolic links.
func (f *gitFile) ReadDir(n int) ([]fs.DirEntry, error) {
	var next []fs.DirEntry
	for len(f.entries) > 0 && (n <= 0 || len(next) < n) {
		next = append(next, fs.FileInfoToDirEntry(gitInfo{f.entries[0], f.tree}))
		f.entries = f.entries[1:]
	}
	if n > 0 && len(next) == 0 {
		return nil, io.EOF
	}
	return next, nil
}
