package load

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cuelang.org/go/cue/parser"
	"cuelang.org/go/mod/modfile"

	"github.com/batchwright/batchwright/schema"
)

// SchemaDir is the directory of a CUE module that contains its copy of the schema,
// as a slash-separated path below the module's root.
const SchemaDir = "cue.mod/pkg/" + schema.ImportPath

// moduleFile is the file that makes a directory a CUE module.
const moduleFile = "cue.mod/module.cue"

// localModuleText is the module file of a blueprint that belongs to no module. The
// version of the language is the oldest one in which CUE's own tools can read the
// schema.
const localModuleText = "module: \"" + localModule + "\"\nlanguage: version: \"" + SchemaLanguage + "\"\n"

// SchemaLanguage is the version of CUE's language that the schema is written in.
const SchemaLanguage = "v0.17.0"

// Module describes the files that CUE's own tools, such as its language server, need
// to check the blueprint of a directory as the compiler does.
type Module struct {
	Root  string            // root of the CUE module; the directory itself if there is no module
	Dir   string            // the directory, slash-separated below Root
	Files map[string][]byte // content of the needed files, by slash-separated path below Root
	Found bool              // there is a module, or a blueprint for which one can be made
	// Language is the version of CUE's language that the module requests. It is ""
	// if there is no module or its file cannot be read. In a version before
	// SchemaLanguage, the files are not valid CUE.
	Language string
}

// FindModule returns the files to add to a directory so that CUE's own tools can check
// its blueprint: the schema of this version; a module, if the directory has none; and a
// file that refers to the schema, if no file of the blueprint's package does. The
// directory need not exist.
func FindModule(dir string) (Module, error) {
	root, found := moduleRoot(dir, os.Stat)
	m := Module{Root: root, Found: found}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return m, err
	}
	m.Dir = filepath.ToSlash(rel)
	m.Files = map[string][]byte{}
	for name, content := range SchemaFiles() {
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

// SchemaReference returns a CUE file that makes CUE check its package against the
// schema. The file enables an experiment, without which CUE treats a struct that
// embeds a definition as open, and finds no misspelt field.
func SchemaReference(pkg string) []byte {
	return []byte(`// Lets editors and "cue vet" check the blueprint; batchwright does without.
@experiment(explicitopen)

package ` + pkg + `

import "` + schema.ImportPath + `"

schema.#Blueprint
`)
}

// blueprintPackage returns the package of a directory's CUE files, "" if it has
// none, and reports whether one of the files imports the schema.
func blueprintPackage(dir string) (pkg string, refers bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return "", false, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".cue" || !e.Type().IsRegular() || isIgnored(e.Name()) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		content, err := os.ReadFile(name)
		if err != nil {
			return "", false, err
		}
		f, err := ParseCUE(name, bytes.TrimPrefix(content, byteOrderMark), parser.ImportsOnly)
		if err != nil || f.PackageName() == "" {
			continue // vet reports the error
		}
		pkg = f.PackageName()
		refers = refers || len(schemaNames(f)) > 0
	}
	return pkg, refers, nil
}

// moduleRoot returns the nearest directory at or above start that is the root of a
// CUE module, and reports whether there is one. If not, it returns start.
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

// SchemaFiles returns the embedded schema, by file name.
func SchemaFiles() map[string][]byte {
	files := map[string][]byte{}
	entries, err := schema.Files.ReadDir(".")
	for _, e := range entries {
		if err == nil {
			files[e.Name()], err = schema.Files.ReadFile(e.Name())
		}
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return files
}
