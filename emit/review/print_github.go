package review

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
)

// How much an annotation says: GitHub shows it beside a line of a file.
const (
	annotationLines     = 40
	annotationWorkloads = 20
)

// GitHub writes a review as workflow commands of GitHub Actions: a warning for
// each of the first ten resources that must be replaced, at its line in the
// folder, which is named from the root of the repository; and the summary as
// one notice. A plain line says what the review comes to. Where nothing differs
// it writes nothing.
func GitHub(w io.Writer, r *Review, folder string) error {
	var buf bytes.Buffer
	shown, hidden := some(r.Replacements, console.MostAnnotations)
	replaced := r.replaced()
	for _, x := range shown {
		file := path.Join(folder, x.File)
		// The workflow's log shows nothing but the message.
		lines := []string{fmt.Sprintf("%s:%d: must be replaced when applied: %s", file, x.Line, x.Address)}
		for _, f := range x.Because {
			lines = append(lines, replaced.reason(f))
		}
		if s := affected(x, annotationWorkloads); s != "" {
			lines = append(lines, s)
		}
		buf.WriteString(console.Command{
			Name: "warning", File: file, Line: x.Line, Title: x.Address, Message: joined(lines),
		}.String())
	}
	if len(r.Summary) > 0 {
		var lines []string
		all, more := some(r.Summary, annotationLines)
		for _, l := range all {
			lines = append(lines, fmt.Sprintf("%s: %s", l.Topic, l))
		}
		if more > 0 {
			lines = append(lines, fmt.Sprintf("… %d more", more))
		}
		title := "what changes"
		if r.Platform != "" {
			title += " in " + r.Platform
		}
		buf.WriteString(console.Command{Name: "notice", Title: title, Message: joined(lines)}.String())
	}
	if totals := r.totals(); len(totals) > 0 {
		if hidden > 0 {
			totals = append(totals, count(hidden, "replacement", "replacements")+" not shown")
		}
		buf.WriteString(strings.Join(totals, "; ") + "\n")
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// joined makes one text of lines, each of which stays one.
func joined(lines []string) string {
	for i, l := range lines {
		lines[i] = console.Inline(l)
	}
	return strings.Join(lines, "\n")
}
