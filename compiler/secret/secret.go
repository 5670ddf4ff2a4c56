// Package secret finds keys, tokens and passwords in text. It recognises a secret
// by a shape that a vendor documents, by its place in a URL or in the arguments of a
// program, or by a name. A name that announces a secret needs a value that looks random;
// a name such as DB_PASSWORD, which certainly announces a secret, needs a value that is
// no placeholder.
//
// The time is proportional to the length of the text.
package secret

import (
	"regexp"
	"strings"
)

// Match is a secret in a text.
type Match struct {
	Start, End int    // byte offsets
	What       string // description, such as "a GitHub token" or "the value of DB_PASSWORD"
	// Shaped reports whether the shape alone identifies the secret. Otherwise its
	// name and its randomness do.
	Shaped bool
}

// Find returns the secrets in a text, in the order of the text. The text can be a
// value, or the source of a file in which quotes and line ends are escaped.
func Find(text string) []Match { return find(text, false) }

// find is Find. If generous is true, it also finds passwords of letters alone, which
// can be words of a text.
func find(text string, generous bool) []Match {
	var found []Match
	s := scanner{text, generous}
	for at := 0; at < len(text); {
		end := s.wordEnd(at)
		var m Match
		var ok bool
		switch {
		case text[at] == '-':
			if m, ok = s.privateKey(at); !ok {
				m, ok = s.argumentPassword(at)
			}
		case text[at] == ':':
			m, ok = s.urlPassword(at)
		case end > at:
			if m, ok = s.hostPassword(at, end); ok {
				break
			}
			if m, ok = shapeAt(text, at); !ok {
				m, ok = s.valueOf(at, end)
			}
		}
		at = max(at+1, end)
		if ok {
			found = append(found, m)
			at = max(at, m.End)
		}
	}
	return found
}

// IsValue reports whether a value is a secret, judged by the name of its variable or
// of its flag.
func IsValue(name, value string) bool {
	return saysSecret(name) && looksRandom(value) || isShort(name, value, false)
}

// Mask returns a text with an asterisk in place of each byte of a secret. It also masks
// passwords of letters alone, because to hide a word too many does no harm.
func Mask(text string) string {
	matches := find(text, true)
	if len(matches) == 0 {
		return text
	}
	out := []byte(text)
	for _, m := range matches {
		for i := m.Start; i < m.End; i++ {
			if out[i] != '\n' { // keeps the line structure
				out[i] = '*'
			}
		}
	}
	return string(out)
}

// MaskValue returns the text of a name's value as Mask does, with asterisks in place of
// the whole value if the name makes it a secret. The value can stand in quotes.
func MaskValue(name, value string) string {
	if bare := strings.Trim(value, `"'`); IsValue(name, bare) {
		return strings.ReplaceAll(value, bare, strings.Repeat("*", len(bare)))
	}
	return Mask(value)
}

// scanner finds secrets in a text.
type scanner struct {
	text     string
	generous bool // a quoted password need not have digits
}

// window returns at most most bytes of the text from an offset.
func (s scanner) window(at, most int) string { return s.text[at:min(len(s.text), at+most)] }

func isWord(c byte) bool { return c == '_' || isAlphanumeric(rune(c)) }

// wordEnd returns the end of the word that begins at an offset: letters, digits and the
// characters that join them. An escape such as "\n" before "ghp_" is not part of the word.
func (s scanner) wordEnd(at int) int {
	if at > 0 && s.text[at-1] == '\\' {
		return at
	}
	for end := at; ; end++ {
		joins := end > at && end+1 < len(s.text) && (s.text[end] == '-' || s.text[end] == '.') && isWord(s.text[end+1])
		if end == len(s.text) || !joins && !isWord(s.text[end]) {
			return end
		}
	}
}

// keyStart matches the first line of a private key.
var keyStart = regexp.MustCompile(`^-----BEGIN [^\n]{0,30}?PRIVATE KEY`)

