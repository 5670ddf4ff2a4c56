package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// teams adds the effects on jobs of teams that leave or get another namespace or service
// account, or whose members leave.
func (c *change) teams() {
	for _, t := range c.tenants {
		leaves := func(p pair) bool { return !c.staying[p.was.ClusterQueue] }
		if t.is == nil && len(t.queues) > 0 && !slices.ContainsFunc(t.queues, leaves) {
			c.effects.add(t.was.Name, subject{cause: "the team leaves the platform"}, leftAlone)
			continue
		}
		if t.is == nil {
			fresh := Outcome{NeverStart, "can still be submitted, because the namespace stays, but never start"}
			if c.synced() {
				fresh = Outcome{Rejected, "are rejected: the members lose access"}
			}
			c.effects.add(t.was.Name, subject{cause: "the team leaves the platform"},
				c.withoutQueue("delete them", fresh))
			continue
		}
		c.namespace(t)
		c.account(t)
		c.permissions(t)
		c.members(t)
	}
}

// leftAlone is what happens to jobs whose queue ran before the platform, and leaves it: nothing.
var leftAlone = outcomes{
	running: Outcome{RunOn, "continue, because the queue ran before the platform, and stays"},
	waiting: Outcome{RunOn, "can start as before"}, new: Outcome{RunOn, "can start as before"},
}

// withoutQueue returns what happens to jobs whose queue leaves. cure completes the text on jobs
// that do not start again.
//
// The build's steps retire and queues stop the ClusterQueue with HoldAndDrain, which evicts
// its jobs. A GitOps tool deletes the ClusterQueue, which then stays until its jobs have ended
// (Kueue: finalizer resource-in-use). With KAI Scheduler the build sets the limit of the
// queue to 0: no further job starts, and other queues can reclaim what the queue uses.
func (c *change) withoutQueue(cure string, fresh Outcome) outcomes {
	o := outcomes{
		running: Outcome{Stop, "stop, and do not start again: " + cure},
		waiting: Outcome{NeverStart, "never start: " + cure},
		new:     fresh,
	}
	switch {
	case c.synced():
		o.running = Outcome{RunOn, "continue until they end. If Kueue evicts them, they do not start again"}
	case ir.Choose(c.after.Scheduler, false, true):
		o.running = Outcome{MayStop, "continue until another queue needs its guaranteed GPUs, and do not start again"}
	}
	return o
}

// namespace adds the effect of another namespace. The namespace and its jobs stay, because
// neither a build nor a GitOps tool deletes a team's namespace. A build also keeps the
// LocalQueues and the RoleBinding there.
//
// Kueue does not admit a workload of a namespace that the ClusterQueue does not select
// (pkg/workload, "workload namespace doesn't match ClusterQueue selector"). Measured on a
// control plane.
func (c *change) namespace(t tenant) {
	if t.was.Namespace == t.is.Namespace {
		return
	}
	s := subject{cause: "the team's namespace changes"}
	stay := "continue in the old namespace"
	if t.was.Account != nil || len(t.was.Roles) > 0 || t.was.Bucket != "" {
		// The principal of the jobs contains their namespace (emit/terraform, teamIdentities).
		stay += ", without the team's permissions in Google Cloud"
	}
	selected := func(p pair) bool {
		return p.is != nil && p.is.Namespaces.SelectsLabels(c.before.LabelsOfNamespace(t.was))
	}
	deselected := slices.ContainsFunc(t.queues, func(p pair) bool { return !selected(p) })
	if ir.Choose(c.after.Scheduler, false, true) || !c.synced() && !deselected {
		c.effects.add(t.was.Name, s, outcomes{
			running: Outcome{RunOn, stay},
			new: Outcome{Elsewhere, "start in the new namespace, which does not have what members created in the old " +
				"one"},
		})
		return
	}
	fresh := Outcome{NeverStart, "submitted to the old namespace never start: submit them to the new one"}
	if c.synced() {
		fresh = Outcome{Rejected, "are rejected in the old namespace: submit them to the new one"}
	}
	c.effects.add(t.was.Name, s, outcomes{
		running: Outcome{RunOn, stay + ". If Kueue evicts them, they do not start again"},
		waiting: Outcome{NeverStart, "never start: delete them in the old namespace, and submit them to the new one"},
		new:     fresh,
	})
}

