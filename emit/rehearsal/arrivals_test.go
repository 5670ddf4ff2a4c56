package rehearsal_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// The platform of these tests, with two of its teams and one of its workloads.
const (
	arrivalTemplate       = "high-priority"
	firstTeam, secondTeam = "team-a", "team-b"
)

// scenarioOf returns the scenario of a rehearsal of the batch platform.
func scenarioOf(t *testing.T, p *ir.Platform, tree emit.Tree, r ir.Rehearsal) *rehearsal.Scenario {
	t.Helper()
	s, err := rehearsal.OfRehearsal(p, tree, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomWeek returns a rehearsal with two arrivals of random jobs.
func randomWeek(seed int) ir.Rehearsal {
	return ir.Rehearsal{
		Name: "week", Until: 60 * 24 * 3600, Seed: seed,
		Arrivals: []ir.Arrival{
			{
				Template: arrivalTemplate, Teams: []string{firstTeam, secondTeam}, Every: 600, Random: true,
				Count: 2000, Runs: ir.RunTime{Median: 1000, P95: 5000},
			},
			{
				Index: 1, Template: arrivalTemplate, Teams: []string{firstTeam}, At: 3600, Every: 60, Count: 2000,
				Runs: ir.RunTime{From: 100, To: 300}, Checkpoint: 50,
			},
		},
	}
}

// jobsOf returns the times and lengths of the jobs of a team that have a checkpoint or
// have none, in their order. In randomWeek, only the second arrival has checkpoints.
func jobsOf(s *rehearsal.Scenario, team string, checkpoint bool) [][2]int64 {
	var out [][2]int64
	for _, j := range s.Jobs {
		if s.Templates[j.Template].Team == team && (j.Checkpoint > 0) == checkpoint {
			out = append(out, [2]int64{j.At, j.Runs})
		}
	}
	return out
}

// TestRehearsal checks the jobs, the limits and the end of a rehearsal without chance.
func TestRehearsal(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	capacity := p.Capacities[0]
	s := scenarioOf(t, p, tree, ir.Rehearsal{
		Name: "day", Until: 7200,
		Arrivals: []ir.Arrival{
			{
				Template: arrivalTemplate, Teams: []string{firstTeam, secondTeam}, At: 60, Every: 3600, Count: 3,
				Runs: ir.RunTime{Fixed: 900}, Checkpoint: 300,
			},
			{Index: 1, Template: arrivalTemplate, Teams: []string{firstTeam}, Count: 2, Runs: ir.RunTime{Fixed: 5}},
		},
		Limits: []ir.NodeLimit{
			{Capacity: capacity.Name, From: 10, To: 20, Available: 1, Preempts: true},
			{Capacity: capacity.Name, From: 20, Available: 100000},
		},
	})
	type job struct {
		Team, Name           string
		At, Runs, Checkpoint int64
	}
	var got []job
	for _, j := range s.Jobs {
		template := s.Templates[j.Template]
		if template.Name != arrivalTemplate {
			t.Errorf("%s is a job of %s", j.Name, template.Name)
		}
		got = append(got, job{template.Team, strings.TrimPrefix(j.Name, arrivalTemplate), j.At, j.Runs, j.Checkpoint})
	}
	if d := cmp.Diff([]job{
		{firstTeam, "-3", 0, 5, 0}, {firstTeam, "-4", 0, 5, 0},
		{firstTeam, "-1", 60, 900, 300}, {secondTeam, "-1", 60, 900, 300},
		{firstTeam, "-2", 3660, 900, 300}, {secondTeam, "-2", 3660, 900, 300},
	}, got); d != "" {
		t.Errorf("the jobs: -want +got:\n%s", d)
	}
	if s.Until != 7200 || len(s.Looks) > 0 {
		t.Errorf("the scenario ends at %d and has %d looks", s.Until, len(s.Looks))
	}
	for _, pool := range s.Pools {
		want := []rehearsal.Availability(nil)
		if pool.Name == capacity.Name {
			want = []rehearsal.Availability{{From: 10, To: 20, Max: 1}, {From: 20, Max: pool.Max, Keeps: true}}
		}
		if d := cmp.Diff(want, pool.Available); d != "" {
			t.Errorf("limits of %s: -want +got:\n%s", pool.Name, d)
		}
	}
}

// TestJobNames checks that no two jobs of a namespace have the same name.
func TestJobNames(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	s := scenarioOf(t, p, tree, randomWeek(1))
	used := map[[2]string]bool{}
	for _, j := range s.Jobs {
		used[[2]string{s.Templates[j.Template].Team, j.Name}] = true
	}
	if len(used) != len(s.Jobs) {
		t.Errorf("%d jobs have %d names", len(s.Jobs), len(used))
	}
	if !slices.IsSortedFunc(s.Jobs, func(a, b rehearsal.Job) int { return int(a.At - b.At) }) {
		t.Error("the jobs are not in the order of time")
	}
}

// TestDistributions compares the means of random times and lengths with those of the
// distributions. A mean of 2000 draws is off by more than a tenth once in many thousand
// seeds, and the seed is fixed.
func TestDistributions(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	s := scenarioOf(t, p, tree, randomWeek(1))
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > want/10 {
			t.Errorf("%s is %.1f, want about %.1f", what, got, want)
		}
	}
	for _, team := range []string{firstTeam, secondTeam} {
		jobs := jobsOf(s, team, false)
		if len(jobs) != 2000 {
			t.Fatalf("%s has %d jobs", team, len(jobs))
		}
		near("the mean interval of "+team, float64(jobs[len(jobs)-1][0])/2000, 600)
		var lengths []int64
		for i, j := range jobs {
			lengths = append(lengths, j[1])
			if j[1] < 1 || i > 0 && j[0] <= jobs[i-1][0] {
				t.Fatalf("job %d of %s: %v", i, team, j)
			}
		}
		slices.Sort(lengths)
		near("the median of "+team, float64(lengths[1000]), 1000)
		near("p95 of "+team, float64(lengths[1900]), 5000)
	}
	sum, least, most := int64(0), int64(math.MaxInt64), int64(0)
	jobs := jobsOf(s, firstTeam, true)
	for _, j := range jobs {
		sum, least, most = sum+j[1], min(least, j[1]), max(most, j[1])
	}
	near("the mean length", float64(sum)/float64(len(jobs)), 200)
	if least != 100 || most != 300 {
		t.Errorf("the lengths are from %d to %d, want all from 100 to 300", least, most)
	}
}

// TestSeeds checks that random numbers follow from the seed, the arrival and the team
// alone.
func TestSeeds(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	of := func(r ir.Rehearsal) map[string][][2]int64 {
		s := scenarioOf(t, p, tree, r)
		return map[string][][2]int64{
			"a": jobsOf(s, firstTeam, false), "b": jobsOf(s, secondTeam, false),
			"checkpoints": jobsOf(s, firstTeam, true),
		}
	}
	first := of(randomWeek(1))
	if d := cmp.Diff(first, of(randomWeek(1))); d != "" {
		t.Errorf("two scenarios of one rehearsal differ:\n%s", d)
	}
	for name, jobs := range of(randomWeek(2)) {
		if cmp.Equal(jobs, first[name]) {
			t.Errorf("another seed does not change %s", name)
		}
	}
	if cmp.Equal(first["a"], first["b"]) {
		t.Error("two teams have the same jobs")
	}
	for name, change := range map[string]func(*ir.Rehearsal){
		"another arrival": func(r *ir.Rehearsal) {
			r.Arrivals = append(r.Arrivals, ir.Arrival{
				Index: 2, Template: arrivalTemplate, Teams: []string{"team-c"}, Every: 5, Random: true, Count: 50,
				Runs: ir.RunTime{From: 1, To: 9},
			})
		},
		"a later first team": func(r *ir.Rehearsal) { r.Arrivals[0].Teams = append(r.Arrivals[0].Teams, "team-c") },
	} {
		r := randomWeek(1)
		change(&r)
		if d := cmp.Diff(first, of(r)); d != "" {
			t.Errorf("%s changes other jobs:\n%s", name, d)
		}
	}
	longer, shorter := randomWeek(1), randomWeek(1)
	longer.Arrivals[0].Count = 3000
	shorter.Arrivals[0].Runs = ir.RunTime{Fixed: 7}
	if got := of(longer)["b"]; !cmp.Equal(got[:2000], first["b"]) {
		t.Error("a larger count changes the jobs before")
	}
	for i, j := range of(shorter)["b"] {
		if j[0] != first["b"][i][0] {
			t.Fatal("another length changes the times")
		}
	}
}

// TestRehearsalOfOtherPlatforms checks that a rehearsal of another platform is no bug: its
// teams, workloads and queues may be unknown.
func TestRehearsalOfOtherPlatforms(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	week := randomWeek(1)
	week.Arrivals[0].Teams = []string{"team-z"}
	own := p.Workloads[0]
	own.Queue = "lq-team-z-lp"
	for _, r := range []ir.Rehearsal{
		week,
		{Name: "own", Until: 60, Workloads: []ir.Workload{own}},
		{Name: "held", Until: 60, Holds: []ir.QueueHold{{ClusterQueues: []string{"cq-team-z-lp"}}}},
	} {
		var unplayable rehearsal.Unplayable
		if _, err := rehearsal.OfRehearsal(p, tree, r); !errors.As(err, &unplayable) {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

// TestExistingCluster checks a rehearsal in a cluster of others that run Kueue: its release
// decides, with defaults, because the folder has no configuration of it.
func TestExistingCluster(t *testing.T) {
	p, tree := compileBlueprints(t, "existing")
	s := scenarioOf(t, p, tree, ir.Rehearsal{
		Name: "day", Until: 24 * 3600,
		Arrivals: []ir.Arrival{
			{
				Template: "finetune", Teams: []string{"vision"}, Count: 2, Every: 60,
				Runs: ir.RunTime{From: 100, To: 100},
			},
		},
	})
	kinds, counts := countKinds(t, s.Objects)
	if slices.Contains(kinds, "Configuration") || counts["ClusterQueue"] != 4 || counts["Namespace"] != 2 {
		t.Errorf("objects: %v", counts)
	}
	p.Cluster.Existing.Kueue.Version = "0.18.0"
	if s = scenarioOf(t, p, tree, ir.Rehearsal{Name: "day", Until: 3600}); s.Scheduler.Title() != "Kueue 0.18.0" {
		t.Errorf("%s decides, want Kueue 0.18.0", s.Scheduler.Title())
	}
	if len(s.Pools) != 2 || len(s.Limits) > 0 {
		t.Errorf("pools %v, limits %v", s.Pools, s.Limits)
	}
}

// TestIndependentPods checks that each independent pod has a time of its own, which another
// distribution of the times between jobs does not change.
func TestIndependentPods(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	r := ir.Rehearsal{Name: "sweeps", Seed: 3, Until: 86400, Arrivals: []ir.Arrival{{
		Template: arrivalTemplate, Teams: []string{firstTeam}, Count: 50, Every: 60, IndependentPods: true,
		Runs: ir.RunTime{Median: 1000, P95: 5000}, Checkpoint: 30,
	}}}
	s := scenarioOf(t, p, tree, r)
	pods, times := 0, map[int64]bool{}
	for _, j := range s.Jobs {
		pods = s.Templates[j.Template].Pods
		if j.Runs != 0 || len(j.PodRuns) != pods || j.Checkpoint != 30 {
			t.Fatalf("job %+v of %d pods", j, pods)
		}
		for _, seconds := range j.PodRuns {
			times[seconds] = true
		}
	}
	if pods < 2 || len(times) < 45*pods {
		t.Errorf("%d jobs of %d pods have %d times", len(s.Jobs), pods, len(times))
	}
	r.Arrivals[0].Random = true
	for i, j := range scenarioOf(t, p, tree, r).Jobs {
		if d := cmp.Diff(s.Jobs[i].PodRuns, j.PodRuns); d != "" {
			t.Fatalf("job %d: -regular +random:\n%s", i, d)
		}
	}
}

// TestOwnJobs checks the templates of jobs that only a rehearsal has, and of the jobs of a
// trace: they follow the templates of the platform. It also checks that the scenario has the
// holds.
func TestOwnJobs(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	like := p.Workloads[0]
	like.Template, like.Name = "trace-1", "trace-1"
	like.Requests = []ir.Amount{{Resource: ir.GPU, Quantity: resource.MustParse("3")}}
	s := scenarioOf(t, p, tree, ir.Rehearsal{
		Name: "march", Until: 86400, Workloads: []ir.Workload{like},
		Holds: []ir.QueueHold{{ClusterQueues: []string{"cq-team-a-lp"}, From: 60, To: 70, Drain: true}},
		Arrivals: []ir.Arrival{
			{Trace: []ir.TracedJob{{Line: 7, At: 5, Runs: 60}, {Line: 2, At: 9, Runs: 70}}, Checkpoint: 30},
			{Index: 1, Template: "trace-1", Teams: []string{like.Team}, At: 6, Count: 1, Runs: ir.RunTime{Fixed: 80}},
		},
	})
	last := len(s.Templates) - 1
	want := []rehearsal.Job{
		{Name: "trace-1-7", Template: last, At: 5, Runs: 60, Checkpoint: 30},
		{Name: "trace-1-1", Template: last, At: 6, Runs: 80},
		{Name: "trace-1-2", Template: last, At: 9, Runs: 70, Checkpoint: 30},
	}
	if d := cmp.Diff(want, s.Jobs); d != "" {
		t.Errorf("the jobs: -want +got:\n%s", d)
	}
	holds := []rehearsal.Hold{{ClusterQueues: []string{"cq-team-a-lp"}, From: 60, To: 70, Drain: true}}
	if d := cmp.Diff(holds, s.Holds); d != "" {
		t.Errorf("the holds: -want +got:\n%s", d)
	}
	own := s.Templates[last]
	if own.Name != "trace-1" || own.Team != like.Team || own.Accelerators != 3*like.Pods ||
		!strings.Contains(string(own.Object), `"nvidia.com/gpu":"3"`) {
		t.Errorf("the template: %+v", own)
	}
}
