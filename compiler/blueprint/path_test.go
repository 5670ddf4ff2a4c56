package blueprint

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePath(t *testing.T) {
	for path, want := range map[string][]string{
		"":                                   nil,
		".":                                  nil,
		"cluster":                            {"cluster"},
		"teams.team-a.quota":                 {"teams", "team-a", "quota"},
		`teams.team-a.quota.lp."l4-spot"`:    {"teams", "team-a", "quota", "lp", "l4-spot"},
		`workloads.train.files."a.b\"c".x`:   {"workloads", "train", "files", `a.b"c`, "x"},
		"zones[0]":                           {"zones", "[0]"},
		`teams["team-a"].roles[12]`:          {"teams", "team-a", "roles", "[12]"},
		"capacity.*.consumption.reservation": {"capacity", "*", "consumption", "reservation"},
	} {
		got, err := parsePath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	for _, path := range []string{"a..b", ".a", "a.", `a."b`, "a[b]", "a[-1]", "a[0", `"a"b`, "a[]"} {
		if got, err := parsePath(path); !errors.As(err, new(*PathError)) {
			t.Errorf("%s: got %q, %v, want a PathError", path, got, err)
		}
	}
}
