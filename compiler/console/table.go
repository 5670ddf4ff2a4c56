package console

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Table is a table whose first columns, the texts, are aligned to the left, and the other
// ones, the numbers, to the right.
type Table struct {
	Texts int // number of columns with texts
	rows  [][]string
}

// Add adds a row. The cells must be plain text, as Inline returns it.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print prints the rows, in their order.
func (t *Table) Print(buf *bytes.Buffer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < t.Texts {
				line.WriteString(cell + space)
			} else {
				line.WriteString(space + cell)
			}
		}
		buf.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
