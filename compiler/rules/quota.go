package rules

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on quota: the limits must make sense, and the guarantees must be possible to
// keep.

func quotaRules() []Rule {
	return []Rule{
		{Code: "E0601", Severity: diag.Error, Title: "borrowing or lending without a cohort", check: loneBorrowers},
		{
			Code: schema.Overcommitted, Severity: diag.Error, Title: "guarantees exceed the capacity",
			check: checkOvercommit,
			whole: true, Acceptable: true,
		},
		{Code: "E0603", Severity: diag.Error, Title: "lending limit exceeds the guarantee", check: lendAboveNominal},
		{Code: "E0604", Severity: diag.Error, Title: "quota is in the wrong unit", check: quotaUnit, basic: true},
		{Code: "E0605", Severity: diag.Error, Title: "queue cannot run anything", check: deadQueues},
		{
			Code: "W0608", Severity: diag.Warning, Title: "quota is not a multiple of a TPU slice", check: sliceQuota,
			resolved: true,
		},
		{
			Code: "W0606", Severity: diag.Warning, Title: "no other queue lends to the queue", check: nothingToBorrow,
			whole: true, resolved: true, except: schedulers{ir.KAI},
		},
		{
			Code: "W0610", Severity: diag.Warning, Title: "limit exceeds all that can be borrowed",
			check: borrowTooMuch, whole: true, resolved: true, except: schedulers{ir.KAI},
		},
	}
}

// grant is a quota as the blueprint writes it: the quota of a team, or of the queue
// that teams share.
type grant struct {
	schema.Quota
	path           []string // path of the quota
	holder         []string // path of the team, or of the tier's shared queue
	who            string   // name of the holder, for a message
	cohort         *string  // cohort of the holder
	tier, capacity string
}

// eachQuota calls visit for every quota on a capacity that its tier uses.
func (r *report) eachQuota(visit func(grant)) {
	for _, g := range r.grants() {
		visit(g)
	}
}

// listGrants returns every quota on a capacity that its tier uses: the quotas of the
// teams, sorted, then the quotas of the queues that teams share.
func (p *Pass) listGrants() []grant {
	var out []grant
	b := p.Blueprint
	add := func(g grant, quota map[string]schema.Quota, path []string) {
		for _, c := range sortedKeys(quota) {
			if slices.Contains(b.Tiers[g.tier].Capacity, c) {
				g.Quota, g.path, g.capacity = quota[c], pathBelow(path, c), c
				out = append(out, g)
			}
		}
	}
	for _, name := range sortedKeys(b.Teams) {
		team := b.Teams[name]
		holder, who := at("teams", name), fmt.Sprintf("team %q", name)
		for _, tier := range sortedKeys(team.Quota) {
			if b.Tiers[tier].Shared == nil {
				add(grant{holder: holder, who: who, cohort: team.Cohort, tier: tier}, team.Quota[tier],
					at("teams", name, "quota", tier))
			}
		}
	}
	for _, tier := range sortedKeys(b.Tiers) {
		if s := b.Tiers[tier].Shared; s != nil {
			add(grant{
				holder: at("tiers", tier, "shared"), who: fmt.Sprintf("the shared queue of tier %q", tier),
				cohort: s.Cohort, tier: tier,
			}, s.Quota, at("tiers", tier, "shared", "quota"))
		}
	}
	return out
}

// nominalQuota returns the guaranteed part of a quota, in its own unit.
func nominalQuota(q schema.Quota) int {
	n := 0
	if q.Accelerators != nil {
		n = *q.Accelerators
	}
	if q.CPUs != nil {
		n = max(n, *q.CPUs)
	}
	return n
}

func pathBelow(path []string, field string) []string { return append(slices.Clip(path), field) }

func loneBorrowers(r *report) {
	reported := map[string]bool{} // one mistake, however many limits it affects
	r.eachQuota(func(q grant) {
		if q.cohort != nil || reported[q.who] || q.Borrow == 0 && q.Lend == nil {
			return
		}
		reported[q.who] = true
		verb, field := "lend to", "lend"
		if q.Borrow != 0 {
			verb, field = "borrow from", "borrow"
		}
		r.addKey(q.holder, fmt.Sprintf("%s has no cohort to %s", q.who, verb),
			withRelated(pathBelow(q.path, field), "the limit"), withHelp("give it a cohort, or remove its limits"))
	})
}

// loneCapacities returns the capacities on which loneBorrowers reports a limit. With a
// cohort, the holder of the limit probably lends to the other queues.
func (r *report) loneCapacities() map[string]bool {
	out := map[string]bool{}
	r.eachQuota(func(q grant) {
		if q.cohort == nil && (q.Borrow != 0 || q.Lend != nil) {
			out[q.capacity] = true
		}
	})
	return out
}

