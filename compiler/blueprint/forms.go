package blueprint

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// formChecker finds forms of CUE that write no field where a field is probably meant:
// optional fields, hidden fields, definitions, patterns and conditions that are never
// true; and optional fields that write a field although they look like a constraint.
// Each of them has a legitimate use, so the checker reports only the forms that neither
// constrain nor help anything.
type formChecker struct {
	*grammar
	value     cue.Value       // value of the user's files
	used      map[string]bool // names that expressions of the files refer to; nil until needed
	patterns  int             // patterns compared with names so far, at most mostPatterns
	inPattern bool            // the current fields stand below a pattern
}

// mostPatterns bounds the patterns that are compared with the names of all entities.
const mostPatterns = 100

// checkForms reports the forms that set no field, or set one unnoticed.
func (c *checker) checkForms(value cue.Value) {
	f := &formChecker{grammar: c.grammar, value: value}
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
		f.checkPlaceholders(file)
	}
}

// checkPlaceholders reports the comments that mark placeholders. A syntax tree has no comments, so
// it reads the lines of the file.
func (f *formChecker) checkPlaceholders(file *ast.File) {
	source := f.locate.nodeSpan(file).Source
	if source == nil || !bytes.Contains(source.Content, []byte("// "+words.Placeholder)) {
		return
	}
	start := 0
	for line := range bytes.Lines(source.Content) {
		text := bytes.TrimSpace(line)
		if what, ok := bytes.CutPrefix(text, []byte("// "+words.Placeholder)); ok {
			at := start + bytes.Index(line, text)
			f.findings.Add(diag.Finding{
				Code: "W0118", Severity: diag.Warning,
				Span:    diag.Span{Source: source, Start: at, End: at + len(text)},
				Message: "a placeholder stands for " + strings.TrimSuffix(string(what), "."),
				Help:    "write the value, and remove the comment",
			})
		}
		start += len(line)
	}
}

// plainValue returns the value of the user's files without the schema, which would add
// its own fields. It is evaluated only for blueprints with a doubtful form.
func (f *formChecker) plainValue() cue.Value {
	if bare := f.bare(); bare.Exists() {
		return bare
	}
	return f.value
}

