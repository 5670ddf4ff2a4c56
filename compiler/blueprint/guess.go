package blueprint

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// guess is a value that is probably meant instead of a wrong one.
type guess struct {
	source string // in CUE, in a form that YAML reads too; "" if there is none
	help   string // advice; "" for the question whether source is meant
}

// suggestValue adds to the finding on a wrong value the value that is probably meant.
// It changes nothing if there is no such value that the schema accepts.
func (g *grammar) suggestValue(f *diag.Finding, schema, value cue.Value, path []string) {
	for _, try := range g.guessValues(schema, value, path) {
		v := g.cue.CompileString(try.source)
		if try.source != "" {
			if v.Err() != nil || schema.Unify(v).Validate(cue.Concrete(true), cue.Final()) != nil {
				continue
			}
		}
		if f.Help = try.help; f.Help == "" {
			f.Help = "did you mean " + try.source + "?"
		}
		keepReference(f, value)
		if try.source != "" && isLiteral(f.Span, value) {
			f.Edits = []diag.Edit{{Span: f.Span, Text: try.source}}
			if text, err := v.MarshalJSON(); err == nil && strings.HasSuffix(f.Span.Source.Name, ".json") {
				f.Edits[0].Text = string(text)
			}
		}
		return
	}
}

// keepReference writes the reference at the place of a finding into its help, instead of
// the value that it stands for.
func keepReference(f *diag.Finding, value cue.Value) {
	written := f.Span.Text()
	text, err := value.MarshalJSON()
	if err != nil || !plainReference.MatchString(written) || isLiteral(f.Span, value) {
		return
	}
	name := cue.Str(slug(strings.TrimLeft(written, "_#"))).String()
	f.Help = strings.Replace(f.Help, "NAME: "+string(text), name+": "+written, 1)
	f.Help = strings.Replace(f.Help, "["+string(text)+"]", "["+written+"]", 1)
}

var plainReference = regexp.MustCompile(`^[_#A-Za-z][_A-Za-z0-9]*$`)

// isLiteral reports whether the text at a span is a value itself, and not an expression
// or a reference.
func isLiteral(at diag.Span, value cue.Value) bool {
	text := at.Text()
	if s, err := value.String(); err == nil {
		unquoted, err := strconv.Unquote(text)
		return text == s || err == nil && unquoted == s
	}
	switch {
	case text == "":
		return false
	case value.IncompleteKind()&cue.NumberKind != 0:
		return strings.IndexByte("-.0123456789", text[0]) >= 0 && !strings.ContainsAny(text, " *+/(")
	}
	return text == fmt.Sprint(value)
}

// guessValues returns the values that may be meant instead of a wrong one, the likeliest
// first. The schema may not accept them.
func (g *grammar) guessValues(schema, value cue.Value, path []string) []guess {
	if now, why := formerValue(path, describeValue(value)); now != "" {
		return []guess{{now, fmt.Sprintf("write %s, %s", now, why)}}
	}
	if above(path, "secretEnv") {
		return []guess{{help: nameSecret}}
	}
	if schema.IncompleteKind()&^cue.StructKind == 0 {
		return g.guessStruct(schema, value, path)
	}
	s, err := value.String()
	if err == nil {
		return guessFromString(s, schema, path)
	}
	text, err := value.MarshalJSON()
	if err != nil || value.IncompleteKind()&cue.NumberKind == 0 {
		if value.IncompleteKind() == cue.BoolKind && above(path, "labels", "namespaceLabels", "namespaces") {
			return []guess{{source: strconv.Quote(string(text))}}
		}
		return nil
	}
	guesses := append([]guess{{source: strconv.Quote(string(text))}}, guessAmount(string(text))...)
	guesses = append(guesses, guessDuration(string(text), path)...)
	guesses = append(guesses, guess{source: "[" + string(text) + "]"})
	if f, err := value.Float64(); err == nil && isExact(f, string(text)) && f == math.Trunc(f) {
		guesses = append(guesses, guess{source: strconv.FormatInt(int64(f), 10)})
	}
	return guesses
}

// above reports whether one of the names is the name of the struct of a field.
func above(path []string, names ...string) bool {
	return len(path) > 1 && slices.Contains(names, path[len(path)-2])
}

