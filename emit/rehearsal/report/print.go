package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// hoursText returns an amount of accelerator seconds in hours.
func hoursText(seconds int64) string { return strconv.FormatFloat(float64(seconds)/3600, 'f', 1, 64) }

// percentText returns the share of a part, rounded down so that no limit seems to be
// reached before it is. It returns "-" if there is no whole.
func percentText(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	tenths := part * 1000 / whole
	return fmt.Sprintf("%d.%d%%", tenths/10, tenths%10)
}

// texts returns the times, or dashes without jobs.
func (t Times) texts() []string {
	if t.Jobs == 0 {
		return []string{"-", "-", "-"}
	}
	return []string{t.P50.String(), t.P95.String(), t.Max.String()}
}

// String returns the number, and the expected number if it differs.
func (c Count) String() string {
	if c.Want == nil || *c.Want == c.Got {
		return strconv.Itoa(c.Got)
	}
	return fmt.Sprintf("%d (expected %d)", c.Got, *c.Want)
}

// differs reports whether the number is not the expected one.
func (c Count) differs() bool { return c.Want != nil && *c.Want != c.Got }

// differenceText returns a difference in one sentence, without a full stop.
func differenceText(d rehearsal.Difference) string {
	if d.Missing {
		return fmt.Sprintf("phase %s: %s: unknown", d.Phase, d.What)
	}
	return fmt.Sprintf("phase %s: %s: %d, expected %d", d.Phase, d.What, d.Got, d.Want)
}

// headline returns what was rehearsed.
func (r *Report) headline() string {
	s := fmt.Sprintf("%s: %s with Kueue %s", r.Name, words.FormatSeconds(r.End), r.Kueue)
	if r.ReversedTies {
		s += ", ties reversed"
	}
	if r.Interrupted {
		s += ", interrupted before the end at " + words.FormatSeconds(r.Until)
	}
	return s
}

// remark is a line about what a rehearsal decides.
type remark struct{ label, text string }

// The labels of remarks.
const (
	labelUnmet     = "not met"
	labelUndecided = "undecided"
	labelMet       = "met"
)

// remarks returns the lines that matter: what is not met, then what is undecided, and one
// line for the rest.
func (r *Report) remarks() []remark {
	var unmet, open []remark
	fine, expected := 0, len(r.Verdicts)
	for _, v := range r.Verdicts {
		line := remark{v.label(), v.name() + ": " + v.Message}
		switch line.label {
		case labelMet:
			fine++
		case labelUndecided:
			open = append(open, line)
		default:
			unmet = append(unmet, line)
		}
	}
	for _, p := range r.Phases {
		expected++
		if len(p.Differences) == 0 {
			fine++
		}
		for _, d := range p.Differences {
			if d.Missing {
				open = append(open, remark{labelUndecided, differenceText(d)})
			} else {
				unmet = append(unmet, remark{labelUnmet, differenceText(d)})
			}
		}
	}
	out := append(unmet, open...)
	what := "expectation"
	if len(r.Phases) > 0 && len(r.Verdicts) == 0 {
		what = "phase"
	}
	switch {
	case expected == 0:
	case fine == expected && fine == 1:
		out = append(out, remark{labelMet, "the " + what + " is as expected"})
	case fine == expected:
		out = append(out, remark{labelMet, "everything is as expected: " + words.Count(fine, what)})
	case fine > 0:
		out = append(out, remark{labelMet, fmt.Sprintf("%d of %s", fine, words.Count(expected, what))})
	}
	return out
}

// section is a table of the report.
type section struct {
	title string
	texts int // columns of text, which come first
	head  []string
	rows  [][]string
	// reasons are longer texts, one for each row, "" for none; nil if no row has any.
	reasons []string
	notes   []string
}

// sections returns the tables that have rows, except those of the phases.
func (r *Report) sections() []section {
	return slices.DeleteFunc([]section{
		r.jobsSection(), r.timesSection(), r.capacitiesSection(), r.evictionsSection(), r.waitsSection(),
		r.withoutQuotaSection(),
	}, func(s section) bool { return len(s.rows) == 0 })
}

// groupRows returns a row for all jobs, for each tier, and for each team and tier.
func (r *Report) groupRows(cells func(Group) []string) [][]string {
	groups := r.Groups
	if len(r.Teams) > 1 && len(r.Tiers) > 1 {
		groups = slices.Concat(r.Tiers, groups)
	}
	if len(r.Groups) > 1 {
		groups = slices.Concat([]Group{r.Total}, groups)
	}
	var rows [][]string
	for _, g := range groups {
		rows = append(rows, append([]string{cmp.Or(g.Team, "all teams"), cmp.Or(g.Tier, "all")}, cells(g)...))
	}
	return rows
}

func (r *Report) jobsSection() section {
	s := section{
		title: "Jobs", texts: 2,
		head: []string{
			"team", "tier", "jobs", "started", "finished", "running", "waiting", "deleted", "evictions",
			"used h", "lost h",
		},
		notes: []string{"used: accelerator hours of running jobs; lost: the part that evictions threw away"},
	}
	s.rows = r.groupRows(func(g Group) []string {
		var out []string
		for _, n := range []int{
			g.Submitted, g.Started, g.Finished, g.Running, g.Waiting, g.Deleted, g.Evictions,
		} {
			out = append(out, strconv.Itoa(n))
		}
		return append(out, hoursText(g.Used), hoursText(g.Lost))
	})
	if r.Fairness != nil {
		s.notes = append(s.notes, fmt.Sprintf("Jain's index of the teams' use per guarantee: %.2f", *r.Fairness))
	}
	return s
}

