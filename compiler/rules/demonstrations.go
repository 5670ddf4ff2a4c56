package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the demonstration: each phase must be possible after the phases before it,
// and its expectations must be about the jobs that then exist.

func demonstrationRules() []Rule {
	return []Rule{
		rule("E0870", "name of a phase is already used or reserved", phaseNames),
		rule("E0871", "step of a phase is impossible", phaseSteps, whole, resolved),
		rule("E0820", "phase expects a result that its workload cannot reach", impossibleExpectations, whole, resolved),
		rule("W0872", "expectation that the demonstration cannot meet", phaseExpectations, whole, resolved),
		rule("E0873", "expectation that the scheduler does not show", shownExpectations),
	}
}

// phaseNames reports phases that demonstrate.sh could not tell apart.
func phaseNames(r *report) {
	first := map[string][]string{}
	for field, phase := range every[schema.Phase](r, "demonstration.[]") {
		here := field.at("phase")
		switch other, used := first[phase.Phase]; {
		case phase.Phase == ir.CleanUpPhase:
			r.add(here, say("the name %q is reserved: demonstrate.sh removes the demonstration with it",
				phase.Phase), help("rename the phase"))
		case used:
			r.add(here, say("two phases have the name %q", phase.Phase),
				see(other, "the other phase"), help("rename one of the phases"))
		default:
			first[phase.Phase] = here
		}
	}
}

// staging performs phases one after the other.
type staging struct {
	*fit.Jobs
	cordoned map[string]bool                 // by capacity
	unknown  bool                            // a step is impossible, so that the state is not known
	problem  func(fieldPath, string, string) // reports a path, a message and a cure; nil for none
}

func (r *report) newStaging() *staging {
	return &staging{Jobs: r.fit.NewJobs(), cordoned: map[string]bool{}}
}

// teamsOf returns the teams of a workload that take part in a phase, sorted.
func (s *staging) teamsOf(name string, phase schema.Phase) []string {
	return slices.DeleteFunc(slices.Clone(s.Submitters[name]), func(team string) bool {
		return phase.Teams != nil && !slices.Contains(phase.Teams, team)
	})
}

// fail reports an impossible step.
func (s *staging) fail(path fieldPath, message, cure string) {
	s.unknown = true
	if s.problem != nil {
		s.problem(path, message, cure)
	}
}

// perform performs the steps of a phase.
func (s *staging) perform(phase schema.Phase, capacities map[string]ir.Capacity, field fieldPath) {
	for _, name := range sortedKeys(phase.Cordon) {
		s.cordon(field.at("cordon", name), capacities[name], phase.Cordon[name])
	}
	for j, name := range phase.Uncordon {
		if !s.cordoned[name] {
			s.fail(field.at("uncordon", diag.Index(j)), fmt.Sprintf("no phase before has cordoned nodes of %q", name),
				"cordon nodes in an earlier phase, or remove the name")
		}
		delete(s.cordoned, name)
	}
	for j, name := range phase.Delete {
		deleted := 0
		for _, team := range s.teamsOf(name, phase) {
			deleted += s.Delete(name, team)
		}
		if deleted == 0 {
			s.fail(field.at("delete", diag.Index(j)), fmt.Sprintf("there are no jobs of workload %q to delete", name),
				"submit the workload in an earlier phase, or remove the name")
		}
	}
	for j, name := range phase.Submit {
		teams := s.teamsOf(name, phase)
		if len(teams) == 0 {
			s.fail(field.at("submit", diag.Index(j)), fmt.Sprintf("no team of the phase submits workload %q", name),
				"add a team that has the workload to teams, or remove the name")
		}
		for _, team := range teams {
			if s.Submit(name, team) {
				s.fail(field.at("submit", diag.Index(j)),
					fmt.Sprintf("the jobs of workload %q already exist, and a job cannot be submitted twice", name),
					"delete the workload first: add it to delete of this phase or an earlier phase")
			}
		}
	}
	busy := map[string]bool{} // teams with something to do
	for _, name := range slices.Concat(phase.Delete, phase.Submit) {
		for _, team := range s.Submitters[name] {
			busy[team] = true
		}
	}
	for j, team := range phase.Teams {
		if len(busy) > 0 && !busy[team] {
			s.fail(field.at("teams", diag.Index(j)), fmt.Sprintf("team %q has no workload of this phase", team),
				"remove the team, or add a workload of it")
		}
	}
}

