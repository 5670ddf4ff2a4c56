package blueprint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"

	"github.com/batchwright/batchwright/compiler/blueprint/literal"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/compiler/words"
)

// Field describes a field of a blueprint.
type Field struct {
	Path     string          `json:"path"`                    // as the user asked for it; "" is the whole blueprint
	Accepts  string          `json:"accepts"`                 // accepted values in words, such as "true or false"
	Required bool            `json:"required"`                // the field must be written
	Optional bool            `json:"-"`                       // the field can be omitted and then has no value
	Default  json.RawMessage `json:"default,omitempty"`       // value if the field is not written; nil for none
	Doc      []string        `json:"documentation,omitempty"` // one paragraph per element
	Names    string          `json:"names,omitempty"`         // accepted names of entities; "" for any other field
	Fields   []Member        `json:"fields,omitempty"`        // fields of a struct, or of each entity
	SameName []string        `json:"sameName,omitempty"`      // other fields with the name of a top-level field
	Value    *Value          `json:"value,omitempty"`         // value in a blueprint; nil without a blueprint
	// HasElements reports whether the field is a list of structs. The path of the first
	// struct is the path of the field with "[0]" after it.
	HasElements bool `json:"-"`
	// Literals are the accepted values as CUE source, if there are only a few.
	Literals []string `json:"-"`
}

// Facts returns what people should know about the field besides Accepts and its
// fields, one paragraph per element.
func (f *Field) Facts() []string {
	facts := slices.Clone(f.Doc)
	if f.Names != "" {
		facts = append(facts, "Each name: "+f.Names+".")
	}
	switch {
	case f.Required:
		facts = append(facts, "It is required.")
	case f.Optional:
		facts = append(facts, "It is optional.")
	case f.Default != nil:
		facts = append(facts, "The default is "+string(f.Default)+".")
	}
	return facts
}

// Member is a field of a struct.
type Member struct {
	Name     string          `json:"name"` // below an entity of any name, the name begins with "*."
	Accepts  string          `json:"accepts"`
	Required bool            `json:"required"`
	Default  json.RawMessage `json:"default,omitempty"`
	Doc      string          `json:"documentation,omitempty"` // first sentence of the documentation
	Value    *Value          `json:"value,omitempty"`         // value if it is written in the blueprint; otherwise nil
}

// Origin says where a value comes from.
type Origin string

// Origins of a value.
const (
	Written   Origin = "written"   // the blueprint
	Defaulted Origin = "default"   // the schema
	Unset     Origin = "unset"     // there is no value
	Unknown   Origin = "unknown"   // the blueprint has a mistake there
	Container Origin = "container" // a struct or a map: see its fields
)

// Value is the value of a field in a blueprint.
type Value struct {
	Origin Origin          `json:"origin"`
	JSON   json.RawMessage `json:"value,omitempty"` // with all defaults; nil if there is no value, and for a map
	// CUE source, of several lines if it is long; for a struct only the written
	// fields, otherwise with the default
	Text  string   `json:"-"`
	Names []string `json:"names,omitempty"` // names of the entities of a map, in the blueprint's order
	// Absent is the entity on the path that the blueprint does not have, "" for none.
	// Names are then the existing entities.
	Absent string `json:"absent,omitempty"`
	// Places are the places where the value is written. The place that decides the
	// value is first.
	Places []diag.Related `json:"places,omitempty"`
}

// PathError is the error for a path that leads to no field.
type PathError struct{ Message string }

func (e *PathError) Error() string { return e.Message }

// FoundField is a field of the schema, found by its path.
type FoundField struct {
	*Field
	reader   *SchemaReader
	elements []string // elements of the path
	// asNamed is the path as the user gave it, if elements has a name that it leaves out. It is the path of
	// an entity that has the name of a field. Otherwise it is nil.
	asNamed []string
}

// FindField returns the field at a path, such as
// teams.team-a.quota.lp."l4-spot".borrow or zones[0]. A name with a dot must be
// quoted, and "*" stands for any name. The error is a *PathError if the path leads
// to no field.
func FindField(path string) (*FoundField, error) {
	elements, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	reader := ReadSchema()
	f, err := reader.Describe(elements)
	if with, name := reader.insertName(elements); with != nil && (err != nil || name == len(elements)-1) {
		field, failure := reader.Describe(with)
		if failure != nil {
			return nil, failure
		}
		field.Path = showPattern(with)
		field.Doc = append(field.Doc, fmt.Sprintf("The path %s leaves out the name: %s is the field of each entry.",
			path, field.Path))
		return &FoundField{field, reader, with, elements}, nil
	}
	if err != nil {
		return nil, err
	}
	f.Path = path
	return &FoundField{f, reader, elements, nil}, nil
}