func lendAboveNominal(r *report) {
	r.eachQuota(func(q grant) {
		if q.Lend != nil && *q.Lend > nominalQuota(q.Quota) {
			r.add(pathBelow(q.path, "lend"),
				fmt.Sprintf("lend is %d, but the guarantee is %d", *q.Lend, nominalQuota(q.Quota)),
				withLabel("want at most %d", nominalQuota(q.Quota)))
		}
	})
}

func quotaUnit(r *report) {
	capacities := capacitiesByName(r.Plan)
	r.eachQuota(func(q grant) {
		m := capacities[q.capacity].Machine
		switch {
		case m.VCPUs == 0: // the machine is unknown
		case m.Accelerator == "" && q.Accelerators != nil:
			r.addKey(pathBelow(q.path, "accelerators"), fmt.Sprintf("%s has no accelerators", m.Type),
				withLabel("want cpus"), withHelp("%s",
					acceleratorCure(r.Blueprint.Capacity[q.capacity].Hardware, m.Type)))
		case m.Accelerator != "" && q.CPUs != nil:
			r.addKey(pathBelow(q.path, "cpus"), fmt.Sprintf("quota on %s is counted in accelerators", m.Type),
				withLabel("want accelerators"),
				withHelp("cpu and memory follow from hardware.%s.perAccelerator",
					r.Blueprint.Capacity[q.capacity].Hardware))
		}
	})
}

// acceleratorCure returns the help for a quota of accelerators on a machine without any.
// To an N1 machine the blueprint can attach GPUs, which people forget.
func acceleratorCure(hardware, machine string) string {
	if gpus := catalog.Attachments(machine); len(gpus) > 0 {
		common := slices.IndexFunc(gpus, func(a catalog.Attachment) bool { return a.Accelerator == "nvidia-tesla-t4" })
		one := gpus[max(common, 0)]
		return fmt.Sprintf("add the GPUs of each node, such as hardware: %q: gpus: {type: %q, count: %d}; "+
			"or count the quota in cpus", hardware, one.Accelerator, one.Count)
	}
	return "count the quota in cpus, or choose a machine type with accelerators"
}

// guaranteesOf returns references to the first few guarantees on each capacity, and a
// note that counts all of them if there are more, by the name of the capacity.
func (r *report) guaranteesOf() map[string][]option {
	guarantees := map[string][]option{}
	omitted := map[string]int{} // by capacity, the number of the others
	guarantee := func(capacity string, path []string, format string, args ...any) {
		if len(guarantees[capacity]) == 3 {
			omitted[capacity]++
			return
		}
		guarantees[capacity] = append(guarantees[capacity], withRelated(path, format, args...))
	}
	for _, q := range r.Plan.SharedQueues {
		quota := r.Blueprint.Tiers[q.Tier].Shared.Quota
		for _, f := range q.Flavors {
			if _, given := quota[f.Flavor]; !given {
				guarantee(f.Flavor, at("tiers", q.Tier, "shared"),
					"without quota, the shared queue is guaranteed all of its capacities")
			}
		}
	}
	r.eachQuota(func(q grant) {
		if n := nominalQuota(q.Quota); n > 0 {
			guarantee(q.capacity, q.path, "guaranteed here: %d", n)
		}
	})
	for capacity, n := range omitted {
		guarantees[capacity] = append(guarantees[capacity],
			withNote("%s in total", words.Count(len(guarantees[capacity])+n, "guarantee")))
	}
	return guarantees
}

func checkOvercommit(r *report) {
	guarantees := r.guaranteesOf()
	for _, c := range r.Plan.Capacities {
		excess, ok := firstExcess(c)
		in := r.Blueprint.Capacity[c.Name]
		if !ok || !hasSize(c, in) || conflictingCounts(in) || r.followsShare(c, excess) {
			continue
		}
		n, unit := countedUnits(c, c.MaxNodes)
		hold := "hold"
		if n == 1 {
			hold = "holds"
		}
		printed := ir.PrintAlike(excess.resource, excess.guaranteed, excess.held)
		message := fmt.Sprintf("the guarantees on capacity %q are %s %s, but its %s %s %s", c.Name,
			printed[0], excess.resource, words.Count(n, unit), hold, printed[1])
		options := []option{withHelp("reduce the quotas, or add %ss; if this is intended, add %s", unit,
			acceptSource(r.rule.Code, at("capacity", c.Name)))}
		options = append(options, guarantees[c.Name]...)
		r.addKey(at("capacity", c.Name), message, options...)
	}
}

