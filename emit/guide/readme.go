package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/graph"
	"github.com/batchwright/batchwright/emit/page"
)

// TeamGroups returns the Google groups of the teams, each once.
func (v view) TeamGroups() (groups []string) {
	seen := map[string]bool{"": true} // several teams may share one
	for _, t := range v.Teams {
		if !seen[t.Group] {
			seen[t.Group] = true
			groups = append(groups, t.Group)
		}
	}
	return groups
}

// exceededLimit is a limit of node auto-provisioning below what the quotas admit.
type exceededLimit struct {
	Max, Need   int
	Unit, Field string // the field of the blueprint has the limit
}

// ExceededLimits returns the limits of node auto-provisioning below what the quotas admit.
func (v view) ExceededLimits() (out []exceededLimit) {
	if !v.AutoProvisioning.Create {
		return nil
	}
	for _, l := range v.AutoProvisioning.Limits {
		exceeded := exceededLimit{Max: l.Max}
		switch l.Type {
		case ir.CPU:
			exceeded.Need, exceeded.Unit, exceeded.Field = v.Demand.VCPUs, "vCPUs", "maxCPU"
		case ir.Memory:
			exceeded.Need, exceeded.Unit, exceeded.Field = v.Demand.MemoryGiB, "GiB of memory", "maxMemoryGiB"
		}
		if exceeded.Need > l.Max {
			out = append(out, exceeded)
		}
	}
	return out
}

// ReservationsToCreate returns the capacities whose reservations must exist before the
// build, and can be created by a command for exactly the machines of the capacity. A
// reservation of another project, of a calendar, of TPUs, in several zones, or of several
// capacities has no command, because its owner, its days or its number of machines are not
// in the blueprint.
func (v view) ReservationsToCreate() (out []ir.Capacity) {
	users := map[string]int{}
	for _, c := range v.Capacities {
		if c.Reservation != nil {
			users[c.Reservation.Name]++
		}
	}
	for _, c := range v.Capacities {
		r := c.Reservation
		if r != nil && !r.Create && !c.Waiting && c.OwnsReservation() && !c.ByCalendar() && !c.HasTPUs() &&
			len(c.Zones) == 1 && users[r.Name] == 1 && r.Block == "" {
			out = append(out, c)
		}
	}
	return out
}

// idlePool is a node pool that has nodes while there is no job.
type idlePool struct {
	Name  string
	Nodes int
}

// IdlePools returns the node pools of the platform that have nodes while there is no job.
func (v view) IdlePools() (pools []idlePool) {
	if n := v.SystemPool.NodesPerZone * len(v.Zones); n > 0 {
		pools = append(pools, idlePool{v.SystemPool.Name, n})
	}
	for _, c := range v.Capacities {
		if n := c.IdleNodes(); n > 0 {
			pools = append(pools, idlePool{c.Name, n})
		}
	}
	return pools
}

// IdleNodes returns how many nodes the platform has while there is no job.
func (v view) IdleNodes() (total int) {
	for _, pool := range v.IdlePools() {
		total += pool.Nodes
	}
	return total
}

// StartsNodes reports whether jobs can start nodes beside those that run without jobs.
func (v view) StartsNodes() bool {
	return v.AnyCapacity(func(c ir.Capacity) bool { return c.MaxNodes > c.IdleNodes() && !c.Waiting })
}

// PartOf returns the label of all objects of the platform, as kubectl reads and writes it.
func (v view) PartOf() string { return ir.LabelPartOf + "=" + v.Name }

// OwnOnly returns the arguments of kubectl that select the objects of the platform. They
// are "" in its own cluster, where there are no others.
func (v view) OwnOnly() string {
	if v.OwnsCluster() {
		return ""
	}
	return " -l " + v.PartOf()
}

// ClassesNeverEvicted returns the names of the PriorityClasses whose jobs are never evicted.
func (v view) ClassesNeverEvicted() []string { return v.classNames(true) }

// ClassesEvicted returns the names of the other PriorityClasses.
func (v view) ClassesEvicted() []string { return v.classNames(false) }

// classNames returns the names of the PriorityClasses whose jobs are never evicted, or of
// the others.
func (v view) classNames(never bool) (names []string) {
	for _, c := range v.PriorityClasses {
		if v.NonPreemptible(c.Name) == never {
			names = append(names, c.Name)
		}
	}
	return names
}

// NamesClasses reports whether the name of some PriorityClass differs from the name of its
// tier. The names differ if a tier has several PriorityClasses.
func (v view) NamesClasses() bool {
	return slices.ContainsFunc(v.PriorityClasses, func(c ir.PriorityClass) bool { return c.Name != c.Tier })
}

// Submitters returns who submits the jobs of a team, nil if only administrators do.
func (v view) Submitters(t ir.Team) []string {
	if t.Group == "" {
		return t.Members
	}
	return append([]string{t.Group}, t.Members...)
}

// dashboard is a dashboard of Cloud Monitoring.
type dashboard struct {
	Title, File string
	OfTeam      bool
	Sections    []string // that it shows, nil for all
}

