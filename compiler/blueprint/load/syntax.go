package load

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// reportSyntax reports the syntax errors of a file: only the first one of each line,
// because the others are mostly its consequences. name is the file of errors that
// name no file.
func (l *Loader) reportSyntax(name string, err error) {
	last := 0
	for _, e := range cueerrors.Errors(err) {
		pos := e.Position()
		if last > 0 && pos.Line() <= last {
			continue
		}
		text, span := l.errorText(e), l.Sources.Span(pos)
		if last > 0 && strings.Contains(text, "found 'EOF'") {
			continue
		}
		if last = pos.Line(); strings.Contains(text, "found newline") {
			last++ // the parser has recovered on the line after the next
		}
		if m := yamlPosition.FindStringSubmatch(text); m != nil && !span.Valid() {
			line, _ := strconv.Atoi(m[2])
			if strings.HasPrefix(m[3], "did not find expected") {
				line++ // for these errors, the YAML parser counts lines from 0
			}
			text, span = m[3], l.Sources.lineSpan(filepath.Join(l.in.Dir, m[1]), line)
		} else if m := yamlAnchor.FindStringSubmatch(text); m != nil && !span.Valid() {
			src := l.Sources.Get(filepath.Join(l.in.Dir, m[1]))
			if at := bytes.Index(src.Content, []byte("*"+m[3])); at >= 0 {
				text, span = m[2], diag.Span{Source: src, Start: at, End: at + 1 + len(m[3])}
			}
		}
		if src := l.Sources.Get(name); !span.Valid() {
			text, span = strings.TrimPrefix(text, src.Name+": "), diag.Span{Source: src}
		}
		f := SyntaxFinding(text, span)
		if span.Source.Name == "-" {
			f.Help += "; " + yamlHint
		}
		l.findings.Add(f)
	}
}

// yamlHint is the advice about standard input that does not parse as CUE.
const yamlHint = `if this is YAML, name it "yaml:-"`

// yamlPosition matches an error of the YAML parser with a position: file, line,
// message.
var yamlPosition = regexp.MustCompile(`^(.+):([0-9]+): (.+)$`)

// yamlAnchor matches the YAML parser's error about an alias without an anchor, which
// has no position.
var yamlAnchor = regexp.MustCompile(`^([^:]+): (unknown anchor '([^']+)' referenced)$`)

// mergeConflict matches the markers that version control leaves in a file.
var mergeConflict = regexp.MustCompile(`(?m)^<<<<<<< .*$`)

// SyntaxFinding returns the finding for a syntax error. text is the parser's
// message.
func SyntaxFinding(text string, span diag.Span) diag.Finding {
	f := diag.Finding{
		Code: "E0003", Severity: diag.Error, Message: "syntax error: " + text, Span: span,
		Help: "correct this error first: the rest of the file depends on it",
	}
	if !span.Valid() {
		return f
	}
	src := span.Source
	if m := mergeConflict.FindIndex(src.Content); m != nil {
		f.Message, f.Span = "syntax error: unresolved merge conflict", diag.Span{Source: src, Start: m[0], End: m[1]}
		f.Help = "resolve the conflict"
	} else if m := equals.FindSubmatchIndex(src.Content[:span.Start]); m != nil &&
		strings.Contains(text, "expected label or ':'") {
		f.Message, f.Span = "syntax error: = in place of a colon", diag.Span{
			Source: src, Start: m[2], End: m[3],
		}
		f.Help = "write a colon after the field's name"
	} else if at := unclosedBracket(src.Content, text, span.Start); at >= 0 {
		f.Message = fmt.Sprintf("syntax error: this %q is not closed", src.Content[at])
		f.Span, f.Help = diag.Span{Source: src, Start: at, End: at + 1}, "close it"
	} else if hint := syntaxHint(text, span); hint != "" {
		f.Help = hint
	}
	return f
}

// equals matches a field that is written with "=", as in other languages, at the end
// of the text that CUE could read.
var equals = regexp.MustCompile(`(?m)^[ \t]*[\w"-]+[ \t]*(=)[ \t]*[^\n]*\s*\z`)

