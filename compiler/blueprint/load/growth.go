package load

import (
	"math"
	"path"
	"slices"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

const (
	// maxRounds is the number of times that the bounds of all names are computed.
	// Names that are defined before their use need one round.
	maxRounds = 40

	// maxRepeat is the highest number of times that CUE repeats a string or a list:
	// adt.MaxRepeatCount.
	maxRepeat = 1_000_000

	// maxTag is the length of the longest command line argument, and so of the
	// longest value of a @tag: MAX_ARG_STRLEN of Linux.
	maxTag = 128 << 10

	// maxDefault is greater than the length of any text in the schema.
	maxDefault = 4 << 10

	// stepsInLimit is the number of times that the longest single text fits into the
	// memory limit. An evaluated text takes its length again wherever it is copied,
	// and six times its length in JSON.
	stepsInLimit = 64
)

// growth bounds the length of the texts in a blueprint without evaluating them.
// Structs and lists are evaluated value by value, slowly enough for the guard to
// stop the process in time; a single concatenation can ask for more memory than
// there is.
//
// The bounds are per name: a reference is as long as the longest value of any field,
// let clause or loop variable of its name. A bound can be far too high, and is never
// too low.
type growth struct {
	named   map[string][]ast.Expr // values by name of a field, let clause, alias or variable
	names   []string              // keys of named, in the order of the files
	fields  map[string]bool       // names that patterns and computed labels can match
	imports map[string]string     // path of an import by its name in a file

	bounds  map[bounded]float64
	changed bool // a bound rose in this round
}

// bounded is the key of a bound. Without inner the bound holds for the values of
// the name, if they are texts or numbers. With inner it also holds for every text
// and number inside these values.
type bounded struct {
	name  string
	inner bool
}

// Names that stand for values of which only the length is known, or which have no name.
const (
	fileName    = "@embed"
	tagValue    = "@tag"
	dynamicName = "[]"  // a value of a pattern or of a computed label
	labelsName  = "[]:" // a label, which loop variables and aliases can contain
)

// BoundGrowth searches the instance for texts that can become longer than a small
// part of the memory limit, which is in bytes. It returns the span of one such text,
// or the zero Span if there is none.
func (l *Loader) BoundGrowth(maxMemory int64) diag.Span {
	var files []*ast.File
	var growing []ast.Expr
	for _, i := range append(l.Instance.Dependencies(), l.Instance) {
		for _, f := range i.Files {
			if !isOurs(f.Filename) {
				files, growing = append(files, f), append(growing, growingIn(f)...)
			}
		}
	}
	if len(growing) == 0 {
		return diag.Span{}
	}
	g := &growth{
		named: map[string][]ast.Expr{}, fields: map[string]bool{}, imports: map[string]string{},
		bounds: map[bounded]float64{
			{fileName, false}: MaxFile, {fileName, true}: MaxFile, {tagValue, false}: maxTag, {tagValue, true}: maxTag,
		},
	}
	g.bind(labelsName, ast.NewIdent(tagValue)) // a label that is not computed is short
	for _, f := range files {
		g.collectValues(f)
	}
	g.computeBounds()
	var at diag.Span
	worst := 0
	for _, e := range growing {
		if s := g.suspicion(e, float64(maxMemory)); s > worst {
			worst, at = s, l.Sources.Span(e.Pos())
		}
	}
	return at
}

// growingIn returns the expressions of a file whose value can be longer than their
// operands.
func growingIn(f *ast.File) []ast.Expr {
	var out []ast.Expr
	ast.Walk(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.ADD || n.Op == token.MUL {
				out = append(out, n)
			}
		case *ast.Interpolation:
			out = append(out, n)
		case *ast.CallExpr:
			out = append(out, n)
		}
		return true
	}, nil)
	return out
}

// collectValues records the values of each name in a file.
func (g *growth) collectValues(f *ast.File) {
	for s := range f.ImportSpecs() {
		if written, err := strconv.Unquote(s.Path.Value); err == nil {
			g.imports[ImportName(s)] = ast.ParseImportPath(written).Path
		}
	}
	ast.Walk(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			g.collectField(n)
		case *ast.LetClause:
			g.bind(n.Ident.Name, n.Expr)
		case *ast.Alias:
			g.bind(n.Ident.Name, n.Expr)
		case *ast.ForClause:
			g.bindLabel(n.Key)
			g.bind(n.Value.Name, &ast.IndexExpr{X: n.Source})
		}
		return true
	}, nil)
}

