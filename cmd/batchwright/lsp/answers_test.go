package lsp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEditsTogether checks that one action makes all edits of a finding, also in several files,
// and that its title says the new text only if there is one.
func TestEditsTogether(t *testing.T) {
	a := edit{"/a.cue", textEdit{span{}, "x"}}
	b := edit{"/b.cue", textEdit{span{}, "y"}}
	got := new(Server).changeOf(a, b, a)["changes"]
	want := map[string][]textEdit{uriOf("/a.cue"): {a.textEdit, a.textEdit}, uriOf("/b.cue"): {b.textEdit}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for title, edits := range map[string][]edit{"use x": {a, a}, "correct all 2 places": {a, b}} {
		if got := titleOf(edits); got != title {
			t.Errorf("the title of %v is %q, want %q", edits, got, title)
		}
	}
}
