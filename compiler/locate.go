package compiler

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// locator finds where in the user's files a field of the blueprint was
// written. It reads the syntax trees, because an evaluated value remembers
// only some of the places it came from; and it is built at the first question,
// because a blueprint without findings asks none.
type locator struct {
	sources *sources
	inst    *build.Instance
	value   cue.Value // of the instance

	root     *place
	packages map[*build.Instance]*pkg
}

// pkg is a package of which the blueprint consists, or that it imports.
type pkg struct {
	names   map[string][]written // top-level fields, definitions and lets
	targets map[string]*place    // what those say, for references to them
}

// written is an expression in its file.
type written struct {
	expr ast.Expr
	file scope
}

// scope is what the names in a file can mean.
type scope struct {
	pkg     *pkg
	imports map[string]*build.Instance
	schema  string // the name of the schema, ""
	dir     string
}

// place is a field of the blueprint as the files write it: possibly several
// times, possibly through patterns.
type place struct {
	fields map[string]*place
	any    []*place    // patterns and computed labels
	keys   []diag.Span // where its label stands
	values []diag.Span // where its value stands
	refs   []ref       // what its value refers to
	// Its name or its value is more than can be read from the files.
	computedKey, computed bool
}

// ref refers to a top-level name of a package, or to a field below it.
type ref struct {
	pkg  *pkg
	name string
	path string // elements joined by dots, "" for the name itself
}

// place returns where a field was written; a field that stands nowhere is at
// its nearest parent. With key the span is the label's, else the value's where
// that is a scalar.
//
// Where the files do not tell by themselves, because the field is computed, it
// is where CUE found its value.
func (l *locator) place(key bool, path ...string) diag.Span {
	span, exact := l.find(key, path)
	if exact {
		return span
	}
	found := l.sources.span(cue.Dereference(lookup(l.value, path)).Pos())
	if !found.Valid() {
		return span
	}
	if at := l.fieldAt(found); at != nil && !at.clause && !key {
		return at.value
	}
	return found
}

// find is place, and tells whether the span is where the field itself is
// written.
func (l *locator) find(key bool, path []string) (span diag.Span, exact bool) {
	if l.root == nil {
		l.build()
	}
	found := []*place{l.root}
	exact = true
	for i, name := range path {
		next := l.step(found, name)
		if len(next) == 0 {
			exact = false
			break
		}
		found = next
		last := i == len(path)-1
		if last {
			exact = !found[0].computed
			if key {
				exact = !found[0].computedKey
			}
		}
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
	if !span.Valid() && len(l.inst.Files) > 0 {
		span, exact = l.start(), false
	}
	return span, exact
}

// literal is where a field's value was written as that text, else its place: a
// field may be written several times.
func (l *locator) literal(as string, path []string) diag.Span {
	plain, err := literal.Unquote(as)
	for _, span := range l.values(path) {
		if t := text(span); t == as || err == nil && t == plain {
			return span
		}
	}
	return l.place(false, path...)
}

// values returns wherever the value of a field stands, and what it refers to.
func (l *locator) values(path []string) []diag.Span {
	var spans []diag.Span
	for _, p := range l.reach(l.places(path)) {
		spans = append(spans, p.values...)
	}
	return spans
}

// keys returns wherever the name of a field stands.
func (l *locator) keys(path []string) []diag.Span {
	var spans []diag.Span
	for _, p := range l.places(path) {
		spans = append(spans, p.keys...)
	}
	return spans
}

// places returns a field as the files write it.
func (l *locator) places(path []string) []*place {
	if l.root == nil {
		l.build()
	}
	found := []*place{l.root}
	for _, name := range path {
		found = l.step(found, name)
	}
	return found
}

// written tells whether a field stands in the files.
func (l *locator) written(path ...string) bool { return len(l.places(path)) > 0 }

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
	found := []*place{l.target(r.pkg, r.name)}
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

func (l *locator) target(in *pkg, name string) *place {
	p := in.targets[name]
	if p == nil {
		p = &place{}
		in.targets[name] = p
		for _, w := range in.names[name] {
			l.expr(w.file, p, w.expr)
		}
	}
	return p
}

// start is the first line of the first file, for what is missing altogether.
func (l *locator) start() diag.Span {
	f := l.inst.Files[0]
	src := l.sources.get(f.Filename)
	for _, d := range f.Decls {
		if p, ok := d.(*ast.Package); ok && p.Pos().IsValid() {
			return l.sources.span(p.Pos())
		}
	}
	return diag.Span{Source: src, End: tokenEnd(src.Content, 0)}
}

// span returns the range of a node, no further than the end of its line.
func (l *locator) span(n ast.Node) diag.Span {
	s := l.sources.span(n.Pos())
	if !s.Valid() {
		return s
	}
	// Nodes of YAML and JSON know their start only, and their text.
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		plain, err := literal.Unquote(lit.Value)
		if rest := s.Source.Content[s.Start:]; err == nil &&
			strings.HasPrefix(string(rest[:min(len(plain), len(rest))]), plain) {
			s.End = max(s.End, s.Start+len(plain))
		}
	}
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
