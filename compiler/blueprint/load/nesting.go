package load

import (
	"strings"

	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"
)

const (
	// MaxNesting is the deepest allowed nesting of a file: the depth of brackets
	// that CUE's parser and the YAML and JSON decoders allow. Parsers, evaluator and
	// printers are recursive, and a stack overflow ends the process.
	MaxNesting = 10_000

	// maxAttribute is the length in bytes of the longest attribute, such as
	// @tag(name), because the scanner itself is recursive within attributes.
	maxAttribute = 16 << 10
)

// checkNesting returns an error with its position if CUE source is nested too deeply
// for the parser. CUE's parser counts brackets and the operators before an operand.
// checkNesting also counts nesting without either: a: b: c: 1, a.b.c, a[0][0] and 1
// + 1 + 1. Mismatched brackets are an error, too, because the count after them would
// be wrong.
func checkNesting(name string, content []byte) error {
	file := token.NewFile(name, -1, len(content))
	levels := []level{{}}
	depth := 0 // number of open levels and links
	interpolation := false
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for {
		if at := s.Offset(); LongAttribute(content[min(at, len(content)):]) {
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
			case len(levels) == 1: // the parser gives a better message
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
		if depth > MaxNesting {
			return cueerrors.Newf(pos, "nested more than %d deep", MaxNesting)
		}
	}
}

// level is an open bracket, or the file around all brackets.
type level struct {
	closer        token.Token
	interpolation bool // the bracket begins an expression in a string
	links         int  // number of links of the current chain, such as a.b.c
}

var closers = map[token.Token]token.Token{
	token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE,
}

// LongAttribute reports whether source begins with an attribute that is too long.
func LongAttribute(source []byte) bool {
	// This runs for each token, for which bytes.TrimLeft is too slow.
	for len(source) > 0 && strings.IndexByte(" \t\r\n", source[0]) >= 0 {
		source = source[1:]
	}
	if len(source) <= maxAttribute || source[0] != '@' {
		return false
	}
	var s scanner.Scanner
	s.Init(token.NewFile("", -1, maxAttribute), source[:maxAttribute], nil, 0)
	s.Scan()
	return s.Offset() == maxAttribute
}
