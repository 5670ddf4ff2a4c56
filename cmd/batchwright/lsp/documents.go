package lsp

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"

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

func (s *Server) openDocument(p params) any {
	if name := fileOf(p.TextDocument.URI); name != "" { // a buffer without a file belongs to no platform
		text := newText([]byte(p.TextDocument.Text))
		s.documents[name] = &document{name, p.TextDocument.URI, p.TextDocument.Version, text}
		s.scheduleFile(name)
	}
	return nil
}

func (s *Server) changeDocument(p params) any {
	d := s.documents[fileOf(p.TextDocument.URI)]
	if d == nil {
		s.log.Printf("%s is not open", p.TextDocument.URI)
		return nil
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
	return nil
}

func (s *Server) saveDocument(p params) any {
	s.scheduleFile(fileOf(p.TextDocument.URI))
	return nil
}

func (s *Server) closeDocument(p params) any {
	delete(s.documents, fileOf(p.TextDocument.URI))
	return s.saveDocument(p)
}

// changeFiles checks every platform again, because other programs changed files.
func (s *Server) changeFiles(params) any {
	s.scheduleAll()
	return nil
}

// unsavedFiles returns the content of all open files. The caller must hold mu.
func (s *Server) unsavedFiles() map[string][]byte {
	out := map[string][]byte{}
	for name, d := range s.documents {
		out[name] = bytes.Clone(d.content)
	}
	return out
}

// readFiles returns the files of a platform, as they are in the editor or on the
// disk. It omits files that cannot be read or are too large. The caller must hold mu.
func (s *Server) readFiles(paths []string) []editor.File {
	names := map[string]bool{}
	for _, p := range paths {
		names[p] = true
		entries, _ := os.ReadDir(p) // none in a file; the check reports an unreadable directory
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".cue" {
				names[filepath.Join(p, e.Name())] = true
			}
		}
		for name := range s.documents {
			if filepath.Dir(name) == p && filepath.Ext(name) == ".cue" {
				names[name] = true
			}
		}
	}
	var files []editor.File
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if d := s.documents[name]; d != nil {
			if len(d.content) <= load.MaxFile {
				files = append(files, editor.File{Name: name, Content: d.content})
			}
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
