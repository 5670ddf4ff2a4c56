package blueprint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// grammar explains why a blueprint does not fit the schema. CUE itself reports a
// wrong enum value once for every member, hides an unknown field behind any other
// mistake, and points into the schema. grammar therefore walks the user's value and
// the schema together, and describes each mistake once, with information from both.
type grammar struct {
	cue      *cue.Context
	sources  *load.Sources
	locate   *locator
	findings *diag.List
	mistakes int // number of mistakes so far, including those without a finding of their own
	// explained and unexplained are the numbers of entities and fields that do not
	// fit.
	explained, unexplained int
	reported               map[diag.Spot]bool // fields whose value has a finding
	partial                bool               // some of the files could not be read
	bare                   func() cue.Value   // value of the files without the schema, if they refer to it
}

// add reports a mistake.
func (g *grammar) add(f diag.Finding) {
	g.mistakes++
	g.findings.Add(f)
}

// again reports whether the spot already has a finding. If so, it also counts the
// mistake.
func (g *grammar) again(here diag.Spot) bool {
	if g.reported[here] {
		g.mistakes++
		return true
	}
	g.reported[here] = true
	return false
}

// notAStruct reports a blueprint that is not a struct.
func (g *grammar) notAStruct(value cue.Value) {
	g.add(diag.Finding{
		Code: "E0003", Severity: diag.Error, Span: g.locate.place(false),
		Message: "is not a blueprint, but " + describeValue(value),
		Help:    "write a struct with fields such as name and teams",
	})
}

// walk reports every mistake of a value at a path and below. schema is the
// constraint. value is the value of the user's files without the schema.
func (g *grammar) walk(schema, value cue.Value, path []string) {
	// A one-of is bottom by itself, because it has no field yet.
	structural := schema.IncompleteKind()&^cue.StructKind == 0
	switch {
	case structural && isStruct(value):
		g.object(schema, value, path)
	case schema.IncompleteKind() == cue.ListKind && isList(value):
		g.list(schema, value, path)
	default:
		g.scalar(schema, value, path)
	}
}

// asWritten returns the value of the user's files at a path. If the files refer to
// the schema, the value is evaluated without the schema.
func (g *grammar) asWritten(value cue.Value, path []string) cue.Value {
	if bare := g.bare(); bare.Exists() {
		if bare = lookup(bare, path); bare.Exists() {
			return bare
		}
	}
	return value
}

// lookup returns the value at a path in the form that findings use.
func lookup(v cue.Value, path []string) cue.Value {
	var sel []cue.Selector
	for _, name := range path {
		if i, err := strconv.Atoi(strings.Trim(name, "[]")); err == nil && name == diag.Index(i) {
			sel = append(sel, cue.Index(i))
		} else {
			sel = append(sel, cue.Str(name))
		}
	}
	return v.LookupPath(cue.MakePath(sel...))
}

// isStruct reports whether a value is a struct, even if it contains a mistake.
func isStruct(v cue.Value) bool {
	if kind := v.IncompleteKind(); kind != cue.BottomKind {
		return kind == cue.StructKind && v.IsConcrete()
	}
	it, ok := fields(v)
	return ok && it.Next() && it.Selector().LabelType() != cue.IndexLabel
}

// isList reports whether a value is a list, even if it contains a mistake.
func isList(v cue.Value) bool {
	if kind := v.IncompleteKind(); kind != cue.BottomKind {
		return kind == cue.ListKind
	}
	it, ok := fields(v)
	return ok && it.Next() && it.Selector().LabelType() == cue.IndexLabel
}

// fields returns an iterator over the fields of a struct or the elements of a list,
// including hidden fields, definitions and constraints. It works even if the value
// contains a mistake.
func fields(v cue.Value) (*cue.Iterator, bool) {
	it, err := v.Fields(cue.Optional(true), cue.Hidden(true), cue.Definitions(true))
	return it, err == nil
}

// isConstraint reports whether a field only constrains a field and does not define
// one.
func isConstraint(sel cue.Selector) bool {
	return sel.ConstraintType() == cue.OptionalConstraint || sel.ConstraintType() == cue.RequiredConstraint
}

