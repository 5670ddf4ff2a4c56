package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// limits adds the effects of what a team's jobs may no longer use, and of a lower number or size
// of jobs. The policies check jobs when they are submitted, and not when they start.
func (c *change) limits() {
	was, is := c.before.Lent(), c.after.Lent()
	for _, t := range c.tenants {
		if t.is == nil {
			continue
		}
		if gone := missing(t.was.Allow, t.is.Allow); len(gone) > 0 {
			list := strings.Join(gone, ", ")
			c.effects.add(t.was.Name, subject{cause: "jobs may no longer use " + list},
				outcomes{new: Outcome{Rejected, "are rejected if they use " + list}})
		}
		// Kubernetes counts objects when they are created (ResourceQuota, count/jobs.batch), and
		// a composite job gets its Jobs when it starts.
		if n := t.is.MaxJobs; n < t.was.MaxJobs {
			c.effects.add(t.was.Name, subject{cause: fmt.Sprintf("most Jobs of the team: %d -> %d", t.was.MaxJobs, n)},
				outcomes{new: Outcome{Rejected, "are rejected while the namespace has " + strconv.Itoa(n) +
					" Jobs or more. A " + kinds.Composite().Name + " that starts then gets no Jobs"}})
		}
		for _, p := range t.queues {
			if p.is != nil {
				c.smallerJobs(p, was.MostPerJob(*p.was), is.MostPerJob(*p.is))
				c.smallerNodes(p)
				c.mixed(p)
			}
		}
	}
	c.defects()
}

// smallerJobs adds the effect of a queue in which a job can get less than before. Kueue never
// admits a larger job, and the policy jobs-fit-nodes rejects it. The step retire evicts no such
// job.
func (c *change) smallerJobs(p pair, was, is []ir.FlavorMost) {
	old, now := c.largest(was, c.was), c.largest(is, c.is)
	for _, name := range []string{ir.GPU, ir.TPU, ir.CPU} {
		a, known := old[name]
		b, left := now[name]
		if !known || !left || b.Cmp(a) >= 0 {
			continue
		}
		larger := "with more than " + ir.PrintAmount(name, b)
		c.effects.add(p.team, subject{
			cause: fmt.Sprintf("largest job of tier %s: %s", p.is.Tier, fromTo(name, a, b)), tier: p.is.Tier,
		}, outcomes{
			running: Outcome{RunOn, larger + " continue. If they are evicted, they never start again"},
			waiting: Outcome{NeverStart, larger + " never start: delete them, and submit smaller jobs"},
			new:     Outcome{Rejected, larger + " are rejected"},
		})
	}
}

// smallerNodes adds the effect of a queue whose largest node offers less than before: no node
// holds a larger pod. The policy jobs-fit-nodes rejects such new jobs.
func (c *change) smallerNodes(p pair) {
	largest := func(q *ir.Queue, capacities map[string]*ir.Capacity, name string) (most resource.Quantity) {
		for _, f := range q.Flavors {
			if capacity := capacities[f.Flavor]; capacity != nil {
				if offered := ir.AmountOf(capacity.PerNode, name); offered.Cmp(most) > 0 {
					most = offered
				}
			}
		}
		return most
	}
	for _, name := range []string{ir.GPU, ir.TPU, ir.CPU, ir.Memory} {
		was, is := largest(p.was, c.was, name), largest(p.is, c.is, name)
		if is.IsZero() || is.Cmp(was) >= 0 {
			continue
		}
		larger := "whose pods request more than " + ir.PrintAmount(name, is)
		never := larger + " never start: delete them, and submit them with smaller pods"
		c.effects.add(p.team, subject{
			cause: fmt.Sprintf("largest node of tier %s: %s", p.is.Tier, fromTo(name, was, is)), tier: p.is.Tier,
		}, outcomes{waiting: Outcome{NeverStart, never}, new: Outcome{Rejected, larger + " are rejected"}})
		return
	}
}

// mixed adds the effect of a queue that gets nodes without accelerators, which pods can select:
// the policy jobs-fit-nodes then wants pods without accelerators to select them.
func (c *change) mixed(p pair) {
	tier := func(q *ir.Queue, capacities map[string]*ir.Capacity) []ir.Capacity {
		var out []ir.Capacity
		for _, f := range q.Flavors {
			if capacity := capacities[f.Flavor]; capacity != nil {
				out = append(out, *capacity)
			}
		}
		return out
	}
	if ir.Choose(c.after.Scheduler, true, false) && ir.Mixed(tier(p.is, c.is)) && !ir.Mixed(tier(p.was, c.was)) {
		c.effects.add(p.team, subject{cause: "nodes without accelerators come to tier " + p.is.Tier, tier: p.is.Tier},
			outcomes{new: Outcome{Rejected, "without accelerators are rejected unless they select these nodes"}})
	}
}