// insertName returns a path with a placeholder before its first element that stands for the name of an
// entity, but is a field of the entity: capacity.NAME.flavor for capacity.flavor. It returns nil if there is
// no such element. at is the index of the element in the path.
func (r *SchemaReader) insertName(path []string) (with []string, at int) {
	for i, name := range path {
		constraint, _, err := constraintAt(r.definition, path[:i])
		if err != nil {
			return nil, 0
		}
		constraint = structOf(constraint)
		if slices.Contains(fieldNames(constraint), name) {
			continue
		}
		if entity := entityOf(constraint); entity.Exists() && slices.Contains(fieldNames(structOf(entity)), name) {
			return slices.Insert(slices.Clone(path), i, "NAME"), i
		}
	}
	return nil, 0
}

// SchemaReader describes fields of the schema. It is not safe for concurrent use.
type SchemaReader struct {
	cc         *cue.Context
	definition cue.Value // definition of the whole blueprint
}

// ReadSchema reads the schema.
func ReadSchema() *SchemaReader {
	cc := newContext()
	return &SchemaReader{cc, blueprintDefinition(cc)}
}

// Describe returns the description of the field at a path of unquoted elements. The
// error is a *PathError if the path leads to no field.
func (r *SchemaReader) Describe(elements []string) (*Field, error) {
	constraint, presence, err := constraintAt(r.definition, elements)
	if err != nil {
		return nil, err
	}
	f := describeField(constraint)
	if len(elements) == 1 {
		f.SameName = newVocabulary(r.definition).sameName(elements[0])
	}
	f.Path = diag.Path(elements)
	f.Required, f.Optional = presence == cue.RequiredConstraint, presence == cue.OptionalConstraint
	return f, nil
}

// DescribeIn returns the schema's description of the field, with its value in the
// loaded blueprint. Value is nil if the blueprint cannot be evaluated at all: the
// loader's findings say why.
func (f *FoundField) DescribeIn(l *load.Loader) *Field {
	out, elements := *f.Field, f.elements
	value, _, ok := l.Build(f.reader.cc)
	if !ok {
		return &out
	}
	if f.asNamed != nil && lookupPath(value, f.asNamed).Exists() {
		if named, err := f.reader.Describe(f.asNamed); err == nil {
			out, elements = *named, f.asNamed
		}
	}
	e := &explainer{
		definition: f.reader.definition, value: value, locate: newLocator(l, value),
		bare: sync.OnceValue(func() cue.Value { return l.BuildBare(f.reader.cc) }),
	}
	out.Value = e.valueAt(elements)
	out.Fields = slices.Clone(out.Fields)
	for i, m := range out.Fields {
		v := e.valueAt(append(slices.Clip(elements), m.Name))
		if v != nil && (v.Origin == Written || v.Origin == Unknown || len(v.Places) > 0) {
			out.Fields[i].Value = v
			v.Text = secret.MaskValue(m.Name, v.Text)
		}
	}
	if v := out.Value; v != nil && len(elements) > 0 {
		v.Text = secret.MaskValue(elements[len(elements)-1], v.Text)
	}
	return &out
}

// parsePath returns the elements of a path that a user wrote.
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

// constraintAt returns the constraint on the field at a path, and whether the field is
// required.
func constraintAt(definition cue.Value, path []string) (constraint cue.Value, presence cue.SelectorType, err error) {
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
		fields := structOf(constraint)
		names := fieldNames(fields)
		element := elementOf(constraint)
		switch entity := entityOf(fields); {
		case slices.Contains(names, name):
			constraint, presence = fieldOf(fields, name)
		case element.Exists() && strings.HasPrefix(name, "["):
			constraint = element
		case entity.Exists():
			constraint = entity
		case element.Exists():
			return refuse("is a list: its elements are %s[0] and so on", above)
		case strings.HasPrefix(name, "["):
			return refuse("is no list")
		case len(names) == 0:
			return refuse("has no fields: it is %s; a name with dots stands in quotes", acceptedValues(constraint))
		default:
			const most = 3 // a name of more fields is too general
			meant := newVocabulary(definition).suggestPaths(name, names, path[:i])
			if 0 < len(meant) && len(meant) <= most {
				return refuse("has no field %q; did you mean %s?", name, words.Or(meant))
			}
			return refuse("has no field %q; it has %s", name, strings.Join(names, ", "))
		}
	}
	return constraint, presence, nil
}

// fieldOf returns the constraint on a field of a struct, and whether the field is
// required.
func fieldOf(v cue.Value, name string) (cue.Value, cue.SelectorType) {
	for sel, field := range schemaFields(v) {
		if sel.Unquoted() == name {
			return field, sel.ConstraintType()
		}
	}
	return cue.Value{}, 0
}

