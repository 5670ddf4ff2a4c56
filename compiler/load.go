package compiler

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	cueerrors "cuelang.org/go/cue/errors"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/encoding/json"
	"cuelang.org/go/encoding/yaml"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// byteOrderMark is what some editors put in front of UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

const (
	// maxFile is the largest file that is read, in bytes: ten thousand teams
	// written out take some 5 MiB.
	maxFile = 16 << 20

	// schemaMarker is part of the name of every schema file, wherever it is
	// laid.
	schemaMarker = "cue.mod/pkg/" + schema.ImportPath + "/"

	// localModule is the module of a blueprint that belongs to none.
	localModule = "blueprint.local@v0"
)

// load reads the input into one CUE instance. Where that fails it adds
// findings and returns nil.
func load(in Input, sources *sources, findings *diag.List) (*build.Instance, error) {
	schema, err := schemaFiles()
	if err != nil {
		return nil, err
	}
	l := &loader{in: in, sources: sources, findings: findings, schema: schema, overlay: map[string]cueload.Source{}}
	paths := in.Paths
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, p := range paths {
		l.read(p)
	}
	if findings.HasErrors() {
		return nil, nil
	}
	return l.instance(), nil
}

type loader struct {
	in       Input
	sources  *sources
	findings *diag.List
	schema   map[string][]byte // the embedded schema, by file name

	overlay map[string]cueload.Source // files by absolute name
	cue     []string                  // CUE files, absolute
	dirs    []string                  // directories named, absolute
	data    []*ast.File               // YAML and JSON
}

func (l *loader) fail(code, display, message, help string) {
	l.findings.Add(diag.Finding{
		Code: code, Severity: diag.Error, Message: message, Help: help,
		Span: diag.Span{Source: &diag.Source{Name: display}},
	})
}

// read takes in one path of the input.
func (l *loader) read(path string) {
	switch path {
	case "-":
		l.stdin("cue")
		return
	case "yaml:-":
		l.stdin("yaml")
		return
	}
	name := path
	if !filepath.IsAbs(name) {
		name = filepath.Join(l.in.Dir, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		l.unreadable(path, err)
		return
	}
	if info.IsDir() {
		l.directory(path, name)
		return
	}
	if !info.Mode().IsRegular() {
		l.fail("E0001", path, "not a regular file", "name a directory, or a .cue, .yaml or .json file")
		return
	}
	l.file(path, name, info.Size())
}

func (l *loader) unreadable(path string, err error) {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	l.fail("E0001", path, "cannot be read: "+err.Error(), "name a directory that holds a blueprint, or its files")
}

// directory takes in the CUE files of a directory.
func (l *loader) directory(path, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.unreadable(path, err)
		return
	}
	found, data := 0, ""
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir(), strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"):
		case strings.HasSuffix(name, "_tool.cue"), strings.HasSuffix(name, "_test.cue"):
		case strings.HasSuffix(name, ".cue"):
			found++
			l.read(filepath.Join(path, name))
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) && data == "":
			data = name
		}
	}
	if found == 0 {
		help := "name the directory of a blueprint"
		if data != "" {
			help = fmt.Sprintf("name the file itself: %s", filepath.Join(path, data))
		}
		l.fail("E0001", path, "has no .cue files", help)
		return
	}
	l.dirs = append(l.dirs, dir)
}

// file takes in one regular file.
func (l *loader) file(path, name string, size int64) {
	if size > maxFile {
		l.tooLarge(path)
		return
	}
	content, err := os.ReadFile(name)
	if err != nil {
		l.unreadable(path, err)
		return
	}
	content = bytes.TrimPrefix(content, byteOrderMark)
	switch ext := filepath.Ext(name); ext {
	case ".cue":
		l.sources.add(name, l.sources.display(name), content)
		if l.text(path, content) {
			l.overlay[name] = cueload.FromBytes(content)
			if !slices.Contains(l.cue, name) {
				l.cue = append(l.cue, name)
			}
		}
	case ".yaml", ".yml", ".json":
		l.decode(ext[1:], path, name, content)
	default:
		l.fail("E0001", path, fmt.Sprintf("%q is not a kind of file a blueprint is written in", ext), "want .cue, .yaml, .yml or .json")
	}
}