// account adds the effect of another service account. Pods keep the name of their Kubernetes
// service account, which the namespace keeps. Terraform moves its permissions.
func (c *change) account(t tenant) {
	email := func(t *ir.Team, p *ir.Platform) string {
		if t.Account == nil {
			return "none"
		}
		return t.Account.Email(p.Project)
	}
	if was, is := email(t.was, c.before), email(t.is, c.after); was != is {
		lost := Outcome{MayStop, "may fail, if they need permissions that only the earlier account has"}
		c.effects.add(t.was.Name, subject{cause: "Google service account of the jobs: " + was + " -> " + is}, outcomes{
			running: lost, waiting: lost, new: lost,
		})
	}
	if t.was.KubeAccount == t.is.KubeAccount {
		return
	}
	o := Outcome{RunOn, "keep the earlier account, and lose its permissions in Google Cloud"}
	c.effects.add(t.was.Name, subject{
		cause: "service account of the jobs: " + t.was.KubeAccount + " -> " + t.is.KubeAccount,
	}, outcomes{running: o, waiting: o, new: Outcome{RunOn, "lack the team's permissions in Google Cloud, " +
		"unless they name the new account"}})
}

// permissions adds the effect of roles and of a bucket that the jobs of a team lose: Terraform
// removes the bindings. The policy jobs-stay-in-bounds admits only the team's own bucket.
func (c *change) permissions(t tenant) {
	lost := Outcome{MayStop, "may fail, because they lose these permissions"}
	gone := missing(slices.Concat(t.was.Roles, c.before.JobRoles), slices.Concat(t.is.Roles, c.after.JobRoles))
	if len(gone) > 0 {
		c.effects.add(t.was.Name, subject{cause: "roles that the jobs lose: " + words.First(gone, namesListed)},
			outcomes{running: lost, waiting: lost, new: lost})
	}
	if t.was.Bucket != "" && t.was.Bucket != t.is.Bucket {
		lost.Text = "may fail if they use the bucket, because they lose access"
		c.effects.add(t.was.Name, subject{cause: "the team loses its bucket"}, outcomes{
			running: lost, waiting: lost, new: Outcome{Rejected, "are rejected if they mount the bucket"},
		})
	}
}

// missing returns the elements of was that are not in is.
func missing(was, is []string) []string {
	return slices.DeleteFunc(slices.Clone(was), func(s string) bool { return slices.Contains(is, s) })
}

// members adds the effect of people who lose access. Their jobs belong to the namespace.
func (c *change) members(t tenant) {
	if len(missing(t.was.Members, t.is.Members)) == 0 && (t.was.Group == "" || t.was.Group == t.is.Group) {
		return
	}
	c.effects.add(t.was.Name, subject{cause: "people lose access to the team"}, outcomes{
		running: Outcome{RunOn, "continue, also those of people who lose access"},
		new:     Outcome{Rejected, "are rejected if one of these people submits them"},
	})
}

