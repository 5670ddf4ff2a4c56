package compiler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// parse reads a CUE file for CUE's loader: one of the input's, or of a package
// that it imports. What is no CUE is reported and left empty, and what was
// found not to compile is cut out, so that neither hides other mistakes.
func (l *loader) parse(name string, source any, cfg parser.Config) (*ast.File, error) {
	content, ok := source.([]byte)
	if !ok {
		return nil, fmt.Errorf("%s: source of type %T", name, source)
	}
	file, err := parseCUE(name, content, cfg)
	if ours(name) {
		return file, err
	}
	l.parsing.Lock()
	defer l.parsing.Unlock()
	first := cfg.Mode&parser.ImportsOnly == 0 && !l.parsed[name]
	if first {
		l.parsed[name] = true
	}
	if err != nil {
		l.partial = true
		if first {
			l.syntax(name, err)
		}
		if file == nil {
			return &ast.File{Filename: name}, nil
		}
		isHead := func(d ast.Decl) bool {
			switch d.(type) {
			case *ast.Package, *ast.Attribute:
				return true
			}
			return false
		}
		file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool { return !isHead(d) })
		file.Unresolved = nil
		return file, nil
	}
	if first {
		l.lostAttributes(file)
		l.refusedImports(file)
	}
	if names := schemaNames(file); len(names) > 0 {
		l.refers = true
		if l.bare {
			withoutSchema(file, names)
		} else if first {
			l.unknownDefinitions(file, names)
		}
	}
	if cuts := l.sources.cuts[name]; len(cuts) > 0 {
		cutOut(file, cuts)
	}
	return file, nil
}

// lostAttributes reports attributes that CUE ignores because of where they
// stand.
func (l *loader) lostAttributes(file *ast.File) {
	extern, inBody := false, false
	lost := func(a *ast.Attribute, why, help string) {
		l.findings.Add(diag.Finding{
			Code: "E0004", Severity: diag.Error, Span: l.sources.span(a.Pos()),
			Message: "@" + a.Name() + " has no effect " + why, Help: help,
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.Package:
			inBody = true
		case *ast.Attribute:
			switch d.Name() {
			case "extern":
				extern = true
			case "if", "ignore":
				if inBody {
					lost(d, "below the package clause", "move it above the package clause")
				}
			}
		}
	}
	if extern {
		return
	}
	ast.Walk(file, func(n ast.Node) bool {
		if a, ok := n.(*ast.Attribute); ok && a.Name() == "embed" {
			lost(a, "in a file without @extern(embed)", "begin the file with @extern(embed), above the package clause")
			l.cut(a.Pos(), cutAttr)
		}
		return true
	}, nil)
}

// refusedImports reports imports of math/bits. Its Lsh shifts by any number: it
// asks for more memory at once than there is, which ends a process before any
// limit can.
func (l *loader) refusedImports(file *ast.File) {
	for s := range file.ImportSpecs() {
		if path, err := strconv.Unquote(s.Path.Value); err == nil && path == "math/bits" {
			l.findings.Add(diag.Finding{
				Code: "E0107", Severity: diag.Error, Span: l.sources.span(s.Pos()),
				Message: "math/bits is not for blueprints", Help: "do without: a shift is a multiplication by a power of two",
			})
			l.cut(s.Pos(), cutImport)
		}
	}
}

// A cut is something that CUE cannot compile, by where it stands.
type cut int

const (
	cutName   cut = iota // a name that leads nowhere
	cutImport            // an import that cannot be had, or is not used
	cutLet               // a let clause or an alias that is not used
	cutAttr              // an attribute that cannot be followed
)

// cutOut takes out of a file what stands at some offsets. Instead of a value it
// puts bottom, which stands at the same place: what follows from it is no
// mistake of its own.
func cutOut(file *ast.File, cuts map[int]cut) {
	gone := map[string]*ast.ImportSpec{}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.ImportDecl); ok {
			d.Specs = slices.DeleteFunc(d.Specs, func(s *ast.ImportSpec) bool {
				kind, ok := cuts[s.Pos().Offset()]
				if ok && kind == cutImport {
					gone[importName(s)] = s
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

// isDecl tells whether a node is a declaration of a file or a struct.
func isDecl(c astutil.Cursor) bool {
	switch c.Parent().Node().(type) {
	case *ast.File, *ast.StructLit:
		return true
	}
	return false
}

// importName is the name by which a file refers to an import.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	path, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return ""
	}
	return ast.ParseImportPath(path).Qualifier
}

// schemaNames returns the names by which a file imports the schema.
func schemaNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for s := range file.ImportSpecs() {
		if isSchema(s) {
			names[importName(s)] = true
		}
	}
	return names
}

func isSchema(s *ast.ImportSpec) bool {
	path, err := strconv.Unquote(s.Path.Value)
	return err == nil && path == schema.ImportPath
}

// withoutSchema puts "any value" where a file refers to the schema.
func withoutSchema(file *ast.File, names map[string]bool) {
	for _, d := range file.Decls {
		if d, ok := d.(*ast.ImportDecl); ok {
			d.Specs = slices.DeleteFunc(d.Specs, isSchema)
		}
	}
	astutil.Apply(file, func(c astutil.Cursor) bool {
		if x := schemaReference(c.Node(), names); x != nil {
			c.Replace(&ast.Ident{NamePos: x.Pos(), Name: "_"})
			return false
		}
		return true
	}, nil)
}

// schemaReference returns a node that refers to a definition of the schema,
// nil for any other.
func schemaReference(n ast.Node, names map[string]bool) *ast.SelectorExpr {
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && names[x.Name] {
			return s
		}
	}
	return nil
}

// unknownDefinitions reports definitions that the schema does not have: to CUE
// they are only not there yet.
func (l *loader) unknownDefinitions(file *ast.File, names map[string]bool) {
	known := l.definitions()
	ast.Walk(file, func(n ast.Node) bool {
		s := schemaReference(n, names)
		if s == nil {
			return true
		}
		name, _, err := ast.LabelName(s.Sel)
		if err != nil || slices.Contains(known, name) {
			return false
		}
		f := diag.Finding{
			Code: "E0107", Severity: diag.Error, Span: l.sources.span(s.Sel.Pos()),
			Message: fmt.Sprintf("the schema has no definition %s", name), Label: "want one of " + strings.Join(known, ", "),
			Help: "correct its name",
		}
		if near := diag.Nearest(name, known); near != "" {
			f.Label, f.Help = "", "did you mean "+near+"?"
		}
		l.findings.Add(f)
		l.cut(s.Pos(), cutName)
		return false
	}, nil)
}

// definitions returns the names of the schema's definitions, in order.
func (l *loader) definitions() []string {
	var known []string
	for name, content := range l.schema {
		file, err := parser.ParseFile(name, content)
		if err != nil {
			continue // it is ours, and tested
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.Field); ok {
				if name, _, err := ast.LabelName(f.Label); err == nil {
					known = append(known, name)
				}
			}
		}
	}
	slices.Sort(known)
	return known
}

