// Package cost computes what a platform costs, from its plan and from prices that the
// user gives. It ships no price.
//
// The amounts are exact fractions, and are rounded only when they are printed. A bill
// holds nodes: disks, local SSDs, networks and GKE's own fee are not part of it.
package cost

import (
	"cmp"
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// hoursPerMonth is the length of a month, as Google's price lists count it: 365 days
// of 24 hours, divided by 12.
const hoursPerMonth = 730

// Cost is the cost of some nodes for one hour.
type Cost struct {
	Nodes        *big.Rat // a share of the nodes can be a fraction
	Accelerators *big.Rat
	Money        *big.Rat // nil without prices
}

// Span holds the cost of three states of a platform, each of which includes the ones
// before.
type Span struct {
	// Standing is paid even if no job runs.
	Standing Cost `json:"standing"`
	// Guaranteed is paid if all guarantees are used, in whole nodes.
	Guaranteed Cost `json:"guaranteed"`
	// Maximum is paid if all capacities have their maximum size.
	Maximum Cost `json:"maximum"`
}

// Bill is the cost of a platform.
type Bill struct {
	Platform, Region string
	Currency         string // "" without prices
	// Total is the sum of Capacities. Nodes that several tiers and teams share count
	// once.
	Total Span
	// Capacities are the capacities in the order of the plan, and then the system
	// pool.
	Capacities []CapacityCost
	// Tiers, Teams and Shared divide the same nodes in three ways. They must not be
	// added to each other, and their Maximum not even within one list, because each
	// can borrow what the others leave unused.
	Tiers, Teams []Share
	// Shared are the queues that teams share, by tier. No team has a part of its own
	// in them.
	Shared []Share
}

// CapacityCost is the cost of a capacity, or of the system pool.
type CapacityCost struct {
	Name    string
	Machine string
	Price   string   // name of the price
	Hourly  *big.Rat // price of one node for one hour, nil without prices
	// Waiting reports whether the capacity's reservation has not begun. Until then
	// only its Maximum counts.
	Waiting bool
	Span
}

// Share is the part of a tier, of a team or of a shared queue in the nodes.
type Share struct {
	Name string `json:"name"`
	// Guaranteed is the cost of the guaranteed accelerators, or CPUs, as a share of
	// nodes.
	Guaranteed Cost `json:"guaranteed"`
	// Maximum includes everything that can be borrowed.
	Maximum Cost `json:"maximum"`
}

// Of returns the bill of a platform. If prices is nil, the bill counts nodes and
// accelerators only. The prices must have passed Check.
func Of(p *ir.Platform, prices *Prices) *Bill {
	bill := &Bill{Platform: p.Name, Region: p.Region}
	if prices != nil {
		bill.Currency = prices.Currency
	}
	t := tally{platform: p, bill: bill, units: map[string]unit{}}
	if p.Absent() {
		bill.Total = t.spanOf(unit{}, [3]int{})
		return bill
	}
	counts := p.CountNodes()
	for i, c := range p.Capacities {
		u := unit{
			accelerators: c.Machine.AcceleratorCount, counted: c.CountedIn(),
			perNode: amountOf(c.OfferedBy(1, c.CountedIn())), reached: counts[i].Reached,
		}
		if prices != nil {
			u.price = cmp.Or(prices.find(needOf(c), p.Region), new(big.Rat))
		}
		t.units[c.Name] = u
		line := CapacityCost{
			Name: c.Name, Machine: c.Machine.Type, Price: c.Option.Facts().Price, Hourly: u.price, Waiting: c.Waiting,
		}
		n := countedOnce(p, c, counts[i])
		if c.Waiting {
			n.Reached = 0
		}
		line.Span = t.spanOf(u, [3]int{n.Standing, n.Admitted(), n.Ceiling})
		bill.Capacities = append(bill.Capacities, line)
	}
	t.addSystemPool(prices)
	for _, c := range bill.Capacities {
		bill.Total.Standing.add(c.Standing)
		bill.Total.Guaranteed.add(c.Guaranteed)
		bill.Total.Maximum.add(c.Maximum)
	}
	t.divide()
	return bill
}

// countedOnce returns the nodes of a capacity, without the standing machines of a
// reservation that stand for another capacity already. Capacities can share a
// reservation whose size only Google knows. Nodes of a fixed number stand in any
// case. The other machines count once, for the largest of the capacities.
func countedOnce(p *ir.Platform, c ir.Capacity, n ir.NodeCount) ir.NodeCount {
	if c.Static || !p.SharesReservation(c) {
		return n
	}
	for _, other := range p.Capacities {
		if other.Name == c.Name || !ir.SameReservation(c, other) {
			continue
		}
		if other.Static || other.MaxNodes > c.MaxNodes || other.MaxNodes == c.MaxNodes && other.Name < c.Name {
			n.Standing = c.MinNodes
		}
	}
	return n
}

// unit is one node of a capacity.
type unit struct {
	accelerators int
	counted      string   // resource in which quota is counted
	perNode      *big.Rat // amount of this resource
	price        *big.Rat // nil without prices
	reached      int      // nodes that all quotas together reach
}

// tally computes a bill.
type tally struct {
	platform *ir.Platform
	bill     *Bill
	units    map[string]unit // by capacity
}

// costOf returns the cost of a number of nodes.
func (t *tally) costOf(u unit, nodes *big.Rat) Cost {
	out := Cost{Nodes: nodes, Accelerators: new(big.Rat).Mul(nodes, big.NewRat(int64(u.accelerators), 1))}
	if t.bill.Currency != "" {
		out.Money = new(big.Rat)
		if u.price != nil {
			out.Money.Mul(nodes, u.price)
		}
	}
	return out
}

func (t *tally) spanOf(u unit, nodes [3]int) Span {
	of := func(i int) Cost { return t.costOf(u, big.NewRat(int64(nodes[i]), 1)) }
	return Span{of(0), of(1), of(2)}
}

// addSystemPool adds the nodes of the system pool, which always exist. A cluster that
// others own has no such pool.
func (t *tally) addSystemPool(prices *Prices) {
	if !t.platform.OwnsCluster() {
		return
	}
	pool := t.platform.SystemPool
	var u unit
	if prices != nil {
		n := need{machine: pool.Machine, option: ir.SystemPrice()}
		u.price = cmp.Or(prices.find(n, t.platform.Region), new(big.Rat))
	}
	n := pool.NodesPerZone * len(t.platform.Zones)
	t.bill.Capacities = append(t.bill.Capacities, CapacityCost{
		Name: pool.Name, Machine: pool.Machine, Price: ir.SystemPrice(), Hourly: u.price,
		Span: t.spanOf(u, [3]int{n, n, n}),
	})
}

// add adds a cost.
func (c *Cost) add(d Cost) {
	c.Nodes, c.Accelerators = addAmounts(c.Nodes, d.Nodes), addAmounts(c.Accelerators, d.Accelerators)
	if d.Money != nil {
		c.Money = addAmounts(c.Money, d.Money)
	}
}

// addAmounts returns a new sum; nil counts as 0.
func addAmounts(a, b *big.Rat) *big.Rat {
	out := new(big.Rat)
	for _, x := range []*big.Rat{a, b} {
		if x != nil {
			out.Add(out, x)
		}
	}
	return out
}

// part holds the amounts of one capacity that somebody is guaranteed, and can have
// at most, in the unit in which the capacity's quota is counted.
type part struct {
	guaranteed, most *big.Rat
	all              bool // most has no limit
}

// parts are the parts of one tier, team or queue, by capacity.
type parts map[string]part

// addQueue adds the quotas of a queue.
func (t *tally) addQueue(ps parts, q ir.Queue) {
	for _, f := range q.Flavors {
		for _, r := range f.Quotas {
			if r.Resource != t.units[f.Flavor].counted {
				continue
			}
			x := ps[f.Flavor]
			nominal := amountOf(r.Nominal)
			if !f.Waiting {
				x.guaranteed = addAmounts(x.guaranteed, nominal)
			}
			x.most = addAmounts(x.most, nominal)
			if r.Borrowing != nil {
				x.most = addAmounts(x.most, amountOf(*r.Borrowing))
			}
			x.all = x.all || r.BorrowsAll
			ps[f.Flavor] = x
		}
	}
}

// shareOf returns the cost of parts. A part never exceeds the nodes that all quotas
// together reach.
func (t *tally) shareOf(name string, ps parts) Share {
	out := Share{Name: name, Guaranteed: t.costOf(unit{}, new(big.Rat)), Maximum: t.costOf(unit{}, new(big.Rat))}
	for _, c := range t.platform.Capacities {
		x, u := ps[c.Name], t.units[c.Name]
		if x.most == nil || u.perNode.Sign() == 0 {
			continue
		}
		reached := big.NewRat(int64(u.reached), 1)
		nodes := func(amount *big.Rat, all bool) *big.Rat {
			n := new(big.Rat).Quo(addAmounts(amount, nil), u.perNode)
			if all || n.Cmp(reached) > 0 {
				return reached
			}
			return n
		}
		out.Guaranteed.add(t.costOf(u, nodes(x.guaranteed, false)))
		out.Maximum.add(t.costOf(u, nodes(x.most, x.all)))
	}
	return out
}

// divide adds the shares of the tiers, the teams and the shared queues.
func (t *tally) divide() {
	tiers := map[string]parts{}
	addTier := func(q ir.Queue) {
		if tiers[q.Tier] == nil {
			tiers[q.Tier] = parts{}
		}
		t.addQueue(tiers[q.Tier], q)
	}
	for _, team := range t.platform.Teams {
		own := parts{}
		for _, q := range team.Queues {
			if !q.Shared {
				addTier(q)
				t.addQueue(own, q)
			}
		}
		t.bill.Teams = append(t.bill.Teams, t.shareOf(team.Name, own))
	}
	for _, q := range t.platform.SharedQueues {
		addTier(q.Queue)
		own := parts{}
		t.addQueue(own, q.Queue)
		t.bill.Shared = append(t.bill.Shared, t.shareOf(q.Tier, own))
	}
	for _, class := range t.platform.PriorityClasses { // by rising priority
		if ps, ok := tiers[class.Tier]; ok {
			t.bill.Tiers = append(t.bill.Tiers, t.shareOf(class.Tier, ps))
			delete(tiers, class.Tier) // a tier can have several classes
		}
	}
}

// amountOf returns a quantity as a fraction.
func amountOf(q resource.Quantity) *big.Rat { return big.NewRat(q.MilliValue(), 1000) }

// Change is the difference between two bills, for one month.
type Change struct {
	Currency                      string
	Standing, Guaranteed, Maximum *big.Rat
}

// Compare returns the difference between two bills with prices.
func Compare(before, after *Bill) *Change {
	of := func(a, b Cost) *big.Rat { return perMonth(new(big.Rat).Sub(b.Money, a.Money)) }
	return &Change{
		Currency:   after.Currency,
		Standing:   of(before.Total.Standing, after.Total.Standing),
		Guaranteed: of(before.Total.Guaranteed, after.Total.Guaranteed),
		Maximum:    of(before.Total.Maximum, after.Total.Maximum),
	}
}

// perMonth returns the cost of a month, from the cost of an hour.
func perMonth(hourly *big.Rat) *big.Rat {
	return new(big.Rat).Mul(hourly, big.NewRat(hoursPerMonth, 1))
}
