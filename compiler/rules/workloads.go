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
		{Code: "E0801", Title: "pod fits no node", check: podFitsNode, whole: true, resolved: true},
		{Code: "E0802", Title: "workload can never be admitted", check: copyFitsQuota, whole: true, resolved: true},
		{Code: "E0809", Title: "workload can be admitted to nodes that are too small",
			check: strandedPods, whole: true, resolved: true, Acceptable: true, except: schedulers{ir.KAI}},
		{Code: "E0803", Title: "team has no quota in the workload's tier",
			check: workloadTeams, whole: true, resolved: true},
		{Code: "E0819", Title: kinds.Composite().Name + " with a negative priority never starts",
			check: negativePriority, whole: true, resolved: true},
		{Code: "E0806", Title: "files exceed the size of a ConfigMap", check: fileSizes},
		{Code: "E0807", Title: "workload does not use whole TPU slices", check: wholeSlices, resolved: true},
		{Code: "E0808", Title: "workload can run longer than its nodes", check: runTimes, resolved: true},
		{Code: "E0818", Title: "workload asks for nodes for too short a time", check: shortRuns, resolved: true},
		{Code: "E0810", Title: "workload chooses a capacity that its tier does not use",
			check: capacityOutsideTier, basic: true, fieldwise: true},
		{Code: "E0811", Title: "workload chooses a priority that its tier does not have",
			check: priorityOutsideTier, basic: true},
		{Code: "E0812", Title: "workload chooses a capacity that its team has no quota on",
			check: chosenQuota, whole: true, resolved: true},
		{Code: "E0813", Title: "no label distinguishes the chosen capacities from others",
			check: chosenApart, whole: true, resolved: true},
	}
}

func podFitsNode(r *report) {
	for name, submissions := range r.fit.Submissions().Sorted() {
		w := r.Blueprint.Workloads[name]
		for _, s := range submissions {
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
					fmt.Sprintf("a pod of workload %q fits no node of tier %q", name, s.Queue.Tier),
					withLabel("per node: %s", strings.Join(short, "; ")),
					withHelp("request less, or choose another tier"))
				break
			}
		}
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
			r.addKey(at("workloads", name),
				fmt.Sprintf("workload %q can never be admitted for %s", name, quoteNames(teams)),
				withLabel("within quota: %s", strings.Join(short, "; ")),
				withRelated(r.quotaPath(stuck[0], ""), "the quota"),
				withHelp("%s", cmp.Or(r.shareCure(stuck),
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
func strandedPods(r *report) {
	for s := range r.fit.Submissions().Each() {
		fitsNode := func(f ir.FlavorQuota) bool {
			_, ok := fit.OnNode(s.Workload.Requests, r.fit.Named[f.Flavor])
			return ok
		}
		if !slices.ContainsFunc(s.Quotas(), fitsNode) {
			continue // podFitsNode reports pods that fit no node
		}
		for _, f := range s.Quotas() {
			lack, fits := fit.OnNode(s.Workload.Requests, r.fit.Named[f.Flavor])
			if _, admitted := r.fit.Admits(s, f); fits || !admitted {
				continue
			}
			name := s.Workload.Template
			r.addKey(at("workloads", name, "perPod"),
				fmt.Sprintf("workload %q can be admitted to %q, but its pods do not fit the nodes of that capacity",
					name, f.Flavor),
				withLabel("per node: %s", lack),
				withRelated(r.quotaPath(s, f.Flavor), "the quota that admits it"),
				withHelp("request less, or define a tier for each size of node; Kueue does not check whether "+
					"pods fit a node, so it would admit, evict and requeue the workload without end"))
		}
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
					fmt.Sprintf("no team has quota in tier %q, so no team can submit workload %q", w.Tier, name),
					withHelp("give quota in the tier to a team, or remove the workload"))
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
				r.add(path, fmt.Sprintf("team %q has no quota in tier %q", t, w.Tier),
					withHelp("give quota in the tier to the team, or remove the team from the workload"))
			case shared != nil && shared.Teams != nil && !hasName(sharing, t):
				r.add(path, fmt.Sprintf("team %q does not share the queue of tier %q", t, w.Tier),
					withRelated(at("tiers", w.Tier, "shared", "teams"), "the teams that share it"),
					withHelp("add the team to the tier's shared queue, or remove the team from the workload"))
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
				fmt.Sprintf("the files of workload %q take %d KiB, but a ConfigMap holds 1024 KiB", name, total>>10),
				withHelp("move large files to the image or to a bucket"))
		}
	}
}
