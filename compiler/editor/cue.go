package editor

import (
	"bytes"
	"slices"
	"strings"

	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
)

// cueScan reads the tokens of a CUE or JSON file.
type cueScan struct {
	machine
	at      int // offset of the cursor, or -1
	cursor  cursor
	found   bool // the cursor is found
	content []byte
	broken  bool // the file does not parse
	dotted  bool // the last token is a dot
	// The start of the last token, the start of its line, and the indentation of the
	// line. A file can be one line of megabytes.
	last, lineAt, indent int
}

// scanCUE returns the marks of a CUE or JSON file, and the cursor at an offset.
func scanCUE(content []byte, at int) ([]mark, cursor) {
	_, err := load.ParseCUE("", content, parser.ParseComments)
	c := &cueScan{at: at, content: content, broken: err != nil, lineAt: -1}
	c.frames = []frame{{indent: -1}}
	c.scanTokens()
	if at >= 0 && !c.found {
		c.placeHere()
	}
	c.endAll()
	return c.marks, c.cursor
}

// scanTokens reads all tokens. A file with an attribute that is too long for the scanner,
// which the compiler refuses, is read up to there, and so is one that nests too deep.
func (c *cueScan) scanTokens() {
	var s scanner.Scanner
	s.Init(token.NewFile("", -1, len(c.content)), c.content, func(token.Pos, string, []any) {}, scanner.ScanComments)
	var inString []int // numbers of open brackets within each expression in a string
	interpolates := false
	for {
		if c.isTooDeep() || load.LongAttribute(c.content[min(s.Offset(), len(c.content)):]) {
			return
		}
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return
		}
		start := min(pos.Offset(), len(c.content))
		end := min(start+len(text), len(c.content))
		if tok == token.COMMA && text != "," { // a line feed, at which a field ends
			c.lineFeed(start)
			continue
		}
		if len(text) == 0 {
			end = min(start+len(tok.String()), len(c.content))
		}
		c.startToken(start, tok)
		c.findCursor(start, end, tok)
		if n := len(inString); tok == token.RPAREN && n > 0 && inString[n-1] == len(c.frames) {
			rest := s.ResumeInterpolation()
			inString = inString[:n-1]
			c.closeBracket(otherFrame, min(end+len(rest)-1, len(c.content)))
			interpolates = strings.HasSuffix(rest, "(")
			continue
		}
		c.passToken(start, end, tok)
		if tok == token.LPAREN && interpolates {
			inString = append(inString, len(c.frames))
		}
		interpolates = tok == token.INTERPOLATION
	}
}

// passToken passes a token to the machine.
func (c *cueScan) passToken(start, end int, tok token.Token) {
	indent := c.indent
	switch tok {
	case token.COMMENT:
		return
	case token.COLON:
		c.endName(end, indent)
	case token.COMMA:
		c.endElement()
	case token.LBRACE:
		c.openBracket(structFrame, end, indent)
	case token.LBRACK:
		c.openBracket(listFrame, end, indent)
	case token.LPAREN:
		c.openBracket(otherFrame, end, indent)
	case token.RBRACE:
		c.closeBracket(structFrame, end)
	case token.RBRACK, token.RPAREN:
		c.closeBracket(listFrame, end)
	case token.OPTION, token.NOT: // they can stand between a name and its colon
	default:
		if isWord(tok) {
			c.addWord(wordOf(c.content[start:end], start, tok, c.dotted))
		} else {
			c.addOther(end)
		}
	}
	c.dotted = tok == token.PERIOD
}

// wordOf returns the mark of a token.
func wordOf(text []byte, start int, tok token.Token, dotted bool) mark {
	w := mark{start: start, end: start + len(text), text: string(text), reference: tok == token.IDENT && !dotted}
	if tok == token.STRING {
		w.quoted = true
		if plain, err := literal.Unquote(w.text); err == nil {
			w.text = plain
		} else {
			w.text = strings.Trim(w.text, "\"\r\n")
		}
	}
	return w
}

// startToken tells the machine if a token is the first one of its line.
func (c *cueScan) startToken(start int, tok token.Token) {
	at := c.lineAt
	if i := bytes.LastIndexByte(c.content[c.last:start], '\n'); i >= 0 || at < 0 {
		at = c.last + i + 1
	}
	c.last = start
	if at == c.lineAt || tok == token.COMMENT {
		return
	}
	c.lineAt, c.indent = at, indentOf(c.content[at:])
	if c.at >= 0 && !c.found && c.at < at {
		c.placeHere()
	}
	if at+c.indent == start {
		c.startLine(c.indent, c.broken)
	}
}

// lineFeed ends a field at the end of its line.
func (c *cueScan) lineFeed(start int) {
	if c.at >= 0 && !c.found && c.at <= start {
		c.placeHere()
	}
	if f := c.top(); f.kind == structFrame {
		c.endField()
	}
	c.dotted = false
}

// findCursor finds the cursor if it is before the end of a token.
func (c *cueScan) findCursor(start, end int, tok token.Token) {
	if c.at < 0 || c.found {
		return
	}
	switch {
	case tok == token.COMMENT:
		if start < c.at && c.at <= end {
			c.placeHere()
			c.cursor.silent = true
		}
	case tok == token.SUB && c.at == end, isWord(tok) && start <= c.at && c.at <= end:
		if tok != token.STRING {
			start, end = c.dashedRange(start, end)
		}
		c.placeToken(start, end, tok == token.STRING)
	case c.at <= start:
		c.placeHere()
	case c.at < end:
		c.placeHere()
		c.cursor.silent = tok == token.INTERPOLATION || tok == token.ATTRIBUTE
	}
}

// dashedRange returns the range of a name around a token. A name with dashes needs quotes
// in CUE, but people write the quotes last.
func (c *cueScan) dashedRange(start, end int) (int, int) {
	isPart := func(b byte) bool {
		return b == '-' || b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	for start > 0 && isPart(c.content[start-1]) {
		start--
	}
	for end < len(c.content) && isPart(c.content[end]) {
		end++
	}
	return start, end
}

// isWord reports whether a token can be completed.
func isWord(tok token.Token) bool {
	return tok == token.IDENT || tok == token.STRING || tok.IsKeyword() || tok == token.INT || tok == token.FLOAT
}

// placeHere keeps a cursor without a token. The field before it can end at the start
// of its line.
func (c *cueScan) placeHere() {
	frames, marks := slices.Clone(c.frames), slices.Clone(c.marks)
	at := min(c.at, len(c.content))
	line := c.content[bytes.LastIndexByte(c.content[:at], '\n')+1 : at]
	if len(bytes.TrimSpace(line)) == 0 {
		c.startLine(len(line), false)
	}
	c.placeToken(c.at, c.at, false)
	c.cursor.silent = c.cursor.silent || c.dotted
	c.frames, c.marks = frames, marks
}

// placeToken keeps the cursor before the machine reads the token at a range.
func (c *cueScan) placeToken(start, end int, quoted bool) {
	f := c.top()
	c.found = true
	c.cursor = cursor{
		start: start, end: end, quoted: quoted, within: f.path, path: c.fieldPath(), value: c.expectsValue(),
		// Behind a complete value, nothing can be offered.
		silent: f.kind == otherFrame || start == end && (f.name != nil || f.value && f.kind == structFrame),
	}
}

// indentOf returns the number of spaces and tabs at the start of a line.
func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }
