package blueprint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/format"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// Field is what there is to know of a field of a blueprint.
type Field struct {
	Path     string          // as it was asked for; "" is the whole blueprint
	Accepts  string          // its values in words, such as "true or false"
	Required bool            // it must be written
	Optional bool            // it can be left out, and then is nothing
	Default  json.RawMessage // what it is unless written; nil for nothing
	Doc      []string        // its documentation, a paragraph each
	Names    string          // what the names in a map of entities may be; "" for any other field
	Fields   []Member        // of a struct, or of each entity
	Value    *Value          // in a blueprint; nil without one
}

// Member is a field of a struct.
type Member struct {
	Name     string // below an entity of any name it begins with "*."
	Accepts  string
	Required bool
	Default  json.RawMessage
	Doc      string // the first sentence
	Value    *Value // where it is written in a blueprint; nil elsewhere
}

// Origin says where a value comes from.
type Origin string

// Origins of a value.
const (
	Written   Origin = "written"   // in the blueprint
	Defaulted Origin = "default"   // by the schema
	Unset     Origin = "unset"     // nowhere: there is none
	Unknown   Origin = "unknown"   // the blueprint is wrong there
	Container Origin = "container" // a struct or a map: its fields tell
)

// Value is what a field is in a blueprint.
type Value struct {
	Origin Origin
	JSON   json.RawMessage // with all defaults; nil where there is none, and of a map
	// as CUE writes it, in several lines where it is long: of a struct what is written, else with the default
	Text   string
	Names  []string // of the entities of a map, in the blueprint's order
	Absent string   // the entity on the path that the blueprint does not have, "" for none; Names are those it has
	// Places are where it is written, what decides first.
	Places []diag.Related
}

// PathError tells that a path leads to no field.
type PathError struct{ Message string }

func (e *PathError) Error() string { return e.Message }

// foundField is a field of the schema that a path leads to.
type FoundField struct {
	cc         *cue.Context
	definition cue.Value // of the whole blueprint
	elements   []string  // of the path
	field      *Field
}

// findField returns the field at a path, such as
// teams.team-a.quota.lp."l4-spot".borrow or zones[0]. A name with a dot stands in
// quotes, and "*" stands for any name. The error is a *PathError if the path leads
// to no field.
func FindField(path string) (*FoundField, error) {
	elements, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	cc := newContext()
	definition, err := blueprintDefinition(cc)
	if err != nil {
		return nil, err
	}
	constraint, presence, err := follow(definition, elements)
	if err != nil {
		return nil, err
	}
	f := describeField(constraint)
	f.Path, f.Required, f.Optional = path, presence == cue.RequiredConstraint, presence == cue.OptionalConstraint
	return &FoundField{cc, definition, elements, f}, nil
}

// describe returns what the schema says of the field. Value is nil.
func (f *FoundField) Describe() *Field { return f.field }

// describeIn returns what the schema says of the field, and its value in the
// blueprint that was loaded. Value is nil if the blueprint does not evaluate at all:
// the findings of the loader say why.
func (f *FoundField) DescribeIn(l *load.Loader) *Field {
	out := *f.field
	value, _, ok := l.Build(f.cc)
	if !ok {
		return &out
	}
	e := &explainer{
		definition: f.definition, value: value, locate: &locator{sources: l.Sources, inst: l.Instance, value: value},
		bare: sync.OnceValue(func() cue.Value { return l.BuildBare(f.cc) }),
	}
	out.Value = e.at(f.elements)
	out.Fields = slices.Clone(out.Fields)
	for i, m := range out.Fields {
		v := e.at(append(slices.Clip(f.elements), m.Name))
		if v != nil && (v.Origin == Written || v.Origin == Unknown || len(v.Places) > 0) {
			out.Fields[i].Value = v
		}
	}
	return &out
}

