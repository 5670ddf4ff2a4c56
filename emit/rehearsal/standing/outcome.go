package standing

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// Standing is how a job stands when the change comes.
type Standing string

// The standings.
const (
	Guaranteed Standing = "guaranteed" // it runs on its queue's quota
	Borrowing  Standing = "borrowing"  // it runs, and its queue has more than its quota
	Waiting    Standing = "waiting"
	New        Standing = "new" // it is submitted after the change
)

// Kind is what becomes of a job.
type Kind string

// The kinds.
const (
	Runs         Kind = "runs"         // it keeps running, or starts
	Restarts     Kind = "restarts"     // it stops, and starts again
	Stops        Kind = "stops"        // it stops, and waits
	Waits        Kind = "waits"        // it waits, and can start when other jobs end
	NeverRuns    Kind = "neverRuns"    // it waits, also when nothing runs any more
	StopsForever Kind = "stopsForever" // it stops, and does not start again when nothing runs any more
	Deleted      Kind = "deleted"      // with its namespace
)

// Fate is what becomes of a job from the change on.
type Fate struct {
	Kind     Kind
	Capacity string // on which it runs, "" if it does not
	// Evicted is why it stops, "" if it does not, and For the team whose job preempts it.
	Evicted rehearsal.EvictionReason
	For     string
	// How says by which rule it is preempted, as Kueue's message does.
	How string
	// Why is the reason for which it waits, "" if it runs.
	Why string
}

// Outcome is what a change does to some jobs of a team and tier that stand alike. Only jobs
// that fare otherwise without the change have an outcome.
type Outcome struct {
	Scene      string
	Team, Tier string
	Standing   Standing
	Jobs       int  // that fare so
	Of         int  // jobs of the team and the tier with this standing
	Fate       Fate // with the change
	Without    Fate // without the change; zero for a job whose queue only the change brings
}

// Outcomes compares the histories of both scenarios of a scene. The outcomes are in the order
// in which the scene submits the jobs, and unaffected is the number of all other jobs.
func (s *Scene) Outcomes(control, changed *rehearsal.History) (outcomes []Outcome, unaffected int) {
	without := map[string]Fate{}
	standings := s.standings(control)
	for i, j := range s.Control.Jobs {
		without[j.Name] = s.fateOf(control.Jobs[i])
	}
	type group struct {
		team, tier string
		standing   Standing
	}
	total := map[group]int{}
	var out []Outcome
	for i, j := range s.Changed.Jobs {
		details := s.jobs[j.Name]
		standing := standings[j.Name]
		if standing == "" && !details.isNew {
			continue // it has ended before
		}
		if details.isNew {
			standing = New
		}
		of := group{details.team, details.tier, standing}
		total[of]++
		fate := s.fateOf(changed.Jobs[i])
		if !fares(fate, without[j.Name]) {
			unaffected++
			continue
		}
		o := Outcome{
			Scene: s.Name, Team: details.team, Tier: details.tier, Standing: standing, Jobs: 1,
			Fate: fate, Without: without[j.Name],
		}
		o.Without.For, o.Without.How, o.Without.Why = "", "", ""
		same := slices.IndexFunc(out, func(other Outcome) bool {
			other.Jobs = 1
			return other == o
		})
		if same >= 0 {
			out[same].Jobs++
		} else {
			out = append(out, o)
		}
	}
	for i, o := range out {
		out[i].Of = total[group{o.Team, o.Tier, o.Standing}]
	}
	return out, unaffected
}

// fares reports whether a job fares otherwise in the one play than in the other. Why it waits,
// and for whom it stops, is not compared.
func fares(a, b Fate) bool {
	return a.Kind != b.Kind || a.Capacity != b.Capacity || a.Evicted != b.Evicted
}

// Fates returns what becomes of each job of Changed.
func (s *Scene) Fates(changed *rehearsal.History) []Fate {
	var out []Fate
	for _, j := range changed.Jobs {
		out = append(out, s.fateOf(j))
	}
	return out
}