// walkDecls checks the fields of a struct at a path.
func (f *formChecker) walkDecls(decls []ast.Decl, path []string) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			f.checkField(d, path)
		case *ast.EmbedDecl:
			f.walkExpr(d.Expr, path)
		case *ast.Comprehension:
			f.checkComprehension(d, path)
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
	if err != nil || strings.HasPrefix(name, load.ConditionPrefix) {
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

// checkComprehension reports fields below a condition that is the literal false.
func (f *formChecker) checkComprehension(d *ast.Comprehension, path []string) {
	for _, clause := range d.Clauses {
		condition, ok := clause.(*ast.IfClause)
		if !ok {
			continue
		}
		if lit, ok := condition.Condition.(*ast.BasicLit); ok && lit.Kind == token.FALSE {
			f.reportForm(condition.Condition, path, "the condition is always false, so the fields below it set nothing",
				"remove the fields, or write a condition that can be true")
		}
	}
}

// checkOptional reports an optional field that nothing can write, and one with a
// concrete value that either sets nothing or sets the field unnoticed.
func (f *formChecker) checkOptional(d *ast.Field, name string, path []string) {
	outer, _, err := constraintAt(f.definition(), path)
	if err != nil {
		return
	}
	at := append(slices.Clip(path), name)
	names, isMap := fieldNames(outer), entityOf(outer).Exists()
	if !isMap && len(names) > 0 && !slices.Contains(names, name) {
		f.reportUnknownOptional(d, name, names, path)
		return
	}
	constraint, presence, err := constraintAt(f.definition(), at)
	if err != nil || !constraint.Exists() || presence == cue.RequiredConstraint {
		return // a field that is missing
	}
	if lookupPath(f.plainValue(), at).Exists() {
		return // a constraint on a field that is written
	}
	value := lookupPath(f.plainValue(), path).LookupPath(cue.MakePath(cue.Str(name).Optional()))
	if !value.Exists() || !saysSomething(value) {
		return
	}
	message := name + "? sets nothing: it only constrains a field that is written elsewhere"
	if presence == 0 && !isMap && (len(path) > 0 || f.bare().Exists()) {
		if isDefault(constraint, value) {
			return // the constraint changes nothing
		}
		message = fmt.Sprintf("%s? looks like a constraint, but sets %s, because the schema always has the field",
			name, diag.Path(at))
	}
	f.reportForm(d.Label, at, message, "write "+strings.TrimSuffix(f.locate.nodeSpan(d.Label).Text(), "?")+":")
}

// isDefault reports whether a value is the default of a constraint.
func isDefault(constraint, value cue.Value) bool {
	standard, err := constraint.MarshalJSON()
	written, bad := value.MarshalJSON()
	return err == nil && bad == nil && bytes.Equal(standard, written)
}

// reportUnknownOptional reports an optional field that the schema does not have.
func (f *formChecker) reportUnknownOptional(d *ast.Field, name string, names, path []string) {
	finding := f.formFinding(d.Label, append(slices.Clip(path), name), fmt.Sprintf(
		"%s? constrains nothing: %s cannot have the field", name, cmp.Or(diag.Path(path), "a blueprint")))
	finding.Help = "remove the constraint, or correct its name"
	f.suggestField(&finding, name, names, path)
	finding.Edits = nil // the field would still be a constraint
	f.findings.Add(finding)
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

// checkPattern reports a pattern that no field of the schema matches, or no entity
// that is written, and checks the fields below one that matches.
func (f *formChecker) checkPattern(d *ast.Field, label *ast.ListLit, path []string) {
	if len(label.Elts) != 1 || f.inPattern {
		return
	}
	expr := label.Elts[0]
	if alias, ok := expr.(*ast.Alias); ok {
		expr = alias.Expr
	}
	outer, _, err := constraintAt(f.definition(), path)
	text := f.locate.nodeSpan(expr).Text()
	if err != nil || text == "_" || f.patterns >= mostPatterns {
		return
	}
	f.patterns++
	names, isMap := fieldNames(outer), entityOf(outer).Exists()
	if isMap {
		names = entityNames(lookupPath(f.plainValue(), path))
	}
	if len(names) == 0 {
		return // a policy for entities, of which there may be none yet
	}
	pattern := f.cue.CompileString(text) // an error if it refers to the files around it
	i := slices.IndexFunc(names, func(name string) bool { return pattern.Unify(f.cue.Encode(name)).Err() == nil })
	switch {
	case pattern.Err() != nil:
	case i >= 0 && isMap:
		f.inPattern = true
		f.walkExpr(d.Value, append(slices.Clip(path), names[i]))
		f.inPattern = false
	case i < 0:
		f.reportPattern(label, text, names, path)
	}
}

// reportPattern reports a pattern that none of the names of a struct matches.
func (f *formChecker) reportPattern(label *ast.ListLit, text string, names, path []string) {
	message := fmt.Sprintf("no field of %s matches the pattern %s, so it sets nothing",
		cmp.Or(diag.Path(path), "a blueprint"), text)
	help := "remove the pattern, or correct it"
	if name, err := strconv.Unquote(text); err == nil {
		help = fmt.Sprintf("write %q without brackets to define it", name)
		if near := diag.Nearest(name, names); near != "" {
			help = fmt.Sprintf("did you mean %q?", near)
		}
	}
	f.reportForm(label, path, message, help)
}

// formFinding returns the finding on a form that is written at a node.
func (f *formChecker) formFinding(at ast.Node, path []string, message string) diag.Finding {
	return diag.Finding{
		Code: "W0117", Severity: diag.Warning, Path: diag.Path(path), Span: f.locate.nodeSpan(at), Message: message,
	}
}

func (f *formChecker) reportForm(at ast.Node, path []string, message, help string) {
	finding := f.formFinding(at, path, message)
	finding.Help = help
	f.findings.Add(finding)
}
