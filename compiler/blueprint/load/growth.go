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
	sources *Sources
	named   map[string][]ast.Expr // values by name of a field, let clause, alias or variable
	names   []string              // keys of named, in the order of the files
	fields  map[string]bool       // names that patterns and computed labels can match
	dynamic []ast.Expr            // values of patterns and computed labels
	labels  []ast.Expr            // computed labels, which loop variables and aliases can contain
	imports map[string]string     // path of an import by its name in a file

	bounds  map[bounded]float64
	changed bool // a bound rose in this round

	crossing diag.Span
}

// bounded is the key of a bound. Without inner the bound holds for the values of
// the name, if they are texts or numbers. With inner it also holds for every text
// and number inside these values.
type bounded struct {
	name  string
	inner bool
}

// Names under which bounds holds the bounds of dynamic and of labels.
const (
	dynamicName = "[]"
	labelsName  = "[]:"
)

// BoundGrowth searches the instance for texts that can become longer than a small
// part of the memory limit, which is in bytes. It returns the span of one such text,
// or the zero Span if there is none.
func (l *Loader) BoundGrowth(maxMemory int64) diag.Span {
	g := &growth{
		sources: l.Sources, named: map[string][]ast.Expr{}, fields: map[string]bool{},
		imports: map[string]string{}, bounds: map[bounded]float64{},
	}
	var files []*ast.File
	for _, i := range append(l.Instance.Dependencies(), l.Instance) {
		for _, f := range i.Files {
			if !isOurs(f.Filename) {
				files = append(files, f)
			}
		}
	}
	if !slices.ContainsFunc(files, canGrow) {
		return diag.Span{}
	}
	for _, f := range files {
		g.collectValues(f)
	}
	for range maxRounds {
		g.changed = false
		for _, inner := range []bool{false, true} {
			for _, name := range g.names {
				g.raiseBound(bounded{name, inner}, g.longestBound(g.named[name], inner))
			}
			g.raiseBound(bounded{dynamicName, inner}, g.longestBound(g.dynamic, inner))
			g.raiseBound(bounded{labelsName, inner}, g.longestBound(g.labels, inner))
		}
		if !g.changed {
			break
		}
	}
	total, step := float64(maxMemory), float64(maxMemory/stepsInLimit)
	g.findCrossing(files, total, math.MaxFloat64)
	g.findCrossing(files, total, math.Inf(1))
	g.findCrossing(files, step, math.Inf(1))
	if g.changed { // a circle: each round makes its texts longer, including the operands
		g.findLonger(files, step)
		g.findLonger(files, 0)
	}
	return g.crossing
}

// canGrow reports whether a file has an expression whose value can be longer than
// its operands.
func canGrow(f *ast.File) bool {
	found := false
	ast.Walk(f, func(n ast.Node) bool {
		found = found || isGrowth(n)
		return !found
	}, nil)
	return found
}

func isGrowth(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.Op == token.ADD || n.Op == token.MUL
	case *ast.Interpolation, *ast.CallExpr:
		return true
	}
	return false
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
			g.bindIdent(n.Ident, n.Expr)
		case *ast.Alias:
			g.bindIdent(n.Ident, n.Expr)
		case *ast.ForClause:
			if n.Key != nil {
				g.bindLabel(n.Key)
			}
			g.bindIdent(n.Value, &ast.IndexExpr{X: n.Source})
		}
		return true
	}, nil)
}

func (g *growth) collectField(f *ast.Field) {
	label := f.Label
	if alias, ok := label.(*ast.Alias); ok {
		g.bindIdent(alias.Ident, f.Value)
		g.fields[alias.Ident.Name] = true
		if inner, ok := alias.Expr.(ast.Label); ok {
			label = inner
		}
	}
	if f.Alias != nil {
		g.bindIdent(f.Alias.Field, f.Value)
		g.fields[f.Alias.Field.Name] = true
		if f.Alias.Label != nil {
			g.bindLabel(f.Alias.Label)
		}
	}
	values := []ast.Expr{f.Value}
	for _, a := range f.Attrs {
		switch a.Name() {
		case "embed":
			values = append(values, lengthOf(MaxFile))
		case "tag":
			values = append(values, lengthOf(maxTag))
		}
	}
	if name, _, err := ast.LabelName(label); err == nil {
		g.bindName(name, values...)
		g.fields[name] = true
		return
	}
	g.dynamic = append(g.dynamic, values...)
	switch label := label.(type) {
	case *ast.ListLit: // a pattern, whose alias holds the matching labels
		for _, e := range label.Elts {
			if alias, ok := e.(*ast.Alias); ok {
				g.bindLabel(alias.Ident)
			}
		}
	case ast.Expr:
		g.labels = append(g.labels, label)
	}
}

