package rules

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// What rules need of sizes and quotas: their places in the blueprint, and the submissions
// that use them.

// guaranteesOf returns, by the name of the capacity, references to the first few guarantees
// on it, and a note that counts all of them if there are more. A reference gives the amount of the
// capacity's resource in resources, by default in units of the capacity.
func (r *report) guaranteesOf(resources map[string]string) map[string]option {
	const most = 3
	guarantees := map[string][]option{}
	for _, q := range r.Plan.SharedQueues {
		quota := r.Blueprint.Tiers[q.Tier].Shared.Quota
		for _, f := range q.Flavors {
			if _, given := quota[f.Flavor]; !given {
				guarantees[f.Flavor] = append(guarantees[f.Flavor], see(at("tiers", q.Tier, "shared"),
					"without quota, the shared queue is guaranteed all of its capacities"))
			}
		}
	}
	for _, q := range r.grants() {
		name := cmp.Or(resources[q.capacity], r.fit.Named[q.capacity].CountedIn())
		if exact, given := q.Resources[name]; given {
			if amount, err := resource.ParseQuantity(string(exact.Guaranteed)); err == nil && !amount.IsZero() {
				guarantees[q.capacity] = append(guarantees[q.capacity], see(q.path.at("resources", name),
					"guaranteed here: %s", ir.PrintQuantity(name, amount)))
			}
		} else if n := nominalQuota(q.Quota); n > 0 {
			guarantees[q.capacity] = append(guarantees[q.capacity], see(q.path, "guaranteed here: %d", n))
		} else if guaranteesAny(q.Quota) {
			guarantees[q.capacity] = append(guarantees[q.capacity], see(q.path, "guaranteed here by resource"))
		}
	}
	out := map[string]option{}
	for _, c := range r.Plan.AllCapacities() {
		all := guarantees[c.Name]
		if n := len(all); n > most {
			all = append(all[:most], note("%s in total", words.Count(n, "guarantee")))
		}
		out[c.Name] = together(all...)
	}
	return out
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

// ownerOf returns the owner of a ClusterQueue that the teams use, for a message.
func ownerOf(q *ir.Queue, teams []ir.SharingTeam) string {
	if q.Shared {
		return fmt.Sprintf("the shared queue of tier %q", q.Tier)
	}
	return fmt.Sprintf("team %q", teams[0].Name)
}

// priorityPath returns the path of the value of a tier's PriorityClass.
func (r *report) priorityPath(tier, class string) fieldPath {
	if r.Blueprint.Tiers[tier].Priority != nil {
		return at("tiers", tier, "priority")
	}
	return at("tiers", tier, "priorities", class)
}

// countedTwice reports whether a capacity has both a fixed and a scaling size, which
// oneCount reports.
func countedTwice(in schema.Capacity) bool {
	return in.Nodes != nil && in.MaxNodes != nil || in.Slices != nil && in.MaxSlices != nil
}

// queueQuota returns the path of the quota of a ClusterQueue that the teams use.
func queueQuota(q *ir.Queue, teams []ir.SharingTeam) fieldPath {
	if q.Shared {
		return at("tiers", q.Tier, "shared", "quota")
	}
	return at("teams", teams[0].Name, "quota", q.Tier)
}

// limitOf returns the path of a borrowing limit.
func limitOf(b fit.Borrower) fieldPath {
	return append(queueQuota(b.Queue, b.Teams), b.Capacity.Name, "borrow")
}

// isDeadQuota reports whether a quota in a tier gives nothing. A quota that names
// capacities outside the tier is not dead.
func isDeadQuota(t schema.Tier, quota map[string]schema.Quota) bool {
	for c, q := range quota {
		if guaranteesAny(q) || borrowsAny(q) || !slices.Contains(t.Capacity, c) {
			return false
		}
	}
	return true
}

func canBorrow(quota map[string]schema.Quota) bool {
	for _, q := range quota {
		if borrowsAny(q) {
			return true
		}
	}
	return false
}

// listSubmissions returns the workloads as the teams submit them. The quota of a queue is
// spoilt if the queue has none, or would borrow without a cohort: deadQueues and
// loneBorrowers report these mistakes.
func (p *Pass) listSubmissions() fit.Submissions {
	teams := map[string]*ir.Team{}
	for i := range p.Plan.Teams {
		teams[p.Plan.Teams[i].Name] = &p.Plan.Teams[i]
	}
	out, last := fit.Submissions{}, [2]string{}
	for i := range p.Plan.Workloads {
		w := &p.Plan.Workloads[i]
		key := [2]string{w.Team, w.Template}
		if key == last {
			continue // another copy
		}
		last = key
		team, name := teams[w.Team], p.Blueprint.Workloads[w.Template].Tier
		queue := &team.Queues[slices.IndexFunc(team.Queues, func(q ir.Queue) bool { return q.Tier == name })]
		tier := p.Blueprint.Tiers[name]
		quota, cohort := p.Blueprint.Teams[w.Team].Quota[name], p.Blueprint.Teams[w.Team].Cohort
		dead := isDeadQuota(tier, quota)
		if queue.Shared {
			quota, cohort = tier.Shared.Quota, tier.Shared.Cohort
			dead = len(quota) == len(tier.Capacity) && isDeadQuota(tier, quota)
		}
		out[w.Template] = append(out[w.Template], fit.Submission{
			Workload: w, Team: team, Queue: queue, Tier: tier.Capacity,
			Spoilt: dead || cohort == nil && canBorrow(quota),
		})
	}
	return out
}

// quotaPath returns the path of the quota of a capacity. For the capacity "" it
// returns the path of the quota of the whole queue.
func (r *report) quotaPath(s fit.Submission, capacity string) fieldPath {
	if own := at("teams", s.Team.Name, "quota", s.Queue.Tier); !s.Queue.Shared {
		if capacity != "" {
			own = append(own, capacity)
		}
		return own
	}
	quota := r.Blueprint.Tiers[s.Queue.Tier].Shared.Quota
	_, given := quota[capacity]
	switch {
	case given:
		return at("tiers", s.Queue.Tier, "shared", "quota", capacity)
	case capacity == "" && len(quota) > 0:
		return at("tiers", s.Queue.Tier, "shared", "quota")
	}
	return at("tiers", s.Queue.Tier, "capacity") // all capacities that it can have
}