// queues adds the effects on jobs of queues that leave, are renamed, or order, select and
// cover jobs in another way.
func (c *change) queues() {
	tiers := map[string]bool{}
	for q := range c.after.ClusterQueues() {
		tiers[q.Tier] = true
	}
	for _, t := range c.tenants {
		if t.is == nil {
			continue
		}
		for _, p := range t.queues {
			switch {
			case p.is == nil:
				cause := "no queue in tier " + p.was.Tier + " any more"
				if !tiers[p.was.Tier] {
					cause = "tier " + p.was.Tier + " leaves the platform"
				}
				o := leftAlone
				if !c.staying[p.was.ClusterQueue] {
					o = c.withoutQueue("delete them, and submit them to another queue",
						Outcome{Rejected, "are rejected if they name the queue: name another one"})
				}
				c.effects.add(p.team, subject{cause, p.was.Tier, ""}, o)
			case ir.Choose(c.after.Scheduler, true, false):
				c.renamed(t, p)
				c.order(p)
				c.onHold(p)
				c.checked(p)
				c.covered(p)
				c.otherNamespaces(p)
			}
		}
	}
	c.sharers()
}

// renamed adds the effect of another ClusterQueue or LocalQueue in the same tier.
//
// The step retire drains a ClusterQueue that leaves, because otherwise both would give quota.
// The step local-queues then replaces a LocalQueue whose ClusterQueue changes. A LocalQueue with
// an earlier name stays: no step deletes it. The policy jobs-are-queued knows only the new
// name. Measured on a control plane: conformance/cluster, TestChanges, "shared".
func (c *change) renamed(t tenant, p pair) {
	moved := p.was.ClusterQueue != p.is.ClusterQueue
	named := len(missing(p.was.LocalQueueNames(), p.is.LocalQueueNames())) > 0
	var cause string
	switch {
	case p.is.Shared && !p.was.Shared:
		cause = "the teams begin to share the queue of tier " + p.is.Tier
	case p.was.Shared && !p.is.Shared:
		cause = "the team no longer shares the queue of tier " + p.is.Tier
	case moved:
		cause = "another name of the ClusterQueue of tier " + p.is.Tier
	case named:
		cause = "another name of the LocalQueue of tier " + p.is.Tier
	default:
		return
	}
	var o outcomes
	// Jobs that name a LocalQueue which leads to no ClusterQueue any more.
	stranded := named || t.was.Namespace != t.is.Namespace
	switch {
	case moved && stranded:
		o = c.withoutQueue("delete them, and submit them to the new queue", Outcome{})
	case moved:
		o.running = Outcome{Stop, "stop, and wait in the new queue"}
		if c.synced() || c.staying[p.was.ClusterQueue] {
			o.running = Outcome{RunOn, "continue, and keep quota of the old queue"}
		}
		o.waiting = Outcome{Wait, "wait in the new queue"}
	case c.synced():
		o.waiting = Outcome{NeverStart, "never start: delete them, and submit them to the new queue"}
	}
	if named {
		o.new = Outcome{Rejected, "are rejected if they name the old LocalQueue in the label " + c.after.QueueLabel()}
	}
	c.effects.add(p.team, subject{cause, p.is.Tier, ""}, o)
}

// order adds the effects of another order of jobs or capacities. Source: Kueue documentation,
// "ClusterQueue", Queueing strategy; Kueue tries flavors in their order.
func (c *change) order(p pair) {
	if p.was.Strategy != p.is.Strategy {
		o := Outcome{Wait, "stay behind the first job of their queue, even if there is quota for them"}
		if p.is.Strategy == ir.BestEffortFIFO {
			o = Outcome{MayStart, "may start before an earlier job for which there is no quota yet"}
		}
		c.effects.add(p.team, subject{
			"queueing of tier " + p.is.Tier + ": " + p.was.Strategy + " -> " + p.is.Strategy, p.is.Tier, "",
		}, outcomes{waiting: o, new: o})
	}
	if p.was.NextCapacity != p.is.NextCapacity && len(p.is.Flavors) > 1 {
		o := Outcome{Elsewhere, "may start on another capacity"}
		c.effects.add(p.team, subject{"nextCapacity of tier " + p.is.Tier, p.is.Tier, ""}, outcomes{waiting: o, new: o})
	}
	was, is := commonFlavors(p.was, p.is), commonFlavors(p.is, p.was)
	if !slices.Equal(was, is) {
		o := Outcome{Elsewhere, "start on " + is[0] + " first, then on " + words.And(is[1:])}
		c.effects.add(p.team, subject{"order of capacities in tier " + p.is.Tier, p.is.Tier, ""},
			outcomes{waiting: o, new: o})
	}
}

