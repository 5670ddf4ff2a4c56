package blueprint

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/literal"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// readRoot returns the place of the blueprint itself.
func (l *locator) readRoot() *place { return l.readPackage(l.inst).root }

// readPackage reads a package, once.
func (l *locator) readPackage(inst *build.Instance) *pkg {
	p := l.packages[inst]
	if p != nil {
		return p
	}
	if l.packages == nil {
		l.packages = map[*build.Instance]*pkg{}
	}
	p = &pkg{&place{}, map[string]*place{}}
	l.packages[inst] = p
	for _, f := range inst.Files { // before the values, which can refer to all names
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.Field:
				if name, _, err := ast.LabelName(d.Label); err == nil {
					p.root.field(name)
				}
			case *ast.LetClause:
				p.lets[d.Ident.Name] = &place{}
			}
		}
	}
	for _, f := range inst.Files {
		in := l.fileScope(p, inst, f)
		l.readDecls(in, p.root, f.Decls)
		for _, d := range f.Decls {
			if d, ok := d.(*ast.LetClause); ok {
				l.readExpr(in, p.lets[d.Ident.Name], d.Expr)
			}
		}
	}
	return p
}

// field returns the place of a field of a place, which may be new.
func (p *place) field(name string) *place {
	if p.fields == nil {
		p.fields = map[string]*place{}
	}
	if p.fields[name] == nil {
		p.fields[name] = &place{}
	}
	return p.fields[name]
}

func (l *locator) fileScope(p *pkg, inst *build.Instance, f *ast.File) scope {
	in := scope{pkg: p, imports: map[string]*build.Instance{}, dir: filepath.Dir(f.Filename)}
	for spec := range f.ImportSpecs() {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imported := inst.LookupImport(path)
			if path == schema.ImportPath {
				in.schema = load.ImportName(spec)
			} else if imported != nil {
				in.imports[load.ImportName(spec)] = imported
			}
		}
	}
	return in
}

func (l *locator) readDecls(in scope, into *place, decls []ast.Decl) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			var p *place
			if name, _, err := ast.LabelName(d.Label); err == nil {
				into.hides = into.hides || !literal.IsPlainLabel(name)
				p = into.field(name)
			} else {
				_, pattern := d.Label.(*ast.ListLit)
				p = &place{computedKey: !pattern}
				into.any = append(into.any, p)
			}
			p.keys = append(p.keys, l.nodeSpan(d.Label))
			l.readExpr(in, p, d.Value)
			for _, a := range d.Attrs {
				l.readEmbedded(in, p, a)
			}
			p.tag = cmp.Or(p.tag, tagName(d))
		case *ast.EmbedDecl:
			l.readExpr(in, into, d.Expr)
		case *ast.Comprehension:
			l.readExpr(in, into, d.Value)
		}
	}
}

// tagName returns the name of the tag that sets the value of a field, "" for none.
func tagName(field *ast.Field) string {
	for _, a := range field.Attrs {
		if key, body := a.Split(); key == "tag" {
			name, _, _ := strings.Cut(body, ",")
			return name
		}
	}
	return ""
}

// readEmbedded reads the files that @embed(file=...) or @embed(glob=...) refers to.
func (l *locator) readEmbedded(in scope, into *place, a *ast.Attribute) {
	m := embedArgument.FindStringSubmatch(a.Text)
	if m == nil {
		return
	}
	root := l.inst.Root
	dir, err := filepath.Rel(root, in.dir)
	if err != nil || !filepath.IsLocal(dir) {
		root, dir = in.dir, "."
	}
	files := l.sources.EmbeddableFiles(root)
	dir = filepath.ToSlash(dir)
	names, err := fs.Glob(files, path.Join(dir, m[2]))
	if err != nil {
		return
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			continue // CUE reports the error
		}
		absolute := filepath.Join(root, filepath.FromSlash(name))
		p := into
		if m[1] == "glob" { // a field for each file
			l.readRest(into)
			p = into.field(strings.TrimPrefix(name, dir+"/"))
		}
		p.embedded = absolute
		if embedsText.MatchString(a.Text) {
			continue
		}
		file, err := load.ParseData(strings.TrimPrefix(path.Ext(name), "."), absolute, content)
		if err != nil {
			continue
		}
		l.readDecls(in, p, file.Decls)
	}
}

var (
	embedArgument = regexp.MustCompile(`^@embed\(\s*(file|glob)\s*=\s*"?([^",)]+)"?`)
	embedsText    = regexp.MustCompile(`[,\s]type\s*=\s*"?text\b`)
)

func (l *locator) readExpr(in scope, into *place, e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructLit:
		l.readStruct(in, into, e)
	case *ast.BinaryExpr:
		if e.Op == token.AND || e.Op == token.OR {
			l.readExpr(in, into, e.X)
			l.readExpr(in, into, e.Y)
			return
		}
		into.hides = true
		into.values = append(into.values, l.nodeSpan(e))
	case *ast.ParenExpr:
		l.readExpr(in, into, e.X)
	case *ast.Comprehension:
		l.readExpr(in, into, e.Value)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		if s, ok := e.(*ast.SelectorExpr); ok && in.schema != "" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == in.schema {
				return // the user wrote no such value
			}
		}
		into.computed = !l.recordRef(in, into, e) || into.computed
		into.values = append(into.values, l.nodeSpan(e))
	case *ast.Alias:
		l.readExpr(in, into, e.Expr)
	case *ast.ListLit:
		l.readList(in, into, e)
	case nil:
	default:
		_, isLiteral := e.(*ast.BasicLit)
		into.hides = into.hides || !isLiteral
		into.values = append(into.values, l.nodeSpan(e))
	}
}

// readStruct reads a struct: later if it consists of fields alone, otherwise at once.
func (l *locator) readStruct(in scope, into *place, e *ast.StructLit) {
	if slices.ContainsFunc(e.Elts, isNoField) {
		l.readRest(into) // keeps the order of the files
		l.readDecls(in, into, e.Elts)
	} else {
		into.unread = append(into.unread, unread{in, e.Elts})
	}
}

// readList reads a list, whose elements become fields.
func (l *locator) readList(in scope, into *place, e *ast.ListLit) {
	into.values = append(into.values, l.nodeSpan(e))
	l.readRest(into)
	for i, item := range e.Elts {
		p := into.field(diag.Index(i))
		*p = place{} // of several lists the last one counts
		switch item.(type) {
		case *ast.Comprehension, *ast.Ellipsis:
			into.hides = true
		}
		l.readExpr(in, p, item)
		if len(p.values) == 0 {
			p.values = append(p.values, l.nodeSpan(item))
		}
	}
}

// isNoField reports whether a declaration is other than a field, so that it can say
// something about the struct itself.
func isNoField(d ast.Decl) bool {
	_, isField := d.(*ast.Field)
	_, isComment := d.(*ast.CommentGroup)
	return !isField && !isComment
}

// recordRef records that a value refers to a top-level name or to a field below it. It
// reports whether the reference describes the value completely.
func (l *locator) recordRef(in scope, into *place, e ast.Expr) bool {
	var path []string
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if isLocal(x) {
				return false
			}
			from, name := in.pkg, x.Name
			if imported := in.imports[name]; imported != nil && len(path) > 0 {
				from, name, path = l.readPackage(imported), path[0], path[1:]
			}
			known := len(from.places(name)) > 0
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

// isLocal reports whether a reference is to a name that is not at the top of a file,
// such as the variable of a loop.
func isLocal(name *ast.Ident) bool {
	_, isFile := name.Scope.(*ast.File)
	return name.Scope != nil && !isFile
}
