package compiler_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
)

// FuzzCompile: whatever is given as a blueprint in CUE, JSON or YAML leads to
// findings or to a plan, in time, and the findings can be shown.
func FuzzCompile(f *testing.F) {
	seed(f)
	known := map[string]bool{}
	for _, c := range compiler.Codes() {
		known[c.ID] = true
	}
	f.Fuzz(func(t *testing.T, source []byte, isYAML bool) {
		if len(source) > 8<<10 {
			t.Skip() // the limits are not what is looked for
		}
		path := "-"
		if isYAML {
			path = "yaml:-"
		}
		res, err := compiler.Compile(t.Context(), compiler.Input{
			Dir: os.TempDir(), Paths: []string{path}, Stdin: bytes.NewReader(source), MaxTime: 20 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		if (res.Plan == nil) != res.Findings.HasErrors() {
			t.Errorf("plan is nil: %v, errors: %v", res.Plan == nil, res.Findings.HasErrors())
		}
		for _, finding := range res.Findings.Sorted() {
			if !known[finding.Code] {
				t.Errorf("unknown code %q", finding.Code)
			}
			if finding.Code == "E0007" {
				t.Errorf("given up: %s", finding.Message)
			}
			spans := []diag.Span{finding.Span}
			for _, r := range finding.Related {
				spans = append(spans, r.Span)
			}
			if finding.Edit != nil {
				spans = append(spans, finding.Edit.Span)
			}
			for _, s := range spans {
				if s.Valid() && (s.Start < 0 || s.Start > s.End || s.End > len(s.Source.Content)) {
					t.Errorf("%s %s: bytes %d to %d of %d in %s", finding.Code, finding.Message, s.Start, s.End, len(s.Source.Content), s.Source.Name)
				}
			}
			if finding.Severity == diag.Error && finding.Label == "" && finding.Help == "" {
				t.Errorf("%s %s: neither valid values nor a cure", finding.Code, finding.Message)
			}
		}
		var text, lines bytes.Buffer
		if err := diag.WriteText(&text, &res.Findings, diag.TextOptions{}); err != nil {
			t.Error(err)
		}
		if err := diag.WriteJSON(&lines, &res.Findings); err != nil {
			t.Error(err)
		}
		if !utf8.Valid(text.Bytes()) || !utf8.Valid(lines.Bytes()) {
			t.Errorf("findings are not valid UTF-8:\n%q\n%q", text.Bytes(), lines.Bytes())
		}
		for line := range bytes.Lines(lines.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("not JSON: %q", line)
			}
		}
	})
}

// FuzzFormat: formatting fails with a finding, or leaves what formats to
// itself.
func FuzzFormat(f *testing.F) {
	for _, source := range cueSources(f) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 8<<10 {
			t.Skip()
		}
		formatted, findings, err := compiler.Format("x.cue", source)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range findings.Sorted() {
			if s := finding.Span; s.Start < 0 || s.Start > s.End || s.End > len(source) {
				t.Errorf("%s: bytes %d to %d of %d", finding.Message, s.Start, s.End, len(source))
			}
		}
		if findings.HasErrors() && formatted != nil {
			t.Error("formatted in spite of errors")
		}
	})
}

// seed adds the repository's blueprints and cases to the corpus.
func seed(f *testing.F) {
	for _, source := range cueSources(f) {
		f.Add(source, false)
	}
	for _, archive := range archives(f) {
		for _, file := range archive.Files {
			switch filepath.Ext(file.Name) {
			case ".json":
				f.Add(file.Data, false)
			case ".yaml":
				f.Add(file.Data, true)
			}
		}
	}
	for _, odd := range []string{
		"", "\xef\xbb\xbfname: \"x\"", "\xff\xfen\x00", "name: \"x\"\r", "x: 1e999999999", "x: 0x1p1", "@extern(embed)\npackage p\nx: _ @embed(file=\"/etc/passwd\")",
		"import \"tool/exec\"\nx: exec.Run & {cmd: \"true\"}", "name: string @tag(a,type=int)", "a: a", "a: b\nb: a", "x: \"\\(x)\"", "if name {}", "{}", "[]", "_|_", "name: *\"a\" | string",
		"for k, v in teams {x: k}", "x: {...}", "#Blueprint", "name!: string", "teams: [string]: {bucket: true}", "let x = 1\nname: x",
	} {
		f.Add([]byte(odd), false)
	}
	for _, odd := range []string{
		"a: &a [*a]", "a: &a {b: 1}\nc: {<<: *a}", "? [a]\n: b", "!!binary YQ==", "a: !!int \"1\"", "a: .inf\nb: .nan\nc: 0o17\nd: 2001-01-01", "--- a\n--- b", "a: |+\n  x\n\n", "name: null", "%YAML 1.1\n---\nname: x", "a: 'x\n\n y'",
	} {
		f.Add([]byte(odd), true)
	}
}

func cueSources(f *testing.F) [][]byte {
	var sources [][]byte
	files, err := filepath.Glob("../blueprints/*/*.cue")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, "../golden/cli/small.cue") {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		sources = append(sources, source)
	}
	for _, archive := range archives(f) {
		for _, file := range archive.Files {
			if filepath.Ext(file.Name) == ".cue" {
				sources = append(sources, file.Data)
			}
		}
	}
	slices.SortFunc(sources, func(a, b []byte) int { return strings.Compare(string(a), string(b)) })
	return slices.CompactFunc(sources, bytes.Equal)
}

// archives returns the cases of golden/diag, without the marks in them.
func archives(f *testing.F) []*txtar.Archive {
	names, err := filepath.Glob("../golden/diag/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal("no cases", err)
	}
	var all []*txtar.Archive
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, txtar.Parse([]byte(strings.NewReplacer("«", "", "»", "").Replace(string(content)))))
	}
	return all
}
