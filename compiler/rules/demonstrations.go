package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the demonstration: each phase must be possible after the phases before it,
// and its expectations must be about the jobs that then exist.

func demonstrationRules() []Rule {
	return []Rule{
		{
			Code: "E0870", Severity: diag.Error, Title: "name of a phase is already used or reserved",
			check: phaseNames,
		},
		{
			Code: "E0871", Severity: diag.Error, Title: "step of a phase is impossible", check: phaseSteps,
			whole: true, resolved: true,
		},
		{
			Code: "W0872", Severity: diag.Warning, Title: "expectation that the demonstration cannot meet",
			check: phaseExpectations, whole: true, resolved: true,
		},
		{
			Code: "E0873", Severity: diag.Error, Title: "expectation that the scheduler does not show",
			check: shownExpectations,
		},
	}
}

// eachPhase calls visit with every phase of the demonstration and a function that
// returns the path of a field of the phase.
func (r *report) eachPhase(visit func(i int, phase schema.Phase, field func(path ...string) []string)) {
	for i, phase := range r.Blueprint.Demonstration {
		visit(i, phase, func(path ...string) []string {
			return append(at("demonstration", diag.Index(i)), path...)
		})
	}
}

// checkPhaseReferences reports unknown names in the demonstration.
func (r *report) checkPhaseReferences() {
	b := r.Blueprint
	capacity, tiers, teams, workloads := sortedKeys(b.Capacity), sortedKeys(b.Tiers), sortedKeys(b.Teams),
		sortedKeys(b.Workloads)
	r.eachPhase(func(_ int, phase schema.Phase, field func(...string) []string) {
		for _, list := range []struct {
			field, kind  string
			names, known []string
		}{
			{"teams", "team", phase.Teams, teams},
			{"uncordon", "capacity", phase.Uncordon, capacity},
			{"delete", "workload", phase.Delete, workloads},
			{"submit", "workload", phase.Submit, workloads},
		} {
			for j, name := range list.names {
				r.resolveName(field(list.field, diag.Index(j)), list.kind, name, list.known)
			}
		}
		for _, name := range sortedKeys(phase.Cordon) {
			r.resolveKey(field("cordon", name), "capacity", name, capacity)
		}
		for _, name := range sortedKeys(phase.Expect.Queues) {
			r.resolveKey(field("expect", "queues", name), "tier", name, tiers)
		}
		for _, name := range sortedKeys(phase.Expect.Evicted) {
			r.resolveKey(field("expect", "evicted", name), "workload", name, workloads)
		}
		for _, name := range sortedKeys(phase.Expect.Pods) {
			r.resolveKey(field("expect", "pods", name), "capacity", name, capacity)
		}
		for j, node := range phase.Expect.Nodes {
			for k, name := range node {
				r.resolveName(field("expect", "nodes", diag.Index(j), diag.Index(k)), "workload", name, workloads)
			}
		}
	})
}

// phaseNames reports phases that demonstrate.sh could not tell apart.
func phaseNames(r *report) {
	first := map[string][]string{}
	r.eachPhase(func(_ int, phase schema.Phase, field func(...string) []string) {
		here := field("phase")
		switch other, used := first[phase.Phase]; {
		case phase.Phase == ir.CleanUpPhase:
			r.add(here, fmt.Sprintf("the name %q is reserved: demonstrate.sh removes the demonstration with it",
				phase.Phase), withHelp("rename the phase"))
		case used:
			r.add(here, fmt.Sprintf("two phases have the name %q", phase.Phase),
				withRelated(other, "the other phase"), withHelp("rename one of the phases"))
		default:
			first[phase.Phase] = here
		}
	})
}

// staging performs phases one after the other.
type staging struct {
	// jobs holds the jobs that have been submitted and not deleted, all copies of a
	// template for a team, by template and team.
	jobs     map[[2]string][]ir.Workload
	cordoned map[string]bool // by capacity
	unknown  bool            // an impossible step was reported, so that the state is not known

	submitters map[string][]string            // teams by template, sorted
	copies     map[[2]string][]ir.Workload    // by template and team
	queues     map[[2]string]string           // ClusterQueue by team and LocalQueue
	problem    func([]string, string, string) // reports a path, a message and a cure; nil for none
}

