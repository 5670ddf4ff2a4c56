package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/losses"
)

// nodes adds the effects on the jobs of each capacity that leaves, loses nodes, gets other
// nodes or is obtained in another way.
//
// The build's step retire stops the jobs of the same capacities before Terraform runs: it
// sets their quota to 0 until the step manifests, and evicts the jobs. With KAI Scheduler, jobs
// stop with their nodes. Measured on a control plane: conformance/cluster, TestChanges.
func (c *change) nodes() {
	users := map[string][]pair{} // by capacity
	for _, t := range c.tenants {
		for _, p := range t.queues {
			for _, f := range p.was.Flavors {
				if f.Usable() && !f.Waiting { // otherwise no job can be there
					users[f.Flavor] = append(users[f.Flavor], p)
				}
			}
		}
	}
	for _, name := range c.capacityNames() {
		was, is := c.was[name], c.is[name]
		fate, cause := c.fateOf(name)
		if fate == "" {
			c.sameNodes(was, is, users[name])
		} else {
			c.fates[name] = fate
			c.lostNodes(name, fate, cause, users[name])
		}
		if was != nil && is != nil && was != is {
			c.shortage(was, is, users[name])
			c.consumption(was, is, users[name])
		}
	}
	c.systemNodes()
	c.stuckWorkloads()
}

// lostNodes adds the effect of a capacity whose nodes go away.
func (c *change) lostNodes(name string, fate losses.Why, cause string, users []pair) {
	s := subject{cause: cause, capacity: name}
	if users == nil && c.lost[name] != nil {
		// Only the later plan is known, and it lacks the capacity; or no queue has quota of it,
		// and jobs can be left there.
		c.effects.add("", s, outcomes{running: c.stopped(fate)})
	}
	for _, p := range users {
		o := outcomes{running: c.stopped(fate)}
		o.waiting, o.new = c.afterLoss(name, p)
		if o.waiting.Kind == NeverStart {
			o.running.Text = strings.Replace(o.running.Text, andWait, ", and do not start again", 1)
		}
		c.effects.add(p.team, s, o)
	}
}

// capacityNames returns the capacities of the earlier plan in their order, then others that
// lose nodes.
func (c *change) capacityNames() []string {
	var names []string
	for i := range c.before.Capacities {
		names = append(names, c.before.Capacities[i].Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.lost)) {
		if c.was[name] == nil && !c.isSystem(name) {
			names = append(names, name)
		}
	}
	return names
}

// isSystem reports whether a capacity that loses nodes is the system node pool.
func (c *change) isSystem(name string) bool {
	return name == c.before.SystemPool.Name || name == c.after.SystemPool.Name
}

// fateOf returns what happens to the nodes of a capacity that existed before, as a reason of
// package losses, and what the effect is caused by. The fate is "" if the nodes stay.
func (c *change) fateOf(name string) (fate losses.Why, cause string) {
	was, is := c.was[name], c.is[name]
	whys, _ := c.losses(name)
	quoted := fmt.Sprintf("capacity %q", name)
	switch {
	case is == nil:
		return losses.Removed, quoted + " leaves the platform"
	case slices.Contains(whys, losses.Replaced), was != nil && !slices.Equal(was.IdentityLabels(), is.IdentityLabels()):
		return losses.Replaced, quoted + ": its nodes are replaced"
	case len(whys) == 0:
		return "", ""
	case was == is:
		return losses.Fewer, quoted + ": some of its nodes are deleted"
	}
	return losses.Fewer, quoted + ": " + cmp.Or(deletedText(was, is, c.lost[name]), "some of its nodes are deleted")
}

// losses returns why a capacity loses nodes, and reports whether GKE recreates them instead: a
// pool keeps such a node until it is drained.
func (c *change) losses(capacity string) (whys []losses.Why, recreated bool) {
	for _, l := range c.lost[capacity] {
		if l.Why == losses.Recreated {
			recreated = true
		} else {
			whys = append(whys, l.Why)
		}
	}
	return whys, recreated
}

// deletedText says which nodes of a capacity are deleted, "" if it is unknown.
func deletedText(was, is *ir.Capacity, lost []losses.Loss) string {
	var zones []string
	for _, l := range lost {
		if l.Why == losses.Zone {
			zones = append(zones, l.Zone)
		}
	}
	slices.Sort(zones)
	zones = slices.Compact(zones)
	switch {
	case len(zones) > 0:
		return "its nodes in " + words.And(zones) + " are deleted"
	case was.Static && is.MaxNodes < was.MaxNodes:
		return fmt.Sprintf("%d of %s are deleted", was.MaxNodes-is.MaxNodes, words.Count(was.MaxNodes, "node"))
	}
	return ""
}

