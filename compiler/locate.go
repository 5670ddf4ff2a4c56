package compiler

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
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

func (l *locator) build() {
	l.root = &place{}
	l.packages = map[*build.Instance]*pkg{}
	p := l.load(l.inst)
	for _, f := range l.inst.Files {
		l.decls(l.scope(p, l.inst, f), l.root, f.Decls)
	}
}

// load takes in a package.
func (l *locator) load(inst *build.Instance) *pkg {
	p := l.packages[inst]
	if p != nil {
		return p
	}
	p = &pkg{names: map[string][]written{}, targets: map[string]*place{}}
	l.packages[inst] = p
	for _, f := range inst.Files {
		in := l.scope(p, inst, f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.Field:
				if name, _, err := ast.LabelName(d.Label); err == nil {
					p.names[name] = append(p.names[name], written{d.Value, in})
				}
			case *ast.LetClause:
				p.names[d.Ident.Name] = append(p.names[d.Ident.Name], written{d.Expr, in})
			}
		}
	}
	return p
}

func (l *locator) scope(p *pkg, inst *build.Instance, f *ast.File) scope {
	in := scope{pkg: p, imports: map[string]*build.Instance{}, dir: filepath.Dir(f.Filename)}
	for spec := range f.ImportSpecs() {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imported := inst.LookupImport(path)
			if path == schema.ImportPath {
				in.schema = importName(spec)
			} else if imported != nil {
				in.imports[importName(spec)] = imported
			}
		}
	}
	return in
}

func (l *locator) decls(in scope, into *place, decls []ast.Decl) {
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
			} else {
				_, pattern := d.Label.(*ast.ListLit)
				p.computedKey = !pattern
				into.any = append(into.any, p)
			}
			p.keys = append(p.keys, l.span(d.Label))
			l.expr(in, p, d.Value)
			for _, a := range d.Attrs {
				l.embedded(in, p, a)
			}
		case *ast.EmbedDecl:
			l.expr(in, into, d.Expr)
		case *ast.Comprehension:
			l.expr(in, into, d.Value)
		}
	}
}

// embedded takes in what @embed(file=...) or @embed(glob=...) stands for.
func (l *locator) embedded(in scope, into *place, a *ast.Attribute) {
	m := embedArgument.FindStringSubmatch(a.Text)
	if m == nil {
		return
	}
	files := moduleFiles(l.inst.Root)
	dir, err := filepath.Rel(l.inst.Root, in.dir)
	if err != nil {
		return
	}
	dir = filepath.ToSlash(dir)
	names, err := fs.Glob(files, path.Join(dir, m[2]))
	if err != nil {
		return
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			continue // CUE says so
		}
		absolute := filepath.Join(l.inst.Root, filepath.FromSlash(name))
		file, err := parseData(strings.TrimPrefix(path.Ext(name), "."), absolute, content)
		if err != nil {
			continue
		}
		p := into
		if m[1] == "glob" { // a field for each file
			p = &place{}
			if into.fields == nil {
				into.fields = map[string]*place{}
			}
			into.fields[strings.TrimPrefix(name, dir+"/")] = p
		}
		l.decls(in, p, file.Decls)
	}
}

var embedArgument = regexp.MustCompile(`^@embed\(\s*(file|glob)\s*=\s*"?([^",)]+)"?`)

func (l *locator) expr(in scope, into *place, e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructLit:
		l.decls(in, into, e.Elts)
	case *ast.BinaryExpr:
		if e.Op == token.AND || e.Op == token.OR {
			l.expr(in, into, e.X)
			l.expr(in, into, e.Y)
			return
		}
		into.values = append(into.values, l.span(e))
	case *ast.ParenExpr:
		l.expr(in, into, e.X)
	case *ast.Comprehension:
		l.expr(in, into, e.Value)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		if s, ok := e.(*ast.SelectorExpr); ok && in.schema != "" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == in.schema {
				return // nothing that the user wrote
			}
		}
		into.computed = !l.refer(in, into, e) || into.computed
		into.values = append(into.values, l.span(e))
	case *ast.Alias:
		l.expr(in, into, e.Expr)
	case *ast.ListLit:
		into.values = append(into.values, l.span(e))
		for i, item := range e.Elts {
			if into.fields == nil {
				into.fields = map[string]*place{}
			}
			p := &place{}
			into.fields[diag.Index(i)] = p
			l.expr(in, p, item)
			if len(p.values) == 0 {
				p.values = append(p.values, l.span(item))
			}
		}
	case nil:
	default:
		into.values = append(into.values, l.span(e))
	}
}