// isExact reports whether a number has exactly the value of its text. 1e-400 is read as
// 0, and a number above 2^53 is rounded.
func isExact(n float64, text string) bool {
	if n == 0 {
		return !strings.ContainsAny(text, "123456789")
	}
	return 1e-9 <= math.Abs(n) && math.Abs(n) < 1<<53
}

// guessContainer returns the values of a container's command or image that may be meant
// by a wrong string.
func guessContainer(s, field string) []guess {
	switch {
	case s == "":
		return nil
	case field == "command":
		return []guess{{source: quoteList(words.SplitCommand(s))}}
	case field == "image":
		return guessImage(s)
	}
	return nil
}

// guessImage returns the corrections of an image reference: only its tag can have upper
// case, it has a tag or a digest, and nothing replaces variables in it.
func guessImage(s string) []guess {
	name, tag := s, ""
	if colon := strings.LastIndexByte(s, ':'); colon > strings.LastIndexByte(s, '/') {
		name, tag = s[:colon], s[colon:]
	}
	switch {
	case strings.Contains(s, "$"):
		return []guess{{help: `write the value itself: Kubernetes replaces no variables in an image; ` +
			`in CUE, \(NAME) inserts a field`}}
	case strings.Contains(s, "@"):
		return []guess{
			{source: strconv.Quote(strings.ToLower(s))},
			{help: "write the digest as @sha256: and 64 hexadecimal digits in lower case, after the tag"},
		}
	case tag == "":
		tagged := strings.ToLower(s) + ":1.4"
		return []guess{{help: fmt.Sprintf("add a tag other than latest, such as %q, or a digest", tagged)}}
	}
	return []guess{{source: strconv.Quote(strings.ToLower(name) + tag)}}
}

// guessMember returns the member of a team that may be meant by a wrong string: an
// address without its kind, or the address of a Google group.
func guessMember(s string, path []string) []guess {
	if len(path) != 4 || path[0] != "teams" || path[2] != "members" || strings.Count(s, "@") != 1 {
		return nil
	}
	kind, address, found := strings.Cut(s, ":")
	switch {
	case !found && strings.HasSuffix(strings.ToLower(s), ".gserviceaccount.com"):
		return []guess{{source: strconv.Quote("serviceAccount:" + s)}}
	case !found:
		return []guess{{source: strconv.Quote("user:" + s)}}
	case strings.ToLower(kind) == "group":
		return []guess{{help: fmt.Sprintf("write group: %q in the team: members lists people and service accounts",
			strings.TrimSpace(address))}}
	}
	address = strings.TrimSpace(address)
	guesses := []guess{{source: strconv.Quote(diag.Nearest(kind, []string{"user", "serviceAccount"}) + ":" + address)}}
	if _, domain, _ := strings.Cut(address, "@"); !strings.Contains(domain, ".") {
		guesses = append(guesses, guess{help: `write "user:" and a whole address, such as "user:anna@example.com"`})
	}
	return guesses
}

// guessResource returns the name that is meant by the path of a resource of Google Cloud,
// such as "projects/net-host/regions/us-central1/subnetworks/batch". The help says what
// else the path tells.
func guessResource(s string, path []string) []guess {
	parts := strings.Split(strings.TrimSuffix(s, "/"), "/")
	if len(path) < 3 || path[1] != "existing" || len(parts) < 2 {
		return nil
	}
	ofCluster := path[0] == "cluster" && path[2] == "name"
	if path[0] != "network" && !ofCluster {
		return nil
	}
	also, must := "", ""
	for i, part := range parts[:len(parts)-1] {
		switch next := parts[i+1]; part {
		case "projects":
			if ofCluster {
				must = fmt.Sprintf("; the project of the cluster, %q, must be the project of the platform", next)
			} else if path[2] != "project" {
				also = fmt.Sprintf(", and network: existing: project: %q", next)
			}
		case "locations", "zones":
			also = fmt.Sprintf(", and location: %q", next)
		case "regions":
			must = fmt.Sprintf("; the region of the subnet, %q, must be the region of the platform", next)
		}
	}
	name := strconv.Quote(parts[len(parts)-1])
	return []guess{{name, "write " + name + ", the last part of the path" + also + must}}
}

// guessRegistry returns the registry that is meant by its address.
func guessRegistry(s, field string) []guess {
	_, bare, found := strings.Cut(s, "://")
	if !found {
		bare = s
	}
	if bare = strings.TrimSuffix(bare, "/"); field != "mirror" || bare == s {
		return nil
	}
	return []guess{{source: strconv.Quote(bare)}}
}

