package lower

import (
	"reflect"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// TestConsumption lowers each field of #Consumption, with each value of its
// parameters that chooses another option, and demands the row of that field. No row
// may be left.
func TestConsumption(t *testing.T) {
	left := map[ir.Option]bool{}
	for _, o := range ir.Options() {
		left[o.Option] = true
	}
	lowers := func(in schema.Consumption, field string) {
		t.Helper()
		var c ir.Capacity
		lowerConsumption(&c, &schema.Blueprint{}, in)
		if got := c.Option.Facts().Field; got != field {
			t.Errorf("consumption %s becomes %s, an option of %s", field, c.Option, got)
		}
		delete(left, c.Option)
	}
	for i := range reflect.TypeFor[schema.Consumption]().NumField() {
		var in schema.Consumption
		v := reflect.ValueOf(&in).Elem().Field(i)
		v.Set(reflect.New(v.Type().Elem()))
		lowers(in, reflect.TypeFor[schema.Consumption]().Field(i).Tag.Get("json"))
	}
	lowers(schema.Consumption{Reservation: &schema.Reservation{Kind: "calendar"}}, "reservation")
	lowers(schema.Consumption{AnyReservation: &schema.AnyReservation{Otherwise: "onDemand"}}, "anyReservation")
	lowers(schema.Consumption{FlexStart: &schema.FlexStart{Queued: true}}, "flexStart")
	for option := range left {
		t.Errorf("no blueprint gives option %s", option)
	}
}
