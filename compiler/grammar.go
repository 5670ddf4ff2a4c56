package compiler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"

	"github.com/batchwright/batchwright/compiler/diag"
)

// grammar explains why a blueprint does not fit the schema. CUE itself reports
// a wrong enum value once for every member, hides an unknown field behind any
// other mistake, and points into the schema; so the user's value and the
// schema are walked side by side, and each mistake is described once from
// both.
type grammar struct {
	sources  *sources
	locate   *locator
	findings *diag.List
	mistakes int // seen so far, also those that add no finding
	// explained and unexplained count entities and fields that do not fit.
	explained, unexplained int
	reported               map[diag.Spot]bool // fields whose value was reported
}

// add reports a mistake.
func (g *grammar) add(f diag.Finding) {
	g.mistakes++
	g.findings.Add(f)
}

// again tells whether a spot has been reported already, and counts the mistake
// if so.
func (g *grammar) again(here diag.Spot) bool {
	if g.reported[here] {
		g.mistakes++
		return true
	}
	g.reported[here] = true
	return false
}

// notAStruct reports a blueprint that is no struct, or whose evaluation ended
// before it was one. fields are those that a blueprint can have.
func (g *grammar) notAStruct(value cue.Value, fields []string) {
	if value.Err() != nil {
		var at []string // CUE does not always say where a circle is
		for _, name := range fields {
			if value.LookupPath(cue.MakePath(cue.Str(name))).Err() != nil && g.locate.written(name) {
				at = []string{name}
				break
			}
		}
		g.evaluation(value.Err(), at)
		return
	}
	g.add(diag.Finding{
		Code: "E0003", Severity: diag.Error, Span: g.locate.place(false),
		Message: "does not hold a blueprint but " + describeValue(value), Help: "a blueprint is a struct of fields such as name and teams",
	})
}

// walk reports every mistake of a value below a path. schema is the
// constraint, value what the user's files say, without the schema.
func (g *grammar) walk(schema, value cue.Value, path []string) {
	// A one-of is bottom by itself, because it has no field yet.
	if schema.IncompleteKind()&^cue.StructKind == 0 && value.IncompleteKind() == cue.StructKind {
		g.object(schema, value, path)
		return
	}
	if schema.IncompleteKind() == cue.ListKind && value.IncompleteKind() == cue.ListKind {
		g.list(schema, value, path)
		return
	}
	g.scalar(schema, value, path)
}

