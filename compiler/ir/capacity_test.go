package ir_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

func TestCountedResources(t *testing.T) {
	of := func(resources ...string) *ir.Platform {
		p := &ir.Platform{}
		for _, r := range resources {
			p.Capacities = append(p.Capacities, ir.Capacity{Option: ir.OnDemand, Machine: ir.Machine{Resource: r}})
		}
		return p
	}
	for _, test := range []struct {
		name string
		plan *ir.Platform
		want []string
	}{
		{"nothing", of(), []string{"cpu"}},
		{"cpu machines", of("", ""), []string{"cpu"}},
		{"GPUs twice, TPUs and cpu machines", of(ir.GPU, "", ir.TPU, ir.GPU), []string{ir.TPU, ir.GPU}},
	} {
		if diff := cmp.Diff(test.want, test.plan.CountedResources()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestReservations(t *testing.T) {
	for _, test := range []struct {
		name                string
		capacity            ir.Capacity
		owns, metrics, only bool
	}{
		{"none", ir.Capacity{Option: ir.OnDemand}, false, false, false},
		{"no owner given", ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{}}, true, true, true},
		{
			"another project", ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{Owner: "theirs"}},
			false, false, true,
		},
		{"any", ir.Capacity{Option: ir.AnyReservationOnly}, false, true, true},
		{"any, else on demand", ir.Capacity{Option: ir.AnyReservation}, false, true, false},
	} {
		for _, answer := range []struct {
			name      string
			got, want bool
		}{
			{"OwnsReservation", test.capacity.OwnsReservation(), test.owns},
			{"HasReservationMetrics", test.capacity.HasReservationMetrics(), test.metrics},
			{"OnlyReserved", test.capacity.OnlyReserved(), test.only},
		} {
			if answer.got != answer.want {
				t.Errorf("%s: %s is %v, want %v", test.name, answer.name, answer.got, answer.want)
			}
		}
	}
}