// privateKey returns the private key, in the textual encoding, that begins at an
// offset. A text that only mentions the first line of a key, such as a search
// command, is not a key. Source: RFC 7468, sections 2, 10 and 11.
func (s scanner) privateKey(at int) (Match, bool) {
	const (
		line    = 40     // the shortest run of base64 that is a line of a key
		headers = 300    // the most bytes before it
		longest = 10_000 // a key of 8192 bits has 6,400 bytes
	)
	if !strings.HasPrefix(s.text[at:], "-----BEGIN ") {
		return Match{}, false
	}
	start := at + len(keyStart.FindString(s.window(at, longest)))
	body := s.window(start, headers)
	if start == at || !hasRun(body, line, func(c rune) bool { return c == '+' || c == '/' || isAlphanumeric(c) }) {
		return Match{}, false
	}
	key := s.window(at, longest)
	if end := strings.Index(key, "-----END "); end >= 0 {
		key = key[:end]
	}
	return Match{at, at + len(key), "a private key", true}, true
}

// afterName matches the text after a name: closing quotes and spaces, a sign, spaces,
// opening quotes, and the value. A value ends at an assignment, so that no text is read
// twice.
var afterName = regexp.MustCompile(`^([\\"'\]]{0,4}[ \t]{0,4})(,|[:=][:=>]?|)([ \t]{0,4})(\[[ \t]*|)([\\"'#]{0,4})` +
	"([^\\x00- \\\\\"'`,;:=(){}\\[\\]<>|]*)")

// assignment is a name with its value in a text.
type assignment struct {
	name                         string
	flag                         bool // a hyphen stands before the name
	before, sign, spaces, quotes string
	value                        string
	next                         string // the character after the value
}

// valueOf returns the secret that is the value of the name between two offsets, as in
// "API_KEY=...", "api_key: '...'", "--api-key ..." and the list "--api-key", "...".
func (s scanner) valueOf(start, end int) (Match, bool) {
	name, flag, rest := s.text[start:end], start > 0 && s.text[start-1] == '-', s.window(end, longestValue+50)
	needsSign := !flag && name != "Bearer"
	if needsSign && !strings.ContainsAny(rest[:min(len(rest), 9)], ":=") ||
		!saysSecret(name) && nameSureness(name) == notSure {
		return Match{}, false
	}
	at := afterName.FindStringSubmatchIndex(rest)
	group := func(i int) string { return rest[at[2*i]:at[2*i+1]] }
	// The end of the text ends the line.
	a := assignment{name, flag, group(1), group(2), group(3), group(5), group(6), "\n"}
	if list := group(4); a.sign == "" && (a.before == "" || needsSign) || a.sign == "," && !flag ||
		list != "" && (a.sign != ":" || !s.generous) { // a list, which the schema refuses
		return Match{}, false
	}
	m := Match{end + at[12], end + at[13], "the value of " + name, false}
	if m.End < len(s.text) {
		a.next = s.text[m.End : m.End+1]
	}
	_, shaped := shapeAt(s.text, m.Start) // already found by its shape
	return m, !shaped && (saysSecret(name) && looksRandom(a.value) || s.isShortValue(a))
}

// isShortValue reports whether the value of an assignment is a short secret. It accepts
// a quoted value, a flag, an assignment of a shell and a field of YAML. In a program,
// another text after a name is as likely a variable.
func (s scanner) isShortValue(a assignment) bool {
	switch {
	case a.sign == "==":
		return false
	case a.quotes != "" && (a.sign != "" || a.flag):
		closed := a.next == `\` || strings.HasSuffix(a.quotes, a.next)
		return closed && (a.flag || !strings.EqualFold(a.name, "token")) && isShort(a.name, a.value, !s.generous)
	case strings.Contains("([{<.", a.next):
		return false
	}
	shell := a.sign == "=" && a.name == strings.ToUpper(a.name) && a.before+a.spaces+a.quotes == ""
	field := a.sign == ":" && a.spaces+a.quotes != "" && strings.Contains("\n\r\\", a.next) &&
		nameSureness(a.name) == password
	return (a.flag && a.quotes == "" || shell || field) && isShort(a.name, a.value, true)
}
