package catalog

import (
	"reflect"
	"testing"
)

// TestOptionColumns checks that each field of Options has its column, in the same
// order.
func TestOptionColumns(t *testing.T) {
	fields := reflect.TypeFor[Options]()
	if fields.NumField() != len(OptionColumns()) {
		t.Fatalf("%d columns for %d fields", len(OptionColumns()), fields.NumField())
	}
	for i, c := range OptionColumns() {
		var all Options
		offered := true
		reflect.ValueOf(&all).Elem().Field(i).Set(reflect.ValueOf(&offered))
		if tag := fields.Field(i).Tag.Get("json"); tag != c.Name+",omitzero" || all.Offered(c.Name) != &offered {
			t.Errorf("column %q stands where the rows have %q", c.Name, tag)
		}
	}
}

func TestUnknownColumn(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a column that does not exist is unverified")
		}
	}()
	Options{}.Offered("preemptible")
}
