package secret

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Short passwords and keys do not look random. Only a name that certainly announces a
// credential identifies them, together with a value that is not a placeholder, a
// reference, a path or the name of another thing.
//
// Source for the names, and for the values that are no secrets: Yelp detect-secrets,
// detect_secrets/plugins/keyword.py and detect_secrets/filters/heuristic.py.
var (
	// placeKinds are the last words of names of a secret's place, such as TOKEN_FILE.
	placeKinds = strings.Fields("file path dir name url uri id ref type length size count ttl")
	// secretWords announce a secret wherever they stand in a name.
	secretWords = strings.Fields(`token secret password passwd passphrase credential credentials bearer
		apikey accesskey secretkey privatekey`)
	// keyKinds are the words before "key" that make the name of a credential.
	keyKinds = strings.Fields("access account api auth database db encryption priv private secret service signing ssh")
	// secretKinds are the words before "secret" that make the name of a credential. Any
	// other name can be the name of a Kubernetes Secret.
	secretKinds = strings.Fields("app auth client consumer jwt oauth session signing webhook")
	// passOwners are the words before "pass" that make the name of a password. Other
	// passes are passes over data or of a compiler.
	passOwners = strings.Fields("admin database db ftp mongo mysql pg postgres redis smtp user")
	// vocabulary are the words before "token" that announce a token of a model's text.
	vocabulary = strings.Fields(`assistant audio begin bos class cls control decoder doc document end eos eot fim first
		forced image instruction lang language last mask max mem middle min new next num pad padding patch per prefix
		prompt query response role sep separator sequence special speaker start stop suffix system text think thinking
		tool trigger turn unk unknown user video vision`)
	// switches are the first words of names whose value decides about a secret, and is
	// none.
	switches = strings.Fields(`allow ask disable enable generate has is keep no prompt require reset rotate show skip
		use with without`)
	// fillers are words of values that stand for a secret, or for none.
	fillers = strings.Fields(`a an any anything default demo dummy empty fake false foo bar here ignored insert key
		local mock my n na needed nil no none not null off on pass passwd public pw replace required sample some string
		tbd test testing the this todo true undefined unset unused used user value with yes your`)
	// namedWords are words of values that are the name of a secret, such as
	// "postgres-password".
	namedWords = strings.Fields("token secret secrets password passphrase credential credentials apikey")
)

// splitName returns the words of a name in lower case. For apiKey, API_KEY and
// api-key it returns "api" and "key".
func splitName(name string) []string {
	const longest = 100 // longest name in bytes: anything longer is text
	if len(name) > longest {
		return nil
	}
	var spaced []byte
	for i := range len(name) {
		if i > 0 && 'A' <= name[i] && name[i] <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			spaced = append(spaced, '_')
		}
		spaced = append(spaced, name[i])
	}
	return strings.FieldsFunc(strings.ToLower(string(spaced)), isSeparator)
}

func isSeparator(c rune) bool { return c == '_' || c == '-' || c == '.' }

// saysSecret reports whether a name announces that its value is a secret.
func saysSecret(name string) bool {
	words := splitName(name)
	if len(words) == 0 || slices.Contains(placeKinds, words[len(words)-1]) {
		return false
	}
	for i, word := range words {
		if slices.Contains(secretWords, word) || word == "key" && i > 0 && slices.Contains(keyKinds, words[i-1]) {
			return true
		}
	}
	return false
}

// sureness says how certainly a name announces a secret that need not look random.
type sureness int

const (
	notSure  sureness = iota
	keyLike           // a key, a token or a client secret: a service generates it
	password          // a password, which a person can choose
)

// nameSureness returns how certainly a name announces a short secret.
func nameSureness(name string) sureness {
	words := splitName(name)
	if len(words) == 0 || slices.Contains(switches, words[0]) {
		return notSure
	}
	last := strings.TrimRight(words[len(words)-1], digits)
	before := ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case strings.HasSuffix(last, "password"), strings.HasSuffix(last, "passwd"), last == "passphrase",
		last == "pwd" && before != "" && before != "old", last == "pass" && slices.Contains(passOwners, before):
		return password
	case last == "apikey", last == "accesskey", last == "secretkey", last == "privatekey",
		last == "key" && slices.Contains(keyKinds, before),
		last == "secret" && slices.Contains(secretKinds, before),
		last == "token" && !slices.Contains(vocabulary, before):
		return keyLike
	}
	return notSure
}