// quoteList returns the CUE source of a list of strings.
func quoteList(elements []string) string {
	var quoted []string
	for _, e := range elements {
		quoted = append(quoted, strconv.Quote(e))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// guessFromString returns the values that may be meant by a wrong string: a member of
// the enumeration, a string in the right form, or a value of another type.
func guessFromString(s string, schema cue.Value, path []string) []guess {
	var guesses []guess
	add := func(texts ...string) {
		for _, text := range texts {
			guesses = append(guesses, guess{source: text})
		}
	}
	quoted := strconv.Quote
	if plain, why := words.PlainASCII(s); why != "" {
		plain = strings.TrimSpace(plain)
		guesses = append(guesses, guess{quoted(plain), why + ": write " + quoted(plain)})
		s = plain
	}
	guesses = append(guesses, guessDuration(s, path)...)
	members := enumMembers(schema)
	if near := diag.Nearest(s, members); near != "" {
		add(quoted(near))
	}
	for _, m := range members { // "Saturday" for "SA"
		if len(s) > 1 && (strings.HasPrefix(strings.ToUpper(s), m) || strings.HasPrefix(m, strings.ToUpper(s))) {
			add(quoted(m))
		}
	}
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		add("true")
	case "false", "no", "off":
		add("false")
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && isExact(n, s) {
		guesses = append(guesses, guessDecimal(s)...)
		add(strconv.FormatFloat(n, 'f', -1, 64))
	}
	guesses = append(guesses, guessAmount(s)...)
	guesses = append(guesses, guessNumber(s, path[len(path)-1])...)
	trimmed := strings.TrimSpace(s)
	guesses = append(guesses, guessContainer(trimmed, path[len(path)-1])...)
	guesses = append(guesses, guessMember(trimmed, path)...)
	guesses = append(guesses, guessResource(trimmed, path)...)
	guesses = append(guesses, guessRegistry(trimmed, path[len(path)-1])...)
	add(quoted(trimmed), quoted(strings.TrimPrefix(trimmed, "v")))
	if path[len(path)-1] != "machine" && !strings.ContainsAny(trimmed, "/:@") { // others name machine types and images
		add(quoted(slug(trimmed)))
	}
	add("[" + quoted(s) + "]")
	if strings.Contains(trimmed, ".") {
		add(quoted(trimmed+"/32"), quoted("roles/"+trimmed)) // an IP address, or a role
	}
	switch dash := strings.LastIndex(trimmed, "-"); {
	case strings.Index(trimmed, ":") == 1: // "3:00"
		add(quoted("0" + trimmed))
	case path[len(path)-1] == "region" && dash > 0: // a zone
		add(quoted(trimmed[:dash]))
	case slices.Contains([]string{"unlimited", "infinite", "inf", "max", "*"}, strings.ToLower(s)):
		add(quoted("all"))
	}
	return guesses
}

// guessDecimal returns the number that is meant by digits with a leading zero. YAML 1.1
// reads 08 as a text, because it begins like an octal number and has an 8.
func guessDecimal(digits string) []guess {
	number := strings.TrimLeft(strings.TrimPrefix(digits, "+"), "0")
	if number == "" || number == digits {
		return nil
	}
	why := digits + " is a string, because it begins with 0: write " + number
	return []guess{{number, why}}
}

// guessEntity returns the advice to write a value below the name of an entity. name is
// the field that holds the entities, and schema its constraint.
func (g *grammar) guessEntity(name string, schema cue.Value, value string) []guess {
	entity, label := patternOf(schema)
	if key, err := strconv.Unquote(value); err == nil && entity.IncompleteKind() == cue.StringKind &&
		labelMatcher(label)(key) { // the name of an entity instead of its value
		return []guess{{help: fmt.Sprintf(`write %s: %s: "TEXT"`, name, cue.Str(key).String())}}
	}
	names := "NAME: "
	if inner := entityOf(entity); inner.Exists() { // only quota has two names
		entity, names = inner, "TIER: CAPACITY: "
	}
	v := g.cue.CompileString(value)
	if entity.Unify(v).Validate(cue.Concrete(true), cue.Final()) == nil {
		return []guess{{help: "write " + name + ": " + names + value}}
	}
	for _, field := range fieldNames(entity) {
		at := g.cue.CompileString("{}").FillPath(cue.MakePath(cue.Str(field)), v)
		if entity.Unify(at).Validate(cue.Concrete(true), cue.Final()) == nil {
			return []guess{{help: "write " + name + ": " + names + field + ": " + value}}
		}
	}
	return nil
}

// slug returns a text in the form of Kubernetes names: lower-case letters, digits and
// dashes.
func slug(s string) string {
	parts := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("-_ ./", r) })
	return strings.Join(parts, "-")
}

