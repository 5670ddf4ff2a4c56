package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindReferences(t *testing.T) {
	for text, want := range map[string][]reference{
		"":                       nil,
		"5$":                     nil,
		"^a$b$":                  {{"$b", "b", false}},
		"$HOME/$(NAME)":          {{"$HOME", "HOME", false}, {"$(NAME)", "NAME", true}},
		"$$HOME $$(NAME)":        nil,
		"$$$HOME":                {{"$HOME", "HOME", false}},
		"${X}${Y:-z}":            {{"${X}", "X", false}, {"${Y:-z}", "Y", false}},
		"${oc.env:HOME} $1 $(":   nil,
		"$(date +%s)":            {{"$(date +%s)", "date +%s", true}},
		"$(unclosed $HOME":       {{"$HOME", "HOME", false}},
		"a$(A)b$(B)":             {{"$(A)", "A", true}, {"$(B)", "B", true}},
		"gs://$(BUCKET)/$(date)": {{"$(BUCKET)", "BUCKET", true}, {"$(date)", "date", true}},
	} {
		if d := cmp.Diff(want, findReferences(text), cmp.AllowUnexported(reference{})); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// A long text without any end of a reference is read in one pass.
func TestFindReferencesLong(t *testing.T) {
	const n = 1 << 16
	for _, part := range []string{"$(", "${a:-", "$"} {
		if got := len(findReferences(strings.Repeat(part, n))); got != 0 {
			t.Errorf("%q: %d references", part, got)
		}
	}
}

func TestPlainElements(t *testing.T) {
	for _, c := range []struct {
		want    int
		command []string
	}{
		{0, nil},
		{2, []string{"python", "train.py"}},
		{1, []string{"sh", "-c", "x"}},
		{4, []string{"timeout", "9", "/bin/bash", "-eu", "-lc", "x", "y"}},
		{4, []string{"bash", "-o", "pipefail", "-e", "-c", "x"}},
		{3, []string{"bash", "/workload/x.sh", "$HOME"}},
		{3, []string{"python", "-c", "x"}},
		{0, []string{"/usr/bin/awk", "{print $NF}"}},
		{1, []string{"sudo", "find", ".", "-exec", "ls", ";"}},
	} {
		if got := (container{command: c.command}).plainElements(); got != c.want {
			t.Errorf("%q: %d, want %d", c.command, got, c.want)
		}
	}
}

func TestOperator(t *testing.T) {
	for text, want := range map[string]bool{
		"&&": true, "||": true, "|": true, ";": true, "&": true, "<": true, ">": true, ">>": true, "2>": true,
		"2>&1": true, ">/dev/null": true, "&>>/tmp/log": true,
		"": false, "<pad>": false, "a>b": false, ">=2.0": false, "->": false, "-": false, "a;": false,
	} {
		if got := operator.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