// standings returns how the jobs stand when the change comes, by name. Jobs that have ended,
// or that come later, have none.
func (s *Scene) standings(h *rehearsal.History) map[string]Standing {
	type place struct{ queue, capacity string }
	nominal := map[place]int64{}
	for q := range s.before.ClusterQueues() {
		one := queue{plan: s.before, quota: q}
		for _, has := range one.shares() {
			nominal[place{q.ClusterQueue, has.capacity.Name}] = has.nominal
		}
	}
	type running struct {
		name  string
		since int64
		place place
	}
	var runs []running
	out := map[string]Standing{}
	for i, j := range h.Jobs {
		name := s.Control.Jobs[i].Name
		if s.jobs[name].isNew || j.End > 0 && j.End < s.change {
			continue
		}
		out[name] = Waiting
		if run := runAt(j, s.change); run != nil {
			runs = append(runs, running{name, run.Reserved, place{j.ClusterQueue, capacityOf(run)}})
		}
	}
	slices.SortStableFunc(runs, func(a, b running) int { return cmp.Compare(a.since, b.since) })
	used := map[place]int64{}
	for _, r := range runs {
		used[r.place] += s.jobs[r.name].units
		out[r.name] = Guaranteed
		if used[r.place] > nominal[r.place] {
			out[r.name] = Borrowing
		}
	}
	return out
}

// runAt returns the run of a job that lasts at a time, nil if there is none.
func runAt(j rehearsal.JobHistory, at int64) *rehearsal.Run {
	i := slices.IndexFunc(j.Runs, func(r rehearsal.Run) bool {
		return r.Reserved < at && (r.Ended == 0 || r.Ended >= at)
	})
	if i < 0 {
		return nil
	}
	return &j.Runs[i]
}

func capacityOf(r *rehearsal.Run) string {
	if len(r.Flavors) == 0 {
		return ""
	}
	return r.Flavors[0].Flavor
}

// fateOf returns what becomes of a job.
func (s *Scene) fateOf(j rehearsal.JobHistory) Fate {
	var f Fate
	stopped := runAt(j, s.change)
	if stopped != nil && stopped.Evicted != "" && stopped.Ended <= s.look {
		f.Evicted = stopped.Evicted
		_, f.How, _ = strings.Cut(stopped.Message, "due to ")
		f.How, _, _ = strings.Cut(f.How, ";")
		f.For = s.teamOf(stopped.By)
	}
	run := runAt(j, s.look)
	last := len(j.Runs) - 1
	if run == nil && last >= 0 && j.Runs[last].Evicted == "" && j.Runs[last].Reserved < s.look {
		run = &j.Runs[last] // it has ended
	}
	switch {
	case run != nil:
		f.Kind, f.Capacity = Runs, capacityOf(run)
		if f.Evicted != "" {
			f.Kind = Restarts
		}
		return f
	case j.Outcome == rehearsal.Deleted:
		f.Kind = Deleted
		return f
	case last >= 0 && j.Runs[last].Reserved >= s.look:
		f.Kind = Waits
		if f.Evicted != "" {
			f.Kind = Stops
		}
	default:
		f.Kind = NeverRuns
		if f.Evicted != "" {
			f.Kind = StopsForever
		}
	}
	f.Why = whyItWaits(j.Waits)
	return f
}

// teamOf returns the team of a job that is written as namespace/name, "" for none.
func (s *Scene) teamOf(job string) string {
	_, name, _ := strings.Cut(job, "/")
	return s.jobs[name].team
}

// The parts of Kueue's message about a pod set that it cannot assign a flavor to. Source:
// Kueue 0.19.2, pkg/scheduler/flavorassigner.
var (
	unused   = regexp.MustCompile(`insufficient unused quota for \S+ in flavor (\S+),`)
	atMost   = regexp.MustCompile(`insufficient quota for \S+ in flavor (\S+),`)
	selected = regexp.MustCompile(`flavor (\S+) doesn't match node affinity`)
)

// whyItWaits says in short why a job waits. message is Kueue's.
func whyItWaits(message string) string {
	capacities := func(part *regexp.Regexp) string {
		var names []string
		for _, found := range part.FindAllStringSubmatch(message, -1) {
			if !slices.Contains(names, found[1]) {
				names = append(names, found[1])
			}
		}
		return words.Or(names)
	}
	switch {
	case unused.MatchString(message):
		return "too little quota of " + capacities(unused) + " is unused"
	case atMost.MatchString(message):
		return "the queue cannot have so much of " + capacities(atMost)
	case selected.MatchString(message):
		return "nodes of " + capacities(selected) + " do not have the labels that the pods select"
	case message == "", strings.HasPrefix(message, "Bypassed scheduling"):
		return "jobs before it in the queue wait"
	}
	return report.Reason(message, "")
}