func (g *grammar) object(schema, value cue.Value, path []string) {
	known, required := map[string]cue.Value{}, []string{}
	names := []string{}
	pattern, label := patternOf(schema)
	matches := matcher(label)
	it, err := schema.Fields(cue.Optional(true))
	if err != nil {
		g.evaluation(err, schema, path)
		return
	}
	for it.Next() {
		sel := it.Selector()
		name := sel.Unquoted()
		known[name] = it.Value()
		names = append(names, name)
		if sel.ConstraintType() == cue.RequiredConstraint {
			required = append(required, name)
		}
	}

	before := g.mistakes
	given, meant := map[string]bool{}, map[string]bool{}
	fields, ok := fields(value)
	for ok && fields.Next() {
		if isConstraint(fields.Selector()) {
			continue
		}
		if !fields.Selector().IsString() {
			g.aside(fields.Value(), append(slices.Clip(path), fields.Selector().String()))
			continue
		}
		name := fields.Selector().Unquoted()
		given[name] = true
		at := append(slices.Clip(path), name)
		switch {
		case (known[name].Exists() || pattern.Exists()) && g.disallowed(fields.Value(), at):
		case known[name].Exists():
			g.walk(known[name], fields.Value(), at)
		case pattern.Exists():
			if !matches(name) {
				g.badKey(label, name, at)
				continue
			}
			g.walk(pattern, fields.Value(), at)
		default:
			meant[g.unknown(name, names, at)] = true
		}
	}
	if g.own(schema, value, path) || g.partial {
		return // the part that cannot be evaluated may contain the missing field
	}
	for _, name := range required {
		if !given[name] && !meant[name] {
			g.missing(known[name], name, path)
		}
	}
	g.demanded(value, given, required, path)
	oneOf := schema.IncompleteKind() == cue.BottomKind
	chosen := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !given[n] })
	if oneOf && (len(chosen) > 1 || len(chosen) == 0 && g.mistakes == before) {
		g.choice(names, chosen, path)
	}
}

// disallowed reports a field that a closed definition of the user does not allow,
// and returns whether there is one.
func (g *grammar) disallowed(value cue.Value, path []string) bool {
	for _, e := range cueerrors.Errors(value.Err()) {
		if format, _ := e.Msg(); strings.HasPrefix(format, notAllowed) && slices.Equal(pathOf(e, path), path) {
			g.evaluation(e, cue.Value{}, path)
			return true
		}
	}
	return false
}

// own reports mistakes of a struct itself, not of its fields, and returns whether
// there are any.
func (g *grammar) own(schema, value cue.Value, path []string) bool {
	var definite, incomplete cueerrors.Error
	inner := false
	for _, e := range cueerrors.Errors(value.Err()) {
		format, _ := e.Msg()
		if !inner && g.inside(e, path) {
			continue
		}
		inner = inner || strings.Contains(format, noArmFits)
		switch {
		case strings.Contains(format, requiredField):
		case cue.IsIncomplete(e):
			incomplete = cueerrors.Append(incomplete, e)
		default:
			definite = cueerrors.Append(definite, e)
		}
	}
	if definite != nil {
		g.evaluation(definite, schema, path)
	}
	if incomplete != nil {
		g.indefinite(incomplete, schema, path)
	}
	return definite != nil || incomplete != nil
}

// aside reports mistakes in a hidden field or a definition, such as a check of the
// blueprint itself.
func (g *grammar) aside(value cue.Value, path []string) {
	if err := value.Validate(); err != nil {
		g.evaluation(err, cue.Value{}, path)
	}
}

// demanded reports fields that the blueprint itself requires and does not give, and
// returns whether there are any.
func (g *grammar) demanded(value cue.Value, given map[string]bool, required []string, path []string) bool {
	it, err := value.Fields(cue.Optional(true))
	if err != nil {
		return false
	}
	before := g.mistakes
	for it.Next() {
		name := it.Selector().Unquoted()
		if it.Selector().ConstraintType() != cue.RequiredConstraint || given[name] || slices.Contains(required, name) {
			continue
		}
		f := lacks(name, path)
		f.Span = g.locate.place(true, path...)
		f.Help = "add the field, or remove the constraint"
		if span := g.locate.place(true, append(slices.Clip(path), name)...); len(path) < 2 {
			f.Span = span
		} else {
			f.Related = []diag.Related{{Span: span, Message: "required here"}}
		}
		if !g.again(f.Span.Spot(name)) {
			g.add(f)
		}
	}
	return g.mistakes > before
}

func (g *grammar) list(schema, value cue.Value, path []string) {
	if g.own(schema, value, path) {
		return // its elements come from several lists
	}
	before := g.mistakes
	element := elementOf(schema)
	items, ok := fields(value)
	for i := 0; ok && element.Exists() && items.Next(); i++ {
		at := append(slices.Clip(path), diag.Index(i))
		g.walk(element, items.Value(), at)
		if clash(items.Value()) {
			break // a mistake merged two lists into one
		}
	}
	if g.mistakes == before {
		g.scalar(schema, value, path)
	}
}

