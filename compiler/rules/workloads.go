package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// Rules on workloads: the scheduler must be able to admit them, and they must be
// able to run.

func workloadRules() []Rule {
	return []Rule{
		rule("E0801", "pod fits no node", onEach(submissions, podFitsNode), whole, resolved),
		rule("E0802", "workload can never be admitted", copyFitsQuota, whole, resolved),
		rule("E0809", "workload can be admitted to nodes that are too small",
			onEach(submissions, strandedPods), whole, resolved, acceptable, except(ir.KAI)),
		rule("E0803", "team has no quota in the workload's tier", workloadTeams, whole, resolved),
		rule("E0819", kinds.Composite().Name+" with a negative priority never starts",
			negativePriority, whole, resolved),
		rule("E0806", "files exceed the size of a ConfigMap", fileSizes),
		rule("E0807", "workload does not use whole TPU slices", on("workloads.*", wholeSlices), resolved),
		rule("E0808", "workload can run longer than its nodes", on("workloads.*", runTimes), resolved),
		rule("E0818", "workload asks for nodes for too short a time", on("workloads.*", shortRuns), resolved),
		rule("E0810", "workload chooses a capacity that its tier does not use",
			on("workloads.*", capacityOutsideTier), basic, fieldwise),
		rule("E0811", "workload chooses a priority that its tier does not have",
			on("workloads.*", priorityOutsideTier), basic),
		rule("E0812", "workload chooses a capacity that its team has no quota on", chosenQuota, whole, resolved),
		rule("E0813", "no label distinguishes the chosen capacities from others", chosenApart, whole, resolved),
	}
}

func podFitsNode(r *report, s fit.Submission) {
	name := s.Workload.Template
	w := r.Blueprint.Workloads[name]
	var short []string
	fitting := false
	for _, f := range s.Quotas() {
		c := r.fit.Named[f.Flavor]
		lack, ok := fit.OnNode(s.Workload.Requests, c)
		fitting = fitting || ok
		if w.PerPod.Accelerators > 0 && !c.HasAccelerators() {
			lack = "no accelerators" // whichever accelerators they would be
		}
		short = append(short, fmt.Sprintf("%s: %s", f.Flavor, lack))
	}
	if !fitting && !r.exceedsHosts(w, s.Quotas()) {
		r.addKey(at("workloads", name, "perPod"),
			say("a pod of workload %q fits no node of tier %q", name, s.Queue.Tier),
			label("per node: %s", strings.Join(short, "; ")), help("request less, or choose another tier"))
	}
}

// exceedsHosts reports whether a pod of a workload asks for more chips than the hosts of
// every TPU capacity have that admits it. wholeSlices reports such a workload.
func (r *report) exceedsHosts(w schema.Workload, quotas []ir.FlavorQuota) bool {
	return len(quotas) > 0 && !slices.ContainsFunc(quotas, func(f ir.FlavorQuota) bool {
		machine := r.fit.Named[f.Flavor].Machine
		return machine.Slice == nil || w.PerPod.Accelerators <= machine.AcceleratorCount
	})
}

func copyFitsQuota(r *report) {
	type admission struct {
		admits func(fit.Submission) (short []string, ok bool)
		limit  string // what the pods of a copy need
	}
	scheduler := ir.Choose(r.Plan.Scheduler,
		admission{r.fit.CanAdmit, "all pods of a copy run at once on one capacity"},
		admission{
			r.fit.CanStart,
			fmt.Sprintf("all pods of a copy run at once, and within the guarantee if the priority is %d or more",
				ir.KAINonPreemptible),
		})
	for name, submissions := range r.fit.Submissions().Sorted() {
		var stuck []fit.Submission
		var teams, short []string
		for _, s := range submissions {
			if s.Spoilt {
				continue
			}
			if lacks, ok := scheduler.admits(s); !ok {
				stuck, teams = append(stuck, s), append(teams, s.Team.Name)
				if short == nil {
					short = lacks
				}
			}
		}
		if len(stuck) > 0 {
			r.addKey(at("workloads", name), say("workload %q can never be admitted for %s", name, quoteNames(teams)),
				label("within quota: %s", strings.Join(short, "; ")), see(r.quotaPath(stuck[0], ""), "the quota"),
				advise(cmp.Or(r.shareCure(stuck),
					"use fewer or smaller pods, or raise the quota or the borrowing limit: "+scheduler.limit)))
		}
	}
}

