package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/kai/runner"
	"github.com/batchwright/batchwright/rehearse/kai/world"
	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if err := world.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}

// fields is an object as JSON.
type fields map[string]any

func encode(t testing.TB, object any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// scenario returns a scenario with KAI's PriorityClasses, and a department with teams that
// are guaranteed a number of GPUs each.
func scenario(t testing.TB, guaranteed int, teams ...string) *rehearsal.Scenario {
	t.Helper()
	s := &rehearsal.Scenario{
		Name: t.Name(), Scheduler: rehearsal.Scheduler{Name: ir.KAI, Version: runner.Plays}, Until: 30 * 24 * 3600,
	}
	for name, value := range map[string]int{"train": 50, "build": 100} {
		s.Objects = append(s.Objects, encode(t, fields{
			"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": fields{"name": name},
			"value": value,
		}))
	}
	queue := func(name, parent string, gpus int) {
		free := fields{"quota": -1, "limit": -1, "overQuotaWeight": 1}
		s.Objects = append(s.Objects, encode(t, fields{
			"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": fields{"name": name},
			"spec": fields{"parentQueue": parent, "priority": 100, "resources": fields{
				"cpu": free, "memory": free, "gpu": fields{"quota": gpus, "limit": -1, "overQuotaWeight": 1},
			}},
		}))
	}
	queue("department", "", guaranteed*len(teams))
	for _, team := range teams {
		queue(team, "department", guaranteed)
	}
	return s
}

// nodes adds a pool of nodes with two GPUs each.
func nodes(s *rehearsal.Scenario, pool rehearsal.Pool) {
	pool.Name, pool.PerNode = "h100", map[string]string{"cpu": "32", "memory": "64Gi", "nvidia.com/gpu": "2"}
	pool.Together, pool.Labels = max(pool.Together, 1), map[string]string{"capacity": "h100"}
	s.Pools = append(s.Pools, pool)
}

// submit adds a job with a number of pods of one node each, or of one GPU if gpus is 1, and
// returns its number.
func submit(t testing.TB, s *rehearsal.Scenario, team, priority string, pods, gpus int, job rehearsal.Job) int {
	t.Helper()
	job.Template = len(s.Templates)
	job.Name = fmt.Sprintf("job-%d", len(s.Jobs))
	meta := fields{"name": job.Name, "namespace": team, "labels": fields{"kai.scheduler/queue": team}}
	if pods > 1 {
		meta["annotations"] = fields{world.AnnotationMembers: fmt.Sprint(pods)}
	}
	requests := fields{"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": gpus}
	s.Templates = append(s.Templates, rehearsal.Template{
		Name: job.Name, Team: team, Namespace: team, Object: encode(t, fields{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": meta,
			"spec": fields{"parallelism": pods, "completions": pods, "template": fields{
				"metadata": fields{"labels": fields{"kai.scheduler/queue": team}},
				"spec": fields{
					"restartPolicy": "Never", "priorityClassName": priority, "schedulerName": "kai-scheduler",
					"nodeSelector": fields{"capacity": "h100"},
					"containers": []fields{{
						"name": "c", "image": "c:1",
						"resources": fields{"requests": requests, "limits": fields{"nvidia.com/gpu": gpus}},
					}},
				},
			}},
		}),
	})
	s.Jobs = append(s.Jobs, job)
	return len(s.Jobs) - 1
}

func play(t testing.TB, s *rehearsal.Scenario) *rehearsal.History {
	t.Helper()
	h, err := runner.Play(context.Background(), s, func(int64, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// runs returns the times of a job's runs: its nodes, its start, its end.
func runs(h *rehearsal.History, job int) [][3]int64 {
	var out [][3]int64
	for _, r := range h.Jobs[job].Runs {
		out = append(out, [3]int64{r.Reserved, r.Started, r.Ended})
	}
	return out
}
