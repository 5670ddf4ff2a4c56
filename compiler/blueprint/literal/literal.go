// Package literal compares literals with the schema without CUE's evaluator, which
// takes twenty times as long.
//
// The files of the schema go in. For a literal of the user, such as a team that a
// blueprint writes out, a verdict comes out, and the literal as JSON with every default
// filled in. The package knows the part of CUE that the schema and most blueprints
// consist of. The verdict on everything else is Unknown, and the caller then asks CUE.
package literal

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// Verdict says whether a literal satisfies the schema.
type Verdict int

// The verdicts. Only CUE can judge a literal that is Unknown.
const (
	Unknown Verdict = iota
	Fits
	Unfit
)

// Schema is a definition of structs, such as #Blueprint.
type Schema struct {
	definitions map[string]ast.Expr
	shapes      map[string]*Shape // shapes of definitions that were needed
	root        *object
}

// Read reads the definition with a name from the files of a schema, by file name. The
// error is a mistake in the files.
func Read(files map[string][]byte, name string) (*Schema, error) {
	s := &Schema{definitions: map[string]ast.Expr{}, shapes: map[string]*Shape{}}
	for file, content := range files {
		parsed, err := parser.ParseFile(file, content)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if field, ok := d.(*ast.Field); ok {
				if label, _, err := ast.LabelName(field.Label); err == nil {
					s.definitions[label] = field.Value
				}
			}
		}
	}
	shape := s.definition(name)
	if shape.object == nil || shape.object.pattern != nil {
		return nil, fmt.Errorf("%s is not a struct with fields", name)
	}
	s.root = shape.object
	return s, nil
}

// Names returns the names of the fields of the definition, in the order of the schema.
func (s *Schema) Names() []string { return slices.Clone(s.root.names) }

// Required reports whether a value must have a field.
func (s *Schema) Required(name string) bool { return s.root.fields[name].presence == token.NOT }

// Field returns the shape of a field, and nil if the definition does not have the field.
func (s *Schema) Field(name string) *Shape {
	if f := s.root.fields[name]; f != nil {
		return f.shape
	}
	return nil
}

// Shape describes the values that the schema accepts.
type Shape struct {
	scalar func(atom) Verdict // nil if no scalar fits
	object *object            // nil if no struct fits
	list   *list              // nil if no list fits
	// initial is the JSON of the value that a missing field gets, nil for none.
	initial []byte
	// unknown reports whether the package does not know all that the schema requires.
	unknown bool
	// least and most are the numbers of fields that a struct must have; most is -1
	// without a limit.
	least, most int
}

// object is the constraint on a struct: either names or a pattern for all names.
type object struct {
	names   []string
	fields  map[string]*field
	pattern *Shape
	label   func(string) bool // reports whether a name matches the pattern; nil for all names
}

// field is a field of a struct. Its presence is token.NOT for a required field,
// token.OPTION for an optional one, and token.ILLEGAL for one that has a default.
type field struct {
	shape    *Shape
	presence token.Token
}

// list is the constraint on a list: on its first elements, and on the rest.
type list struct {
	first []*Shape
	rest  *Shape // nil if there are no others
}

// Entity returns the shape of the values of a map of entities, and a function that
// reports whether a name is a valid name of an entity. The shape is nil if the shape is
// not of a map.
func (s *Shape) Entity() (entity *Shape, matches func(name string) bool) {
	if s == nil || s.unknown || s.object == nil || s.object.pattern == nil {
		return nil, nil
	}
	if s.object.label == nil {
		return s.object.pattern, func(string) bool { return true }
	}
	return s.object.pattern, s.object.label
}

// Default returns the JSON of the value that a missing field gets, and whether the
// package knows it.
func (s *Shape) Default() ([]byte, bool) {
	if s == nil || s.unknown || s.initial == nil {
		return nil, false
	}
	return s.initial, true
}

