package report

import (
	"math/big"

	"github.com/batchwright/batchwright/compiler/cost"
)

// Price adds to a report what the nodes of the capacities cost while they existed. The bill
// must be that of the same platform, with prices. The system pool is no capacity, and is
// not part of it.
func (r *Report) Price(b *cost.Bill) {
	hourly := map[string]*big.Rat{}
	for _, c := range b.Capacities {
		hourly[c.Name] = c.Hourly
	}
	total := new(big.Rat)
	for i := range r.Capacities {
		c := &r.Capacities[i]
		if hourly[c.Name] == nil {
			continue
		}
		paid := new(big.Rat).Mul(hourly[c.Name], big.NewRat(c.NodeSeconds, 60*60))
		c.Cost = paid.FloatString(2)
		total.Add(total, paid)
	}
	r.Currency, r.Cost = b.Currency, total.FloatString(2)
}