func (g *growth) collectField(f *ast.Field) {
	values := []ast.Expr{f.Value}
	for _, a := range f.Attrs {
		switch a.Name() {
		case "embed":
			values = append(values, ast.NewIdent(fileName))
		case "tag":
			values = append(values, ast.NewIdent(tagValue))
		}
	}
	bindField := func(name string) {
		g.bind(name, values...)
		g.fields[name] = true
	}
	label := f.Label
	if alias, ok := label.(*ast.Alias); ok {
		bindField(alias.Ident.Name)
		if inner, ok := alias.Expr.(ast.Label); ok {
			label = inner
		}
	}
	if f.Alias != nil {
		g.bindLabel(f.Alias.Label)
		if f.Alias.Field != nil {
			bindField(f.Alias.Field.Name)
		}
	}
	if name, _, err := ast.LabelName(label); err == nil {
		bindField(name)
		return
	}
	g.bind(dynamicName, values...)
	switch label := label.(type) {
	case *ast.ListLit: // a pattern, whose alias holds the matching labels
		for _, e := range label.Elts {
			if alias, ok := e.(*ast.Alias); ok {
				g.bindLabel(alias.Ident)
			}
		}
	case ast.Expr:
		g.bind(labelsName, label)
	}
}

// bind records that a name stands for values.
func (g *growth) bind(name string, values ...ast.Expr) {
	if _, ok := g.named[name]; !ok {
		g.names = append(g.names, name)
	}
	g.named[name] = append(g.named[name], values...)
}

// bindLabel records that an identifier, if it is not nil, stands for the label of a field.
func (g *growth) bindLabel(id *ast.Ident) {
	if id != nil {
		g.bind(id.Name, ast.NewIdent(labelsName))
	}
}

// computeBounds raises the bounds of all names until they hold. A bound never falls. In a
// circle each round makes the texts longer; then the last round still changes bounds.
func (g *growth) computeBounds() {
	g.changed = true
	for round := 0; g.changed && round < maxRounds; round++ {
		g.changed = false
		for _, inner := range []bool{false, true} {
			for _, name := range g.names {
				key := bounded{name, inner}
				if bound := longest(g, g.named[name], inner); bound > g.bounds[key] {
					g.bounds[key], g.changed = bound, true
				}
			}
		}
	}
}

// longest returns the highest bound of some nodes.
func longest[N ast.Node](g *growth, nodes []N, inner bool) float64 {
	bound := 0.0
	for _, n := range nodes {
		bound = max(bound, g.bound(n, inner))
	}
	return bound
}

// bound returns the most bytes that a text can have, according to the rounds so far.
// The text is the value of the node itself or, if inner is true, also any text inside
// the value.
func (g *growth) bound(n ast.Node, inner bool) float64 {
	bound := 0.0
	ast.Walk(n, func(n ast.Node) bool {
		own, known := g.boundNode(n, inner)
		bound = max(bound, own)
		return !known
	}, nil)
	return bound
}

// boundNode returns the bound of a node, or false if it is the bound of its parts.
func (g *growth) boundNode(n ast.Node, inner bool) (bound float64, known bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		return float64(len(n.Value)), true
	case *ast.Attribute: // can embed a file
		return MaxFile, true
	case *ast.Ident:
		return g.boundName(n.Name, inner), true
	case *ast.SelectorExpr:
		return g.boundSelector(n, inner), true
	case *ast.IndexExpr:
		return g.bound(n.X, true), true
	case *ast.SliceExpr:
		return g.bound(n.X, true), true
	case *ast.CallExpr:
		return g.boundCall(n), true
	case *ast.Interpolation:
		sum := 0.0
		for _, part := range n.Elts {
			sum += g.bound(part, false)
		}
		return sum, true
	case *ast.BinaryExpr:
		x, y := g.bound(n.X, false), g.bound(n.Y, false)
		switch n.Op {
		case token.AND, token.OR:
			return 0, false
		case token.MUL:
			return max(x+y, x*countRepetitions(n.Y), y*countRepetitions(n.X)), true
		}
		return x + y, true
	case *ast.Field:
		switch {
		case !inner:
			return 0, true
		case len(n.Attrs) > 0:
			return max(MaxFile, g.bound(n.Value, inner)), true
		}
		return g.bound(n.Value, inner), true
	case *ast.Alias:
		return g.bound(n.Expr, inner), true
	case ast.Clause, *ast.CommentGroup:
		return 0, true
	case *ast.ListLit:
		return 0, !inner
	}
	return 0, false
}

