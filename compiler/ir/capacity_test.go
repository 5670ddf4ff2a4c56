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
			p.Capacities = append(p.Capacities, ir.Capacity{Machine: ir.Machine{Resource: r}})
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

func TestOwnsReservation(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity ir.Capacity
		want     bool
	}{
		{"none", ir.Capacity{}, false},
		{"no owner given", ir.Capacity{Reservation: &ir.ReservationUse{}}, true},
		{"another project", ir.Capacity{Reservation: &ir.ReservationUse{Owner: "theirs"}}, false},
	} {
		if got := test.capacity.OwnsReservation(); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
