package terraform

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

func reservations(b *body, p *ir.Platform) {
	for _, c := range p.Capacities {
		if creates(c) {
			reservation(b, p, c)
		}
	}
}

// reservation reserves what a capacity's pool consumes, machine for machine: a
// pool whose nodes differ from the reservation in anything gets none of it.
func reservation(b *body, p *ir.Platform, c ir.Capacity) {
	b.note("Paid for from creation on, used or not.")
	r := b.resource("google_compute_reservation", label(c.Name))
	r.text("name", c.Reservation.Name)
	if len(c.Zones) == 1 {
		r.text("zone", c.Zones[0])
	} else {
		r.raw("for_each", hclwrite.TokensForFunctionCall("toset", zones(p, c)))
		r.expr("zone", "each.key")
	}
	r.note("Only for pools that name it.")
	r.flag("specific_reservation_required", true)

	specific := r.block("specific_reservation")
	specific.number("count", c.MaxNodes/len(c.Zones))
	instance := specific.block("instance_properties")
	instance.text("machine_type", c.Machine.Type)
	if c.HasGPUs() {
		gpu := instance.block("guest_accelerators")
		gpu.text("accelerator_type", c.Machine.Accelerator)
		gpu.number("accelerator_count", c.Machine.AcceleratorCount)
	}
}
