package folders_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// The table of the KAI Scheduler reference system, written by hand from the
// reference: two departments with two projects each. Every project is guaranteed
// eight GPUs and has no limit.
var kaiDepartmentsQueues = []string{
	// queue, parent, priority, guaranteed GPUs and the limit
	"department-1 - 200 16 -1",
	"department-2 - 100 16 -1",
	"project-a department-1 150 8 -1",
	"project-b department-1 100 8 -1",
	"project-c department-2 150 8 -1",
	"project-d department-2 100 8 -1",
}

func TestKAIDepartmentsQueues(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "kai-departments"))
	teams, err := fs.Glob(files, "kubernetes/teams/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range append(teams, "kubernetes/cohorts.yaml") {
		for _, q := range check.ObjectsIn[check.KAIQueue](t, files, file, "Queue") {
			gpu, parent := q.Spec.Resources.GPU, q.Spec.ParentQueue
			if parent == "" {
				parent = "-"
			}
			got = append(got, fmt.Sprintf("%s %s %d %d %d", q.Name, parent, *q.Spec.Priority, *gpu.Quota, *gpu.Limit))
			for name, free := range map[string]check.KAIShare{
				"cpu": q.Spec.Resources.CPU, "memory": q.Spec.Resources.Memory,
			} {
				if *free.Limit != -1 || *free.Quota != -1 {
					t.Errorf("%s: %s has quota %d and limit %d", q.Name, name, *free.Quota, *free.Limit)
				}
			}
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(kaiDepartmentsQueues, got); d != "" {
		t.Errorf("(-reference +compiled):\n%s", d)
	}
}

// The jobs of the demonstration, each with one pod.
var kaiDepartmentsJobs = []string{
	// project and job, GPUs, class, and whether the job may be evicted
	"project-a/training-job-1 4 train preemptible",
	"project-a/training-job-b 3 train preemptible",
	"project-b/training-job-3 6 train preemptible",
	"project-c/training-job-2 2 train preemptible",
	"project-c/training-job-a 4 train preemptible",
	"project-d/interactive 5 build non-preemptible",
}

func TestKAIDepartmentsJobs(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "kai-departments"))
	names, err := fs.Glob(files, "workloads/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range names {
		if path.Base(file) == "kustomization.yaml" {
			continue
		}
		for _, j := range check.ObjectsIn[batchv1.Job](t, files, file, "Job") {
			pod := j.Spec.Template.Spec
			if *j.Spec.Parallelism != 1 || pod.SchedulerName != "kai-scheduler" ||
				j.Labels["kai.scheduler/queue"] != j.Namespace {
				t.Errorf("%s: %d pods, scheduler %q, labels %v", j.Name, *j.Spec.Parallelism, pod.SchedulerName,
					j.Labels)
			}
			gpus := pod.Containers[0].Resources.Limits["nvidia.com/gpu"]
			got = append(got,
				fmt.Sprintf("%s/%s %s %s %s", j.Namespace, j.Name, gpus.String(), pod.PriorityClassName,
					j.Labels["kai.scheduler/preemptibility"]))
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(kaiDepartmentsJobs, got); d != "" {
		t.Errorf("(-reference +compiled):\n%s", d)
	}
}

// TestKAIDepartmentsHardware checks the four nodes of eight GPUs, whose number is
// fixed.
func TestKAIDepartmentsHardware(t *testing.T) {
	pools, err := check.NodePools(fixture.FS(compile.Reference(t, "kai-departments")))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(pools, func(p check.NodePool) bool { return p.Names[0] == "h100-reserved" })
	if i < 0 || len(pools) != 2 {
		t.Fatalf("pools %+v", pools)
	}
	if p := pools[i]; p.Nodes != 4 || p.Machine.Type != "a3-highgpu-8g" || p.Machine.Accelerator != "nvidia-h100-80gb" {
		t.Errorf("%d nodes of %+v", p.Nodes, p.Machine)
	}
}

// TestNothingOfKueueWithKAI checks that a platform with one scheduler has no
// objects, installation, metrics or words of the other.
func TestNothingOfKueueWithKAI(t *testing.T) {
	for _, f := range compile.Reference(t, "kai-departments") {
		if strings.Contains(strings.ToLower(f.Path), "kueue") ||
			strings.Contains(strings.ToLower(string(f.Content)), "kueue") {
			t.Errorf("%s speaks of Kueue", f.Path)
		}
	}
	for _, f := range compile.Reference(t, "batch-platform") {
		if strings.Contains(string(f.Content), "scheduling.run.ai") ||
			strings.Contains(string(f.Content), "kai-scheduler") {
			t.Errorf("%s speaks of KAI Scheduler", f.Path)
		}
	}
}

// TestKAIDepartmentsNotes checks that the guide gives the conditions under which the
// demonstration works as described.
func TestKAIDepartmentsNotes(t *testing.T) {
	content, err := fs.ReadFile(fixture.FS(compile.Reference(t, "kai-departments")), "README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, notes, ok := strings.Cut(string(content), "\n## Notes\n")
	notes, _, _ = strings.Cut(notes, "\n## ")
	for _, want := range []string{
		"training-job-3 has one pod", "training-job-a must be preemptible",
		"training-job-2 is a Job, so it starts again",
	} {
		if !ok || !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
}

// TestKAIPriorityClassesOfItsOwn checks that PriorityClasses of the chart are not
// applied again, and that other classes are.
func TestKAIPriorityClassesOfItsOwn(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "kai-departments"))
	if _, err := fs.Stat(files, "kubernetes/priority-classes.yaml"); err == nil {
		t.Error("PriorityClasses of the chart are applied")
	}
	for _, team := range []string{"project-a", "project-d"} {
		for _, n := range check.ObjectsIn[corev1.Namespace](t, files, "kubernetes/teams/"+team+".yaml", "Namespace") {
			if got, want := n.Annotations["queues"], team+"=train|build"; got != want {
				t.Errorf("namespace %s lists %q, want %q", n.Name, got, want)
			}
		}
	}
}

// TestKAIDepartmentsChange checks that a change of one number changes only the lines
// that state the number.
func TestKAIDepartmentsChange(t *testing.T) {
	before := compile.Reference(t, "kai-departments")
	dir := t.TempDir()
	for _, name := range []string{"demonstration.cue", "platform.cue", "workloads.cue"} {
		content, err := os.ReadFile(fixture.Path("blueprints/kai-departments", name))
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(content), `"department-1": priority: 200`, `"department-1": priority: 300`, 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(edited), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	after := compile.Folder(t, dir)
	if len(after) != len(before) {
		t.Fatalf("%d files, before %d", len(after), len(before))
	}
	var got []string
	for i, f := range after {
		now := strings.Split(string(f.Content), "\n")
		for j, line := range strings.Split(string(before[i].Content), "\n") {
			if f.Path != emit.ManifestPath && line != now[j] {
				got = append(got,
					fmt.Sprintf("%s: %s -> %s", f.Path, strings.TrimSpace(line), strings.TrimSpace(now[j])))
			}
		}
	}
	want := []string{
		"REFERENCE.md: | `department-1` | 200 | 16 | 50% | `project-a`, `project-b` | -> " +
			"| `department-1` | 300 | 16 | 50% | " +
			"`project-a`, `project-b` |",
		"kubernetes/cohorts.yaml: priority: 200 -> priority: 300",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changed lines (-want +got):\n%s", d)
	}
}