// followsShare reports whether an excess of cpu or memory is a consequence of
// perAccelerator, which promises more cpu or memory than the node has.
func (r *report) followsShare(c ir.Capacity, e excess) bool {
	h := r.Blueprint.Hardware[r.Blueprint.Capacity[c.Name].Hardware]
	m, ok := findMachine(h)
	s, given := shareOf(h, m)
	counted := c.CountedIn()
	return ok && given && (s.aboveCPU || s.aboveMemory) && e.resource != counted
}

// countedUnits returns a number of nodes in the unit in which the blueprint gives the
// capacity's size, and the unit: nodes, or TPU slices. A slice of one host is one
// node.
func countedUnits(c ir.Capacity, nodes int) (n int, unit string) {
	if c.HasTPUs() {
		return nodes / c.Machine.Slice.Hosts, "slice"
	}
	return nodes, "node"
}

// hasSize reports whether the blueprint gives a capacity's size, which can be zero.
func hasSize(c ir.Capacity, in schema.Capacity) bool {
	if c.HasTPUs() {
		return c.Machine.Slice != nil && (in.Slices != nil || in.MaxSlices != nil)
	}
	return in.Nodes != nil || in.MaxNodes != nil
}

// conflictingCounts reports whether oneCount or minAboveMax reports the counts of a
// capacity, so that nobody knows which of them holds.
func conflictingCounts(in schema.Capacity) bool {
	return in.Nodes != nil && in.MaxNodes != nil || in.Slices != nil && in.MaxSlices != nil ||
		in.MaxNodes != nil && in.MinNodes > *in.MaxNodes
}

type excess struct {
	resource         string
	guaranteed, held resource.Quantity
}

// firstExcess returns the first resource of which a capacity guarantees more than it
// ever holds, and reports whether there is one. Accelerators come first, because
// people count in them.
func firstExcess(c ir.Capacity) (excess, bool) {
	order := slices.Clone(c.PerNode)
	if n := len(order); c.HasAccelerators() {
		order = append(order[n-1:n:n], order[:n-1]...)
	}
	for _, perNode := range order {
		held := c.OfferedBy(c.MaxNodes, perNode.Resource)
		i := slices.IndexFunc(c.Guaranteed, func(a ir.Amount) bool { return a.Resource == perNode.Resource })
		if c.Guaranteed[i].Quantity.Cmp(held) > 0 {
			return excess{perNode.Resource, c.Guaranteed[i].Quantity, held}, true
		}
	}
	return excess{}, false
}

func deadQueues(r *report) {
	b := r.Blueprint
	for _, name := range sortedKeys(b.Teams) {
		for _, tier := range sortedKeys(b.Teams[name].Quota) {
			quota := b.Teams[name].Quota[tier]
			switch {
			case len(b.Tiers[tier].Capacity) == 0 || b.Tiers[tier].Shared != nil:
			case len(quota) == 0:
				r.addKey(at("teams", name, "quota", tier),
					fmt.Sprintf("team %q has no quota on any capacity of tier %q", name, tier),
					withHelp("add quota, or remove the tier from the team's quota"))
			case isDeadQuota(b.Tiers[tier], quota):
				r.addKey(at("teams", name, "quota", tier),
					fmt.Sprintf("team %q is guaranteed nothing in tier %q and may borrow nothing", name, tier),
					withHelp("add a guarantee or a borrowing limit"))
			}
		}
	}
	for _, tier := range sortedKeys(b.Tiers) {
		t := b.Tiers[tier]
		if t.Shared == nil ||
			slices.ContainsFunc(t.Capacity, func(c string) bool { _, given := t.Shared.Quota[c]; return !given }) {
			continue // the quota covers all of a capacity
		}
		if isDeadQuota(t, t.Shared.Quota) {
			r.addKey(at("tiers", tier, "shared", "quota"),
				fmt.Sprintf("the shared queue of tier %q is guaranteed nothing and may borrow nothing", tier),
				withHelp("add a guarantee or a borrowing limit; or remove quota: the queue is then guaranteed all "+
					"of its capacities"))
		}
	}
}

// isDeadQuota reports whether a quota in a tier gives nothing. A quota that names
// capacities outside the tier is not dead.
func isDeadQuota(t schema.Tier, quota map[string]schema.Quota) bool {
	for c, q := range quota {
		if nominalQuota(q) > 0 || q.Borrow != 0 || !slices.Contains(t.Capacity, c) {
			return false
		}
	}
	return true
}