// longestValue is the most bytes of a value that its name marks as a secret.
const longestValue = 1000

func isAlphanumeric(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// hasRun reports whether a text has at least least characters of a kind in a row.
func hasRun(text string, least int, kind func(rune) bool) bool {
	runs := strings.FieldsFunc(text, func(c rune) bool { return !kind(c) })
	return slices.ContainsFunc(runs, func(run string) bool { return len(run) >= least })
}

// sameKind matches digits, or letters of the same case.
var sameKind = regexp.MustCompile(`[0-9]+|[A-Z]+|[a-z]+`)

// looksRandom reports whether a value looks machine-made: it has a long run of letters
// and digits that alternate. References, paths, versions and words do not look random.
func looksRandom(value string) bool {
	const (
		shortest, shortestRun = 16, 12
		leastBits             = 3.0 // bits of entropy per byte; 16 hexadecimal digits have 3.4 on average
		leastKinds            = 5   // parts of digits, of upper-case and of lower-case letters
	)
	if len(value) < shortest || len(value) > longestValue || isPlaceholder(value) ||
		strings.ContainsAny(value, " \t\n$") || strings.Contains(value, "://") {
		return false
	}
	runs := strings.FieldsFunc(value, func(c rune) bool { return !isAlphanumeric(c) })
	return slices.ContainsFunc(runs, func(run string) bool {
		return len(run) >= shortestRun && byteEntropy(run) >= leastBits && strings.ContainsAny(run, digits) &&
			len(sameKind.FindAllString(run, leastKinds)) == leastKinds
	})
}

// isPlaceholder reports whether a value is a placeholder for a secret.
func isPlaceholder(value string) bool {
	upper := strings.ToUpper(value)
	return slices.ContainsFunc([]string{"EXAMPLE", "PLACEHOLDER", "REDACTED", "CHANGEME", "XXXXXX"},
		func(word string) bool { return strings.Contains(upper, word) })
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

// isShort reports whether the value of a name is a short secret. If strict is true,
// the text around the value can be a program, in which a word without digits is as
// likely a variable.
func isShort(name, value string, strict bool) bool {
	sure := nameSureness(name)
	if sure == notSure || !canBePassword(value) || isFiller(name, value) {
		return false
	}
	hasLetters, hasDigits := strings.ContainsAny(value, alphanumeric[len(digits):]), strings.ContainsAny(value, digits)
	switch {
	case strict, sure == keyLike:
		return hasLetters && hasDigits && len(value) >= 6
	}
	return hasLetters || hasDigits && len(value) >= 6
}

// fileName matches a value that ends like a file's name or an attribute of a program.
var fileName = regexp.MustCompile(`\.[A-Za-z_]{2,}$`)

// canBePassword reports whether a text has the form of a password, and not of a path, a
// reference, a placeholder or a number.
func canBePassword(value string) bool {
	const shortest, leastBits = 4, 1.0
	return len(value) >= shortest && len(value) <= longestValue && byteEntropy(value) >= leastBits &&
		!isPlaceholder(value) && !strings.ContainsAny(value, " \t\r\n$`<>{}[]()|\\\"'/,;") &&
		!strings.ContainsAny(value[:1], ".~-@%*&:#=") && !strings.HasPrefix(value, "sha256:") &&
		!fileName.MatchString(value)
}

// isFiller reports whether a value only says that a secret belongs here: it repeats the
// name, consists of words such as "your-token", or is the name of a secret.
func isFiller(name, value string) bool {
	names, all := splitName(name), true
	for _, word := range splitName(value) {
		bare := strings.TrimRight(word, digits)
		if slices.Contains(namedWords, bare) {
			return true
		}
		all = all && (bare == "" && len(word) < 6 || slices.Contains(fillers, bare) || slices.Contains(names, bare))
	}
	return all
}

// isUsersPassword reports whether a text is the password of a user.
func isUsersPassword(user, password string) bool {
	_, shaped := shapeAt(password, 0)
	return !shaped && password != user && canBePassword(strings.TrimPrefix(password, "%")) && !isFiller(user, password)
}

// The passwords of addresses: "://USER:PASSWORD@" by RFC 3986, section 3.2.1, and
// "USER:PASSWORD@HOST/PATH" without a scheme. Without a path, the latter can be an
// address of mail with a prefix, such as a member of a role.
const inAddress = "[^@/?#\\s\"'`<>{}$\\\\*()\\[\\],;]"

var (
	inURL      = regexp.MustCompile(`^://([^:@/?#\s]*):(` + inAddress + `+)@`)
	beforeHost = regexp.MustCompile(`^([\w.-]+):(` + inAddress + `+)@[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?/`)
)

// urlPassword returns the password of the URL whose scheme ends at an offset.
func (s scanner) urlPassword(at int) (Match, bool) {
	if !strings.HasPrefix(s.text[at:], "://") || at == 0 || !isAlphanumeric(rune(s.text[at-1])) {
		return Match{}, false
	}
	return s.addressPassword(inURL, at, "the password of a URL")
}

// hostPassword returns the password after the user between two offsets.
func (s scanner) hostPassword(at, end int) (Match, bool) {
	if end == len(s.text) || s.text[end] != ':' || at > 0 && strings.IndexByte(" \t\n\"'", s.text[at-1]) < 0 {
		return Match{}, false
	}
	return s.addressPassword(beforeHost, at, "the password before a host")
}

func (s scanner) addressPassword(form *regexp.Regexp, at int, what string) (Match, bool) {
	const longest = 500
	address := s.window(at, longest)
	m := form.FindStringSubmatchIndex(address)
	if m == nil || !isUsersPassword(address[m[2]:m[3]], address[m[4]:m[5]]) {
		return Match{}, false
	}
	return Match{at + m[4], at + m[5], what, false}, true
}

// passwordForm is a way in which programs take a password in an argument that no name
// announces.
type passwordForm struct {
	programs *regexp.Regexp // matches the text before the argument
	argument *regexp.Regexp // with groups for the flag, the user and the password
}

// Sources: curl's manual, -u and -U; MySQL's manual, "Command Options for Connecting to
// the Server", --password.
var passwordForms = []passwordForm{
	{startedBy(`curl`), regexp.MustCompile(`^(-[#0-9aBfgGiIjJkLlMnNOpqRsSvVZ]*[uU]|--(?:proxy-)?user\b)` +
		"[=\\s\"'\\\\,]{0,24}([^\\s:\"'\\\\`]+):([^\\s\"'\\\\`]+)")},
	{startedBy(`mariadb(?:-admin|-dump)?|mysql(?:admin|check|dump|import|show)?`),
		regexp.MustCompile("^(-p)()([^\\s\"'\\\\`]+)")},
}

// startedBy returns an expression that matches the text of a command before an argument, if
// one of the programs starts the command. In a list of elements, a line can end after a
// comma or a bracket, and a line of a shell after a backslash.
func startedBy(programs string) *regexp.Regexp {
	return regexp.MustCompile("(?:^|[\\s\"'\\\\,\\[(`/])(?:" + programs + ")[\\s\"'\\\\,]" +
		`(?:[^;|&\n\\]|&[^&]|\\[^n]|[,\[][ \t\r]*\n)*$`)
}

// passwordOf returns the password in the text of an argument.
func (f passwordForm) passwordOf(argument string) (Match, bool) {
	m := f.argument.FindStringSubmatchIndex(argument)
	if m == nil || !isUsersPassword(argument[m[4]:m[5]], argument[m[6]:m[7]]) {
		return Match{}, false
	}
	return Match{m[6], m[7], "the password of " + argument[m[2]:m[3]], false}, true
}

// argumentPassword returns the password in the argument that begins at an offset. The
// text is a line of a shell, or a list of quoted elements.
func (s scanner) argumentPassword(at int) (Match, bool) {
	const before, longest = 300, 400
	if at == 0 || strings.IndexByte(" \t\"'", s.text[at-1]) < 0 {
		return Match{}, false
	}
	for _, f := range passwordForms {
		if m, ok := f.passwordOf(s.window(at, longest)); ok && f.programs.MatchString(s.text[max(0, at-before):at]) {
			return Match{at + m.Start, at + m.End, m.What, false}, true
		}
	}
	return Match{}, false
}

// InArgument returns the password in an element of a command, by byte offsets, that the
// command's program identifies.
func InArgument(command []string, index int) (Match, bool) {
	for _, f := range passwordForms {
		starts := func(e string) bool { return f.programs.MatchString(path.Base(e) + " ") }
		if !slices.ContainsFunc(command[:index], starts) {
			continue
		}
		for _, flag := range []string{"", command[index-1] + " "} {
			if m, ok := f.passwordOf(flag + command[index]); ok && m.Start >= len(flag) {
				return Match{m.Start - len(flag), len(command[index]), m.What, false}, true
			}
		}
	}
	return Match{}, false
}
