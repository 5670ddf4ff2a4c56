package literal

import (
	"regexp"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// unknown is the shape of a constraint that the package cannot judge.
var unknown = &Shape{unknown: true, most: -1}

// definition returns the shape of a definition. A definition that contains itself is
// unknown.
func (s *Schema) definition(name string) *Shape {
	if shape := s.shapes[name]; shape != nil {
		return shape
	}
	x := s.definitions[name]
	if x == nil {
		return unknown
	}
	s.shapes[name] = unknown
	s.shapes[name] = s.read(x)
	return s.shapes[name]
}

// read returns the shape that an expression of the schema describes.
func (s *Schema) read(x ast.Expr) *Shape {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return s.read(x.X)
	case *ast.Ident:
		if kind, ok := kinds[x.Name]; ok {
			return scalarShape(kind)
		}
		return s.definition(x.Name)
	case *ast.BasicLit, *ast.UnaryExpr:
		return readScalar(x)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.AND:
			return both(s.read(x.X), s.read(x.Y))
		case token.OR:
			return s.readArms(x)
		}
	case *ast.StructLit:
		return s.readStruct(x)
	case *ast.ListLit:
		return s.readList(x)
	case *ast.CallExpr:
		return readCall(x)
	}
	return unknown
}

// kinds are the predeclared types of the schema.
var kinds = map[string]func(atom) Verdict{
	"string": func(a atom) Verdict { return verdictOf(a.kind == token.STRING) },
	"int":    func(a atom) Verdict { return verdictOf(a.kind == token.INT) },
	"number": func(a atom) Verdict { return verdictOf(a.isNumber()) },
	"bool":   func(a atom) Verdict { return verdictOf(a.kind == token.TRUE || a.kind == token.FALSE) },
}

func verdictOf(fits bool) Verdict {
	if fits {
		return Fits
	}
	return Unfit
}

func scalarShape(test func(atom) Verdict) *Shape { return &Shape{scalar: test, most: -1} }

// readScalar returns the shape of a literal, which is its own default, and of a bound.
func readScalar(x ast.Expr) *Shape {
	if want, ok := readAtom(x); ok {
		shape := scalarShape(func(a atom) Verdict { return verdictOf(a == want) })
		shape.initial = want.appendJSON(nil)
		return shape
	}
	bound, ok := x.(*ast.UnaryExpr)
	if !ok {
		return unknown
	}
	limit, ok := readAtom(bound.X)
	if !ok {
		return unknown
	}
	if bound.Op == token.MAT && limit.kind == token.STRING {
		matches := matcher(limit.text)
		return scalarShape(func(a atom) Verdict { return verdictOf(a.kind == token.STRING && matches(a.text)) })
	}
	holds, ok := bounds[bound.Op]
	if !ok || !limit.isNumber() {
		return unknown
	}
	return scalarShape(func(a atom) Verdict { return verdictOf(a.isNumber() && holds(a.compare(limit))) })
}

// matcher returns a function that reports whether a text matches a regular expression
// of the schema, which CUE also compiles.
func matcher(expression string) func(string) bool {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	return func(text string) bool { return compile().MatchString(text) }
}

// bounds holds, for each operator, whether a comparison with the limit satisfies it.
var bounds = map[token.Token]func(int) bool{
	token.GEQ: func(c int) bool { return c >= 0 },
	token.GTR: func(c int) bool { return c > 0 },
	token.LEQ: func(c int) bool { return c <= 0 },
	token.LSS: func(c int) bool { return c < 0 },
}

// both returns the shape of values that satisfy two shapes: two constraints on scalars,
// or a struct and the number of its fields.
func both(a, b *Shape) *Shape {
	switch {
	case a.unknown || b.unknown:
		return unknown
	case a.scalar != nil && b.scalar != nil && a.object == nil && b.object == nil && a.list == nil && b.list == nil:
		if a.initial != nil || b.initial != nil {
			return unknown
		}
		return scalarShape(func(x atom) Verdict {
			if v := a.scalar(x); v != Fits {
				return v
			}
			return b.scalar(x)
		})
	case a.object != nil && b.isCount():
		return a.counted(b.least, b.most)
	case b.object != nil && a.isCount():
		return b.counted(a.least, a.most)
	}
	return unknown
}

// isCount reports whether a shape is only a number of fields.
func (s *Shape) isCount() bool { return s.scalar == nil && s.object == nil && s.list == nil }

// counted returns a shape of structs with a number of fields. All fields must be
// optional, because defaults also count.
func (s *Shape) counted(least, most int) *Shape {
	for _, f := range s.object.fields {
		if f.presence != token.OPTION {
			return unknown
		}
	}
	if s.scalar != nil || s.list != nil {
		return unknown
	}
	counted := *s
	counted.initial = nil
	counted.least = max(s.least, least)
	if s.most < 0 || most >= 0 && most < s.most {
		counted.most = most
	}
	return &counted
}

