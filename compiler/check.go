package compiler

import (
	"context"
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// maxBroken is how many broken entities (teams, capacities, ...) are explained
// in one run. CUE's own error lists grow with the square of their length, so
// entities are validated one by one and no more of them than somebody reads.
const maxBroken = 50

// checked is what check makes of a blueprint.
type checked struct {
	// blueprint has every default filled in. Broken entities are empty in it,
	// so that their names still resolve; where more is broken than entities,
	// it is nil.
	blueprint *schema.Blueprint
	broken    map[[2]string]bool // entities, by field and name: teams and team-a
	locate    *locator
}

// check holds an instance against the schema, and explains what does not fit.
//
// Every entity is unified with its own part of the schema, decoded, and let go
// of again: the whole of a large blueprint never exists twice. Unify, not
// embed: a value that embeds a definition is open, and its misspelt fields
// would go unnoticed.
func check(ctx context.Context, cc *cue.Context, inst *build.Instance, sources *sources, findings *diag.List) (*checked, error) {
	definition, err := blueprintDefinition(cc)
	if err != nil {
		return nil, err
	}
	out := &checked{broken: map[[2]string]bool{}, locate: &locator{sources: sources, files: inst.Files}}
	g := &grammar{cue: cc, sources: sources, locate: out.locate, findings: findings}

	value := cc.BuildInstance(inst)
	given, err := value.Fields()
	if err != nil { // not even a struct
		g.evaluation(value.Err(), nil)
		return out, nil
	}
	blueprint := &schema.Blueprint{}
	decoders := decoders(blueprint)
	whole := true
	known, err := fieldNames(definition)
	if err != nil {
		return nil, err
	}
	meant := map[string]bool{}
	for given.Next() {
		if name := given.Selector().Unquoted(); !slices.Contains(known, name) {
			meant[g.unknown(name, known, []string{name})] = true
		}
	}
	fields, err := definition.Fields(cue.Optional(true))
	if err != nil {
		return nil, err
	}
	for fields.Next() {
		name := fields.Selector().Unquoted()
		constraint, field := fields.Value(), value.LookupPath(cue.MakePath(cue.Str(name)))
		if !field.Exists() && fields.Selector().ConstraintType() == cue.RequiredConstraint {
			if !meant[name] {
				g.missing(constraint, name, nil)
			}
			whole = false
			continue
		}
		entity, label := patternOf(constraint)
		if !entity.Exists() || field.Exists() && field.IncompleteKind() != cue.StructKind {
			whole = g.fit(constraint, field, decoders[name], name) && whole
			continue
		}
		if !field.Exists() {
			continue
		}
		entities, err := field.Fields()
		if err != nil {
			g.evaluation(err, []string{name})
			whole = false
			continue
		}
		matches := matcher(label)
		for entities.Next() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			key := entities.Selector().Unquoted()
			switch {
			case !matches(key):
				g.badKey(label, key, []string{name, key})
				whole = false
			case len(out.broken) >= maxBroken || !g.fit(entity, entities.Value(), decoders[name], name, key):
				out.broken[[2]string{name, key}] = true
				if err := decoders[name](key, []byte("{}")); err != nil {
					return nil, err
				}
			}
		}
	}
	if whole {
		out.blueprint = blueprint
	}
	return out, nil
}

// fieldNames returns the names of a struct's fields, in the schema's order.
func fieldNames(v cue.Value) ([]string, error) {
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return nil, err
	}
	var names []string
	for it.Next() {
		names = append(names, it.Selector().Unquoted())
	}
	return names, nil
}

// fit decodes a value that fits its constraint, and explains one that does
// not. A value that does not exist is the constraint's default.
func (g *grammar) fit(constraint, value cue.Value, decode decoder, path ...string) bool {
	merged := constraint
	if value.Exists() {
		merged = constraint.Unify(value)
	}
	err := merged.Validate(cue.Concrete(true), cue.Final())
	if err == nil {
		var text []byte
		if text, err = merged.MarshalJSON(); err == nil {
			err = decode(strings.Join(path[1:], ""), text)
		}
	}
	if err == nil {
		return true
	}
	before := g.mistakes
	g.walk(constraint, value, path)
	if g.mistakes == before { // CUE knows something that the walk does not
		g.evaluation(err, path)
	}
	return false
}

// A decoder stores a field's JSON in a blueprint; key is an entity's name, or
// "" for a field that is no map of entities.
type decoder func(key string, text []byte) error

// decoders returns the decoder of every field of a blueprint.
func decoders(b *schema.Blueprint) map[string]decoder {
	return map[string]decoder{
		"name": one(&b.Name), "project": one(&b.Project), "region": one(&b.Region), "zones": one(&b.Zones),
		"cluster": one(&b.Cluster), "network": one(&b.Network), "versions": one(&b.Versions),
		"monitoring": one(&b.Monitoring), "delivery": one(&b.Delivery),
		"hardware": entry(&b.Hardware), "capacity": entry(&b.Capacity), "tiers": entry(&b.Tiers),
		"cohorts": entry(&b.Cohorts), "teams": entry(&b.Teams), "workloads": entry(&b.Workloads),
	}
}

func one(field any) decoder {
	return func(_ string, text []byte) error { return json.Unmarshal(text, field) }
}

func entry[T any](field *map[string]T) decoder {
	*field = map[string]T{}
	return func(key string, text []byte) error {
		var entity T
		err := json.Unmarshal(text, &entity)
		(*field)[key] = entity
		return err
	}
}

// blueprintDefinition compiles #Blueprint from the embedded schema.
func blueprintDefinition(cc *cue.Context) (cue.Value, error) {
	entries, err := fs.ReadDir(schema.Files, ".")
	if err != nil {
		return cue.Value{}, err
	}
	inst := build.NewContext().NewInstance("", nil)
	for _, e := range entries {
		content, err := fs.ReadFile(schema.Files, e.Name())
		if err != nil {
			return cue.Value{}, err
		}
		file, err := parser.ParseFile("/"+schemaMarker+e.Name(), content, parser.ParseComments)
		if err != nil {
			return cue.Value{}, err
		}
		if err := inst.AddSyntax(file); err != nil {
			return cue.Value{}, err
		}
	}
	if err := inst.Complete(); err != nil {
		return cue.Value{}, err
	}
	definition := cc.BuildInstance(inst).LookupPath(cue.ParsePath("#Blueprint"))
	return definition, definition.Err()
}

// patternOf returns the pattern constraint of a struct and the constraint on
// its labels.
func patternOf(v cue.Value) (constraint, label cue.Value) {
	it, err := v.Fields(cue.Patterns(true))
	if err != nil {
		return cue.Value{}, cue.Value{}
	}
	for it.Next() {
		if it.Selector().ConstraintType() == cue.PatternConstraint {
			return it.Value(), it.Selector().Pattern()
		}
	}
	return cue.Value{}, cue.Value{}
}

// matcher returns a function that tells whether a name meets the constraint on
// the labels of a map: in the schema, a regular expression.
func matcher(label cue.Value) func(string) bool {
	if op, args := label.Expr(); op == cue.RegexMatchOp {
		if text, err := args[len(args)-1].String(); err == nil {
			if re, err := regexp.Compile(text); err == nil {
				return re.MatchString
			}
		}
	}
	return func(string) bool { return true }
}