// syntaxHint returns the advice about a common mistake, "" for any other.
func syntaxHint(text string, span diag.Span) string {
	content := span.Source.Content
	before := content[lineStart(content, span.Start):span.Start]
	is := func(part string) bool { return strings.Contains(text, part) }
	at := func(part string) bool { return bytes.HasPrefix(content[span.Start:], []byte(part)) }
	switch {
	case is("illegal character") && strings.ContainsAny(text, "\u201c\u201d\u2018\u2019"):
		return `write straight quotes: "`
	case is("illegal character") && plainHint(content[span.Start:]) != "":
		return plainHint(content[span.Start:])
	case is("string literal not terminated"):
		return `end the string with a quote on the same line, or write a text of several lines between """`
	case is("missing ','") && at(":") && dashed.Match(before):
		return "write quotes around a name with a dash: " + strconv.Quote(string(dashed.Find(before)))
	case bytes.HasSuffix(before, []byte(";")):
		return "remove the semicolon"
	case is("expected label") && (at("=") || at("{")):
		return "write a colon after a field's name"
	case is("missing ',' in list"):
		return "write a comma between the elements"
	case is("missing ',' in struct"), is("expected label or ':', found 'STRING'"):
		return "write a colon between a field's name and its value, and a comma between fields on one line"
	case is("expected label") && bytes.HasPrefix(bytes.TrimSpace(before), []byte("#")):
		return "start a comment with //"
	case is("expected label") && bytes.HasPrefix(before, []byte("package ")):
		return "move the package clause to the top of the file"
	case is("expected label") && bytes.HasPrefix(before, []byte("import ")):
		return "move the imports to the top of the file, below the package clause"
	case is("cannot start any token") && at("\t"):
		return "indent with spaces: YAML does not allow tabs"
	case is("mapping values are not allowed"):
		return `write a nested key on a separate line, or quotes around a value that contains ": "`
	case is("beginning of object key string") && at("}"):
		return "remove the comma before the brace"
	case is("looking for beginning of") && at("/"):
		return "remove the comment, or write CUE: JSON has no comments"
	case is("looking for beginning of") && at("'"):
		return `write double quotes: "`
	case is("unexpected end of JSON"):
		return "close the open brackets and quotes"
	}
	return ""
}

// plainHint returns the advice for a text that begins with a character that is invisible
// or looks like another one, and "" for any other text.
func plainHint(text []byte) string {
	r, _ := utf8.DecodeRune(text)
	plain, why := words.PlainASCII(string(r))
	switch {
	case why == "":
		return ""
	case plain == "":
		return why + ": remove it"
	case plain == " ":
		return why + ": type a space in its place"
	}
	return fmt.Sprintf("%s: write %q", why, plain)
}

// dashed matches a name that must be quoted because of its dashes.
var dashed = regexp.MustCompile(`[A-Za-z0-9_]+(-[A-Za-z0-9_]+)+$`)

// unclosedBracket returns the offset of the bracket in a CUE file that is never
// closed, judged by the indentation of the lines. It returns -1 if the mistake is a
// different one. text and end are the message and the position of CUE's error.
func unclosedBracket(content []byte, text string, end int) int {
	atEnd := strings.Contains(text, "found 'EOF'") && strings.Contains(text, "expected '")
	atField := strings.Contains(text, "missing ',' in list") && end < len(content) && content[end] == ':'
	if !atEnd && !atField {
		return -1
	}
	type bracket struct{ offset, indent int }
	var open []bracket
	var s scanner.Scanner
	s.Init(token.NewFile("", -1, len(content)), content, func(token.Pos, string, []any) {}, 0)
	for {
		if LongAttribute(content[min(s.Offset(), len(content)):]) {
			return -1
		}
		pos, tok, _ := s.Scan()
		at := pos.Offset()
		switch tok {
		case token.EOF:
			if len(open) == 0 {
				return -1
			}
			return open[len(open)-1].offset
		case token.INTERPOLATION:
			open = append(open, bracket{-1, 0})
		case token.LBRACE, token.LBRACK, token.LPAREN:
			open = append(open, bracket{at, indentWidth(content, at)})
		case token.RBRACE, token.RBRACK, token.RPAREN:
			if len(open) == 0 {
				return -1
			}
			last := open[len(open)-1]
			if last.offset < 0 {
				if !strings.HasSuffix(s.ResumeInterpolation(), "(") {
					open = open[:len(open)-1]
				}
				continue
			}
			if first := indentWidth(content, at); lineStart(content, at)+first == at && first < last.indent {
				return last.offset
			}
			open = open[:len(open)-1]
		}
	}
}

// lineStart returns the offset of the start of the line that contains an offset.
func lineStart(content []byte, at int) int { return bytes.LastIndexByte(content[:at], '\n') + 1 }

// indentWidth returns the number of spaces and tabs at the start of the line that
// contains an offset.
func indentWidth(content []byte, at int) int {
	line := content[lineStart(content, at):]
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}