// stdin takes in standard input.
func (l *loader) stdin(format string) {
	var content []byte
	if l.in.Stdin != nil {
		var err error
		if content, err = io.ReadAll(io.LimitReader(l.in.Stdin, maxFile+1)); err != nil {
			l.unreadable("-", err)
			return
		}
	}
	if len(content) > maxFile {
		l.tooLarge("-")
		return
	}
	content = bytes.TrimPrefix(content, byteOrderMark)
	if json := bytes.TrimSpace(content); len(json) > 0 && json[0] == '{' && stdjson.Valid(json) {
		format = "json"
	}
	if format != "cue" {
		l.decode(format, "-", filepath.Join(l.in.Dir, "-"), content)
		return
	}
	// As a file of the working directory, it can import, embed and be chosen
	// by tags like any other.
	name := filepath.Join(l.in.Dir, "-.cue")
	l.sources.add(name, "-", content)
	if l.text("-", content) {
		l.overlay[name] = cueload.FromBytes(content)
		l.cue = append(l.cue, name)
	}
}

func (l *loader) tooLarge(path string) {
	l.fail("E0002", path, fmt.Sprintf("larger than %d MiB", maxFile>>20), "a blueprint of ten thousand teams is smaller; is this the right file?")
}

// text tells whether content is text that can be parsed, and adds a finding
// where it is not.
func (l *loader) text(path string, content []byte) bool {
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		l.fail("E0002", path, "is empty", `start with a name: name: "my-platform"`)
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		l.fail("E0002", path, "is not a text file", "a blueprint is UTF-8 text")
	default:
		return true
	}
	return false
}

// decode parses a file that CUE's loader does not take by itself.
func (l *loader) decode(format, path, name string, content []byte) {
	display := path
	if path != "-" {
		display = l.sources.display(name)
	}
	l.sources.add(name, display, content)
	if !l.text(path, content) {
		return
	}
	var file *ast.File
	var err error
	switch format {
	case "json":
		var expr ast.Expr
		if expr, err = json.Extract(name, content); err == nil {
			file = &ast.File{Filename: name, Decls: []ast.Decl{&ast.EmbedDecl{Expr: expr}}}
			// JSON is CUE, and only CUE's parser knows where every key starts.
			if exact, err := parser.ParseExpr(name, content); err == nil {
				expr = exact
			}
			if s, ok := expr.(*ast.StructLit); ok {
				file.Decls = s.Elts
			}
		}
	default:
		file, err = yaml.Extract(name, content)
	}
	if err != nil {
		l.syntax(err)
		return
	}
	l.duplicates(file.Decls, nil)
	if !isMapping(file) {
		if at := secondDocument(content); at >= 0 {
			l.findings.Add(diag.Finding{
				Code: "E0003", Severity: diag.Error, Message: "a second document begins here",
				Span: diag.Span{Source: l.sources.get(name), Start: at, End: at + 3}, Help: "keep one document in the file",
			})
			return
		}
		l.fail("E0003", path, "does not hold a blueprint", "the file must be a mapping of fields such as name and teams")
		return
	}
	l.data = append(l.data, file)
}

// secondDocument returns where the second document of a YAML file begins, or
// -1.
func secondDocument(content []byte) int {
	first := bytes.HasPrefix(content, []byte("---"))
	at := 0
	for line := range bytes.Lines(content) {
		if bytes.HasPrefix(line, []byte("---")) && at > 0 && (first || len(bytes.TrimSpace(content[:at])) > 0) {
			return at
		}
		at += len(line)
	}
	return -1
}

// isMapping tells whether a data file's top level consists of fields.
func isMapping(f *ast.File) bool {
	for _, d := range f.Decls {
		switch d.(type) {
		case *ast.Field, *ast.Package, *ast.CommentGroup:
		default:
			return false
		}
	}
	return true
}

// duplicates reports keys that a YAML or JSON mapping has twice: CUE would
// merge them, and other readers take the last.
func (l *loader) duplicates(decls []ast.Decl, path []string) {
	first := map[string]*ast.Field{}
	for _, d := range decls {
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			continue
		}
		at := append(slices.Clip(path), name)
		if before := first[name]; before != nil {
			l.findings.Add(diag.Finding{
				Code: "E0005", Severity: diag.Error, Path: diag.Path(at),
				Message: fmt.Sprintf("key %q stands here twice", name),
				Span:    l.sources.span(f.Label.Pos()),
				Related: []diag.Related{{Span: l.sources.span(before.Label.Pos()), Message: "first here"}},
				Help:    "keep one of them",
			})
		} else {
			first[name] = f
		}
		l.nested(f.Value, at)
	}
}

func (l *loader) nested(e ast.Expr, path []string) {
	switch e := e.(type) {
	case *ast.StructLit:
		l.duplicates(e.Elts, path)
	case *ast.ListLit:
		for _, item := range e.Elts {
			l.nested(item, path)
		}
	}
}

