package rules

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/diag"
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
	if len(want) != 18 {
		t.Errorf("%d structs accept findings: two share an accepter", len(want))
	}
}

// TestAcceptancesOfBrokenEntities: a broken entity accepts findings on its valid fields,
// although it is empty in the blueprint.
func TestAcceptancesOfBrokenEntities(t *testing.T) {
	const code, reason = "W9999", "it is intended"
	team := [2]string{"teams", "a"}
	p := Pass{
		Blueprint: &schema.Blueprint{Teams: map[string]schema.Team{"a": {}}},
		Rest:      &schema.Blueprint{Teams: map[string]schema.Team{"a": {Accept: map[string]string{code: reason}}}},
		Broken:    map[[2]string]bool{team: true},
		Valid:     map[[2]string]map[string]bool{team: {"bucket": true}},
		Place:     func(bool, ...string) diag.Span { return diag.Span{} },
		Tag:       func(...string) (string, bool) { return "", false },
		Findings:  &diag.List{},
	}
	p.read()
	r := p.newRest().newReport(Rule{Code: code, Severity: diag.Warning, fieldwise: true})
	r.add(at("teams", "a", "bucket"), "the bucket is wrong")
	if all := p.Findings.Sorted(); len(all) != 1 || all[0].Accepted != reason {
		t.Errorf("%+v", all)
	}
}
