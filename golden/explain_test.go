package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/explain"
)

// TestExplainedCommands runs the console examples of the texts on codes, each
// in a directory that holds small.cue. Only the last command of a mistake may
// fail, and its findings are one, of that code; no command of the cure, which
// goes on from there, has a finding of its code.
func TestExplainedCommands(t *testing.T) {
	bin := buildBatchwright(t)
	small, err := os.ReadFile("cli/small.cue")
	if err != nil {
		t.Fatal(err)
	}
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
			if err := os.WriteFile(filepath.Join(dir, "small.cue"), small, 0o644); err != nil {
				t.Fatal(err)
			}
			commands := strings.Split(text.Failing, "\n$ ")
			for i, command := range commands {
				out := shell(t, dir, bin, strings.TrimPrefix(command, "$ "))
				want := 0
				if i == len(commands)-1 {
					want = 1
				}
				if n := strings.Count(out, "["); n != want || strings.Count(out, "["+code+"]") != want {
					t.Errorf("%s\nhas %d findings, want %d of %s:\n%s", command, n, want, code, out)
				}
			}
			for _, command := range strings.Split(text.Fixed, "\n$ ") {
				if out := shell(t, dir, bin, strings.TrimPrefix(command, "$ ")); strings.Contains(out, "[") {
					t.Errorf("%s\nis no cure:\n%s", command, out)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no text has a console example")
	}
}
