package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/explain"
)

// TestEveryCodeHasAText: a code that cannot be looked up helps nobody, and a
// text that no code leads to is never read.
func TestEveryCodeHasAText(t *testing.T) {
	var listed []string
	for _, c := range findingCodes() {
		listed = append(listed, c.ID)
	}
	if d := cmp.Diff(listed, explain.Codes()); d != "" {
		t.Errorf("codes without compiler/explain/CODE.txtar (-) and texts without a code (+):\n%s", d)
	}
}

// GitHub takes at most 1024 characters of a rule's descriptions.
// Source: GitHub documentation, "SARIF support for code scanning".
func TestRuleHelp(t *testing.T) {
	for _, c := range findingCodes() {
		text, markdown := ruleHelp(c.ID)
		full, _, _ := strings.Cut(text, "\n\n")
		if len(c.Title) > 1024 || len(full) > 1024 {
			t.Errorf("%s: a description of %d characters", c.ID, max(len(c.Title), len(full)))
		}
		about, _ := explain.Lookup(c.ID)
		if fences := strings.Count(markdown, "```"); fences != 2*len(about.Examples()) {
			t.Errorf("%s: %d fences around %d examples:\n%s", c.ID, fences, len(about.Examples()), markdown)
		}
	}
	text, markdown := ruleHelp("E0107")
	if want := "usual value as a default with *."; !strings.HasSuffix(text, want) {
		t.Errorf("got %q, want %q at its end", text, want)
	}
	const want = "usual value as a default with \\*.\n\nCauses the finding:\n\n```cue\nteams: "
	if !strings.Contains(markdown, want) {
		t.Errorf("got %q, want %q in it", markdown, want)
	}
	if text, markdown := ruleHelp("E9999"); text != "" || markdown != "" {
		t.Errorf("an explanation of nothing: %q, %q", text, markdown)
	}
}
