package blueprint

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// field is a field, a let clause or a condition as it is written.
type field struct {
	name   string    // name, prefixed by the names of the fields around it
	value  diag.Span // span of its value
	tag    string    // tag that sets its value, or ""
	clause bool      // part of a comprehension, or a computed name
	depth  int       // number of fields around it, including itself
}

// fieldAt returns the innermost field that contains a span, nil for none.
func (l *locator) fieldAt(span diag.Span) *field {
	var found *field
	for _, f := range l.inst.Files {
		if !span.Valid() || l.sources.Get(f.Filename) != span.Source || !strings.HasSuffix(f.Filename, ".cue") {
			continue
		}
		var path []string
		ast.Walk(f, func(n ast.Node) bool {
			if n != f && (span.Start < n.Pos().Offset() || span.Start >= n.End().Offset()) {
				return false
			}
			switch n := n.(type) {
			case *ast.Field:
				name, _, err := ast.LabelName(n.Label)
				if err != nil {
					name = sourceText(l.nodeSpan(n.Label))
				}
				if strings.HasPrefix(name, load.ConditionPrefix) {
					return false
				}
				path = append(path, name)
				found = &field{name: diag.Path(path), value: l.nodeSpan(n.Value), depth: len(path)}
				if err != nil && span.Start < n.Label.End().Offset() {
					found = &field{name: "this name", value: l.nodeSpan(n.Label), clause: true, depth: len(path) - 1}
				}
				found.tag = tagName(n)
			case *ast.LetClause:
				found = &field{name: n.Ident.Name, value: l.nodeSpan(n.Expr), depth: len(path) + 1}
			case *ast.IfClause:
				found = &field{name: "this condition", value: l.nodeSpan(n.Condition), clause: true, depth: len(path)}
			case *ast.ForClause:
				found = &field{name: "the source of this for clause", value: l.nodeSpan(n.Source), clause: true,
					depth: len(path)}
			}
			return true
		}, nil)
	}
	return found
}

// compareOrder compares two places by the order in which the files are read. The
// result is positive if a is later.
func (l *locator) compareOrder(a, b diag.Span) int {
	file := func(s diag.Span) int {
		return slices.IndexFunc(l.inst.Files, func(f *ast.File) bool { return l.sources.Get(f.Filename) == s.Source })
	}
	return cmp.Or(cmp.Compare(file(a), file(b)), cmp.Compare(a.Start, b.Start))
}

// nearField returns the field that is probably meant by a reference to an unknown
// field. pos is the position of the last name of the reference. It returns "" if
// there is no such field.
func (l *locator) nearField(pos token.Pos, name string) string {
	if l.root == nil {
		l.readFiles()
	}
	near := ""
	for _, f := range l.inst.Files {
		if f.Filename != pos.Filename() {
			continue
		}
		in := l.fileScope(l.packages[l.inst], l.inst, f)
		ast.Walk(f, func(n ast.Node) bool {
			var of ast.Expr
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Pos().Offset() == pos.Offset() {
					of = n.X
				}
			case *ast.IndexExpr:
				if n.Index.Pos().Offset() == pos.Offset() {
					of = n.X
				}
			}
			p := &place{}
			var names []string
			if id, ok := of.(*ast.Ident); ok && in.imports[id.Name] != nil {
				names = slices.Sorted(maps.Keys(l.readPackage(in.imports[id.Name]).names))
			} else if of != nil && l.recordRef(in, p, of) {
				for _, q := range l.reachPlaces([]*place{p}) {
					fields, _ := l.fieldsOf(q)
					names = append(names, slices.Sorted(maps.Keys(fields))...)
				}
			}
			near = cmp.Or(near, diag.Nearest(name, names))
			return true
		}, nil)
	}
	return near
}

// walkSpan calls visit for each node of the files that begins in a span, and for the
// nodes in it.
func (l *locator) walkSpan(at diag.Span, visit func(n ast.Node)) {
	for _, f := range l.inst.Files {
		if !at.Valid() || l.sources.Get(f.Filename) != at.Source {
			continue
		}
		ast.Walk(f, func(n ast.Node) bool {
			if offset := n.Pos().Offset(); n != f && at.Start <= offset && offset < at.End {
				visit(n)
			}
			return true
		}, nil)
	}
}

// namesIn returns the names in the expressions at a span, such as a and b in a.b.
func (l *locator) namesIn(at diag.Span) []string {
	var names []string
	l.walkSpan(at, func(n ast.Node) {
		if id, ok := n.(*ast.Ident); ok && !slices.Contains(names, id.Name) {
			names = append(names, id.Name)
		}
	})
	return names
}

// hiddenNames returns the hidden top-level fields that the expressions at a span refer
// to, and the hidden fields that these fields refer to.
func (l *locator) hiddenNames(at diag.Span) []string {
	if l.root == nil {
		l.readFiles()
	}
	in := l.packages[l.inst]
	var names []string
	collect := func(n ast.Node) {
		id, ok := n.(*ast.Ident)
		if ok && strings.HasPrefix(id.Name, "_") && in.names[id.Name] != nil && !slices.Contains(names, id.Name) {
			names = append(names, id.Name)
		}
	}
	l.walkSpan(at, collect)
	for i := 0; i < len(names); i++ {
		for _, w := range in.names[names[i]] {
			ast.Walk(w.expr, func(n ast.Node) bool {
				collect(n)
				return true
			}, nil)
		}
	}
	return names
}
