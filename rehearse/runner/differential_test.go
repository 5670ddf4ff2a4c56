package runner_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/google/go-cmp/cmp"
)

var (
	scenarios = flag.Int("scenarios", sampled(1, 3), "random scenarios to compare with a whole Kueue")
	firstSeed = flag.Uint64("seed", 1, "seed of the first scenario")
)

// sampled returns how many cases a test tries: most if make conformance runs it.
func sampled(few, most int) int {
	if os.Getenv("EVERY_CASE") != "" {
		return most
	}
	return few
}

// attempts is how often a whole Kueue plays a scenario at most. Its goroutines run in any
// order, and in a few scenarios it decides differently from one play to the next. The engine
// must decide as one of the plays.
const attempts = 5

// late is the most seconds by which a decision may be later or earlier than in a play of the
// whole Kueue. There, what follows from a decision can need one more look at the heads of the
// queues, and the test lets Kueue look at them in one part of each second only. The test
// counts such decisions.
const late = 5

// nearly compares decisions whose times may differ by late.
var nearly = cmp.Comparer(func(a, b decision) bool {
	apart := max(a.At-b.At, b.At-a.At)
	a.At, b.At = 0, 0
	return a == b && apart <= late
})

// TestWholeKueue compares the engine with a whole Kueue in random scenarios: every
// admission and every eviction of every job.
func TestWholeKueue(t *testing.T) {
	jobs, admissions, evictions, different, repeated, shifted := 0, 0, 0, 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*scenarios); seed++ {
		s := contendedScenario(t, seed)
		got, want := decisionsOf(play(t, s)), playWhole(t, s)
		for again := 1; again < attempts && !cmp.Equal(got, want, nearly); again++ {
			t.Logf("seed %d: play %d of the whole Kueue differs from the engine", seed, again)
			repeated++
			want = playWhole(t, s)
		}
		for i := range want {
			jobs++
			for _, d := range want[i] {
				if d.Reason == "" {
					admissions++
				} else {
					evictions++
				}
			}
			if diff := cmp.Diff(want[i], got[i], nearly); diff != "" {
				different++
				t.Errorf("seed %d, %s (-whole Kueue +engine):\n%s", seed, s.Jobs[i].Name, diff)
			} else if !cmp.Equal(want[i], got[i]) {
				shifted++
			}
		}
		t.Logf("up to seed %d: %d jobs, %d admissions, %d evictions; "+
			"%d jobs differ, %d have another time, %d plays repeated",
			seed, jobs, admissions, evictions, different, shifted, repeated)
	}
	if admissions == 0 || evictions == 0 {
		t.Error("the scenarios have no admission, or no eviction")
	}
}

// TestWholeKueueDiffers checks that the comparison notices a queue that has another
// preemption policy in the whole Kueue.
func TestWholeKueueDiffers(t *testing.T) {
	contended := func(policy string) *rehearsal.Scenario {
		s := scenario(t,
			queue{team: "a", cohort: "c", quota: 2, across: "Any"},
			queue{team: "b", cohort: "c", quota: 2, across: policy})
		s.Until = 1000
		submit(t, s, "a", "low", 4, rehearsal.Job{At: 10, Runs: 100})
		submit(t, s, "b", "low", 2, rehearsal.Job{At: 50, Runs: 20})
		return s
	}
	got := decisionsOf(play(t, contended("Any")))
	equal(t, "decisions with the same policy", got, playWhole(t, contended("Any")))
	if cmp.Equal(got, playWhole(t, contended("Never"))) {
		t.Error("another preemption policy makes no difference")
	}
}

// decisionsOf returns Kueue's decisions of a history, by job.
func decisionsOf(h *rehearsal.History) [][]decision {
	out := make([][]decision, len(h.Jobs))
	for i, j := range h.Jobs {
		for _, r := range j.Runs {
			var flavors []string
			for _, f := range r.Flavors {
				flavors = append(flavors, f.PodSet+"="+f.Flavor)
			}
			out[i] = append(out[i],
				decision{At: r.Reserved, Queue: j.ClusterQueue, Flavors: strings.Join(flavors, ",")})
			if r.Evicted != "" {
				d := decision{At: r.Ended, Reason: string(r.Evicted)}
				if r.By != "" {
					var number int
					if _, err := fmt.Sscanf(r.By[strings.Index(r.By, "/")+1:], "job-%d", &number); err != nil {
						panic(err)
					}
					d.PreemptedBy = fmt.Sprintf("%08x", number)
				}
				out[i] = append(out[i], d)
			}
		}
	}
	return out
}

// gap is the least number of seconds between two submissions or ends of jobs. Kueue leaves
// the order of what happens in one second to chance, and goes on for some seconds.
const gap = 6

