package references_test

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestPage compares docs/references.md with the rows, or writes it with -update.
func TestPage(t *testing.T) {
	references := readReferences(t)
	var page strings.Builder
	page.WriteString(fixture.ReadText(t, "page.md"))
	page.WriteString("\n| system | document |\n| --- | --- |\n")
	for _, r := range references {
		fmt.Fprintf(&page, "| [%s](#%s) | [%s](%s)%s |\n", r.Name, r.Name, r.Title, r.Source, r.About)
	}
	page.WriteString("\n## Counts\n\n" +
		"| system | passages | elements | same | corrected | another form | of these, less | absent |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range references {
		counts := map[string]int{}
		for _, row := range r.rows() {
			counts[row.facts().State]++
			if row.facts().Less {
				counts["less"]++
			}
		}
		fmt.Fprintf(&page, "| %s | %d | %d | %d | %d | %d | %d | %d |\n",
			r.Name, len(passageIDs(t, r.Name)), len(r.rows()),
			counts["same"], counts["corrected"], counts["another form"], counts["less"], counts["absent"])
	}
	for _, r := range references {
		writeReference(&page, r)
	}
	fixture.CompareFile(t, fixture.Path("docs", "references.md"), []byte(page.String()))
}

// writeReference writes the tables of a document. Rows that repeat a row of another
// document are counted only.
func writeReference(page *strings.Builder, r reference) {
	fmt.Fprintf(page, "\n## %s\n", r.Name)
	if repeated := r.repeated(); repeated > 0 {
		fmt.Fprintf(page, "\n%d elements repeat elements of [batch-platform](#batch-platform). "+
			"Their proof holds in this folder, too. The others are:\n", repeated)
	}
	for _, s := range r.Sections {
		var rows strings.Builder
		for _, row := range s.Rows {
			if row.As == "" {
				fmt.Fprintf(&rows, "| %s | %s | %s |\n", inCell(row.Element), row.label(), row.cell(r.Name))
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(page, "\n### %s\n\n| element | state | what the folder has, or why |\n| --- | --- | --- |\n%s",
				s.Heading, rows.String())
		}
	}
}

// repeated returns the number of rows that repeat rows of another document.
func (r *reference) repeated() int {
	n := 0
	for _, row := range r.rows() {
		if row.As != "" {
			n++
		}
	}
	return n
}

// label returns the state that the page shows.
func (r *row) label() string {
	if r.Less {
		return r.State + ", less"
	}
	return r.State
}

// cell returns what the reader gets, the reason, and links to the proof.
func (r *row) cell(folder string) string {
	var texts, links []string
	for _, text := range []string{r.Gets, r.Reason} {
		if text != "" {
			texts = append(texts, inCell(strings.TrimSuffix(text, ".")+"."))
		}
	}
	for i, p := range r.Proof {
		if i == 0 || p.In != r.Proof[i-1].In {
			links = append(links, p.link(folder, r.Proof[i+1:]))
		}
	}
	if len(links) > 0 {
		texts = append(texts, strings.Join(links, ", "))
	}
	return strings.Join(texts, " ")
}

// link returns a link to a proof, which shows its text when you point at it, and that of
// the next proofs in the same place.
func (p proof) link(folder string, next []proof) string {
	if p.Test != "" {
		dir, name, _ := strings.Cut(p.Test, " ")
		return fmt.Sprintf("[%s](../%s)", name, dir)
	}
	file, heading := p.place(folder)
	label := path.Base(file)
	if _, err := os.Stat(fixture.Path(file)); err != nil {
		file += ".diff" // a golden file that is stored as its difference
	}
	if content, err := os.ReadFile(fixture.Path(file)); err == nil && heading != "" {
		fragment, _ := pageSection(string(content), heading)
		heading = "#" + fragment
	}
	says := p.Says
	for _, n := range next {
		if n.In != p.In {
			break
		}
		says += " ... " + n.Says
	}
	return fmt.Sprintf("[%s](../%s%s %s)", label, file, heading, inCell(fmt.Sprintf("%q", says)))
}

// inCell returns text as a cell of a table holds it.
func inCell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
