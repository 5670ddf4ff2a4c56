package compiler

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// maxBroken is how many broken entities (teams, capacities, ...) are explained
// in one run. CUE's own error lists grow with the square of their length, so
// entities are validated one by one and no more of them than somebody reads.
const maxBroken = 50

// check holds an instance against the schema. It returns the blueprint with
// every default filled in, and the locator of its fields. Entities that are
// broken are empty in the blueprint and named in the result; where more is
// broken than that, the blueprint is nil.
func check(ctx context.Context, cc *cue.Context, inst *build.Instance, sources *sources, findings *diag.List) (*checked, error) {
	definition, err := blueprintDefinition(cc)
	if err != nil {
		return nil, err
	}
	out := &checked{locate: &locator{sources: sources, files: inst.Files}}
	g := &grammar{cue: cc, sources: sources, locate: out.locate, findings: findings}

	value := cc.BuildInstance(inst)
	if err := value.Err(); err != nil {
		g.evaluation(err, nil)
		return out, nil
	}
	// Unify, never embed: a value that embeds the definition is open, and its
	// misspelt fields would go unnoticed.
	merged := definition.Unify(value)
	if out.broken, err = g.blueprint(ctx, definition, value, merged); err != nil || out.broken.whole {
		return out, err
	}
	blueprint, err := decode(merged, out.broken)
	if err != nil {
		if !findings.HasErrors() {
			g.evaluation(err, nil)
		}
		return out, nil
	}
	out.blueprint = blueprint
	return out, nil
}

// checked is what check makes of a blueprint.
type checked struct {
	blueprint *schema.Blueprint
	locate    *locator
	broken    broken
}

// broken says what of a blueprint does not fit the schema.
type broken struct {
	entities map[[2]string]bool // by field and name, such as teams and team-a
	whole    bool               // something else
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
		if err := inst.AddFile("/"+schemaMarker+e.Name(), content); err != nil {
			return cue.Value{}, err
		}
	}
	if err := inst.Complete(); err != nil {
		return cue.Value{}, err
	}
	definition := cc.BuildInstance(inst).LookupPath(cue.ParsePath("#Blueprint"))
	return definition, definition.Err()
}

// blueprint validates a blueprint entity by entity and explains those that do
// not fit.
func (g *grammar) blueprint(ctx context.Context, definition, value, merged cue.Value) (broken, error) {
	out := broken{entities: map[[2]string]bool{}}
	fits := func(constraint, value, merged cue.Value, path ...string) bool {
		err := merged.Validate(cue.Concrete(true), cue.Final())
		if err == nil {
			return true
		}
		if len(out.entities) >= maxBroken {
			return false
		}
		before := g.mistakes
		g.walk(constraint, value, path)
		if g.mistakes == before { // CUE knows something that the walk does not
			g.evaluation(err, path)
		}
		return false
	}

	var names []string
	fields, err := definition.Fields(cue.Optional(true))
	if err != nil {
		return out, err
	}
	for fields.Next() {
		name := fields.Selector().Unquoted()
		names = append(names, name)
		at := cue.MakePath(cue.Str(name))
		given, all := value.LookupPath(at), merged.LookupPath(at)
		if !given.Exists() {
			if fields.Selector().ConstraintType() == cue.RequiredConstraint {
				g.missing(fields.Value(), name, nil)
				out.whole = true
			}
			continue
		}
		entity, label := patternOf(fields.Value())
		if !entity.Exists() || given.IncompleteKind() != cue.StructKind {
			out.whole = !fits(fields.Value(), given, all, name) || out.whole
			continue
		}
		entities, err := given.Fields()
		if err != nil {
			g.evaluation(err, []string{name})
			out.whole = true
			continue
		}
		for entities.Next() {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			key := entities.Selector().Unquoted()
			if !g.key(label, key, []string{name, key}) {
				out.whole = true // the merged value has no such entity
			} else if !fits(entity, entities.Value(), all.LookupPath(cue.MakePath(cue.Str(key))), name, key) {
				out.entities[[2]string{name, key}] = true
			}
		}
	}

	given, err := value.Fields()
	if err != nil {
		g.evaluation(err, nil)
		out.whole = true
		return out, nil
	}
	for given.Next() {
		name := given.Selector().Unquoted()
		if !definition.LookupPath(cue.MakePath(cue.Str(name).Optional())).Exists() {
			g.unknown(name, names, []string{name})
		}
	}
	return out, nil
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

// decode turns a valid value into Go. Where some entities are broken the
// others are decoded one by one, and the broken ones stay empty: their names
// still resolve.
func decode(v cue.Value, b broken) (*schema.Blueprint, error) {
	blueprint := &schema.Blueprint{}
	if len(b.entities) == 0 {
		return blueprint, into(v, blueprint)
	}
	for name, field := range map[string]any{
		"name": &blueprint.Name, "project": &blueprint.Project, "region": &blueprint.Region, "zones": &blueprint.Zones,
		"cluster": &blueprint.Cluster, "network": &blueprint.Network, "versions": &blueprint.Versions,
		"monitoring": &blueprint.Monitoring, "delivery": &blueprint.Delivery,
	} {
		if err := into(v.LookupPath(cue.MakePath(cue.Str(name))), field); err != nil {
			return nil, err
		}
	}
	return blueprint, errors.Join(
		entities(v, b, "hardware", &blueprint.Hardware),
		entities(v, b, "capacity", &blueprint.Capacity),
		entities(v, b, "tiers", &blueprint.Tiers),
		entities(v, b, "cohorts", &blueprint.Cohorts),
		entities(v, b, "teams", &blueprint.Teams),
		entities(v, b, "workloads", &blueprint.Workloads),
	)
}

func entities[T any](v cue.Value, b broken, field string, m *map[string]T) error {
	*m = map[string]T{}
	it, err := v.LookupPath(cue.MakePath(cue.Str(field))).Fields()
	if err != nil {
		return nil // every entity is broken
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		var entity T
		if !b.entities[[2]string{field, name}] {
			if err := into(it.Value(), &entity); err != nil {
				return err
			}
		}
		(*m)[name] = entity
	}
	return nil
}

func into(v cue.Value, target any) error {
	text, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, target)
}
