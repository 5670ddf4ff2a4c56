package review

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// Limits of an annotation, which GitHub shows beside a line of a file.
const (
	annotationLines     = 40
	annotationWorkloads = 20
	annotationFields    = 5 // of an object
	annotationSkipped   = 10
)

// GitHub writes a review as workflow commands of GitHub Actions: up to ten warnings,
// and the headline with the effects on jobs and the summary as one notice. The warnings report
// another location of Terraform's state, resources that must be replaced or left the
// configuration, and node pools that lose nodes or get new ones. A resource that stays is
// reported at its line in the folder, whose name is relative to the root of the repository. A
// plain line has the totals. If nothing differs, GitHub writes nothing.
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
	hidden := 0
	for _, list := range r.resourceLists() {
		shown, notShown := firstItems(list.resources, left)
		left -= len(shown)
		hidden += notShown
		for _, x := range shown {
			buf.WriteString(r.resourceWarning(x, list, folder).String())
		}
	}
	if len(r.Jobs)+len(r.Summary) > 0 || !r.Findings.same() || r.Base.sentences(r.Before) != "" && !r.Same() {
		lines := append(r.firstLines(), jobLines(r.Jobs)...)
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
	if lines := r.Played.all(); len(lines) > 0 {
		shown, _ := firstItems(lines, annotationLines)
		buf.WriteString(console.Command{Name: "notice", Title: r.Played.title(), Message: joinLines(shown)}.String())
	}
	if r.Live != nil {
		buf.WriteString(r.liveNotice())
	}
	for _, rehearsal := range r.Rehearsals {
		buf.WriteString(console.Command{
			Name: "notice", Title: "rehearsal " + rehearsal.Name, Message: joinLines(rehearsal.lines(rehearsalLines)),
		}.String())
	}
	if r.Cost != nil && r.Cost.Differs() {
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

// firstLines returns the headline, and what the earlier state is if that is not what a reader
// expects.
func (r *Review) firstLines() []string {
	lines := []string{r.Headline()}
	if base := r.Base.sentences(r.Before); base != "" {
		lines = append(lines, base)
	}
	return lines
}

// resourceWarning returns a warning about a resource of a list, at its line in the folder if it is
// there.
func (r *Review) resourceWarning(x objects.Replacement, list resourceList, folder string) console.Command {
	warning := console.Command{Name: "warning", Title: x.Address}
	lines := []string{list.what + ": " + x.Address}
	if !list.gone {
		warning.File, warning.Line = path.Join(folder, x.File), x.Line
		// The workflow's log shows only the message.
		lines[0] = fmt.Sprintf("%s:%d: %s", warning.File, x.Line, lines[0])
	}
	replaced := r.replacedResources()
	for _, f := range x.Because {
		lines = append(lines, replaced.reasonText(f))
	}
	if s := originText(x.Origin); s != "" {
		lines = append(lines, s)
	}
	if s := affectedText(x, annotationWorkloads); s != "" {
		lines = append(lines, s)
	}
	warning.Message = joinLines(lines)
	return warning
}

// joinLines joins lines into one text, without line breaks inside a line.
func joinLines(lines []string) string {
	for i, l := range lines {
		lines[i] = console.Inline(l)
	}
	return strings.Join(lines, "\n")
}