// guessStruct returns the structs that may be meant by a value that is no struct.
func (g *grammar) guessStruct(schema, value cue.Value, path []string) []guess {
	name := cue.Str(path[len(path)-1]).String()
	_, presence, err := constraintAt(g.definition(), path)
	optional := err == nil && presence == cue.OptionalConstraint
	if truth, err := value.Bool(); err == nil && !truth && optional {
		return []guess{{help: "remove " + name}}
	}
	if err == nil && presence == 0 && value.IncompleteKind() == cue.NullKind {
		return []guess{{help: "remove " + name + " here, or write its fields"}}
	}
	var guesses []guess
	if _, err := value.Bool(); optional && (err == nil || value.IncompleteKind() == cue.NullKind) {
		guesses = append(guesses, guess{"{}", "write " + name + ": {}"})
	}
	fields := fieldNames(schema)
	text, err := value.MarshalJSON()
	if err != nil || value.IncompleteKind()&(cue.StructKind|cue.ListKind) != 0 {
		return guesses
	}
	if entityOf(schema).Exists() {
		return g.guessEntity(name, schema, string(text))
	}
	add := func(field, value string) {
		inside := cue.Str(field).String() + ": " + value
		guesses = append(guesses, guess{"{" + inside + "}", "write " + name + ": " + inside})
	}
	if word, err := value.String(); err == nil {
		named := g.vocabulary().findFields(word, path).here
		if near := diag.Nearest(word, fields); near != "" || slices.Contains(fields, word) {
			named = append([]string{word, near}, named...)
		}
		for _, field := range named {
			add(field, "{}")
		}
	}
	for _, field := range fields {
		if !slices.Contains(dependentFields, field) {
			add(field, string(text))
		}
	}
	return append(guesses, guessFields(name, schema, value)...)
}

// dependentFields are fields that mean nothing without another field of their struct.
var dependentFields = []string{"prefer", "toBorrowUpTo"}

// guessFields returns the advice to write the required fields of a struct instead of a
// value that is no struct: the value in the first field that accepts it, and the others
// with placeholders. true stands for a struct of which the user knows nothing else.
func guessFields(name string, schema, value cue.Value) []guess {
	truth, err := value.Bool()
	isBool, used := err == nil, false
	var fields []string
	for _, field := range requiredOf(schema) {
		constraint, _ := fieldOf(schema, field)
		text := map[cue.Kind]string{cue.StringKind: `"..."`, cue.ListKind: "[...]", cue.StructKind: "{...}"}[constraint.
			IncompleteKind()]
		if text == "" {
			text = "N"
		}
		if !isBool && !used && constraint.Unify(value).Validate(cue.Concrete(true), cue.Final()) == nil {
			if source, err := value.MarshalJSON(); err == nil {
				text, used = string(source), true
			}
		}
		fields = append(fields, cue.Str(field).String()+": "+text)
	}
	switch {
	case len(fields) == 0 || !used && !truth:
		return nil
	case len(fields) == 1:
		return []guess{{help: "write " + name + ": " + fields[0]}}
	}
	return []guess{{help: "write " + name + ": {" + strings.Join(fields, ", ") + "}"}}
}

// formerValue returns CUE source that means today what a value of a field meant in
// an earlier version of the schema, and the end of a sentence about it. It returns ""
// for values that never were valid.
func formerValue(path []string, value string) (now, why string) {
	if len(path) != 3 || path[0] != "tiers" || path[2] != "preempts" {
		return "", ""
	}
	switch value {
	case "true":
		return `{inQueue: "LowerPriority", toReclaim: "LowerPriority"}`,
			`which means the same as true; or write {inQueue: "LowerPriority"}, so that a guarantee also comes back ` +
				"from jobs of the same priority"
	case "false":
		return `{toReclaim: "Never"}`,
			"which means the same as false; or remove preempts, so that Kueue evicts jobs that borrow a guarantee " +
				"when its team needs it"
	}
	return "", ""
}
