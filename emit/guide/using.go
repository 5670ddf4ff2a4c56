package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// HasProgramMembers reports whether a service account is a member of a team.
func (v view) HasProgramMembers() bool {
	return slices.ContainsFunc(v.MemberAccounts(),
		func(m string) bool { return strings.HasPrefix(m, "serviceAccount:") })
}

// HomeTeam returns the team of the examples: the team of the first workload, or else
// the first team that has queues. The platform must have a team.
func (v view) HomeTeam() ir.Team {
	named := func(t ir.Team) bool { return len(v.Workloads) > 0 && t.Name == v.Workloads[0].Team }
	for _, is := range []func(ir.Team) bool{named, func(t ir.Team) bool { return len(t.Queues) > 0 }} {
		if i := slices.IndexFunc(v.OwnTeams(), is); i >= 0 {
			return v.OwnTeams()[i]
		}
	}
	return v.OwnTeams()[0]
}

// HasManyTeams reports whether the pages show the teams in groups.
func (v view) HasManyTeams() bool { return len(v.Teams) > fewTeams }

// teamShape is what belongs to a team, or to each team of a group.
type teamShape struct {
	Teams                                   []string
	Namespace, Bucket, KubeAccount, Account string
	Queues                                  []string
}

// TeamShapes returns what belongs to each team. Many teams form groups whose names follow
// the same pattern, in which TEAM stands for the name of the team, large groups first.
func (v view) TeamShapes() []*teamShape {
	var shapes []*teamShape
	known := map[string]*teamShape{}
	for _, t := range v.OwnTeams() {
		fold := func(name string) string { return name }
		if v.HasManyTeams() {
			fold = func(name string) string { return replaceName(name, t.Name, "TEAM") }
		}
		s := &teamShape{Namespace: fold(t.Namespace), Bucket: fold(t.Bucket), KubeAccount: fold(t.KubeAccount)}
		for _, q := range t.Queues {
			for _, name := range q.LocalQueueNames() {
				s.Queues = append(s.Queues, fold(name))
			}
		}
		if t.Account != nil {
			named := *t.Account
			named.ID = fold(named.ID)
			s.Account = named.Email(v.Project)
		}
		key := fmt.Sprintf("%q", *s)
		if known[key] == nil || !v.HasManyTeams() {
			known[key] = s
			shapes = append(shapes, s)
		}
		known[key].Teams = append(known[key].Teams, t.Name)
	}
	slices.SortStableFunc(shapes, func(a, b *teamShape) int { return len(b.Teams) - len(a.Teams) })
	return shapes
}

// replaceName replaces the name of a team in another name, of which it must be a part
// between dashes.
func replaceName(in, name, placeholder string) string {
	padded := strings.Replace("-"+in+"-", "-"+name+"-", "-"+placeholder+"-", 1)
	return padded[1 : len(padded)-1]
}

// WorkloadPrefix returns the beginning of the name that Kueue gives to the Workload of the
// first job in the blueprint, or of the example.
func (v view) WorkloadPrefix() string {
	kind, name := ir.Job, exampleName
	if len(v.Workloads) > 0 {
		kind, name = v.Workloads[0].Kind, v.Workloads[0].Name
	}
	return strings.ToLower(string(kind)) + "-" + name
}

// ExampleQueue returns the queue of the first job in the blueprint, or a queue of the team
// of the examples, "" if there is none.
func (v view) ExampleQueue() string {
	if len(v.Workloads) > 0 {
		return v.Workloads[0].Queue
	}
	for _, q := range v.HomeTeam().Queues {
		return q.LocalQueue
	}
	return ""
}

// HasStrictQueues reports whether a queue starts its jobs strictly in their order.
func (v view) HasStrictQueues() bool {
	return slices.ContainsFunc(v.Teams, func(t ir.Team) bool {
		return slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return q.Strategy == ir.StrictFIFO })
	})
}

// MustSelectNodes reports whether pods without accelerators must select their nodes.
func (v view) MustSelectNodes() bool { return ir.Choose(v.Scheduler, v.HasMixedTier(), false) }

// RefusesNegativePriorities reports whether a policy refuses JobSets of a tier because of
// its negative priority.
func (v view) RefusesNegativePriorities() bool {
	return v.HasDefect(ir.NegativePriority) &&
		slices.ContainsFunc(v.PriorityClasses, func(c ir.PriorityClass) bool { return c.Value < 0 })
}
