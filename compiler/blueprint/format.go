package blueprint

import (
	"bytes"
	"fmt"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// Format formats CUE source like "cue fmt". name is the user's name of the source.
// If the source cannot be parsed, the first syntax error is a finding; the other
// errors are mostly consequences of the first. The error is a failure of the
// compiler.
func Format(name string, content []byte) (formatted []byte, findings diag.List, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = diag.Bug(name, bug)
		}
	}()
	source := &diag.Source{Name: name, Content: content}
	switch {
	case len(content) > load.MaxFile:
		findings.Add(diag.Finding{
			Code: "E0002", Severity: diag.Error, Message: fmt.Sprintf("is larger than %d MiB", load.MaxFile>>20),
			Span: diag.Span{Source: &diag.Source{Name: name}}, Help: "check that this is the right file",
		})
		return nil, findings, nil
	case len(bytes.TrimSpace(content)) == 0:
		return nil, findings, nil
	}
	file, err := load.ParseCUE(name, content, parser.ParseComments)
	if err == nil {
		if formatted, err = format.Node(file); err != nil {
			return nil, findings, err
		}
		if _, err := load.ParseCUE(name, formatted, parser.ParseComments); err != nil {
			findings.Add(diag.Finding{
				Code: "E0003", Severity: diag.Error, Span: diag.Span{Source: &diag.Source{Name: name}},
				Message: "the output of CUE's formatter for this file does not parse",
				Help:    "look for an unusual number, such as 00.G; the file is unchanged",
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
		span.End = load.TokenEnd(content, span.Start)
	}
	f := load.SyntaxFinding(strings.TrimSpace(fmt.Sprintf(message, args...)), span)
	f.Help += "; the file is unchanged"
	findings.Add(f)
	return nil, findings, nil
}
