package editor

import (
	"slices"
	"strings"
)

// naming says that a field's value, or its name, is the name of an entity.
type naming struct {
	field string // path of the field, with * for any name and [] for any element of a list
	kind  string // field that holds the entities
}

// namedValues are the fields whose values are names of entities.
func namedValues() []naming {
	return []naming{
		{"capacity.*.hardware", "hardware"},
		{"tiers.*.capacity[]", "capacity"},
		{"tiers.*.shared.teams[]", "teams"},
		{"tiers.*.shared.cohort", "cohorts"},
		{"cohorts.*.parent", "cohorts"},
		{"teams.*.cohort", "cohorts"},
		{"workloads.*.tier", "tiers"},
		{"workloads.*.teams[]", "teams"},
		{"workloads.*.capacity[]", "capacity"},
		{"workloads.*.auxiliary.*.capacity", "capacity"},
		{"demonstration[].teams[]", "teams"},
		{"demonstration[].uncordon[]", "capacity"},
		{"demonstration[].delete[]", "workloads"},
		{"demonstration[].submit[]", "workloads"},
		{"demonstration[].expect.nodes[][]", "workloads"},
		{"rehearsals.*.arrivals[].workload", "workloads"},
		{"rehearsals.*.arrivals[].teams[]", "teams"},
		{"rehearsals.*.expect[].workload", "workloads"},
		{"rehearsals.*.expect[].tier", "tiers"},
		{"rehearsals.*.expect[].teams[]", "teams"},
		{"rehearsals.*.expect[].capacity", "capacity"},
	}
}

// namedKeys are the fields whose own names are names of entities.
func namedKeys() []naming {
	return []naming{
		{"tiers.*.shared.quota.*", "capacity"},
		{"teams.*.queues.*", "tiers"},
		{"teams.*.quota.*", "tiers"},
		{"teams.*.quota.*.*", "capacity"},
		{"demonstration[].cordon.*", "capacity"},
		{"demonstration[].expect.queues.*", "tiers"},
		{"demonstration[].expect.evicted.*", "workloads"},
		{"demonstration[].expect.pods.*", "capacity"},
		{"rehearsals.*.nodes.*", "capacity"},
	}
}

// entityFields are the fields that hold entities by name.
func entityFields() []string {
	return []string{"hardware", "topologies", "capacity", "tiers", "cohorts", "teams", "workloads", "rehearsals"}
}

// kindAt returns the field that holds the entities that a table names at a path, ""
// for none.
func kindAt(table []naming, path []string) string {
	for _, n := range table {
		if matchesField(n.field, path) {
			return n.kind
		}
	}
	return ""
}

// matchesField reports whether a path has the form of a field, with * for any name and []
// for any element of a list.
func matchesField(field string, path []string) bool {
	elements := strings.Split(strings.ReplaceAll(field, "[]", ".[]"), ".")
	if len(elements) != len(path) {
		return false
	}
	for i, e := range elements {
		isElement := strings.HasPrefix(path[i], "[")
		if e != path[i] && (e != "*" || isElement) && (e != "[]" || !isElement) {
			return false
		}
	}
	return true
}

// text holds the marks of all files of a blueprint.
type text struct {
	files []File
	marks [][]mark
}

func readText(files []File) *text {
	t := &text{files: files}
	for _, f := range files {
		t.marks = append(t.marks, readMarks(f))
	}
	return t
}

// allMarks returns the marks of all files.
func (t *text) allMarks() []mark { return slices.Concat(t.marks...) }

// namesBelow returns the names of the fields below a path, in the order of the files.
func (t *text) namesBelow(path ...string) []string {
	var names []string
	seen := map[string]bool{"*": true}
	for _, m := range t.allMarks() {
		n := len(m.path) - 1
		if m.label && n == len(path) && slices.Equal(m.path[:n], path) && !seen[m.text] {
			seen[m.text] = true
			names = append(names, m.text)
		}
	}
	return names
}

// valuesOf returns the values that are written for a field, or for the elements of a
// list.
func (t *text) valuesOf(path ...string) []string {
	var values []string
	for _, m := range t.allMarks() {
		at := m.path
		if n := len(at) - 1; n == len(path) && strings.HasPrefix(at[n], "[") {
			at = at[:n]
		}
		if !m.label && !m.reference && slices.Equal(at, path) {
			values = append(values, m.text)
		}
	}
	return values
}

