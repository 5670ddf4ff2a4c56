package lsp

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/editor"
)

// document is a file that is open in the editor.
type document struct {
	name    string // absolute
	uri     string // as the editor writes it
	version int
	*text
}

func (s *Server) openDocument(p openParams) (any, error) {
	name := fileOf(p.TextDocument.URI)
	if name == "" {
		return nil, nil // a buffer without a file belongs to no platform
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.documents[name] = &document{
		name, p.TextDocument.URI, p.TextDocument.Version, newText([]byte(p.TextDocument.Text)),
	}
	s.scheduleFile(name)
	return nil, nil
}

func (s *Server) changeDocument(p changeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[fileOf(p.TextDocument.URI)]
	if d == nil {
		return nil, fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			d.text = newText([]byte(c.Text))
			continue
		}
		start := d.offset(c.Range.Start)
		end := max(start, d.offset(c.Range.End))
		d.text = newText(slices.Concat(d.content[:start], []byte(c.Text), d.content[end:]))
	}
	d.version = p.TextDocument.Version
	s.scheduleFile(d.name)
	return nil, nil
}

func (s *Server) saveDocument(p documentParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scheduleFile(fileOf(p.TextDocument.URI))
	return nil, nil
}

func (s *Server) closeDocument(p documentParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fileOf(p.TextDocument.URI)
	delete(s.documents, name)
	s.scheduleFile(name)
	return nil, nil
}

// changeFiles checks every platform again, because other programs changed files.
func (s *Server) changeFiles(struct{}) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.platforms {
		s.scheduleCheck(p)
	}
	return nil, nil
}

// unsavedFiles returns the content of all open files. The caller must hold mu.
func (s *Server) unsavedFiles() map[string][]byte {
	out := map[string][]byte{}
	for name, d := range s.documents {
		out[name] = bytes.Clone(d.content)
	}
	return out
}

// platformOf returns the platform that a file belongs to: its key, its working
// directory and its paths. The key is "" if the file cannot be part of a platform.
func (s *Server) platformOf(name string) (key, dir string, paths []string) {
	for _, p := range s.Paths {
		if name == p || filepath.Dir(name) == p {
			return strings.Join(s.Paths, "\n"), s.Dir, s.Paths
		}
	}
	dir = filepath.Dir(name)
	switch filepath.Ext(name) {
	case ".cue":
		if slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), "cue.mod") {
			return "", "", nil
		}
		return dir, dir, []string{dir}
	case ".yaml", ".yml", ".json":
		return name, dir, []string{name}
	}
	return "", "", nil
}

// isBlueprint reports whether the files of a platform are a blueprint. The paths of
// the command line always are. The caller must hold mu.
func (s *Server) isBlueprint(key string, paths []string) bool {
	if len(s.Paths) > 0 && key == strings.Join(s.Paths, "\n") {
		return true
	}
	return editor.IsBlueprint(s.readFiles(paths))
}

// readFiles returns the files of a platform, as they are in the editor or on the
// disk. It omits files that cannot be read or are too large. The caller must hold mu.
func (s *Server) readFiles(paths []string) []editor.File {
	names := map[string]bool{}
	for _, p := range paths {
		if filepath.Ext(p) != "" && s.documents[p] != nil {
			names[p] = true
		}
		for name := range s.documents {
			if filepath.Dir(name) == p && filepath.Ext(name) == ".cue" {
				names[name] = true
			}
		}
		info, err := os.Stat(p)
		switch {
		case err != nil:
		case !info.IsDir():
			names[p] = true
		default:
			entries, _ := os.ReadDir(p) // the check reports an unreadable directory
			for _, e := range entries {
				if filepath.Ext(e.Name()) == ".cue" {
					names[filepath.Join(p, e.Name())] = true
				}
			}
		}
	}
	var files []editor.File
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if d := s.documents[name]; d != nil {
			if len(d.content) > load.MaxFile {
				continue
			}
			files = append(files, editor.File{Name: name, Content: d.content})
			continue
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > load.MaxFile {
			continue
		}
		if content, err := os.ReadFile(name); err == nil {
			files = append(files, editor.File{Name: name, Content: content})
		}
	}
	return files
}
