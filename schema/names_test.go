package schema_test

import (
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/schema"
)

// TestNamesAreHarmless checks that names are safe in PromQL, CEL and paths, where
// they are written without escaping. Every constraint of the schema on a string,
// except those for people, must accept only characters that have no special meaning
// there.
func TestNamesAreHarmless(t *testing.T) {
	source, err := schema.Files.ReadFile("blueprint.cue")
	if err != nil {
		t.Fatal(err)
	}
	cc := cuecontext.New()
	definitions, err := cc.CompileBytes(source).Fields(cue.Definitions(true))
	if err != nil {
		t.Fatal(err)
	}
	checked, forPeople := 0, []string{"#BoardTitle", "#Description", "#Note", "#Reason"}
	for definitions.Next() {
		name, constraint := definitions.Selector().String(), definitions.Value()
		if constraint.IncompleteKind() != cue.StringKind || slices.Contains(forPeople, name) {
			continue
		}
		checked++
		for _, text := range hostile.Texts() {
			for _, s := range []string{
				text, "abc" + text, text + "abc", "ab" + text + "c1", "a/b:1" + text, "a@b.c" + text,
				"10.0.0.0/2" + text, "us-east1-a" + text,
			} {
				const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+"
				if strings.Trim(s, safe) != "" && constraint.Unify(cc.Encode(s)).Validate() == nil {
					t.Errorf("%s takes %q", name, s)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d constraints on strings, want all", checked)
	}
}