// cordon cordons nodes of a capacity, which must have them at any time. A capacity that
// has no nodes for now is not judged.
func (s *staging) cordon(path fieldPath, c ir.Capacity, nodes int) {
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
	s := r.newStaging()
	s.problem = func(path fieldPath, message, cure string) { r.addAtEnd(path, message, advise(cure)) }
	if len(r.Plan.Demonstration) > 0 && len(r.Plan.Teams) == 0 {
		s.fail(at("demonstration", diag.Index(0)), "the platform has no team that submits jobs",
			"add a team, or remove the demonstration")
	}
	for field, phase := range every[schema.Phase](r, "demonstration.[]") {
		s.perform(phase, r.fit.Named, field)
	}
}

// addAtEnd reports a finding on the last element of a path: at its value if it is an
// element of a list, otherwise at its name.
func (r *report) addAtEnd(path fieldPath, message string, options ...option) {
	if strings.HasPrefix(path[len(path)-1], "[") {
		r.add(path, message, options...)
		return
	}
	r.addKey(path, message, options...)
}

// phaseExpectations reports expectations of more than the jobs that exist. It is a warning: a
// team or a capacity can leave the platform at any time, and the demonstration is only played
// on a new one.
func phaseExpectations(r *report) {
	s := r.newStaging()
	for i, phase := range r.Blueprint.Demonstration {
		field := at("demonstration", diag.Index(i))
		s.perform(phase, r.fit.Named, field)
		if s.unknown {
			continue
		}
		field = field.at("expect")
		r.checkQueueCounts(s, r.Plan.Demonstration[i], field)
		r.checkPodCounts(s, phase, field)
		for _, name := range sortedKeys(phase.Expect.Evicted) {
			r.checkEvictions(s, phase, field.at("evicted", name), phase.Expect.Evicted[name])
		}
		for j, name := range phase.Expect.Completed {
			if s.copiesOf(name, phase) == 0 {
				r.add(field.at("completed", diag.Index(j)), say("there are no jobs of workload %q", name),
					help("submit the workload in this phase or an earlier phase, or remove the name"))
			}
		}
		for _, name := range sortedKeys(phase.Expect.Moved) {
			sum := 0
			for _, n := range phase.Expect.Moved[name] {
				sum += n
			}
			r.checkEvictions(s, phase, field.at("moved", name), sum)
		}
		used, named := map[string]int{}, 0
		for j, node := range phase.Expect.Nodes {
			for k, name := range node {
				if used[name]++; used[name] > s.PodsOf(name) {
					r.add(field.at("nodes", diag.Index(j), diag.Index(k)),
						say("workload %q has %s", name, words.Count(used[name]-1, "pod")),
						help("name each pod once, or submit the workload"))
				}
			}
			named += len(node)
			if !s.ShareNode(node) {
				r.add(field.at("nodes", diag.Index(j)), "no node has room for these pods together",
					help("expect some of the pods on another node"))
			}
		}
		running := 0
		for _, n := range phase.Expect.Pods {
			running += n
		}
		if phase.Expect.Nodes != nil && phase.Expect.Pods != nil && named != running {
			r.addKey(field.at("nodes"), say("nodes has %s, and pods expects %d", words.Count(named, "running pod"),
				running), help("write each running pod once in nodes, and once in the numbers of pods"))
		}
	}
}

// checkEvictions compares an expected number of evicted jobs of a workload, which is the last
// element of the path, with the jobs that a team has.
func (r *report) checkEvictions(s *staging, phase schema.Phase, path fieldPath, expected int) {
	name := path[len(path)-1]
	if copies := s.copiesOf(name, phase); expected > copies {
		r.addKey(path, say("%d jobs of workload %q cannot be evicted: a team has %d", expected, name, copies),
			help("lower the number, or submit the workload"))
	}
}

// checkQueueCounts compares the expected counts of queues with the jobs that exist.
func (r *report) checkQueueCounts(s *staging, phase ir.Phase, field fieldPath) {
	if len(phase.Queues) == 0 || !r.Plan.Scheduler.Facts().CountsJobs {
		return
	}
	jobs := s.InQueues()
	for _, c := range phase.Queues {
		queues := r.Plan.QueuesOf(phase, c.Tier)
		for _, q := range queues {
			if expected := c.Pending + c.Admitted; expected > jobs[q] {
				r.addKey(field.at("queues", c.Tier),
					say("%s expected in %s, which has %d", words.Plural(expected, "job is", "jobs are"), q, jobs[q]),
					help("expect at most as many jobs as the phases have submitted and not deleted"))
			}
		}
		if queues == nil {
			r.addKey(field.at("queues", c.Tier), say("no team of the phase has a queue in tier %q", c.Tier),
				help("remove the tier, or add a team that has quota in it to teams"))
		}
	}
}

