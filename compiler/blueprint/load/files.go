package load

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
)

// files is the source of a blueprint's files: the disk, or Input.Files. File names
// are absolute.
type files struct {
	fsys    fs.FS             // nil for the disk
	root    string            // absolute name of the root of fsys
	unsaved map[string][]byte // see Input.Unsaved
}

// readFrom reads a file from fsys or, if fsys is nil, from the disk.
func readFrom[T any](
	f files, name string, disk func(string) (T, error), fsys func(fs.FS, string) (T, error),
) (content T, err error) {
	if f.fsys == nil {
		return disk(name)
	}
	rel, err := filepath.Rel(f.root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return content, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fsys(f.fsys, filepath.ToSlash(rel))
}

func (f files) stat(name string) (fs.FileInfo, error) {
	if content, ok := f.unsaved[name]; ok {
		return unsavedFile{filepath.Base(name), len(content)}, nil
	}
	return readFrom(f, name, os.Stat, fs.Stat)
}

func (f files) readDir(name string) ([]fs.DirEntry, error) {
	entries, err := readFrom(f, name, os.ReadDir, fs.ReadDir)
	if err != nil {
		return nil, err
	}
	for file, content := range f.unsaved {
		base := filepath.Base(file)
		if filepath.Dir(file) == name &&
			!slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == base }) {
			entries = append(entries, fs.FileInfoToDirEntry(unsavedFile{base, len(content)}))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (f files) readFile(name string) ([]byte, error) {
	if content, ok := f.unsaved[name]; ok {
		return content, nil
	}
	return readFrom(f, name, os.ReadFile, fs.ReadFile)
}

// unsavedFile describes a file of Input.Unsaved.
type unsavedFile struct {
	name string
	size int
}

func (u unsavedFile) Name() string       { return u.name }
func (u unsavedFile) Size() int64        { return int64(u.size) }
func (u unsavedFile) Mode() fs.FileMode  { return 0o644 }
func (u unsavedFile) ModTime() time.Time { return time.Time{} }
func (u unsavedFile) IsDir() bool        { return false }
func (u unsavedFile) Sys() any           { return nil }

// openBelow returns the files below a directory as a file system that no symbolic link
// leads out of. The caller must close it.
func (f files) openBelow(dir string) (fs.FS, io.Closer, error) {
	if f.fsys == nil {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		return root.FS(), root, nil
	}
	sub, err := readFrom(f, dir, nil, fs.Sub)
	return sub, io.NopCloser(nil), err
}

// missingDir returns the name of a directory that does not exist on the disk, to use
// as the root of Input.Files. CUE's loader can read a file system other than the
// disk, but then finds no package below cue.mod/pkg. In an overlay it finds
// everything, and it sees nothing else if the directories do not exist on the disk.
func missingDir() (string, error) {
	name, err := filepath.Abs(string(filepath.Separator) + "batchwright") // on Windows, with the name of a volume
	for err == nil {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name += "-"
	}
	return name, err
}

// layFiles adds to the overlay the CUE files that can become part of the blueprint:
// those in its directory, in the packages that these import, and so on.
func (l *Loader) layFiles(root string) {
	for _, name := range []string{"module.cue", "local-module.cue"} {
		l.layFile(filepath.Join(root, "cue.mod", name))
	}
	for _, name := range l.cue {
		l.layImports(root, name)
	}
	for _, dir := range l.dirs {
		l.layPackage(root, dir)
	}
}

// layPackage adds to the overlay the CUE files of a directory and of the directories
// above it in the module, because files of the same package there belong to it.
func (l *Loader) layPackage(root, dir string) {
	if rel, err := filepath.Rel(root, dir); err != nil || !filepath.IsLocal(rel) || l.laid[dir] {
		return
	}
	l.laid[dir] = true
	entries, _ := l.files.readDir(dir) // most often the directory does not exist
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); filepath.Ext(name) == ".cue" && l.layFile(name) {
			l.layImports(root, name)
		}
	}
	l.layPackage(root, filepath.Dir(dir))
}

// layFile adds a file to the overlay, unless it is there already, and reports
// whether the file exists.
func (l *Loader) layFile(name string) bool {
	if _, ok := l.overlay[name]; ok {
		return true
	}
	if info, err := l.files.stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	content, err := l.files.readFile(name)
	if err != nil {
		l.failUnreadable(l.Sources.displayName(name), err)
		return false
	}
	l.overlay[name] = content
	return true
}

// layImports adds to the overlay the packages that a file imports, from every
// possible place: below cue.mod, or in the module itself. The module's own path can
// be any leading part of the import path.
func (l *Loader) layImports(root, name string) {
	file, err := ParseCUE(name, l.overlay[name], parser.ImportsOnly)
	if err != nil {
		return // the loader reports the error
	}
	for spec := range file.ImportSpecs() {
		written, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser does not accept such a path
		}
		imported := ast.ParseImportPath(written).Path
		for _, local := range []string{"gen", "usr", "pkg"} {
			l.layPackage(root, filepath.Join(root, "cue.mod", local, filepath.FromSlash(imported)))
		}
		for rest := imported; rest != ""; {
			l.layPackage(root, filepath.Join(root, filepath.FromSlash(rest)))
			_, rest, _ = strings.Cut(rest, "/")
		}
		l.layPackage(root, root)
	}
}
