package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestReservationCommands checks that README.md creates a reservation only if the plan
// has all of its properties.
func TestReservationCommands(t *testing.T) {
	const command = "gcloud compute reservations create kept --project=my-project --zone=us-central1-a --vm-count=4 " +
		"--machine-type=n1-standard-8 --require-specific-reservation --accelerator=count=2,type=nvidia-tesla-t4 " +
		"--local-ssd=interface=nvme,size=375 --local-ssd=interface=nvme,size=375\n"
	for name, test := range map[string]struct {
		change func(p *ir.Platform, c *ir.Capacity)
		want   bool
	}{
		"own":      {func(*ir.Platform, *ir.Capacity) {}, true},
		"created":  {func(_ *ir.Platform, c *ir.Capacity) { c.Reservation.Create = true }, false},
		"shared":   {func(_ *ir.Platform, c *ir.Capacity) { c.Reservation.Owner = "other" }, false},
		"in part":  {func(_ *ir.Platform, c *ir.Capacity) { c.Reservation.Block = "block" }, false},
		"waiting":  {func(_ *ir.Platform, c *ir.Capacity) { c.Waiting = true }, false},
		"calendar": {func(_ *ir.Platform, c *ir.Capacity) { c.Option = ir.Calendar }, false},
		"TPUs":     {func(_ *ir.Platform, c *ir.Capacity) { c.Machine.Resource = ir.TPU }, false},
		"zones":    {func(_ *ir.Platform, c *ir.Capacity) { c.Zones = append(c.Zones, "us-central1-b") }, false},
		"two capacities": {func(p *ir.Platform, c *ir.Capacity) {
			other := *c
			other.Name = "other"
			p.Capacities = append(p.Capacities, other)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(2)
			p.Project = "my-project"
			c := &p.Capacities[0]
			c.Option, c.Waiting, c.MaxNodes, c.LocalSSDs = ir.Reservation, false, 4, 2
			c.Zones = []string{"us-central1-a"}
			c.Reservation = &ir.ReservationUse{Name: "kept"}
			c.Machine = ir.Machine{Type: "n1-standard-8", Accelerator: "nvidia-tesla-t4", AcceleratorCount: 2,
				Resource: ir.GPU, SSDSizeGB: 375}
			test.change(p, c)
			got := renderReadme(t, p)
			const first = "First run `./create-platform.sh --prepare`, which enables the Compute Engine API."
			if strings.Contains(got, command) != test.want || strings.Contains(got, first) != test.want ||
				strings.Contains(got, "reservations create") != test.want {
				t.Errorf("README.md has the command: %t, want %t", !test.want, test.want)
			}
		})
	}
}