// syntax reports the first syntax error of each file: the others are mostly
// its echoes.
func (l *loader) syntax(err error) {
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		pos := e.Position()
		if seen[pos.Filename()] {
			continue
		}
		seen[pos.Filename()] = true
		text, span := l.say(e), l.sources.span(pos)
		if m := yamlPosition.FindStringSubmatch(text); m != nil && !span.Valid() {
			line, _ := strconv.Atoi(m[2])
			if strings.HasPrefix(m[3], "did not find expected") {
				line++ // of these the YAML parser counts lines from 0
			}
			text, span = m[3], l.sources.line(filepath.Join(l.in.Dir, m[1]), line)
		} else if m := yamlAnchor.FindStringSubmatch(text); m != nil && !span.Valid() {
			src := l.sources.get(filepath.Join(l.in.Dir, m[1]))
			if at := bytes.Index(src.Content, []byte("*"+m[3])); at >= 0 {
				text, span = m[2], diag.Span{Source: src, Start: at, End: at + 1 + len(m[3])}
			}
		}
		l.syntaxError(text, span)
	}
}

// yamlHint is for standard input that does not parse as CUE.
const yamlHint = `if this is YAML, name it "yaml:-"`

// yamlPosition is how the YAML parser says where: file, line, message.
var yamlPosition = regexp.MustCompile(`^(.+):([0-9]+): (.+)$`)

// yamlAnchor is how it reports an alias without an anchor, and does not say
// where.
var yamlAnchor = regexp.MustCompile(`^([^:]+): (unknown anchor '([^']+)' referenced)$`)

func (l *loader) syntaxError(text string, span diag.Span) {
	f := diag.Finding{
		Code: "E0003", Severity: diag.Error, Message: "syntax error: " + text, Span: span,
		Help: "correct it first: what the rest means depends on it",
	}
	if span.Valid() && span.Source.Name == "-" {
		f.Help += "; " + yamlHint
	}
	l.findings.Add(f)
}

// message returns a CUE error's own words, without its path.
func message(e cueerrors.Error) string {
	return strings.TrimPrefix(e.Error(), strings.Join(e.Path(), ".")+": ")
}

// say returns an error's words for a finding: without paths of this machine.
func (l *loader) say(e cueerrors.Error) string {
	text := strings.ReplaceAll(message(e), l.in.Dir+string(filepath.Separator), "")
	return invalidJSON.ReplaceAllString(text, "")
}

var invalidJSON = regexp.MustCompile(`^invalid JSON for file "[^"]*": `)

// instance builds what was read into one instance.
func (l *loader) instance() *build.Instance {
	root := l.moduleRoot()
	l.layModule(root)
	if len(l.cue) == 0 {
		for _, tag := range l.in.Tags {
			l.unusedTag(tag)
		}
		inst := build.NewContext(build.Loader(l.imports(root))).NewInstance(root, nil)
		return l.addData(inst)
	}
	args := l.cue
	if len(l.dirs) == 1 && l.onlyFilesOf(l.dirs[0]) {
		args = []string{"."} // as a package: its imports and its @if files
	}
	cfg := l.config(root)
	if len(l.dirs) == 1 {
		cfg.Dir = l.dirs[0]
	}
	inst := cueload.Instances(args, cfg)[0]
	if inst.Err != nil {
		l.loadErrors(inst.Err)
		return nil
	}
	for _, f := range inst.IgnoredFiles {
		if _, named := l.overlay[f.Filename]; named && f.ExcludeReason != nil && strings.Contains(f.ExcludeReason.Error(), "no package name") {
			l.findings.Add(diag.Finding{
				Code: "E0004", Severity: diag.Error, Message: "has no package clause, so the directory's package leaves it out",
				Span: diag.Span{Source: l.sources.get(f.Filename)}, Help: "begin it with: package " + inst.PkgName,
			})
		}
	}
	if inst.Module == "" { // files named one by one embed others as a package does
		inst.Module, inst.Root = localModule, root
	}
	return l.addData(inst)
}

// config is CUE's configuration: no environment, so that nothing but the
// blueprint decides, and no registry, so that nothing is fetched.
func (l *loader) config(root string) *cueload.Config {
	return &cueload.Config{
		Dir:        root,
		ModuleRoot: root,
		Overlay:    l.overlay,
		Tags:       l.in.Tags,
		Env:        []string{"CUE_REGISTRY=none", "CUE_CACHE_DIR=" + filepath.Join(root, "cue.mod", "none")},
	}
}

// imports resolves the imports of data and standard input.
func (l *loader) imports(root string) build.LoadFunc {
	return func(pos token.Pos, path string) *build.Instance {
		if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
			return nil // CUE's own packages
		}
		cfg := l.config(root)
		cfg.Tags = nil
		return cueload.Instances([]string{path}, cfg)[0]
	}
}