func (r *Report) timesSection() section {
	s := section{
		title: "Times", texts: 2, head: []string{"team", "tier", "wait p50", "p95", "max"},
		notes: []string{
			"wait: from arrival to the start of all pods",
			">= marks a lower bound, because some jobs had not started or finished",
		},
	}
	completes := r.Total.Completion.Jobs > 0
	if completes {
		s.head = append(s.head, "completion p50", "p95", "max")
		s.notes[0] += "; completion: from arrival to finish"
	}
	s.rows = r.groupRows(func(g Group) []string {
		if completes {
			return append(g.Wait.texts(), g.Completion.texts()...)
		}
		return g.Wait.texts()
	})
	return s
}

func (r *Report) capacitiesSection() section {
	s := section{
		title: "Capacities", texts: 1,
		head: []string{"capacity", "nodes max", "mean", "accel. h", "used h", "idle h", "used"},
	}
	for _, c := range r.Capacities {
		s.rows = append(s.rows, []string{
			c.Name, strconv.Itoa(c.Nodes), strconv.FormatFloat(c.MeanNodes, 'f', 1, 64), hoursText(c.Available),
			hoursText(c.Used), hoursText(c.Idle), percentText(c.Used, c.Available),
		})
	}
	return s
}

// nameGroup returns the name of a team's tier.
func nameGroup(team, tier string) string {
	if team == "" {
		return "-"
	}
	return team + " " + tier
}

func (r *Report) evictionsSection() section {
	s := section{title: "Evictions", texts: 3, head: []string{"reason", "evicted", "for", "times"}}
	for _, e := range r.Evictions {
		s.rows = append(s.rows, []string{
			string(e.Reason), nameGroup(e.Team, e.Tier), nameGroup(e.ByTeam, e.ByTier), strconv.Itoa(e.Count),
		})
	}
	return s
}

func (r *Report) waitsSection() section {
	s := section{title: "Longest waits", texts: 3, head: []string{"job", "tier", "started", "wait", "for quota"}}
	for _, w := range r.Longest {
		started := "yes"
		if !w.Started {
			started = "no"
		}
		s.rows = append(s.rows, []string{w.Job, w.Tier, started, w.Wait.String(), words.FormatSeconds(w.Quota)})
		reasons := []string{w.Message, holdersText(w.Holders)}
		reasons = slices.DeleteFunc(reasons, func(text string) bool { return text == "" })
		s.reasons = append(s.reasons, strings.Join(reasons, "; "))
	}
	return s
}

// holdersText returns who held accelerators at the middle of a wait.
func holdersText(holders []Holder) string {
	var parts []string
	for _, h := range holders {
		parts = append(parts, fmt.Sprintf("%s %d", nameGroup(h.Team, h.Tier), h.Accelerators))
	}
	if len(parts) == 0 {
		return ""
	}
	return "accelerators held meanwhile: " + words.First(parts, mostHolders)
}

func (r *Report) withoutQuotaSection() section {
	s := section{title: "Jobs that never got quota", texts: 3, head: []string{"team", "tier", "workload", "jobs"}}
	for _, w := range r.WithoutQuota {
		s.rows = append(s.rows, []string{w.Team, w.Tier, w.Workload, strconv.Itoa(w.Jobs)})
		s.reasons = append(s.reasons, w.Message)
	}
	return s
}

// section returns the queues of a phase, a row for each team, and a column for each tier.
func (p Phase) section() section {
	s := section{title: "Phase " + p.Name, head: []string{"jobs pending/admitted"}}
	if !p.Reached {
		s.notes = []string{"the rehearsal did not reach this phase"}
		return s
	}
	s.title += " at " + words.FormatSeconds(p.At)
	teams := map[string]int{}
	tiers := map[string]int{}
	for _, q := range p.Queues {
		if _, ok := tiers[q.Tier]; !ok {
			tiers[q.Tier] = len(s.head)
			s.head = append(s.head, q.Tier)
		}
	}
	s.texts = len(s.head)
	for _, q := range p.Queues {
		row, ok := teams[q.Team]
		if !ok {
			row, teams[q.Team] = len(s.rows), len(s.rows)
			s.rows = append(s.rows, append([]string{cmp.Or(q.Team, "shared queues")}, make([]string, len(s.head)-1)...))
		}
		text := fmt.Sprintf("%d/%d", q.Pending.Got, q.Admitted.Got)
		if q.Pending.differs() || q.Admitted.differs() {
			text += fmt.Sprintf(" (expected %d/%d)", *q.Pending.Want, *q.Admitted.Want)
		}
		s.rows[row][tiers[q.Tier]] = text
	}
	s.notes = p.notes()
	return s
}

// notes returns the pods and the evicted jobs of a phase.
func (p Phase) notes() []string {
	var pods, evicted []string
	for _, c := range p.Pods {
		if c.Pods.Got > 0 || c.Pods.differs() {
			pods = append(pods, c.Capacity+" "+c.Pods.String())
		}
	}
	out := []string{"pods: " + strings.Join(append(pods, "without nodes "+p.Pending.String()), ", ")}
	for _, e := range p.Evicted {
		evicted = append(evicted, e.Workload+" of "+e.Team+" "+e.Jobs.String())
	}
	if len(evicted) > 0 {
		out = append(out, "evicted jobs: "+strings.Join(evicted, ", "))
	}
	return out
}
