package guide

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/page"
)

// secret is a Secret from which workloads take values, in all namespaces in which
// they take the same keys.
type secret struct {
	Name       string
	Keys       []string // sorted
	Namespaces []string // in the order of the teams
	Workloads  []string // templates, sorted
}

// SecretsToCreate returns the Secrets, which are not in the folder, sorted by name. Secrets
// of the same name are in the order of the first team that needs them with these keys.
func (v view) SecretsToCreate() (out []secret) {
	type place struct{ namespace, name string }
	keys, known := map[place][]string{}, map[place]bool{}
	for _, w := range v.Workloads {
		for _, e := range w.SecretEnv {
			at := place{w.Namespace, e.Secret}
			keys[at] = withName(keys[at], e.Key)
		}
	}
	for _, w := range v.Workloads {
		for _, e := range w.SecretEnv {
			at := place{w.Namespace, e.Secret}
			alike := func(s secret) bool { return s.Name == e.Secret && slices.Equal(s.Keys, keys[at]) }
			i := slices.IndexFunc(out, alike)
			if i < 0 {
				i, out = len(out), append(out, secret{Name: e.Secret, Keys: keys[at]})
			}
			if !known[at] {
				known[at] = true
				out[i].Namespaces = append(out[i].Namespaces, w.Namespace)
			}
			out[i].Workloads = withName(out[i].Workloads, w.Template)
		}
	}
	slices.SortStableFunc(out, func(a, b secret) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// HasMany reports whether the Secret is needed in too many namespaces to show a command for
// each.
func (s secret) HasMany() bool { return len(s.Namespaces) > fewTeams }

// ShownNamespaces returns the namespaces of the commands that create the Secret, as words
// of the shell: a variable stands for many.
func (s secret) ShownNamespaces() (out []page.Command) {
	if s.HasMany() {
		return []page.Command{`"$NAMESPACE"`}
	}
	for _, namespace := range s.Namespaces {
		out = append(out, page.Command(words.ShellArgument(namespace)))
	}
	return out
}

// secretNote is a note of the blueprint on a Secret.
type secretNote struct {
	Secret, Text string
	Workloads    []string // templates that have the note, sorted
	OfAll        bool     // whether these are all that need the Secret
}

// SecretNotes returns the notes on the Secrets, sorted by their names.
func (v view) SecretNotes() (out []secretNote) {
	workloads := map[string][]string{} // by Secret
	for _, w := range v.Workloads {
		for _, e := range w.SecretEnv {
			workloads[e.Secret] = withName(workloads[e.Secret], w.Template)
			for _, text := range e.Notes {
				i := slices.IndexFunc(out, func(n secretNote) bool { return n.Secret == e.Secret && n.Text == text })
				if i < 0 {
					i, out = len(out), append(out, secretNote{Secret: e.Secret, Text: text})
				}
				out[i].Workloads = withName(out[i].Workloads, w.Template)
			}
		}
	}
	for i := range out {
		out[i].OfAll = slices.Equal(out[i].Workloads, workloads[out[i].Secret])
	}
	slices.SortStableFunc(out, func(a, b secretNote) int { return strings.Compare(a.Secret, b.Secret) })
	return out
}

// withName adds a name to sorted names, unless they already have it.
func withName(names []string, name string) []string {
	at, found := slices.BinarySearch(names, name)
	if found {
		return names
	}
	return slices.Insert(names, at, name)
}