// structOf returns the arm of a disjunction that accepts a struct, such as {guaranteed: 8} beside 8. It
// returns the constraint itself if that is a struct, or if there is no such arm.
func structOf(v cue.Value) cue.Value {
	if kind := v.IncompleteKind(); kind == cue.StructKind || kind&cue.StructKind == 0 {
		return v
	}
	for _, arm := range disjunctionArms(v) {
		if arm.IncompleteKind() == cue.StructKind {
			return arm
		}
	}
	return v
}

// entityOf returns the constraint on the entities of a map.
func entityOf(v cue.Value) cue.Value {
	if v.IncompleteKind() != cue.StructKind {
		return cue.Value{}
	}
	entity, _ := patternOf(v)
	return entity
}

// describeField returns the description of a constraint.
func describeField(constraint cue.Value) *Field {
	f := &Field{Accepts: acceptedValues(constraint), Default: defaultOf(constraint), Doc: docParagraphs(constraint)}
	if entityOf(constraint).Exists() {
		_, label := patternOf(constraint)
		f.Names = wantLabel(label)
	}
	f.Fields = membersOf(constraint, "")
	if element := elementOf(constraint); element.Exists() {
		f.HasElements = len(membersOf(element, "")) > 0
	}
	f.Literals = literalsOf(constraint)
	return f
}

// literalsOf returns the values that a constraint accepts, as CUE source: the members
// of an enumeration, the booleans, or the words instead of a number.
func literalsOf(constraint cue.Value) []string {
	kind := constraint.IncompleteKind()
	switch {
	case kind == cue.BoolKind:
		return []string{"true", "false"}
	case kind&cue.StringKind == 0 || kind&^(cue.StringKind|cue.IntKind) != 0:
		return nil
	}
	members := enumMembers(constraint)
	if kind&cue.IntKind != 0 {
		members = stringsOf(constraint)
	}
	for i, m := range members {
		members[i] = strconv.Quote(m)
	}
	return members
}

// membersOf returns the fields of a struct and of the entities of a map.
func membersOf(constraint cue.Value, prefix string) []Member {
	if entity := entityOf(constraint); entity.Exists() {
		return membersOf(entity, prefix+"*.")
	}
	var out []Member
	for sel, field := range schemaFields(structOf(constraint)) {
		out = append(out, describeMember(prefix+sel.Unquoted(), field, sel.ConstraintType()))
	}
	return out
}

// describeMember returns the description of a field in a list of fields.
func describeMember(name string, constraint cue.Value, presence cue.SelectorType) Member {
	m := Member{
		Name: name, Accepts: acceptedValues(constraint), Default: defaultOf(constraint),
		Required: presence == cue.RequiredConstraint,
	}
	if all := docParagraphs(constraint); len(all) > 0 {
		m.Doc = firstSentence(all[0])
	}
	return m
}

// acceptedValues returns a description of the values that a constraint accepts.
func acceptedValues(constraint cue.Value) string {
	names := 0
	for entity := entityOf(constraint); entity.Exists(); entity = entityOf(constraint) {
		constraint = entity
		names++
	}
	by := [...]string{"", "by name: ", "by two names: "}[min(names, 2)]
	return by + strings.TrimSuffix(describeWanted(constraint), ": { ... }")
}

// defaultOf returns the value of a field that is not written, nil for none. The
// defaults of a struct are the defaults of its fields.
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

// docParagraphs returns the documentation of a field, and of the definition that the
// field refers to.
func docParagraphs(constraint cue.Value) []string {
	comments := constraint.Doc()
	// For a scalar, the definition only describes the accepted values.
	if constraint.IncompleteKind() == cue.StructKind {
		comments = append(slices.Clip(comments), cue.Dereference(constraint).Doc()...)
	}
	return paragraphsOf(comments)
}