func (l *loader) onlyFilesOf(dir string) bool {
	return !slices.ContainsFunc(l.cue, func(name string) bool { return filepath.Dir(name) != dir })
}

// addData adds YAML, JSON and standard input to an instance, in its package.
func (l *loader) addData(inst *build.Instance) *build.Instance {
	for _, f := range l.data {
		if f.PackageName() == "" && inst.PkgName != "" {
			f.Decls = append([]ast.Decl{&ast.Package{Name: ast.NewIdent(inst.PkgName)}}, f.Decls...)
		}
		if err := inst.AddSyntax(f); err != nil {
			l.loadErrors(err)
			return nil
		}
	}
	if len(l.data) > 0 {
		if err := inst.Complete(); err != nil {
			l.loadErrors(inst.Err)
			return nil
		}
	}
	return inst
}

// unusedTag reports a tag that the blueprint does not have.
func (l *loader) unusedTag(tag string) {
	name, _, valued := strings.Cut(tag, "=")
	f := diag.Finding{
		Code: "E0004", Severity: diag.Error, Message: fmt.Sprintf("the blueprint has no @tag or @if named %q", name),
		Help: "declare it on a field, as in region: string @tag(region), or leave -t out",
	}
	if !valued {
		f.Help += "; a @tag needs a value: -t " + name + "=VALUE"
	}
	l.findings.Add(f)
}

// loadErrors reports what CUE's loader found.
func (l *loader) loadErrors(err error) {
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		text := l.say(e)
		if seen[text] {
			continue
		}
		seen[text] = true
		f := diag.Finding{
			Code: "E0004", Severity: diag.Error, Message: text, Span: l.sources.span(e.Position()),
			Help: "correct what CUE could not load",
		}
		switch {
		case strings.Contains(text, "no tag for"), strings.Contains(text, "not used in any file"):
			for _, tag := range l.in.Tags {
				if name, _, _ := strings.Cut(tag, "="); strings.Contains(text, strconv.Quote(name)) {
					l.unusedTag(tag)
				}
			}
			continue
		case strings.Contains(text, "no package name"):
			for _, name := range l.cue {
				l.fail("E0004", l.sources.display(name), "has no package clause", "begin it with a clause such as package platform, or name the file itself")
			}
			return
		case strings.Contains(text, "cannot find package"):
			f.Message, _, _ = strings.Cut(text[strings.Index(text, "cannot find package"):], ": ")
			f.Help = "vendor the package under cue.mod/pkg; nothing is fetched from the network"
		case strings.HasPrefix(text, "found packages"):
			f.Help = "a blueprint is one package: give its files the same package clause, or name the files that belong to it"
		case e.Position().IsValid():
			l.syntaxError(text, f.Span)
			return // later ones are mostly echoes
		}
		l.findings.Add(f)
	}
}

// moduleRoot is the nearest directory at or above the first file that holds a
// cue.mod, or the first file's own.
func (l *loader) moduleRoot() string {
	start := l.in.Dir
	switch {
	case len(l.dirs) > 0:
		start = l.dirs[0]
	case len(l.cue) > 0:
		start = filepath.Dir(l.cue[0])
	case len(l.data) > 0:
		start = filepath.Dir(l.data[0].Filename)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cue.mod", "module.cue")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

// layModule lays the schema, and a module around it where the user has none,
// over the file system, so that a blueprint can import it offline.
func (l *loader) layModule(root string) {
	module := filepath.Join(root, "cue.mod", "module.cue")
	if _, err := os.Stat(module); err != nil {
		l.overlay[module] = cueload.FromString("module: \"" + localModule + "\"\nlanguage: version: \"v0.17.0\"\n")
	}
	dir := filepath.Join(root, filepath.FromSlash("cue.mod/pkg/"+schema.ImportPath))
	for name, content := range l.schema {
		l.overlay[filepath.Join(dir, name)] = cueload.FromBytes(content)
	}
	vendored, _ := os.ReadDir(dir) // mostly there is none
	if slices.ContainsFunc(vendored, func(v fs.DirEntry) bool {
		onDisk, err := os.ReadFile(filepath.Join(dir, v.Name()))
		return err != nil || !bytes.Equal(onDisk, l.schema[v.Name()])
	}) {
		l.findings.Add(diag.Finding{
			Code: "W0006", Severity: diag.Warning,
			Message: "the vendored schema is another version than this batchwright's",
			Span:    diag.Span{Source: &diag.Source{Name: l.sources.display(dir)}},
			Help:    "the built-in schema was used; vendor it again so that editors agree",
		})
	}
}
