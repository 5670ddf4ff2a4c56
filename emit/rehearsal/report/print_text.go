package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
)

// mostRows is the number of rows of a table that Text and Markdown print.
const mostRows = 40

// textWidth is the number of characters of a line of Text, except in the rows of tables.
const textWidth = 100

// Text writes a report for a terminal: first what is not as expected, then the tables, of
// which long ones are cut. If color is true, it uses colours.
func Text(w io.Writer, r *Report, color bool) error {
	var buf bytes.Buffer
	fmt.Fprintln(&buf, console.Inline(r.headline()))
	for _, m := range r.remarks() {
		style := console.Green
		switch m.label {
		case labelUnmet:
			style = console.Red
		case labelUndecided:
			style = console.Yellow
		}
		fmt.Fprintln(&buf, style.Paint(color, m.label)+": "+console.Inline(m.text))
	}
	for _, p := range r.Phases {
		p.section().print(&buf, color)
	}
	for _, s := range r.sections() {
		s.print(&buf, color)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// print prints a table, with the reasons below their rows.
func (s section) print(buf *bytes.Buffer, color bool) {
	fmt.Fprintln(buf, "\n"+console.Bold.Paint(color, console.Inline(s.title)))
	t := console.Table{Texts: s.texts}
	t.Add(s.head...)
	for _, row := range s.rows[:min(len(s.rows), mostRows)] {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = console.Inline(cell)
		}
		t.Add(cells...)
	}
	// The reasons are not part of the table, whose columns they would widen.
	table, number := new(bytes.Buffer), -1 // the first line is the head
	t.Print(table)
	for line := range bytes.Lines(table.Bytes()) {
		if len(s.rows) > 0 {
			buf.WriteString("  ")
			buf.Write(line)
		}
		if number >= 0 && s.reasons != nil {
			printIndented(buf, 6, s.reasons[number])
		}
		number++
	}
	if hidden := len(s.rows) - mostRows; hidden > 0 {
		printIndented(buf, 2, "and "+words.Count(hidden, "more row"))
	}
	for _, note := range s.notes {
		printIndented(buf, 2, note)
	}
}

// printIndented prints a text after some spaces, and in lines of textWidth at most. It
// prints nothing for an empty text.
func printIndented(buf *bytes.Buffer, spaces int, text string) {
	column := 0
	for _, word := range strings.Fields(console.Inline(text)) {
		length := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+length > textWidth:
			buf.WriteByte('\n')
			column = 0
		default:
			buf.WriteByte(' ')
			column++
		}
		if column == 0 {
			buf.WriteString(strings.Repeat(" ", spaces))
			column = spaces
		}
		buf.WriteString(word)
		column += length
	}
	if column > 0 {
		buf.WriteByte('\n')
	}
}