// contendedScenario returns a scenario with queues in cohorts, and jobs that compete.
func contendedScenario(t testing.TB, seed uint64) *rehearsal.Scenario {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 1))
	s := &rehearsal.Scenario{
		Name: fmt.Sprint("seed-", seed), Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: runner.Kueue},
		Until: 50000,
	}
	add := func(apiVersion, kind string, meta fields, more fields) {
		object := fields{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
		for name, value := range more {
			object[name] = value
		}
		s.Objects = append(s.Objects, encode(t, object))
	}
	const version = "kueue.x-k8s.io/v1beta2"
	flavors := 2 + dice.IntN(2)
	for f := range flavors {
		add(version, "ResourceFlavor", fields{"name": fmt.Sprint("flavor-", f)}, nil)
	}
	priorities := []string{"low", "middle", "high"}
	for i, name := range priorities {
		add("scheduling.k8s.io/v1", "PriorityClass", fields{"name": name}, fields{"value": 10 * (i + 1)})
	}
	cohorts := 1 + dice.IntN(4)
	for c := range cohorts {
		spec := fields{}
		if c > 0 && dice.IntN(2) == 0 {
			spec["parentName"] = fmt.Sprint("cohort-", dice.IntN(c))
		}
		add(version, "Cohort", fields{"name": fmt.Sprint("cohort-", c)}, fields{"spec": spec})
	}
	queues := 6 + dice.IntN(25)
	for q := range queues {
		team := fmt.Sprint("team-", q)
		add("v1", "Namespace", fields{"name": team}, nil)
		add(version, "ClusterQueue", fields{"name": team}, fields{"spec": randomQueue(dice, flavors, cohorts)})
		add(version, "LocalQueue", fields{"name": "jobs", "namespace": team},
			fields{"spec": fields{"clusterQueue": team}})
	}
	busy := min(queues, 3+dice.IntN(6)) // queues with jobs; the others lend
	at := int64(10)
	for range 40 + dice.IntN(21) {
		at += gap + dice.Int64N(60)
		pods := 1 + dice.IntN(6)
		if dice.IntN(15) == 0 {
			pods = 10000
		}
		submit(t, s, fmt.Sprint("team-", dice.IntN(busy)), priorities[dice.IntN(3)], pods,
			rehearsal.Job{At: at, Runs: 100 + dice.Int64N(3000)})
	}
	separate(t, s)
	return s
}

// randomQueue returns the spec of a ClusterQueue.
func randomQueue(dice *rand.Rand, flavors, cohorts int) fields {
	pick := func(of ...string) string { return of[dice.IntN(len(of))] }
	spec := fields{"namespaceSelector": fields{}, "queueingStrategy": pick("StrictFIFO", "BestEffortFIFO")}
	inCohort := dice.IntN(8) > 0
	if inCohort {
		spec["cohortName"] = fmt.Sprint("cohort-", dice.IntN(cohorts))
	}
	var quotas []fields
	for _, f := range dice.Perm(flavors)[:1+dice.IntN(flavors)] {
		quota := fields{"name": "cpu", "nominalQuota": dice.IntN(9)}
		if inCohort && dice.IntN(2) == 0 {
			quota["borrowingLimit"] = dice.IntN(5)
		}
		if inCohort && dice.IntN(3) == 0 {
			quota["lendingLimit"] = dice.IntN(quota["nominalQuota"].(int) + 1)
		}
		quotas = append(quotas, fields{"name": fmt.Sprint("flavor-", f), "resources": []fields{quota}})
	}
	spec["resourceGroups"] = []fields{{"coveredResources": []string{"cpu"}, "flavors": quotas}}
	preemption := fields{
		"withinClusterQueue":  pick("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
		"reclaimWithinCohort": pick("Never", "LowerPriority", "Any"),
	}
	if preemption["reclaimWithinCohort"] != "Never" && dice.IntN(2) == 0 {
		borrow := fields{"policy": "LowerPriority"}
		if dice.IntN(2) == 0 {
			borrow["maxPriorityThreshold"] = 10 + 10*dice.IntN(2)
		}
		preemption["borrowWithinCohort"] = borrow
	}
	spec["preemption"] = preemption
	if dice.IntN(3) == 0 {
		spec["flavorFungibility"] = fields{
			"whenCanBorrow":  pick("MayStopSearch", "TryNextFlavor"),
			"whenCanPreempt": pick("MayStopSearch", "TryNextFlavor"),
		}
	}
	return spec
}

// separate makes jobs run longer until no two of them end, or end and arrive, at nearly the
// same time.
func separate(t testing.TB, s *rehearsal.Scenario) {
	t.Helper()
	for range 1000 {
		type event struct {
			at  int64
			job int // that ends, -1 for a submission
		}
		var events []event
		for i, j := range play(t, s).Jobs {
			events = append(events, event{s.Jobs[i].At, -1})
			if j.Outcome == rehearsal.Finished {
				events = append(events, event{j.End, i})
			}
		}
		slices.SortFunc(events, func(a, b event) int { return int(a.at - b.at) })
		i := 1
		for i < len(events) && events[i].at-events[i-1].at >= gap {
			i++
		}
		if i == len(events) {
			return
		}
		longer := events[i].job
		if longer < 0 {
			longer = events[i-1].job
		}
		s.Jobs[longer].Runs += 2*gap + 1
	}
	t.Fatalf("%s: jobs still end at the same time", s.Name)
}
