package compiler

import (
	"bytes"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"
)

const (
	// maxNesting is how deep a file may be nested: what CUE's parser and the
	// YAML and JSON decoders allow of brackets. Parsers, evaluator and printers
	// recurse, and a stack that overflows ends the process.
	maxNesting = 10_000

	// maxAttribute is the longest attribute, such as @tag(name), in bytes: in
	// them the scanner itself recurses.
	maxAttribute = 16 << 10
)

// nesting returns an error, with its position, where CUE source is nested too
// deep to be parsed. CUE's parser counts brackets and what stands before an
// operand; this also counts what nests without either: a: b: c: 1, a.b.c,
// a[0][0] and 1 + 1 + 1. An error in the brackets is returned as well, since
// the count is worth nothing behind it.
func nesting(name string, content []byte) error {
	file := token.NewFile(name, -1, len(content))
	levels := []level{{}}
	depth := 0 // of levels and links
	interpolation := false
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for {
		if at := s.Offset(); longAttribute(content[min(at, len(content)):]) {
			return cueerrors.Newf(file.Pos(at, token.NoRelPos), "an attribute is longer than %d KiB", maxAttribute>>10)
		}
		pos, tok, _ := s.Scan()
		top := &levels[len(levels)-1]
		switch tok {
		case token.EOF:
			return nil
		case token.INTERPOLATION:
			interpolation = true
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if !interpolation {
				top.links++
				depth++
			}
			levels = append(levels, level{closer: closers[tok], interpolation: interpolation})
			depth++
			interpolation = false
		case token.RPAREN, token.RBRACK, token.RBRACE:
			switch {
			case len(levels) == 1: // the parser says it better
				return nil
			case top.closer != tok:
				return cueerrors.Newf(pos, "expected '%s', found '%s'", top.closer, tok)
			case top.interpolation:
				interpolation = strings.HasSuffix(s.ResumeInterpolation(), "(")
			}
			depth -= top.links + 1
			levels = levels[:len(levels)-1]
		case token.COMMA: // ends a chain
			depth -= top.links
			top.links = 0
		default:
			if tok.IsOperator() || tok.IsKeyword() {
				top.links++
				depth++
			}
		}
		if depth > maxNesting {
			return cueerrors.Newf(pos, "nested more than %d deep", maxNesting)
		}
	}
}

// level is a bracket that is open, and the file around all of them.
type level struct {
	closer        token.Token
	interpolation bool // the bracket begins an expression in a string
	links         int  // of the chain, such as a.b.c, that stands in it now
}

var closers = map[token.Token]token.Token{
	token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE,
}

// longAttribute tells whether source begins with an attribute that is too long.
func longAttribute(source []byte) bool {
	source = bytes.TrimLeft(source, " \t\r\n")
	if len(source) <= maxAttribute || source[0] != '@' {
		return false
	}
	var s scanner.Scanner
	s.Init(token.NewFile("", -1, maxAttribute), source[:maxAttribute], nil, 0)
	s.Scan()
	return s.Offset() == maxAttribute
}
