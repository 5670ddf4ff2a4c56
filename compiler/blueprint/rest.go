package blueprint

import (
	"encoding/json"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/schema"
)

// keepValid keeps the fields of a broken entity that satisfy their own constraints, so
// that rules on single fields can check them in the same run.
func (c *checker) keepValid(entity, value cue.Value, path []string) {
	fields := map[string]json.RawMessage{}
	for sel, field := range writtenFields(value) {
		if !sel.IsString() {
			continue
		}
		name := sel.Unquoted()
		constraint, _ := fieldOf(entity, name)
		if !constraint.Exists() || !c.locate.isWritten(append(path[:2:2], name)...) {
			continue
		}
		merged := constraint.Unify(field)
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
	rest := *blueprint
	decoders := fieldDecoders(&rest)
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
	c.out.Rest = &rest
	return nil
}