// shareCure returns the help for a workload that has enough accelerators in the quotas
// of these submissions, which are of one workload and cannot be admitted, but too
// little cpu or memory. It returns "" if this is not so.
func (r *report) shareCure(stuck []fit.Submission) string {
	first := stuck[0]
	for _, f := range first.Quotas() {
		c := r.fit.Named[f.Flavor]
		perNode := c.PodsPerNode(first.Workload.Requests)
		if perNode == 0 || !r.fit.LimitsPods(first, c.Name) {
			continue
		}
		most := r.fit.PerPod(stuck, c, perNode)
		if most[0].Quantity.IsZero() || most[1].Quantity.IsZero() {
			continue
		}
		unit := c.CountedIn()
		share := []ir.Amount{{Resource: ir.Memory, Quantity: r.fit.PerUnit(first, f, ir.Memory, unit)}}
		if c.HasAccelerators() {
			cpu := ir.Amount{Resource: ir.CPU, Quantity: r.fit.PerUnit(first, f, ir.CPU, unit)}
			share = slices.Insert(share, 0, cpu)
		}
		printed := printAlike(most, share)
		cure := fmt.Sprintf("request at most %s for each pod, because the quota has %s for each %s; ", printed[0],
			printed[1], ir.Unit(unit))
		larger, found := fit.Larger{}, false
		if c.HasAccelerators() {
			larger, found = fit.LargerShare(first.Workload.Requests, c, perNode, share)
		}
		if !found {
			return cure + "or raise the quota or the borrowing limit"
		}
		cure += "or " + writePerAccelerator(c, larger.Share)
		if larger.Shrinks {
			cure += fmt.Sprintf(" and request at most %s for each pod", printAmounts(larger.PerPod))
		}
		return cure
	}
	return ""
}

// strandedPods reports pods that a capacity's nodes are too small for. Kueue takes
// the first capacity with free quota, however small its nodes are.
func strandedPods(r *report, s fit.Submission) {
	fitsNode := func(f ir.FlavorQuota) bool {
		_, ok := fit.OnNode(s.Workload.Requests, r.fit.Named[f.Flavor])
		return ok
	}
	if !slices.ContainsFunc(s.Quotas(), fitsNode) {
		return // podFitsNode reports pods that fit no node
	}
	for _, f := range s.Quotas() {
		lack, fits := fit.OnNode(s.Workload.Requests, r.fit.Named[f.Flavor])
		if _, admitted := r.fit.Admits(s, f); fits || !admitted {
			continue
		}
		name := s.Workload.Template
		r.addKey(at("workloads", name, "perPod"),
			say("workload %q can be admitted to %q, but its pods do not fit the nodes of that capacity", name,
				f.Flavor), label("per node: %s", lack), see(r.quotaPath(s, f.Flavor), "the quota that admits it"),
			help("request less, or define a tier for each size of node; Kueue does not check whether pods fit a "+
				"node, so it would admit, evict and requeue the workload without end"))
	}
}

func workloadTeams(r *report) {
	b := r.Blueprint
	served, idle := map[string]bool{}, map[string]bool{}
	for _, team := range b.Teams {
		for tier := range team.Quota {
			served[tier] = true
		}
	}
	for name, w := range sorted(b.Workloads) {
		if _, ok := b.Tiers[w.Tier]; !ok {
			continue
		}
		shared := b.Tiers[w.Tier].Shared
		if !served[w.Tier] && shared == nil {
			if !idle[w.Tier] {
				r.add(at("workloads", name, "tier"),
					say("no team has quota in tier %q, so no team can submit workload %q", w.Tier, name),
					help("give quota in the tier to a team, or remove the workload"))
			}
			idle[w.Tier] = true // one mistake, however many workloads
			continue
		}
		var sharing []string // sorted
		if shared != nil {
			sharing = slices.Sorted(slices.Values(shared.Teams))
		}
		for i, t := range w.Teams {
			team, ok := b.Teams[t]
			switch path := at("workloads", name, "teams", diag.Index(i)); {
			case !ok:
			case shared == nil && team.Quota[w.Tier] == nil:
				r.add(path, say("team %q has no quota in tier %q", t, w.Tier),
					help("give quota in the tier to the team, or remove the team from the workload"))
			case shared != nil && shared.Teams != nil && !hasName(sharing, t):
				r.add(path, say("team %q does not share the queue of tier %q", t, w.Tier),
					see(at("tiers", w.Tier, "shared", "teams"), "the teams that share it"),
					help("add the team to the tier's shared queue, or remove the team from the workload"))
			}
		}
	}
}

// fileSizes reports files that are too large: Kubernetes rejects a ConfigMap above 1
// MiB.
func fileSizes(r *report) {
	const most = 1 << 20
	for name, w := range sorted(r.Blueprint.Workloads) {
		total := 0
		for file, content := range w.Files {
			total += len(file) + len(content)
		}
		if total > most {
			r.addKey(at("workloads", name, "files"),
				say("the files of workload %q take %d KiB, but a ConfigMap holds 1024 KiB", name, total>>10),
				help("move large files to the image or to a bucket"))
		}
	}
}
