package blueprint

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/diag"
)

// synonymRows lists words for fields of the blueprint that people know from other
// systems, one JSON object per line; see synonym.
//
//go:embed synonyms.jsonl
var synonymRows string

// synonym is a row of synonymRows.
type synonym struct {
	Fields []string `json:"fields"` // paths in the schema, with * for any name
	Words  []string `json:"words"`  // names that other systems use for the fields
	Source string   `json:"source"` // the systems
}

// readSynonyms returns the rows of synonymRows.
func readSynonyms() []synonym {
	var rows []synonym
	for line := range strings.Lines(synonymRows) {
		var row synonym
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			panic("blueprint: synonyms: " + err.Error() + ": " + line)
		}
		rows = append(rows, row)
	}
	return rows
}

// anyName is the element of a schema's path that stands for the name of an entity.
const anyName = "*"

// vocabulary holds the fields of the schema by the words that people use for them.
type vocabulary struct {
	own     map[string][][]string // by the field's own name
	foreign map[string][][]string // by the words of synonymRows
	names   map[string]bool       // names of fields
}

// newVocabulary returns the vocabulary of the schema's definition of a blueprint.
func newVocabulary(definition cue.Value) *vocabulary {
	v := &vocabulary{own: map[string][][]string{}, foreign: map[string][][]string{}, names: map[string]bool{}}
	v.addFields(definition, nil)
	for _, row := range readSynonyms() {
		for _, field := range row.Fields {
			for _, word := range row.Words {
				v.foreign[foldWord(word)] = append(v.foreign[foldWord(word)], strings.Split(field, "."))
			}
		}
	}
	return v
}

// addFields adds the fields of a struct, and all fields below them.
func (v *vocabulary) addFields(constraint cue.Value, path []string) {
	if entity := entityOf(constraint); entity.Exists() {
		v.addFields(entity, append(slices.Clip(path), anyName))
		return
	}
	if constraint.IncompleteKind()&(cue.StructKind|cue.BottomKind) != constraint.IncompleteKind() {
		return
	}
	for sel, field := range schemaFields(constraint) {
		name := sel.Unquoted()
		at := append(slices.Clip(path), name)
		v.names[name] = true
		v.own[foldWord(name)] = append(v.own[foldWord(name)], at)
		v.addFields(field, at)
	}
}

// foldWord returns a name without the differences between the notations of other
// systems: maxNodeCount, max_node_count and max-node-count are one word.
func foldWord(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// fieldMatches are the fields that a word can mean, seen from a struct: fields of the
// struct, fields below it without a name between them, and all others.
type fieldMatches struct {
	here             []string
	below, elsewhere [][]string
}

// findFields returns the fields that a word can mean at the path of a struct.
func (v *vocabulary) findFields(word string, path []string) fieldMatches {
	var m fieldMatches
	word = foldWord(word)
	for _, field := range slices.Concat(v.foreign[word], v.own[word]) {
		inside := len(field) > len(path) && matchesPattern(path, field[:len(path)])
		switch {
		case inside && len(field) == len(path)+1:
			m.here = append(m.here, field[len(path)])
		case inside && len(field) == len(path)+2 && !slices.Contains(field[len(path):], anyName):
			m.below = append(m.below, field[len(path):])
		default:
			m.elsewhere = append(m.elsewhere, field)
		}
	}
	return m
}

// fieldsNamed returns the paths of all fields that a word can mean, as people write
// them: the fields of that name or, if there are none, the fields for which other
// systems have that name. A field at the top that is the plural of the word comes first.
func (v *vocabulary) fieldsNamed(word string) []string {
	word = foldWord(word)
	found := v.own[word]
	if len(found) == 0 {
		found = v.foreign[word]
	}
	var out []string
	for _, field := range v.own[word+"s"] {
		if len(field) == 1 {
			out = append(out, showPattern(field))
		}
	}
	for _, field := range found {
		out = append(out, showPattern(field))
	}
	return out
}

// matchesPattern reports whether a path matches a pattern, in which * stands for any
// name.
func matchesPattern(path, pattern []string) bool {
	return slices.EqualFunc(path, pattern, func(name, want string) bool { return want == anyName || name == want })
}

// showPattern returns a path of the schema as people write it. The maps of quota have
// two names: a tier and a capacity. Every other map has one.
func showPattern(pattern []string) string {
	out := slices.Clone(pattern)
	for i, name := range pattern {
		switch {
		case name != anyName:
		case pattern[i-1] == anyName:
			out[i] = "CAPACITY"
		case i+1 < len(pattern) && pattern[i+1] == anyName:
			out[i] = "TIER"
		default:
			out[i] = "NAME"
		}
	}
	return diag.Path(out)
}

// FieldsNamed describes the fields of a blueprint that a word can mean: the fields of
// that name or, if there are none, the fields that other systems call so. The error is
// a *PathError if there are no such fields.
func FieldsNamed(word string) ([]Member, error) {
	definition := blueprintDefinition(newContext())
	v := newVocabulary(definition)
	out, err := describeFields(definition, v.fieldsNamed(word))
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		names := fieldNames(definition)
		near := diag.Nearest(word, append(names, slices.Sorted(maps.Keys(v.names))...))
		if near == "" {
			has := strings.Join(names, ", ")
			return nil, &PathError{fmt.Sprintf("a blueprint has no field %q; it has %s", word, has)}
		}
		return nil, &PathError{fmt.Sprintf("no field is named %q; did you mean %s?", word, near)}
	}
	return out, nil
}

// FieldsAt describes the fields at paths, which must exist.
func FieldsAt(paths []string) ([]Member, error) {
	return describeFields(blueprintDefinition(newContext()), paths)
}

func describeFields(definition cue.Value, paths []string) ([]Member, error) {
	var out []Member
	for _, path := range paths {
		elements, err := parsePath(path)
		if err != nil {
			return nil, err
		}
		constraint, presence, err := constraintAt(definition, elements)
		if err != nil {
			return nil, err
		}
		out = append(out, describeMember(path, constraint, presence))
	}
	return out, nil
}

// sameName returns the paths of the fields with the name of a top-level field, without
// the field itself.
func (v *vocabulary) sameName(name string) []string {
	return slices.DeleteFunc(v.fieldsNamed(name), func(path string) bool { return path == name })
}

// suggestPaths returns the paths that may be meant by a name that the struct at a path
// does not have. names are the fields of the struct.
func (v *vocabulary) suggestPaths(name string, names, parent []string) []string {
	found := v.findFields(name, parent)
	below := func(field ...string) string {
		return showPattern(append(slices.Clip(parent), field...))
	}
	near := diag.Nearest(name, names)
	switch {
	case len(found.here) > 0:
		var out []string
		for _, field := range found.here {
			out = append(out, below(field))
		}
		return out
	case len(found.below) == 1:
		return []string{below(found.below[0]...)}
	case near != "":
		return []string{below(near)}
	}
	var out []string
	for _, field := range append(found.below, found.elsewhere...) {
		out = append(out, showPattern(fillNames(field, parent)))
	}
	return out
}
