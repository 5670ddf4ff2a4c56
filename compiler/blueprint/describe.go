package blueprint

import (
	"cmp"
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
	switch schema.IncompleteKind() {
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
		if names := fieldNames(schema); len(names) > 0 {
			return "a struct with exactly one of " + strings.Join(names, ", ")
		}
		return "another value"
	case cue.StringKind:
		if d := definitionDoc(schema); d != "" {
			return d
		}
		return "a string"
	case cue.IntKind:
		return "a whole number" + describeBounds(schema)
	case cue.FloatKind, cue.NumberKind:
		return "a number" + describeBounds(schema)
	default:
		return describeKinds(schema)
	}
}

// describeKinds returns a description of the values that a constraint accepts if they can
// have several kinds.
func describeKinds(schema cue.Value) string {
	switch kind := schema.IncompleteKind(); kind {
	case cue.IntKind | cue.StringKind: // a number, or a word instead of a number
		return "a whole number" + describeBounds(schema) + ` or ` + oneOf(stringsOf(schema))
	case cue.NumberKind | cue.StringKind, cue.NumberKind | cue.StringKind | cue.StructKind: // an amount
		wanted := definitionDoc(schema)
		if literal := stringsOf(schema); len(literal) > 0 {
			wanted += ", or " + oneOf(literal)
		}
		return wanted
	case cue.StructKind | cue.StringKind: // a struct, or a word instead of a struct
		return describeTexts(schema) + ", or " + describeWanted(armOf(schema, cue.StructKind))
	case cue.ListKind | cue.StringKind: // a list, or a word instead of a list
		return describeTexts(schema) + ", or a list: [...]"
	case cue.IntKind | cue.StructKind: // a number, or a struct instead of a number
		return "a whole number" + describeBounds(schema) + ", or " + describeWanted(armOf(schema, cue.StructKind))
	case cue.StructKind | cue.StringKind | cue.ListKind: // also a list
		return describeTexts(schema) + ", a struct: { ... }, or a list: [...]"
	default:
		return kind.String()
	}
}

// describeTexts describes the texts that a constraint accepts in addition to a struct.
func describeTexts(constraint cue.Value) string {
	if literal := stringsOf(constraint); len(literal) > 0 {
		return oneOf(literal)
	}
	for _, arm := range disjunctionArms(constraint) {
		if arm.IncompleteKind() == cue.StringKind {
			return describeWanted(arm)
		}
	}
	return "a string"
}

// stringsOf returns the strings that a constraint accepts in addition to numbers.
func stringsOf(schema cue.Value) []string {
	var out []string
	for _, arm := range disjunctionArms(schema) {
		if s, err := arm.String(); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// disjunctionArms returns the arms of a disjunction, or the constraint itself.
func disjunctionArms(constraint cue.Value) []cue.Value {
	op, args := cue.Dereference(constraint).Expr()
	if op != cue.OrOp {
		return []cue.Value{constraint}
	}
	var out []cue.Value
	for _, a := range args {
		out = append(out, disjunctionArms(a)...)
	}
	return out
}

// requiredOf returns the names of the fields that a struct must have.
func requiredOf(schema cue.Value) []string {
	var names []string
	for sel := range schemaFields(schema) {
		if sel.ConstraintType() == cue.RequiredConstraint {
			names = append(names, sel.Unquoted())
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
	return cmp.Or(docSentence(label), describeWanted(label))
}

// enumMembers returns the values of an enumeration of strings, and nil for any other
// constraint.
func enumMembers(schema cue.Value) []string {
	arms := disjunctionArms(schema)
	if members := stringsOf(schema); len(arms) > 1 && len(members) == len(arms) {
		return members
	}
	return nil
}

// describeBounds returns the bounds of a number, such as " from 0 to 16", or "".
func describeBounds(schema cue.Value) string {
	low, high, over := "", "", ""
	visitBounds(schema, func(op cue.Op, limit cue.Value) {
		switch op {
		case cue.GreaterThanEqualOp:
			low = fmt.Sprint(limit)
		case cue.GreaterThanOp:
			over = fmt.Sprint(limit)
		case cue.LessThanEqualOp:
			high = fmt.Sprint(limit)
		}
	})
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

// visitBounds calls visit with the operator and the limit of each bound and pattern of a
// constraint.
func visitBounds(constraint cue.Value, visit func(op cue.Op, limit cue.Value)) {
	switch op, args := cue.Dereference(constraint).Expr(); op {
	case cue.AndOp, cue.OrOp:
		for _, a := range args {
			visitBounds(a, visit)
		}
	case cue.NoOp: // parentheses, or a default around the constraint
		if inner, _ := args[0].Expr(); inner != cue.NoOp {
			visitBounds(args[0], visit)
		}
	default:
		visit(op, args[len(args)-1])
	}
}

// definitionDoc returns the first sentence of the documentation of the definition
// that a constraint refers to, such as #CIDR, in a form that follows "want". If the
// constraint accepts values of several definitions, it returns a sentence of each. It
// returns "" if the constraint refers to no definition.
func definitionDoc(schema cue.Value) string {
	if root, path := schema.ReferencePath(); len(path.Selectors()) > 0 {
		if d := docSentence(root.LookupPath(path)); d != "" {
			return d
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

// docSentence returns the first sentence of a field's documentation, in a form that
// follows "want". It is "" if there is none.
func docSentence(schema cue.Value) string {
	for _, p := range paragraphsOf(schema.Doc()) {
		first := strings.TrimSuffix(firstSentence(p), ".")
		return strings.ToLower(first[:1]) + first[1:]
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