// andWait ends the text on jobs that stop and can start again.
const andWait = ", and wait in their queues again"

// stopped returns what happens to running jobs whose nodes go away.
func (c *change) stopped(fate losses.Why) Outcome {
	when := ir.Choose(c.after.Scheduler, "stop before", "stop when")
	switch fate {
	case losses.Replaced:
		return Outcome{Stop, when + " the nodes are replaced" + andWait}
	case losses.Removed:
		return Outcome{Stop, when + " the nodes are deleted" + andWait}
	}
	return ir.Choose(c.after.Scheduler,
		Outcome{Stop, "on this capacity stop before the nodes are deleted" + andWait},
		Outcome{MayStop, "stop if their node is deleted, and wait for another one"})
}

// afterLoss returns what happens to waiting and new jobs of a queue that had quota of a
// capacity whose nodes go away.
func (c *change) afterLoss(name string, p pair) (waiting, fresh Outcome) {
	if p.is == nil {
		return Outcome{}, Outcome{} // the rule on queues
	}
	counted := c.countedIn(name)
	stays, other := false, false
	for _, f := range p.is.Flavors {
		usable := f.Usable() && !f.Waiting && c.countedIn(f.Flavor) == counted
		stays = stays || f.Flavor == name
		other = other || usable && f.Flavor != name
		if f.Flavor == name && !usable {
			waiting = Outcome{Wait, "wait until this capacity has nodes again"}
		}
	}
	which := "that request " + ir.Unit(counted) + "s"
	switch {
	case stays && waiting.Kind == Unchanged:
		return c.withNewNodes(name)
	case other:
		return Outcome{Wait, "start only on other capacities of their queue. Those that select nodes of this " +
				"capacity never start: delete them"},
			Outcome{Rejected, "are rejected if they select nodes of this capacity"}
	case stays:
		return waiting, waiting
	}
	return Outcome{NeverStart, which + " never start: delete them, and submit them to another queue"},
		Outcome{Rejected, which + " are rejected or never start: submit them to another queue"}
}

// withNewNodes returns what happens to waiting and new jobs of a capacity that gets or keeps
// some nodes. Jobs of KAI Scheduler select all labels of their nodes, which the policy
// jobs-are-queued requires. Kueue adds the labels itself, but jobs can select them.
func (c *change) withNewNodes(name string) (waiting, fresh Outcome) {
	waiting = Outcome{Wait, ir.Choose(c.after.Scheduler, "cannot start on this capacity until the build ends",
		"wait for the new nodes")}
	if c.synced() {
		waiting.Text = "wait for the new nodes, if they get quota of this capacity"
	}
	gone := c.goneLabels(name)
	if gone == "" {
		return waiting, waiting
	}
	fresh = Outcome{Rejected, "are rejected if they select " + gone}
	if ir.Choose(c.after.Scheduler, false, true) {
		return Outcome{NeverStart, "never start, because they select " + gone + ": " + resubmit}, fresh
	}
	waiting.Text += ". Those that select " + gone + " never start: " + resubmit
	return waiting, fresh
}

// resubmit is the cure for jobs that select labels which no node has.
const resubmit = "delete them, and submit them again with the new labels"

// goneLabels returns the labels that the nodes of a capacity lose, as KEY=VALUE.
func (c *change) goneLabels(name string) string {
	var gone []string
	if was, is := c.was[name], c.is[name]; was != nil && is != nil {
		for _, l := range was.NodeLabels {
			if !slices.Contains(is.NodeLabels, l) {
				gone = append(gone, l.Key+"="+l.Value)
			}
		}
	}
	return words.And(gone)
}

// countedIn returns the resource in which people count a capacity, "" if it is unknown.
func (c *change) countedIn(name string) string {
	for _, capacity := range []*ir.Capacity{c.is[name], c.was[name]} {
		if capacity != nil {
			return capacity.CountedIn()
		}
	}
	return ""
}

