package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// newDemonstration returns the report of a demonstration. The first of its phases has one
// job too many in a queue, and the rehearsal does not reach the last.
func newDemonstration() *report.Report {
	p, s, h := newPlatform(), newScenario(), newHistory()
	none := 0
	p.Demonstration = []ir.Phase{
		{
			Name: "fill", Queues: []ir.QueueCount{{Tier: "lp", Admitted: 1}, {Tier: "hp"}},
			Evicted: []ir.JobCount{{Template: "train", Count: 1}},
			Pods:    []ir.CapacityCount{{Capacity: "gpu", Count: 3}},
			Pending: &none,
		},
		{Name: "rest", Shows: "that nodes are idle"},
		{Name: "end"},
	}
	s.Looks = []int64{299, 699, 999}
	h.States = []rehearsal.State{
		{At: 299, Queues: []rehearsal.QueueState{
			{ClusterQueue: "cq-a-hp", Admitted: 1}, {ClusterQueue: "cq-a-lp", Pending: 1},
			{ClusterQueue: "cq-b-lp", Admitted: 1},
		}, Pods: map[string]int{"gpu": 1}, Pending: 2},
		{
			At: 699, Queues: []rehearsal.QueueState{{ClusterQueue: "cq-b-lp", Pending: 1}},
			Pods: map[string]int{"gpu": 1},
		},
	}
	return report.Of(p, s, h, nil)
}

