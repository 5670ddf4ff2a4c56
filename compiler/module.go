package compiler

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue/parser"
	"cuelang.org/go/mod/modfile"

	"github.com/batchwright/batchwright/schema"
)

// SchemaDir is where a CUE module holds its copy of the schema, by a
// slash-separated path below its root.
const SchemaDir = "cue.mod/pkg/" + schema.ImportPath

// moduleFile is the file that makes a directory a CUE module.
const moduleFile = "cue.mod/module.cue"

// localModuleText is the module of a blueprint that belongs to none. The
// language's version is the oldest with which CUE's own tools read the schema.
const localModuleText = "module: \"" + localModule + "\"\nlanguage: version: \"" + SchemaLanguage + "\"\n"

// SchemaLanguage is the version of CUE's language that the schema is written in.
const SchemaLanguage = "v0.17.0"

// Module is what lets CUE's own tools, such as its language server, check the
// blueprint of a directory as the compiler does.
type Module struct {
	Root  string            // the root of its CUE module; the directory itself where there is none
	Dir   string            // the directory, slash-separated below Root
	Files map[string][]byte // what is to be there: by slash-separated path below Root
	Found bool              // there is a module, or a blueprint to make one of
	// Language is the version of CUE's language that a module asks for, "" where
	// there is none, or it cannot be read. With one before SchemaLanguage the
	// files are no valid CUE.
	Language string
}

// FindModule tells what the blueprint of a directory needs of files to be
// checked by CUE's own tools: the schema of this version, a module around it
// where there is none, and a file of the blueprint's package that refers to the
// schema where none does. The directory need not exist.
func FindModule(dir string) (Module, error) {
	root, found := moduleRoot(dir, os.Stat)
	m := Module{Root: root, Found: found}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return m, err
	}
	m.Dir = filepath.ToSlash(rel)
	schema, err := schemaFiles()
	if err != nil {
		return m, err
	}
	m.Files = map[string][]byte{}
	for name, content := range schema {
		m.Files[path.Join(SchemaDir, name)] = content
	}
	if !found {
		m.Files[moduleFile] = []byte(localModuleText)
	} else if content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(moduleFile))); err == nil {
		if f, err := modfile.ParseNonStrict(content, moduleFile); err == nil && f.Language != nil {
			m.Language = f.Language.Version
		}
	}
	pkg, refers, err := blueprintPackage(dir)
	if pkg != "" {
		m.Found = true
	}
	if pkg != "" && !refers {
		m.Files[path.Join(m.Dir, "schema.cue")] = SchemaReference(pkg)
	}
	return m, err
}

// SchemaReference returns a CUE file that holds its package against the schema.
// Without the experiment CUE takes a struct that embeds a definition for open,
// and finds no misspelt field.
func SchemaReference(pkg string) []byte {
	return []byte(`// Lets editors and "cue vet" check the blueprint; batchwright does without.
@experiment(explicitopen)

package ` + pkg + `

import "` + schema.ImportPath + `"

schema.#Blueprint
`)
}

// blueprintPackage returns the package of a directory's CUE files, "" where it
// has none, and whether one of them imports the schema.
func blueprintPackage(dir string) (pkg string, refers bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return "", false, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".cue" || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), "_") ||
			strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		content, err := os.ReadFile(name)
		if err != nil {
			return "", false, err
		}
		f, err := parseCUE(name, bytes.TrimPrefix(content, byteOrderMark), parser.ImportsOnly)
		if err != nil || f.PackageName() == "" {
			continue // vet says what is wrong with it
		}
		pkg = f.PackageName()
		refers = refers || len(schemaNames(f)) > 0
	}
	return pkg, refers, nil
}

// moduleRoot returns the nearest directory at or above one that is the root of a
// CUE module, or the directory itself where there is none.
func moduleRoot(start string, stat func(string) (fs.FileInfo, error)) (root string, found bool) {
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := stat(filepath.Join(dir, filepath.FromSlash(moduleFile))); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return start, false
		}
	}
}
