package main

import (
	"slices"
	"testing"

	"github.com/batchwright/batchwright/compiler/explain"
)

// TestEveryCodeHasAText: a code that cannot be looked up helps nobody, and a
// text that no code leads to is never read.
func TestEveryCodeHasAText(t *testing.T) {
	var listed []string
	for _, c := range codes() {
		listed = append(listed, c.ID)
	}
	for _, code := range explain.Codes() {
		if !slices.Contains(listed, code) {
			t.Errorf("%s has a text and is no code", code)
		}
	}
}