// sameNodes adds the effects of a capacity whose node pools stay.
func (c *change) sameNodes(was, is *ir.Capacity, users []pair) {
	add := func(cause string, o outcomes) {
		for _, p := range users {
			c.effects.add(p.team, subject{cause: cause, capacity: is.Name}, o)
		}
	}
	// GKE recreates the nodes of a pool whose machine type, boot disk or image streaming
	// changes, one after the other, and drains each before. It does not touch running nodes
	// with flex-start. Source: GKE documentation, "Node upgrade strategies"; compiler/gke,
	// Recreates.
	_, recreated := c.losses(is.Name)
	recreated = recreated || was.Machine.Type != is.Machine.Type || was.DiskType != is.DiskType ||
		was.DiskSizeGiB != is.DiskSizeGiB || c.before.Cluster.ImageStreaming != c.after.Cluster.ImageStreaming
	if recreated && is.OwnsPools() && !is.Option.Facts().ShortLived {
		add(fmt.Sprintf("capacity %q: GKE recreates its nodes, one after the other", is.Name), outcomes{
			running: Outcome{Stop, "stop when their node is recreated, and start again on another node or wait"},
		})
	}
	c.ownLabels(was, is, add)
}

// ownLabels adds the effects of other labels and taints that the blueprint sets. GKE changes
// them on running nodes. Pods of running jobs lack a toleration of a new taint, which only
// evicts them with the effect NoExecute. Source: GKE documentation, "Update node labels and
// taints in existing node pools".
func (c *change) ownLabels(was, is *ir.Capacity, add func(string, outcomes)) {
	for _, t := range is.OwnTaints {
		if t.Effect == "NoExecute" && !slices.Contains(was.OwnTaints, t) {
			add(fmt.Sprintf("capacity %q: new taint %s=%s:%s", is.Name, t.Key, t.Value, t.Effect), outcomes{
				running: Outcome{Stop, "stop, because their pods do not tolerate the taint, and start again or wait"},
			})
		}
	}
	if gone := c.goneLabels(is.Name); gone != "" {
		o := Outcome{NeverStart, "that select " + gone + " never start: " + resubmit}
		add(fmt.Sprintf("capacity %q: its nodes lose labels", is.Name), outcomes{waiting: o, new: o})
	}
}

// shortage adds the effect of a capacity of which the queues are guaranteed more or less beyond
// what its nodes hold, for example because a team joins and the nodes stay. Kueue knows quota,
// and not nodes: it evicts a job that gets no nodes after waitForPodsReady, and queues it
// again. KAI Scheduler starts jobs only on nodes.
func (c *change) shortage(was, is *ir.Capacity, users []pair) {
	missing := func(p *ir.Capacity) resource.Quantity {
		out := ir.AmountOf(p.Guaranteed, p.CountedIn())
		out.Sub(p.OfferedBy(p.MaxNodes, p.CountedIn()))
		if out.Sign() < 0 {
			return resource.Quantity{}
		}
		return out
	}
	old, now := missing(was), missing(is)
	more := now.Cmp(old)
	cause := fmt.Sprintf("capacity %q: quota without nodes: %s", is.Name, fromTo(is.CountedIn(), old, now))
	o := Outcome{Wait, fmt.Sprintf("can get quota for which there is no node: they then wait for nodes, and after "+
		"%s in their queue again", words.Duration(c.after.PodsReady().Timeout))}
	if ir.Choose(c.after.Scheduler, false, true) {
		more = cmp.Compare(was.MaxNodes, is.MaxNodes)
		cause = fmt.Sprintf("capacity %q: most nodes: %d -> %d", is.Name, was.MaxNodes, is.MaxNodes)
		o = Outcome{Wait, "wait longer for nodes"}
	}
	switch {
	case more == 0:
		return
	case more < 0:
		o = Outcome{MayStart, "may start earlier, because fewer of them wait for nodes"}
	}
	for _, p := range users {
		if p.is != nil {
			c.effects.add(p.team, subject{cause: cause, capacity: is.Name}, outcomes{waiting: o, new: o})
		}
	}
}

