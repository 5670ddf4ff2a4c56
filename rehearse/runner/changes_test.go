package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/google/go-cmp/cmp"
)

// change adds a change to the objects of a scenario with these queues.
func change(t testing.TB, s *rehearsal.Scenario, at int64, queues ...queue) {
	t.Helper()
	s.Changes = append(s.Changes, rehearsal.Change{At: at, Objects: scenario(t, queues...).Objects})
}

// without returns the objects that do not contain a text.
func without(objects []json.RawMessage, text string) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(objects), func(o json.RawMessage) bool {
		return strings.Contains(string(o), text)
	})
}

// TestChanges checks what becomes of jobs when their queue changes or goes, and that a whole
// Kueue decides the same.
func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *rehearsal.Scenario)
		// starts are the times at which job 0, 1 and 2 start, 0 for never.
		starts [3]int64
		waits  string // Kueue's message about the last job
	}{
		{
			"nothing", func(s *rehearsal.Scenario) { s.Changes[0].Objects = s.Objects },
			[3]int64{10, 1011, 2012}, "",
		},
		{
			"more quota",
			func(s *rehearsal.Scenario) { s.Changes[0].Objects = scenario(t, queue{team: "a", quota: 6}).Objects },
			[3]int64{10, 101, 200}, "",
		},
		{
			// The queue stays until the job in it has ended.
			"ClusterQueue deleted",
			func(s *rehearsal.Scenario) {
				s.Changes[0].Objects = without(s.Objects, `"kind":"ClusterQueue"`)
				change(t, s, 5000, queue{team: "a", quota: 2})
			},
			[3]int64{10, 5000, 6001}, "",
		},
		{
			"LocalQueue deleted",
			func(s *rehearsal.Scenario) { s.Changes[0].Objects = without(s.Objects, `"kind":"LocalQueue"`) },
			[3]int64{10, 0, 0}, "LocalQueue jobs doesn't exist",
		},
		{
			"flavor deleted",
			func(s *rehearsal.Scenario) { s.Changes[0].Objects = without(s.Objects, `"kind":"ResourceFlavor"`) },
			[3]int64{10, 1011, 2012}, "", // it stays while the queue uses it
		},
		{
			"LocalQueue of another ClusterQueue",
			func(s *rehearsal.Scenario) {
				to := scenario(t, queue{team: "a", quota: 2}, queue{team: "b", quota: 2}).Objects
				for i, o := range to {
					if strings.Contains(string(o), `"LocalQueue"`) {
						moved := strings.Replace(string(o), `"clusterQueue":"a"`, `"clusterQueue":"b"`, 1)
						to[i] = json.RawMessage(moved)
					}
				}
				s.Changes[0].Objects = to
			},
			[3]int64{10, 100, 1101}, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scenario(t, queue{team: "a", quota: 2})
			s.Until = 10000
			for _, at := range []int64{10, 50, 200} {
				submit(t, s, "a", "low", 2, rehearsal.Job{At: at, Runs: 1000})
			}
			change(t, s, 100)
			test.change(s)
			h := play(t, s)
			var starts [3]int64
			for i, j := range h.Jobs {
				if len(j.Runs) > 0 {
					starts[i] = j.Runs[0].Reserved
				}
			}
			equal(t, "starts", starts, test.starts)
			if test.waits != "" {
				equal(t, "message", h.Jobs[2].Waits, test.waits)
			}
			equal(t, "decisions", cmp.Equal(decisionsOf(h), playWhole(t, s), nearlyThere), true)
		})
	}
}

// nearlyThere compares decisions as nearly does. A history has one ClusterQueue for all runs of
// a job.
var nearlyThere = cmp.Comparer(func(a, b decision) bool {
	a.Queue, b.Queue = "", ""
	return cmp.Equal(a, b, nearly)
})

// TestNamespaceDeleted checks that the jobs of a Namespace go with it.
func TestNamespaceDeleted(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 2}, queue{team: "b", quota: 2})
	s.Until = 5000
	submit(t, s, "a", "low", 2, rehearsal.Job{At: 10, Runs: 1000})
	submit(t, s, "b", "low", 2, rehearsal.Job{At: 20, Runs: 1000})
	change(t, s, 100, queue{team: "b", quota: 2})
	h := play(t, s)
	equal(t, "outcomes", []rehearsal.Outcome{h.Jobs[0].Outcome, h.Jobs[1].Outcome},
		[]rehearsal.Outcome{rehearsal.Deleted, rehearsal.Finished})
	equal(t, "end of the deleted job", h.Jobs[0].End, int64(100))
}

// TestUnplayableChanges checks the errors about changes that cannot be played.
func TestUnplayableChanges(t *testing.T) {
	for want, set := range map[string]func(s *rehearsal.Scenario){
		"cannot stop ClusterQueues": func(s *rehearsal.Scenario) {
			s.Holds = []rehearsal.Hold{{ClusterQueues: []string{"a"}, From: 10}}
		},
		"another configuration": func(s *rehearsal.Scenario) {
			other := &rehearsal.Scenario{Objects: s.Objects}
			configure(t, other, fields{"manageJobsWithoutQueueName": true})
			s.Changes[0].Objects = other.Objects
		},
		"change after 100 seconds: object 0": func(s *rehearsal.Scenario) {
			s.Changes[0].Objects = []json.RawMessage{encode(t, fields{"kind": "Pod"})}
		},
	} {
		s := scenario(t, queue{team: "a", quota: 2})
		change(t, s, 100, queue{team: "a", quota: 2})
		set(s)
		_, err := runner.Play(context.Background(), s, func(int64, int) {})
		if !errors.Is(err, stage.ErrScenario) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
