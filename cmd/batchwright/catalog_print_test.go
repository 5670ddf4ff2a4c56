package main

import (
	"reflect"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestJSONOptionZones checks that the JSON of the catalogue has a field for the zones
// of each consumption option with zones of its own.
func TestJSONOptionZones(t *testing.T) {
	tags := map[string]bool{}
	for field := range reflect.TypeFor[jsonEntry]().Fields() {
		tags[field.Tag.Get("json")] = true
	}
	for _, o := range ir.Options() {
		if o.Zones != "" && !tags[o.Zones+"Zones,omitempty"] {
			t.Errorf("%s: jsonEntry has no field %sZones", o.Option, o.Zones)
		}
	}
}
