package diag

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mostAnnotations is how many are made: as many as GitHub takes of one severity
// from a step, whose others it drops without a word.
// Source: GitHub, actions/toolkit, docs/problem-matchers.md, "Limitations".
const mostAnnotations = 10

// WriteGitHub renders findings as workflow commands, which GitHub Actions shows
// as annotations: the ten gravest, errors before warnings before notes, each
// severity in the order of List.Sorted. A plain line that counts them and the
// rest ends it. Of an empty list it writes nothing.
//
// GitHub finds the file of an annotation by its name from the root of the
// repository: see List.Named. The workflow's log shows neither file nor line of
// a command, so its message begins with them. As with WriteText the output is
// valid UTF-8 without control characters.
//
// Source: GitHub documentation, "Workflow commands for GitHub Actions"; how
// values are escaped: actions/runner, src/Runner.Common/ActionCommand.cs.
func WriteGitHub(w io.Writer, l *List) error {
	all := l.Sorted()
	if len(all) == 0 {
		return nil
	}
	shown := gravest(all, mostAnnotations)
	var buf bytes.Buffer
	for _, f := range shown {
		f.command(&buf)
	}
	buf.WriteString(countLine(shown, len(all)-len(shown)))
	_, err := w.Write(buf.Bytes())
	return err
}

// command writes the workflow command of one finding.
func (f Finding) command(buf *bytes.Buffer) {
	name := f.Severity.String()
	if f.Severity == Note {
		name = "notice"
	}
	fmt.Fprintf(buf, "::%s", name)
	separator := byte(' ')
	property := func(key, value string) {
		if value != "" {
			fmt.Fprintf(buf, "%c%s=%s", separator, key, escapeProperty(value))
			separator = ','
		}
	}
	property("file", inline(f.Span.name()))
	if f.Span.hasText() {
		start := f.Span.Source.Position(f.Span.Start)
		last := f.Span.Source.Position(max(f.Span.Start, f.Span.End-1))
		property("line", strconv.Itoa(start.Line))
		property("endLine", strconv.Itoa(last.Line))
		if start.Line == last.Line { // else GitHub takes no column
			property("col", strconv.Itoa(start.Column))
		}
	}
	property("title", inline(f.Code))
	fmt.Fprintf(buf, "::%s\n", escapeData(f.lines()))
}

// lines is all that is to be said of a finding.
func (f Finding) lines() string {
	lines := []string{f.Span.at() + inline(f.Message)}
	add := func(before, text string) {
		for line := range strings.Lines(text) {
			lines = append(lines, before+inline(strings.TrimSuffix(line, "\n")))
			before = ""
		}
	}
	add("", f.Label)
	add("help: ", f.Help)
	if f.Edit != nil && f.Help == "" { // help says the same in words
		add("edit: ", suggestion(*f.Edit, f.Span))
	}
	add("accepted: ", f.Accepted)
	for _, r := range f.Related {
		lines = append(lines, r.Span.at()+"note: "+inline(r.Message))
	}
	return strings.Join(lines, "\n")
}

// at writes where a span starts, to stand before what is said of it.
func (s Span) at() string {
	if !s.Valid() {
		return ""
	}
	return place(s) + ": "
}

// escapeData makes a text fit to stand behind a workflow command.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty makes a text fit to be a property of a workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
