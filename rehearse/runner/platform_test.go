package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/world"
)

func TestMain(m *testing.M) {
	world.Quiet()
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

// queue is a team's queue in a platform of a test, and its guaranteed vCPUs.
type queue struct {
	team, cohort    string
	quota           int
	borrow          string // "" for no limit
	strict          bool
	within, across  string // preemption within the queue, and within the cohort
	stop, localStop string // of the ClusterQueue, and of its LocalQueue
}

// scenario returns a scenario with the queues, one flavor "standard", and two priorities,
// "low" and "high".
func scenario(t testing.TB, queues ...queue) *rehearsal.Scenario {
	t.Helper()
	s := &rehearsal.Scenario{
		Name: t.Name(), Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: runner.Kueue}, Until: 30 * 24 * 3600,
	}
	add := func(apiVersion, kind string, meta fields, more fields) {
		object := fields{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
		for name, value := range more {
			object[name] = value
		}
		s.Objects = append(s.Objects, encode(t, object))
	}
	const version = "kueue.x-k8s.io/v1beta2"
	add(version, "ResourceFlavor", fields{"name": "standard"}, nil)
	add("scheduling.k8s.io/v1", "PriorityClass", fields{"name": "low"}, fields{"value": 10})
	add("scheduling.k8s.io/v1", "PriorityClass", fields{"name": "high"}, fields{"value": 20})
	for _, q := range queues {
		quota := fields{"name": "cpu", "nominalQuota": q.quota}
		if q.borrow != "" {
			quota["borrowingLimit"] = q.borrow
		}
		spec := fields{
			"namespaceSelector": fields{},
			"resourceGroups": []fields{{
				"coveredResources": []string{"cpu"},
				"flavors":          []fields{{"name": "standard", "resources": []fields{quota}}},
			}},
			"preemption": fields{"withinClusterQueue": orNever(q.within), "reclaimWithinCohort": orNever(q.across)},
		}
		if q.cohort != "" {
			spec["cohortName"] = q.cohort
		}
		if q.strict {
			spec["queueingStrategy"] = "StrictFIFO"
		}
		local := fields{"clusterQueue": q.team}
		for _, stopped := range []struct {
			spec fields
			stop string
		}{{spec, q.stop}, {local, q.localStop}} {
			if stopped.stop != "" {
				stopped.spec["stopPolicy"] = stopped.stop
			}
		}
		add("v1", "Namespace", fields{"name": q.team}, nil)
		add(version, "ClusterQueue", fields{"name": q.team}, fields{"spec": spec})
		add(version, "LocalQueue", fields{"name": "jobs", "namespace": q.team},
			fields{"spec": local})
	}
	return s
}

func orNever(policy string) string {
	if policy == "" {
		return "Never"
	}
	return policy
}

// configure adds Kueue's configuration.
func configure(t testing.TB, s *rehearsal.Scenario, more fields) {
	t.Helper()
	more["apiVersion"], more["kind"] = "config.kueue.x-k8s.io/v1beta2", "Configuration"
	s.Objects = append(s.Objects, encode(t, more))
}

// submit adds a job with a number of pods of one vCPU each, and returns its number.
func submit(t testing.TB, s *rehearsal.Scenario, team, priority string, pods int, job rehearsal.Job) int {
	t.Helper()
	job.Template = len(s.Templates)
	job.Name = fmt.Sprintf("job-%d", len(s.Jobs))
	template := rehearsal.Template{Name: job.Name, Team: team, Pods: pods, Object: encode(t, fields{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": fields{"name": job.Name, "namespace": team, "labels": fields{"kueue.x-k8s.io/queue-name": "jobs"}},
		"spec": fields{"parallelism": pods, "completions": pods, "suspend": true, "template": fields{"spec": fields{
			"restartPolicy": "Never", "priorityClassName": priority,
			"containers": []fields{{"name": "c", "image": "c:1", "resources": fields{"requests": fields{"cpu": 1}}}},
		}}},
	})}
	s.Templates = append(s.Templates, template)
	s.Jobs = append(s.Jobs, job)
	return len(s.Jobs) - 1
}

// nodes adds a pool of nodes with one vCPU each.
func nodes(s *rehearsal.Scenario, pool rehearsal.Pool) {
	pool.Name, pool.PerNode, pool.Together = "standard", map[string]string{"cpu": "1"}, max(pool.Together, 1)
	s.Pools = append(s.Pools, pool)
}

func play(t testing.TB, s *rehearsal.Scenario) *rehearsal.History {
	t.Helper()
	h, err := runner.Play(context.Background(), s, func(int64, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