// checkPodCounts compares the expected numbers of pods with the pods of the jobs that
// exist, and with the nodes that the capacities can have.
func (r *report) checkPodCounts(s *staging, phase schema.Phase, field fieldPath) {
	sum, impossible := 0, false
	if phase.Expect.Pending != nil {
		sum = *phase.Expect.Pending
	}
	for name, n := range sorted(phase.Expect.Pods) {
		sum += n
		const jobs = "expect at most as many pods as the jobs have that the phases have submitted and not deleted"
		most, cure := s.PodsOn(name), jobs
		if room := s.RoomOn(name); room < most {
			most, cure = room, "expect fewer pods, or give the capacity more nodes"
			if r.fit.Named[name].SlicesOff() {
				cure = "set slices of the capacity, or remove the demonstration while it has no slices"
			}
		}
		if n > most {
			impossible = true
			r.addKey(field.at("pods", name),
				say("%s expected on %q, where at most %d can run", words.Plural(n, "pod is", "pods are"), name, most),
				advise(cure))
		}
	}
	if all := s.PodsOn(""); sum > all && !impossible {
		part := "pods"
		if phase.Expect.Pending != nil {
			part = "pending"
		}
		r.addKey(field.at(part), say("%s expected, and the jobs have %d", words.Plural(sum, "pod is", "pods are"), all),
			help("expect at most as many pods, running and pending, as the jobs have"))
	}
}

// copiesOf returns the number of jobs of a workload that a team of the phase has.
func (s *staging) copiesOf(name string, phase schema.Phase) int {
	for _, team := range s.teamsOf(name, phase) {
		if n := s.Count(name, team); n > 0 {
			return n
		}
	}
	return 0
}

// impossibleExpectations reports expectations that no jobs of the workload can meet, whatever
// the phases submit.
func impossibleExpectations(r *report) {
	for field, phase := range every[schema.Phase](r, "demonstration.[]") {
		for i, name := range phase.Expect.Completed {
			r.checkCompletion(field.at("expect", "completed", diag.Index(i)), phase, name)
		}
		for _, name := range sortedKeys(phase.Expect.Moved) {
			var possible []string
			for _, w := range r.Plan.Workloads {
				if w.Template == name {
					possible = append(possible, w.Capacities...)
				}
			}
			slices.Sort(possible)
			possible = slices.Compact(possible)
			for _, capacity := range sortedKeys(phase.Expect.Moved[name]) {
				if !slices.Contains(possible, capacity) {
					r.addKey(field.at("expect", "moved", name, capacity),
						say("jobs of workload %q cannot move to %q", name, capacity),
						choices(possible), help("expect the jobs on a capacity that the workload can use"))
				}
			}
		}
	}
}

// checkCompletion compares the time that the copies of a workload run with the time that a
// phase waits for their end.
func (r *report) checkCompletion(path fieldPath, phase schema.Phase, name string) {
	usual := r.Blueprint.Workloads[name].UsuallyRuns
	switch {
	case usual == nil:
		r.add(
			path,
			say("it is not known how long the jobs of workload %q run", name),
			help(
				"add usuallyRuns to the workload, such as usuallyRuns: \"30m\"",
			),
			see(at("workloads", name), "the workload"),
		)
	case schema.Seconds(*usual) >= int64(phase.WaitSeconds):
		r.add(path, say("jobs of workload %q run for %s, but the phase waits for at most %s", name, *usual,
			words.Duration(phase.WaitSeconds)), help("raise waitSeconds of the phase"),
			see(at("workloads", name, "usuallyRuns"), "the time that the jobs run"))
	}
}

// shownExpectations reports expectations that nobody could compare with the cluster.
func shownExpectations(r *report) {
	facts := r.Plan.Scheduler.Facts()
	for field, phase := range every[schema.Phase](r, "demonstration.[]") {
		report := func(part, message, cure string) {
			r.addKey(field.at("expect", part), facts.Name+" "+message, advise(cure))
		}
		if len(phase.Expect.Queues) > 0 && !facts.CountsJobs {
			report("queues", "does not show the number of jobs in a queue", "use pods, pending or nodes")
		}
		if len(phase.Expect.Evicted) > 0 && !facts.CountsJobs {
			report("evicted", "does not show how often a job was evicted", "use nodes: a job that was moved shares "+
				"another node")
		}
		if len(phase.Expect.Moved) > 0 && !facts.CountsJobs {
			report("moved", "does not show how often a job was evicted", "use pods or nodes")
		}
		if phase.Expect.Nodes != nil && !facts.PacksPods {
			report("nodes", "does not decide which pods share a node", "use pods")
		}
	}
}
