package compiler

import (
	"bytes"
	"fmt"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Format formats CUE source as "cue fmt" does; name is the user's name of it.
// Source that cannot be parsed is a finding, the first syntax error: the others
// are mostly its echoes. The error is for trouble of our own.
func Format(name string, content []byte) (formatted []byte, findings diag.List, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = bugError(name, bug)
		}
	}()
	source := &diag.Source{Name: name, Content: content}
	switch {
	case len(content) > MaxFile:
		findings.Add(diag.Finding{
			Code: "E0002", Severity: diag.Error, Message: fmt.Sprintf("larger than %d MiB", MaxFile>>20),
			Span: diag.Span{Source: &diag.Source{Name: name}}, Help: "is this the right file?",
		})
		return nil, findings, nil
	case len(bytes.TrimSpace(content)) == 0:
		return nil, findings, nil
	}
	file, err := parseCUE(name, content, parser.ParseComments)
	if err == nil {
		if formatted, err = format.Node(file); err != nil {
			return nil, findings, err
		}
		if _, err := parseCUE(name, formatted, parser.ParseComments); err != nil {
			findings.Add(diag.Finding{
				Code: "E0003", Severity: diag.Error, Span: diag.Span{Source: &diag.Source{Name: name}},
				Message: "what CUE's formatter makes of the file does not parse",
				Help:    "look for an odd number, such as 00.G; the file was left as it is",
			})
			return nil, findings, nil
		}
		return formatted, findings, nil
	}
	first := cueerrors.Errors(err)[0]
	message, args := first.Msg()
	span := diag.Span{Source: source}
	if pos := first.Position(); pos.IsValid() {
		span.Start = min(pos.Offset(), len(content))
		span.End = tokenEnd(content, span.Start)
	}
	f := syntaxFinding(strings.TrimSpace(fmt.Sprintf(message, args...)), span)
	f.Help += "; the file was left as it is"
	findings.Add(f)
	return nil, findings, nil
}
