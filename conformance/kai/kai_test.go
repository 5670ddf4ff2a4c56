package kai_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kaiv2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/common_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/pod_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/podgroup_info"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestQueues checks that KAI's own types know every field of a queue, and keep it.
func TestQueues(t *testing.T) {
	for _, d := range queueDocuments(t) {
		written, queue := *decode[map[string]any](t, d), decode[kaiv2.Queue](t, d)
		encoded, err := json.Marshal(queue)
		if err != nil {
			t.Fatal(err)
		}
		var kept map[string]any
		if err := json.Unmarshal(encoded, &kept); err != nil {
			t.Fatal(err)
		}
		for _, lost := range missing(queue.Name, written, kept) {
			t.Error(lost)
		}
	}
}

// missing returns the fields of want that got lacks or has with another value. got
// may have more fields.
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

// TestDemonstration performs the phases of the folder's demonstration. After each
// phase, the placement must be as the folder expects.
func TestDemonstration(t *testing.T) {
	script := readScript(t)
	c, all := newCluster(t), jobs(t)
	for _, phase := range script.array(t, "PHASES", 3) {
		name, submits := phase[0], 0
		for _, step := range script.array(t, "STEPS", 4) {
			if step[0] == name && step[1] == "submit" {
				submits++
			}
		}
		for _, step := range script.array(t, "STEPS", 4) {
			switch {
			case step[0] != name:
			case step[1] == "cordon" && step[3] == "1":
				c.cordon()
			case step[1] == "uncordon":
				c.uncordon()
			case step[1] == "submit" && (step[3] == "true" || submits == 1): // one by one
				c.submit(all[step[2]])
			default:
				t.Fatalf("phase %s has the step %v", name, step)
			}
		}
		var want, got []string
		for _, node := range script.array(t, "NODES", 2) {
			if node[0] == name {
				want = append(want, node[1])
			}
		}
		for _, on := range c.placement() {
			got = append(got, strings.Join(on, ", "))
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
			t.Errorf("after phase %s (-told +placed):\n%s", name, d)
		}
	}
	if d := cmp.Diff([]string{"training-job-2"}, c.evicted); d != "" {
		t.Errorf("evicted (-told +happened):\n%s", d)
	}
	if free := c.placement()["h100-reserved-4"]; free != nil {
		t.Errorf("the node that was cordoned runs %v", free)
	}
}

// TestNotCordoned checks the reason for the first step of the demonstration: with a
// fourth node, the scheduler moves no job.
func TestNotCordoned(t *testing.T) {
	c, all := newCluster(t), jobs(t)
	for _, step := range readScript(t).array(t, "STEPS", 4) {
		if step[1] == "submit" {
			c.submit(all[step[2]])
		}
	}
	if d := cmp.Diff(map[string][]string{
		"h100-reserved-1": {"training-job-1", "training-job-2"},
		"h100-reserved-2": {"training-job-3"},
		"h100-reserved-3": {"interactive", "training-job-b"},
		"h100-reserved-4": {"training-job-a"},
	}, c.placement()); d != "" {
		t.Errorf("at the end (-told +placed):\n%s", d)
	}
	if c.evicted != nil {
		t.Errorf("evicted is %v", c.evicted)
	}
}

// TestMessages checks that the messages in USING.md are in the code of KAI Scheduler.
func TestMessages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(*folders, "kai-departments/USING.md"))
	if err != nil {
		t.Fatal(err)
	}
	over := api.GetBuildOverCapacityMessageForQueue("q", "GPU", 1, 1, &podgroup_info.JobRequirement{})
	limit := api.GetJobOverMaxAllowedMessageForQueue("q", api.GpuResource, 1, 1, 1)
	for told, message := range map[string]string{
		"Non-preemptible workload is over quota":        over,
		"quota has reached the allowable limit of GPUs": limit,
		"no nodes with enough resources were found":     common_info.ResourcesWereNotFoundMsg,
	} {
		if !strings.Contains(message, told) {
			t.Errorf("KAI Scheduler says %q, not %q", message, told)
		}
		if !strings.Contains(string(page), "`"+told+"`") {
			t.Errorf("USING.md does not explain %q", told)
		}
	}
}