// bindIdent records that an identifier, if it is not nil, stands for a value.
func (g *growth) bindIdent(id *ast.Ident, value ast.Expr) {
	if id != nil {
		g.bindName(id.Name, value)
	}
}

// bindName records that a name stands for values.
func (g *growth) bindName(name string, values ...ast.Expr) {
	if _, ok := g.named[name]; !ok {
		g.names = append(g.names, name)
	}
	g.named[name] = append(g.named[name], values...)
}

// bindLabel records that a name stands for the label of a field.
func (g *growth) bindLabel(id *ast.Ident) {
	g.bindIdent(id, &ast.Ident{Name: labelsName})
}

// lengthOf returns an expression with the length of a text of n bytes.
func lengthOf(n int) ast.Expr { return &knownLength{length: float64(n)} }

// knownLength is a text of which only the length is known.
type knownLength struct {
	ast.BadExpr
	length float64
}

// raiseBound raises a bound. A bound never falls.
func (g *growth) raiseBound(of bounded, bound float64) {
	if bound > g.bounds[of] {
		g.bounds[of] = bound
		g.changed = true
	}
}

// longestBound returns the highest bound of some values.
func (g *growth) longestBound(values []ast.Expr, inner bool) float64 {
	bound := 0.0
	for _, v := range values {
		bound = max(bound, g.boundExpr(v, inner))
	}
	return bound
}

// boundExpr returns the most bytes that a text can have, according to the rounds so
// far. The text is the value itself or, if inner is true, also any text inside the
// value.
func (g *growth) boundExpr(e ast.Expr, inner bool) float64 {
	switch e := e.(type) {
	case nil, *ast.BottomLit, *ast.BadExpr:
		return 0
	case *knownLength:
		return e.length
	case *ast.BasicLit:
		return float64(len(e.Value))
	case *ast.Ident:
		return g.boundName(e.Name, inner)
	case *ast.SelectorExpr:
		return g.boundSelector(e, inner)
	case *ast.IndexExpr:
		return g.boundExpr(e.X, true)
	case *ast.SliceExpr:
		return g.boundExpr(e.X, true)
	case *ast.ParenExpr:
		return g.boundExpr(e.X, inner)
	case *ast.UnaryExpr:
		return g.boundExpr(e.X, inner)
	case *ast.PostfixExpr:
		return g.boundExpr(e.X, inner)
	case *ast.Alias:
		return g.boundExpr(e.Expr, inner)
	case *ast.BinaryExpr:
		return g.boundBinary(e, inner)
	case *ast.Interpolation:
		sum := 0.0
		for _, part := range e.Elts {
			sum += g.boundExpr(part, false)
		}
		return sum
	case *ast.ListLit:
		if !inner {
			return 0
		}
		return g.longestBound(e.Elts, inner)
	case *ast.Ellipsis:
		return g.boundExpr(e.Type, inner)
	case *ast.Comprehension:
		return g.boundComprehension(e, inner)
	case *ast.StructLit:
		return g.boundDecls(e.Elts, inner)
	case *ast.CallExpr:
		return g.boundCall(e)
	}
	return math.Inf(1) // an expression of a later version of CUE
}

// boundName returns the bound of all values that a name can stand for.
func (g *growth) boundName(name string, inner bool) float64 {
	if name == labelsName {
		return max(g.bounds[bounded{labelsName, inner}], maxTag) // a label that is not computed is short
	}
	if _, ok := g.named[name]; !ok {
		if slices.Contains([]string{"self", "__self"}, name) {
			return math.Inf(1)
		}
		return 0 // a type, or an undefined name
	}
	if !g.fields[name] {
		return g.bounds[bounded{name, inner}]
	}
	return max(g.bounds[bounded{name, inner}], g.bounds[bounded{dynamicName, inner}])
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

func (g *growth) boundBinary(e *ast.BinaryExpr, inner bool) float64 {
	if e.Op == token.AND || e.Op == token.OR {
		return max(g.boundExpr(e.X, inner), g.boundExpr(e.Y, inner))
	}
	x, y := g.boundExpr(e.X, false), g.boundExpr(e.Y, false)
	if e.Op == token.MUL {
		return max(x+y, x*countRepetitions(e.Y), y*countRepetitions(e.X))
	}
	return x + y
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

func (g *growth) boundComprehension(e *ast.Comprehension, inner bool) float64 {
	bound := g.boundExpr(e.Value, inner)
	if e.Fallback != nil {
		bound = max(bound, g.boundExpr(e.Fallback.Body, inner))
	}
	return bound
}

func (g *growth) boundDecls(decls []ast.Decl, inner bool) float64 {
	bound := 0.0
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			if inner {
				bound = max(bound, g.boundExpr(d.Value, inner))
			}
			if inner && len(d.Attrs) > 0 {
				bound = max(bound, MaxFile)
			}
		case *ast.EmbedDecl:
			bound = max(bound, g.boundExpr(d.Expr, inner))
		case *ast.Attribute: // can embed a file
			bound = max(bound, MaxFile)
		case *ast.Comprehension:
			bound = max(bound, g.boundComprehension(d, inner))
		case *ast.Ellipsis:
			bound = max(bound, g.boundExpr(d.Type, inner))
		}
	}
	return bound
}

