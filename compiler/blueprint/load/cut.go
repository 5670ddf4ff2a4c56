package load

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// cut is the kind of a part that CUE cannot compile.
type cut int

const (
	cutName   cut = iota // a name that is not defined, or a number that CUE would misread
	cutImport            // an import that is unavailable or unused
	cutLet               // a let clause or an alias that is unused
	cutAttr              // an attribute that cannot be resolved
)

// cutOut removes the parts at the given offsets from a file. It replaces a value
// with bottom at the same position, so that consequences of the cut can be
// recognised and are not reported as mistakes.
func cutOut(file *ast.File, cuts map[int]cut) {
	gone := map[string]*ast.ImportSpec{}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.ImportDecl); ok {
			d.Specs = slices.DeleteFunc(d.Specs, func(s *ast.ImportSpec) bool {
				kind, ok := cuts[s.Pos().Offset()]
				if ok && kind == cutImport {
					gone[ImportName(s)] = s
				}
				return ok && kind == cutImport
			})
		}
	}
	unresolved := map[*ast.Ident]bool{}
	for _, id := range file.Unresolved {
		unresolved[id] = true
	}
	astutil.Apply(file, func(c astutil.Cursor) bool {
		n := c.Node()
		kind, here := cuts[n.Pos().Offset()]
		switch n := n.(type) {
		case *ast.ImportDecl, *ast.Package:
			return false
		case *ast.Ident:
			if spec := gone[n.Name]; here && kind == cutName || spec != nil && (unresolved[n] || n.Node == spec) {
				c.Replace(&ast.BottomLit{Bottom: n.Pos()})
				cuts[n.Pos().Offset()] = cutName
			}
		case *ast.BasicLit:
			if here && kind == cutName {
				c.Replace(&ast.BottomLit{Bottom: n.Pos()})
			}
		case *ast.LetClause:
			if here && kind == cutLet && isDecl(c) {
				c.Delete()
				return false
			}
		case *ast.Alias:
			if here && kind == cutLet {
				c.Replace(n.Expr)
			}
		case *ast.Field:
			for i, a := range n.Attrs {
				if kind, ok := cuts[a.Pos().Offset()]; ok && kind == cutAttr {
					n.Attrs = slices.Delete(slices.Clone(n.Attrs), i, i+1)
					n.Value = &ast.BottomLit{Bottom: a.Pos()}
					break
				}
			}
		case *ast.Attribute:
			if here && kind == cutAttr && isDecl(c) {
				c.Delete()
			}
		}
		return true
	}, nil)
}

// isDecl reports whether a node is a declaration of a file or a struct.
func isDecl(c astutil.Cursor) bool {
	switch c.Parent().Node().(type) {
	case *ast.File, *ast.StructLit:
		return true
	}
	return false
}

// ImportName returns the name by which a file refers to an import.
func ImportName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	path, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return ""
	}
	return ast.ParseImportPath(path).Qualifier
}

// compileErrors reports the parts of an instance that CUE cannot compile, and marks
// them to be cut out. It returns whether any part was marked.
func (l *Loader) compileErrors(err error) bool {
	again, echoes := false, l.Partial || len(l.Sources.Cuts) > 0
	written, fields := l.topLevelNames(), l.blueprintFields()
	for _, e := range cueerrors.Errors(err) {
		pos := e.Position()
		format, args := e.Msg()
		f := diag.Finding{Code: "E0107", Severity: diag.Error, Message: Message(e), Span: l.Sources.Span(pos)}
		var kind cut
		quiet := false
		switch {
		case strings.HasPrefix(format, "reference %q not found"):
			kind = cutName
			quiet = l.Partial // the name may be defined in a file that does not parse
			name, _ := args[0].(string)
			f.Span.End = f.Span.Start + len(name)
			f.Help = l.adviseUndefined(name, pos.Filename(), written, fields)
		case strings.HasPrefix(format, "preference mark not allowed"):
			kind = cutAttr
			f.Message = "* marks a default among alternatives, and there is only one value"
			f.Help = "write the alternatives too, such as *8 | int or *\"a\" | string"
		case strings.HasPrefix(format, "imported and not used"):
			kind = cutImport
			quiet = echoes // its use may have been cut out
			f.Help = "remove the import"
		case strings.HasPrefix(format, "unreferenced alias or let clause"):
			kind = cutLet
			quiet = echoes
			f.Message = fmt.Sprintf("%v is defined but never used", args[0])
			f.Help = "remove it, or use it"
		case strings.HasPrefix(format, "builtin package"):
			kind = cutImport
			f.Help = "correct its name; CUE's own packages are listed at pkg.go.dev/cuelang.org/go/pkg"
		case strings.Contains(format, "redeclared as imported package name"):
			kind = cutImport
			f.Message, _, _ = strings.Cut(f.Message, "\n")
			f.Help = "rename the import or the field"
		case strings.HasPrefix(f.Message, "@embed: "):
			kind = cutAttr
			f.Help = "embed only files in this directory or below it"
			if strings.Contains(f.Message, " is larger than ") {
				f.Help = "embed a smaller file, or a part of it"
			} else if strings.Contains(f.Message, "unknown file extension") {
				f.Help = "add the type: @embed(file=NAME,type=text)"
			} else if strings.Contains(f.Message, "decode") {
				f.Help = "correct the file; it must be in the CUE module"
			} else if m := missingFile.FindStringSubmatch(f.Message); m != nil {
				l.describeMissing(&f, filepath.Dir(pos.Filename()), m[1])
			}
		default:
			kind = cutAttr
			f.Help = "correct the CUE expression here"
		}
		if !f.Span.Valid() {
			f.Message = l.errorText(e)
		}
		if l.markCut(pos, kind) {
			again = true
		}
		if !quiet {
			l.findings.Add(f)
		}
	}
	return again
}

