package blueprint

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/schema"
)

// observesDefaults reports whether an expression in the files of a package, or of a
// package that it imports, could have another value after the schema has added its
// defaults. An example is a team's T={if T.bucket == _|_ {...}}: without the schema,
// the team has no bucket.
func observesDefaults(inst *build.Instance, seen map[*build.Instance]bool) bool {
	if seen[inst] {
		return false
	}
	seen[inst] = true
	return slices.ContainsFunc(inst.Files, fileObserves) ||
		slices.ContainsFunc(inst.Imports, func(imported *build.Instance) bool {
			return imported.ImportPath != schema.ImportPath && observesDefaults(imported, seen)
		})
}

// fileObserves reports whether a file has such an expression.
func fileObserves(file *ast.File) bool {
	found := false
	ast.Walk(file, func(n ast.Node) bool {
		found = found || nodeObserves(n)
		return !found
	}, nil)
	return found
}

// nodeObserves reports whether a node asks which fields a struct has: a comparison with
// _|_, a loop over a struct around it, a disjunction with a reference that can fail, or
// a function or validator that takes structs.
func nodeObserves(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BottomLit, *ast.TryClause:
		return true
	case *ast.PostfixExpr:
		return n.Op != token.ELLIPSIS
	case *ast.ForClause:
		return refersAround(n.Source)
	case *ast.BinaryExpr:
		return n.Op == token.OR && refersAround(n)
	case *ast.CallExpr:
		function, isName := n.Fun.(*ast.Ident)
		return isName && !slices.Contains(harmlessFunctions, function.Name)
	case *ast.ImportSpec:
		path, err := strconv.Unquote(n.Path.Value)
		isBuiltin := !strings.Contains(strings.Split(path, "/")[0], ".")
		return err == nil && isBuiltin && path != "list" && !slices.Contains(harmlessPackages, path)
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return false
		}
		name, _, err := ast.LabelName(n.Sel)
		spec, ok := x.Node.(*ast.ImportSpec)
		return ok && spec.Path.Value == `"list"` && (err != nil || !slices.Contains(harmlessOfList, name))
	}
	return false
}

var (
	// harmlessFunctions and harmlessPackages take and check no structs.
	harmlessFunctions = []string{"close", "div", "mod", "quo", "rem"}
	harmlessPackages  = []string{"math", "net", "path", "regexp", "strconv", "strings", "time"}
	// harmlessOfList are functions of the package list that do not look into elements.
	harmlessOfList = []string{"Concat", "Range", "Repeat", "Slice", "Take", "Drop"}
)

// refersAround reports whether an expression refers to a struct around it: by a field,
// an alias, or a let. The fields of a file are no such struct, because the schema adds
// nothing to them.
func refersAround(x ast.Expr) bool {
	found := false
	ast.Walk(x, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			_, isLoop := name.Scope.(*ast.ForClause)
			found = found || isLocal(name) && !isLoop || name.Name == "self"
		}
		return !found
	}, nil)
	return found
}

// isLocal reports whether a reference is to a name that is not at the top of a file,
// such as the variable of a loop.
func isLocal(name *ast.Ident) bool {
	_, isFile := name.Scope.(*ast.File)
	return name.Scope != nil && !isFile
}
