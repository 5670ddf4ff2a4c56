package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit/disk"
)

var isCode = regexp.MustCompile(`^[ENW][0-9]{4}$`)

// TestCodes holds the table of codes against the sources: what a finding says
// is in the table, and what is in the table some finding says.
func TestCodes(t *testing.T) {
	var listed []string
	numbers := map[string]bool{}
	for _, c := range findingCodes() {
		listed = append(listed, c.ID)
		if !isCode.MatchString(c.ID) || strings.ToUpper(c.Severity.String()[:1]) != c.ID[:1] {
			t.Errorf("%q is not the code of a %s", c.ID, c.Severity)
		}
		if number := c.ID[1:]; numbers[number] {
			t.Errorf("two codes have the number %s", number)
		} else {
			numbers[number] = true
		}
		if c.Title == "" || strings.HasSuffix(c.Title, ".") {
			t.Errorf("%s: a title like %q", c.ID, c.Title)
		}
	}
	if !slices.IsSortedFunc(findingCodes(), diag.Code.Compare) {
		t.Error("the codes are not in order")
	}
	said := codesInSources(t, "../..", "compiler/codes.go", "compiler/explain")
	slices.Sort(listed)
	if diff := cmp.Diff(said, listed); diff != "" {
		t.Errorf("codes in the sources (-) and in the table (+):\n%s", diff)
	}
}

// codesInSources returns the string literals below a directory that are codes,
// those of tests and of what is about codes apart, each once.
func codesInSources(t *testing.T, root string, about ...string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(slices.Contains(about, name) || name == "conformance" || strings.HasPrefix(name, ".") && name != "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".go", strings.HasSuffix(path, "_test.go"), slices.Contains(about, name):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && isCode.MatchString(text) {
					out = append(out, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestConflictCodes(t *testing.T) {
	for _, p := range []disk.Problem{disk.Edited, disk.Foreign, disk.Damaged, disk.Obstacle, disk.Linked} {
		got := conflictFindings("dir", []disk.Conflict{{Path: "f", Problem: p}})
		if len(got) != 1 || got[0].Code == "" || got[0].Help == "" || got[0].Severity != diag.Error {
			t.Errorf("%q: %+v", p, got)
		}
	}
}

func TestFromRepository(t *testing.T) {
	repository := t.TempDir()
	dir := filepath.Join(repository, "platforms", "prod")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := fromRepository(dir)
	// as in a worktree
	if err := os.WriteFile(filepath.Join(repository, ".git"), []byte("gitdir: elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := fromRepository(dir)
	above := filepath.ToSlash(filepath.Dir(repository)) + "/x.cue"
	for _, test := range []struct{ name, without, want string }{
		{"a.cue", "a.cue", "platforms/prod/a.cue"},
		{"sub/../a.cue", "sub/../a.cue", "platforms/prod/a.cue"},
		{"../a.cue", "../a.cue", "platforms/a.cue"},
		{"..", "..", "platforms"},
		{"../..", "../..", "."},
		{"../../../x.cue", "../../../x.cue", above},
		{filepath.Join(repository, "a.cue"), filepath.ToSlash(filepath.Join(repository, "a.cue")), "a.cue"},
		{above, above, above},
		{"-", "-", "-"},
	} {
		if got := inside(test.name); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if got := outside(test.name); got != test.without {
			t.Errorf("without a repository: %s: got %s, want %s", test.name, got, test.without)
		}
	}
}
