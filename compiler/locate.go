package compiler

import (
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// locator finds where in the user's files a field of the blueprint was
// written. It reads the syntax trees, because an evaluated value remembers
// only some of the places it came from; and it is built at the first question,
// because a blueprint without findings asks none.
type locator struct {
	sources *sources
	files   []*ast.File

	root    *place
	names   map[string]ast.Expr // top-level fields, definitions and lets
	targets map[string]*place   // what those say, for references to them
}

// place is a field of the blueprint as the files write it: possibly several
// times, possibly through patterns.
type place struct {
	fields map[string]*place
	any    []*place    // patterns and computed labels
	keys   []diag.Span // where its label stands
	values []diag.Span // where its value stands
	refs   []ref       // what its value refers to
}

// ref refers to a top-level name, or to a field below it.
type ref struct {
	name string
	path string // elements joined by dots, "" for the name itself
}

// place returns where a field was written; a field that stands nowhere is at
// its nearest parent. With key the span is the label's, else the value's where
// that is a scalar.
func (l *locator) place(key bool, path ...string) diag.Span {
	if l.root == nil {
		l.build()
	}
	found := []*place{l.root}
	var span diag.Span
	for i, name := range path {
		next := l.step(found, name)
		if len(next) == 0 {
			break
		}
		found = next
		last := i == len(path)-1
		for _, p := range slices.Backward(found) { // the most exact one wins
			if last && !key && len(p.values) > 0 {
				span = p.values[0]
			} else if len(p.keys) > 0 {
				span = p.keys[0]
			} else if len(p.values) > 0 {
				span = p.values[0]
			}
		}
	}
	if !span.Valid() && len(l.files) > 0 {
		span = l.start()
	}
	return span
}

// written tells whether a field stands in the files.
func (l *locator) written(path ...string) bool {
	if l.root == nil {
		l.build()
	}
	found := []*place{l.root}
	for _, name := range path {
		if found = l.step(found, name); len(found) == 0 {
			return false
		}
	}
	return true
}

// step returns the fields of that name, exact ones before patterns.
func (l *locator) step(from []*place, name string) []*place {
	var exact, any []*place
	for _, p := range l.reach(from) {
		if f := p.fields[name]; f != nil {
			exact = append(exact, f)
		}
		any = append(any, p.any...)
	}
	return append(exact, any...)
}

// reach adds what the places refer to, each name once: references can share
// much, and form circles.
func (l *locator) reach(from []*place) []*place {
	seen := map[ref]bool{}
	for i := 0; i < len(from); i++ {
		for _, r := range from[i].refs {
			if !seen[r] {
				seen[r] = true
				from = append(slices.Clip(from), l.follow(r)...)
			}
		}
	}
	return from
}

// follow returns the places of what a reference names.
func (l *locator) follow(r ref) []*place {
	found := []*place{l.target(r.name)}
	if r.path == "" {
		return found
	}
	for _, name := range strings.Split(r.path, ".") {
		var next []*place
		for _, p := range found {
			if f := p.fields[name]; f != nil {
				next = append(next, f)
			}
		}
		found = next
	}
	return found
}

func (l *locator) target(name string) *place {
	p := l.targets[name]
	if p == nil {
		p = &place{}
		l.targets[name] = p
		l.expr(p, l.names[name])
	}
	return p
}

// start is the first line of the first file, for what is missing altogether.
func (l *locator) start() diag.Span {
	f := l.files[0]
	src := l.sources.get(f.Filename)
	for _, d := range f.Decls {
		if p, ok := d.(*ast.Package); ok && p.Pos().IsValid() {
			return l.sources.span(p.Pos())
		}
	}
	return diag.Span{Source: src, End: tokenEnd(src.Content, 0)}
}

func (l *locator) build() {
	l.root = &place{}
	l.names = map[string]ast.Expr{}
	l.targets = map[string]*place{}
	for _, f := range l.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.Field:
				if name, _, err := ast.LabelName(d.Label); err == nil {
					l.names[name] = d.Value
				}
			case *ast.LetClause:
				l.names[d.Ident.Name] = d.Expr
			}
		}
	}
	for _, f := range l.files {
		l.decls(l.root, f.Decls)
	}
}

func (l *locator) decls(into *place, decls []ast.Decl) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			p := &place{}
			if name, _, err := ast.LabelName(d.Label); err == nil {
				if into.fields == nil {
					into.fields = map[string]*place{}
				}
				if have := into.fields[name]; have != nil {
					p = have
				} else {
					into.fields[name] = p
				}
				p.keys = append(p.keys, l.span(d.Label))
			} else {
				p.keys = append(p.keys, l.span(d.Label))
				into.any = append(into.any, p)
			}
			l.expr(p, d.Value)
		case *ast.EmbedDecl:
			l.expr(into, d.Expr)
		case *ast.Comprehension:
			l.expr(into, d.Value)
		}
	}
}

func (l *locator) expr(into *place, e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructLit:
		l.decls(into, e.Elts)
	case *ast.BinaryExpr:
		if e.Op == token.AND || e.Op == token.OR {
			l.expr(into, e.X)
			l.expr(into, e.Y)
			return
		}
		into.values = append(into.values, l.span(e))
	case *ast.ParenExpr:
		l.expr(into, e.X)
	case *ast.Comprehension:
		l.expr(into, e.Value)
	case *ast.Ident:
		l.refer(into, e)
		into.values = append(into.values, l.span(e))
	case *ast.SelectorExpr, *ast.IndexExpr:
		l.refer(into, e)
		into.values = append(into.values, l.span(e))
	case *ast.Alias:
		l.expr(into, e.Expr)
	case *ast.ListLit:
		into.values = append(into.values, l.span(e))
		for i, item := range e.Elts {
			if into.fields == nil {
				into.fields = map[string]*place{}
			}
			p := &place{}
			into.fields[diag.Index(i)] = p
			l.expr(p, item)
			if len(p.values) == 0 {
				p.values = append(p.values, l.span(item))
			}
		}
	case nil:
	default:
		into.values = append(into.values, l.span(e))
	}
}

// refer notes that a value is what a top-level name or a field below it is.
func (l *locator) refer(into *place, e ast.Expr) {
	var path []string
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if _, ok := l.names[x.Name]; ok {
				into.refs = append(into.refs, ref{x.Name, strings.Join(path, ".")})
			}
			return
		case *ast.SelectorExpr:
			name, _, err := ast.LabelName(x.Sel)
			if err != nil {
				return
			}
			path, e = append([]string{name}, path...), x.X
		case *ast.IndexExpr:
			lit, ok := x.Index.(*ast.BasicLit)
			if !ok {
				return
			}
			name, _, err := ast.LabelName(lit)
			if err != nil {
				return
			}
			path, e = append([]string{name}, path...), x.X
		default:
			return
		}
	}
}

// span returns the range of a node, no further than the end of its line.
func (l *locator) span(n ast.Node) diag.Span {
	s := l.sources.span(n.Pos())
	if !s.Valid() {
		return s
	}
	// Nodes of YAML and JSON know their start only.
	if end := n.End(); end.IsValid() && strings.HasSuffix(n.Pos().Filename(), ".cue") {
		s.End = max(s.End, min(end.Offset(), len(s.Source.Content)))
	}
	for i := s.Start; i < s.End; i++ {
		if s.Source.Content[i] == '\n' {
			s.End = i
		}
	}
	return s
}
