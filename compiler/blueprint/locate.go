package blueprint

import (
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// locator finds the place in the user's files where a field of the blueprint is
// written. It reads the syntax trees, because an evaluated value remembers only some
// of the places that it came from. It is built on first use, because a blueprint
// without findings needs no places.
type locator struct {
	sources *load.Sources
	inst    *build.Instance
	value   func() cue.Value // value of the instance
	// given reports whether the command line gives a value to a tag.
	given func(tag string) bool
	// spelt holds the misspelt names of top-level fields, by the names that are meant.
	spelt map[string]string

	packages map[*build.Instance]*pkg // use locator.readPackage
}

// newLocator returns a locator of the files of a loader, which have a value.
func newLocator(files *load.Loader, value cue.Value) *locator {
	return &locator{
		sources: files.Sources, inst: files.Instance, value: func() cue.Value { return value },
		given: files.GivenTag, spelt: map[string]string{},
	}
}

// forgetValue releases the value, which takes more memory than all else that is known
// of a large blueprint. If it is needed after all, CUE evaluates the files again.
func (l *locator) forgetValue() {
	l.value = sync.OnceValue(func() cue.Value { return newContext().BuildInstance(l.inst) })
}

// pkg is a package that is part of the blueprint or that the blueprint imports.
type pkg struct {
	root *place            // the blueprint, or the fields of the imported package
	lets map[string]*place // let clauses at the top of its files
}

// scope holds the meanings of names in a file.
type scope struct {
	pkg     *pkg
	imports map[string]*build.Instance
	schema  string // name under which the file imports the schema, or ""
	dir     string
}

// place is a field of the blueprint as the files write it. It can be written several
// times, and by patterns.
type place struct {
	fields map[string]*place // use locator.fieldsOf
	any    []*place          // patterns and computed labels; use locator.fieldsOf
	unread []unread          // structs in its value whose fields are not read yet
	keys   []diag.Span       // spans of its label
	values []diag.Span       // spans of its value
	refs   []ref             // references in its value
	tag    string            // tag that sets its value, or ""
	// embedded is the file that its value embeds, or "".
	embedded string
	// Its name or its value cannot be read completely from the files.
	computedKey, computed bool
	// hides reports whether its value can have fields or elements that the files do not
	// show: a call, a list with a comprehension, or a label that CUE normalizes.
	hides bool
}

// unread is a struct that consists of fields alone. Nobody needs the fields of most
// structs, so they are read on first use.
type unread struct {
	in    scope
	decls []ast.Decl
}

// fieldsOf returns the fields of a place, and its patterns and computed labels.
func (l *locator) fieldsOf(p *place) (fields map[string]*place, any []*place) {
	l.readRest(p)
	return p.fields, p.any
}

// readRest reads the structs of a place that are not read yet.
func (l *locator) readRest(p *place) {
	rest := p.unread
	p.unread = nil
	for _, u := range rest {
		l.readDecls(u.in, p, u.decls)
	}
}

// ref is a reference to a top-level name of a package, or to a field below such a
// name.
type ref struct {
	pkg  *pkg
	name string
	path string // elements joined by dots, "" for the name itself
}

// fieldSpan returns the span where a field is written or, if it is written nowhere,
// the span of its nearest parent. If key is true, it is the span of the label;
// otherwise, for a scalar, the span of the value.
//
// If the files alone do not show the place, because the field is computed, fieldSpan
// returns the span where CUE found its value.
func (l *locator) fieldSpan(key bool, path ...string) diag.Span {
	span, exact := l.findSpan(key, path)
	if exact {
		return span
	}
	found := l.sources.Span(cue.Dereference(l.lookupMeant(l.value(), path)).Pos())
	if !found.Valid() {
		return span
	}
	if at := l.fieldAt(found); at != nil && !at.clause && !key {
		return at.value
	}
	return found
}

// findSpan does the same as fieldSpan with the files alone. It reports whether they show
// the place: the span is of the field itself, or the field is certainly not written.
func (l *locator) findSpan(key bool, path []string) (span diag.Span, exact bool) {
	found := []*place{l.readRoot()}
	exact = true
	for i, name := range path {
		next := l.stepInto(found, name)
		if len(next) == 0 {
			exact = l.showFields(found)
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
		for _, p := range slices.Backward(found) { // the most specific place wins
			spans := slices.Concat(p.keys, p.values)
			if last && !key {
				spans = slices.Concat(p.values, p.keys)
			}
			if len(spans) > 0 {
				span = spans[0]
			}
		}
	}
	if !span.Valid() && len(l.inst.Files) > 0 {
		span, exact = l.firstLine(), false
	}
	return span, exact
}

// showFields reports whether the files show all fields of the given places.
func (l *locator) showFields(places []*place) bool {
	return !slices.ContainsFunc(l.reachPlaces(places), func(p *place) bool {
		_, others := l.fieldsOf(p)
		return p.computed || p.hides || len(others) > 0
	})
}

// literalSpan returns the span of the value that is written with the given text. A
// field may be written several times. If no value has the text, literalSpan returns
// the field's place.
func (l *locator) literalSpan(as string, path []string) diag.Span {
	plain, err := literal.Unquote(as)
	for _, span := range l.valueSpans(path) {
		if t := span.Text(); t == as || err == nil && t == plain {
			return span
		}
	}
	return l.fieldSpan(false, path...)
}

// valueSpans returns all spans of the value of a field, and of the values that it
// refers to.
func (l *locator) valueSpans(path []string) []diag.Span {
	var spans []diag.Span
	for _, p := range l.reachPlaces(l.fieldPlaces(path)) {
		spans = append(spans, p.values...)
	}
	return spans
}

// tagOf returns the tag that sets the value of a field or of a field that it refers to,
// "" for none, and whether the command line gives the tag a value.
func (l *locator) tagOf(path []string) (tag string, given bool) {
	for _, p := range l.reachPlaces(l.fieldPlaces(path)) {
		if p.tag != "" {
			return p.tag, l.given(p.tag)
		}
	}
	return "", false
}

// nameTag adds to a finding on the value of a field that a tag sets the value, if the
// command line gives it one. An edit of the files would not change the value.
func (l *locator) nameTag(f *diag.Finding, path []string) {
	if tag, given := l.tagOf(path); given {
		f.Edits = nil
		f.Related = append(f.Related, diag.Related{Message: "-t " + tag + " sets this value"})
	}
}

// keySpans returns all spans of the name of a field.
func (l *locator) keySpans(path []string) []diag.Span {
	var spans []diag.Span
	for _, p := range l.fieldPlaces(path) {
		spans = append(spans, p.keys...)
	}
	return spans
}

// fieldPlaces returns the places of a field.
func (l *locator) fieldPlaces(path []string) []*place {
	found := []*place{l.readRoot()}
	for _, name := range path {
		found = l.stepInto(found, name)
	}
	return found
}

// isWritten reports whether the files contain a field.
func (l *locator) isWritten(path ...string) bool { return len(l.fieldPlaces(path)) > 0 }

// stepInto returns the fields with the given name: exact ones first, then patterns.
func (l *locator) stepInto(from []*place, name string) []*place {
	var exact, any []*place
	misspelt := ""
	if len(from) == 1 && from[0] == l.readRoot() {
		misspelt = l.spelt[name]
	}
	for _, p := range l.reachPlaces(from) {
		fields, others := l.fieldsOf(p)
		if f := fields[name]; f != nil {
			exact = append(exact, f)
		}
		if f := fields[misspelt]; f != nil && misspelt != "" {
			exact = append(exact, f)
		}
		any = append(any, others...)
	}
	return append(exact, any...)
}

// lookupMeant returns the value at a path of the user's files. A top-level field can
// have a misspelt name.
func (l *locator) lookupMeant(v cue.Value, path []string) cue.Value {
	found := lookupPath(v, path)
	if len(path) > 0 && !found.Exists() && l.spelt[path[0]] != "" {
		return lookupPath(v, append([]string{l.spelt[path[0]]}, path[1:]...))
	}
	return found
}

// reachPlaces adds the places that the given places refer to, each once: references
// can have much in common, and can form circles.
func (l *locator) reachPlaces(from []*place) []*place {
	seen := map[ref]bool{}
	for i := 0; i < len(from); i++ {
		for _, r := range from[i].refs {
			if !seen[r] {
				seen[r] = true
				from = append(slices.Clip(from), l.followRef(r)...)
			}
		}
	}
	return from
}

// followRef returns the places that a reference refers to.
func (l *locator) followRef(r ref) []*place {
	found := r.pkg.places(r.name)
	if r.path == "" {
		return found
	}
	for _, name := range strings.Split(r.path, ".") {
		var next []*place
		for _, p := range found {
			fields, _ := l.fieldsOf(p)
			if f := fields[name]; f != nil {
				next = append(next, f)
			}
		}
		found = next
	}
	return found
}

// places returns the places of a name at the top of a package's files.
func (p *pkg) places(name string) []*place {
	return slices.DeleteFunc([]*place{p.root.fields[name], p.lets[name]}, func(p *place) bool { return p == nil })
}

// firstLine returns the first line of the first file, which is the place of mistakes
// without a place of their own.
func (l *locator) firstLine() diag.Span {
	f := l.inst.Files[0]
	src := l.sources.Get(f.Filename)
	for _, d := range f.Decls {
		if p, ok := d.(*ast.Package); ok && p.Pos().IsValid() {
			return l.sources.Span(p.Pos())
		}
	}
	return diag.Span{Source: src, End: load.TokenEnd(src.Content, 0)}
}

// nodeSpan returns the range of a node, at most to the end of its first line.
func (l *locator) nodeSpan(n ast.Node) diag.Span {
	s := l.sources.Span(n.Pos())
	if !s.Valid() {
		return s
	}
	// Nodes of YAML and JSON have only their start and their text.
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
