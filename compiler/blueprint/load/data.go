package load

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/encoding/json"
	"cuelang.org/go/encoding/yaml"

	"github.com/batchwright/batchwright/compiler/diag"
)

// decodeFile parses a file that CUE's loader does not read by itself.
func (l *Loader) decodeFile(format, path, name string, content []byte) {
	display := path
	if path != "-" {
		display = l.Sources.displayName(name)
	}
	l.Sources.addSource(name, display, content)
	if !l.isText(path, content) {
		return
	}
	file, err := ParseData(format, name, content)
	if err != nil {
		l.Partial = true
		l.reportSyntax(name, err)
		return
	}
	file.Decls = l.removeDuplicates(file.Decls, nil)
	if l.refusedNumbers(file); len(l.Sources.Cuts[name]) > 0 {
		cutOut(file, l.Sources.Cuts[name])
	}
	if !isMapping(file) {
		if at := secondDocument(content); at >= 0 {
			l.findings.Add(diag.Finding{
				Code: "E0003", Severity: diag.Error, Message: "a second document begins here",
				Span: diag.Span{Source: l.Sources.Get(name), Start: at, End: at + 3},
				Help: "keep one document in the file",
			})
			l.failed = true
			return
		}
		l.failFile("E0003", path, "is not a blueprint",
			"write a mapping with fields such as name and teams")
		return
	}
	l.data = append(l.data, file)
}

// ParseData parses YAML or JSON into the fields of a file.
func ParseData(format, name string, content []byte) (*ast.File, error) {
	if format != "json" {
		return parseYAML(name, content)
	}
	if !stdjson.Valid(content) {
		_, err := json.Extract(name, content)
		return nil, err
	}
	// JSON is CUE, and only CUE's parser has the position of every key.
	expr, err := parser.ParseExpr(name, content)
	if err != nil {
		return nil, err
	}
	if s, ok := expr.(*ast.StructLit); ok {
		return &ast.File{Filename: name, Decls: s.Elts}, nil
	}
	return &ast.File{Filename: name, Decls: []ast.Decl{&ast.EmbedDecl{Expr: expr}}}, nil
}

// oddLineEnds are characters that end a line in YAML, but not in CUE's YAML decoder.
const oddLineEnds = "\u0085\u2028\u2029"

// parseYAML parses YAML. CUE's decoder computes positions by line and column, and
// panics if the file has fewer lines than the YAML parser counts.
func parseYAML(name string, content []byte) (file *ast.File, err error) {
	if bytes.ContainsAny(content, oddLineEnds) {
		defer func() {
			if recover() != nil {
				file, err = nil,
					errors.New("U+0085, U+2028 and U+2029 end a line in YAML: write them as escapes, such as \\u2028")
			}
		}()
	}
	content = bytes.Clone(content)
	for i, c := range content { // a carriage return by itself is such a line end, too
		if c == '\r' && (i+1 == len(content) || content[i+1] != '\n') {
			content[i] = '\n'
		}
	}
	return yaml.Extract(name, content)
}

// secondDocument returns the offset of the second document of a YAML file, or -1.
func secondDocument(content []byte) int {
	first := bytes.HasPrefix(content, []byte("---"))
	at := 0
	for line := range bytes.Lines(content) {
		if bytes.HasPrefix(line, []byte("---")) && at > 0 && (first || len(bytes.TrimSpace(content[:at])) > 0) {
			return at
		}
		at += len(line)
	}
	return -1
}

// isMapping reports whether the top level of a data file consists of fields.
func isMapping(f *ast.File) bool {
	for _, d := range f.Decls {
		switch d.(type) {
		case *ast.Field, *ast.Package, *ast.CommentGroup:
		default:
			return false
		}
	}
	return true
}

// removeDuplicates reports keys that occur twice in a YAML or JSON mapping: CUE would
// merge the values, and other readers take the last one. It returns the fields
// without the duplicates.
func (l *Loader) removeDuplicates(decls []ast.Decl, above *trail) []ast.Decl {
	first := map[string]*ast.Field{}
	return slices.DeleteFunc(decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.Field)
		if !ok {
			return false
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			return false
		}
		at := &trail{above, name}
		if before := first[name]; before != nil {
			l.findings.Add(diag.Finding{
				Code: "E0005", Severity: diag.Error, Path: diag.Path(at.path()),
				Message: fmt.Sprintf("duplicate key %q", name),
				Span:    l.Sources.Span(f.Label.Pos()),
				Related: []diag.Related{{Span: l.Sources.Span(before.Label.Pos()), Message: "first here"}},
				Help:    "keep one of the two",
			})
			return true
		}
		first[name] = f
		f.Value = l.checkNested(f.Value, at)
		return false
	})
}

// checkNested does the same as removeDuplicates for the value of a field. It also
// reports octal numbers.
func (l *Loader) checkNested(e ast.Expr, at *trail) ast.Expr {
	switch e := e.(type) {
	case *ast.StructLit:
		e.Elts = l.removeDuplicates(e.Elts, at)
	case *ast.ListLit:
		for i, item := range e.Elts {
			e.Elts[i] = l.checkNested(item, at)
		}
	case *ast.BasicLit:
		if octal := l.octalText(e); octal != "" {
			return l.refuseOctal(e, octal, at)
		}
	}
	return e
}

// yamlOctal matches a number that YAML 1.1 reads as octal, and YAML 1.2 as decimal.
var yamlOctal = regexp.MustCompile(`^0[0-7_]+`)

// octalText returns the text of a number of a YAML file with a leading zero, or "".
// CUE's decoder writes such a number as 0o10.
func (l *Loader) octalText(lit *ast.BasicLit) string {
	at := l.Sources.Span(lit.Pos())
	if !strings.HasPrefix(lit.Value, "0o") || !at.Valid() || at.Start >= len(at.Source.Content) {
		return ""
	}
	return string(yamlOctal.Find(at.Source.Content[at.Start:]))
}

// refuseOctal reports a number with a leading zero, and returns a value in its place
// whose consequences are not reported.
//
// Sources: YAML 1.1, "Integer Language-Independent Type"; YAML 1.2.2, section 10.3.2,
// in which an octal number begins with 0o.
func (l *Loader) refuseOctal(lit *ast.BasicLit, text string, at *trail) ast.Expr {
	span := l.Sources.Span(lit.Pos())
	span.End = span.Start + len(text)
	digits := strings.ReplaceAll(text, "_", "")
	decimal := strings.TrimLeft(digits, "0")
	if decimal == "" {
		decimal = "0"
	}
	octal, err := strconv.ParseInt(digits, 8, 64)
	if err != nil || strconv.FormatInt(octal, 10) == decimal {
		return lit // both versions agree, or the number is too large for any field
	}
	l.findings.Add(diag.Finding{
		Code: "E0008", Severity: diag.Error, Path: diag.Path(at.path()), Span: span,
		Message: fmt.Sprintf("%s is %d in YAML 1.1, but %s in YAML 1.2", text, octal, decimal),
		Help:    fmt.Sprintf("write %s or %d; if you mean a text, write %q with the quotes", decimal, octal, text),
	})
	l.markCut(lit.Pos(), cutName)
	return &ast.BottomLit{Bottom: lit.Pos()}
}

// trail is the last element of a path, linked to the elements above it. nil is the
// path of the whole file. The full path is computed only when it is needed, because
// a deeply nested file has many long paths.
type trail struct {
	above *trail
	name  string
}

func (e *trail) path() []string {
	var path []string
	for ; e != nil; e = e.above {
		path = append(path, e.name)
	}
	slices.Reverse(path)
	return path
}