// parsePath reads a path as people write it.
func parsePath(path string) ([]string, error) {
	var elements []string
	rest := path
	for rest != "" && rest != "." {
		switch {
		case rest[0] == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, &PathError{fmt.Sprintf("%s: a quote is not closed", path)}
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, &PathError{fmt.Sprintf("%s: %s cannot be read", path, quoted)}
			}
			elements, rest = append(elements, name), rest[len(quoted):]
		case rest[0] == '[':
			index, after, closed := strings.Cut(rest[1:], "]")
			if !closed {
				return nil, &PathError{fmt.Sprintf("%s: a bracket is not closed", path)}
			}
			name, err := strconv.Unquote(index)
			if n, bad := strconv.Atoi(index); bad == nil && n >= 0 {
				name, err = diag.Index(n), nil
			}
			if err != nil {
				return nil, &PathError{fmt.Sprintf("%s: want an index such as [0], or a name in quotes", path)}
			}
			elements, rest = append(elements, name), after
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			elements, rest = append(elements, rest[:end]), rest[end:]
		}
		if strings.HasPrefix(rest, ".") && len(rest) > 1 {
			rest = rest[1:]
		} else if rest != "" && rest[0] != '[' {
			return nil,
				&PathError{fmt.Sprintf("%s: want names with dots between them, such as cluster.maintenance.days", path)}
		}
	}
	if i := slices.Index(elements, ""); i >= 0 {
		return nil, &PathError{fmt.Sprintf("%s: a name is empty", path)}
	}
	return elements, nil
}

// follow returns the constraint on the field at a path, and whether the field
// has to be there.
func follow(definition cue.Value, path []string) (constraint cue.Value, presence cue.SelectorType, err error) {
	constraint = definition
	for i, name := range path {
		above := diag.Path(path[:i])
		if above == "" {
			above = "a blueprint"
		}
		refuse := func(format string, args ...any) (cue.Value, cue.SelectorType, error) {
			return cue.Value{}, 0, &PathError{above + " " + fmt.Sprintf(format, args...)}
		}
		presence = 0
		names, _ := fieldNames(constraint) // none of a scalar
		element := elementOf(constraint)
		switch entity := entityOf(constraint); {
		case slices.Contains(names, name):
			constraint, presence = fieldOf(constraint, name)
		case entity.Exists():
			constraint = entity
		case element.Exists() && strings.HasPrefix(name, "["):
			constraint = element
		case element.Exists():
			return refuse("is a list: its elements are %s[0] and so on", above)
		case strings.HasPrefix(name, "["):
			return refuse("is no list")
		case len(names) == 0:
			return refuse("has no fields: it is %s; a name with dots stands in quotes", accepts(constraint))
		default:
			if near := diag.Nearest(name, names); near != "" {
				return refuse("has no field %q; did you mean %s?", name, diag.Path(append(slices.Clip(path[:i]), near)))
			}
			return refuse("has no field %q; it has %s", name, strings.Join(names, ", "))
		}
	}
	return constraint, presence, nil
}

// fieldOf returns the constraint on a field of a struct, and whether it has to
// be there.
func fieldOf(v cue.Value, name string) (cue.Value, cue.SelectorType) {
	it, err := v.Fields(cue.Optional(true))
	for err == nil && it.Next() {
		if it.Selector().Unquoted() == name {
			return it.Value(), it.Selector().ConstraintType()
		}
	}
	return cue.Value{}, 0
}

// entityOf returns the constraint on the entities of a map.
func entityOf(v cue.Value) cue.Value {
	if v.IncompleteKind() != cue.StructKind {
		return cue.Value{}
	}
	entity, _ := patternOf(v)
	return entity
}

// describeField says what a constraint says.
func describeField(constraint cue.Value) *Field {
	f := &Field{Accepts: accepts(constraint), Default: defaultOf(constraint), Doc: paragraphs(constraint)}
	if entityOf(constraint).Exists() {
		_, label := patternOf(constraint)
		f.Names = wantLabel(label)
	}
	f.Fields = membersOf(constraint, "")
	return f
}

