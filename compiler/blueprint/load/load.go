// Package load reads the files of a blueprint into one CUE instance.
//
// Paths come in: directories, files and standard input. A Loader goes out, which
// builds the CUE value and knows the source of every position. Parts that do not
// parse or do not compile are reported and cut out, so that the rest can be checked.
// The package reads no file outside the blueprint's module, and limits sizes and
// depths before CUE evaluates anything.
package load

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"

	"github.com/batchwright/batchwright/compiler/diag"
)

// byteOrderMark is the mark that some editors write before UTF-8 text.
var byteOrderMark = []byte("\xef\xbb\xbf")

const (
	// MaxFile is the size of the largest file that is read, in bytes. Ten thousand
	// teams, written out, take about 5 MiB.
	MaxFile = 16 << 20

	// SchemaMarker is part of the name of every file of the schema, wherever the
	// overlay contains it.
	SchemaMarker = SchemaDir + "/"

	// localModule is the module of a blueprint that belongs to no module.
	localModule = "blueprint.local@v0"
)

// Input names the files of a blueprint.
type Input struct {
	// Dir is the working directory, absolute. The names of files in findings are
	// relative to it.
	Dir string
	// Paths are directories, each with one CUE package, .cue, .yaml, .yml and .json
	// files, and "-" or "yaml:-" for standard input.
	Paths []string
	// Tags are values for @tag attributes, "key=value", and conditions for @if,
	// "key".
	Tags []string
	// Files, if not nil, are read instead of the files of the disk. Dir is ignored
	// then, and Paths are relative to the root of Files.
	Files fs.FS
	// Unsaved is the content of files, by absolute name, that is read instead of
	// their content on the disk. The files need not exist on the disk.
	Unsaved map[string][]byte
	// Stdin is the content of standard input.
	Stdin Stdin
}

// Read reads the files and builds a CUE instance from them. If a file cannot be read
// or the files do not load, Read adds findings and returns nil. The error is a
// failure of the compiler.
func Read(in Input, findings *diag.List) (*Loader, error) {
	from := files{fsys: in.Files, unsaved: in.Unsaved}
	if in.Files != nil {
		root, err := missingDir()
		if err != nil {
			return nil, err
		}
		in.Dir, from.root = root, root
	}
	l := &Loader{
		in: in, Sources: &Sources{dir: in.Dir, files: from}, findings: findings, schema: SchemaFiles(),
		files: from, overlay: map[string][]byte{}, laid: map[string]bool{},
		parsing: &sync.Mutex{}, parsed: map[string]bool{},
	}
	for name, content := range in.Unsaved { // CUE itself loads the files of imported packages
		if filepath.Ext(name) == ".cue" {
			l.overlay[name] = bytes.TrimPrefix(content, byteOrderMark)
		}
	}
	for _, p := range in.Paths {
		l.readPath(p)
	}
	l.otherPlatform()
	if l.failed || len(l.cue) == 0 && len(l.data) == 0 {
		return nil, nil
	}
	if l.Instance = l.buildInstance(); l.Instance == nil {
		return nil, nil
	}
	l.unread()
	return l, nil
}

// Loader reads files into CUE instances.
type Loader struct {
	in       Input
	Sources  *Sources
	findings *diag.List
	schema   map[string][]byte // the embedded schema, by file name

	parsing  *sync.Mutex // held while CUE's loader, which has several goroutines, parses a file
	Instance *build.Instance
	failed   bool            // nothing can be evaluated
	Partial  bool            // a file does not parse and is omitted
	parsed   map[string]bool // CUE files by absolute name
	refers   bool            // a file refers to the schema
	bare     bool            // omit references to the schema

	files   files
	overlay map[string][]byte // content of the overlay, by absolute name
	laid    map[string]bool   // directories of Input.Files whose CUE files are in the overlay, absolute
	cue     []string          // names of CUE files, absolute
	dirs    []string          // directories among the paths, absolute
	data    []*ast.File       // parsed YAML and JSON files
}

// failFile reports an error about a file as a whole.
func (l *Loader) failFile(code, display, message, help string) {
	l.failed = true
	l.findings.Add(diag.Finding{
		Code: code, Severity: diag.Error, Message: message, Help: help,
		Span: diag.Span{Source: &diag.Source{Name: display}},
	})
}

// readPath adds one path of the input.
func (l *Loader) readPath(path string) {
	switch path {
	case "-":
		l.standardInput("cue")
		return
	case "yaml:-":
		l.standardInput("yaml")
		return
	}
	name := path
	if !filepath.IsAbs(name) {
		name = filepath.Join(l.in.Dir, name)
	}
	name = filepath.Clean(name)
	info, err := l.files.stat(name)
	if err != nil {
		l.failUnreadable(path, err)
		return
	}
	if info.IsDir() {
		l.addDirectory(path, name)
		return
	}
	if !info.Mode().IsRegular() {
		l.failFile("E0001", path, "is not a regular file", "pass a directory, or a .cue, .yaml or .json file")
		return
	}
	l.addFile(path, name, info.Size())
}

