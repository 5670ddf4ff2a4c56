package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/manifest"
	"github.com/batchwright/batchwright/compiler/secret"
)

// Rules on secrets that are written in a blueprint: everybody who can read the
// repository or the folder can read them. No finding shows a secret.

func secretRules() []Rule {
	return []Rule{
		rule("E0860", "secret in the blueprint", shapedSecrets, acceptable),
		rule("W0861", "value looks like a secret", namedSecrets),
	}
}

// freeText is a text of the blueprint in which a user could write a secret.
type freeText struct {
	path  fieldPath
	text  string
	name  string // name of the text's environment variable or flag, or ""
	what  string // description of the field, for a message
	cure  string
	found []secret.Match
}

// secretsIn returns the secrets in a text. It searches each text once, although several
// rules need them.
func (p *Pass) secretsIn(text string) []secret.Match {
	found, known := p.secrets[text]
	if !known {
		found = secret.Find(text)
		p.secrets[text] = found
	}
	return found
}

const (
	inSecret     = "move the secret to a Secret in the team's namespace, and "
	revokeSecret = "; then revoke the secret and create a new one, because the history of the repository keeps the " +
		"old one"
)

// freeTexts returns the notes, the reasons for accepting findings, and the texts of
// workloads and of their auxiliary pods.
func (r *report) freeTexts() []freeText {
	var out []freeText
	add := func(path fieldPath, text, name, what, cure string) *freeText {
		out = append(out, freeText{path, text, name, what, cure + revokeSecret, r.secretsIn(text)})
		return &out[len(out)-1]
	}
	const shown = "demonstration.[].shows rehearsals.*.shows workloads.*.shows workloads.*.exampleLog"
	for path, text := range every[string](r, shown) {
		add(path, text, "", "the text", "remove the secret from the text")
	}
	for path, text := range every[string](r, "notes.[] workloads.*.secretEnv.*.notes.[]") {
		add(path, text, "", "the note", "remove the secret from the note")
	}
	for place, text := range r.eachManifest() {
		if objects, _ := manifest.Read(text); !slices.ContainsFunc(objects, func(o manifest.Object) bool {
			return secretData(o) != "" // secretManifests reports it
		}) {
			add(place.path, text, "", "manifest "+place.path.last(), "remove the secret from the manifest")
		}
	}
	for _, a := range sortAcceptances(r.reasons) {
		add(a.path(), r.reasons[a], "", "the reason", "remove the secret from the reason")
	}
	for path, key := range every[string](r, "workloads.*.secretEnv.*.key") {
		add(path, key, path[3], "the key of variable "+path[3],
			"write the names of a Secret and of its key, not the value")
	}
	for path, text := range every[string](r, "workloads.*.files.*") {
		add(path, text, "", "file "+path[3], inSecret+"let the program read it from a variable of secretEnv")
	}
	for _, c := range r.containers() {
		for i, t := range c.texts() {
			if t.variable != "" {
				add(t.path, t.text, t.variable, "variable "+t.variable, c.secretCure(t.variable))
				continue
			}
			flag := ""
			if i > 0 && strings.HasPrefix(c.command[i-1], "-") {
				flag = strings.TrimLeft(c.command[i-1], "-")
			}
			f := add(t.path, t.text, flag, "the command", c.secretCure("NAME"))
			if password, ok := secret.InArgument(c.command, i); ok && f.found == nil {
				f.found = []secret.Match{password}
			}
		}
	}
	return out
}

// secretCure returns how a container gets a secret instead, as the value of a variable.
func (c container) secretCure(variable string) string {
	if c.auxiliary {
		return "remove the secret, and let the pod read it from Secret Manager with the team's permissions"
	}
	return inSecret + "write secretEnv: " + variable + `: {secret: "...", key: "..."}`
}

// shapedSecrets reports secrets whose shape identifies them, one for each field, and
// each that stands elsewhere in the files.
func shapedSecrets(r *report) {
	for _, f := range r.freeTexts() {
		if i := slices.IndexFunc(f.found, isShaped); i >= 0 {
			r.add(f.path, say("%s holds %s", f.fieldPlace(f.found[i]), f.found[i].What), advise(f.cure), hideSecret())
		}
	}
	r.eachStraySecret(true, func(at diag.Span, what string) {
		r.newFinding(at, nil, "the file holds "+what,
			[]option{help("remove the secret from the file%s", revokeSecret), hideSecret()})
	})
}

