package blueprint

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzFormat: formatting fails with a finding, or leaves what formats to
// itself.
func FuzzFormat(f *testing.F) {
	files, err := filepath.Glob("../../blueprints/*/*.cue")
	if err != nil || len(files) == 0 {
		f.Fatal("no blueprints", err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	for _, source := range []string{
		"a:1 // b\n\n// c\n", "a: [1,\n2]", "a: \"\"\"\n\tx\n\t\"\"\"", "if x {a: 1}", "a: \"\\(b)\" & #\"\\#(c)\"#",
		"@extern(embed)\n\npackage p\n", "a: {", "import \"x\"\n", "\xef\xbb\xbfa:1", "a: 1\r\nb: 2\r\n",
	} {
		f.Add([]byte(source))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		source = source[:min(len(source), 8<<10)] // longer input only takes longer
		formatted, findings, err := Format("x.cue", source)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range findings.Sorted() {
			if s := finding.Span; s.Start < 0 || s.Start > s.End || s.End > len(source) {
				t.Errorf("%s: bytes %d to %d of %d", finding.Message, s.Start, s.End, len(source))
			}
		}
		if findings.HasErrors() {
			if formatted != nil {
				t.Error("formatted in spite of errors")
			}
			return
		}
		if _, findings, err := Format("x.cue", formatted); err != nil || findings.HasErrors() {
			t.Errorf("what was formatted does not parse: %q", formatted)
		}
	})
}
