package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// hostile is a name that would end its element, if the page did not escape it.
const hostile = `</script><script>alert(1)</script><!--`

// newPlatform returns a platform with the teams a and b, each with one queue, and two
// capacities. Only team a has quota of its own.
func newPlatform() *ir.Platform {
	quotas := []ir.FlavorQuota{
		{Flavor: "l4", Quotas: []ir.ResourceQuota{
			{Resource: ir.CPU, Nominal: resource.MustParse("100")},
			{Resource: ir.GPU, Nominal: resource.MustParse("3")},
		}},
		{Flavor: "later", Waiting: true, Quotas: []ir.ResourceQuota{
			{Resource: ir.GPU, Nominal: resource.MustParse("50")},
		}},
	}
	return &ir.Platform{
		Name: "platform", Capacities: []ir.Capacity{{Name: "l4", Machine: ir.Machine{Resource: ir.GPU}}, {Name: "cpu"}},
		Teams: []ir.Team{
			{Name: "a", Namespace: "ns-a", Queues: []ir.Queue{{Tier: "hp", ClusterQueue: "cq-a", Flavors: quotas}}},
			{Name: "b", Namespace: "ns-b", Queues: []ir.Queue{
				{Tier: "lp", Shared: true, ClusterQueue: "cq-b", Flavors: quotas},
			}},
		},
	}
}

// newRehearsal returns a rehearsal of newPlatform with three jobs: one of b runs from 0,
// one of a evicts it at 100 and finishes, and another of a never gets quota.
func newRehearsal() (*rehearsal.Scenario, *rehearsal.History) {
	main := []rehearsal.PodSetFlavor{{PodSet: "board", Flavor: "cpu", Pods: 3}, {PodSet: "main", Flavor: "l4", Pods: 2}}
	s := &rehearsal.Scenario{
		Name: "day", Until: 1000,
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: "0.19.2"},
		Templates: []rehearsal.Template{
			{Name: "train", Team: "a", Namespace: "ns-a", Tier: "hp", Accelerators: 4},
			{Name: "try", Team: "b", Namespace: "ns-b", Tier: "lp", Accelerators: 2},
		},
		Jobs:  []rehearsal.Job{{Name: "try-1", Template: 1}, {Name: "train-1", At: 90}, {Name: "train-2", At: 95}},
		Pools: []rehearsal.Pool{{Name: "l4", Max: 4, PerNode: map[string]string{ir.GPU: "1"}}, {Name: "cpu", Max: 1}},
	}
	h := &rehearsal.History{
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: "0.19.2"}, End: 900,
		Jobs: []rehearsal.JobHistory{
			{
				ClusterQueue: "cq-b", Outcome: rehearsal.Running,
				Runs: []rehearsal.Run{
					{
						Reserved: 0, Ended: 100, Flavors: main, Evicted: "Preempted", By: "ns-a/train-1",
						Message: "Preempted to accommodate a workload (UID: 1) due to reclamation within the cohort; x",
					},
					{Reserved: 400, Ran: true, Started: 410, Flavors: main},
				},
			},
			{
				ClusterQueue: "cq-a", Outcome: rehearsal.Finished, End: 400,
				Runs: []rehearsal.Run{{Reserved: 100, Ran: true, Started: 150, Ended: 400, Flavors: main}},
			},
			{ClusterQueue: "cq-a", Outcome: rehearsal.Waiting, Waits: "too large"},
		},
		Pools: []rehearsal.PoolUse{
			{Name: "l4", Nodes: []rehearsal.Count{{At: 0, N: 2}, {At: 500, N: 4}}}, {Name: "cpu"},
		},
	}
	return s, h
}

// digestOf returns the digest of a rehearsal of newPlatform.
func digestOf(s *rehearsal.Scenario, h *rehearsal.History) *digest {
	p := newPlatform()
	return newDigest(p, s, h, report.Of(p, s, h, nil))
}

