package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/blueprint"
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
	if want := "so *2 alone is a mistake."; !strings.HasSuffix(text, want) {
		t.Errorf("got %q, want %q at its end", text, want)
	}
	const want = "so \\*2 alone is a mistake.\n\nCauses the finding:\n\n```cue\nteams: "
	if !strings.Contains(markdown, want) {
		t.Errorf("got %q, want %q in it", markdown, want)
	}
	if text, markdown := ruleHelp("E9999"); text != "" || markdown != "" {
		t.Errorf("an explanation of nothing: %q, %q", text, markdown)
	}
}

// TestTopics checks that each word means one topic, and that the fields of each topic exist.
func TestTopics(t *testing.T) {
	seen := map[string]bool{}
	for _, topic := range topics() {
		for _, w := range topic.words {
			if w != foldWord(w) || seen[w] {
				t.Errorf("the word %q is not folded, or belongs to two topics", w)
			}
			seen[w] = true
		}
		found, err := blueprint.FieldsAt(topic.fields)
		if err != nil || len(found) != len(topic.fields) || topic.absent && topic.note == "" {
			t.Errorf("%v: %d fields, %v", topic.words, len(found), err)
		}
	}
}
