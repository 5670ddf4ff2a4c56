package diag

import (
	"bytes"
	"io"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
)

// WriteGitHub renders findings as workflow commands, which GitHub Actions shows as
// annotations: the ten gravest, errors before warnings before notes, each severity
// in the order of List.grouped. The last line is plain text that counts the shown and
// the omitted findings. For an empty list it writes nothing.
//
// GitHub finds the file of an annotation by its name relative to the root of the
// repository: see List.Named. The workflow's log shows neither file nor line of a
// command, so its message begins with them. As with WriteText, the output is valid
// UTF-8 without control characters.
func WriteGitHub(w io.Writer, l *List) error {
	all := l.grouped()
	if len(all) == 0 {
		return nil
	}
	shown := gravestFindings(all, console.MostAnnotations)
	var buf bytes.Buffer
	for _, f := range shown {
		buf.WriteString(f.workflowCommand().String())
	}
	buf.WriteString(countLine(shown, len(all)-len(shown)))
	_, err := w.Write(buf.Bytes())
	return err
}

// workflowCommand returns the workflow command of one finding.
func (f Finding) workflowCommand() console.Command {
	c := console.Command{Name: f.Severity.String(), File: f.Span.sourceName(), Title: f.Code,
		Message: f.annotationLines()}
	if f.Severity == Note {
		c.Name = "notice"
	}
	if f.Span.hasText() {
		start := f.Span.Source.Position(f.Span.Start)
		last := f.Span.Source.Position(max(f.Span.Start, f.Span.End-1))
		c.Line, c.EndLine = start.Line, last.Line
		if start.Line == last.Line { // GitHub accepts a column only within one line
			c.Column = start.Column
		}
	}
	return c
}

// annotationLines returns the message of the finding's annotation: all its texts,
// one a line.
func (f Finding) annotationLines() string {
	lines := []string{f.Span.startPrefix() + console.Inline(f.Message)}
	add := func(before, text string) {
		for line := range strings.Lines(text) {
			lines = append(lines, before+console.Inline(strings.TrimSuffix(line, "\n")))
			before = ""
		}
	}
	add("", f.Label)
	add("help: ", f.Help)
	for _, e := range f.unsaidEdits() {
		add("edit: ", describeEdit(e, f.Span))
	}
	add("accepted: ", f.Accepted)
	add("also: ", f.alsoAt())
	for _, r := range f.Related {
		lines = append(lines, r.Span.startPrefix()+"note: "+console.Inline(r.Message))
	}
	return strings.Join(lines, "\n")
}

// startPrefix returns the start of a span as a prefix for a message.
func (s Span) startPrefix() string {
	if !s.Valid() {
		return ""
	}
	return s.String() + ": "
}