func TestTables(t *testing.T) {
	s, h := newRehearsal()
	p := newPlatform()
	p.Rehearsals = []ir.Rehearsal{{Name: "day", Shows: "Jobs of a come first."}}
	r := report.Of(p, s, h, []ir.RehearsalExpectation{{Evictions: new(int)}})
	got := newDigest(p, s, h, r).tables()
	want := tables{
		Platform: "platform", Name: "day", Scheduler: "Kueue 0.19.2", Span: "16m40s", Unit: "accelerators",
		Counts: []figure{
			{"3", "jobs"}, {"1", "finished"}, {"1", "running at the end"}, {"1", "waiting at the end"},
			{"1", "eviction"},
		},
		Shows: "Jobs of a come first.", Result: "0 of 1 expectation is met",
		Expectations: []expectationRow{{
			Expectation: "jobs have at most 0 evictions", State: "not met",
			Seen: "3 jobs had 1 eviction, expected at most 0",
		}},
		Reports: report.Tables(r),
		Evictions: []evictionRow{
			{Reason: "Preempted", Cause: "reclamation within the cohort", Evicted: "b lp", By: "a hp", Count: 1},
		},
		JobsTitle: "3 jobs",
		Jobs: []jobRow{
			{
				Job: "try-1", Team: "b", Tier: "lp", Arrived: "0s", Waited: "6m50s", Ran: "l4", Outcome: "running",
				Evicted: "1m40s: Preempted by ns-a/train-1",
			},
			{
				Job: "train-1", Team: "a", Tier: "hp", Arrived: "1m30s", Waited: "1m", Ran: "l4", Ended: "6m40s",
				Outcome: "finished",
			},
			{Job: "train-2", Team: "a", Tier: "hp", Arrived: "1m35s", Waited: "over 15m5s", Outcome: "waiting"},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestReportNumbers checks that a page has the numbers of the report, although all jobs end
// before the rehearsal does.
func TestReportNumbers(t *testing.T) {
	p := newPlatform()
	s, h := newRehearsal()
	s.Jobs, h.Jobs = s.Jobs[1:2], h.Jobs[1:2]
	var out bytes.Buffer
	if err := Write(&out, p, s, h, report.Of(p, s, h, nil)); err != nil {
		t.Fatal(err)
	}
	// 500 seconds with 2 nodes and 500 with 4.
	row := `<th scope="row">l4</th><td class="text">accelerators</td><td>3.0</td><td>4</td>`
	if !strings.Contains(out.String(), row) {
		t.Errorf("the page has another mean:\n%s", out.String()[:3000])
	}
}

func TestCharts(t *testing.T) {
	s, h := newRehearsal()
	got := digestOf(s, h).charts()
	want := charts{
		End: 1000, Unit: "accelerators", Tiers: []string{"hp", "lp"}, Group: "queue", Waits: true,
		Capacity: []string{"l4", "cpu"},
		Texts: []string{"", "a", "finished", "b", "running", "Preempted", "ns-a/train-1",
			"reclamation within the cohort", "waiting", "too large"},
		Bands: []band{{"l4", "cq-a", 1}, {"l4", "cq-b", 1}, {"", "cq-a", 1}},
		Jobs: jobColumns{
			Name: []string{"train-1", "try-1", "train-2"}, Team: []int{1, 3, 1}, Tier: []int{0, 1, 0},
			At: []int64{90, 0, 95}, Amount: []float64{4, 2, 4}, Outcome: []int{2, 4, 8}, Waits: []int{0, 0, 9},
		},
		Runs: runColumns{
			Job: []int{0, 1, 1, 2}, Band: []int{0, 1, 1, 2}, Lane: []int{0, 0, 0, 0}, Waits: []int64{90, 0, 100, 95},
			From: []int64{100, 0, 400, 1000}, Started: []int64{150, -1, 410, -1}, To: []int64{400, 100, 1000, 1000},
			Evicted: []int{0, 5, 0, 0}, By: []int{0, 6, 0, 0}, Why: []int{0, 7, 0, 0},
		},
		Teams: []teamChart{
			{"a", 3, 4, series{
				Times: []int64{0, 100, 400, 1000}, Lines: [][]float64{{0, 4, 0, 0}, {0, 1, 0, 0}},
			}},
			{"b", -1, 2, series{
				Times: []int64{0, 100, 400, 1000}, Lines: [][]float64{{2, 0, 2, 2}, {0, 0, 0, 0}},
			}},
		},
		Waiting: series{
			Times: []int64{0, 90, 95, 100, 400, 1000}, Lines: [][]float64{{0, 1, 2, 1, 1, 1}, {0, 0, 0, 1, 0, 0}},
		},
		Nodes: series{Times: []int64{0, 500, 1000}, Lines: [][]float64{{2, 4, 4}, {0, 0, 0}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestSpan checks the last time of a page.
func TestSpan(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*rehearsal.History)
		want   int64
	}{
		{"jobs wait and run at the end", func(*rehearsal.History) {}, 1000},
		{"interrupted", func(h *rehearsal.History) { h.Interrupted = true }, 900},
		{"all jobs have ended", func(h *rehearsal.History) { h.Jobs = h.Jobs[1:2] }, 1000},
		{"interrupted at once", func(h *rehearsal.History) { h.Jobs, h.End, h.Interrupted = nil, 0, true }, 1},
	} {
		s, h := newRehearsal()
		test.change(h)
		if got := digestOf(s, h).end; got != test.want {
			t.Errorf("%s: the page ends at %d, want %d", test.name, got, test.want)
		}
	}
}

// TestJobsWithoutAccelerators checks that the charts then count jobs.
func TestJobsWithoutAccelerators(t *testing.T) {
	s, h := newRehearsal()
	for i := range s.Templates {
		s.Templates[i].Accelerators = 0
	}
	c := digestOf(s, h).charts()
	if c.Unit != "jobs" || c.Teams[0].Guarantee != -1 || c.Teams[0].Used.Lines[0][1] != 1 {
		t.Errorf("the charts have the unit %s and the team %+v", c.Unit, c.Teams[0])
	}
}

// TestIndependentPods checks that a team uses less when independent pods end.
func TestIndependentPods(t *testing.T) {
	s, h := newRehearsal()
	s.Templates[0].Pods = 2
	run := &h.Jobs[1].Runs[0] // from 100 to 400, 4 accelerators
	run.Flavors = []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "l4", Pods: 2}}
	run.Pods = &rehearsal.PodRuns{Finished: []rehearsal.Count{{At: 200, N: 1}, {At: 400, N: 2}}}
	used := digestOf(s, h).charts().Teams[0].Used
	got := map[int64]float64{}
	for i, at := range used.Times {
		got[at] = used.Lines[0][i]
	}
	for at, want := range map[int64]float64{0: 0, 100: 4, 200: 2, 400: 0} {
		if got[at] != want {
			t.Errorf("at %d: %v accelerators, want %v", at, got[at], want)
		}
	}
}

// TestVCPUCharts checks that the charts count vCPUs if no job has accelerators.
func TestVCPUCharts(t *testing.T) {
	s, h := newRehearsal()
	s.Templates[0].Accelerators, s.Templates[1].Accelerators = 0, 0
	s.Templates[0].MilliCPU, s.Templates[1].MilliCPU = 150500, 500
	c := digestOf(s, h).charts()
	// The quota of team a is 100 vCPUs.
	if a := c.Teams[0]; c.Unit != "vCPUs" || a.Guarantee != 100 || a.Peak != 150.5 ||
		a.Used.Lines[0][1] != 150.5 || a.Used.Lines[1][1] != 50.5 {
		t.Errorf("the charts have the unit %s and the team %+v", c.Unit, a)
	}
	if d := cmp.Diff([]float64{150.5, 0.5, 150.5}, c.Jobs.Amount); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestSeries(t *testing.T) {
	if testing.Short() {
		t.Skip("counts a series of many points")
	}
	const end = 3600 * maxPoints
	var regular []delta
	for at := int64(0); at < end; at += 2 {
		regular = append(regular, delta{at, 10}, delta{at + 1, -10})
	}
	slices.Reverse(regular)
	s := newSeries(end, [][]delta{regular, {{end - 1800, 4}, {end, -4}}})
	if len(s.Times) != maxPoints+1 || s.Mean != 3600 || s.Times[maxPoints] != end {
		t.Fatalf("%d points, each the mean of %d s, the last at %d", len(s.Times), s.Mean, s.Times[len(s.Times)-1])
	}
	for i, amount := range s.Lines[0] {
		if amount != 5 {
			t.Fatalf("amount %d is %f, want 5", i, amount)
		}
	}
	if d := cmp.Diff([]float64{0, 2, 2}, s.Lines[1][maxPoints-2:]); d != "" {
		t.Errorf("the last amounts: -want +got:\n%s", d)
	}
}

func TestPeakAndSum(t *testing.T) {
	line := []delta{{0, 3}, {10, -3}, {10, 2}, {20, 2}, {30, -4}}
	if peak, sum := peakOf(line), secondsOf(line, 25); peak != 4 || sum != 30+20+20 {
		t.Errorf("the peak is %d and the sum %d", peak, sum)
	}
}

func TestAbove(t *testing.T) {
	line := []delta{{30, -9}, {0, 3}, {10, -3}, {10, 7}, {20, 2}}
	if d := cmp.Diff([]delta{{10, 3}, {20, 2}, {30, -5}}, above(line, 4), cmp.AllowUnexported(delta{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// crowd returns a rehearsal in which each of many jobs has a run, and one queue for each of
// some jobs.
func crowd(jobs, queues int) (*rehearsal.Scenario, *rehearsal.History) {
	s, h := newRehearsal()
	s.Jobs, h.Jobs = nil, nil
	for i := range jobs {
		at := int64(i) % 900
		s.Jobs = append(s.Jobs, rehearsal.Job{Name: fmt.Sprintf("j-%d", i), Template: i % 2, At: at})
		h.Jobs = append(h.Jobs, rehearsal.JobHistory{
			ClusterQueue: fmt.Sprintf("cq-%d", i%queues), Outcome: rehearsal.Finished, End: at + 50,
			Runs: []rehearsal.Run{{
				Reserved: at, Ran: true, Started: at, Ended: at + 50,
				Flavors: []rehearsal.PodSetFlavor{{Flavor: "l4", Pods: 1}},
			}},
		})
	}
	return s, h
}

// TestBounds checks what a page leaves out of large rehearsals, and that it says so.
func TestBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("prints a page of many jobs")
	}
	for _, test := range []struct {
		jobs, queues, runs, bands int
		label, note               string
	}{
		{maxWaits / 2, 2, maxWaits / 2, 2, "cq-0", ""},
		{maxWaits, maxBands, maxWaits, maxBands, "cq-0", ""},
		{maxWaits, maxBands + 1, maxWaits, 2, "tier hp", ""},
		{maxRuns + 1, 2, maxRuns, 2, "cq-0", "The timeline omits the shortest runs, 1 of 80001; the other charts " +
			"and the tables count them."},
	} {
		s, h := crowd(test.jobs, test.queues)
		d := digestOf(s, h)
		c := d.charts()
		if len(c.Runs.Job) != test.runs || len(c.Bands) != test.bands || c.Bands[0].Label != test.label {
			t.Errorf("%d jobs: %d runs in bands %+v", test.jobs, len(c.Runs.Job), c.Bands)
		}
		if got := strings.Join(d.notes(), " "); got != test.note {
			t.Errorf("%d jobs: the notes are %q", test.jobs, got)
		}
		type place struct{ band, lane int }
		ends := map[place]int64{}
		for i := range c.Runs.Job {
			p := place{c.Runs.Band[i], c.Runs.Lane[i]}
			if c.Runs.From[i] < ends[p] || p.lane >= c.Bands[p.band].Lanes {
				t.Fatalf("%d jobs: run %d overlaps another one in %+v", test.jobs, i, p)
			}
			ends[p] = c.Runs.To[i]
		}
	}
}

var (
	policy  = regexp.MustCompile(`script-src '(sha256-\S+)'; style-src '(sha256-\S+)'"`)
	scripts = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	styles  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	embeds  = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
)

// TestWrite checks that a page runs its own script alone, whatever names a platform has.
func TestWrite(t *testing.T) {
	p := newPlatform()
	p.Name, p.Teams[0].Name, p.Capacities[0].Name = hostile, hostile, hostile
	s, h := newRehearsal()
	s.Name, s.Templates[0].Team, s.Jobs[0].Name = hostile, hostile, hostile
	h.Jobs[0].ClusterQueue, h.Jobs[2].Waits, h.Pools[0].Name = hostile, hostile, hostile
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := Write(out, p, s, h, report.Of(p, s, h, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two pages of one rehearsal differ")
	}
	text := first.String()
	if strings.Contains(text, "alert(1)</script>") {
		t.Error("a name became HTML")
	}
	hashes := policy.FindStringSubmatch(html.UnescapeString(text))
	script, style := scripts.FindAllStringSubmatch(text, -1), styles.FindStringSubmatch(text)
	if hashes == nil || len(script) != 1 || style == nil {
		t.Fatalf("the page has the hashes %q and %d scripts", hashes, len(script))
	}
	for i, element := range []string{script[0][1], style[1]} {
		sum := sha256.Sum256([]byte(element))
		if got := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); got != hashes[i+1] {
			t.Errorf("the hash of element %d is %s, want %s", i, hashes[i+1], got)
		}
	}
	for _, part := range []string{"uPlot (v1.6.32)", "Copyright (c) 2022 Leon Sorokin", "default-src 'none'"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	var data charts
	if err := json.Unmarshal([]byte(embeds.FindStringSubmatch(text)[1]), &data); err != nil || data.End != 1000 {
		t.Errorf("the data of the page: %v", err)
	}
}

// brokenWriter is a writer that fails.
type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteError(t *testing.T) {
	s, h := newRehearsal()
	p := newPlatform()
	if err := Write(brokenWriter{}, p, s, h, report.Of(p, s, h, nil)); !errors.Is(err, errBroken) {
		t.Errorf("the error is %v", err)
	}
}
