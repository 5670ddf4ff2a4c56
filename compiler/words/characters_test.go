package words_test

import (
	"testing"
	"unicode"

	"github.com/batchwright/batchwright/compiler/words"
)

func TestPlainASCII(t *testing.T) {
	for text, want := range map[string][2]string{
		"teams":        {"teams", ""},
		"te\u0430ms":   {"teams", `"а" is U+0430 (Cyrillic), which looks like "a"`},
		"2\u00d72":     {"2x2", `"×" is U+00D7, which looks like "x"`},
		"us\u2013east": {"us-east", `"–" is U+2013, which looks like "-"`},
		"a\u200bb":     {"ab", "U+200B (zero-width space) is invisible"},
		"a\u00a0b":     {"a b", "U+00A0 (no-break space) is not a plain space"},
		"\uff54eams":   {"teams", `"ｔ" is U+FF54 (full width), which looks like "t"`},
		"\u202ea":      {"a", "U+202E (formatting character) is invisible"},
		"größe":        {"größe", ""},
	} {
		if plain, why := words.PlainASCII(text); plain != want[0] || why != want[1] {
			t.Errorf("PlainASCII(%+q) = %q, %q, want %q", text, plain, why, want)
		}
	}
	for r := rune(unicode.MaxASCII) + 1; r < 0x10000; r++ {
		plain, why := words.PlainASCII(string(r))
		for _, p := range plain {
			if why != "" && p > unicode.MaxASCII {
				t.Errorf("U+%04X becomes %+q, which is not ASCII", r, plain)
			}
		}
	}
}
