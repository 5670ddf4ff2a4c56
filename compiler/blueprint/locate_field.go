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
	i := l.fileIndex(span)
	if i < 0 || !strings.HasSuffix(l.inst.Files[i].Filename, ".cue") {
		return nil
	}
	var found *field
	var path []string
	ast.Walk(l.inst.Files[i], func(n ast.Node) bool {
		_, isFile := n.(*ast.File)
		if !isFile && (span.Start < n.Pos().Offset() || span.Start >= n.End().Offset()) {
			return false
		}
		switch n := n.(type) {
		case *ast.Field:
			name, _, err := ast.LabelName(n.Label)
			if err != nil {
				name = l.nodeSpan(n.Label).Text()
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
	return found
}

// compareOrder compares two places by the order in which the files are read. The
// result is positive if a is later.
func (l *locator) compareOrder(a, b diag.Span) int {
	return cmp.Or(cmp.Compare(l.fileIndex(a), l.fileIndex(b)), cmp.Compare(a.Start, b.Start))
}

// fileIndex returns the index of the file of a span among the files of the blueprint, or -1.
func (l *locator) fileIndex(at diag.Span) int {
	return slices.IndexFunc(l.inst.Files, func(f *ast.File) bool {
		return at.Valid() && l.sources.Get(f.Filename) == at.Source
	})
}

// nearField returns the field that is probably meant by a reference to an unknown
// field. pos is the position of the last name of the reference. It returns "" if
// there is no such field.
func (l *locator) nearField(pos token.Pos, name string) string {
	near := ""
	for _, f := range l.inst.Files {
		if f.Filename != pos.Filename() {
			continue
		}
		in := l.fileScope(l.readPackage(l.inst), l.inst, f)
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
				imported := l.readPackage(in.imports[id.Name])
				names = slices.Concat(slices.Collect(maps.Keys(imported.root.fields)),
					slices.Collect(maps.Keys(imported.lets)))
				slices.Sort(names)
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

// namesIn returns the names in the expressions at a span, such as a and b in a.b.
func (l *locator) namesIn(at diag.Span) []string {
	i := l.fileIndex(at)
	if i < 0 {
		return nil
	}
	return namesUsed(l.inst.Files[i], func(id *ast.Ident) bool {
		return at.Start <= id.Pos().Offset() && id.Pos().Offset() < at.End
	})
}

// namesUsed returns the names of the identifiers in a node for which keep is true, each
// once.
func namesUsed(n ast.Node, keep func(*ast.Ident) bool) []string {
	var names []string
	ast.Walk(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && keep(id) && !slices.Contains(names, id.Name) {
			names = append(names, id.Name)
		}
		return true
	}, nil)
	return names
}

// hiddenNames returns the hidden top-level fields that the expressions at a span refer
// to, and the hidden fields that these fields refer to.
func (l *locator) hiddenNames(at diag.Span) []string {
	root := l.readRoot()
	values := map[string][]ast.Expr{}
	for _, f := range l.inst.Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.Field); ok {
				name := labelName(d)
				values[name] = append(values[name], d.Value)
			}
		}
	}
	var names []string
	known := map[string]bool{}
	add := func(found []string) {
		for _, name := range found {
			if strings.HasPrefix(name, "_") && root.fields[name] != nil && !known[name] {
				names, known[name] = append(names, name), true
			}
		}
	}
	add(l.namesIn(at))
	for i := 0; i < len(names); i++ {
		for _, value := range values[names[i]] {
			add(namesUsed(value, func(id *ast.Ident) bool { return !known[id.Name] }))
		}
	}
	return names
}

// labelName returns the name of a field, "" if it is computed or a pattern.
func labelName(f *ast.Field) string {
	name, _, _ := ast.LabelName(f.Label)
	return name
}
