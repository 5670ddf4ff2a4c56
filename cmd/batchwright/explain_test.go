package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/explain"
)

// TestEveryCodeHasAText: a code that cannot be looked up helps nobody, and a
// text that no code leads to is never read.
func TestEveryCodeHasAText(t *testing.T) {
	var listed []string
	for _, c := range codes() {
		listed = append(listed, c.ID)
	}
	if d := cmp.Diff(listed, explain.Codes()); d != "" {
		t.Errorf("codes without a text (-) and texts without a code (+):\n%s", d)
	}
}