// Check compares a value with the shape. The value is a field or an expression of a
// file, and must be the only source of the value. If the value fits, Check returns its
// JSON with every default.
func (s *Shape) Check(value ast.Node) ([]byte, Verdict) {
	if s == nil {
		return nil, Unknown
	}
	if f, ok := value.(*ast.Field); ok {
		if f.Constraint != token.ILLEGAL || len(f.Attrs) > 0 {
			return nil, Unknown
		}
		value = f.Value
	}
	expr, ok := value.(ast.Expr)
	if !ok {
		return nil, Unknown
	}
	out, verdict := s.check(make([]byte, 0, 512), expr)
	if verdict != Fits {
		return nil, verdict
	}
	return out, Fits
}

// check appends the JSON of a value that fits.
func (s *Shape) check(out []byte, x ast.Expr) ([]byte, Verdict) {
	if s.unknown {
		return out, Unknown
	}
	switch x := x.(type) {
	case *ast.StructLit:
		if s.object == nil {
			return out, Unfit
		}
		return s.checkStruct(out, x)
	case *ast.ListLit:
		if s.list == nil {
			return out, Unfit
		}
		elements, open := listElements(x)
		if open && s.initial != nil && string(s.initial) != "[]" {
			return out, Unknown // the list could be extended to the default
		}
		return s.list.check(out, elements, open)
	}
	a, ok := readAtom(x)
	if !ok {
		return out, Unknown
	}
	if s.scalar == nil {
		return out, Unfit
	}
	verdict := s.scalar(a)
	if verdict == Fits {
		out = a.appendJSON(out)
	}
	return out, verdict
}

func (s *Shape) checkStruct(out []byte, x *ast.StructLit) ([]byte, Verdict) {
	given := make([]string, 0, 16)
	verdict := Fits
	out = append(out, '{')
	for _, d := range x.Elts {
		if _, ok := d.(*ast.CommentGroup); ok {
			continue
		}
		f, name := readField(d)
		if f == nil || slices.Contains(given, name) {
			return out, Unknown
		}
		given = append(given, name)
		shape := s.object.shapeOf(name)
		if shape == nil {
			verdict = Unfit
			continue
		}
		var one Verdict
		out = appendKey(out, name)
		if out, one = shape.check(out, f.Value); one == Unknown && verdict == Fits || one == Unfit {
			verdict = one
		}
	}
	if len(given) < s.least || s.most >= 0 && len(given) > s.most {
		verdict = Unfit
	}
	if verdict != Fits {
		return out, verdict
	}
	return s.object.complete(out, given)
}

// shapeOf returns the shape of the field with a name, and nil if no such field may
// exist.
func (o *object) shapeOf(name string) *Shape {
	if o.pattern != nil && (o.label == nil || o.label(name)) {
		return o.pattern
	}
	if f := o.fields[name]; f != nil {
		return f.shape
	}
	return nil
}

// complete appends the defaults of the fields that are not given, and the end of the
// struct.
func (o *object) complete(out []byte, given []string) ([]byte, Verdict) {
	for _, name := range o.names {
		f := o.fields[name]
		if f.presence == token.OPTION || slices.Contains(given, name) {
			continue
		}
		if f.presence == token.NOT {
			return out, Unfit
		}
		initial, ok := f.shape.Default()
		if !ok {
			return out, Unknown
		}
		out = append(appendKey(out, name), initial...)
	}
	return append(out, '}'), Fits
}

// listElements returns the elements of a list, and whether "..." follows them, so that
// the list can have more.
func listElements(x *ast.ListLit) (elements []ast.Expr, open bool) {
	if n := len(x.Elts); n > 0 {
		if more, ok := x.Elts[n-1].(*ast.Ellipsis); ok && more.Type == nil {
			return x.Elts[:n-1], true
		}
	}
	return x.Elts, false
}

