package standing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Reasons of evictions. Source: Kueue v1beta2 API, WorkloadEvictedByPreemption and
// WorkloadEvictedByClusterQueueStopped.
const (
	preempted    rehearsal.EvictionReason = "Preempted"
	queueStopped rehearsal.EvictionReason = "ClusterQueueStopped"
)

// mostTeams is the largest number of teams that a line lists.
const mostTeams = 4

// Lines describes what a change does to jobs, in the order of the outcomes. Teams whose jobs
// fare alike share a line, and a line that several scenes have is there once.
func Lines(outcomes []Outcome) []string {
	type line struct{ jobs, tier, verb string }
	var order []line
	teams := map[line][]string{}
	for _, o := range outcomes {
		l := line{o.count(), o.Tier, o.predicate()}
		if teams[l] == nil {
			order = append(order, l)
		}
		if !slices.Contains(teams[l], o.Team) {
			teams[l] = append(teams[l], o.Team)
		}
	}
	var out []string
	for _, l := range order {
		out = append(out, fmt.Sprintf("%s of %s in tier %s %s", l.jobs, teamNames(teams[l]), l.tier, l.verb))
	}
	return out
}

func teamNames(teams []string) string {
	slices.Sort(teams)
	if len(teams) > mostTeams {
		return words.First(teams, mostTeams)
	}
	return words.And(teams)
}

// count counts the jobs that fare so, such as "2 of 4 borrowing jobs".
func (o Outcome) count() string {
	of := words.Plural(o.Of, string(o.Standing)+" job", string(o.Standing)+" jobs")
	if o.Jobs == o.Of {
		return of
	}
	return fmt.Sprintf("%d of %s", o.Jobs, of)
}

// predicate describes what becomes of the jobs, and of one job if there is only one.
func (o Outcome) predicate() string {
	verb := func(one, many string) string {
		if o.Jobs == 1 {
			return one
		}
		return many
	}
	it := verb("it", "they")
	on := " on " + o.Fate.Capacity
	why := ": " + o.Fate.Why
	switch o.Fate.Kind {
	case Restarts:
		return verb("stops", "stop") + o.cause() + "; " + it + verb(" starts", " start") + " again" + on
	case Stops:
		return verb("stops", "stop") + o.cause() + "; " + it + verb(" waits", " wait") + " again"
	case StopsForever:
		stops := verb("stops", "stop") + ", and " + verb("does", "do") + " not start again" + o.cause()
		if o.Fate.Evicted != queueStopped {
			stops += "; " + o.Fate.Why
		}
		return stops
	case Deleted:
		return verb("is", "are") + " deleted with the namespace"
	case NeverRuns:
		return verb("never starts", "never start") + why
	case Waits:
		if o.Without.Kind == Runs {
			return verb("waits", "wait") + " longer" + why
		}
		return verb("waits", "wait") + ", and can start when other jobs end" + why
	}
	switch without := o.Without; {
	case without.Evicted != "":
		return verb("keeps running", "keep running") + on
	case without.Kind == Runs:
		return verb("starts", "start") + on + " instead of " + without.Capacity
	}
	return verb("starts", "start") + on
}

// cause says why a job stops. Source of Kueue's words: Kueue 0.19.2,
// HumanReadablePreemptionReasons in pkg/scheduler/preemption.
func (o Outcome) cause() string {
	verb := func(one, many string) string {
		if o.Jobs == 1 {
			return one
		}
		return many
	}
	preempts := ": Kueue preempts " + verb("it", "them") + " for " + o.Fate.For
	switch {
	case o.Fate.Evicted == queueStopped:
		return ": the platform no longer has the queue"
	case o.Fate.Evicted != preempted:
		return ": Kueue evicts " + verb("it", "them") + " (" + string(o.Fate.Evicted) + ")"
	case o.Fate.How == "reclamation within the cohort":
		return preempts + ", which takes its quota back"
	case strings.HasPrefix(o.Fate.How, "reclamation within the cohort while borrowing"):
		return preempts + ", which borrows for a job of a higher priority"
	case o.Fate.How == "prioritization in the ClusterQueue":
		return preempts + ", whose job comes first in the queue"
	}
	return preempts
}
