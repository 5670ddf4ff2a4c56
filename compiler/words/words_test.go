package words_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/words"
)

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 files differ", 1: "1 file differs", 2: "2 files differ"} {
		if got := words.Plural(n, "file differs", "files differ"); got != want {
			t.Errorf("Plural(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestGroupDigits(t *testing.T) {
	for s, want := range map[string]string{
		"0": "0", "999": "999", "1000": "1,000", "1234567": "1,234,567", "-12345.678": "-12,345.678", "-0.00": "0.00",
	} {
		if got := words.GroupDigits(s); got != want {
			t.Errorf("GroupDigits(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "node", "0 nodes"},
		{1, "node", "1 node"},
		{2, "node", "2 nodes"},
		{1, "capacity", "1 capacity"},
		{2, "capacity", "2 capacities"},
		{1, "PriorityClass", "1 PriorityClass"},
		{2, "PriorityClass", "2 PriorityClasses"},
		{2, "day", "2 days"},
	} {
		if got := words.Count(test.n, test.noun); got != test.want {
			t.Errorf("Count(%d, %q) = %q, want %q", test.n, test.noun, got, test.want)
		}
	}
}

func TestAmount(t *testing.T) {
	for _, test := range []struct{ quantity, decimal, amount string }{
		{"0", "0", "0 CPUs"},
		{"1", "1", "1 CPU"},
		{"1000m", "1", "1 CPU"},
		{"1500m", "1.5", "1.5 CPUs"},
		{"158200m", "158.2", "158.2 CPUs"},
		{"16k", "16000", "16000 CPUs"},
		{"2M", "2000000", "2000000 CPUs"},
		{"-2", "-2", "-2 CPUs"},
	} {
		q := resource.MustParse(test.quantity)
		if got := words.Decimal(q); got != test.decimal {
			t.Errorf("Decimal(%s) = %q, want %q", test.quantity, got, test.decimal)
		}
		if got := words.Amount(q, "CPU"); got != test.amount {
			t.Errorf("Amount(%s) = %q, want %q", test.quantity, got, test.amount)
		}
	}
}

func TestLists(t *testing.T) {
	for _, test := range []struct {
		items                  []string
		and, or, first, quoted string
	}{
		{nil, "", "", "", ""},
		{[]string{"a"}, "a", "a", "a", `"a"`},
		{[]string{"a", "b"}, "a and b", "a or b", "a, b", `"a", "b"`},
		{[]string{"a", "b", "c"}, "a, b and c", "a, b or c", "a, b and 1 more", `"a", "b", and 1 more`},
		{[]string{"a", "b", "c", "d"}, "a, b, c and d", "a, b, c or d", "a, b and 2 more", `"a", "b", and 2 more`},
	} {
		for name, pair := range map[string][2]string{
			"And":    {words.And(test.items), test.and},
			"Or":     {words.Or(test.items), test.or},
			"First":  {words.First(test.items, 2), test.first},
			"Quoted": {words.Quoted(test.items, 2), test.quoted},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s(%q) = %q, want %q", name, test.items, pair[0], pair[1])
			}
		}
	}
}

func TestQuotedEscapes(t *testing.T) {
	if got, want := words.Quoted([]string{"a\"\n"}, 1), `"a\"\n"`; got != want {
		t.Errorf("Quoted = %s, want %s", got, want)
	}
}

func TestTruncate(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"ab", 3, "ab"},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"日本語", 2, "日…"},
		{"ab", 1, "…"},
		{"a", 1, "a"},
	} {
		if got := words.Truncate(test.text, test.most); got != test.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a b":               "a b",
		"a\nb\r\tc\x00":     "a b  c ",
		"a\u2028b\u2029c":   "a b c",
		"a\u202eb\u2066c":   "a b c",
		"a\xffb":            "a\ufffdb",
		"a\x1b[31m\u0085é…": "a [31m é…",
	} {
		if got := words.OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestShell(t *testing.T) {
	for _, test := range []struct{ text, argument, quoted string }{
		{"", "''", "''"},
		{"plain-1.0", "plain-1.0", "'plain-1.0'"},
		{"--project=p", "--project=p", "'--project=p'"},
		{"a b", "'a b'", "'a b'"},
		{"it's", `'it'\''s'`, `'it'\''s'`},
		{"$(id)", "'$(id)'", "'$(id)'"},
		{"~", "'~'", "'~'"},
		{"a\u200b", "'a\u200b'", "'a\u200b'"},
	} {
		if got := words.ShellArgument(test.text); got != test.argument {
			t.Errorf("ShellArgument(%q) = %s, want %s", test.text, got, test.argument)
		}
		if got := words.ShellString(test.text); got != test.quoted {
			t.Errorf("ShellString(%q) = %s, want %s", test.text, got, test.quoted)
		}
	}
}

// TestShellReads gives every byte but 0 to a shell, alone and between letters.
func TestShellReads(t *testing.T) {
	var script, want strings.Builder
	for c := 1; c < 256; c++ {
		for _, s := range []string{string([]byte{byte(c)}), "x" + string([]byte{byte(c)}) + "y"} {
			script.WriteString("printf '%s\\n' " + words.ShellArgument(s) + "\nv=" + words.ShellString(s) +
				"\nprintf '%s\\n' \"$v\"\n")
			want.WriteString(s + "\n" + s + "\n")
		}
	}
	out, err := exec.Command("sh", "-c", script.String()).CombinedOutput()
	if err != nil || string(out) != want.String() {
		t.Errorf("a shell reads %q, want %q; %v", out, want.String(), err)
	}
}

func TestSplitCommand(t *testing.T) {
	for line, want := range map[string][]string{
		"python  train.py --lr=0.1": {"python", "train.py", "--lr=0.1"},
		"A=1 python":                {"sh", "-c", "A=1 python"},
		"ls ~/data":                 {"sh", "-c", "ls ~/data"},
		"echo 'a b'":                {"sh", "-c", "echo 'a b'"},
	} {
		if got := words.SplitCommand(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0s", 90: "90s", 119: "119s", 120: "2m", 3599: "59m59s", 3600: "1h", 3659: "1h1m", 3629: "1h",
		86390: "1d", 7199: "2h", 5400: "1h30m", 86400: "1d", 90061: "1d1h", 2*86400 + 59: "2d", 400 * 86400: "400d",
	} {
		if got := words.Span(seconds); got != want {
			t.Errorf("%d seconds: %s, want %s", seconds, got, want)
		}
	}
}
