package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/secret"
)

// Rules on secrets that are written in a blueprint: everybody who can read the
// repository or the folder can read them. No finding shows a secret.

func secretRules() []Rule {
	return []Rule{
		{
			Code: "E0860", Severity: diag.Error, Title: "secret in the blueprint",
			Acceptable: true, check: shapedSecrets,
		},
		{
			Code: "W0861", Severity: diag.Warning, Title: "value looks like a secret",
			check: namedSecrets,
		},
	}
}

// freeText is a text of the blueprint in which a user could write a secret.
type freeText struct {
	path []string
	text string
	name string // name of the text's environment variable or flag, or ""
	what string // description of the field, for a message
	cure string
	// argument holds the password that the program of the command identifies, or nothing.
	argument []secret.Match
}

// secretsOf returns the secrets in a free text.
func (p *Pass) secretsOf(f freeText) []secret.Match {
	if found := p.secretsIn(f.text); found != nil {
		return found
	}
	return f.argument
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

const revokeSecret = "; then revoke the secret and create a new one, " +
	"because the history of the repository keeps the old one"

// eachFreeText calls visit for the texts of workloads, of their auxiliary pods, of the
// notes, and of the reasons for accepting findings.
func (r *report) eachFreeText(visit func(freeText)) {
	const revoke = revokeSecret
	noted := func(path []string, notes []string) {
		for i, note := range notes {
			cure := "remove the secret from the note" + revoke
			visit(freeText{append(slices.Clip(path), "notes", diag.Index(i)), note, "", "the note", cure, nil})
		}
	}
	for i, phase := range r.Blueprint.Demonstration {
		if phase.Shows != nil {
			cure := "remove the secret from the text" + revoke
			visit(freeText{at("demonstration", diag.Index(i), "shows"), *phase.Shows, "", "the text", cure, nil})
		}
	}
	for _, name := range sortedKeys(r.Blueprint.Rehearsals) {
		if shows := r.Blueprint.Rehearsals[name].Shows; shows != nil {
			cure := "remove the secret from the text" + revoke
			visit(freeText{at("rehearsals", name, "shows"), *shows, "", "the text", cure, nil})
		}
	}
	noted(nil, r.Blueprint.Notes)
	for _, a := range slices.SortedFunc(maps.Keys(r.reasons), func(a, b acceptance) int {
		return slices.Compare(a.path(), b.path())
	}) {
		cure := "remove the secret from the reason" + revoke
		visit(freeText{a.path(), r.reasons[a], "", "the reason", cure, nil})
	}
	container := func(path, command []string, env map[string]string, secretEnv bool) {
		cure := func(name string) string {
			if !secretEnv {
				return "remove the secret, and let the pod read it from Secret Manager " +
					"with the team's permissions" + revoke
			}
			if name == "" {
				name = "NAME"
			}
			return fmt.Sprintf("move the secret to a Secret in the team's namespace, and write "+
				"secretEnv: %s: {secret: \"...\", key: \"...\"}", name) + revoke
		}
		flag := ""
		for i, text := range command {
			f := freeText{append(slices.Clip(path), "command", diag.Index(i)), text, flag, "the command", cure(""), nil}
			if password, ok := secret.InArgument(command, i); ok {
				f.argument = []secret.Match{password}
			}
			visit(f)
			flag = ""
			if strings.HasPrefix(text, "-") {
				flag = strings.TrimLeft(text, "-")
			}
		}
		for _, name := range sortedKeys(env) {
			what := "variable " + name
			visit(freeText{append(slices.Clip(path), "env", name), env[name], name, what, cure(name), nil})
		}
	}
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w, path := r.Blueprint.Workloads[name], at("workloads", name)
		container(path, w.Command, w.Env, true)
		for _, name := range sortedKeys(w.SecretEnv) {
			at, what := append(slices.Clip(path), "secretEnv", name, "key"), "the key of variable "+name
			const cure = "write the names of a Secret and of its key, not the value" + revoke
			visit(freeText{at, w.SecretEnv[name].Key, name, what, cure, nil})
			noted(append(slices.Clip(path), "secretEnv", name), w.SecretEnv[name].Notes)
		}
		for _, a := range sortedKeys(w.Auxiliary) {
			container(append(slices.Clip(path), "auxiliary", a), w.Auxiliary[a].Command, w.Auxiliary[a].Env, false)
		}
		if w.Shows != nil {
			cure := "remove the secret from the text" + revoke
			visit(freeText{append(slices.Clip(path), "shows"), *w.Shows, "", "the text", cure, nil})
		}
		for _, file := range sortedKeys(w.Files) {
			cure := "move the secret to a Secret in the team's namespace, and let the program read it from a " +
				"variable of secretEnv" + revoke
			visit(freeText{append(slices.Clip(path), "files", file), w.Files[file], "", "file " + file, cure, nil})
		}
	}
}

// shapedSecrets reports secrets whose shape identifies them, one for each field, and
// each that stands elsewhere in the files.
func shapedSecrets(r *report) {
	r.eachFreeText(func(f freeText) {
		for _, m := range r.secretsOf(f) {
			if m.Shaped {
				r.add(f.path, fmt.Sprintf("%s holds %s", f.fieldPlace(m), m.What), withHelp("%s", f.cure), hideSecret())
				return
			}
		}
	})
	r.eachStraySecret(true, func(at diag.Span, what string) {
		r.newFinding(at, nil, "the file holds "+what,
			[]option{withHelp("remove the secret from the file%s", revokeSecret), hideSecret()})
	})
}

// namedSecrets reports secrets that their name or their place identifies. It skips
// fields that shapedSecrets reports.
func namedSecrets(r *report) {
	accept := func(path []string) string {
		return "; if it is not a secret, add " + acceptSource(r.rule.Code, path)
	}
	r.eachFreeText(func(f freeText) {
		matches := r.secretsOf(f)
		if slices.ContainsFunc(matches, func(m secret.Match) bool { return m.Shaped }) {
			return
		}
		what := ""
		switch name := f.valueName(); {
		case name != "":
			what = "the value of " + name
		case len(matches) > 0:
			what = matches[0].What + " in " + f.fieldPlace(matches[0])
		default:
			return
		}
		r.add(f.path, what+" looks like a secret", withHelp("%s%s", f.cure, accept(f.path)), hideSecret())
	})
	r.eachStraySecret(false, func(at diag.Span, what string) {
		r.newFinding(at, nil, what+" looks like a secret",
			[]option{withHelp("remove the secret from the file%s%s", revokeSecret, accept(nil)), hideSecret()})
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
// eachFreeText: in comments, in fields that nothing uses, and in fields of other types.
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

// knownSecrets returns the secrets in the texts of eachFreeText.
func (r *report) knownSecrets() map[string]bool {
	known := map[string]bool{}
	r.eachFreeText(func(f freeText) {
		for _, m := range r.secretsOf(f) {
			known[unescapeSecret(f.text[m.Start:m.End])] = true
		}
		if f.valueName() != "" {
			known[unescapeSecret(f.text)] = true
			_, value, _ := strings.Cut(f.text, "=")
			known[unescapeSecret(value)] = true
		}
	})
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
	return func(_ *report, f *diag.Finding) { f.Secret = true }
}
