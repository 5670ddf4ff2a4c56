package rules

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/schema"
)

// TestAcceptances: what any struct of a blueprint accepts is known, and is of
// the findings on what that struct holds.
func TestAcceptances(t *testing.T) {
	const code = "W0203"
	var b schema.Blueprint
	want := map[acceptance]string{}
	// accept lets a struct accept the code, if it can accept anything, and
	// returns whether it can.
	accept := func(v reflect.Value, path ...string) bool {
		if v.Kind() != reflect.Struct {
			return false
		}
		field := v.FieldByName("Accept")
		if !field.IsValid() {
			return false
		}
		reason := strings.Join(path, ".")
		field.Set(reflect.ValueOf(map[string]string{code: reason}))
		want[acceptance{accepterOf(append(path, "some", "field")), code}] = reason
		return true
	}
	top := reflect.ValueOf(&b).Elem()
	accept(top)
	for i := range top.NumField() {
		name, field := top.Type().Field(i).Tag.Get("json"), top.Field(i)
		if field.Kind() == reflect.Map && field.Type().Elem().Kind() == reflect.Struct {
			entity := reflect.New(field.Type().Elem()).Elem()
			if !accept(entity, name, "x") {
				t.Errorf("%s cannot accept anything", name)
			}
			field.Set(reflect.MakeMap(field.Type()))
			field.SetMapIndex(reflect.ValueOf("x"), entity)
		} else {
			accept(field, name)
		}
	}
	if diff := cmp.Diff(want, blueprintAcceptances(&b), cmp.AllowUnexported(acceptance{}, accepter{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(want) != 13 {
		t.Errorf("%d structs accept findings: two share an accepter", len(want))
	}
}