// onHold adds the effects of a queue that starts no jobs any more, or starts jobs again. Without
// a decision of the blueprint, the queue gets Kueue's default: it starts jobs.
func (c *change) onHold(p pair) {
	c.stopChanged(p, "the queue of tier "+p.is.Tier, p.was.Stop, p.is.Stop)
	was := map[string]string{} // by LocalQueue
	for _, l := range p.was.AllLocalQueues() {
		was[l.Name] = l.Stop
	}
	for _, l := range p.is.AllLocalQueues() {
		if stop, known := was[l.Name]; known {
			c.stopChanged(p, "LocalQueue "+l.Name, stop, l.Stop)
		}
	}
}

// stopChanged adds the effects of another stop of a ClusterQueue or a LocalQueue.
func (c *change) stopChanged(p pair, queue, was, is string) {
	const until = "wait until the queue starts jobs again"
	was, is = cmp.Or(was, ir.StopNone), cmp.Or(is, ir.StopNone)
	if was == is {
		return
	}
	o := outcomes{waiting: Outcome{Wait, until}, new: Outcome{Wait, until}}
	switch is {
	case ir.StopDrain:
		o.running = Outcome{Stop, "stop, and " + until}
	case ir.StopHold:
		o.running = Outcome{RunOn, "continue. If Kueue evicts them, they " + until}
	default:
		o = outcomes{waiting: Outcome{MayStart, "may start"}, new: Outcome{MayStart, "may start"}}
	}
	c.effects.add(p.team, subject{"stop of " + queue + ": " + was + " -> " + is, p.is.Tier, ""}, o)
}

// checked adds the effects of AdmissionChecks of others that jobs need, or need no more. Kueue
// evicts no running job for a check that is added.
func (c *change) checked(p pair) {
	names := func(q *ir.Queue) (all []string) {
		for _, check := range q.Checks {
			all = append(all, check.Name)
		}
		return all
	}
	for _, name := range missing(names(p.is), names(p.was)) {
		o := Outcome{Wait, "wait until the check passes"}
		c.effects.add(p.team, subject{"AdmissionCheck " + name + " of tier " + p.is.Tier, p.is.Tier, ""},
			outcomes{waiting: o, new: o})
	}
	for _, name := range missing(names(p.was), names(p.is)) {
		o := Outcome{MayStart, "may start earlier"}
		c.effects.add(p.team, subject{"no AdmissionCheck " + name + " of tier " + p.is.Tier, p.is.Tier, ""},
			outcomes{waiting: o, new: o})
	}
}

// commonFlavors returns the capacities of q that other has too.
func commonFlavors(q, other *ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if slices.ContainsFunc(other.Flavors, func(o ir.FlavorQuota) bool { return o.Flavor == f.Flavor }) {
			names = append(names, f.Flavor)
		}
	}
	return names
}

// covered adds the effects of resources that a queue no longer covers, and of a shorter longest
// grace period. Kueue admits no workload with a resource that is not covered
// (pkg/scheduler/flavorassigner, "resource unavailable in ClusterQueue"). The policies check
// only new jobs, and jobs whose pods change: jobs-fit-nodes, jobs-stay-in-bounds.
func (c *change) covered(p pair) {
	if gone := missing(p.was.Resources(), p.is.Resources()); len(gone) > 0 {
		list := strings.Join(gone, ", ")
		c.effects.add(p.team, subject{"the queue of tier " + p.is.Tier + " no longer covers " + list, p.is.Tier, ""},
			outcomes{
				running: Outcome{RunOn, "continue. If Kueue evicts them, those with " + list + " do not start again"},
				waiting: Outcome{NeverStart, "never start if they request " + list + ": delete them"},
				new:     Outcome{Rejected, "are rejected or never start if they request " + list},
			})
	}
	if was, is := p.was.MaxGraceSeconds, p.is.MaxGraceSeconds; is < was {
		c.effects.add(p.team, subject{
			fmt.Sprintf("longest grace period in tier %s: %d -> %d seconds", p.is.Tier, was, is), p.is.Tier, "",
		}, outcomes{new: Outcome{Rejected,
			fmt.Sprintf("are rejected if their pods may take more than %d seconds to end", is)}})
	}
}