// compileErrors reports what of an instance CUE cannot compile, and notes it
// to be cut out. It tells whether anything can be.
func (l *loader) compileErrors(err error) bool {
	again, echoes := false, l.partial || len(l.sources.cuts) > 0
	names := l.names()
	for _, e := range cueerrors.Errors(err) {
		pos := e.Position()
		format, args := e.Msg()
		f := diag.Finding{Code: "E0107", Severity: diag.Error, Message: message(e), Span: l.sources.span(pos)}
		var kind cut
		quiet := false
		switch {
		case strings.HasPrefix(format, "reference %q not found"):
			kind = cutName
			quiet = l.partial // it can stand in a file that does not parse
			name, _ := args[0].(string)
			f.Span.End = f.Span.Start + len(name)
			f.Help = l.unresolved(name, pos.Filename(), names)
		case strings.HasPrefix(format, "imported and not used"):
			kind = cutImport
			quiet = echoes // its use may have been cut out
			f.Help = "remove the import"
		case strings.HasPrefix(format, "unreferenced alias or let clause"):
			kind = cutLet
			quiet = echoes
			f.Message = fmt.Sprintf("%v is defined and never referred to", args[0])
			f.Help = "remove it, or refer to it"
		case strings.HasPrefix(format, "builtin package"):
			kind = cutImport
			f.Help = "correct its name; CUE's own packages are listed at pkg.go.dev/cuelang.org/go/pkg"
		case strings.Contains(format, "redeclared as imported package name"):
			kind = cutImport
			f.Message, _, _ = strings.Cut(f.Message, "\n")
			f.Help = "give one of them another name"
		case strings.HasPrefix(f.Message, "@embed: "):
			kind = cutAttr
			f.Help = "name files of this directory, or below it"
			if strings.Contains(f.Message, "decode") {
				f.Help = "correct the file; it has to be one of the module's own"
			}
		default:
			kind = cutAttr
			f.Help = "correct the CUE expression here"
		}
		if !f.Span.Valid() {
			f.Message = l.say(e)
		}
		if l.cut(pos, kind) {
			again = true
		}
		if !quiet {
			l.findings.Add(f)
		}
	}
	return again
}

// cut notes that something is to be cut out, and tells whether it is new.
func (l *loader) cut(pos token.Pos, kind cut) bool {
	name := pos.Filename()
	if !pos.IsValid() || name == "" || ours(name) {
		return false
	}
	cuts := l.sources.cuts[name]
	if _, have := cuts[pos.Offset()]; have {
		return false
	}
	if cuts == nil {
		cuts = map[int]cut{}
		if l.sources.cuts == nil {
			l.sources.cuts = map[string]map[int]cut{}
		}
		l.sources.cuts[name] = cuts
	}
	cuts[pos.Offset()] = kind
	return true
}

// unresolved says what to do about a name in a file that leads nowhere. known
// are those of the input's files, in order.
func (l *loader) unresolved(name, file string, known []string) string {
	for _, path := range builtins() {
		if ast.ParseImportPath(path).Qualifier == name {
			return "add to the file: import " + strconv.Quote(path)
		}
	}
	if slices.ContainsFunc(l.inst.Files, func(f *ast.File) bool { return f.Filename == file }) {
		if slices.Contains(known, name) {
			return "another file defines it: begin both with the same package clause, so that they see each other's names"
		}
		if near := diag.Nearest(name, known); near != "" {
			return "did you mean " + near + "? A string needs quotes"
		}
	}
	return "define the name in this package, or put a string into quotes"
}

// names returns what the input's files define at their top level, in order.
func (l *loader) names() []string {
	known := map[string]bool{}
	for _, f := range l.inst.Files {
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

// builtins are CUE's packages that a blueprint can have a use for.
func builtins() []string {
	return []string{
		"crypto/sha256", "encoding/base64", "encoding/json", "encoding/yaml", "list", "math", "net", "path", "regexp",
		"strconv", "strings", "struct", "text/template", "time",
	}
}
