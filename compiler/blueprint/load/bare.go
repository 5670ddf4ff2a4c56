package load

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// BuildBare evaluates the files without their references to the schema. The result
// has the values that the user wrote, which explain a mistake better than values
// that are already unified with the schema. The result does not exist if no file
// refers to the schema.
func (l *Loader) BuildBare(cc *cue.Context) cue.Value {
	if !l.refers {
		return cue.Value{}
	}
	bare := *l
	bare.bare, bare.findings = true, &diag.List{}
	if bare.Instance = bare.buildInstance(); bare.Instance == nil {
		return cue.Value{}
	}
	value, _, _ := bare.Build(cc)
	return value
}

// schemaNames returns the names under which a file imports the schema.
func schemaNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for s := range file.ImportSpecs() {
		if isSchema(s) {
			names[ImportName(s)] = true
		}
	}
	return names
}

func isSchema(s *ast.ImportSpec) bool {
	path, err := strconv.Unquote(s.Path.Value)
	return err == nil && path == schema.ImportPath
}

// withoutSchema replaces each reference to the schema in a file with _, which means
// any value.
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

// schemaReference returns the node if it is a reference to a definition of the
// schema, and nil otherwise.
func schemaReference(n ast.Node, names map[string]bool) *ast.SelectorExpr {
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && names[x.Name] {
			return s
		}
	}
	return nil
}

// unknownDefinitions reports references to definitions that the schema does not
// have. CUE does not report them, because it treats such a definition as not yet
// defined.
func (l *Loader) unknownDefinitions(file *ast.File, names map[string]bool) {
	known := slices.Sorted(maps.Keys(l.schemaDefinitions()))
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
			Code: "E0107", Severity: diag.Error, Span: l.Sources.Span(s.Sel.Pos()),
			Message: fmt.Sprintf("the schema has no definition %s", name),
			Label:   "want one of " + strings.Join(known, ", "),
			Help:    "correct the name",
		}
		if near := diag.Nearest(name, known); near != "" {
			f.Label, f.Help = "", "did you mean "+near+"?"
		}
		l.findings.Add(f)
		l.markCut(s.Pos(), cutName)
		return false
	}, nil)
}

// blueprintFields returns the names of the fields of a blueprint.
func (l *Loader) blueprintFields() []string {
	var names []string
	if blueprint, ok := l.schemaDefinitions()["#Blueprint"].(*ast.StructLit); ok {
		for _, d := range blueprint.Elts {
			if f, ok := d.(*ast.Field); ok {
				if name, _, err := ast.LabelName(f.Label); err == nil {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// schemaDefinitions returns the schema's definitions by name.
func (l *Loader) schemaDefinitions() map[string]ast.Expr {
	known := map[string]ast.Expr{}
	for name, content := range l.schema {
		file, err := parser.ParseFile(name, content)
		if err != nil {
			continue // the schema is part of the program and tested
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.Field); ok {
				if name, _, err := ast.LabelName(f.Label); err == nil {
					known[name] = f.Value
				}
			}
		}
	}
	return known
}
