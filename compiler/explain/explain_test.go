package explain_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/explain"
)

// alongside are codes that never come alone.
var alongside = map[string]string{
	"N0109": "E0101", // counts what was left out after fifty others
	"E1003": "W1004", // where there is no order, GPUs are counted together
	"E0232": "N1079", // the platform does not scrape Kueue of others
	"E1075": "N1079",
	"E1078": "N1079",
}

// TestExamples: an example of a mistake leads to its code, once and to nothing
// else, and its cure leads to nothing at all. Console examples are run by
// golden's TestExplainedCommands.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two examples of each code")
	}
	for _, code := range explain.Codes() {
		text := lookupText(t, code)
		if text.Language == "console" {
			continue
		}
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range compileExample(t, text.Language, text.Failing) {
				if f.Code != alongside[code] {
					got = append(got, f.Code)
				}
				if f.Span.Valid() && f.Span.Source.Name == base {
					t.Errorf("%s: %s: points at what the example does not show", f.Code, f.Message)
				}
			}
			if d := cmp.Diff([]string{code}, got); d != "" {
				t.Errorf("findings of the mistake:\n%s", d)
			}
			for _, f := range compileExample(t, text.Language, text.Fixed) {
				t.Errorf("finding of the cure: %s: %s", f.Code, f.Message)
			}
		})
	}
}

// TestAcceptedExamples: a text shows how to accept a finding if that can be
// done, and then the finding is a note.
func TestAcceptedExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an example of each code that can be accepted")
	}
	can := map[string]bool{}
	for _, c := range compiler.Codes() {
		can[c.ID] = c.Acceptable
	}
	for _, code := range explain.Codes() {
		text := lookupText(t, code)
		if can[code] != (text.Accepted != "") {
			t.Errorf("%s can be accepted: %v, and its text has accepted.cue: %v", code, can[code], !can[code])
		}
		if text.Accepted == "" {
			continue
		}
		for _, f := range compileExample(t, text.Language, text.Failing+text.Accepted) {
			if f.Code == alongside[code] {
				continue
			}
			if f.Code != code || f.Severity != diag.Note || f.Accepted == "" {
				t.Errorf("%s is not accepted: %s %s: %s", code, f.Severity, f.Code, f.Message)
			}
		}
	}
}

// base is the file that holds what an example leaves out.
const base = "base.cue"

// compileExample returns the findings of an example.
func compileExample(t *testing.T, language, example string) []diag.Finding {
	t.Helper()
	parts, err := txtar.ParseFile("testdata/base.txtar")
	if err != nil {
		t.Fatal(err)
	}
	const clause = "package platform\n\n"
	var rest strings.Builder
	rest.WriteString(clause)
	for _, part := range parts.Files {
		if !regexp.MustCompile(`(?m)^` + part.Name + `:`).MatchString(example) {
			rest.Write(part.Data)
		}
	}
	if language == "cue" {
		example = clause + example
	}
	dir, name := t.TempDir(), "example."+language
	for file, content := range map[string]string{base: rest.String(), name: example} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: []string{base, name}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings.Sorted()
}

func lookupText(t *testing.T, code string) explain.Text {
	t.Helper()
	text, ok := explain.Lookup(code)
	if !ok {
		t.Fatalf("%s has no text that can be read", code)
	}
	return text
}