// membersOf lists the fields of a struct, and of the entities of a map.
func membersOf(constraint cue.Value, prefix string) []Member {
	if entity := entityOf(constraint); entity.Exists() {
		return membersOf(entity, prefix+"*.")
	}
	var out []Member
	it, err := constraint.Fields(cue.Optional(true))
	for err == nil && it.Next() {
		v := it.Value()
		m := Member{
			Name: prefix + it.Selector().Unquoted(), Accepts: accepts(v), Default: defaultOf(v),
			Required: it.Selector().ConstraintType() == cue.RequiredConstraint,
		}
		if all := paragraphs(v); len(all) > 0 {
			m.Doc = sentence(all[0])
		}
		out = append(out, m)
	}
	return out
}

// accepts says in words what a constraint accepts.
func accepts(constraint cue.Value) string {
	names := 0
	for entity := entityOf(constraint); entity.Exists(); entity = entityOf(constraint) {
		constraint = entity
		names++
	}
	by := [...]string{"", "by name: ", "by two names: "}[min(names, 2)]
	return by + strings.TrimSuffix(want(constraint), ": { ... }")
}

// defaultOf returns what a field is unless written, nil for nothing. The
// defaults of a struct are those of its fields.
func defaultOf(constraint cue.Value) json.RawMessage {
	value, ok := constraint.Default()
	if !ok || value.IncompleteKind() == cue.StructKind {
		return nil
	}
	text, err := value.MarshalJSON()
	if err != nil {
		return nil
	}
	return text
}

