package references_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/golden/fixture"
)

// reference is NAME.yaml: what the folder of a reference system does with its document.
type reference struct {
	Name     string    `yaml:"-"`
	Title    string    `yaml:"title"`
	Source   string    `yaml:"source"`
	About    string    `yaml:"about"` // the rest of its sentence in the page
	Seed     string    `yaml:"seed"`  // the document's file in ../shared/seeds
	Sections []section `yaml:"sections"`
}

// section is a table of the page.
type section struct {
	Heading string `yaml:"heading"`
	// Beside is set if the rows are not of the document, but of files beside it, such
	// as its Terraform configuration. They have no passages.
	Beside bool  `yaml:"beside"`
	Rows   []row `yaml:"rows"`
}

// row is an element of a document: something that a reader does, sees or sets.
type row struct {
	Element  string  `yaml:"element"`
	Passages spans   `yaml:"passages"`
	State    string  `yaml:"state"`  // same, corrected, another form or absent
	Reason   string  `yaml:"reason"` // why it is not the same
	Gets     string  `yaml:"gets"`   // what the reader gets in another form
	Less     bool    `yaml:"less"`   // the reader gets less than the document gives
	Proof    []proof `yaml:"proof"`
	As       string  `yaml:"as"`        // the element of batch-platform that this one repeats
	Elsewise string  `yaml:"otherwise"` // why the proof does not hold in the DWS folder

	original *row     // the row that As names
	ids      []string // of its passages
}

// proof is a line of a golden file, or a test. In YAML it is a mapping with one key: the
// file, or the word test.
type proof struct {
	// In is a file of the golden folder, or of the repository if it begins with a slash,
	// with the fragment of a heading.
	In   string
	Says string
	// Test is the directory of a test and its name.
	Test string
}

// UnmarshalYAML reads a proof.
func (p *proof) UnmarshalYAML(node *yaml.Node) error {
	var fields map[string]string
	if err := node.Decode(&fields); err != nil {
		return err
	}
	if len(fields) != 1 {
		return fmt.Errorf("line %d: a proof is one file with its text, or one test", node.Line)
	}
	for key, value := range fields {
		if key == "test" {
			p.Test = value
		} else {
			p.In, p.Says = key, value
		}
	}
	return nil
}

// spans lists passages: "12-40 200p" are all passages that begin in lines 12 to 40, and
// the picture of line 200.
type spans string

// contains reports whether a passage is in the list.
func (s spans) contains(id string) bool {
	for _, part := range strings.Fields(string(s)) {
		first, last, isRange := strings.Cut(part, "-")
		if part == id || isRange && number(first) <= number(id) && number(id) <= number(last) &&
			(number(first) != number(id) || first == id || !strings.HasSuffix(first, "p")) {
			return true
		}
	}
	return false
}

// number returns the line of a passage's identifier.
func number(id string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(id, "p"))
	if err != nil {
		return -1
	}
	return n
}

// names returns the reference systems, in the order of the page.
func names() []string {
	return []string{"batch-platform", "batch-platform-dws", "a3-ultra-flex", "kai-departments", "tpu-training"}
}

// readReferences returns the reference systems with all of their rows.
func readReferences(t *testing.T) []reference {
	t.Helper()
	var out []reference
	for _, name := range names() {
		r := reference{Name: name}
		decoder := yaml.NewDecoder(bytes.NewReader([]byte(fixture.ReadText(t, name+".yaml"))))
		decoder.KnownFields(true)
		if err := decoder.Decode(&r); err != nil {
			t.Fatalf("%s.yaml: %v", name, err)
		}
		out = append(out, r)
	}
	for _, problem := range resolve(out) {
		t.Error(problem)
	}
	return out
}

// resolve finds the rows that others repeat.
func resolve(references []reference) []string {
	elements := map[string]*row{}
	for _, r := range references[0].rows() {
		elements[r.Element] = r
	}
	var problems []string
	for _, reference := range references[1:] {
		for _, r := range reference.rows() {
			if r.As == "" {
				continue
			}
			original := elements[r.As]
			if original == nil || original.Elsewise != "" {
				problems = append(problems, fmt.Sprintf("%s: %q is not an element of %s that holds in the other folder",
					reference.Name, r.As, references[0].Name))
				continue
			}
			r.original = original
		}
	}
	return problems
}

// rows returns all rows of a document.
func (r *reference) rows() []*row {
	var out []*row
	for i := range r.Sections {
		for j := range r.Sections[i].Rows {
			out = append(out, &r.Sections[i].Rows[j])
		}
	}
	return out
}

