package golden_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
)

// TestEdits applies the edit of every finding of golden/diag, and compiles again: the
// finding must be gone, and the file must still parse.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("diag/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	edits := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, in, _ := layCase(t, archive)
		res, err := compiler.Compile(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		all := res.Findings.Sorted()
		if slices.ContainsFunc(all, func(f diag.Finding) bool { return f.Code == "E0003" }) {
			continue // the file does not parse in the first place
		}
		for _, f := range all {
			if f.Edit != nil && !filepath.IsAbs(f.Edit.Span.Source.Name) {
				edits++
				checkEdit(t, file, in, f)
			}
		}
	}
	if edits < 30 {
		t.Errorf("only %d edits", edits)
	}
}

// checkEdit applies the edit of a finding, compiles, and restores the file.
func checkEdit(t *testing.T, file string, in compiler.Input, f diag.Finding) {
	t.Helper()
	name, span := filepath.Join(in.Dir, f.Edit.Span.Source.Name), f.Edit.Span
	content, err := os.ReadFile(name)
	if err != nil {
		return // standard input
	}
	edited := string(content[:span.Start]) + f.Edit.Text + string(content[span.End:])
	if err := os.WriteFile(name, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(name, content, 0o644)
	res, err := compiler.Compile(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(edited[strings.LastIndexByte(edited[:span.Start], '\n')+1:], "\n")
	for _, again := range res.Findings.Sorted() {
		if again.Code == "E0003" || again.Code == f.Code && again.Path == f.Path && again.Message == f.Message {
			t.Errorf("%s: after the edit %q in %q: %s: %s", file, f.Edit.Text, line, again.Code, again.Message)
		}
	}
}