func newStaging(p *ir.Platform) *staging {
	s := &staging{
		jobs: map[[2]string][]ir.Workload{}, cordoned: map[string]bool{}, submitters: map[string][]string{},
		copies: map[[2]string][]ir.Workload{}, queues: map[[2]string]string{},
	}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			s.queues[[2]string{t.Name, q.LocalQueue}] = q.ClusterQueue
		}
	}
	for _, w := range p.Workloads {
		key := [2]string{w.Template, w.Team}
		if s.copies[key] == nil {
			s.submitters[w.Template] = append(s.submitters[w.Template], w.Team)
		}
		s.copies[key] = append(s.copies[key], w)
	}
	return s
}

// teamsOf returns the teams of a workload that take part in a phase, sorted.
func (s *staging) teamsOf(name string, phase schema.Phase) []string {
	var out []string
	for _, team := range s.submitters[name] {
		if phase.Teams == nil || slices.Contains(phase.Teams, team) {
			out = append(out, team)
		}
	}
	return out
}

// fail reports an impossible step.
func (s *staging) fail(path []string, message, cure string) {
	s.unknown = true
	if s.problem != nil {
		s.problem(path, message, cure)
	}
}

// perform performs the steps of a phase.
func (s *staging) perform(phase schema.Phase, capacities map[string]ir.Capacity, field func(...string) []string) {
	for _, name := range sortedKeys(phase.Cordon) {
		s.cordon(field("cordon", name), capacities[name], phase.Cordon[name])
	}
	for j, name := range phase.Uncordon {
		if !s.cordoned[name] {
			s.fail(field("uncordon", diag.Index(j)), fmt.Sprintf("no phase before has cordoned nodes of %q", name),
				"cordon nodes in an earlier phase, or remove the name")
		}
		delete(s.cordoned, name)
	}
	for j, name := range phase.Delete {
		deleted := 0
		for _, team := range s.teamsOf(name, phase) {
			key := [2]string{name, team}
			deleted += len(s.jobs[key])
			delete(s.jobs, key)
		}
		if deleted == 0 {
			s.fail(field("delete", diag.Index(j)), fmt.Sprintf("there are no jobs of workload %q to delete", name),
				"submit the workload in an earlier phase, or remove the name")
		}
	}
	busy := map[string]bool{} // teams with something to do
	for j, name := range phase.Submit {
		teams := s.teamsOf(name, phase)
		if len(teams) == 0 {
			s.fail(field("submit", diag.Index(j)), fmt.Sprintf("no team of the phase submits workload %q", name),
				"add a team that has the workload to teams, or remove the name")
		}
		for _, team := range teams {
			key := [2]string{name, team}
			if s.jobs[key] != nil {
				s.fail(field("submit", diag.Index(j)),
					fmt.Sprintf("the jobs of workload %q already exist, and a job cannot be submitted twice", name),
					"delete the workload first: add it to delete of this phase or an earlier phase")
			}
			s.jobs[key] = s.copies[key]
		}
	}
	for _, name := range slices.Concat(phase.Delete, phase.Submit) {
		for _, team := range s.submitters[name] {
			busy[team] = true
		}
	}
	for j, team := range phase.Teams {
		if len(busy) > 0 && !busy[team] {
			s.fail(field("teams", diag.Index(j)), fmt.Sprintf("team %q has no workload of this phase", team),
				"remove the team, or add a workload of it")
		}
	}
}

// cordon cordons nodes of a capacity, which must have them at any time. A capacity that
// has no nodes for now is not judged.
func (s *staging) cordon(path []string, c ir.Capacity, nodes int) {
	s.cordoned[c.Name] = true
	if c.Waiting || c.SlicesOff() {
		return
	}
	standing := c.IdleNodes()
	if !c.OwnsPools() {
		standing = 0
	}
	if nodes > standing {
		s.fail(path, fmt.Sprintf("%q has %s at any time, fewer than %d", c.Name, words.Count(standing, "node"), nodes),
			"cordon fewer nodes, or set nodes or minNodes of the capacity")
	}
}

// phaseSteps reports steps that cannot be performed after the phases before.
func phaseSteps(r *report) {
	s, capacities := newStaging(r.Plan), capacitiesByName(r.Plan)
	s.problem = func(path []string, message, cure string) { r.addAtEnd(path, message, withHelp("%s", cure)) }
	if len(r.Plan.Demonstration) > 0 && len(r.Plan.Teams) == 0 {
		s.fail(at("demonstration", diag.Index(0)), "the platform has no team that submits jobs",
			"add a team, or remove the demonstration")
	}
	r.eachPhase(func(_ int, phase schema.Phase, field func(...string) []string) {
		s.perform(phase, capacities, field)
	})
}

