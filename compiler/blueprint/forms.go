package blueprint

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// formChecker finds forms of CUE that write no field where a field is probably meant:
// optional fields, hidden fields, definitions and patterns. Each of them has a
// legitimate use, so the checker reports only those whose name is a field of the
// schema and that neither constrain nor help anything.
type formChecker struct {
	*grammar
	definition cue.Value       // definition of the whole blueprint
	value      cue.Value       // value of the user's files
	used       map[string]bool // names that expressions of the files refer to; nil until needed
}

// checkForms reports the forms that write no field.
func (c *checker) checkForms(definition, value cue.Value) {
	f := &formChecker{grammar: c.grammar, definition: definition, value: value}
	for _, file := range c.locate.inst.Files {
		// A file of a directory above serves several blueprints, and another one may
		// use its helpers.
		inherited := slices.ContainsFunc(c.locate.inst.Files, func(other *ast.File) bool {
			above := filepath.Dir(file.Filename) + string(filepath.Separator)
			return strings.HasPrefix(filepath.Dir(other.Filename), above)
		})
		if strings.HasSuffix(file.Filename, ".cue") && !inherited {
			f.walkDecls(file.Decls, nil)
		}
	}
}

// walkDecls checks the fields of a struct at a path.
func (f *formChecker) walkDecls(decls []ast.Decl, path []string) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			f.checkField(d, path)
		case *ast.EmbedDecl:
			f.walkExpr(d.Expr, path)
		}
	}
}

func (f *formChecker) walkExpr(e ast.Expr, path []string) {
	switch e := e.(type) {
	case *ast.StructLit:
		f.walkDecls(e.Elts, path)
	case *ast.BinaryExpr:
		if e.Op == token.AND {
			f.walkExpr(e.X, path)
			f.walkExpr(e.Y, path)
		}
	case *ast.ParenExpr:
		f.walkExpr(e.X, path)
	}
}

func (f *formChecker) checkField(d *ast.Field, path []string) {
	if pattern, ok := d.Label.(*ast.ListLit); ok {
		f.checkPattern(d, pattern, path)
		return
	}
	name, _, err := ast.LabelName(d.Label)
	if err != nil {
		return
	}
	_, quoted := d.Label.(*ast.BasicLit)
	bare := strings.TrimLeft(name, "_#")
	switch {
	case d.Constraint == token.OPTION:
		f.checkOptional(d, name, path)
	case !quoted && bare != name:
		f.checkHelper(d, name, bare, path)
	case d.Constraint == token.ILLEGAL:
		f.walkExpr(d.Value, append(slices.Clip(path), name))
	}
}

// checkOptional reports an optional field with a concrete value that nothing writes.
func (f *formChecker) checkOptional(d *ast.Field, name string, path []string) {
	at := append(slices.Clip(path), name)
	constraint, presence, err := constraintAt(f.definition, at)
	if err != nil || !constraint.Exists() || presence == cue.RequiredConstraint {
		return // an unknown field, or one that is missing
	}
	outer, _, _ := constraintAt(f.definition, path)
	if len(path) > 0 && presence == 0 && !entityOf(outer).Exists() {
		return // the schema has the field itself, so the constraint becomes its value
	}
	if lookupPath(f.value, at).Exists() {
		return // a constraint on a field that is written
	}
	value := lookupPath(f.value, path).LookupPath(cue.MakePath(cue.Str(name).Optional()))
	if !value.Exists() || !saysSomething(value) {
		return
	}
	f.reportForm(d, at, fmt.Sprintf("%s? sets nothing: it only constrains a field that is written elsewhere",
		name), strings.TrimSuffix(sourceText(f.locate.nodeSpan(d.Label)), "?")+":")
}

// saysSomething reports whether a value is one that a blueprint could write: it is
// concrete, and not an empty struct.
func saysSomething(v cue.Value) bool {
	if v.Validate(cue.Concrete(true), cue.Final()) != nil {
		return false
	}
	if v.IncompleteKind() != cue.StructKind {
		return true
	}
	it, err := v.Fields()
	return err == nil && it.Next()
}

// checkHelper reports a hidden field or a definition that has the name of a field and
// that no expression uses.
func (f *formChecker) checkHelper(d *ast.Field, name, bare string, path []string) {
	at := append(slices.Clip(path), bare)
	outer, _, err := constraintAt(f.definition, path)
	if err != nil || entityOf(outer).Exists() {
		return // every name is one of a map of entities
	}
	names, err := fieldNames(outer)
	if err != nil {
		return
	}
	meant := bare
	if !slices.Contains(names, bare) {
		i := slices.IndexFunc(names, func(known string) bool {
			return diag.Twins(bare, known) && bare+"s" != known // _team is a good name for a template
		})
		if i < 0 {
			return
		}
		meant = names[i]
	}
	if f.isUsed(name) || f.refersToBlueprint(d.Value) {
		return
	}
	kind := "a hidden field"
	if strings.Contains(name, "#") {
		kind = "a definition"
	}
	f.reportForm(d, at, fmt.Sprintf("%s is %s that nothing uses, so it sets nothing", name, kind), meant+":")
}

// checkPattern reports a pattern that no field of the schema matches, or none that is
// written.
func (f *formChecker) checkPattern(d *ast.Field, label *ast.ListLit, path []string) {
	if len(label.Elts) != 1 {
		return
	}
	expr := label.Elts[0]
	if alias, ok := expr.(*ast.Alias); ok {
		expr = alias.Expr
	}
	match, ok := expr.(*ast.UnaryExpr)
	if !ok || match.Op != token.MAT {
		return
	}
	lit, ok := match.X.(*ast.BasicLit)
	if !ok {
		return
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return
	}
	outer, _, err := constraintAt(f.definition, path)
	if err != nil || entityOf(outer).Exists() {
		return // a policy for entities, of which there may be none yet
	}
	names, err := fieldNames(outer)
	if err != nil || len(names) == 0 || slices.ContainsFunc(names, re.MatchString) {
		return
	}
	f.reportForm(d, path, fmt.Sprintf("no field can match the pattern %s, so it sets nothing", lit.Value), "")
}

// isUsed reports whether an expression of the files refers to a name.
func (f *formChecker) isUsed(name string) bool {
	if f.used == nil {
		f.used = map[string]bool{}
		for _, file := range f.locate.inst.Files {
			recordUses(file, f.used)
		}
	}
	return f.used[name]
}

// refersToBlueprint reports whether an expression refers to a field of the blueprint,
// as a check of the blueprint does.
func (f *formChecker) refersToBlueprint(e ast.Expr) bool {
	names, err := fieldNames(f.definition)
	used := map[string]bool{}
	recordUses(e, used)
	return err != nil || slices.ContainsFunc(names, func(name string) bool { return used[name] })
}

// recordUses records the names that the expressions of a node refer to. The label of
// a field is no use, unless it is computed.
func recordUses(n ast.Node, used map[string]bool) {
	ast.Walk(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if _, _, err := ast.LabelName(n.Label); err == nil {
				recordUses(n.Value, used)
				return false
			}
		case *ast.Ident:
			used[n.Name] = true
		}
		return true
	}, nil)
}

func (f *formChecker) reportForm(d *ast.Field, path []string, message, write string) {
	help := "remove the pattern, or correct it"
	if write != "" {
		help = "write " + write
	}
	f.findings.Add(diag.Finding{
		Code: "W0117", Severity: diag.Warning, Path: diag.Path(path), Span: f.locate.nodeSpan(d.Label),
		Message: message, Help: help,
	})
}