// firstValue returns the first value that is written for a field, "" for none.
func (t *text) firstValue(path ...string) string {
	return slices.Concat(t.valuesOf(path...), []string{""})[0]
}

// resolveTemplate returns the path of the schema for a path of the files. Fields of a
// template, such as _training, are the fields of the first place that uses it.
func (t *text) resolveTemplate(path []string) []string {
	const deepest = 8 // templates of templates
	for range deepest {
		if len(path) == 0 || !strings.HasPrefix(path[0], "_") && !strings.HasPrefix(path[0], "#") {
			return path
		}
		all := t.allMarks()
		i := slices.IndexFunc(all, func(m mark) bool {
			return m.reference && !m.label && m.text == path[0] && len(m.path) > 0 && m.path[0] != path[0]
		})
		if i < 0 {
			return path
		}
		path = slices.Concat(all[i].path, path[1:])
	}
	return path
}

// entitiesAt returns the names that can stand at a path of namedValues or namedKeys.
// If the files show which capacities a tier uses, they are the only ones that can be
// named below the tier.
func (t *text) entitiesAt(kind string, path []string) []string {
	if kind != "capacity" {
		return t.namesBelow(kind)
	}
	tier := ""
	switch {
	case path[0] == "teams":
		tier = path[3]
	case path[0] == "workloads":
		tier = t.firstValue("workloads", path[1], "tier")
	case path[2] == "shared":
		tier = path[1]
	}
	if used := t.valuesOf("tiers", tier, "capacity"); tier != "" && len(used) > 0 {
		return used
	}
	return t.namesBelow("capacity")
}

// Place is a range of a file.
type Place struct {
	File       string
	Start, End int
}

// Definition returns the places where the name at an offset is defined.
func (e *Editor) Definition(files []File, name string, at int) []Place {
	t := readText(files)
	m, ok := t.markAt(name, at)
	if !ok {
		return nil
	}
	path := t.resolveTemplate(m.path)
	var target []string
	switch {
	case m.reference && !m.label:
		target = []string{m.text}
	case !m.label && kindAt(namedValues(), path) != "":
		target = []string{kindAt(namedValues(), path), m.text}
	case !m.label && matchesField("workloads.*.priority", path):
		target = []string{"tiers", t.firstValue("workloads", path[1], "tier"), "priorities", m.text}
	case m.label && kindAt(namedKeys(), path) != "":
		target = []string{kindAt(namedKeys(), path), m.text}
	case m.label:
		target = m.path
	default:
		return nil
	}
	var out []Place
	for i, f := range t.files {
		for _, d := range t.marks[i] {
			if d.label && slices.Equal(d.path, target) {
				out = append(out, Place{f.Name, d.start, d.end})
			}
		}
	}
	return out
}

// markAt returns the mark at an offset of a file.
func (t *text) markAt(name string, at int) (mark, bool) {
	i := slices.IndexFunc(t.files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return mark{}, false
	}
	found := mark{}
	for _, m := range t.marks[i] {
		if m.start <= at && at < m.end || m.end == at && found.end == 0 {
			found = m
		}
	}
	return found, found.end > 0
}

// Symbol is a field of a file, with the fields below it.
type Symbol struct {
	Name       string
	Entity     bool // an entity, such as a team
	Start, End int  // the whole field
	NameStart  int
	NameEnd    int
	Fields     []*Symbol
}

// mostSymbolDepth is the depth of the outline: the fields of an entity.
const mostSymbolDepth = 3

// Symbols returns the outline of a file.
func Symbols(f File) []*Symbol {
	root := &Symbol{End: len(f.Content)}
	open := []*Symbol{root}
	for _, m := range readMarks(f) {
		if !m.label || len(m.path) > mostSymbolDepth {
			continue
		}
		for len(open) > 1 && (len(open) > len(m.path) || m.start >= open[len(open)-1].End) {
			open = open[:len(open)-1]
		}
		s := &Symbol{
			Name: m.text, Start: m.start, End: max(m.stop, m.end), NameStart: m.start, NameEnd: m.end,
			Entity: len(m.path) == 2 && slices.Contains(entityFields(), m.path[0]),
		}
		above := open[len(open)-1]
		above.Fields = append(above.Fields, s)
		open = append(open, s)
	}
	return root.Fields
}
