package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/token"
)

// embedFrom lets @embed read only the files of a module. It excludes files that a
// symbolic link leads to outside of the module, files that are larger than a
// blueprint may be, and everything that is not a regular file, because reading it
// might never end. A file outside of the module embeds from its own directory.
func embedFrom(files files, root string, inst *build.Instance) {
	for _, i := range append(inst.Dependencies(), inst) {
		for _, f := range i.Files {
			source := f.Pos().File()
			if source == nil {
				continue // an empty file
			}
			base, at := root, ""
			name, err := filepath.Rel(base, source.Name())
			if err != nil || !filepath.IsLocal(name) {
				base, name = filepath.Split(source.Name())
				// CUE treats directories with equal paths as the same, even if they
				// are in different file systems.
				at = strings.Trim(filepath.ToSlash(base), "/")
			}
			source.SetFSLoc(token.FSLoc{FS: moduleFiles{files, base, at}, Path: path.Join(at, filepath.ToSlash(name))})
		}
	}
}

// moduleFiles is a file system of the files that may be embedded from a directory.
// The name of a file is its path below dir, prefixed by at.
type moduleFiles struct {
	files   files
	dir, at string
}

// EmbeddableFiles returns the files below a directory that may be embedded.
func (s *Sources) EmbeddableFiles(dir string) fs.FS { return moduleFiles{files: s.files, dir: dir} }

// Open opens a directory, or a file that may be embedded. For any other file it
// returns a file whose reads fail with the reason: CUE would treat an error of Open
// as a missing file.
func (m moduleFiles) Open(name string) (fs.File, error) {
	if m.at != "" {
		name = path.Join(".", strings.TrimPrefix(strings.TrimPrefix(name, m.at), "/"))
	}
	fsys, dir, err := m.files.openBelow(m.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := fs.Stat(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		if failed := new(fs.PathError); errors.As(err, &failed) {
			err = failed.Err
		}
		return refused{reason: fmt.Errorf("%s: %w", name, err)}, nil
	case !info.IsDir() && !info.Mode().IsRegular():
		return refused{reason: fmt.Errorf("%s is not a regular file", name)}, nil
	case info.Size() > MaxFile:
		return refused{reason: fmt.Errorf("%s is larger than %d MiB", name, MaxFile>>20)}, nil
	}
	return fsys.Open(name)
}

// refused is a file whose Stat and Read fail with a reason.
type refused struct{ reason error }

func (r refused) Stat() (fs.FileInfo, error) { return nil, r.reason }
func (r refused) Read([]byte) (int, error)   { return 0, r.reason }
func (r refused) Close() error               { return nil }