// scalar reports a value that does not satisfy its constraint.
func (g *grammar) scalar(schema, value cue.Value, path []string) {
	if !value.IsConcrete() && g.bare().Exists() { // the value can refer to a default of the schema
		evaluated, _ := lookup(g.locate.value, path).Default()
		err := evaluated.Validate()
		switch {
		case err == nil && evaluated.IsConcrete():
			value = evaluated
		case err != nil && !cue.IsIncomplete(err):
			g.add(diag.Finding{
				Code: "E0103", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(false, path...),
				Message: diag.Path(path) + " refers to an invalid value", Label: "want " + want(schema),
			})
			return
		}
	}
	if err := value.Validate(); err != nil {
		g.evaluation(err, schema, path)
		return
	}
	err := schema.Unify(value).Validate(cue.Concrete(true), cue.Final())
	if err == nil {
		return
	}
	if !value.IsConcrete() &&
		(value.IncompleteKind() == cue.BottomKind || value.IncompleteKind()&schema.IncompleteKind() != 0) {
		g.indefinite(value.Validate(cue.Concrete(true)), schema, path)
		return
	}
	shown := describeValue(value)
	f := diag.Finding{
		Code: "E0103", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.literal(shown, path),
		Message: fmt.Sprintf("%s cannot be %s", diag.Path(path), shown), Label: "want " + want(schema),
	}
	if doc := doc(schema); doc != "" {
		f.Help = diag.Path(path) + ": " + doc
	}
	if g.again(f.Span.Spot(path[len(path)-1])) {
		return
	}
	if guess := g.guess(schema, value); guess != "" {
		f.Help = "did you mean " + guess + "?"
		f.Edit = &diag.Edit{Span: f.Span, Text: guess}
	}
	g.add(f)
}

// badKey reports a name that is not a valid label.
func (g *grammar) badKey(label cue.Value, name string, path []string) {
	g.add(diag.Finding{
		Code: "E0105", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(true, path...),
		Message: fmt.Sprintf("%q is not a valid name", name), Label: "want " + wantLabel(label),
	})
}

// unknown reports a field that the schema does not have. It returns the name of the
// field that is probably meant, or "".
func (g *grammar) unknown(name string, names []string, path []string) string {
	parent := diag.Path(path[:len(path)-1])
	if parent == "" {
		parent = "a blueprint"
	}
	f := diag.Finding{
		Code: "E0101", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(true, path...),
		Message: fmt.Sprintf("unknown field %q", name),
		Label:   "want one of " + strings.Join(names, ", "),
		Help:    fmt.Sprintf("remove the field or correct its name: %s does not have it", parent),
	}
	if len(names) == 0 {
		f.Label = "no fields are allowed here"
	}
	near := diag.Nearest(name, names)
	if near != "" {
		f.Label = ""
		f.Help = fmt.Sprintf("did you mean %q?", near)
		f.Edit = &diag.Edit{Span: f.Span, Text: near}
		if src := f.Span.Source; src != nil && f.Span.Start < len(src.Content) && src.Content[f.Span.Start] == '"' {
			f.Edit.Text = strconv.Quote(near)
		}
	}
	g.add(f)
	return near
}

func (g *grammar) missing(schema cue.Value, name string, path []string) {
	at := append(slices.Clip(path), name)
	if g.locate.written(at...) {
		g.indefinite(nil, schema, at)
		return
	}
	f := lacks(name, path)
	f.Span, f.Help = g.locate.place(true, at...), "add "+name+", "+want(schema)
	if f.Span.Valid() && g.again(f.Span.Spot(name)) {
		return // a template lacks the field, and many entities are made from the template
	}
	g.add(f)
}

// lacks returns the finding that the struct at a path does not have the named field.
func lacks(name string, path []string) diag.Finding {
	where := "the blueprint"
	if len(path) > 0 {
		where = diag.Path(path)
	}
	return diag.Finding{
		Code: "E0102", Severity: diag.Error, Path: diag.Path(append(slices.Clip(path), name)),
		Message: fmt.Sprintf("missing required field %q in %s", name, where),
	}
}

// choice reports a one-of in which none or several of the fields are set.
func (g *grammar) choice(names, chosen, path []string) {
	message := fmt.Sprintf("%s sets no option", diag.Path(path))
	if len(chosen) > 1 {
		message = fmt.Sprintf("%s sets more than one option: %s", diag.Path(path), strings.Join(chosen, " and "))
	}
	f := diag.Finding{
		Code: "E0104", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(true, path...),
		Message: message, Label: "want exactly one of " + strings.Join(names, ", "), Help: "keep one option",
	}
	if len(chosen) == 0 {
		f.Help = "set one option"
	}
	for _, n := range chosen {
		f.Related = append(f.Related,
			diag.Related{Span: g.locate.place(true, append(slices.Clip(path), n)...), Message: n + " is set here"})
	}
	g.add(f)
}