// otherNamespaces adds the effect of a queue that other namespaces than those of its teams can
// use no longer.
func (c *change) otherNamespaces(p pair) {
	was, is := p.was.Namespaces, p.is.Namespaces
	others := was.All || was.Labels != nil || was.Conditions != nil // besides those of the teams
	if !others || isWider(was, is) {
		return
	}
	c.effects.add(p.team, subject{"fewer namespaces may use the queue of tier " + p.is.Tier, p.is.Tier, ""}, outcomes{
		running: Outcome{RunOn, "of other namespaces continue. If Kueue evicts them, they do not start again"},
		waiting: Outcome{NeverStart, "of namespaces that the queue no longer selects never start: delete them"},
		new:     Outcome{NeverStart, "of namespaces that the queue no longer selects never start"},
	})
}

// isWider reports whether a queue selects at least the namespaces that it has selected, as far
// as its choices tell.
func isWider(was, is ir.Namespaces) bool {
	holds := func(c ir.NamespaceCondition) bool {
		return slices.ContainsFunc(was.Conditions, func(other ir.NamespaceCondition) bool {
			return other.Label == c.Label && other.Operator == c.Operator && slices.Equal(other.Values, c.Values)
		})
	}
	switch {
	case is.All:
		return true
	case is.Conditions != nil:
		return was.Conditions != nil && !slices.ContainsFunc(is.Conditions,
			func(c ir.NamespaceCondition) bool { return !holds(c) })
	}
	return was.Labels != nil && is.Labels != nil && !slices.ContainsFunc(is.Labels,
		func(l ir.KeyValue) bool { return !slices.Contains(was.Labels, l) })
}

// sharers adds the effect of teams that come to a shared queue, or leave it.
func (c *change) sharers() {
	was := map[string][]ir.SharingTeam{} // by ClusterQueue
	for i := range c.before.SharedQueues {
		q := &c.before.SharedQueues[i]
		was[q.ClusterQueue] = q.Teams
	}
	for i := range c.after.SharedQueues {
		q := &c.after.SharedQueues[i]
		old, known := was[q.ClusterQueue]
		if !known {
			continue
		}
		come, gone := withoutTeams(q.Teams, old), withoutTeams(old, q.Teams)
		o := Outcome{Wait, "can wait longer"}
		cause := "more teams share the queue of tier " + q.Tier + ": " + words.First(come, namesListed)
		switch {
		case len(come) == 0 && len(gone) == 0:
			continue
		case len(come) == 0:
			o = Outcome{MayStart, "may start earlier"}
			cause = "fewer teams share the queue of tier " + q.Tier + ": without " + words.First(gone, namesListed)
		}
		left := map[string]bool{}
		for _, team := range gone {
			left[team] = true
		}
		for _, t := range old {
			if !left[t.Name] {
				c.effects.add(t.Name, subject{cause, q.Tier, ""}, outcomes{waiting: o, new: o})
			}
		}
	}
}

// withoutTeams returns the names of teams that are not in other.
func withoutTeams(teams, other []ir.SharingTeam) []string {
	known := map[string]bool{}
	for _, t := range other {
		known[t.Name] = true
	}
	var names []string
	for _, t := range teams {
		if !known[t.Name] {
			names = append(names, t.Name)
		}
	}
	return names
}