// TestMoveMessage checks that the event in DEMONSTRATION.md is in the code of KAI
// Scheduler.
func TestMoveMessage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(*folders, "kai-departments/DEMONSTRATION.md"))
	if err != nil {
		t.Fatal(err)
	}
	const told = "bin packing (resource consolidation)"
	message := api.GetConsolidateMessage(&pod_info.PodInfo{})
	if !strings.Contains(message, told) {
		t.Errorf("KAI Scheduler says %q, not %q", message, told)
	}
	if !strings.Contains(string(page), "`"+told+"`") {
		t.Errorf("DEMONSTRATION.md does not explain %q", told)
	}
}

// TestIdle checks the guide's statements on idle GPUs: who gets them, and that they
// return to their owner.
func TestIdle(t *testing.T) {
	c := newCluster(t)
	// Jobs of "build" are never evicted, and therefore never exceed the guarantee.
	for i := range 2 {
		c.submit(node(t, "interactive", "project-c", fmt.Sprint("build-", i)))
	}
	if d := cmp.Diff(map[string]int{"project-c": 1, "": 1}, c.teams()); d != "" {
		t.Fatalf("of two nodes that are not to be evicted (-told +placed):\n%s", d)
	}
	for _, step := range []struct {
		team string // asks for another node
		want map[string]int
	}{
		// Idle GPUs go to every team that asks.
		{"project-d", map[string]int{"project-c": 1, "project-d": 1, "": 1}},
		{"project-d", map[string]int{"project-c": 1, "project-d": 2, "": 1}},
		{"project-d", map[string]int{"project-c": 1, "project-d": 3, "": 1}},
		// They return to the team whose guarantee they are,
		{"project-b", map[string]int{"project-c": 1, "project-d": 2, "project-b": 1, "": 2}},
		// then to the cohort of the higher priority, which is guaranteed two nodes,
		{"project-b", map[string]int{"project-c": 1, "project-d": 1, "project-b": 2, "": 3}},
		// and in the cohort to its owner.
		{"project-a", map[string]int{"project-c": 1, "project-d": 1, "project-b": 1, "project-a": 1, "": 4}},
		// Every team has its guarantee, and nobody gets more.
		{"project-a", map[string]int{"project-c": 1, "project-d": 1, "project-b": 1, "project-a": 1, "": 5}},
	} {
		c.submit(node(t, "training-job-1", step.team, fmt.Sprint("train-", len(c.jobs))))
		if d := cmp.Diff(step.want, c.teams()); d != "" {
			t.Fatalf("%s asks (-told +placed):\n%s", step.team, d)
		}
	}
}

// TestPriority checks that, of two teams of a cohort, the team with the higher
// priority gets idle GPUs first, and can also reclaim them from the other team.
func TestPriority(t *testing.T) {
	c := newCluster(t)
	for i := range 6 {
		team := []string{"project-b", "project-a"}[i/3]
		c.submit(node(t, "training-job-1", team, fmt.Sprint("train-", i)))
	}
	if d := cmp.Diff(map[string]int{"project-a": 3, "project-b": 1, "": 2}, c.teams()); d != "" {
		t.Errorf("project-a before project-b (-told +placed):\n%s", d)
	}
}

// node returns a job of the folder as another team's job, which requests all GPUs
// of a node.
func node(t *testing.T, like, team, name string) *batchv1.Job {
	t.Helper()
	job := jobs(t)[like]
	job.Name, job.Namespace = name, team
	job.Labels["kai.scheduler/queue"] = team
	job.Spec.Template.Labels["kai.scheduler/queue"] = team
	resources := job.Spec.Template.Spec.Containers[0].Resources
	for _, list := range []corev1.ResourceList{resources.Limits, resources.Requests} {
		list["nvidia.com/gpu"] = resource.MustParse("8")
	}
	return job
}

// teams returns the number of running jobs by team, and of waiting jobs as "".
func (c *cluster) teams() map[string]int {
	c.t.Helper()
	count := map[string]int{}
	for _, pod := range c.list() {
		if pod.Spec.NodeName == "" {
			count[""]++
		} else {
			count[pod.Namespace]++
		}
	}
	return count
}