func (l *Loader) failUnreadable(path string, err error) {
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("no such file or directory")
	case errors.As(err, &pathErr):
		err = pathErr.Err
	}
	l.failFile("E0001", path, "cannot be read: "+err.Error(),
		"pass a directory that contains a blueprint, or the files of a blueprint")
}

// addDirectory adds the CUE files of a directory.
func (l *Loader) addDirectory(path, dir string) {
	entries, err := l.files.readDir(dir)
	if err != nil {
		l.failUnreadable(path, err)
		return
	}
	found, data := 0, ""
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir(), isIgnored(name):
		case strings.HasSuffix(name, "_tool.cue"), strings.HasSuffix(name, "_test.cue"):
		case strings.HasSuffix(name, ".cue"):
			found++
			if l.leadsOut(filepath.Join(dir, name), dir) {
				l.foreignLink(filepath.Join(path, name))
				continue
			}
			l.readPath(filepath.Join(path, name))
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) && data == "":
			data = name
		}
	}
	if found == 0 {
		help := "pass the directory of a blueprint"
		if data != "" {
			help = fmt.Sprintf("pass the file itself: %s", filepath.Join(path, data))
		}
		l.failFile("E0001", path, "has no .cue files", help)
		return
	}
	l.dirs = append(l.dirs, dir)
}

// isIgnored reports whether CUE ignores a file of a package because of its name.
func isIgnored(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// leadsOut reports whether a file of a directory is a symbolic link that leads out
// of the directory's module. Findings would show the content of such a file, which
// does not belong to the blueprint.
func (l *Loader) leadsOut(name, dir string) bool {
	if l.files.fsys != nil {
		return false // see Input.Files
	}
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false // it leads nowhere and cannot be read
	}
	root, _ := moduleRoot(dir, l.files.stat)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return true
	}
	rel, err := filepath.Rel(root, target)
	return err != nil || !filepath.IsLocal(rel)
}

func (l *Loader) foreignLink(display string) {
	l.failFile("E0001", display, "is a symbolic link to a file outside the blueprint's module",
		"copy the file here, or pass the target of the link as a separate PATH")
}

// addFile adds one regular file.
func (l *Loader) addFile(path, name string, size int64) {
	if size > MaxFile {
		l.tooLarge(path)
		return
	}
	content, err := l.files.readFile(name)
	if err != nil {
		l.failUnreadable(path, err)
		return
	}
	content = bytes.TrimPrefix(content, byteOrderMark)
	switch ext := filepath.Ext(name); ext {
	case ".cue":
		l.Sources.addSource(name, l.Sources.displayName(name), content)
		if l.isText(path, content) {
			l.overlay[name] = content
			if !slices.Contains(l.cue, name) {
				l.cue = append(l.cue, name)
			}
		}
	case ".yaml", ".yml", ".json":
		l.decodeFile(ext[1:], path, name, content)
	default:
		l.failFile("E0001", path, fmt.Sprintf("a blueprint cannot be a %q file", ext),
			"want .cue, .yaml, .yml or .json")
	}
}

// Stdin is the content of standard input, at most one byte more than a file may
// have, and the error that ended reading.
type Stdin struct {
	content []byte
	err     error
}

// ReadStdin reads standard input if a path names it. A nil reader is empty.
func ReadStdin(r io.Reader, paths []string) (s Stdin) {
	if r != nil && (slices.Contains(paths, "-") || slices.Contains(paths, "yaml:-")) {
		s.content, s.err = io.ReadAll(io.LimitReader(r, MaxFile+1))
	}
	return s
}

// standardInput adds standard input.
func (l *Loader) standardInput(format string) {
	content := l.in.Stdin.content
	if l.in.Stdin.err != nil {
		l.failUnreadable("-", l.in.Stdin.err)
		return
	}
	if len(content) > MaxFile {
		l.tooLarge("-")
		return
	}
	content = bytes.TrimPrefix(content, byteOrderMark)
	if json := bytes.TrimSpace(content); len(json) > 0 && json[0] == '{' && stdjson.Valid(json) {
		format = "json"
	}
	if format != "cue" {
		l.decodeFile(format, "-", filepath.Join(l.in.Dir, "-"), content)
		return
	}
	// As a file of the working directory, standard input can import, embed and be
	// selected by tags like any other file.
	name := filepath.Join(l.in.Dir, "-.cue")
	l.Sources.addSource(name, "-", content)
	if l.isText("-", content) {
		l.overlay[name] = content
		l.cue = append(l.cue, name)
	}
}

func (l *Loader) tooLarge(path string) {
	l.failFile("E0002", path, fmt.Sprintf("is larger than %d MiB", MaxFile>>20),
		"check that this is the right file: even a blueprint of ten thousand teams is smaller")
}

// isText reports whether content is text that can be parsed. If it is not, isText
// adds a finding.
func (l *Loader) isText(path string, content []byte) bool {
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		l.failFile("E0002", path, "is empty", `start with name: "my-platform"`)
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		l.failFile("E0002", path, "is not a text file", "write the blueprint as UTF-8 text")
	default:
		return true
	}
	return false
}