func (g *grammar) object(schema, value cue.Value, path []string) {
	known, required := map[string]cue.Value{}, []string{}
	names := []string{}
	pattern, label := patternOf(schema)
	matches := matcher(label)
	it, err := schema.Fields(cue.Optional(true))
	if err != nil {
		g.evaluation(err, path)
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
	fields, err := value.Fields()
	if err != nil {
		g.evaluation(err, path)
		return
	}
	for fields.Next() {
		name := fields.Selector().Unquoted()
		given[name] = true
		at := append(slices.Clip(path), name)
		switch {
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
	for _, name := range required {
		if !given[name] && !meant[name] {
			g.missing(known[name], name, path)
		}
	}
	oneOf := schema.IncompleteKind() == cue.BottomKind
	chosen := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !given[n] })
	if oneOf && (len(chosen) > 1 || len(chosen) == 0 && g.mistakes == before) {
		g.choice(names, chosen, path)
	}
}

func (g *grammar) list(schema, value cue.Value, path []string) {
	before := g.mistakes
	element := elementOf(schema)
	items, err := value.List()
	if err == nil && element.Exists() {
		for i := 0; items.Next(); i++ {
			g.walk(element, items.Value(), append(slices.Clip(path), diag.Index(i)))
		}
	}
	if g.mistakes == before {
		g.scalar(schema, value, path)
	}
}

// scalar reports a value that does not meet its constraint.
func (g *grammar) scalar(schema, value cue.Value, path []string) {
	if err := value.Err(); err != nil && value.IncompleteKind() == cue.BottomKind {
		if strings.Contains(err.Error(), requiredField) {
			return // object says so
		}
		if value.Validate() == nil { // it could still become something
			g.indefinite(schema, path)
			return
		}
		g.evaluation(err, path)
		return
	}
	err := schema.Unify(value).Validate(cue.Concrete(true), cue.Final())
	if err == nil {
		return
	}
	if !value.IsConcrete() && value.IncompleteKind()&schema.IncompleteKind() != 0 {
		g.indefinite(schema, path)
		return
	}
	shown := describeValue(value)
	f := diag.Finding{
		Code: "E0103", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(false, path...),
		Message: fmt.Sprintf("%s cannot be %s", diag.Path(path), shown), Label: "want " + want(schema),
	}
	if doc := doc(schema); doc != "" {
		f.Help = diag.Path(path) + ": " + doc
	}
	if g.again(f.Span.Spot(path[len(path)-1])) {
		return
	}
	if text, err := value.String(); err == nil {
		if near := diag.Nearest(text, members(schema)); near != "" {
			f.Help = fmt.Sprintf("did you mean %q?", near)
			f.Edit = &diag.Edit{Span: f.Span, Text: strconv.Quote(near)}
		}
	}
	g.add(f)
}

// indefinite reports a field that is written and has no value of its own, once
// for all fields that refer to it.
func (g *grammar) indefinite(schema cue.Value, path []string) {
	f := diag.Finding{
		Code: "E0106", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(false, path...),
		Message: diag.Path(path) + " has no definite value", Label: "want " + want(schema), Help: "give it one value",
	}
	if g.again(f.Span.Spot("")) {
		return
	}
	g.add(f)
}

// badKey reports a name that may not be a label.
func (g *grammar) badKey(label cue.Value, name string, path []string) {
	g.add(diag.Finding{
		Code: "E0105", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(true, path...),
		Message: fmt.Sprintf("%q is not a valid name", name), Label: "want " + wantLabel(label),
	})
}

// unknown reports a field that the schema does not have, and returns the one
// that is probably meant, or "".
func (g *grammar) unknown(name string, names []string, path []string) string {
	parent := diag.Path(path[:len(path)-1])
	if parent == "" {
		parent = "a blueprint"
	}
	f := diag.Finding{
		Code: "E0101", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(true, path...),
		Message: fmt.Sprintf("unknown field %q", name),
		Label:   "want one of " + strings.Join(names, ", "),
		Help:    fmt.Sprintf("%s has no such field; remove it or correct its name", parent),
	}
	if len(names) == 0 {
		f.Label = "want no fields here"
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
		g.indefinite(schema, at)
		return
	}
	help := "add " + name + ", " + want(schema)
	where := "the blueprint"
	if len(path) > 0 {
		where = diag.Path(path)
	}
	g.add(diag.Finding{
		Code: "E0102", Severity: diag.Error, Path: diag.Path(at), Span: g.locate.place(true, at...),
		Message: fmt.Sprintf("%s lacks the field %q", where, name), Help: help,
	})
}

// choice reports a one-of that has none or several of its fields.
func (g *grammar) choice(names, chosen, path []string) {
	message := fmt.Sprintf("%s sets none of its options", diag.Path(path))
	if len(chosen) > 1 {
		message = fmt.Sprintf("%s sets %s together", diag.Path(path), strings.Join(chosen, " and "))
	}
	f := diag.Finding{
		Code: "E0104", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.place(true, path...),
		Message: message, Label: "want exactly one of " + strings.Join(names, ", "), Help: "keep one of them",
	}
	if len(chosen) == 0 {
		f.Help = "name one of them"
	}
	for _, n := range chosen {
		f.Related = append(f.Related, diag.Related{Span: g.locate.place(true, append(slices.Clip(path), n)...), Message: n + " is set here"})
	}
	g.add(f)
}

// requiredField is what CUE says of a missing field of a schema that the
// user's file embeds.
const requiredField = "field is required but not present"

// evaluation reports what the user's own CUE got wrong, in CUE's words.
func (g *grammar) evaluation(err error, path []string) {
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		at := slices.Clone(e.Path())
		if len(at) > 0 && strings.HasPrefix(at[0], "#") {
			at = at[1:]
		}
		for i := range at {
			at[i] = element(at[i])
		}
		if len(at) == 0 {
			at = path
		}
		text := message(e)
		if strings.Contains(text, requiredField) {
			continue // walk says so itself
		}
		key := diag.Path(at) + "\x00" + text
		if seen[key] {
			continue
		}
		seen[key] = true
		f := diag.Finding{Code: "E0107", Severity: diag.Error, Path: diag.Path(at), Message: withoutStructs(text), Span: g.sources.span(e.Position())}
		for _, pos := range e.InputPositions() {
			span := g.sources.span(pos)
			switch {
			case !span.Valid() || span == f.Span:
			case !f.Span.Valid():
				f.Span = span
			default:
				f.Related = append(f.Related, diag.Related{Span: span, Message: "see also here"})
			}
		}
		if !f.Span.Valid() {
			f.Span = g.locate.place(false, at...)
		}
		if len(f.Related) > 3 {
			f.Related = f.Related[:3]
		}
		switch {
		case strings.Contains(text, "conflicting values"):
			f.Help = "a field has one value: keep one, or make the other a default with *"
		case strings.Contains(text, "cycle"):
			f.Help = "break the circle: give one of the fields a value of its own"
		case strings.Contains(text, "reference") && strings.Contains(text, "not found"):
			f.Help = "define the name in this package, or put a string into quotes"
		default:
			f.Help = "correct the CUE expression here"
		}
		g.add(f)
	}
}

// withoutStructs leaves out of a message what stands in braces.
func withoutStructs(text string) string {
	open, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if open < 0 || end < open {
		return text
	}
	return text[:open] + "{...}" + text[end+1:]
}

// element turns an element of a CUE error's path into one of a finding's.
func element(e string) string {
	if i, err := strconv.Atoi(e); err == nil {
		return diag.Index(i)
	}
	if s, err := strconv.Unquote(e); err == nil {
		return s
	}
	return e
}
