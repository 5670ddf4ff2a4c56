package main

import (
	"cmp"
	"reflect"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
)

func TestNaturally(t *testing.T) {
	want := []string{
		"", "a", "a2-highgpu-1g", "a2-highgpu-8g", "a2-megagpu-16g", "a4x", "c3-standard-4", "c3-standard-4-lssd",
		"c3-standard-8", "c3-standard-22", "c3d-standard-4", "n1", "n1-standard-1",
	}
	for i, a := range want {
		for j, b := range want {
			if got := naturally(a, b); got != cmp.Compare(i, j) {
				t.Errorf("naturally(%q, %q) = %d", a, b, got)
			}
		}
	}
}

// Every option of the catalogue has a column and a filter.
func TestOptions(t *testing.T) {
	fields := reflect.TypeFor[catalog.Options]()
	if fields.NumField() != len(options()) {
		t.Fatalf("%d options, and %d in the catalogue", len(options()), fields.NumField())
	}
	for i, o := range options() {
		var all catalog.Options
		offered := true
		reflect.ValueOf(&all).Elem().Field(i).Set(reflect.ValueOf(&offered))
		if tag := fields.Field(i).Tag.Get("json"); tag != o.name+",omitzero" || o.of(all) == nil {
			t.Errorf("option %q stands where the catalogue has %q", o.name, tag)
		}
	}
}
