package blueprint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/words"
)

// describeWanted returns a description of the values that a constraint of the schema
// accepts.
func describeWanted(schema cue.Value) string {
	if m := enumMembers(schema); len(m) > 0 {
		return oneOf(m)
	}
	switch kind := schema.IncompleteKind(); kind {
	case cue.BoolKind:
		return "true or false"
	case cue.StructKind:
		if required := requiredOf(schema); len(required) > 0 {
			return "a struct with " + words.And(required)
		}
		return "a struct: { ... }"
	case cue.ListKind:
		if element := elementOf(schema); element.Exists() {
			return "a list of values, each " + describeWanted(element)
		}
		return "a list"
	case cue.BottomKind: // a one-of, which does not have a field yet
		if names, err := fieldNames(schema); err == nil {
			return "a struct with exactly one of " + strings.Join(names, ", ")
		}
		return "another value"
	case cue.StringKind:
		if d := definitionDoc(schema); d != "" {
			return d
		}
		return "a string"
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		noun := "a number"
		if kind == cue.IntKind {
			noun = "a whole number"
		}
		return noun + describeBounds(schema)
	case cue.IntKind | cue.StringKind: // a number, or a word instead of a number
		return "a whole number" + describeBounds(schema) + ` or ` + oneOf(stringsOf(schema))
	case cue.StructKind | cue.StringKind: // a struct, or a word instead of a struct
		return oneOf(stringsOf(schema)) + ", or a struct: { ... }"
	default:
		return kind.String()
	}
}

// stringsOf returns the strings that a constraint accepts in addition to numbers.
func stringsOf(schema cue.Value) []string {
	op, args := cue.Dereference(schema).Expr()
	if op != cue.OrOp {
		if s, err := schema.String(); err == nil {
			return []string{s}
		}
		return nil
	}
	var out []string
	for _, a := range args {
		out = append(out, stringsOf(a)...)
	}
	return out
}

// requiredOf returns the names of the fields that a struct must have.
func requiredOf(schema cue.Value) []string {
	var names []string
	it, err := schema.Fields(cue.Optional(true))
	for err == nil && it.Next() {
		if it.Selector().ConstraintType() == cue.RequiredConstraint {
			names = append(names, it.Selector().Unquoted())
		}
	}
	return names
}

// elementOf returns the constraint on the elements of a list, which may have a
// default. The result does not exist if there is no such constraint.
func elementOf(list cue.Value) cue.Value {
	return openList(list).LookupPath(cue.MakePath(cue.AnyIndex))
}

// openList returns the arm of a disjunction that constrains the elements of a list.
// The result does not exist if there is no such arm.
func openList(list cue.Value) cue.Value {
	if list.LookupPath(cue.MakePath(cue.AnyIndex)).Exists() {
		return list
	}
	op, args := list.Expr()
	for _, a := range args {
		if op != cue.OrOp { // the default's other arm, or the list itself
			if a.LookupPath(cue.MakePath(cue.AnyIndex)).Exists() {
				return a
			}
		} else if arm := openList(a); arm.Exists() {
			return arm
		}
	}
	return cue.Value{}
}

// wantLabel returns a description of the names that a constraint accepts.
func wantLabel(label cue.Value) string {
	if d := docSentence(label); d != "" {
		return strings.ToLower(d[:1]) + d[1:]
	}
	return describeWanted(label)
}

// enumMembers returns the values of an enumeration of strings, and nil for any other
// constraint.
func enumMembers(schema cue.Value) []string {
	op, args := cue.Dereference(schema).Expr()
	if op != cue.OrOp {
		return nil
	}
	var out []string
	for _, a := range args {
		if op, _ := cue.Dereference(a).Expr(); op == cue.OrOp {
			out = append(out, enumMembers(a)...)
			continue
		}
		s, err := a.String()
		if err != nil || !a.IsConcrete() {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// describeBounds returns the bounds of a number, such as " from 0 to 16", or "".
func describeBounds(schema cue.Value) string {
	low, high, over := "", "", ""
	var visit func(v cue.Value)
	visit = func(v cue.Value) {
		op, args := cue.Dereference(v).Expr()
		switch op {
		case cue.AndOp, cue.OrOp:
			for _, a := range args {
				visit(a)
			}
		case cue.NoOp: // a default around the constraint
			if len(args) == 1 {
				if inner, _ := args[0].Expr(); inner != cue.NoOp {
					visit(args[0])
				}
			}
		case cue.GreaterThanEqualOp:
			low = fmt.Sprint(args[0])
		case cue.GreaterThanOp:
			over = fmt.Sprint(args[0])
		case cue.LessThanEqualOp:
			high = fmt.Sprint(args[0])
		}
	}
	visit(schema)
	switch {
	case low != "" && high != "":
		return fmt.Sprintf(" from %s to %s", low, high)
	case low != "":
		return " of at least " + low
	case over != "":
		return " above " + over
	case high != "":
		return " of at most " + high
	}
	return ""
}

// definitionDoc returns the first sentence of the documentation of the definition
// that a constraint refers to, such as #CIDR, in a form that follows "want". If the
// constraint accepts values of several definitions, it returns a sentence of each. It
// returns "" if the constraint refers to no definition.
func definitionDoc(schema cue.Value) string {
	if root, path := schema.ReferencePath(); len(path.Selectors()) > 0 {
		if d := docSentence(root.LookupPath(path)); d != "" {
			return strings.ToLower(d[:1]) + d[1:]
		}
	}
	op, args := schema.Expr()
	if op != cue.OrOp && op != cue.AndOp {
		return ""
	}
	var docs []string
	for _, a := range args {
		if d := definitionDoc(a); d != "" && !slices.Contains(docs, d) {
			docs = append(docs, d)
		}
	}
	if op == cue.AndOp && len(docs) > 1 {
		docs = docs[:1]
	}
	return strings.Join(docs, "; or ")
}

// docSentence returns the first sentence of a field's documentation, "" if it has
// none.
func docSentence(schema cue.Value) string {
	for _, c := range schema.Doc() {
		text := strings.Join(strings.Fields(c.Text()), " ")
		first, _, _ := strings.Cut(text, ". ")
		if first = strings.TrimSuffix(first, "."); first != "" {
			return first
		}
	}
	return ""
}

// describeValue returns a user's value, shortened, for a message.
func describeValue(v cue.Value) string {
	switch v.IncompleteKind() {
	case cue.StructKind:
		return "a struct"
	case cue.ListKind:
		if n, err := v.Len().Int64(); err == nil && n == 0 {
			return "an empty list"
		}
		return "a list"
	case cue.NullKind:
		return "null"
	}
	if s, err := v.String(); err == nil {
		return strconv.Quote(shortenValue(s))
	}
	return shortenValue(fmt.Sprint(v))
}

// shortenValue returns the part of a value that a message shows.
func shortenValue(s string) string {
	const most = 61
	return words.Truncate(s, most)
}

// oneOf returns the strings as a list of alternatives.
func oneOf(names []string) string {
	return words.OneOf(len(names), words.Quoted(names, len(names)))
}