// facts returns the row that has the state: the row itself, or the one that it repeats.
func (r *row) facts() *row {
	if r.original != nil {
		return r.original
	}
	return r
}

// name returns what identifies a row for people.
func (r *row) name() string { return r.facts().Element }

// TestPassages compares the documents with their lists of passages, and lists the
// passages anew with -update. It needs the documents, which are not in the repository.
func TestPassages(t *testing.T) {
	seeds := filepath.Join(fixture.Root(), "..", "shared", "seeds")
	if _, err := os.Stat(seeds); err != nil {
		t.Skipf("not run: the documents are not in %s", seeds)
	}
	for _, r := range readReferences(t) {
		var list strings.Builder
		for _, p := range split(fixture.ReadText(t, filepath.Join(seeds, r.Seed))) {
			fmt.Fprintln(&list, p.id, p.kind, p.hash())
		}
		if list.Len() == 0 {
			t.Errorf("%s has no passages", r.Seed)
		}
		fixture.CompareFile(t, fixture.Path("golden", "references", r.Name+".passages"), []byte(list.String()))
	}
}

// TestRows demands that each passage has a row, and that each row is complete: its state,
// its reason, what the reader gets, and its proof.
func TestRows(t *testing.T) {
	root := os.DirFS(fixture.Root())
	for _, r := range readReferences(t) {
		for _, problem := range r.passageProblems(passageIDs(t, r.Name)) {
			t.Errorf("%s.yaml: %s", r.Name, problem)
		}
		for _, problem := range r.rowProblems(root, r.Name) {
			t.Errorf("%s.yaml: %s", r.Name, problem)
		}
		if r.Name != "batch-platform" {
			continue
		}
		for _, problem := range r.rowProblems(root, "batch-platform-dws") {
			t.Errorf("%s.yaml, in the folder batch-platform-dws: %s", r.Name, problem)
		}
	}
}

// passageIDs returns the identifiers of a document's passages.
func passageIDs(t *testing.T, name string) []string {
	t.Helper()
	var ids []string
	for line := range strings.Lines(fixture.ReadText(t, name+".passages")) {
		ids = append(ids, strings.Fields(line)[0])
	}
	return ids
}

// passageProblems returns which passages have no row or several, which rows have no
// passage, and which rows are not in the document's order.
func (r *reference) passageProblems(ids []string) []string {
	var problems []string
	for _, id := range ids {
		var of []string
		for _, row := range r.rows() {
			if row.Passages.contains(id) {
				of = append(of, row.name())
				row.ids = append(row.ids, id)
			}
		}
		if len(of) == 0 {
			problems = append(problems, fmt.Sprintf("passage %s has no row", id))
		}
	}
	last := 0
	for _, s := range r.Sections {
		for i := range s.Rows {
			row := &s.Rows[i]
			switch {
			case s.Beside && row.Passages != "":
				problems = append(problems, row.name()+": rows beside the document have no passages")
			case s.Beside:
			case len(row.ids) == 0:
				problems = append(problems, row.name()+": the document has no such passage")
			case number(row.ids[0]) < last:
				problems = append(problems, row.name()+": the row is not in the order of the document")
			default:
				last = number(row.ids[0])
			}
		}
	}
	return problems
}

// rowProblems returns what is wrong in the rows, whose proof must hold in a golden folder.
func (r *reference) rowProblems(root fs.FS, folder string) []string {
	var problems []string
	seen := map[string]bool{}
	for _, row := range r.rows() {
		if row.As == "" && seen[row.Element] {
			problems = append(problems, row.Element+": listed twice")
		}
		seen[row.Element] = true
		if folder != r.Name && row.Elsewise != "" {
			continue
		}
		for _, problem := range append(row.stateProblems(), row.proofProblems(root, folder)...) {
			problems = append(problems, row.name()+": "+problem)
		}
	}
	return problems
}

// stateProblems returns what a row lacks for its state.
func (r *row) stateProblems() []string {
	if r.As != "" {
		if r.Element+r.State+r.Reason+r.Gets != "" || r.Less || len(r.Proof) > 0 {
			return []string{"a row that repeats another has only passages"}
		}
		return nil
	}
	var problems []string
	demand := func(holds bool, problem string) {
		if !holds {
			problems = append(problems, problem)
		}
	}
	switch r.State {
	case "same":
		demand(len(r.Proof) > 0, "the row has no proof")
		demand(r.Gets == "" && !r.Less, "what is the same gives nothing else")
	case "corrected":
		demand(r.Reason != "", "the row gives no reason")
		demand(len(r.Proof) > 0, "the row has no proof")
	case "another form":
		demand(r.Reason != "", "the row gives no reason")
		demand(r.Gets != "", "the row does not say what the reader gets")
		demand(len(r.Proof) > 0, "the row has no proof")
	case "absent":
		demand(r.Reason != "", "the row gives no reason")
		demand(r.Gets == "" && !r.Less, "what is absent gives nothing")
	default:
		demand(false, fmt.Sprintf("there is no state %q", r.State))
	}
	return problems
}