// boundName returns the bound of all values that a name can stand for.
func (g *growth) boundName(name string, inner bool) float64 {
	bound := g.bounds[bounded{name, inner}] // 0 for a type, and for an undefined name
	switch {
	case g.fields[name]:
		return max(bound, g.bounds[bounded{dynamicName, inner}])
	case g.named[name] == nil && (name == "self" || name == "__self"):
		return math.Inf(1)
	}
	return bound
}

func (g *growth) boundSelector(e *ast.SelectorExpr, inner bool) float64 {
	name, _, err := ast.LabelName(e.Sel)
	if err != nil {
		return math.Inf(1)
	}
	if x, ok := e.X.(*ast.Ident); ok && g.named[x.Name] == nil {
		if imported, ok := g.imports[x.Name]; ok && isOurs(imported+"/") ||
			slices.Contains(builtinPackages(), imported) {
			return maxDefault
		}
	}
	// named does not contain the schema's defaults.
	return max(g.bounds[bounded{name, inner}], g.bounds[bounded{dynamicName, inner}], maxDefault)
}

// countRepetitions returns the most times that an expression repeats another one as a
// factor.
func countRepetitions(e ast.Expr) float64 {
	if lit, ok := e.(*ast.BasicLit); ok {
		var number literal.NumInfo
		if lit.Kind != token.INT || literal.ParseNum(lit.Value, &number) != nil {
			return 0
		}
		if n, err := strconv.ParseFloat(number.String(), 64); err == nil {
			return min(n, maxRepeat)
		}
	}
	return maxRepeat
}

// boundCall returns the bound of the result of a function. The bound is infinite if
// the result can be longer than the arguments.
func (g *growth) boundCall(e *ast.CallExpr) float64 {
	longest := longest(g, e.Args, true)
	fun, ok := e.Fun.(*ast.SelectorExpr)
	if _, own := e.Fun.(*ast.Ident); own {
		return longest // no function in CUE's own scope returns a longer text
	} else if !ok {
		return math.Inf(1)
	}
	pkg, ok := fun.X.(*ast.Ident)
	name, _, err := ast.LabelName(fun.Sel)
	if !ok || err != nil {
		return math.Inf(1)
	}
	from := path.Base(g.imports[pkg.Name])
	switch called := from + "." + name; {
	case called == "strings.Repeat" && len(e.Args) == 2:
		return longest * countRepetitions(e.Args[1])
	case called == "list.Range" && !slices.ContainsFunc(e.Args, isLong):
		return longest
	case slices.Contains(shortPackages, from) && !slices.Contains(longFunctions, called):
		return longest*4 + maxDefault // changing to upper case, or quoting
	}
	return math.Inf(1)
}

// isLong reports whether an argument of list.Range can be more than a small number.
func isLong(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return !ok || lit.Kind != token.INT || len(lit.Value) > 5
}

// shortPackages are CUE's packages whose functions, except longFunctions, return no text,
// or a text that is about as long as their arguments.
var (
	shortPackages = []string{"list", "math", "net", "path", "regexp", "strconv", "strings", "struct", "time"}
	longFunctions = []string{
		"list.Concat", "list.FlattenN", "list.Product", "list.Range", "list.Repeat", "regexp.ReplaceAll",
		"regexp.ReplaceAllLiteral", "strings.Join", "strings.Repeat", "strings.Replace",
	}
)

// suspicion returns how probable it is that an expression that can grow exceeds the memory
// limit, from 0. The first expression with a bound above the limit is more probable than
// the ones that contain it, and a known bound more than an infinite one.
func (g *growth) suspicion(e ast.Expr, limit float64) int {
	var operands float64
	switch e := e.(type) {
	case *ast.BinaryExpr:
		operands = longest(g, []ast.Expr{e.X, e.Y}, false)
	case *ast.Interpolation:
		operands = longest(g, e.Elts, false)
	case *ast.CallExpr:
		operands = longest(g, e.Args, true)
	}
	step := limit / stepsInLimit
	switch bound := g.bound(e, false); {
	case bound > limit && operands <= limit && !math.IsInf(bound, 1):
		return 5
	case bound > limit && operands <= limit:
		return 4
	case bound > step && operands <= step:
		return 3
	case g.changed && bound > step:
		return 2
	case g.changed && bound > 0:
		return 1
	}
	return 0
}