// addAtEnd reports a finding on the last element of a path: at its value if it is an
// element of a list, otherwise at its name.
func (r *report) addAtEnd(path []string, message string, options ...option) {
	if strings.HasPrefix(path[len(path)-1], "[") {
		r.add(path, message, options...)
		return
	}
	r.addKey(path, message, options...)
}

// phaseExpectations reports expectations of more than the jobs that exist.
func phaseExpectations(r *report) {
	s, capacities, limits := newStaging(r.Plan), capacitiesByName(r.Plan), r.bindingLimits()
	r.eachPhase(func(i int, phase schema.Phase, field func(...string) []string) {
		s.perform(phase, capacities, field)
		if s.unknown {
			return
		}
		field = func(path ...string) []string {
			return append(at("demonstration", diag.Index(i), "expect"), path...)
		}
		r.checkQueueCounts(s, r.Plan.Demonstration[i], field)
		r.checkPodCounts(s, capacities, limits, phase, field)
		for _, name := range sortedKeys(phase.Expect.Evicted) {
			copies := s.copiesOf(name, phase)
			if n := phase.Expect.Evicted[name]; n > copies {
				r.addKey(field("evicted", name),
					fmt.Sprintf("%d jobs of workload %q cannot be evicted: a team has %d", n, name, copies),
					withHelp("lower the number, or submit the workload"))
			}
		}
		used, named := map[string]int{}, 0
		for j, node := range phase.Expect.Nodes {
			for k, name := range node {
				if used[name]++; used[name] > s.podsNamed(name) {
					r.add(field("nodes", diag.Index(j), diag.Index(k)),
						fmt.Sprintf("workload %q has %s", name, words.Count(used[name]-1, "pod")),
						withHelp("name each pod once, or submit the workload"))
				}
			}
			named += len(node)
			if !s.shareNode(node, r.Plan.Capacities) {
				r.add(field("nodes", diag.Index(j)), "no node has room for these pods together",
					withHelp("expect some of the pods on another node"))
			}
		}
		running := 0
		for _, n := range phase.Expect.Pods {
			running += n
		}
		if phase.Expect.Nodes != nil && phase.Expect.Pods != nil && named != running {
			r.addKey(field("nodes"), fmt.Sprintf("nodes has %s, and pods expects %d", words.Count(named, "running pod"),
				running), withHelp("write each running pod once in nodes, and once in the numbers of pods"))
		}
	})
}

// checkQueueCounts compares the expected counts of queues with the jobs that exist.
func (r *report) checkQueueCounts(s *staging, phase ir.Phase, field func(...string) []string) {
	if len(phase.Queues) == 0 || !r.Plan.Scheduler.Facts().CountsJobs {
		return
	}
	jobs := map[string]int{} // by ClusterQueue
	for key, copies := range s.jobs {
		for _, w := range copies {
			jobs[s.queues[[2]string{key[1], w.Queue}]]++
		}
	}
	for _, c := range phase.Queues {
		queues := r.Plan.QueuesOf(phase, c.Tier)
		for _, q := range queues {
			if expected := c.Pending + c.Admitted; expected > jobs[q] {
				r.addKey(field("queues", c.Tier),
					fmt.Sprintf("%s expected in %s, which has %d", words.Plural(expected, "job is", "jobs are"), q,
						jobs[q]),
					withHelp("expect at most as many jobs as the phases have submitted and not deleted"))
			}
		}
		if queues == nil {
			r.addKey(field("queues", c.Tier), fmt.Sprintf("no team of the phase has a queue in tier %q", c.Tier),
				withHelp("remove the tier, or add a team that has quota in it to teams"))
		}
	}
}

// checkPodCounts compares the expected numbers of pods with the pods of the jobs that
// exist, and with the nodes that the capacities can have.
func (r *report) checkPodCounts(s *staging, capacities map[string]ir.Capacity, limits []autoscalingLimit,
	phase schema.Phase, field func(...string) []string) {
	sum, impossible := 0, false
	if phase.Expect.Pending != nil {
		sum = *phase.Expect.Pending
	}
	for _, name := range sortedKeys(phase.Expect.Pods) {
		n := phase.Expect.Pods[name]
		sum += n
		const jobs = "expect at most as many pods as the jobs have that the phases have submitted and not deleted"
		most, cure := s.podsOn(name), jobs
		if room := s.roomOn(capacities[name], limits); room < most {
			most, cure = room, "expect fewer pods, or give the capacity more nodes"
		}
		if n > most {
			impossible = true
			r.addKey(field("pods", name),
				fmt.Sprintf("%s expected on %q, where at most %d can run", words.Plural(n, "pod is", "pods are"), name,
					most),
				withHelp("%s", cure))
		}
	}
	if all := s.podsOn(""); sum > all && !impossible {
		part := "pods"
		if phase.Expect.Pending != nil {
			part = "pending"
		}
		r.addKey(field(part), fmt.Sprintf("%s expected, and the jobs have %d",
			words.Plural(sum, "pod is", "pods are"), all),
			withHelp("expect at most as many pods, running and pending, as the jobs have"))
	}
}

