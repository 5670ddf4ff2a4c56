package blueprint

import (
	"encoding/json"
	"maps"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/schema"
)

// keepValid keeps the fields of a broken entity that satisfy their own constraints, so
// that rules on single fields can check them in the same run.
func (c *checker) keepValid(entity, value cue.Value, path []string) {
	fields := map[string]json.RawMessage{}
	for it, ok := iterateFields(value); ok && it.Next(); {
		if !it.Selector().IsString() || isConstraint(it.Selector()) {
			continue
		}
		name := it.Selector().Unquoted()
		constraint, _ := fieldOf(entity, name)
		if !constraint.Exists() || !c.locate.isWritten(append(path[:2:2], name)...) {
			continue
		}
		merged := constraint.Unify(it.Value())
		if merged.Validate(cue.Concrete(true), cue.Final()) != nil {
			continue
		}
		if text, err := merged.MarshalJSON(); err == nil {
			fields[name] = text
		}
	}
	if len(fields) > 0 {
		c.valid[[2]string{path[0], path[1]}] = fields
	}
}

// decodeRest sets Rest and Valid of the result.
func (c *checker) decodeRest(blueprint *schema.Blueprint) error {
	if len(c.valid) == 0 {
		return nil
	}
	parts := &schema.Blueprint{}
	decoders := fieldDecoders(parts)
	c.out.Valid = map[[2]string]map[string]bool{}
	for entity, fields := range c.valid {
		text, err := json.Marshal(fields)
		if err == nil {
			err = decoders[entity[0]](entity[1], text)
		}
		if err != nil {
			return err
		}
		names := map[string]bool{}
		for name := range fields {
			names[name] = true
		}
		c.out.Valid[entity] = names
	}
	rest := *blueprint
	rest.Hardware = replaceEntries(blueprint.Hardware, parts.Hardware)
	rest.Capacity = replaceEntries(blueprint.Capacity, parts.Capacity)
	rest.Tiers = replaceEntries(blueprint.Tiers, parts.Tiers)
	rest.Cohorts = replaceEntries(blueprint.Cohorts, parts.Cohorts)
	rest.Teams = replaceEntries(blueprint.Teams, parts.Teams)
	rest.Workloads = replaceEntries(blueprint.Workloads, parts.Workloads)
	c.out.Rest = &rest
	return nil
}

// replaceEntries returns a copy of a map in which some entries are replaced.
func replaceEntries[T any](all, some map[string]T) map[string]T {
	out := maps.Clone(all)
	maps.Copy(out, some)
	return out
}
