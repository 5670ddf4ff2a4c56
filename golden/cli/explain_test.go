package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/explain"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestExplainedCommands runs the console examples in the explanations of codes. Each
// example runs in a directory with small.cue, and with a schema other than this
// batchwright's in old/schema. In the example of a mistake only the last command has
// a finding: one, with the explained code. The example of the cure continues in the
// same directory, and none of its commands has a finding.
func TestExplainedCommands(t *testing.T) {
	small, err := os.ReadFile(fixture.Path("golden/testdata/small.cue"))
	if err != nil {
		t.Fatal(err)
	}
	finding := regexp.MustCompile(`(?:error|warning|note)\[(.*?)\]: `)
	ran := 0
	for _, code := range explain.Codes() {
		text, _ := explain.Lookup(code)
		if text.Language != "console" {
			continue
		}
		ran++
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range map[string][]byte{
				"small.cue": small, "old/schema/blueprint.cue": []byte("package schema\n"),
			} {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			failing, fixed := consoleCommands(text.Failing), consoleCommands(text.Fixed)
			for i, command := range slices.Concat(failing, fixed) {
				var got, want []string
				if i == len(failing)-1 {
					want = []string{code}
				}
				out := fixture.RunShell(t, dir, command)
				for _, m := range finding.FindAllStringSubmatch(out, -1) {
					got = append(got, m[1])
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s\nleads to %v, want %v:\n%s", command, got, want, out)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no text has a console example")
	}
}

// consoleCommands returns the commands of a console example, each after "$ ".
func consoleCommands(example string) []string {
	return strings.Split(strings.TrimPrefix(strings.TrimSpace(example), "$ "), "\n$ ")
}