// readCall returns the shape of struct.MinFields and struct.MaxFields.
func readCall(x *ast.CallExpr) *Shape {
	function, ok := x.Fun.(*ast.SelectorExpr)
	if !ok || len(x.Args) != 1 {
		return unknown
	}
	name, _, err := ast.LabelName(function.Sel)
	from, isName := function.X.(*ast.Ident)
	n, isNumber := readAtom(x.Args[0])
	if err != nil || !isName || from.Name != "struct" || !isNumber || n.kind != token.INT {
		return unknown
	}
	switch name {
	case "MinFields":
		return &Shape{least: int(n.n), most: -1}
	case "MaxFields":
		return &Shape{most: int(n.n)}
	}
	return unknown
}

// readArms returns the shape of a disjunction. Several structs or several lists are
// unknown, because CUE would have to choose. A list that is the default is no choice if
// the other list also allows it.
func (s *Schema) readArms(x *ast.BinaryExpr) *Shape {
	out := &Shape{most: -1}
	var usual ast.Expr // the default
	for _, arm := range arms(x, nil) {
		if marked, ok := arm.(*ast.UnaryExpr); ok && marked.Op == token.MUL {
			if usual != nil {
				return unknown
			}
			arm, usual = marked.X, marked.X
			if _, ok := arm.(*ast.ListLit); ok {
				continue
			}
		}
		if shape := s.read(arm); shape.unknown || shape.isCount() || !out.addArm(shape) {
			return unknown
		}
	}
	if usual != nil {
		initial, verdict := out.check(nil, usual)
		if verdict != Fits {
			return unknown
		}
		out.initial = initial
	}
	return out
}

// arms appends the arms of a disjunction.
func arms(x ast.Expr, out []ast.Expr) []ast.Expr {
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.OR {
		return arms(b.Y, arms(b.X, out))
	}
	return append(out, x)
}

// addArm adds an arm to a disjunction. It reports whether the package knows the result.
func (s *Shape) addArm(arm *Shape) bool {
	if arm.scalar != nil {
		if before := s.scalar; before != nil {
			s.scalar = func(a atom) Verdict {
				if before(a) == Fits {
					return Fits
				}
				return arm.scalar(a)
			}
		} else {
			s.scalar = arm.scalar
		}
	}
	if arm.object != nil {
		if s.object != nil {
			return false
		}
		s.object, s.least, s.most = arm.object, arm.least, arm.most
	}
	if arm.list != nil {
		if s.list != nil {
			return false
		}
		s.list = arm.list
	}
	return true
}

// readStruct returns the shape of a struct with named fields, or with one pattern.
func (s *Schema) readStruct(x *ast.StructLit) *Shape {
	o := &object{fields: map[string]*field{}}
	for _, d := range x.Elts {
		switch d := d.(type) {
		case *ast.CommentGroup:
		case *ast.Field:
			if !s.addField(o, d) {
				return unknown
			}
		default:
			return unknown
		}
	}
	if o.pattern != nil && len(o.names) > 0 {
		return unknown
	}
	shape := &Shape{object: o, most: -1}
	if initial, verdict := o.complete([]byte{'{'}, nil); verdict == Fits {
		shape.initial = initial
	}
	return shape
}

// addField adds a field of the schema to a struct. It reports whether the package knows
// what the field requires of the other fields; of the field itself it may know nothing.
func (s *Schema) addField(o *object, f *ast.Field) bool {
	if len(f.Attrs) > 0 || f.Alias != nil {
		return false
	}
	switch label := f.Label.(type) {
	case *ast.ListLit:
		if len(label.Elts) != 1 || o.pattern != nil {
			return false
		}
		names := label.Elts[0]
		if ident, ok := names.(*ast.Ident); ok && ident.Name != "string" {
			names = s.definitions[ident.Name]
		}
		switch names := names.(type) {
		case *ast.Ident:
		case *ast.UnaryExpr:
			text, ok := readAtom(names.X)
			if !ok || names.Op != token.MAT {
				return false
			}
			o.label = matcher(text.text)
		default:
			return false
		}
		o.pattern = s.read(f.Value)
		return true
	case *ast.Ident:
		return o.add(label.Name, f.Constraint, s.read(f.Value))
	case *ast.BasicLit:
		if name, err := literal.Unquote(label.Value); err == nil {
			return o.add(name, f.Constraint, s.read(f.Value))
		}
	}
	return false
}

// add adds a field to a struct, and reports whether it is the first with its name.
func (o *object) add(name string, presence token.Token, shape *Shape) bool {
	if o.fields[name] != nil {
		return false
	}
	o.names = append(o.names, name)
	o.fields[name] = &field{shape, presence}
	return true
}

// readList returns the shape of a list.
func (s *Schema) readList(x *ast.ListLit) *Shape {
	l := &list{}
	for i, element := range x.Elts {
		rest, isRest := element.(*ast.Ellipsis)
		switch {
		case !isRest:
			l.first = append(l.first, s.read(element))
		case i < len(x.Elts)-1 || rest.Type == nil:
			return unknown
		default:
			l.rest = s.read(rest.Type)
		}
	}
	shape := &Shape{list: l, most: -1}
	if len(l.first) == 0 {
		shape.initial = []byte("[]")
	}
	return shape
}
