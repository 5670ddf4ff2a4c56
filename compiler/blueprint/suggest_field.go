package blueprint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// suggestField adds to the finding on an unknown field of a struct the field that is
// probably meant: a field of the struct that other systems call so, or with almost the
// same name; a field below the struct; or fields elsewhere. names are the fields of the
// struct. It returns the name of the field of the struct that is then written, or "".
func (g *grammar) suggestField(f *diag.Finding, name string, names, parent []string) string {
	plain, why := words.PlainASCII(name)
	if why != "" && slices.Contains(names, plain) {
		f.Label, f.Help = "", fmt.Sprintf("%s: write %q", why, plain)
		g.editName(f, plain)
		return plain
	}
	if n := len(parent); name == "name" && n > 0 && g.isMap(parent[:n-1]) {
		f.Label, f.Help = "", fmt.Sprintf("remove it: the name is %q already", parent[n-1])
		return ""
	}
	if above(parent, "secretEnv") && slices.Contains(secretValues, name) {
		f.Label, f.Help = "", nameSecret
		return ""
	}
	found := g.vocabulary().findFields(plain, parent)
	near := diag.Nearest(plain, names)
	defer func() {
		if why != "" {
			f.Help = why + "; " + f.Help
		}
	}()
	switch {
	case len(found.here) == 1:
		near = found.here[0]
	case len(found.here) > 1:
		f.Label, f.Help = "", fmt.Sprintf("did you mean %s?", words.Or(quoteAll(found.here)))
		return found.here[0]
	case len(found.below) == 1:
		chain := strings.Join(found.below[0], ": ")
		f.Label, f.Help = "", fmt.Sprintf("did you mean %s?", chain)
		if src := f.Span.Source; src != nil && strings.HasSuffix(src.Name, ".cue") {
			f.Edits = []diag.Edit{{Span: f.Span, Text: chain}}
		}
		return found.below[0][0]
	}
	if near != "" {
		f.Label, f.Help = "", fmt.Sprintf("did you mean %q?", near)
		g.editName(f, near)
		return near
	}
	const most = 3 // a word of more fields is too general to mean one
	if all := append(found.below, found.elsewhere...); 0 < len(all) && len(all) <= most {
		var paths []string
		for i, field := range all {
			if i < len(found.below) {
				field = append(slices.Clip(parent), field...)
			}
			paths = append(paths, showPattern(fillNames(field, parent)))
		}
		f.Help = fmt.Sprintf("did you mean %s?", words.Or(paths))
	}
	return ""
}

// nameSecret is the advice to someone who writes the value of a secret.
const nameSecret = `create the Secret with kubectl, and name it and its key: {secret: "NAME", key: "KEY"}`

// secretValues are fields of a variable whose value a manifest holds itself.
var secretValues = []string{"value", "data", "stringData"}

// convertStruct adds to the finding on an unknown field the value that the field near
// takes, if the unknown field is a struct and near is a scalar: Kueue's
// borrowWithinCohort: policy: X is toBorrow: X.
func (g *grammar) convertStruct(f *diag.Finding, near string, path []string) {
	value := g.locate.lookupMeant(g.locate.value(), path)
	if near == "" || !isStruct(value) {
		return
	}
	schema, _, err := constraintAt(g.definition(), append(slices.Clip(path[:len(path)-1]), near))
	if err != nil || schema.IncompleteKind()&cue.StructKind != 0 {
		return
	}
	for _, field := range allFields(value) {
		text, err := field.MarshalJSON()
		if err == nil && field.IncompleteKind() != cue.StructKind &&
			schema.Unify(field).Validate(cue.Concrete(true), cue.Final()) == nil {
			f.Help, f.Edits = fmt.Sprintf("write %s: %s", near, text), nil
			return
		}
	}
}

// suggestName adds to the finding on an invalid name a valid one that looks alike.
func (g *grammar) suggestName(f *diag.Finding, label cue.Value, name string) {
	plain, why := words.PlainASCII(name)
	matches := labelMatcher(label)
	for _, valid := range []string{plain, slug(plain)} {
		if valid == name || !matches(valid) {
			continue
		}
		f.Help = fmt.Sprintf("did you mean %q?", valid)
		if why != "" {
			f.Help = fmt.Sprintf("%s: write %q", why, valid)
		}
		g.editName(f, valid)
		return
	}
	f.Help = why
}

// isMap reports whether the field at a path holds entities by name.
func (g *grammar) isMap(path []string) bool {
	constraint, _, err := constraintAt(g.definition(), path)
	return err == nil && entityOf(constraint).Exists()
}

// editName lets the finding replace the name at its span.
func (g *grammar) editName(f *diag.Finding, name string) {
	f.Edits = []diag.Edit{{Span: f.Span, Text: name}}
	if strings.HasPrefix(f.Span.Text(), `"`) {
		f.Edits[0].Text = strconv.Quote(name)
	}
}

// fillNames returns a path of the schema with the names of the entities that a path of
// the blueprint has in common with it.
func fillNames(pattern, path []string) []string {
	out := slices.Clone(pattern)
	for i := 0; i < min(len(out), len(path)) && (out[i] == anyName || out[i] == path[i]); i++ {
		out[i] = path[i]
	}
	return out
}

// quoteAll returns the names in double quotes.
func quoteAll(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, strconv.Quote(n))
	}
	return out
}

// references maps each required field that names entities to the field that defines
// them.
var references = map[string]string{
	"capacity.*.hardware": "hardware", "tiers.*.capacity": "capacity", "workloads.*.tier": "tiers",
	"workloads.*.auxiliary.*.capacity": "capacity",
}

// addReference returns the advice to add a missing field that names entities: the
// entities that there are. It returns "" for any other field.
func (g *grammar) addReference(schema cue.Value, path []string) string {
	defined := ""
	for pattern, field := range references {
		if matchesPattern(path, strings.Split(pattern, ".")) {
			defined = field
		}
	}
	if defined == "" {
		return ""
	}
	const most = 8
	name, isList := path[len(path)-1], schema.IncompleteKind() == cue.ListKind
	names := entityNames(lookupPath(g.locate.value(), []string{defined}))
	kinds := words.Quoted(names, most)
	switch {
	case len(names) == 0:
		return fmt.Sprintf("define an entry of %s, and add %s with its name", defined, name)
	case len(names) == 1 && isList:
		return fmt.Sprintf("add %s: [%s]", name, kinds)
	case len(names) == 1:
		return fmt.Sprintf("add %s: %s", name, kinds)
	case isList:
		return fmt.Sprintf("add %s, a list of one or more of %s", name, kinds)
	}
	return fmt.Sprintf("add %s, one of %s", name, kinds)
}
