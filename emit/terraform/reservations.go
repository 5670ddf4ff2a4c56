package terraform

import (
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
)

func writeReservations(b *body, p *ir.Platform) {
	for _, c := range p.Capacities {
		if createsReservation(c) {
			writeReservation(b, c)
		}
	}
}

// writeReservation writes a reservation for exactly the machines of a capacity's
// pool, in the pool's only zone. A pool whose nodes differ from the reservation in
// machine type, accelerators or local SSDs cannot consume it.
func writeReservation(b *body, c ir.Capacity) {
	b.note("Google Cloud bills the reservation from its creation on, even if no node uses it.")
	r := b.resource("google_compute_reservation", resourceLabel(c.Name))
	r.setString("name", c.Reservation.Name)
	r.setString("zone", c.Zones[0])
	r.note("Only node pools that name the reservation can use it.")
	r.setBool("specific_reservation_required", true)

	specific := r.block("specific_reservation")
	specific.setNumber("count", c.MaxNodes)
	instance := specific.block("instance_properties")
	instance.setString("machine_type", c.Machine.Type)
	if c.HasGPUs() {
		gpu := instance.block("guest_accelerators")
		gpu.setString("accelerator_type", c.Machine.Accelerator)
		gpu.setNumber("accelerator_count", c.Machine.AcceleratorCount)
	}
	if n := c.SSDs(); n > 0 {
		instance.note("The local SSDs of the reservation must match the local SSDs of the nodes.")
		each := instance.block("dynamic", "local_ssds")
		each.setTokens("for_each",
			hclwrite.TokensForFunctionCall("range", hclwrite.TokensForValue(cty.NumberIntVal(int64(n)))))
		ssd := each.block("content")
		ssd.setString("interface", "NVME")
		ssd.setNumber("disk_size_gb", c.Machine.SSDSizeGB)
	}
}
