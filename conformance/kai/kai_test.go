package kai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	kaiv2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2"
)

// TestQueues: KAI's own types know all that a queue says, and keep it.
func TestQueues(t *testing.T) {
	for i, d := range queueDocuments(t) {
		written := *decode[map[string]any](t, d)
		encoded, err := json.Marshal(decode[kaiv2.Queue](t, d))
		if err != nil {
			t.Fatal(err)
		}
		var kept map[string]any
		if err := json.Unmarshal(encoded, &kept); err != nil {
			t.Fatal(err)
		}
		for _, lost := range missing(fmt.Sprintf("queue %d", i), written, kept) {
			t.Error(lost)
		}
	}
}

// missing says which fields of want are not the same in got, which may have others.
func missing(at string, want, got any) []string {
	object, ok := want.(map[string]any)
	if !ok {
		if d := cmp.Diff(want, got); d != "" {
			return []string{fmt.Sprintf("%s (-written +kept):\n%s", at, d)}
		}
		return nil
	}
	in, _ := got.(map[string]any)
	var lost []string
	for key, value := range object {
		lost = append(lost, missing(at+"."+key, value, in[key])...)
	}
	return lost
}

func TestQueueOfAnotherField(t *testing.T) {
	var queue kaiv2.Queue
	if err := yaml.UnmarshalStrict([]byte("spec: {resourceQuota: {}}"), &queue); err == nil {
		t.Error("an unknown field is let through")
	}
}

// TestDemonstration does what the notes of the folder tell, step by step.
func TestDemonstration(t *testing.T) {
	const node1, node2, node3, node4 = "h100-reserved-1", "h100-reserved-2", "h100-reserved-3", "h100-reserved-4"
	type nodes = map[string][]string
	for _, test := range []struct {
		name    string
		cordon  bool
		end     nodes
		evicted []string
	}{
		{"cordoned", true, nodes{
			node1: {"training-job-1", "training-job-a"},
			node2: {"training-job-2", "training-job-3"},
			node3: {"interactive", "training-job-b"},
		}, []string{"training-job-2"}},
		{"not cordoned", false, nodes{
			node1: {"training-job-1", "training-job-2"},
			node2: {"training-job-3"},
			node3: {"interactive", "training-job-b"},
			node4: {"training-job-a"},
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, all := newCluster(t), jobs(t)
			if test.cordon {
				c.cordon()
			}
			start := []string{"training-job-1", "training-job-2", "training-job-3", "interactive"}
			for _, name := range start {
				c.submit(all[name])
			}
			if d := cmp.Diff(nodes{
				node1: {"training-job-1", "training-job-2"},
				node2: {"training-job-3"},
				node3: {"interactive"},
			}, c.placement()); d != "" {
				t.Errorf("at the start (-told +placed):\n%s", d)
			}
			for _, name := range []string{"training-job-b", "training-job-a"} {
				c.submit(all[name])
			}
			if d := cmp.Diff(test.end, c.placement()); d != "" {
				t.Errorf("at the end (-told +placed):\n%s", d)
			}
			if d := cmp.Diff(test.evicted, c.evicted); d != "" {
				t.Errorf("evicted (-told +happened):\n%s", d)
			}
		})
	}
}
