package schema_test

import (
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// TestSeconds compares the lengths of durations, and checks that the schema accepts each
// of them. FormatSeconds of package words writes the shortest duration of the same length.
func TestSeconds(t *testing.T) {
	duration := durationDefinition(t)
	for _, test := range []struct {
		duration, shortest string
		seconds            int64
	}{
		{"1s", "1s", 1}, {"90s", "1m30s", 90}, {"5m", "5m", 300}, {"1h30m", "1h30m", 5400}, {"2d", "2d", 172800},
		{"1d2h3m4s", "1d2h3m4s", 93784}, {"1d4s", "1d4s", 86404}, {"5184000s", "60d", schema.MaxDuration},
		{"9999999d", "9999999d", 9999999 * 86400},
	} {
		if got := schema.Seconds(test.duration); got != test.seconds {
			t.Errorf("%s has %d seconds, want %d", test.duration, got, test.seconds)
		}
		if got := words.FormatSeconds(test.seconds); got != test.shortest {
			t.Errorf("%d seconds are %s, want %s", test.seconds, got, test.shortest)
		}
		if err := duration.Unify(cuecontext.New().Encode(test.duration)).Err(); err != nil {
			t.Errorf("the schema refuses %s: %v", test.duration, err)
		}
	}
	if got := words.FormatSeconds(0); got != "0s" {
		t.Errorf("no time is %s", got)
	}
}

// TestNoDuration checks texts that are not durations.
func TestNoDuration(t *testing.T) {
	duration := durationDefinition(t)
	for _, text := range []string{
		"", "5", "s", "0s", "05m", "1h0m", "30m1h", "1h1h", "1.5h", "1 h", "-1h", "+1h", "1w", "1H", "99999999s",
	} {
		if duration.Unify(cuecontext.New().Encode(text)).Err() == nil {
			t.Errorf("the schema accepts %q", text)
		}
	}
	for _, text := range []string{"", "5", "s", "30m1h", "1h1h", "1.5h", "1 h", "1w", "1H", "1h5"} {
		if got := schema.Seconds(text); got != 0 {
			t.Errorf("%q has %d seconds", text, got)
		}
	}
}

// durationDefinition returns a constraint of the embedded schema that is #Duration.
func durationDefinition(t *testing.T) cue.Value {
	t.Helper()
	rehearsal := entityConstraint(blueprintDefinition(t).LookupPath(cue.ParsePath("rehearsals")))
	v := rehearsal.LookupPath(cue.ParsePath("until")) // with a default, which is a duration
	if v.IncompleteKind() != cue.StringKind {
		t.Fatalf("until of a rehearsal: %v", v.Err())
	}
	return v
}
