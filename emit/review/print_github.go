package review

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
)

// Limits of an annotation, which GitHub shows beside a line of a file.
const (
	annotationLines     = 40
	annotationWorkloads = 20
	annotationFields    = 5 // of an object
	annotationSkipped   = 10
)

// GitHub writes a review as workflow commands of GitHub Actions: up to ten warnings,
// and the summary as one notice. The warnings report another location of Terraform's
// state, resources that must be replaced, and resources that left the configuration.
// A resource to replace is reported at its line in the folder, whose name is
// relative to the root of the repository. A plain line has the totals. If nothing
// differs, GitHub writes nothing.
func GitHub(w io.Writer, r *Review, folder string) error {
	var buf bytes.Buffer
	left := console.MostAnnotations
	if r.StateTo != "" {
		left--
		buf.WriteString(console.Command{
			Name: "warning", Title: "Terraform's state is elsewhere",
			Message: joinLines([]string{
				"Terraform's state is elsewhere: " + r.StateFrom + " " + arrow + " " + r.StateTo, moved,
			}),
		}.String())
	}
	shown, hidden := firstItems(r.Replacements, left)
	replaced := r.replacedResources()
	for _, x := range shown {
		file := path.Join(folder, x.File)
		// The workflow's log shows only the message.
		lines := []string{fmt.Sprintf("%s:%d: must be replaced when applied: %s", file, x.Line, x.Address)}
		for _, f := range x.Because {
			lines = append(lines, replaced.reasonText(f))
		}
		if s := affectedText(x, annotationWorkloads); s != "" {
			lines = append(lines, s)
		}
		buf.WriteString(console.Command{
			Name: "warning", File: file, Line: x.Line, Title: x.Address, Message: joinLines(lines),
		}.String())
	}
	// A resource that left the folder has no line there.
	gone, notShown := firstItems(r.Removals, left-len(shown))
	for _, x := range gone {
		lines := []string{"removed from configuration: " + x.Address}
		if s := affectedText(x, annotationWorkloads); s != "" {
			lines = append(lines, s)
		}
		buf.WriteString(console.Command{Name: "warning", Title: x.Address, Message: joinLines(lines)}.String())
	}
	hidden += notShown
	if len(r.Summary) > 0 {
		var lines []string
		all, more := firstItems(r.Summary, annotationLines)
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
		buf.WriteString(console.Command{Name: "notice", Title: title, Message: joinLines(lines)}.String())
	}
	if r.Live != nil {
		buf.WriteString(r.liveNotice())
	}
	for _, rehearsal := range r.Rehearsals {
		buf.WriteString(console.Command{
			Name: "notice", Title: "rehearsal " + rehearsal.Name, Message: joinLines(rehearsal.lines(rehearsalLines)),
		}.String())
	}
	if r.Cost != nil {
		buf.WriteString(r.Cost.String() + "\n")
	}
	if totals := r.totalTexts(); len(totals) > 0 {
		if hidden > 0 {
			totals = append(totals, words.Count(hidden, "resource")+" not annotated")
		}
		buf.WriteString(strings.Join(totals, "; ") + "\n")
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// joinLines joins lines into one text, without line breaks inside a line.
func joinLines(lines []string) string {
	for i, l := range lines {
		lines[i] = console.Inline(l)
	}
	return strings.Join(lines, "\n")
}
