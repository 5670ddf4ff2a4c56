package console

import (
	"fmt"
	"strconv"
	"strings"
)

// MostAnnotations is the number of annotations of one kind that GitHub accepts from
// a step; it drops the others silently. Source: GitHub, actions/toolkit,
// docs/problem-matchers.md, "Limitations".
const MostAnnotations = 10

// Command is a workflow command of GitHub Actions that creates an annotation. GitHub
// finds the file by its name relative to the root of the repository. The workflow's
// log shows neither file nor line, so the message should contain them too.
//
// Source: GitHub documentation, "Workflow commands for GitHub Actions".
type Command struct {
	Name    string // "error", "warning" or "notice"
	File    string // or ""
	Line    int    // from 1, or 0
	EndLine int    // or 0
	Column  int    // or 0; GitHub accepts a column only if Line and EndLine are equal
	Title   string // or ""
	Message string // one line or several
}

// String returns the command, followed by a line feed.
func (c Command) String() string {
	var b strings.Builder
	b.WriteString("::" + c.Name)
	separator := byte(' ')
	property := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%c%s=%s", separator, key, escapeProperty(value))
			separator = ','
		}
	}
	number := func(key string, n int) {
		if n > 0 {
			property(key, strconv.Itoa(n))
		}
	}
	property("file", Inline(c.File))
	number("line", c.Line)
	number("endLine", c.EndLine)
	number("col", c.Column)
	property("title", Inline(c.Title))
	lines := strings.Split(c.Message, "\n")
	for i := range lines {
		lines[i] = Inline(lines[i])
	}
	fmt.Fprintf(&b, "::%s\n", escapeData(strings.Join(lines, "\n")))
	return b.String()
}

// Escapes of values, as the runner reads them. Source: actions/runner,
// src/Runner.Common/ActionCommand.cs.

// escapeData escapes the message of a workflow command.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes the value of a property of a workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