func (l *list) check(out []byte, elements []ast.Expr, open bool) ([]byte, Verdict) {
	verdict := Fits
	out = append(out, '[')
	for i, element := range elements {
		switch element.(type) {
		case *ast.Ellipsis, *ast.Comprehension:
			return out, Unknown
		}
		shape := l.rest
		if i < len(l.first) {
			shape = l.first[i]
		}
		if shape == nil {
			return out, Unfit
		}
		if i > 0 {
			out = append(out, ',')
		}
		var one Verdict
		if out, one = shape.check(out, element); one == Unknown && verdict == Fits || one == Unfit {
			verdict = one
		}
	}
	if len(elements) < len(l.first) {
		if open {
			return out, Unknown // the schema adds elements
		}
		return out, Unfit
	}
	return append(out, ']'), verdict
}

// Field is a field that a literal writes.
type Field struct {
	Name  string
	Value *ast.Field
}

// Fields returns the fields of a struct in the order of the file. The value is as in
// Shape.Check. Fields reports false unless the value is a struct that writes nothing
// but fields, each once and under a literal name, and at most one pattern
// [string]: {...}, whose fields each returned field then also has. Import writes such a
// pattern for the findings that it accepts.
func Fields(value ast.Node) ([]Field, bool) {
	outer, ok := value.(*ast.Field)
	if !ok || outer.Constraint != token.ILLEGAL || len(outer.Attrs) > 0 {
		return nil, false
	}
	x, ok := outer.Value.(*ast.StructLit)
	if !ok {
		return nil, false
	}
	fields, seen := make([]Field, 0, len(x.Elts)), make(map[string]bool, len(x.Elts))
	var pattern *ast.StructLit
	for _, d := range x.Elts {
		if _, ok := d.(*ast.CommentGroup); ok {
			continue
		}
		if p := readPattern(d); p != nil && pattern == nil {
			pattern = p
			continue
		}
		f, name := readField(d)
		if f == nil || seen[name] {
			return nil, false
		}
		seen[name] = true
		fields = append(fields, Field{name, f})
	}
	if pattern == nil {
		return fields, true
	}
	for i, f := range fields {
		written, ok := f.Value.Value.(*ast.StructLit)
		if !ok {
			return nil, false
		}
		// A field that both write occurs twice, which only CUE can judge.
		fields[i].Value = &ast.Field{Value: &ast.StructLit{Elts: slices.Concat(written.Elts, pattern.Elts)}}
	}
	return fields, true
}

// readPattern returns the struct of a pattern [string]: {...}, or nil for every other
// declaration. Where string is the name of a field or an alias, it is no type.
func readPattern(d ast.Decl) *ast.StructLit {
	f, ok := d.(*ast.Field)
	if !ok || f.Constraint != token.ILLEGAL || len(f.Attrs) > 0 || f.Alias != nil {
		return nil
	}
	label, ok := f.Label.(*ast.ListLit)
	if !ok || len(label.Elts) != 1 {
		return nil
	}
	name, ok := label.Elts[0].(*ast.Ident)
	if !ok || name.Name != "string" || name.Node != nil {
		return nil
	}
	out, _ := f.Value.(*ast.StructLit)
	return out
}

// readField returns a declaration that writes one field under a literal name, and the
// name. The field is nil for every other declaration, and for a name with a character
// that CUE could normalize.
func readField(d ast.Decl) (*ast.Field, string) {
	f, ok := d.(*ast.Field)
	if !ok || f.Constraint != token.ILLEGAL || len(f.Attrs) > 0 || f.Alias != nil {
		return nil, ""
	}
	switch label := f.Label.(type) {
	case *ast.Ident:
		if label.Name[0] != '_' && label.Name[0] != '#' {
			return f, label.Name
		}
	case *ast.BasicLit:
		if label.Kind == token.STRING {
			if name, err := literal.Unquote(label.Value); err == nil && IsPlainLabel(name) {
				return f, name
			}
		}
	}
	return nil, ""
}

// IsPlainLabel reports whether CUE takes a label as it is written. CUE normalizes labels
// with characters beyond ASCII.
func IsPlainLabel(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
