package words

import (
	"fmt"
	"strings"
	"unicode"
)

// lookalikes are characters of other scripts that look like characters of ASCII, each
// before the character that it looks like. Source: Unicode Technical Standard 39,
// confusables.txt, without the letters that differ visibly. Word processors write the
// dashes for "-" and the multiplication sign for "x".
const lookalikes = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝw" + // Cyrillic
	"АAВBЕEКKМMНHОOРPСCТTХXЅSІIЈJ" +
	"οoαaνvιiρp" + // Greek
	"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
	"ıi‐-‑-‒-–-—-−-×x"

// invisible are names of characters that show nothing, or nothing except a space.
const invisible = "\u00a0no-break space\n\u00adsoft hyphen\n\u200bzero-width space\n\u200czero-width non-joiner\n" +
	"\u200dzero-width joiner\n\u200eleft-to-right mark\n\u200fright-to-left mark\n" +
	"\u202fnarrow no-break space\n\u2060word joiner\n\ufeffbyte order mark\n\u3000ideographic space\n"

// PlainASCII returns a text in which characters that look like ASCII are replaced by
// ASCII, and invisible characters are removed. It also describes the first such
// character, for a message; the description is "" if there is none.
func PlainASCII(s string) (plain, why string) {
	var b strings.Builder
	for _, r := range s {
		text, about := plainCharacter(r)
		if about != "" && why == "" {
			why = about
		}
		b.WriteString(text)
	}
	return b.String(), why
}

// plainCharacter returns the ASCII text that a character looks like, and a description
// of the character if it differs from the text.
func plainCharacter(r rune) (text, about string) {
	if r < unicode.MaxASCII {
		return string(r), ""
	}
	if name := nameInvisible(r); name != "" {
		if unicode.IsSpace(r) {
			return " ", fmt.Sprintf("U+%04X (%s) is not a plain space", r, name)
		}
		return "", fmt.Sprintf("U+%04X (%s) is invisible", r, name)
	}
	const fullWidth = '\uff01' - '!' // distance of the full-width form of a character
	like := rune(0)
	if '\uff01' <= r && r <= '\uff5e' {
		like = r - fullWidth
	} else if pair := []rune(lookalikes); strings.ContainsRune(lookalikes, r) {
		for i := 0; i < len(pair); i += 2 {
			if pair[i] == r {
				like = pair[i+1]
			}
		}
	}
	if like == 0 {
		return string(r), ""
	}
	return string(like), fmt.Sprintf("%q is U+%04X%s, which looks like %q", string(r), r, scriptOf(r), string(like))
}

// nameInvisible returns the name of an invisible character, or "".
func nameInvisible(r rune) string {
	for line := range strings.Lines(invisible) {
		if name, found := strings.CutPrefix(line, string(r)); found {
			return strings.TrimSpace(name)
		}
	}
	if unicode.In(r, unicode.Cf) {
		return "formatting character"
	}
	return ""
}

// scriptOf returns the script of a letter, in parentheses, or "".
func scriptOf(r rune) string {
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		return " (Cyrillic)"
	case unicode.Is(unicode.Greek, r):
		return " (Greek)"
	case '\uff01' <= r && r <= '\uff5e':
		return " (full width)"
	}
	return ""
}
