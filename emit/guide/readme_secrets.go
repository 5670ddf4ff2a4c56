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
}

// explainSecrets explains how to create the Secrets, which are not in the folder.
func explainSecrets(d *document, p *ir.Platform) {
	all := secretsOf(p)
	if all == nil {
		return
	}
	var rows [][]markup
	var commands []string
	lines, each := markup(""), markup("")
	for _, s := range all {
		rows = append(rows,
			[]markup{codeSpan(s.name), codeList(s.keys), firstNames(s.namespaces), codeList(s.workloads)})
		if len(s.keys) > 1 {
			lines = " For a Secret with several values, type one line `KEY=VALUE` for each value."
		}
		if len(s.namespaces) > fewTeams {
			commands = append(commands, "NAMESPACE="+words.ShellArgument(s.namespaces[0]),
				s.createCommand(`"$NAMESPACE"`))
			each = " Repeat a command with `$NAMESPACE` for each namespace of its Secret."
			continue
		}
		for _, namespace := range s.namespaces {
			commands = append(commands, s.createCommand(words.ShellArgument(namespace)))
		}
	}
	d.Heading(3, secretsHeading)
	d.Para("Some workloads take values from Secrets, which are not in this folder:")
	d.Table([]markup{"Secret", "Keys", "In namespaces", "Workloads"}, rows)
	d.Para(
		"An administrator creates the Secrets one by one. Each command reads the value from the keyboard until Ctrl-D ",
		"on a line of its own, so that the value gets into no file and no shell history.", lines, each)
	d.Code("sh", commands...)
	d.Para("A job whose Secret does not exist waits for it. ", schedulerOf(p).unready,
		"To change a value, delete the Secret and create it again.")
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
	}
	slices.SortStableFunc(all, func(a, b secret) int { return strings.Compare(a.name, b.name) })
	return all
}

// withName adds a name to sorted names, unless they already have it.
func withName(names []string, name string) []string {
	at, found := slices.BinarySearch(names, name)
	if found {
		return names
	}
	return slices.Insert(names, at, name)
}

// createCommand returns the command that creates the Secret in a namespace, a word of
// the shell, from its standard input: one value without its line end, or lines of keys
// and values.
func (s secret) createCommand(namespace string) string {
	create := shellCommand("kubectl", "create", "secret", "generic", s.name) + " -n " + namespace + " "
	if len(s.keys) > 1 {
		return create + shellCommand("--from-env-file=/dev/stdin")
	}
	return `tr -d '\n' | ` + create + shellCommand("--from-file="+s.keys[0]+"=/dev/stdin")
}