// proofProblems returns which proofs of a row do not hold in a golden folder.
func (r *row) proofProblems(root fs.FS, folder string) []string {
	var problems []string
	for _, p := range r.facts().Proof {
		problem := ""
		if p.Test != "" {
			problem = testProblem(root, p.Test)
		} else {
			problem = lineProblem(root, folder, p)
		}
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// testProblem returns why a directory has no such test, or "".
func testProblem(root fs.FS, test string) string {
	dir, name, _ := strings.Cut(test, " ")
	name, _, _ = strings.Cut(name, "/")
	files, err := fs.Glob(root, path.Join(dir, "*_test.go"))
	if err != nil || name == "" {
		return fmt.Sprintf("%q is not a directory and a test", test)
	}
	for _, f := range files {
		source, err := fs.ReadFile(root, f)
		if err == nil && bytes.Contains(source, []byte("\nfunc "+name+"(")) {
			return ""
		}
	}
	return fmt.Sprintf("%s has no test %s", dir, name)
}

// lineProblem returns why a line is not where a proof says, or "".
func lineProblem(root fs.FS, folder string, p proof) string {
	file, heading := p.place(folder)
	content, err := readGolden(root, file)
	if err != nil {
		return file + " does not exist"
	}
	where := file
	if heading != "" {
		where += "#" + heading
		if _, content = pageSection(content, heading); content == "" {
			return file + " has no heading #" + heading
		}
	}
	if p.Says == "" || !strings.Contains(content, p.Says) {
		return fmt.Sprintf("%s does not say %q", where, p.Says)
	}
	return ""
}

// place returns the file of a proof, below the repository, and the fragment of a heading.
func (p proof) place(folder string) (file, heading string) {
	file, heading, _ = strings.Cut(p.In, "#")
	if rest, ok := strings.CutPrefix(file, "/"); ok {
		return rest, heading
	}
	return path.Join("golden", folder, file), heading
}

// readGolden reads a file of the repository. A golden file can be stored as its difference
// from the same file of the batch platform.
func readGolden(root fs.FS, name string) (string, error) {
	content, err := fs.ReadFile(root, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return string(content), err
	}
	difference, err := fs.ReadFile(root, name+".diff")
	if err != nil {
		return "", err
	}
	parts := strings.SplitN(name, "/", 3)
	original, err := fs.ReadFile(root, path.Join(parts[0], "batch-platform", parts[len(parts)-1]))
	if err != nil {
		return "", err
	}
	return patched(string(original), string(difference)), nil
}

// patched returns the lines of a text that a difference leaves, followed by those that it
// adds.
func patched(original, difference string) string {
	lines := strings.Split(original, "\n")
	for line := range strings.Lines(difference) {
		line = strings.TrimSuffix(line, "\n")
		if removed, ok := strings.CutPrefix(line, "-"); ok {
			if i := slices.Index(lines, removed); i >= 0 {
				lines = slices.Delete(lines, i, i+1)
			}
		}
		if added, ok := strings.CutPrefix(line, "+"); ok {
			lines = append(lines, added)
		}
	}
	return strings.Join(lines, "\n")
}

// pageSection returns the section of a page whose heading's fragment matches a pattern, such
// as "phase-*-start", and this fragment. The section ends at the next heading on the same or
// a higher level. It returns "" if there is no such heading.
func pageSection(source, pattern string) (fragment, text string) {
	var out strings.Builder
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
			name := headingFragment(line[own:])
			if matches, err := path.Match(pattern, name); level == 0 && err == nil && matches {
				level, fragment = own, name
			}
		}
		if level > 0 {
			out.WriteString(line)
		}
	}
	return fragment, out.String()
}

// headingFragment returns the fragment with which GitHub links to a heading.
func headingFragment(heading string) string {
	lower := strings.ToLower(strings.TrimSpace(heading))
	return strings.ReplaceAll(regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(lower, ""), " ", "-")
}

// TestSystems demands a list for each reference system. The other examples have no
// published document.
func TestSystems(t *testing.T) {
	others := []string{"batch-platform-argocd", "existing", "shared-vpc"}
	for _, name := range fixture.Blueprints(t) {
		if slices.Contains(others, name) == slices.Contains(names(), name) {
			t.Errorf("blueprints/%s has no list of the elements of its document", name)
		}
	}
}