// paragraphs returns the documentation of a field, and of the definition that
// it is an instance of.
func paragraphs(constraint cue.Value) []string {
	var out []string
	comments := constraint.Doc()
	if constraint.IncompleteKind() == cue.StructKind { // of a scalar it says what is accepted
		comments = append(slices.Clip(comments), cue.Dereference(constraint).Doc()...)
	}
	for _, c := range comments {
		for p := range strings.SplitSeq(c.Text(), "\n\n") {
			if p = strings.Join(strings.Fields(p), " "); p != "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// sentence returns the first sentence of a paragraph.
func sentence(paragraph string) string {
	first, _, more := strings.Cut(paragraph, ". ")
	if more {
		return first + "."
	}
	return first
}

// explainer looks fields up in a blueprint.
type explainer struct {
	definition, value cue.Value
	locate            *locator
	bare              func() cue.Value // see grammar
}

// at tells what the field at a path is, nil where the path has no definite
// names.
func (e *explainer) at(path []string) *Value {
	if slices.ContainsFunc(path, func(name string) bool { return strings.Contains(name, "*") }) {
		return nil
	}
	written := e.value
	if bare := e.bare(); bare.Exists() {
		written = bare
	}
	out := &Value{Origin: Unset}
	if given := lookup(written, path); given.Exists() {
		out.Origin = Written
	}
	if len(path) == 0 {
		out.Origin = Container
		return out
	}
	if out.Absent, out.Names = e.absent(path); out.Absent != "" {
		return out
	}
	constraint, _, err := follow(e.definition, path)
	if err != nil {
		return nil
	}
	if entity := entityOf(constraint); entity.Exists() {
		out.Origin, out.Names = Container, entityNames(lookup(e.value, path))
		e.cite(out, path, true)
		return out
	}
	value, ok := e.unified(path)
	switch {
	case !ok:
		if out.Origin == Written {
			out.Origin = Unknown
		}
	case value.IncompleteKind() == cue.StructKind || value.IncompleteKind() == cue.BottomKind && isStruct(value):
		if out.Origin == Written {
			out.Origin, out.Text = Container, cueText(lookup(written, path))
		}
		if value.Validate(cue.Concrete(true), cue.Final()) == nil {
			out.JSON, _ = value.MarshalJSON()
		}
	default:
		if out.JSON, err = value.MarshalJSON(); err != nil {
			out.JSON, out.Origin = nil, Unknown
			break
		}
		out.Text = cueText(value)
		if out.Origin == Unset {
			out.Origin = Defaulted
			return out
		}
	}
	if out.Origin != Unset {
		e.cite(out, path, out.Origin == Container)
	}
	return out
}

// mostInline is how many characters a value has at most that is written in one
// line.
const mostInline = 100

// cueText writes a value as CUE does: in one line if it is short, else in
// several.
func cueText(v cue.Value) string {
	var b strings.Builder
	if compact(&b, v) {
		return b.String()
	}
	text, err := format.Node(v.Syntax(cue.Final()))
	if err != nil {
		return ""
	}
	return string(text)
}

// compact writes a value in one line, and tells whether that is short enough.
func compact(b *strings.Builder, v cue.Value) bool {
	v, _ = v.Default()
	separate := func(i int) {
		if i > 0 {
			b.WriteString(", ")
		}
	}
	switch v.IncompleteKind() {
	case cue.StructKind:
		b.WriteByte('{')
		it, err := v.Fields()
		for i := 0; err == nil && it.Next(); i++ {
			separate(i)
			b.WriteString(it.Selector().String() + ": ")
			if !compact(b, it.Value()) {
				return false
			}
		}
		b.WriteByte('}')
	case cue.ListKind:
		b.WriteByte('[')
		it, err := v.List()
		for i := 0; err == nil && it.Next(); i++ {
			separate(i)
			if !compact(b, it.Value()) {
				return false
			}
		}
		b.WriteByte(']')
	default:
		fmt.Fprint(b, v)
	}
	return b.Len() <= mostInline && !strings.Contains(b.String(), "\n")
}

// absent returns the entity on a path that the blueprint does not have, and the
// names of those that it has; "" where there is none.
func (e *explainer) absent(path []string) (string, []string) {
	for i := range path {
		constraint, _, err := follow(e.definition, path[:i])
		if err != nil {
			break
		}
		if entity := entityOf(constraint); entity.Exists() && !lookup(e.value, path[:i+1]).Exists() {
			return diag.Path(path[:i+1]), entityNames(lookup(e.value, path[:i]))
		}
	}
	return "", nil
}

// entityNames returns the names in a map.
func entityNames(v cue.Value) []string {
	var names []string
	for it, ok := fields(v); ok && it.Next(); {
		if it.Selector().IsString() && !isConstraint(it.Selector()) {
			names = append(names, it.Selector().Unquoted())
		}
	}
	return names
}

// unified returns the value at a path with what the schema adds to it; false
// where it does not exist.
func (e *explainer) unified(path []string) (cue.Value, bool) {
	constraint, _, err := follow(e.definition, path[:1])
	if err != nil {
		return cue.Value{}, false
	}
	value, rest := lookup(e.value, path[:1]), path[1:]
	if entity := entityOf(constraint); entity.Exists() && len(rest) > 0 {
		if value = lookup(value, rest[:1]); !value.Exists() {
			return value, false
		}
		constraint, rest = entity, rest[1:]
	}
	if value.Exists() {
		constraint = constraint.Unify(value)
	}
	out, _ := lookup(constraint, rest).Default()
	return out, out.Exists()
}

// cite adds where a value is written: its literals, or with keys the names of a
// struct.
func (e *explainer) cite(v *Value, path []string, keys bool) {
	var spans []diag.Span
	if keys {
		spans = e.locate.keys(path)
	} else {
		spans = append([]diag.Span{e.locate.literal(v.Text, path)}, e.locate.values(path)...)
	}
	seen, fields := map[diag.Span]bool{}, map[diag.Span]bool{}
	for _, span := range spans {
		if !span.Valid() || seen[span] {
			continue
		}
		seen[span] = true
		message := "written here"
		at := e.locate.fieldAt(span)
		if at != nil && !keys { // its expression may hold several
			if fields[at.value] {
				continue
			}
			fields[at.value] = true
		}
		switch {
		case at == nil:
		case at.tag != "":
			message += "; or set it with -t " + at.tag + "=VALUE"
		case strings.Contains(at.name, "["):
			message += ", for every name that matches"
		}
		v.Places = append(v.Places, diag.Related{Span: span, Message: message})
	}
}
