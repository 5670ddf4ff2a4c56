package secret

import (
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

// keyKinds are the words before "key" that make the name of a credential.
var keyKinds = []string{
	"access", "account", "api", "auth", "database", "db", "encryption", "priv", "private", "secret", "service",
	"signing",
}

// secretKinds are the words before "secret" that make the name of a credential. Any
// other name can be the name of a Kubernetes Secret.
var secretKinds = []string{"app", "auth", "client", "consumer", "jwt", "oauth", "session", "signing", "webhook"}

// vocabulary are the words before "token" that announce a token of a model's text.
var vocabulary = []string{
	"assistant", "audio", "begin", "bos", "class", "cls", "control", "decoder", "doc", "document", "end", "eos", "eot",
	"fim", "first", "forced", "image", "instruction", "lang", "language", "last", "mask", "max", "mem", "middle", "min",
	"new", "next", "num", "pad", "padding", "patch", "per", "prefix", "prompt", "query", "response", "role", "sep",
	"separator", "sequence", "special", "speaker", "start", "stop", "suffix", "system", "text", "think", "thinking",
	"tool", "trigger", "turn", "unk", "unknown", "user", "video", "vision",
}

// switches are the first words of names whose value decides about a secret, and is
// none.
var switches = []string{
	"allow", "ask", "disable", "enable", "generate", "has", "is", "keep", "no", "prompt", "require", "reset", "rotate",
	"show", "skip", "use", "with", "without",
}

// fillers are words of values that stand for a secret, or for none.
var fillers = []string{
	"a", "an", "any", "anything", "default", "demo", "dummy", "empty", "fake", "false", "foo", "bar", "here",
	"ignored", "insert", "key", "local", "mock", "my", "n", "na", "needed", "nil", "no", "none", "not", "null",
	"off", "on", "pass", "passwd", "public", "pw", "replace", "required", "sample", "some", "string", "tbd", "test",
	"testing", "the", "this", "todo", "true", "undefined", "unset", "unused", "used", "user", "value", "with",
	"yes", "your",
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
	last := strings.TrimRight(words[len(words)-1], "0123456789")
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

// passOwners are the words before "pass" that make the name of a password. Other
// passes are passes over data or of a compiler.
var passOwners = []string{"admin", "database", "db", "ftp", "mongo", "mysql", "pg", "postgres", "redis", "smtp", "user"}

// fileName matches a value that ends like a file's name or an attribute of a program.
var fileName = regexp.MustCompile(`\.[A-Za-z_]{2,}$`)

// isShort reports whether the value of a name is a short secret. If strict is true,
// the text around the value can be a program, in which a word without digits is as
// likely a variable.
func isShort(name, value string, strict bool) bool {
	sure := nameSureness(name)
	if sure == notSure || !canBePassword(value) {
		return false
	}
	letters := strings.ContainsFunc(value, func(c rune) bool { return c < 128 && isAlphanumeric(byte(c)) && c > '9' })
	digits := strings.ContainsAny(value, "0123456789")
	switch {
	case (strict || sure == keyLike) && !(letters && digits && len(value) >= 6),
		!letters && (!digits || len(value) < 6):
		return false
	}
	return !isFiller(name, value)
}

// canBePassword reports whether a text has the form of a password, and not of a path, a
// reference, a placeholder or a number.
func canBePassword(value string) bool {
	const shortest, leastBits = 4, 1.0
	switch {
	case len(value) < shortest || len(value) > longestValue || isPlaceholder(value) || byteEntropy(value) < leastBits:
		return false
	case strings.ContainsAny(value, " \t\r\n$`<>{}[]()|\\\"'/,;") || strings.IndexByte(".~-@%*&:#=", value[0]) >= 0:
		return false
	}
	return !fileName.MatchString(value) && !strings.HasPrefix(value, "sha256:")
}

// isFiller reports whether a value only says that a secret belongs here: it repeats the
// name, consists of words such as "your-token", or is the name of a secret, such as
// "postgres-password".
func isFiller(name, value string) bool {
	names := splitName(name)
	all, named := true, false
	for _, word := range splitName(value) {
		bare := strings.TrimRight(word, "0123456789")
		switch bare {
		case "token", "secret", "secrets", "password", "passphrase", "credential", "credentials", "apikey":
			named = true
		default:
			all = all && (bare == "" && len(word) < 6 || slices.Contains(fillers, bare) || slices.Contains(names, bare))
		}
	}
	return all || named
}

// userPassword returns the password of a URL of the form "scheme://user:password@host".
// at is the offset of "://". Source: RFC 3986, section 3.2.1.
func (s *scanner) userPassword(at int) (Match, bool) {
	const longest = 300
	if !strings.HasPrefix(s.text[at:], "://") || at == 0 || !isAlphanumeric(s.text[at-1]) {
		return Match{}, false
	}
	start := at + len("://")
	rest := s.text[start:min(len(s.text), start+longest)]
	end := strings.IndexAny(rest, "@/?# \t\r\n\"'`<>{}$\\*()[],;")
	if end < 0 || rest[end] != '@' {
		return Match{}, false
	}
	user, password, found := strings.Cut(rest[:end], ":")
	if _, shaped := shapeAt(password, 0); !found || shaped || password == user || len(password) < 4 ||
		strings.HasPrefix(password, "%s") || strings.HasPrefix(password, "%(") || byteEntropy(password) < 1 ||
		isPlaceholder(password) || isFiller(user, password) {
		return Match{}, false
	}
	from := start + len(user) + 1
	return Match{from, from + len(password), "the password of a URL", false}, true
}