// defects adds the effect of a release with a defect to which the policies respond.
func (c *change) defects() {
	for _, d := range []struct{ name, text string }{
		{ir.LimitsUncounted, "are rejected if a container has limits without requests"},
		{ir.ReclaimedTooMuch, "are rejected if their parallelism is above their completions"},
		{ir.NegativePriority, "are rejected if their controller starts no pods with a negative priority"},
	} {
		if c.after.HasDefect(d.name) && !c.before.HasDefect(d.name) {
			c.addAll("the release has the known defect "+d.name, outcomes{new: Outcome{Rejected, d.text}})
		}
	}
}

// largest returns the most of each counted resource that one job can get of one capacity.
func (c *change) largest(most []ir.FlavorMost, capacities map[string]*ir.Capacity) map[string]resource.Quantity {
	out := map[string]resource.Quantity{}
	for _, m := range most {
		capacity := capacities[m.Flavor]
		if capacity == nil {
			continue
		}
		counted := capacity.CountedIn()
		amount := ir.AmountOf(m.Amounts, counted)
		if old := out[counted]; amount.Cmp(old) > 0 {
			out[counted] = amount
		}
	}
	return out
}

// releases adds the effects of other releases of what runs the jobs. No build stops a job for
// them: the controllers restart. Kueue's webhooks reject jobs while none of its pods is ready
// (failurePolicy Fail). GKE upgrades nodes in the maintenance window, and evicts their pods.
// Source: GKE documentation, "Node upgrade strategies", "Maintenance windows and exclusions".
func (c *change) releases() {
	restart := func(which, name, was, is string) {
		if was == "" || is == "" || was == is {
			return
		}
		c.addAll(name+": "+was+" -> "+is, outcomes{
			running: Outcome{RunOn, which + "continue while " + name + " restarts"},
			waiting: Outcome{Wait, which + "wait until " + name + " runs again"},
			new:     Outcome{Wait, which + "may be rejected until " + name + " runs again: submit them again then"},
		})
	}
	was, is := c.before.Versions, c.after.Versions
	if c.before.InstallsScheduler() && c.after.InstallsScheduler() {
		restart("", c.after.Scheduler.Facts().Name, ir.Choose(c.after.Scheduler, was.Kueue, was.KAI),
			ir.Choose(c.after.Scheduler, is.Kueue, is.KAI))
	}
	for _, old := range c.before.InstalledControllers() {
		for _, now := range c.after.InstalledControllers() {
			if old.Field == now.Field {
				restart("of kind "+now.Name+" ", now.Name, old.Version, now.Version)
			}
		}
	}
	c.upgrades()
}

// upgrades adds the effect of GKE's upgrades of nodes, if another release channel, lowest
// version or maintenance window brings them.
func (c *change) upgrades() {
	was, is := c.before.Cluster, c.after.Cluster
	upgraded := func(p *ir.Capacity) bool { return !p.Option.Facts().ShortLived && !p.KeepsVersion }
	window := func(m ir.Maintenance) string {
		return fmt.Sprintf("%s from %s UTC for %d hours", strings.Join(m.Days, ", "), m.Start, m.Hours)
	}
	if !c.before.OwnsCluster() || !c.after.OwnsCluster() {
		return
	}
	var causes []string
	if was.ReleaseChannel != is.ReleaseChannel {
		causes = append(causes, "release channel: "+was.ReleaseChannel+" -> "+is.ReleaseChannel)
	}
	if was.MinVersion != is.MinVersion && is.MinVersion != "" {
		causes = append(causes, "lowest GKE version: "+cmp.Or(was.MinVersion, "none")+" -> "+is.MinVersion)
	}
	if a, b := window(was.Maintenance), window(is.Maintenance); a != b {
		causes = append(causes, "maintenance window: "+a+" -> "+b)
	}
	for _, cause := range causes {
		for _, p := range c.common {
			if slices.ContainsFunc(p.is.Flavors, func(f ir.FlavorQuota) bool {
				capacity := c.is[f.Flavor]
				return capacity != nil && upgraded(capacity)
			}) {
				c.effects.add(p.team, subject{cause: cause}, outcomes{running: Outcome{MayStop,
					"may stop when GKE upgrades their nodes: " + window(is.Maintenance)}})
			}
		}
	}
}
