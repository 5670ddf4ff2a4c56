package lower

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerConsumption resolves how a capacity is obtained: its option, and the
// parameters of the option.
func lowerConsumption(c *ir.Capacity, b *schema.Blueprint, in schema.Consumption) {
	switch {
	case in.Spot != nil:
		c.Option = ir.Spot
	case in.Reservation != nil:
		r := in.Reservation
		c.Option = ir.Reservation
		if r.Kind == ir.CalendarReservation {
			c.Option = ir.Calendar
		}
		c.Reservation = &ir.ReservationUse{
			Name: r.Name, Create: r.Create, Block: valueOr(r.Block, ""), SubBlock: valueOr(r.SubBlock, ""),
			Kind: r.Kind, Days: valueOr(r.Days, 0),
		}
		if owner := valueOr(r.Project, b.Project); owner != b.Project {
			c.Reservation.Owner = owner
		}
		c.Waiting = !r.Active
	case in.AnyReservation != nil:
		c.Option = ir.AnyReservationOnly
		if in.AnyReservation.Otherwise == "onDemand" {
			c.Option = ir.AnyReservation
		}
	case in.FlexStart != nil:
		c.Option = ir.FlexStart
		if in.FlexStart.Queued {
			c.Option, c.Retries = ir.QueuedFlexStart, in.FlexStart.Retries
			c.AdmissionCheck = valueOr(in.FlexStart.AdmissionCheck, ir.CheckPrefix+c.Name)
			if retry := in.FlexStart.Retry; retry != nil {
				c.Retries = valueOr(retry.Limit, c.Retries)
				if p := (ir.RetryPauses{First: secondsOf(retry.First), Longest: secondsOf(retry.Longest)}); p !=
					c.Retry.Resolve() {
					c.Retry = p
				}
			}
		}
		c.MaxRunSeconds = in.FlexStart.MaxRunSeconds
	case in.Existing != nil:
		c.Option = ir.ExistingNodes
	default: // also without any option, which the grammar rejects
		c.Option = ir.OnDemand
	}
}
