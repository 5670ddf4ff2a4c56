// Package findings runs the cases of findings. A case is an archive
// golden/findings/FAMILY/NAME.txtar. A family is a source file of the compiler: of the rules
// that the file holds, or of what it does before there is a blueprint to judge. The tests of
// the file's package run the family:
//
//	go test ./compiler/rules -run TestFindings/quota
//
// The first line of an archive is the code of the only expected finding, or none if only the
// output is compared; a case whose name ends in -clean then has no finding except notes. The
// files that follow are
//
//	old and new   an edit of the batch platform's blueprint, or
//	more          lines to append to the small platform of golden/testdata, and
//	other files   a blueprint of its own, or additional files,
//
// and findings.txt, the output for the user. If findings come with an edit, edits.txt has the
// edited lines. Arguments on the second line name the files to compile; arguments that begin
// with -t are tags. Guillemets in the blueprint enclose the position at which the finding must
// point; they are removed before compiling.
package findings

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/golden/fixture"
)

// The members of an archive that hold the expected output.
const (
	findingsMember = "findings.txt"
	editsMember    = "edits.txt"
)

// Case is one archive.
type Case struct {
	Family, Name string
	Code         string // of the expected finding, or "none"
	archive      *txtar.Archive
	arguments    []string
}

// Families returns the names of all families.
func Families(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(fixture.Path("golden/findings"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// Cases returns the cases of families.
func Cases(t testing.TB, families ...string) []*Case {
	t.Helper()
	var out []*Case
	for _, family := range families {
		files, err := filepath.Glob(fixture.Path("golden/findings", family, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("family %s has no cases: %v", family, err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code, arguments, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
			out = append(out, &Case{
				Family: family, Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), Code: strings.TrimSpace(code),
				archive: archive, arguments: strings.Fields(arguments),
			})
		}
	}
	return out
}

// Output returns what the archive expects the compiler to print.
func (c *Case) Output() string { return string(c.member(findingsMember)) }

// member returns the content of a file of the archive, nil if there is none.
func (c *Case) member(name string) []byte {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// Files returns the files that the archive gives, without its guillemets: of the blueprint, or
// the parts that Lay completes.
func (c *Case) Files() map[string]string {
	out := map[string]string{}
	for _, f := range c.archive.Files {
		if f.Name != findingsMember && f.Name != editsMember {
			out[f.Name], _ = removeMarks(f.Name, string(f.Data))
		}
	}
	return out
}

// Lay writes the blueprint of the case to a new directory, and returns how to compile it.
func (c *Case) Lay(t testing.TB) compiler.Input {
	t.Helper()
	in, _ := c.lay(t)
	return in
}

// lay is Lay, and returns the place at which the finding must point.
func (c *Case) lay(t testing.TB) (in compiler.Input, want place) {
	t.Helper()
	in.Dir = t.TempDir()
	for name, content := range c.blueprint(t) {
		content, at := removeMarks(name, content)
		if at.file != "" {
			want = at
		}
		file := filepath.Join(in.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, arg := range c.arguments {
		if tag, ok := strings.CutPrefix(arg, "-t"); ok {
			in.Tags = append(in.Tags, tag)
		} else {
			in.Paths = append(in.Paths, arg)
		}
	}
	return in, want
}

// blueprint returns the files of the blueprint, with guillemets.
func (c *Case) blueprint(t testing.TB) map[string]string {
	t.Helper()
	given := map[string]string{}
	for _, f := range c.archive.Files {
		given[f.Name] = string(f.Data)
	}
	if old, edit := given["old"]; edit {
		given = fixture.EditBatchPlatform(t, strings.TrimSuffix(old, "\n"), strings.TrimSuffix(given["new"], "\n"))
	}
	if more, ok := given["more"]; ok {
		delete(given, "more")
		given["platform.cue"] = fixture.ReadText(t, fixture.Path("golden/testdata/small.cue")) + more
	}
	delete(given, findingsMember)
	delete(given, editsMember)
	return given
}

// Run runs the cases of families in subtests FAMILY/NAME. A case has one finding, of its code,
// at its place, with valid values or a cure. An edit that comes with a finding removes it, and
// the findings are the same if the files are on another file system than the disk: -short leaves
// out these two, so that a case compiles once.
func Run(t *testing.T, families ...string) {
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			for _, c := range Cases(t, family) {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					c.run(t)
				})
			}
		})
	}
}

func (c *Case) run(t *testing.T) {
	in, want := c.lay(t)
	res := compile(t, in)
	CheckProperties(t, res, in.Dir)
	c.checkFindings(t, res.Findings.Sorted(), want)
	text := printFindings(t, res)
	c.compareMember(t, findingsMember, text)

	edits, mistakes := applyEdits(t, in, res.Findings.Sorted())
	for _, mistake := range mistakes {
		t.Error(mistake)
	}
	c.compareMember(t, editsMember, edits)
	if fixture.Updating() && !t.Failed() {
		c.write(t)
	}
	if testing.Short() {
		return
	}
	in.Files = os.DirFS(in.Dir)
	if d := cmp.Diff(text, printFindings(t, compile(t, in))); d != "" {
		t.Errorf("from a file system the findings differ:\n%s", d)
	}
}

func compile(t testing.TB, in compiler.Input) *compiler.Result {
	t.Helper()
	res, err := compiler.Compile(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func printFindings(t testing.TB, res *compiler.Result) string {
	t.Helper()
	var text bytes.Buffer
	if err := diag.WriteText(&text, &res.Findings, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// checkFindings checks that the case has its finding, at the expected place, and no other
// except notes.
func (c *Case) checkFindings(t *testing.T, all []diag.Finding, want place) {
	t.Helper()
	var others []diag.Finding
	found := false
	for _, f := range all {
		switch {
		case f.Code == c.Code && !found:
			found = true
			if got := placeOf(f); want.file != "" && got != want {
				t.Errorf("%s points at %v, want %v", c.Code, got, want)
			}
		case f.Severity != diag.Note:
			others = append(others, f)
		}
	}
	if c.Code == "none" && !c.clean() {
		return
	}
	found = found || c.clean()
	if !found {
		t.Errorf("no finding %s", c.Code)
	}
	for _, f := range others {
		t.Errorf("one mistake, and also %s: %s", f.Code, f.Message)
	}
}

// clean reports whether the case promises that nothing is found.
func (c *Case) clean() bool { return strings.HasSuffix(c.Name, "-clean") }

// compareMember compares a member of the archive; no member is an empty one. With -update it
// sets the member, which write writes.
func (c *Case) compareMember(t *testing.T, name, got string) {
	t.Helper()
	want := string(c.member(name))
	if want == got {
		return
	}
	if !fixture.Updating() {
		t.Errorf("%s differs; run with -update and review:\n%s", name, cmp.Diff(want, got))
		return
	}
	member := txtar.File{Name: name, Data: []byte(got)}
	i := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
	switch {
	case i < 0:
		c.archive.Files = append(c.archive.Files, member)
	case got == "" && name == editsMember:
		c.archive.Files = slices.Delete(c.archive.Files, i, i+1)
	default:
		c.archive.Files[i] = member
	}
}

// write writes the archive.
func (c *Case) write(t *testing.T) {
	t.Helper()
	fixture.CompareFile(t, fixture.Path("golden/findings", c.Family, c.Name+".txtar"), txtar.Format(c.archive))
}

// place is the position at which a finding is expected.
type place struct {
	file       string
	start, end int
}

func placeOf(f diag.Finding) place {
	if !f.Span.Valid() {
		return place{}
	}
	return place{f.Span.Source.Name, f.Span.Start, f.Span.End}
}

// removeMarks removes the guillemets from a file, and returns their place.
func removeMarks(name, content string) (string, place) {
	start := strings.Index(content, "«")
	if start < 0 {
		return content, place{}
	}
	content = content[:start] + content[start+len("«"):]
	end := strings.Index(content, "»")
	return content[:end] + content[end+len("»"):], place{name, start, end}
}

// applyEdits returns the lines that the edits of findings make, and what is wrong with the edits
// of a finding: they do not remove it, or a file no longer parses. With -short it looks only at
// the lines. A file that does not parse in the first place has no edits, and neither has
// standard input.
func applyEdits(t testing.TB, in compiler.Input, all []diag.Finding) (edited string, mistakes []string) {
	t.Helper()
	if slices.ContainsFunc(all, func(f diag.Finding) bool { return f.Code == "E0003" }) {
		return "", nil
	}
	var lines strings.Builder
	for _, f := range all {
		changed := map[string]string{} // by name
		for _, e := range lastFirst(f.Edits) {
			source, span := e.Span.Source.Name, e.Span
			if filepath.IsAbs(source) {
				continue
			}
			content, given := changed[source]
			if !given {
				disk, err := os.ReadFile(filepath.Join(in.Dir, source))
				if err != nil {
					continue
				}
				content = string(disk)
			}
			text := content[:span.Start] + e.Text + content[span.End:]
			start := strings.LastIndexByte(text[:span.Start], '\n') + 1
			end := span.Start + len(e.Text)
			rest, _, _ := strings.Cut(text[end:], "\n")
			fmt.Fprintf(&lines, "%s: %s\n%s\n", f.Code, source, text[start:end]+rest)
			changed[source] = text
		}
		if len(changed) > 0 && !testing.Short() {
			mistakes = append(mistakes, tryEdits(t, in, f, changed)...)
		}
	}
	return lines.String(), mistakes
}

// lastFirst returns edits from the end of a file to its beginning, so that an edit does not move
// the places of those that follow.
func lastFirst(edits []diag.Edit) []diag.Edit {
	return slices.SortedStableFunc(slices.Values(edits), func(a, b diag.Edit) int {
		return b.Span.Start - a.Span.Start
	})
}

// tryEdits compiles with the edited texts of files, and restores their content.
func tryEdits(t testing.TB, in compiler.Input, f diag.Finding, changed map[string]string) (mistakes []string) {
	t.Helper()
	for source, text := range changed {
		name := filepath.Join(in.Dir, source)
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := os.WriteFile(name, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}()
	}
	for _, again := range compile(t, in).Findings.Sorted() {
		if again.Code == "E0003" || again.Code == f.Code && again.Path == f.Path && again.Message == f.Message {
			mistakes = append(mistakes, fmt.Sprintf("after the edits of %s at %s: %s: %s", f.Code, f.Span, again.Code,
				again.Message))
		}
	}
	return mistakes
}