// copiesOf returns the number of jobs of a workload that a team of the phase has.
func (s *staging) copiesOf(name string, phase schema.Phase) int {
	for _, team := range s.teamsOf(name, phase) {
		if copies := s.jobs[[2]string{name, team}]; copies != nil {
			return len(copies)
		}
	}
	return 0
}

// podsNamed returns the number of pods of a workload's jobs that exist, with their
// auxiliary pods.
func (s *staging) podsNamed(name string) int {
	pods := 0
	for key, copies := range s.jobs {
		for _, w := range copies {
			if key[0] == name {
				pods += w.Pods + len(w.Auxiliaries)
			}
		}
	}
	return pods
}

// podsOn returns the number of pods of the jobs that exist and can run on a capacity,
// "" for any capacity.
func (s *staging) podsOn(capacity string) int {
	pods := 0
	for _, copies := range s.jobs {
		for _, w := range copies {
			if capacity == "" || slices.Contains(w.Capacities, capacity) {
				pods += w.Pods
			}
			for _, a := range w.Auxiliaries {
				if capacity == "" || a.Capacity == capacity {
					pods++
				}
			}
		}
	}
	return pods
}

// shareNode reports whether a node of some capacity has room for a pod of each workload
// at the same time. Workloads whose jobs do not exist, or have auxiliary pods, count as
// nothing: others report them, or it is not known which pod is meant.
func (s *staging) shareNode(names []string, capacities []ir.Capacity) bool {
	return slices.ContainsFunc(capacities, func(c ir.Capacity) bool {
		var taken []ir.Amount
		for _, name := range names {
			known, runs := false, false
			for _, team := range s.submitters[name] {
				copies := s.jobs[[2]string{name, team}]
				if len(copies) == 0 || len(copies[0].Auxiliaries) > 0 {
					continue
				}
				known = true
				if w := copies[0]; slices.Contains(w.Capacities, c.Name) {
					if len(c.PerNode) > 0 && c.PodsPerNode(w.Requests, taken...) == 0 {
						return false
					}
					taken, runs = ir.SumAmounts(taken, w.Requests), true
					break
				}
			}
			if known && !runs {
				return false
			}
		}
		return true
	})
}

// roomOn returns the number of pods, of the jobs that exist, that the nodes of a capacity
// hold at most, if it has as many nodes as it and the limits of the cluster allow. It is
// an upper bound, and math.MaxInt if the capacity has no nodes for now or its machine is
// unknown.
func (s *staging) roomOn(c ir.Capacity, limits []autoscalingLimit) int {
	if c.Waiting || c.SlicesOff() || len(c.PerNode) == 0 {
		return math.MaxInt
	}
	perNode := 0
	for _, copies := range s.jobs {
		for _, w := range copies {
			if slices.Contains(w.Capacities, c.Name) {
				perNode = max(perNode, c.PodsPerNode(w.Requests))
			}
			for _, a := range w.Auxiliaries {
				if a.Capacity == c.Name {
					perNode = max(perNode, c.PodsPerNode(a.Requests))
				}
			}
		}
	}
	return perNode * limitFits([]nodeFit{{capacity: c, nodes: c.MaxNodes}}, limits)[0].nodes
}

// shownExpectations reports expectations that nobody could compare with the cluster.
func shownExpectations(r *report) {
	facts := r.Plan.Scheduler.Facts()
	r.eachPhase(func(_ int, phase schema.Phase, field func(...string) []string) {
		report := func(part, message, cure string) {
			r.addKey(field("expect", part), facts.Name+" "+message, withHelp("%s", cure))
		}
		if len(phase.Expect.Queues) > 0 && !facts.CountsJobs {
			report("queues", "does not show the number of jobs in a queue", "use pods, pending or nodes")
		}
		if len(phase.Expect.Evicted) > 0 && !facts.CountsJobs {
			report("evicted", "does not show how often a job was evicted", "use nodes: a job that was moved shares "+
				"another node")
		}
		if phase.Expect.Nodes != nil && !facts.PacksPods {
			report("nodes", "does not decide which pods share a node", "use pods")
		}
	})
}