// paragraphsOf returns the paragraphs of comments, each once and on one line.
func paragraphsOf(comments []*ast.CommentGroup) []string {
	var out []string
	for _, c := range comments {
		for p := range strings.SplitSeq(c.Text(), "\n\n") {
			if p = strings.Join(strings.Fields(p), " "); p != "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// firstSentence returns the first sentence of a paragraph.
func firstSentence(paragraph string) string {
	first, _, more := strings.Cut(paragraph, ". ")
	if more {
		return first + "."
	}
	return first
}

// explainer finds fields and their values in a blueprint.
type explainer struct {
	definition, value cue.Value
	locate            *locator
	bare              func() cue.Value // see grammar
}

// valueAt returns the value of the field at a path, or nil if the path contains "*".
func (e *explainer) valueAt(path []string) *Value {
	if slices.ContainsFunc(path, func(name string) bool { return strings.Contains(name, "*") }) {
		return nil
	}
	written := e.value
	if bare := e.bare(); bare.Exists() {
		written = bare
	}
	out := &Value{Origin: Unset}
	if given := lookupPath(written, path); given.Exists() {
		out.Origin = Written
	}
	if len(path) == 0 {
		out.Origin = Container
		return out
	}
	if out.Absent, out.Names = e.absentEntity(path); out.Absent != "" {
		return out
	}
	constraint, _, err := constraintAt(e.definition, path)
	if err != nil {
		return nil
	}
	if entity := entityOf(constraint); entity.Exists() {
		out.Origin, out.Names = Container, entityNames(lookupPath(e.value, path))
		e.citePlaces(out, path, true)
		return out
	}
	value, ok := e.unifiedValue(path)
	switch {
	case !ok:
		if out.Origin == Written {
			out.Origin = Unknown
		}
	case value.IncompleteKind() == cue.StructKind || value.IncompleteKind() == cue.BottomKind && isStruct(value):
		if out.Origin == Written {
			out.Origin, out.Text = Container, cueText(lookupPath(written, path))
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
		e.citePlaces(out, path, out.Origin == Container)
	}
	return out
}

// mostInline is the most characters of a value that is written on one line.
const mostInline = 100

// cueText returns a value as CUE source: on one line if it is short, otherwise on
// several.
func cueText(v cue.Value) string {
	var b strings.Builder
	if writeCompact(&b, v) {
		return b.String()
	}
	text, err := format.Node(v.Syntax(cue.Final()))
	if err != nil {
		return ""
	}
	return string(text)
}

// writeCompact appends a value on one line, and reports whether the line is short
// enough.
func writeCompact(b *strings.Builder, v cue.Value) bool {
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
			if !writeCompact(b, it.Value()) {
				return false
			}
		}
		b.WriteByte('}')
	case cue.ListKind:
		b.WriteByte('[')
		it, err := v.List()
		for i := 0; err == nil && it.Next(); i++ {
			separate(i)
			if !writeCompact(b, it.Value()) {
				return false
			}
		}
		b.WriteByte(']')
	default:
		fmt.Fprint(b, v)
	}
	return b.Len() <= mostInline && !strings.Contains(b.String(), "\n")
}

// absentEntity returns the entity on a path that the blueprint does not have, and the
// names of the existing entities. It returns "" if no entity is missing.
func (e *explainer) absentEntity(path []string) (string, []string) {
	for i := range path {
		constraint, _, err := constraintAt(e.definition, path[:i])
		if err != nil {
			break
		}
		if entity := entityOf(constraint); entity.Exists() && !lookupPath(e.value, path[:i+1]).Exists() {
			return diag.Path(path[:i+1]), entityNames(lookupPath(e.value, path[:i]))
		}
	}
	return "", nil
}

// entityNames returns the names of the entities in a map. As in checkEntities, the
// syntax has them if the files write the map once, as a literal.
func entityNames(v cue.Value) []string {
	var names []string
	if fields, ok := literal.Fields(v.Source()); ok && v.Err() == nil {
		for _, f := range fields {
			names = append(names, f.Name)
		}
		return names
	}
	for sel := range writtenFields(v) {
		if sel.IsString() {
			names = append(names, sel.Unquoted())
		}
	}
	return names
}

// unifiedValue returns the value at a path unified with the schema, and reports
// whether the value exists.
func (e *explainer) unifiedValue(path []string) (cue.Value, bool) {
	constraint, _, err := constraintAt(e.definition, path[:1])
	if err != nil {
		return cue.Value{}, false
	}
	value, rest := lookupPath(e.value, path[:1]), path[1:]
	if entity := entityOf(constraint); entity.Exists() && len(rest) > 0 {
		if value = lookupPath(value, rest[:1]); !value.Exists() {
			return value, false
		}
		constraint, rest = entity, rest[1:]
	}
	if value.Exists() {
		constraint = constraint.Unify(value)
	}
	out, _ := lookupPath(constraint, rest).Default()
	return out, out.Exists()
}

// citePlaces adds the places where a value is written: its literals or, if keys is
// true, the names of a struct.
func (e *explainer) citePlaces(v *Value, path []string, keys bool) {
	var spans []diag.Span
	if keys {
		spans = e.locate.keySpans(path)
	} else {
		spans = append([]diag.Span{e.locate.literalSpan(v.Text, path)}, e.locate.valueSpans(path)...)
	}
	seen, fields := map[diag.Span]bool{}, map[diag.Span]bool{}
	for _, span := range spans {
		if !span.Valid() || seen[span] {
			continue
		}
		seen[span] = true
		message := "written here"
		at := e.locate.fieldAt(span)
		if at != nil && !keys { // its expression may contain several literals
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
