package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// mostExponent is the largest exponent of a number in a blueprint. CUE computes with
// package apd of Cockroach Labs, whose MaxExponent is 100000: CUE reads a literal beyond
// it without its exponent, 1e1000000 as 1. apd's documentation says that exponents near
// its limit take seconds per operation.
const mostExponent = 1000

// refusedNumbers reports numbers whose exponent is too large, and marks them to be cut
// out.
func (l *Loader) refusedNumbers(file *ast.File) {
	ast.Walk(file, func(n ast.Node) bool {
		number, ok := n.(*ast.BasicLit)
		if !ok || number.Kind != token.FLOAT || !hugeExponent(number.Value) {
			return true
		}
		span := l.Sources.Span(number.Pos())
		span.End = min(span.Start+len(number.Value), len(span.Source.Content))
		l.refuseExponent(span)
		l.markCut(number.Pos(), cutName)
		return true
	}, nil)
}

func (l *Loader) refuseExponent(at diag.Span) {
	l.findings.Add(diag.Finding{
		Code: "E0120", Severity: diag.Error, Span: at, Message: "the exponent of a number is out of range",
		Help: fmt.Sprintf("write an exponent from -%d to %d: CUE can misread any other", mostExponent, mostExponent),
	})
}

// refusedTags reports the tags of the input that are numbers with an exponent that is
// too large.
func (l *Loader) refusedTags() {
	for _, tag := range l.in.Tags {
		name, value, _ := strings.Cut(tag, "=")
		if !exponentNumber.MatchString(value) || !hugeExponent(value) {
			continue
		}
		if at, kind := l.tagSpan(name); kind == "number" {
			l.refuseExponent(at)
		}
	}
}

var exponentNumber = regexp.MustCompile(`^[-+]?[0-9._]+[eE][-+]?[0-9_]+$`)

// hugeExponent reports whether the exponent of a number is too large.
func hugeExponent(number string) bool {
	_, exponent, found := strings.Cut(strings.ToLower(number), "e")
	if !found {
		return false
	}
	n, err := strconv.Atoi(strings.ReplaceAll(exponent, "_", ""))
	return err != nil || n > mostExponent || n < -mostExponent
}