// refer notes that a value is what a top-level name or a field below it is. It
// tells whether that is all there is to know.
func (l *locator) refer(in scope, into *place, e ast.Expr) bool {
	var path []string
	for {
		switch x := e.(type) {
		case *ast.Ident:
			from, name := in.pkg, x.Name
			if imported := in.imports[name]; imported != nil && len(path) > 0 {
				from, name, path = l.load(imported), path[0], path[1:]
			}
			_, known := from.names[name]
			if known {
				into.refs = append(into.refs, ref{from, name, strings.Join(path, ".")})
			}
			return known || x.Node == nil // a type
		case *ast.SelectorExpr:
			name, _, err := ast.LabelName(x.Sel)
			if err != nil {
				return false
			}
			path, e = append([]string{name}, path...), x.X
		case *ast.IndexExpr:
			lit, ok := x.Index.(*ast.BasicLit)
			if !ok {
				return false
			}
			name, _, err := ast.LabelName(lit)
			if err != nil {
				return false
			}
			path, e = append([]string{name}, path...), x.X
		default:
			return false
		}
	}
}

// field is a field, a let clause or a condition as it is written.
type field struct {
	name   string    // with the names of those that it stands in
	value  diag.Span // its value
	tag    string    // whose value it takes, or ""
	clause bool      // part of a comprehension, or a computed name
	depth  int       // how many fields it stands in, itself included
}

// fieldAt returns the innermost field that holds a place, nil for none.
func (l *locator) fieldAt(span diag.Span) *field {
	var found *field
	for _, f := range l.inst.Files {
		if !span.Valid() || l.sources.get(f.Filename) != span.Source || !strings.HasSuffix(f.Filename, ".cue") {
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
					name = text(l.span(n.Label))
				}
				if strings.HasPrefix(name, conditionPrefix) {
					return false
				}
				path = append(path, name)
				found = &field{name: diag.Path(path), value: l.span(n.Value), depth: len(path)}
				if err != nil && span.Start < n.Label.End().Offset() {
					found = &field{name: "this name", value: l.span(n.Label), clause: true, depth: len(path) - 1}
				}
				for _, a := range n.Attrs {
					if name, body := a.Split(); name == "tag" {
						found.tag, _, _ = strings.Cut(body, ",")
					}
				}
			case *ast.LetClause:
				found = &field{name: n.Ident.Name, value: l.span(n.Expr), depth: len(path) + 1}
			case *ast.IfClause:
				found = &field{name: "this condition", value: l.span(n.Condition), clause: true, depth: len(path)}
			case *ast.ForClause:
				found = &field{name: "what this ranges over", value: l.span(n.Source), clause: true, depth: len(path)}
			}
			return true
		}, nil)
	}
	return found
}

// later compares two places by the order in which the files are read.
func (l *locator) later(a, b diag.Span) int {
	file := func(s diag.Span) int {
		return slices.IndexFunc(l.inst.Files, func(f *ast.File) bool { return l.sources.get(f.Filename) == s.Source })
	}
	return cmp.Or(cmp.Compare(file(a), file(b)), cmp.Compare(a.Start, b.Start))
}

// nearField returns the field that a reference to a field probably means, by
// where the reference ends; "" where it cannot be told.
func (l *locator) nearField(pos token.Pos, name string) string {
	if l.root == nil {
		l.build()
	}
	near := ""
	for _, f := range l.inst.Files {
		if f.Filename != pos.Filename() {
			continue
		}
		in := l.scope(l.packages[l.inst], l.inst, f)
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
				names = slices.Sorted(maps.Keys(l.load(in.imports[id.Name]).names))
			} else if of != nil && l.refer(in, p, of) {
				for _, q := range l.reach([]*place{p}) {
					names = append(names, slices.Sorted(maps.Keys(q.fields))...)
				}
			}
			near = cmp.Or(near, diag.Nearest(name, names))
			return true
		}, nil)
	}
	return near
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
		if rest := s.Source.Content[s.Start:]; err == nil && strings.HasPrefix(string(rest[:min(len(plain), len(rest))]), plain) {
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