// Dashboards returns the dashboards.
func (v view) Dashboards() (out []dashboard) {
	for _, b := range v.Monitoring.Boards {
		shows := dashboard{Title: b.Title, File: v.boardFile(b.Name)}
		if b.Name != ir.DefaultBoard || len(v.Monitoring.Boards) > 1 {
			shows.Sections = b.Sections
		}
		out = append(out, shows)
	}
	team := dashboard{Title: ir.BoardTitle(v.Name, ir.TeamBoard), File: v.boardFile(ir.TeamBoard), OfTeam: true}
	return append(out, team)
}

func (v view) boardFile(name string) string {
	return v.CloudDashboards() + "/" + name + ".json"
}

// picture is the drawing of cohorts, queues and capacities. Its boxes are queues, unless
// there are too many: then they are tiers, or nothing but numbers.
type picture struct {
	Counts, Tiers, Cohorts bool
	Lines                  []page.Command
}

// Picture draws cohorts, queues and capacities.
func (v view) Picture() picture {
	drawing := graph.Draw(v.Platform, graph.Alike)
	out := picture{Counts: drawing.Detail == graph.Counts, Tiers: drawing.Detail == graph.Tiers,
		Cohorts: drawing.Detail == graph.Cohorts}
	out.Lines = drawnLines(drawing.Lines)
	return out
}

// Process draws how the platform processes a job.
func (v view) Process() []page.Command { return drawnLines(graph.Process(v.Platform)) }

// drawnLines returns the lines of a drawing for a page.
func drawnLines(drawn []string) (lines []page.Command) {
	for _, line := range drawn {
		lines = append(lines, page.Command(line))
	}
	return lines
}

// InAllZones reports whether a capacity is in all zones of the platform.
func (v view) InAllZones(c ir.Capacity) bool { return slices.Equal(c.Zones, v.Zones) }

// Accelerators returns how many accelerators a capacity has at most.
func (v view) Accelerators(c ir.Capacity) int { return c.MaxNodes * c.Machine.AcceleratorCount }

// users are tiers in which the same teams have quota on a capacity.
type users struct {
	Tiers, Teams []string
	AreAll       bool // whether these are all teams
}

// UsersOf returns who has quota on a capacity, by the priority of the tiers.
func (v view) UsersOf(c ir.Capacity) (out []users) {
	var tiers []string
	teams := map[string][]string{} // by tier
	for _, t := range v.Teams {
		for _, q := range t.Queues {
			if slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == c.Name && f.Usable() }) {
				if teams[q.Tier] == nil {
					tiers = append(tiers, q.Tier)
				}
				teams[q.Tier] = append(teams[q.Tier], t.Name)
			}
		}
	}
	position := func(tier string) int {
		return slices.IndexFunc(v.PriorityClasses, func(c ir.PriorityClass) bool { return c.Tier == tier })
	}
	slices.SortStableFunc(tiers, func(a, b string) int { return position(a) - position(b) })
	for _, tier := range tiers {
		at := slices.IndexFunc(out, func(u users) bool { return slices.Equal(u.Teams, teams[tier]) })
		if at < 0 {
			at, out = len(out), append(out, users{Teams: teams[tier], AreAll: len(teams[tier]) == len(v.Teams)})
		}
		out[at].Tiers = append(out[at].Tiers, tier)
	}
	return out
}

// guarantee compares the teams' quota on a capacity with its nodes.
type guarantee struct {
	Capacity, CountedIn string
	Guaranteed, Exist   string
	Spare, Lacking      string // the difference, or ""
	Overcommit          string // why guarantees may exceed the nodes
}

// Guarantees compares the teams' quota on each capacity with its nodes.
func (v view) Guarantees() (out []guarantee) {
	for _, c := range v.Capacities {
		if !c.SlicesOff() {
			out = append(out, compareGuarantee(c))
		}
	}
	return out
}

// compareGuarantee compares the teams' quota on a capacity with its nodes.
func compareGuarantee(c ir.Capacity) guarantee {
	counted := c.CountedIn()
	guaranteed, existing := ir.AmountOf(c.Guaranteed, counted), c.OfferedBy(c.MaxNodes, counted)
	g := guarantee{Capacity: c.Name, CountedIn: counted, Overcommit: c.Overcommit,
		Guaranteed: ir.PrintQuantity(counted, guaranteed), Exist: ir.PrintQuantity(counted, existing)}
	rest := existing.DeepCopy()
	rest.Sub(guaranteed)
	switch rest.Sign() {
	case 1:
		g.Spare = ir.PrintQuantity(counted, rest)
	case -1:
		rest.Neg()
		g.Lacking = ir.PrintQuantity(counted, rest)
	}
	return g
}

// Adopts reports whether the platform manages queues or flavors that others use or that ran before
// it.
func (v view) Adopts() bool {
	adopted := v.Adopted()
	return len(adopted.Queues) > 0 || len(adopted.Capacities) > 0
}

// RenamedFlavors returns the capacities whose ResourceFlavors have other names.
func (v view) RenamedFlavors() []ir.Capacity {
	return slices.DeleteFunc(slices.Clone(v.AllCapacities()), func(c ir.Capacity) bool {
		return c.Flavor.Name == c.Name
	})
}
