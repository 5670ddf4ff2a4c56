package guide

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// secret is a Secret from which workloads take values, in all namespaces in which
// they take the same keys.
type secret struct {
	name       string
	keys       []string // sorted
	namespaces []string // in the order of the teams
	workloads  []string // templates, sorted
	notes      []secretNote
}

// secretNote is a note of the blueprint on a Secret.
type secretNote struct {
	text      string
	workloads []string // templates that have the note, sorted
}

// explainSecrets explains how to create the Secrets, which are not in the folder.
func explainSecrets(d *document, p *ir.Platform) {
	all := secretsOf(p)
	if all == nil {
		return
	}
	var rows [][]markup
	var commands, looks []string
	each := markup("")
	for _, s := range all {
		rows = append(rows,
			[]markup{codeSpan(s.name), codeList(s.keys), firstNames(s.namespaces), codeList(s.workloads)})
		namespaces := make([]string, len(s.namespaces))
		for i, namespace := range s.namespaces {
			namespaces[i] = words.ShellArgument(namespace)
		}
		if len(s.namespaces) > fewTeams {
			commands = append(commands, "NAMESPACE="+namespaces[0])
			namespaces = []string{`"$NAMESPACE"`}
			each = " Repeat a command with `$NAMESPACE` for each namespace of its Secret."
		}
		for _, namespace := range namespaces {
			commands = append(commands, s.createCommand(namespace))
			looks = append(looks, shellCommand("kubectl", "get", "secrets", s.name)+" -n "+namespace)
		}
	}
	d.Heading(3, secretsHeading)
	d.Para("Some workloads take values from Secrets, which are not in this folder. An administrator of the cluster ",
		"(`roles/container.admin`) creates them before the teams submit these workloads, because members of the teams ",
		"may not create Secrets:")
	d.Table([]markup{"Secret", "Keys", "In namespaces", "Workloads"}, rows)
	listSecretNotes(d, all)
	d.Para("Run the commands one by one. Each of them reads one line for each key, in the order in which it prints ",
		"the keys: paste the value and press Enter. Paste only values of one line: the shell would run the lines ",
		"after the first as commands. The value does not appear on the screen, and gets into no file, ",
		"no shell history and no list of processes.", each)
	d.Code("sh", commands...)
	d.Para("A value of several lines, such as a private key, must come from a file. Delete the file afterwards. Write ",
		"`--from-file` once for each key of the Secret:")
	d.Code("sh", "kubectl create secret generic NAME -n NAMESPACE --from-file=KEY=FILE")
	d.Para("These commands show that the Secrets exist. The number under DATA is the number of keys; the values are ",
		"not shown:")
	d.Code("sh", looks...)
	d.Para("A job whose Secret does not exist waits for it. ", schedulerOf(p).unready,
		"To change a value, delete the Secret with `kubectl delete secrets NAME -n NAMESPACE`, and create it again. ",
		"Running pods keep the old value, and pods that start later get the new one. To revoke a value, revoke it ",
		"where it was issued: whoever may create jobs in a namespace can read its Secrets in a job.")
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
				each = append(each, secret{name: e.Secret, namespaces: []string{w.Namespace}})
			}
			each[i].keys, each[i].workloads = withName(each[i].keys, e.Key), withName(each[i].workloads, w.Template)
			for _, text := range e.Notes {
				each[i].addNote(text, w.Template)
			}
		}
	}
	var all []secret
	alike := map[string]int{}
	for _, s := range each {
		key := strings.Join(append([]string{s.name}, s.keys...), "\n")
		i, found := alike[key]
		if !found {
			alike[key] = len(all)
			all = append(all, s)
			continue
		}
		all[i].namespaces = append(all[i].namespaces, s.namespaces...)
		for _, w := range s.workloads {
			all[i].workloads = withName(all[i].workloads, w)
		}
		for _, n := range s.notes {
			for _, w := range n.workloads {
				all[i].addNote(n.text, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b secret) int { return strings.Compare(a.name, b.name) })
	return all
}

// listSecretNotes lists the notes on each Secret: first the notes of all its workloads,
// then the notes of some. Secrets of the same name are next to each other, and have
// each note once.
func listSecretNotes(d *document, all []secret) {
	for len(all) > 0 {
		s := secret{name: all[0].name}
		for len(all) > 0 && all[0].name == s.name {
			for _, w := range all[0].workloads {
				s.workloads = withName(s.workloads, w)
			}
			for _, n := range all[0].notes {
				for _, w := range n.workloads {
					s.addNote(n.text, w)
				}
			}
			all = all[1:]
		}
		var items []markup
		for _, n := range s.notes {
			if slices.Equal(n.workloads, s.workloads) {
				d.Para(codeSpan(s.name), ": ", linkedText(n.text))
				continue
			}
			items = append(items, codeSpan(s.name)+" for "+codeList(n.workloads)+": "+linkedText(n.text))
		}
		if items != nil {
			d.List(items...)
		}
	}
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
	i := slices.IndexFunc(s.notes, func(n secretNote) bool { return n.text == text })
	if i < 0 {
		i = len(s.notes)
		s.notes = append(s.notes, secretNote{text: text})
	}
	s.notes[i].workloads = withName(s.notes[i].workloads, workload)
}

// createCommand returns the command that creates the Secret in a namespace, a word of
// the shell. It reads the value of one key, or lines of several keys and values. IFS= keeps
// the spaces around a value. Both bash and zsh have the options of read, and printf is a
// part of them, so that no list of processes has the value.
func (s secret) createCommand(namespace string) string {
	create := shellCommand("kubectl", "create", "secret", "generic", s.name) + " -n " + namespace + " "
	if len(s.keys) == 1 {
		return "echo " + words.ShellArgument(s.keys[0]+":") + `; IFS= read -rs VALUE; printf %s "$VALUE" | ` +
			create + shellCommand("--from-file="+s.keys[0]+"=/dev/stdin") + "; unset VALUE"
	}
	var keys []string
	for _, key := range s.keys {
		keys = append(keys, words.ShellArgument(key))
	}
	return "for KEY in " + strings.Join(keys, " ") + `; do echo "$KEY:" >&2; IFS= read -rs VALUE; ` +
		`printf '%s=%s\n' "$KEY" "$VALUE"; done | ` + create + shellCommand("--from-env-file=/dev/stdin")
}