// missingFile is the message about a file that @embed does not find.
var missingFile = regexp.MustCompile(`^@embed: open (.+): (?:no such file or directory|file does not exist)$`)

// describeMissing describes that a file in dir embeds a file that does not exist.
func (l *Loader) describeMissing(f *diag.Finding, dir, name string) {
	f.Message = fmt.Sprintf("@embed: there is no file %q", name)
	entries, _ := l.files.readDir(filepath.Join(dir, filepath.FromSlash(path.Dir(name)))) // or there are none
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := diag.Nearest(path.Base(name), names); near != "" {
		f.Help = fmt.Sprintf("did you mean %q?", path.Join(path.Dir(name), near))
		return
	}
	f.Help = "correct the name, or create the file in this directory or below it"
}

// markCut marks a part to be cut out, and returns whether the mark is new.
func (l *Loader) markCut(pos token.Pos, kind cut) bool {
	name := pos.Filename()
	if !pos.IsValid() || name == "" || isOurs(name) {
		return false
	}
	cuts := l.Sources.Cuts[name]
	if _, have := cuts[pos.Offset()]; have {
		return false
	}
	if cuts == nil {
		cuts = map[int]cut{}
		if l.Sources.Cuts == nil {
			l.Sources.Cuts = map[string]map[int]cut{}
		}
		l.Sources.Cuts[name] = cuts
	}
	cuts[pos.Offset()] = kind
	return true
}

// adviseUndefined returns the advice about an undefined name in a file. written are
// the names that the input's files define, sorted. fields are the fields of a
// blueprint.
func (l *Loader) adviseUndefined(name, file string, written, fields []string) string {
	for _, path := range builtinPackages() {
		if ast.ParseImportPath(path).Qualifier == name {
			return "add import " + strconv.Quote(path)
		}
	}
	if slices.ContainsFunc(l.Instance.Files, func(f *ast.File) bool { return f.Filename == file }) {
		if slices.Contains(written, name) {
			return "another file defines this name: start both files with the same package clause, so that each can " +
				"use the names of the other"
		}
		if slices.Contains(fields, name) {
			return "write " + name + " in the blueprint: a reference cannot use a default of the schema"
		}
		if near := diag.Nearest(name, written); near != "" {
			return "did you mean " + near + "? a string needs quotes"
		}
	}
	return "define the name in this package, or write quotes if it is a string"
}

// topLevelNames returns the names that the input's files define at their top level,
// sorted.
func (l *Loader) topLevelNames() []string {
	known := map[string]bool{}
	for _, f := range l.Instance.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.Field:
				if name, _, err := ast.LabelName(d.Label); err == nil {
					known[name] = true
				}
			case *ast.LetClause:
				known[d.Ident.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// builtinPackages returns CUE's own packages that can be useful in a blueprint.
func builtinPackages() []string {
	return []string{
		"crypto/sha256", "encoding/base64", "encoding/json", "encoding/yaml", "list", "math", "net", "path", "regexp",
		"strconv", "strings", "struct", "text/template", "time",
	}
}
