package golden_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
	"github.com/batchwright/batchwright/golden/fixture"
)

func diffTexts(want, got string) string { return cmp.Diff(want, got) }

// TestFindings runs every archive of golden/diag. Its first line names the code of
// the only expected finding, or none if only the golden is compared. The following
// files are
//
//	old and new   an edit of the batch platform's blueprint, or
//	more          lines to append to the small platform of golden/cli, and
//	other files   a blueprint of its own, or additional files,
//
// and findings.txt, the output for the user. Arguments on the second line name the
// files to compile; arguments that begin with -t are tags. Guillemets in the
// blueprint enclose the position at which the finding must point; they are removed
// before compiling. The result must be the same from a file system that is not the
// disk.
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("diag/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			findingsCase(t, file, archive)
		})
	}
}

func findingsCase(t *testing.T, file string, archive *txtar.Archive) {
	code, in, want := layCase(t, archive)
	dir := in.Dir
	res, err := compiler.Compile(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if (res.Plan == nil) != res.Findings.HasErrors() {
		t.Errorf("plan is nil: %v, errors: %v", res.Plan == nil, res.Findings.HasErrors())
	}

	var others []diag.Finding
	found := false
	for _, f := range res.Findings.Sorted() {
		switch {
		case f.Code == code && !found:
			found = true
			if got := placeOf(f); want.file != "" && got != want {
				t.Errorf("%s points at %v, want %v", code, got, want)
			}
		case f.Severity != diag.Note:
			others = append(others, f)
		}
		if f.Severity == diag.Error && f.Label == "" && f.Help == "" {
			t.Errorf("%s: %s: neither valid values nor a cure", f.Code, f.Message)
		}
	}
	if code != "none" {
		if !found {
			t.Errorf("no finding %s", code)
		}
		for _, f := range others {
			t.Errorf("one mistake, and also %s: %s", f.Code, f.Message)
		}
	}

	var text bytes.Buffer
	if err := diag.WriteText(&text, &res.Findings, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), dir) {
		t.Errorf("findings name an absolute path:\n%s", text.String())
	}
	compareMember(t, file, archive, "findings.txt", text.Bytes())

	in.Files = os.DirFS(dir)
	elsewhere, err := compiler.Compile(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := diag.WriteText(&again, &elsewhere.Findings, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := diffTexts(text.String(), again.String()); d != "" {
		t.Errorf("from a file system the findings differ:\n%s", d)
	}
}

// layCase writes a case's blueprint to a directory, and returns the expected code
// and its position.
func layCase(t *testing.T, archive *txtar.Archive) (code string, in compiler.Input, want place) {
	t.Helper()
	header, args, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
	dir := t.TempDir()
	given := map[string]string{}
	for _, f := range archive.Files {
		given[f.Name] = string(f.Data)
	}
	if old, edit := given["old"]; edit {
		given = fixture.EditBatchPlatform(t, strings.TrimSuffix(old, "\n"), strings.TrimSuffix(given["new"], "\n"))
	}
	if more, ok := given["more"]; ok {
		small, err := os.ReadFile("cli/small.cue")
		if err != nil {
			t.Fatal(err)
		}
		delete(given, "more")
		given["platform.cue"] = string(small) + more
	}
	for name, content := range given {
		if name == "findings.txt" {
			continue
		}
		content, at := removeMarks(name, content)
		if at.file != "" {
			want = at
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in = compiler.Input{Dir: dir}
	for _, arg := range strings.Fields(args) {
		if tag, ok := strings.CutPrefix(arg, "-t"); ok {
			in.Tags = append(in.Tags, tag)
		} else {
			in.Paths = append(in.Paths, arg)
		}
	}
	return strings.TrimSpace(header), in, want
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

// removeMarks removes the guillemets from a file and returns the text between them.
func removeMarks(name, content string) (string, place) {
	start := strings.Index(content, "«")
	if start < 0 {
		return content, place{}
	}
	content = content[:start] + content[start+len("«"):]
	end := strings.Index(content, "»")
	return content[:end] + content[end+len("»"):], place{name, start, end}
}

// compareMember compares a file of an archive, or writes it with -update.
func compareMember(t *testing.T, file string, archive *txtar.Archive, name string, got []byte) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("%s has no %s", file, name)
	}
	if d := cmp.Diff(string(archive.Files[i].Data), string(got)); d != "" && !fixture.Updating() {
		t.Errorf("%s differs; run with -update and review:\n%s", name, d)
	}
	archive.Files[i].Data = got
	if fixture.Updating() {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryRuleHasACase checks that every rule has a case. Without a case, nobody
// has seen the rule work.
func TestEveryRuleHasACase(t *testing.T) {
	files, err := filepath.Glob("diag/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code, _, _ := strings.Cut(string(archive.Comment), "\n")
		covered[code] = true
	}
	seen := map[string]bool{}
	for _, r := range rules.All() {
		if !covered[r.Code] {
			t.Errorf("no case in golden/diag for %s: %s", r.Code, r.Title)
		}
		if seen[r.Code] {
			t.Errorf("two rules have the code %s", r.Code)
		}
		seen[r.Code] = true
	}
}
