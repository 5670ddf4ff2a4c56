package guide

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
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
	notes      []secretNote
}

// secretNote is a note of the blueprint on a Secret.
type secretNote struct {
	Secret, Text string
	Workloads    []string // templates that have the note, sorted
}

// SecretsToCreate returns the Secrets, which are not in the folder.
func (v view) SecretsToCreate() []secret { return secretsOf(v.Platform) }

// SecretsOfManyNamespaces reports whether a Secret is needed in too many namespaces to show
// a command for each.
func (v view) SecretsOfManyNamespaces() bool {
	return slices.ContainsFunc(v.SecretsToCreate(), func(s secret) bool { return len(s.Namespaces) > fewTeams })
}

// shownNamespaces returns the namespaces of the commands that create the Secret, as words
// of the shell: a variable stands for many.
func (s secret) shownNamespaces() []string {
	if len(s.Namespaces) > fewTeams {
		return []string{`"$NAMESPACE"`}
	}
	namespaces := make([]string, len(s.Namespaces))
	for i, namespace := range s.Namespaces {
		namespaces[i] = words.ShellArgument(namespace)
	}
	return namespaces
}

// CreateSecretCommands returns the commands that create the Secrets.
func (v view) CreateSecretCommands() (commands []page.Command) {
	for _, s := range v.SecretsToCreate() {
		if len(s.Namespaces) > fewTeams {
			commands = append(commands, page.Command("NAMESPACE="+words.ShellArgument(s.Namespaces[0])))
		}
		for _, namespace := range s.shownNamespaces() {
			commands = append(commands, page.Command(s.createCommand(namespace)))
		}
	}
	return commands
}

// ShowSecretCommands returns the commands that show that the Secrets exist.
func (v view) ShowSecretCommands() (commands []page.Command) {
	for _, s := range v.SecretsToCreate() {
		for _, namespace := range s.shownNamespaces() {
			command := shellCommand("kubectl", "get", "secrets", s.Name) + " -n " + namespace
			commands = append(commands, page.Command(command))
		}
	}
	return commands
}

// secretsOf returns the Secrets, sorted by name. Secrets of the same name are in the
// order of the first team that needs them with these keys.
func secretsOf(p *ir.Platform) []secret {
	var each []secret // of one namespace
	place := map[[2]string]int{}
	for _, w := range p.Workloads {
		for _, e := range w.SecretEnv {
			i, found := place[[2]string{w.Namespace, e.Secret}]
			if !found {
				i = len(each)
				place[[2]string{w.Namespace, e.Secret}] = i
				each = append(each, secret{Name: e.Secret, Namespaces: []string{w.Namespace}})
			}
			each[i].Keys, each[i].Workloads = withName(each[i].Keys, e.Key), withName(each[i].Workloads, w.Template)
			for _, text := range e.Notes {
				each[i].addNote(text, w.Template)
			}
		}
	}
	var all []secret
	alike := map[string]int{}
	for _, s := range each {
		key := strings.Join(append([]string{s.Name}, s.Keys...), "\n")
		i, found := alike[key]
		if !found {
			alike[key] = len(all)
			all = append(all, s)
			continue
		}
		all[i].Namespaces = append(all[i].Namespaces, s.Namespaces...)
		for _, w := range s.Workloads {
			all[i].Workloads = withName(all[i].Workloads, w)
		}
		for _, n := range s.notes {
			for _, w := range n.Workloads {
				all[i].addNote(n.Text, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b secret) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// secretNotes are the notes on the Secrets of one name.
type secretNotes struct{ OfAll, OfSome []secretNote }

// SecretNotes returns the notes on the Secrets of each name: the notes of all its
// workloads, and the notes of some. Secrets of the same name are next to each other, and
// have each note once.
func (v view) SecretNotes() (out []secretNotes) {
	for all := v.SecretsToCreate(); len(all) > 0; {
		s := secret{Name: all[0].Name}
		for len(all) > 0 && all[0].Name == s.Name {
			for _, w := range all[0].Workloads {
				s.Workloads = withName(s.Workloads, w)
			}
			for _, n := range all[0].notes {
				for _, w := range n.Workloads {
					s.addNote(n.Text, w)
				}
			}
			all = all[1:]
		}
		var notes secretNotes
		for _, n := range s.notes {
			if slices.Equal(n.Workloads, s.Workloads) {
				notes.OfAll = append(notes.OfAll, n)
			} else {
				notes.OfSome = append(notes.OfSome, n)
			}
		}
		out = append(out, notes)
	}
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

// addNote adds a note of a workload, unless the Secret already has it.
func (s *secret) addNote(text, workload string) {
	i := slices.IndexFunc(s.notes, func(n secretNote) bool { return n.Text == text })
	if i < 0 {
		i = len(s.notes)
		s.notes = append(s.notes, secretNote{Secret: s.Name, Text: text})
	}
	s.notes[i].Workloads = withName(s.notes[i].Workloads, workload)
}

// createCommand returns the command that creates the Secret in a namespace, a word of
// the shell. It reads the value of one key, or lines of several keys and values. IFS= keeps
// the spaces around a value. Both bash and zsh have the options of read, and printf is a
// part of them, so that no list of processes has the value.
func (s secret) createCommand(namespace string) string {
	create := shellCommand("kubectl", "create", "secret", "generic", s.Name) + " -n " + namespace + " "
	if len(s.Keys) == 1 {
		return "echo " + words.ShellArgument(s.Keys[0]+":") + `; IFS= read -rs VALUE; printf %s "$VALUE" | ` +
			create + shellCommand("--from-file="+s.Keys[0]+"=/dev/stdin") + "; unset VALUE"
	}
	var keys []string
	for _, key := range s.Keys {
		keys = append(keys, words.ShellArgument(key))
	}
	return "for KEY in " + strings.Join(keys, " ") + `; do echo "$KEY:" >&2; IFS= read -rs VALUE; ` +
		`printf '%s=%s\n' "$KEY" "$VALUE"; done | ` + create + shellCommand("--from-env-file=/dev/stdin")
}
