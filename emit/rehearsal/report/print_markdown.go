package report

import (
	"fmt"
	"html"
	"io"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// Markdown writes a report for a comment on a pull request: first what is not as
// expected, then the tables, folded, of which long ones are cut.
func Markdown(w io.Writer, r *Report) error {
	d := new(markdown.Document)
	d.Para("**Rehearsal** of ", markdown.Text(r.headline()))
	var remarks []markdown.Markup
	for _, m := range r.remarks() {
		remarks = append(remarks, markdown.Markup("**"+m.label+"**: ")+markdown.Text(m.text))
	}
	if len(remarks) > 0 {
		d.List(remarks...)
	}
	phases := new(markdown.Document)
	for _, p := range r.Phases {
		s := p.section()
		phases.Para("**", markdown.Text(s.title), "**")
		phases.Append(s.document())
	}
	d.Fold("<b>Phases</b>"+countRows(len(r.Phases)), phases)
	for _, s := range r.sections() {
		d.Fold("<b>"+html.EscapeString(s.title)+"</b>"+countRows(len(s.rows)), s.document())
	}
	_, err := w.Write(d.Bytes())
	return err
}

// countRows returns the number of rows, to stand after the title of a table.
func countRows(n int) string { return fmt.Sprintf(" (%d)", n) }

// document returns the table with its notes.
func (s section) document() *markdown.Document {
	d := new(markdown.Document)
	head := make([]markdown.Markup, len(s.head))
	for i, title := range s.head {
		head[i] = markdown.Text(title)
	}
	if s.reasons != nil {
		head = append(head, "why")
	}
	var rows [][]markdown.Markup
	for n, row := range s.rows[:min(len(s.rows), mostRows)] {
		var cells []markdown.Markup
		for _, cell := range row {
			cells = append(cells, markdown.Text(cell))
		}
		if s.reasons != nil {
			cells = append(cells, markdown.Text(s.reasons[n]))
		}
		rows = append(rows, cells)
	}
	d.Table(head, rows)
	if hidden := len(s.rows) - mostRows; hidden > 0 {
		d.Para("and ", markdown.Markup(words.Count(hidden, "more row")))
	}
	for _, note := range s.notes {
		d.Para(markdown.Text(note))
	}
	return d
}
