package guide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/graph"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/emit/page"
)

// CohortsInUse returns the number of cohorts that have teams.
func (v view) CohortsInUse() int {
	count, _ := inCohorts(v.Platform)
	return count
}

// TopCohort returns the cohort that contains all others, and has no teams itself, or "".
func (v view) TopCohort() string {
	_, top := inCohorts(v.Platform)
	return top
}

// MovesQuota reports whether some queue can borrow from another.
func (v view) MovesQuota() bool {
	moves, _ := quotaMoves(v.Platform)
	return moves
}

// Software returns the names of what the platform installs beside its own objects.
func (v view) Software() []markup { return software(v.Platform) }

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

// ReservationCommands returns the commands that create the reservations which must exist
// before the build, for exactly the machines of a capacity. A reservation of another
// project, of a calendar, of TPUs, in several zones, or of several capacities has no
// command, because its owner, its days or its number of machines are not in the
// blueprint. Source of the flags: Google Cloud CLI reference, "gcloud compute
// reservations create". Local SSDs that come with a machine type need no flag (Cluster
// Toolkit, guide of A3 High, "Manual creation of reservation").
func (v view) ReservationCommands() (commands []page.Command) {
	users := map[string]int{}
	for _, c := range v.Capacities {
		if c.Reservation != nil {
			users[c.Reservation.Name]++
		}
	}
	for _, c := range v.Capacities {
		r := c.Reservation
		if r == nil || r.Create || c.Waiting || !c.OwnsReservation() || c.ByCalendar() || c.HasTPUs() ||
			len(c.Zones) != 1 || users[r.Name] > 1 || r.Block != "" {
			continue
		}
		arguments := []string{"gcloud", "compute", "reservations", "create", r.Name, "--project=" + v.Project,
			"--zone=" + c.Zones[0], "--vm-count=" + strconv.Itoa(c.MaxNodes), "--machine-type=" + c.Machine.Type,
			"--require-specific-reservation"}
		if c.HasGPUs() {
			arguments = append(arguments,
				"--accelerator=count="+strconv.Itoa(c.Machine.AcceleratorCount)+",type="+c.Machine.Accelerator)
		}
		for range c.LocalSSDs {
			arguments = append(arguments, "--local-ssd=interface=nvme,size="+strconv.Itoa(c.Machine.SSDSizeGB))
		}
		commands = append(commands, page.Command(shellCommand(arguments...)))
	}
	return commands
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

// ownQueues returns the command that shows the queues of the platform.
func ownQueues(p *ir.Platform) string { return "kubectl get clusterqueues -o wide" + view{p}.OwnOnly() }

// OwnQueueExample returns the name of a team's own ClusterQueue, for a text about all.
func (v view) OwnQueueExample() string {
	own, _ := v.ClusterQueueExamples()
	return own
}

// SharedQueueExample returns the name of a ClusterQueue that teams share, for a text about
// all.
func (v view) SharedQueueExample() string {
	_, shared := v.ClusterQueueExamples()
	return shared
}

// NamesClasses reports whether the name of some PriorityClass differs from the name of its
// tier. The names differ if a tier has several PriorityClasses.
func (v view) NamesClasses() bool {
	return slices.ContainsFunc(v.PriorityClasses, func(c ir.PriorityClass) bool { return c.Name != c.Tier })
}

// classPlaceholder returns the placeholder of a PriorityClass in commands.
func classPlaceholder(p *ir.Platform) markup {
	if (view{p}).NamesClasses() {
		return "CLASS"
	}
	return "TIER"
}

// Submitters returns who submits the jobs of a team, nil if only administrators do.
func (v view) Submitters(t ir.Team) []string {
	if t.Group == "" {
		return t.Members
	}
	return append([]string{t.Group}, t.Members...)
}

// CredentialsCommand returns the command that connects kubectl to the cluster.
func (v view) CredentialsCommand() page.Command { return page.Command(credentialsCommand(v.Platform)) }

// TerraformInit returns the command that initializes Terraform.
func (v view) TerraformInit() string { return initCommand(v.Platform) }

// dashboard is a dashboard of Cloud Monitoring.
type dashboard struct {
	Title, File string
	OfTeam      bool
}

// Dashboards returns the dashboards.
func (v view) Dashboards() (out []dashboard) {
	for _, b := range monitoring.EmptyBoards(v.Platform) {
		file := v.CloudDashboards() + "/" + b.File + ".json"
		out = append(out, dashboard{b.Title, file, b.File == monitoring.TeamBoard})
	}
	return out
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
	for _, line := range drawing.Lines {
		out.Lines = append(out.Lines, page.Command(line))
	}
	return out
}

// paragraphStart returns a text that can begin a paragraph: it escapes a first word
// that would start another kind of block.
func paragraphStart(s string) markup {
	m := strings.Trim(string(escapeText(s)), " ")
	rest := strings.TrimLeft(m, "0123456789")
	switch {
	case rest != m && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")): // a numbered item
		return markup(m[:len(m)-len(rest)] + `\` + rest)
	case strings.IndexAny(m, "#+-=") == 0:
		return markup(`\` + m)
	}
	return markup(m)
}

// orElse returns a name, or without if it is "".
func orElse(name string, without markup) markup {
	if name == "" {
		return without
	}
	return codeSpan(name)
}
