package load

import (
	"fmt"
	"slices"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
)

// parseFile reads a CUE file for CUE's loader: a file of the input, or of an imported
// package. A file that is not valid CUE is reported and becomes empty. Parts that do
// not compile are cut out. Neither then hides other mistakes.
func (l *Loader) parseFile(name string, source any, cfg parser.Config) (*ast.File, error) {
	content, ok := source.([]byte)
	if !ok {
		return nil, fmt.Errorf("%s: source of type %T", name, source)
	}
	file, err := ParseCUE(name, content, cfg)
	if isOurs(name) {
		return file, err
	}
	l.parsing.Lock()
	defer l.parsing.Unlock()
	first := cfg.Mode&parser.ImportsOnly == 0 && !l.parsed[name]
	if first {
		l.parsed[name] = true
	}
	if err != nil {
		l.Partial = true
		if first {
			l.reportSyntax(name, err)
		}
		if file == nil {
			return &ast.File{Filename: name}, nil
		}
		isHead := func(d ast.Decl) bool {
			switch d.(type) {
			case *ast.Package, *ast.Attribute:
				return true
			}
			return false
		}
		file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool { return !isHead(d) })
		file.Unresolved = nil
		return file, nil
	}
	if first {
		l.lostAttributes(file)
		l.refusedImports(file)
		l.refusedNumbers(file)
	}
	if names := schemaNames(file); len(names) > 0 {
		l.refers = true
		if l.bare {
			withoutSchema(file, names)
		} else if first {
			l.unknownDefinitions(file, names)
		}
	}
	if cuts := l.Sources.Cuts[name]; len(cuts) > 0 {
		cutOut(file, cuts)
	}
	return file, nil
}

// lostAttributes reports attributes that CUE ignores because of their position.
func (l *Loader) lostAttributes(file *ast.File) {
	extern, inBody := false, false
	lost := func(a *ast.Attribute, why, help string) {
		l.findings.Add(diag.Finding{
			Code: "E0004", Severity: diag.Error, Span: l.Sources.Span(a.Pos()),
			Message: "@" + a.Name() + " has no effect " + why, Help: help,
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.Package:
			inBody = true
		case *ast.Attribute:
			switch d.Name() {
			case "extern":
				extern = true
			case "if", "ignore":
				if inBody {
					lost(d, "below the package clause", "move it above the package clause")
				}
			}
		}
	}
	if extern {
		return
	}
	ast.Walk(file, func(n ast.Node) bool {
		if a, ok := n.(*ast.Attribute); ok && a.Name() == "embed" {
			lost(a, "in a file without @extern(embed)", "write @extern(embed) above the package clause")
			l.markCut(a.Pos(), cutAttr)
		}
		return true
	}, nil)
}

// refusedImports reports imports of math/bits. Its function Lsh shifts by any
// number: it can ask for more memory at once than there is, which ends the process
// before any limit can.
func (l *Loader) refusedImports(file *ast.File) {
	for s := range file.ImportSpecs() {
		if path, err := strconv.Unquote(s.Path.Value); err == nil && path == "math/bits" {
			l.findings.Add(diag.Finding{
				Code: "E0107", Severity: diag.Error, Span: l.Sources.Span(s.Pos()),
				Message: "a blueprint cannot use math/bits",
				Help:    "write a shift as a multiplication by a power of two",
			})
			l.markCut(s.Pos(), cutImport)
		}
	}
}