func TestPhases(t *testing.T) {
	count := func(got, want int) report.Count { return report.Count{Got: got, Want: &want} }
	pods := func(gpu report.Count) []report.PhasePods {
		return []report.PhasePods{{Capacity: "cpu"}, {Capacity: "gpu", Pods: gpu}}
	}
	want := []report.Phase{
		{
			Name: "fill", Reached: true, At: 299, Pods: pods(count(1, 3)), Pending: count(2, 0),
			Queues: []report.PhaseQueue{
				{ClusterQueue: "cq-a-hp", Team: "a", Tier: "hp", Pending: count(0, 0), Admitted: count(1, 0)},
				{ClusterQueue: "cq-a-lp", Team: "a", Tier: "lp", Pending: count(1, 0), Admitted: count(0, 1)},
				{ClusterQueue: "cq-b-lp", Team: "b", Tier: "lp", Pending: count(0, 0), Admitted: count(1, 1)},
			},
			Evicted: []report.PhaseEvicted{
				{Workload: "train", Team: "a", Jobs: count(1, 1)}, {Workload: "train", Team: "b", Jobs: count(0, 1)},
			},
			Differences: []rehearsal.Difference{
				{Phase: "fill", What: "queue cq-a-lp: pending", Got: 1},
				{Phase: "fill", What: "queue cq-a-lp: admitted", Want: 1},
				{Phase: "fill", What: "queue cq-a-hp: admitted", Got: 1},
				{Phase: "fill", What: "jobs of train that b has lost", Want: 1},
				{Phase: "fill", What: "capacity gpu: running pods", Want: 3, Got: 1},
				{Phase: "fill", What: "pods that wait for nodes", Got: 2},
			},
		},
		{
			Name: "rest", Shows: "that nodes are idle", Reached: true, At: 699, Pods: pods(report.Count{Got: 1}),
			Queues: []report.PhaseQueue{
				{ClusterQueue: "cq-b-lp", Team: "b", Tier: "lp", Pending: report.Count{Got: 1}},
			},
			Evicted:     []report.PhaseEvicted{{Workload: "train", Team: "a", Jobs: report.Count{Got: 1}}},
			Differences: []rehearsal.Difference{},
		},
		{
			Name: "end", Queues: []report.PhaseQueue{}, Evicted: []report.PhaseEvicted{}, Pods: []report.PhasePods{},
			Differences: []rehearsal.Difference{{Phase: "end", What: "state after the phase", Missing: true}},
		},
	}
	if d := cmp.Diff(want, newDemonstration().Phases); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// printed returns what print writes.
func printed(t *testing.T, print func(io.Writer) error) string {
	t.Helper()
	var buf bytes.Buffer
	if err := print(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestPrint compares the whole output for a terminal and for a pull request.
func TestPrint(t *testing.T) {
	r := newDemonstration()
	for file, got := range map[string]string{
		"demonstration.txt": printed(t, func(w io.Writer) error { return report.Text(w, r, false) }),
		"demonstration.md":  printed(t, func(w io.Writer) error { return report.Markdown(w, r) }),
	} {
		want, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: -want +got:\n%s", file, d)
		}
	}
}

// TestRemarks checks the lines on top of a report.
func TestRemarks(t *testing.T) {
	slow := ir.RehearsalExpectation{Index: 2, Tier: "hp", StartsWithin: 30, Percentile: 50}
	quick, none := slow, slow
	quick.StartsWithin, none.Tier = 300, "other"
	for _, test := range []struct {
		expect []ir.RehearsalExpectation
		change func(*rehearsal.Scenario, *rehearsal.History)
		want   string
	}{
		{want: "two-teams: 16m40s with Kueue 0.19.2\n"},
		{
			change: func(s *rehearsal.Scenario, h *rehearsal.History) {
				s.ReversedTies, h.Interrupted, h.End = true, true, 60
			},
			want: "two-teams: 1m with Kueue 0.19.2, ties reversed, interrupted before the end at 16m40s\n",
		},
		{
			expect: []ir.RehearsalExpectation{quick},
			want:   "two-teams: 16m40s with Kueue 0.19.2\nmet: the expectation is as expected\n",
		},
		{
			expect: []ir.RehearsalExpectation{quick, quick},
			want:   "two-teams: 16m40s with Kueue 0.19.2\nmet: everything is as expected: 2 expectations\n",
		},
		{
			expect: []ir.RehearsalExpectation{none, quick, slow},
			want: "two-teams: 16m40s with Kueue 0.19.2\n" +
				"not met: expect[2]: 50% of 2 jobs started within 1m, expected 30s; " +
				"the slowest has waited for at least 6m40s\n" +
				"undecided: expect[2]: 0 jobs match the expectation\nmet: 1 of 3 expectations\n",
		},
	} {
		s, h := newScenario(), newHistory()
		if test.change != nil {
			test.change(s, h)
		}
		r := report.Of(newPlatform(), s, h, test.expect)
		text := printed(t, func(w io.Writer) error { return report.Text(w, r, false) })
		if got, _, _ := strings.Cut(text, "\nJobs\n"); got != test.want {
			t.Errorf("got\n%swant\n%s", got, test.want)
		}
	}
}

// TestManyRows checks that long tables are cut in lines for people, and not in JSON, and
// that text of the blueprint cannot become markup.
func TestManyRows(t *testing.T) {
	p, s, h := newPlatform(), newScenario(), newHistory()
	for i := range 60 {
		team := fmt.Sprintf("<b>\x1b%02d", i)
		queue := newQueue("cq-"+team, "lp", "low", 1)
		p.Teams = append(p.Teams, ir.Team{Name: team, Namespace: "ns", Queues: []ir.Queue{queue}})
		s.Templates = append(s.Templates, rehearsal.Template{Name: "train", Team: team, Tier: "lp"})
		s.Jobs = append(s.Jobs, rehearsal.Job{Name: "train-1", Template: len(s.Templates) - 1, At: 990})
		h.Jobs = append(h.Jobs, rehearsal.JobHistory{Outcome: rehearsal.Waiting})
	}
	r := report.Of(p, s, h, nil)
	text := printed(t, func(w io.Writer) error { return report.Text(w, r, true) })
	if strings.Count(text, "  and 26 more rows\n") != 2 || strings.Contains(text, "b>\x1b") {
		t.Errorf("text:\n%q", text)
	}
	comment := printed(t, func(w io.Writer) error { return report.Markdown(w, r) })
	if strings.Count(comment, "\nand 26 more rows\n") != 2 || strings.Contains(comment, "<b>\x1b") {
		t.Errorf("Markdown:\n%q", comment)
	}
	var got struct {
		Version int
		Type    string
		Groups  []report.Group
	}
	line := printed(t, func(w io.Writer) error { return report.JSON(w, r) })
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != 1 || got.Type != "rehearsal" || len(got.Groups) != 63 || strings.Contains(line, "\x1b") {
		t.Errorf("JSON: version %d, type %s, %d groups", got.Version, got.Type, len(got.Groups))
	}
}

// TestNoNull checks that the JSON form of a report without jobs has lists.
func TestNoNull(t *testing.T) {
	r := report.Of(&ir.Platform{}, &rehearsal.Scenario{}, &rehearsal.History{}, nil)
	line := printed(t, func(w io.Writer) error { return report.JSON(w, r) })
	if strings.Count(line, "null") != 1 || !strings.Contains(line, `"fairness":null`) {
		t.Error(line)
	}
}

// failingWriter fails.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

func TestWriteErrors(t *testing.T) {
	r := newDemonstration()
	for name, err := range map[string]error{
		"Text": report.Text(failingWriter{}, r, false), "Markdown": report.Markdown(failingWriter{}, r),
		"JSON": report.JSON(failingWriter{}, r),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