// boundCall returns the bound of the result of a function. The bound is infinite if
// the result can be longer than the arguments.
func (g *growth) boundCall(e *ast.CallExpr) float64 {
	longest := g.longestBound(e.Args, true)
	switch fun := e.Fun.(type) {
	case *ast.Ident:
		return longest // no function in CUE's own scope returns a longer text
	case *ast.SelectorExpr:
		pkg, ok := fun.X.(*ast.Ident)
		name, _, err := ast.LabelName(fun.Sel)
		if !ok || err != nil {
			return math.Inf(1)
		}
		called := path.Base(g.imports[pkg.Name]) + "." + name
		switch {
		case called == "strings.Repeat" && len(e.Args) == 2:
			return longest * countRepetitions(e.Args[1])
		case called == "list.Range" && !slices.ContainsFunc(e.Args, isLong):
			return longest
		case slices.Contains(shortFunctions(), called),
			slices.Contains(shortPackages(), path.Base(g.imports[pkg.Name])):
			return longest*4 + maxDefault // changing to upper case, or quoting
		}
	}
	return math.Inf(1)
}

// isLong reports whether an argument of list.Range can be more than a small number.
func isLong(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return !ok || lit.Kind != token.INT || len(lit.Value) > 5
}

// shortPackages returns CUE's packages whose functions return no text, or a text
// that is about as long as their arguments.
func shortPackages() []string { return []string{"math", "net", "strconv", "struct", "time"} }

// shortFunctions returns functions of the same kind from other packages.
func shortFunctions() []string {
	return []string{
		"list.Avg", "list.Contains", "list.Drop", "list.IsSorted", "list.IsSortedStrings", "list.MatchN", "list.Max",
		"list.MaxItems", "list.Min", "list.MinItems", "list.Reverse", "list.Slice", "list.Sort", "list.SortStable",
		"list.SortStrings", "list.Sum", "list.Take", "list.UniqueItems",
		"path.Base", "path.Clean", "path.Dir", "path.Ext", "path.IsAbs", "path.Match", "path.Split",
		"regexp.Match", "regexp.Valid",
		"strings.ByteAt",
		"strings.ByteSlice", "strings.Compare", "strings.Contains", "strings.ContainsAny", "strings.Count",
		"strings.Fields",
		"strings.HasPrefix", "strings.HasSuffix", "strings.Index", "strings.IndexAny", "strings.LastIndex",
		"strings.LastIndexAny", "strings.MaxRunes", "strings.MinRunes", "strings.SliceRunes", "strings.Split",
		"strings.SplitAfter", "strings.ToCamel", "strings.ToLower", "strings.ToTitle", "strings.ToUpper",
		"strings.Trim",
		"strings.TrimLeft", "strings.TrimPrefix", "strings.TrimRight", "strings.TrimSpace", "strings.TrimSuffix",
	}
}

// findCrossing records, unless one is recorded already, the first expression whose
// bound exceeds a limit, and is at most most, although the bound of none of its
// operands does.
func (g *growth) findCrossing(files []*ast.File, limit, most float64) {
	g.recordFirst(files, func(e ast.Expr) bool {
		_, isCall := e.(*ast.CallExpr)
		bound := g.boundExpr(e, false)
		return bound > limit && bound <= most && g.longestBound(growingOperands(e), isCall) <= limit
	})
}

// findLonger records, unless one is recorded already, the first expression that can
// grow and whose bound exceeds a limit.
func (g *growth) findLonger(files []*ast.File, limit float64) {
	g.recordFirst(files, func(e ast.Expr) bool { return g.boundExpr(e, false) > limit })
}

func (g *growth) recordFirst(files []*ast.File, matches func(ast.Expr) bool) {
	for _, f := range files {
		ast.Walk(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && !g.crossing.Valid() && isGrowth(n) && matches(e) {
				g.crossing = g.sources.Span(e.Pos())
			}
			return !g.crossing.Valid()
		}, nil)
	}
}

// growingOperands returns the operands of an expression that can grow.
func growingOperands(e ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return []ast.Expr{e.X, e.Y}
	case *ast.Interpolation:
		return e.Elts
	case *ast.CallExpr:
		return e.Args
	}
	return nil
}