// sliceQuota reports a quota of which a part can never be used, because a workload
// uses whole slices or hosts.
func sliceQuota(r *report) {
	capacities := capacitiesByName(r.Plan)
	r.eachQuota(func(q grant) {
		slice, own := capacities[q.capacity].Machine.Slice, nominalQuota(q.Quota)
		if slice == nil || q.Borrow == schema.BorrowAll || own+int(q.Borrow) == 0 {
			return
		}
		if most := own + int(q.Borrow); most < slice.Chips {
			r.addKey(q.path,
				fmt.Sprintf("the quota of %d chips cannot be used, because a slice of %q has %d", most, q.capacity,
					slice.Chips), withHelp("write a multiple of %d", slice.Chips))
		} else if rest := own % slice.Chips; rest != 0 && q.Borrow == 0 {
			r.addKey(q.path,
				fmt.Sprintf("the quota is %d chips, but %d of them cannot be used, because slices of %q have %d each",
					own, rest, q.capacity, slice.Chips), withHelp("write a multiple of %d", slice.Chips))
		}
	})
}

// borrower is a queue's quota on a capacity with a borrowing limit above 0.
type borrower struct {
	path     []string // path of the limit
	who      string   // the owner of the queue, in words
	queue    string   // name of the ClusterQueue
	cohort   string
	capacity *ir.Capacity
	quotas   []ir.ResourceQuota
}

// eachBorrower calls visit for every quota that can borrow. It omits capacities
// without nodes for the time being.
func (r *report) eachBorrower(visit func(borrower)) {
	capacities := capacitiesByName(r.Plan)
	for q, teams := range r.Plan.ClusterQueues() {
		who := fmt.Sprintf("the shared queue of tier %q", q.Tier)
		if !q.Shared {
			who = fmt.Sprintf("team %q", teams[0].Name)
		}
		for _, f := range q.Flavors {
			c := capacities[f.Flavor]
			if f.Borrows() && !c.Emptied() {
				limit := append(queueQuota(q, teams), f.Flavor, "borrow")
				visit(borrower{limit, who, q.ClusterQueue, q.Cohort, &c, f.Quotas})
			}
		}
	}
}

// queueQuota returns the path of the quota of a ClusterQueue that the teams use.
func queueQuota(q *ir.Queue, teams []ir.SharingTeam) []string {
	if q.Shared {
		return at("tiers", q.Tier, "shared", "quota")
	}
	return at("teams", teams[0].Name, "quota", q.Tier)
}

// nothingToBorrow reports limits on borrowing from a cohort in which no other queue
// lends. A comprehension writes the limits of many queues at one place: they are one
// finding.
func nothingToBorrow(r *report) {
	type limit struct {
		spot             diag.Spot
		cohort, capacity string
		accepted         bool
	}
	const most = 12
	pool, lone := r.lent(), r.loneCapacities()
	borrowers := map[limit][]borrower{}
	var order []limit
	r.eachBorrower(func(b borrower) {
		own := b.quotas[slices.IndexFunc(b.quotas, ir.ResourceQuota.Borrows)]
		if lone[b.capacity.Name] {
			return
		}
		if others := pool.ByOthers(b.cohort, b.capacity.Name, own); others.Sign() <= 0 {
			spot := r.Place(false, b.path...).Spot("")
			l := limit{spot, b.cohort, b.capacity.Name, r.acceptedReason(b.path) != ""}
			if borrowers[l] == nil {
				order = append(order, l)
			}
			borrowers[l] = append(borrowers[l], b)
		}
	})
	for _, l := range order {
		same := borrowers[l]
		var who []string
		for _, b := range same {
			who = append(who, b.who)
		}
		all := words.And(who)
		if len(who) > most {
			all = words.First(who, most)
		}
		r.add(same[0].path, fmt.Sprintf("no other queue of cohort %q lends %q to %s", l.cohort, l.capacity, all),
			withHelp("remove borrow, or let another queue lend"))
	}
}

// borrowTooMuch reports a borrowing limit above everything that the other queues
// under the root of the cohort lend. Cohorts have neither quota nor limits of their
// own, so their nesting does not matter.
func borrowTooMuch(r *report) {
	pool, lone := r.lent(), r.loneCapacities()
	r.eachBorrower(func(b borrower) {
		counted := b.capacity.CountedIn()
		i := slices.IndexFunc(b.quotas, func(q ir.ResourceQuota) bool { return q.Resource == counted })
		if i < 0 || b.quotas[i].Borrowing == nil || lone[b.capacity.Name] {
			return
		}
		own := b.quotas[i]
		others := pool.ByOthers(b.cohort, b.capacity.Name, own)
		if others.Sign() <= 0 || own.Borrowing.Cmp(others) <= 0 {
			return
		}
		most := ir.PrintQuantity(counted, others)
		r.add(b.path,
			fmt.Sprintf("borrow is %s, but the other queues lend at most %s on %q",
				ir.PrintQuantity(counted, *own.Borrowing), most, b.capacity.Name),
			withLabel("want at most %s", most),
			withHelp("write borrow: %s, or borrow: %q for everything that is idle", most, "all"))
	})
}
