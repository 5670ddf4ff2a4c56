package documents_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/golden/fixture"
)

const referencesPage = "docs/references.md"

// referenceStates are the states of an element of a reference document. The value
// reports whether the folder has the element, so that the row must say where.
var referenceStates = map[string]bool{
	"same": true, "corrected": false, "other form": false, "absent": false, "not yet": false,
}

// TestReferences checks the list of the elements of the reference documents: every
// reference system has a section, every row has a state and says where the element is or
// why it is absent, and every place exists.
func TestReferences(t *testing.T) {
	files := os.DirFS(fixture.Root())
	// The other examples describe no published document.
	others := []string{"batch-platform-argocd", "existing", "shared-vpc"}
	systems := slices.DeleteFunc(fixture.Blueprints(t), func(name string) bool { return slices.Contains(others, name) })
	for _, problem := range referenceProblems(files, systems) {
		t.Error(problem)
	}
}

// TestReferencesNoticesLies checks that referenceProblems finds rows that are wrong.
func TestReferencesNoticesLies(t *testing.T) {
	files := fstest.MapFS{
		"golden/a/README.md": {Data: []byte("# A\n\n## Build it\n\nRun this.\n\n### Deeper\n\nDig.\n\n" +
			"## Undo it\n\nStop.\n")},
		"golden/a/main.tf": {Data: []byte("resource \"x\" {}\n")},
		referencesPage: {Data: []byte("## a\n\n| element | state | where, or why |\n| --- | --- | --- |\n" +
			"| good | same | [b](../golden/a/README.md#build-it \"Dig.\") and " +
			"[m](../golden/a/main.tf \"resource \\\"x\\\"\") |\n" +
			"| whole page | same | [b](../golden/a/README.md \"Stop.\") |\n" +
			"| reason | absent | nobody needs it |\n" +
			"| state | here | [b](../golden/a/README.md#build-it \"Run\") |\n" +
			"| nowhere | same | in the folder |\n" +
			"| silent | absent |  |\n" +
			"| file | same | [b](../golden/a/none.tf \"x\") |\n" +
			"| heading | same | [b](../golden/a/README.md#change-it \"Run\") |\n" +
			"| text | corrected | [b](../golden/a/README.md#build-it \"Stop.\") |\n" +
			"| vague | same | [m](../golden/a/main.tf) |\n" +
			"| cells | same |\n" +
			"| good | same | [m](../golden/a/main.tf \"x\") |\n")},
	}
	want := []string{
		`state: there is no state "here"`,
		"nowhere: the row names no place",
		"silent: the row gives no reason",
		"file: golden/a/none.tf does not exist",
		"heading: golden/a/README.md has no heading #change-it",
		`text: golden/a/README.md#build-it does not say "Stop."`,
		"vague: golden/a/main.tf: the link shows no text of the file",
		"cells: 2 cells, want 3",
		"good: listed twice in a section",
		"b: no section lists elements",
	}
	if got := referenceProblems(files, []string{"a", "b"}); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// referenceProblems returns what is wrong in the list of elements. systems are the
// names of the reference systems, each of which has a section of its own.
func referenceProblems(files fs.FS, systems []string) []string {
	source, err := fs.ReadFile(files, referencesPage)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	listed := map[string][]string{} // elements by section
	section, list := "", false
	for line := range strings.Lines(string(source)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			section, list = strings.TrimPrefix(line, "## "), false
		case strings.HasPrefix(line, "| element |"):
			list = true
		case !strings.HasPrefix(line, "|"):
			list = false
		case list && !strings.HasPrefix(line, "| ---"):
			row := referenceCells(line)
			if slices.Contains(listed[section], row[0]) {
				problems = append(problems, row[0]+": listed twice in a section")
			}
			listed[section] = append(listed[section], row[0])
			for _, problem := range rowProblems(files, row) {
				problems = append(problems, row[0]+": "+problem)
			}
		}
	}
	for _, system := range systems {
		if len(listed[system]) == 0 {
			problems = append(problems, system+": no section lists elements")
		}
	}
	return problems
}

// referenceCells returns the cells of a row of a table. A vertical line in a cell has a
// backslash.
func referenceCells(row string) []string {
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(row, `\|`, "\x00"), "|"), "|")
	cells := strings.Split(inner, "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", `\|`))
	}
	return cells
}

// rowProblems returns what is wrong in a row of the list.
func rowProblems(files fs.FS, row []string) []string {
	if len(row) != 3 {
		return []string{fmt.Sprintf("%d cells, want 3", len(row))}
	}
	mustExist, known := referenceStates[row[1]]
	if !known {
		return []string{fmt.Sprintf("there is no state %q", row[1])}
	}
	places := regexp.MustCompile(`\]\(([^()\s]+)(?: "((?:[^"\\]|\\.)*)")?\)`).FindAllStringSubmatch(row[2], -1)
	switch {
	case mustExist && len(places) == 0:
		return []string{"the row names no place"}
	case row[1] != "not yet" && row[2] == "":
		return []string{"the row gives no reason"}
	}
	var problems []string
	for _, p := range places {
		if problem := placeProblem(files, p[1], strings.ReplaceAll(p[2], `\"`, `"`)); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// removedLine is a line of a diff that only the old file has.
var removedLine = regexp.MustCompile(`(?m)^-.*\n`)

// placeProblem returns why a link leads to no place that has the text, or "".
func placeProblem(files fs.FS, link, text string) string {
	file, heading, _ := strings.Cut(link, "#")
	name := path.Join(path.Dir(referencesPage), file)
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return name + " does not exist"
	}
	place, where := string(content), name
	if path.Ext(name) == ".diff" { // what is removed is not in the folder
		place = removedLine.ReplaceAllString(place, "")
	}
	if heading != "" {
		where += "#" + heading
		if place = pageSection(place, heading); place == "" {
			return name + " has no heading #" + heading
		}
	}
	if text == "" {
		return where + ": the link shows no text of the file"
	}
	if !strings.Contains(place, text) {
		return fmt.Sprintf("%s does not say %q", where, text)
	}
	return ""
}

// pageSection returns the section of a page whose heading has a fragment: to the next
// heading of the same or a higher level. It returns "" if there is no such heading.
func pageSection(source, fragment string) string {
	var section strings.Builder
	level, fenced := 0, false
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		own := len(line) - len(strings.TrimLeft(line, "#"))
		if !fenced && own > 0 && strings.HasPrefix(line[own:], " ") {
			if level > 0 && own <= level {
				break
			}
			if level == 0 && slices.Contains(headingFragments(line), fragment) {
				level = own
			}
		}
		if level > 0 {
			section.WriteString(line)
		}
	}
	return section.String()
}