// isShaped reports whether the shape alone identifies a secret.
func isShaped(m secret.Match) bool { return m.Shaped }

// namedSecrets reports secrets that their name or their place identifies. It skips
// fields that shapedSecrets reports.
func namedSecrets(r *report) {
	accept := func(path fieldPath) string {
		return "; if it is not a secret, add " + r.accepting(path)
	}
	for _, f := range r.freeTexts() {
		what := ""
		switch name := f.valueName(); {
		case slices.ContainsFunc(f.found, isShaped):
			continue
		case name != "":
			what = "the value of " + name
		case len(f.found) > 0:
			what = f.found[0].What + " in " + f.fieldPlace(f.found[0])
		default:
			continue
		}
		r.add(f.path, what+" looks like a secret", help("%s%s", f.cure, accept(f.path)), hideSecret())
	}
	r.eachStraySecret(false, func(at diag.Span, what string) {
		r.newFinding(at, nil, what+" looks like a secret",
			[]option{help("remove the secret from the file%s%s", revokeSecret, accept(nil)), hideSecret()})
	})
}

// valueName returns the name whose value the whole text is, if the value is a secret:
// the name of a variable, or of a flag before the text or at its beginning.
func (f freeText) valueName() string {
	if secret.IsValue(f.name, f.text) {
		return f.name
	}
	flag, value, found := strings.Cut(f.text, "=")
	if flag := strings.TrimLeft(flag, "-"); found && flag != f.text && secret.IsValue(flag, value) &&
		strings.HasPrefix(f.text, "-") {
		return flag
	}
	return ""
}

// eachStraySecret calls visit for the secrets in the files that stand in no text of
// freeTexts: in comments, in fields that nothing uses, and in fields of other types.
func (r *report) eachStraySecret(shaped bool, visit func(at diag.Span, what string)) {
	if len(r.Broken) > 0 { // the texts of a broken entity are unknown
		return
	}
	var known map[string]bool
	for _, src := range r.Sources {
		content := string(src.Content)
		for _, m := range r.secretsIn(content) {
			if m.Shaped != shaped || !shaped && isReferenceAt(src, m) {
				continue
			}
			if known == nil {
				known = r.knownSecrets()
			}
			if text := unescapeSecret(content[m.Start:m.End]); !known[text] {
				known[text] = true
				visit(diag.Span{Source: src, Start: m.Start, End: m.End}, m.What)
			}
		}
	}
}

// knownSecrets returns the secrets in the texts of freeTexts.
func (r *report) knownSecrets() map[string]bool {
	known := map[string]bool{}
	for _, f := range r.freeTexts() {
		for _, m := range f.found {
			known[unescapeSecret(f.text[m.Start:m.End])] = true
		}
		if f.valueName() != "" {
			known[unescapeSecret(f.text)] = true
			_, value, _ := strings.Cut(f.text, "=")
			known[unescapeSecret(value)] = true
		}
	}
	return known
}

// unescapeSecret returns the letters and digits of a secret, which are the same in a
// value and in its source.
func unescapeSecret(text string) string {
	return strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			return c
		}
		return -1
	}, strings.NewReplacer(`\n`, "", `\t`, "").Replace(text))
}

// isReferenceAt reports whether a match that only its name identifies is the name of a
// Secret, or a reference to another field of CUE.
func isReferenceAt(src *diag.Source, m secret.Match) bool {
	if m.What == "the value of secret" {
		return true
	}
	before := strings.TrimRight(string(src.Content[max(0, m.Start-100):m.Start]), " \t")
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.HasSuffix(src.Name, ".cue") && strings.HasSuffix(line, ":") && !strings.Contains(line, "//")
}

// fieldPlace returns the name of the field with a secret and, for a text of several
// lines, the line.
func (f freeText) fieldPlace(m secret.Match) string {
	if lines := strings.Count(strings.TrimSuffix(f.text, "\n"), "\n"); lines == 0 {
		return f.what
	}
	return fmt.Sprintf("line %d of %s", 1+strings.Count(f.text[:m.Start], "\n"), f.what)
}

// hideSecret marks the text at the finding's span as a secret, so that no excerpt
// shows it.
func hideSecret() option {
	return func(_ *report, _ fieldPath, f *diag.Finding) { f.Secret = true }
}
