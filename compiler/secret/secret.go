// Package secret finds keys, tokens and passwords in text. It recognises a secret
// by a shape that a vendor documents, by its place in a URL or in the arguments of a
// program, or by a name. A name that
// announces a secret needs a value that looks random; a name such as DB_PASSWORD, which
// certainly announces a secret, needs a value that is no placeholder.
//
// The time is proportional to the length of the text.
package secret

import (
	"math"
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
	s := scanner{text: text, end: -1, generous: generous}
	for at := 0; at < len(text); {
		if key, ok := s.privateKey(at); ok {
			s.found = append(s.found, key)
			at = key.End
			continue
		}
		if password, ok := s.userPassword(at); ok {
			s.found = append(s.found, password)
			at = password.End
			continue
		}
		if password, ok := s.argumentPassword(at); ok {
			s.found = append(s.found, password)
			at = password.End
			continue
		}
		if password, ok := s.hostPassword(at); ok {
			s.found = append(s.found, password)
			at = password.End
			continue
		}
		start, end := s.wordAt(at)
		if start == end {
			at++
			continue
		}
		if token, ok := shapeAt(text, start); ok {
			s.found = append(s.found, token)
			end = max(end, token.End)
		} else if value, ok := s.valueOf(start, end); ok {
			s.found = append(s.found, value)
			end = value.End
		}
		at = end
	}
	return s.found
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
	text  string
	found []Match
	end   int // offset of the next end of a private key; -1 before the first search
	// generous reports whether a quoted password need not have digits.
	generous bool
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isWord(c byte) bool { return isAlphanumeric(c) || c == '_' }

// wordAt returns the word that begins at an offset: letters, digits and the characters
// that join them. An escape such as "\n" before "ghp_" is not part of the word.
func (s *scanner) wordAt(at int) (start, end int) {
	if at > 0 && s.text[at-1] == '\\' || !isWord(s.text[at]) {
		return at, at
	}
	for end = at + 1; end < len(s.text); end++ {
		joins := (s.text[end] == '-' || s.text[end] == '.') && end+1 < len(s.text) && isWord(s.text[end+1])
		if !isWord(s.text[end]) && !joins {
			break
		}
	}
	return at, end
}

const (
	keyBegin, keyEnd = "-----BEGIN ", "-----END "
	// The longest label before "PRIVATE KEY", and the most headers after it.
	keyLabel, keyHeaders = 30, 300
	// The shortest run of base64 that is a line of a key.
	keyLine = 40
	// The longest key: one of 8192 bits has 6,400 bytes.
	keyLongest = 10_000
)

// privateKey returns the private key, in the textual encoding, that begins at an
// offset. A text that only mentions the first line of a key, such as a search
// command, is not a key. Source: RFC 7468, sections 2, 10 and 11.
func (s *scanner) privateKey(at int) (Match, bool) {
	text := s.text[at:]
	if text[0] != '-' || !strings.HasPrefix(text, keyBegin) {
		return Match{}, false
	}
	label := text[len(keyBegin):min(len(text), len(keyBegin)+keyLabel)]
	before, _, found := strings.Cut(label, "PRIVATE KEY")
	if !found || strings.Contains(before, "\n") {
		return Match{}, false
	}
	body := at + len(keyBegin) + len(before) + len("PRIVATE KEY")
	run := 0
	for i := body; i < min(len(s.text), body+keyHeaders) && run < keyLine; i++ {
		if c := s.text[i]; isAlphanumeric(c) || c == '+' || c == '/' {
			run++
		} else {
			run = 0
		}
	}
	if run < keyLine {
		return Match{}, false
	}
	if s.end < body {
		s.end = len(s.text)
		if i := strings.Index(s.text[body:], keyEnd); i >= 0 {
			s.end = body + i
		}
	}
	return Match{at, min(s.end, at+keyLongest), "a private key", true}, true
}

// valueOf returns the secret that is the value of a name in a text, as in
// "API_KEY=...", "api_key: '...'", "--api-key ..." and the list "--api-key", "...".
func (s *scanner) valueOf(start, end int) (Match, bool) {
	name := s.text[start:end]
	at := s.skipBytes(s.skipBytes(end, `\"']`, 4), " \t", 4)
	sign, flag := at, start > 0 && s.text[start-1] == '-'
	switch {
	case at < len(s.text) && s.text[at] == ',' && flag:
		at++
	case at < len(s.text) && (s.text[at] == ':' || s.text[at] == '='):
		at = s.skipBytes(at, ":=>", 2)
	case at > end && (flag || name == "Bearer"):
	default:
		return Match{}, false
	}
	if !saysSecret(name) && nameSureness(name) == notSure {
		return Match{}, false
	}
	spaces := at
	at = s.skipBytes(at, " \t", 4)
	if s.generous && s.text[spaces-1] == ':' { // a list, which the schema refuses
		at = s.skipBytes(at, "[ \t", 4)
	}
	quote := at
	at = s.skipBytes(at, `\"'#`, 4)
	if _, ok := shapeAt(s.text, at); ok {
		return Match{}, false // already found by its shape
	}
	last := s.valueEnd(at)
	random := saysSecret(name) && looksRandom(s.text[at:last])
	if !random && !s.isShortValue(assignment{name, flag, end, sign, spaces, quote, at, last}) {
		return Match{}, false
	}
	return Match{at, last, "the value of " + name, false}, true
}

// valueEnd returns the end of the value that begins at an offset. A value ends at an
// assignment, so that no text is read twice.
func (s *scanner) valueEnd(at int) int {
	for at < len(s.text) && s.text[at] > ' ' && strings.IndexByte("\\\"'`,;:=(){}[]<>|", s.text[at]) < 0 {
		at++
	}
	return at
}

// assignment is a name with its value in a text, by byte offsets.
type assignment struct {
	name        string
	flag        bool // a hyphen stands before the name
	end         int  // of the name
	sign        int  // of the sign between the name and the value, if there is one
	afterSign   int
	quote       int // of the value's first quote, if it has one
	value, last int // the value's start and end
}

// isShortValue reports whether the value of an assignment is a short secret. It accepts
// a quoted value, a flag, an assignment of a shell and a field of YAML. In a program,
// other text after a name is as likely a variable.
func (s *scanner) isShortValue(a assignment) bool {
	value, sign := s.text[a.value:a.last], s.text[a.sign:a.afterSign]
	next := "\n" // the end of the text ends the line
	if a.last < len(s.text) {
		next = s.text[a.last : a.last+1]
	}
	switch constant := a.name == strings.ToUpper(a.name); {
	case sign == "==":
		return false
	case a.value > a.quote && (sign != "" || a.flag):
		closed := next == s.text[a.value-1:a.value] || next == `\`
		return closed && (a.flag || strings.ToLower(a.name) != "token") && isShort(a.name, value, !s.generous)
	case strings.Contains("([{<.", next):
		return false
	case a.flag && a.value == a.quote:
	default:
		shell := sign == "=" && constant && a.value == a.end+1
		if !shell && !s.isFieldOfYAML(a, next) {
			return false
		}
	}
	return isShort(a.name, value, true)
}

// isFieldOfYAML reports whether an assignment is a field of YAML with a password. next
// is the character after the value.
func (s *scanner) isFieldOfYAML(a assignment, next string) bool {
	return s.text[a.sign:a.afterSign] == ":" && a.value > a.afterSign && strings.Contains("\n\r\\", next) &&
		nameSureness(a.name) == password
}

// skipBytes returns the offset after at most most of the given bytes.
func (s *scanner) skipBytes(at int, bytes string, most int) int {
	for ; most > 0 && at < len(s.text) && strings.IndexByte(bytes, s.text[at]) >= 0; most-- {
		at++
	}
	return at
}

// saysSecret reports whether a name announces that its value is a secret. The name
// of a secret's place, such as TOKEN_FILE, does not.
func saysSecret(name string) bool {
	words := splitName(name)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "file", "path", "dir", "name", "url", "uri", "id", "ref", "type", "length", "size", "count", "ttl":
		return false
	}
	for i, word := range words {
		switch word {
		case "token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "bearer",
			"apikey", "accesskey", "secretkey", "privatekey":
			return true
		case "key":
			if i > 0 {
				switch words[i-1] {
				case "api", "access", "account", "auth", "private", "signing", "encryption", "ssh":
					return true
				}
			}
		}
	}
	return false
}

// splitName returns the words of a name in lower case. For apiKey, API_KEY and
// api-key it returns "api" and "key".
func splitName(name string) []string {
	const longest = 100 // longest name in bytes: anything longer is text
	if len(name) > longest {
		return nil
	}
	var words []string
	var word []byte
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = nil
		}
	}
	lower := false // the previous byte is lower case
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			flush()
			lower = false
			continue
		case 'A' <= c && c <= 'Z':
			if lower {
				flush()
			}
			lower = false
			c += 'a' - 'A'
		default:
			lower = 'a' <= c && c <= 'z'
		}
		word = append(word, c)
	}
	flush()
	return words
}

// longestValue is the most bytes of a value that its name marks as a secret.
const longestValue = 1000

// looksRandom reports whether a value looks machine-made: it has a long run that
// alternates between letters and digits, or a long run of hexadecimal digits.
// References, paths, versions and words do not look random.
func looksRandom(value string) bool {
	const shortest = 16
	switch {
	case len(value) < shortest || len(value) > longestValue || isPlaceholder(value):
		return false
	case strings.ContainsAny(value, " \t\n$") || strings.Contains(value, "://"):
		return false
	}
	for at := 0; at < len(value); {
		if !isAlphanumeric(value[at]) {
			at++
			continue
		}
		end := at
		for end < len(value) && isAlphanumeric(value[end]) {
			end++
		}
		if isRandomRun(value[at:end]) {
			return true
		}
		at = end
	}
	return false
}

// isRandomRun reports whether letters and digits without a break look random.
func isRandomRun(run string) bool {
	const (
		shortest    = 12
		leastBits   = 3.0 // bits of entropy per byte; 16 hexadecimal digits have 3.4 on average
		leastChange = 4   // changes between digits and letters, and between lower and upper case
	)
	if len(run) < shortest || byteEntropy(run) < leastBits {
		return false
	}
	changes, digits := 0, false
	class := func(c byte) int {
		switch {
		case c <= '9':
			return 0
		case c <= 'Z':
			return 1
		}
		return 2
	}
	for i := range len(run) {
		digits = digits || class(run[i]) == 0
		if i > 0 && class(run[i]) != class(run[i-1]) {
			changes++
		}
	}
	return digits && changes >= leastChange
}

// isPlaceholder reports whether a value is a placeholder for a secret.
func isPlaceholder(value string) bool {
	upper := strings.ToUpper(value)
	for _, word := range []string{"EXAMPLE", "PLACEHOLDER", "REDACTED", "CHANGEME", "XXXXXX"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

// byteEntropy returns Shannon's entropy of a text in bits per byte.
func byteEntropy(text string) float64 {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