// consumption adds the effects of a capacity that is obtained in another way. Source: GKE
// documentation, "Spot VMs", "About GPU and TPU provisioning with flex-start".
func (c *change) consumption(was, is *ir.Capacity, users []pair) {
	add := func(cause string, o outcomes) {
		for _, p := range users {
			if p.is != nil {
				whole := fmt.Sprintf("capacity %q: %s", is.Name, cause)
				c.effects.add(p.team, subject{cause: whole, capacity: is.Name}, o)
			}
		}
	}
	old, option := was.Option.Facts(), is.Option.Facts()
	if option.Preempted && !old.Preempted {
		o := Outcome{MayStop, "may stop at any time, because Compute Engine can take " + option.Nodes +
			" nodes back, and wait in their queues again"}
		add(old.Name+" -> "+option.Name, outcomes{waiting: o, new: o})
	}
	if option.Queued != old.Queued {
		o := Outcome{Wait, "wait until GKE has all of their nodes at the same time"}
		if old.Queued {
			o = Outcome{MayStart, "may start without waiting for all of their nodes"}
		}
		add(old.Name+" -> "+option.Name, outcomes{waiting: o, new: o})
	}
	if n := is.MaxRunSeconds; n > 0 && (was.MaxRunSeconds == 0 || n < was.MaxRunSeconds) {
		o := Outcome{MayStop, "stop when their nodes are " + words.Duration(n) + " old"}
		add("longest run of a node: "+runText(was.MaxRunSeconds)+" -> "+words.Duration(n), outcomes{waiting: o, new: o})
	}
	// The pods mount folders of the node that another transport lacks, and join networks that
	// its nodes do not have.
	if d := was.GPUDirect; d != "" && d != is.GPUDirect {
		never := Outcome{NeverStart, "never start here if their pods use GPUDirect-" + string(d) +
			": delete them, and submit them again without it"}
		add("GPUDirect: "+string(d)+" -> "+cmp.Or(string(is.GPUDirect), "none"), outcomes{waiting: never, new: never})
	}
}

func runText(seconds int) string {
	if seconds == 0 {
		return "no limit"
	}
	return words.Duration(seconds)
}

// systemNodes adds the effect of the system node pool, on which the scheduler runs, if it
// loses nodes or GKE recreates them. Kueue's webhooks reject jobs while it does not run
// (failurePolicy Fail).
func (c *change) systemNodes() {
	was, is := c.before.SystemPool, c.after.SystemPool
	whys, recreated := c.losses(is.Name)
	recreated = recreated || was.Machine != is.Machine || was.DiskType != is.DiskType ||
		was.DiskSizeGiB != is.DiskSizeGiB
	cause := "the system node pool loses nodes"
	switch {
	case was.Name == "" || is.Name == "":
		return // the nodes of a cluster that others own
	case whys != nil:
	case recreated:
		cause = "GKE recreates the nodes of the system node pool, one after the other"
	default:
		return
	}
	scheduler := c.after.Scheduler.Facts().Name
	c.addAll(cause, outcomes{
		running: Outcome{RunOn, "continue while " + scheduler + " moves to other nodes"},
		waiting: Outcome{Wait, "wait until " + scheduler + " runs again"},
		new:     Outcome{Wait, "may be rejected until " + scheduler + " runs again: submit them again then"},
	})
}

// stuckWorkloads adds the effect on jobs that were submitted like a workload of the blueprint,
// and that can use no capacity of their queue any more: all have another value of a label that
// the pods select, or lack quota of a resource that the pods request. Kueue compares a label
// only with flavors that have its key (pkg/scheduler/flavorassigner). The policies
// jobs-stay-in-bounds and jobs-fit-nodes reject such new jobs.
func (c *change) stuckWorkloads() {
	queues := map[[2]string]*ir.Queue{} // by team and LocalQueue
	for _, p := range c.common {
		queues[[2]string{p.team, p.was.LocalQueue}] = p.is
	}
	type owner struct{ team, tier string }
	var owners []owner
	templates := map[string]bool{}
	for i := range c.before.Workloads {
		w := &c.before.Workloads[i]
		q := queues[[2]string{w.Team, w.Queue}]
		if q == nil || c.canReach(w, q) {
			continue
		}
		templates[w.Template] = true
		if o := (owner{w.Team, q.Tier}); len(owners) == 0 || owners[len(owners)-1] != o {
			owners = append(owners, o)
		}
	}
	like := words.First(slices.Sorted(maps.Keys(templates)), namesListed)
	const cause = "jobs select nodes or request resources that their queue no longer has"
	for _, o := range owners {
		c.effects.add(o.team, subject{cause: cause, tier: o.tier}, outcomes{
			waiting: Outcome{NeverStart, "like " + like + " never start: delete them, and submit the new jobs"},
			new:     Outcome{Rejected, "with the earlier labels or resources are rejected"},
		})
	}
}

// canReach reports whether a job that was written for an earlier plan can start on a
// capacity of the queue.
func (c *change) canReach(w *ir.Workload, q *ir.Queue) bool {
	return slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool {
		capacity := c.is[f.Flavor]
		if capacity == nil || slices.ContainsFunc(w.NodeSelector, capacity.Excludes) {
			return false
		}
		return !slices.ContainsFunc(w.Requests, func(a ir.Amount) bool {
			return !slices.ContainsFunc(f.Quotas, func(own ir.ResourceQuota) bool { return own.Resource == a.Resource })
		})
	})
}
