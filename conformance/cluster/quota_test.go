package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// quotaData is the directory with the blueprints of TestQuota: each file in existing is a
// platform, and all files in own are one platform.
const quotaData = "testdata/quota"

// existingQuotas are the platforms in testdata/quota/existing. Their queues count nodes and
// other things of an existing cluster.
var existingQuotas = []struct {
	name    string
	escapes bool // pods that request nothing escape, and vet reports escapeCode
}{
	{"everybody", true},
	{"gpus-only", true},
	{"two-groups", true},
	{"licences", true},
	{"digit-first", true},
	{"reservation-first", true},
	{"mig-slices", true},
	{"lender", true},
	{"pods-counted", false},
}

// ownQuotas are the files in testdata/quota/own with a tier each.
var ownQuotas = []string{"nobody", "usage", "beside"}

// escapeCode is the code of the warning that a queue does not count pods.
const escapeCode = "W0616"

// TestQuota applies twelve kinds of quota to one plane: nine platforms that use an existing Kueue
// and existing nodes, and then a platform with three tiers that configures Kueue. All queues must
// become active. Jobs show what the queues count, and which team starts next.
func TestQuota(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	compiler := buildCompiler(ctx, t)
	quotaFiles(t)
	existing := existingFolders(t, compiler)
	own := filepath.Join(t.TempDir(), "own")
	runTool(ctx, t, quotaData, compiler, "compile", "-o", own, "own")
	if t.Failed() {
		return
	}

	p := startPlane(ctx, t, plane.Start)
	held := t.Run("existing", func(t *testing.T) {
		f := &folder{T: t, ctx: ctx, plane: p, dir: existing}
		f.applyExisting()
		f.add(
			pool{name: "hosts", nodes: 2, machine: "e2-standard-4", labels: map[string]string{
				"cloud.google.com/gke-nodepool": "hosts", "shift": "day",
			}},
			pool{name: "heads", nodes: 1, machine: "e2-standard-4", labels: map[string]string{
				"cloud.google.com/gke-nodepool": "heads",
			}},
			pool{name: "slices", nodes: 2, machine: "ct5lp-hightpu-4t", accelerator: 4, labels: map[string]string{
				"cloud.google.com/gke-nodepool":        "slices",
				"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
			}},
		)
		f.part("groups", (*folder).groups)
		f.part("escape", (*folder).escape)
	})
	if !held {
		t.Fatal("the next part would find what this one has left")
	}
	t.Run("own", func(t *testing.T) {
		f := &folder{T: t, ctx: ctx, plane: p, dir: own}
		f.apply() // waits for all queues, including those of the existing platforms
		f.add(f.pool("pool"), f.pool("spot"))
		f.part("weights", (*folder).weights)
		f.part("usage", (*folder).usage)
	})
}

// quotaFiles checks that existingQuotas and ownQuotas list all blueprints in testdata/quota.
func quotaFiles(t *testing.T) {
	t.Helper()
	want := map[string]bool{
		filepath.Join(quotaData, "existing", "cluster.cue"): true,
		filepath.Join(quotaData, "own", "platform.cue"):     true,
	}
	for _, p := range existingQuotas {
		want[filepath.Join(quotaData, "existing", p.name+".cue")] = true
	}
	for _, name := range ownQuotas {
		want[filepath.Join(quotaData, "own", name+".cue")] = true
	}
	files, err := filepath.Glob(filepath.Join(quotaData, "*", "*.cue"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, file := range files {
		got[file] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blueprints in %s:\n%s", quotaData, diff)
	}
}

// existingFolders compiles existingQuotas, and returns a folder whose kustomization contains all
// of them. vet must report escapeCode for those that pods escape, and for no others.
func existingFolders(t *testing.T, compiler string) string {
	t.Helper()
	above := t.TempDir()
	var resources []string
	for _, p := range existingQuotas {
		files := []string{"existing/cluster.cue", "existing/" + p.name + ".cue"}
		vet := runTool(t.Context(), t, quotaData, compiler, append([]string{"vet"}, files...)...)
		if warns := strings.Contains(vet, "warning["+escapeCode+"]"); warns != p.escapes {
			t.Errorf("%s: vet reports %s: %t, want %t\n%s", p.name, escapeCode, warns, p.escapes, vet)
		}
		out := filepath.Join(above, p.name)
		runTool(t.Context(), t, quotaData, compiler, append([]string{"compile", "-o", out}, files...)...)
		resources = append(resources, filepath.Join("..", p.name, "kubernetes"))
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources,
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{T: t, dir: above}
	if err := os.Mkdir(f.manifests(), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.manifests(), "kustomization.yaml"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	return above
}

// applyExisting installs Kueue and other objects as the owners of the cluster do, applies the
// folder, and waits until all queues are active.
func (f *folder) applyExisting() {
	f.Helper()
	if err := f.plane.Prepare(f.ctx, "testdata/others"); err != nil {
		f.Fatal(err)
	}
	f.kubectl("apply", "--server-side", "--field-manager=owner", "-f", quotaData+"/existing/objects.yaml")
	f.kubectl(applyArgs(f.manifests())...)
	// Kueue activates a queue only if the controllers of its checks are active.
	f.kubectl("patch", "admissionchecks", "prepare-slices", "--subresource=status", "--type=merge",
		`--patch={"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": "",
			"observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`)
	f.eventually(f.inactive)
}

// groups submits jobs to queues with several resource groups. Each pod must get one flavor from
// each group whose resources it requests, and none from others. Only the job that uses slices
// must wait for their check.
func (f *folder) groups() {
	f.Helper()
	cpu := fields{"cpu": "1", "memory": "1Gi"}
	f.enqueue("weather", "multislice", quotaJob("controllers", 2, cpu))
	f.assigned("weather", "controllers", map[string]fields{"main": {"cpu": "heads", "memory": "heads"}})
	f.runsIn("weather", "controllers", 2)

	f.enqueue("weather", "multislice", fields{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": fields{"name": "forecast"},
		"spec": fields{"replicatedJobs": []any{
			fields{"name": "head", "replicas": 1, "template": fields{"spec": quotaJobSpec(1, cpu)}},
			fields{"name": "workers", "replicas": 1, "template": fields{
				"spec": quotaJobSpec(2, fields{"google.com/tpu": "4"}),
			}},
		}},
	})
	f.assigned("weather", "forecast", map[string]fields{
		"head": {"cpu": "heads", "memory": "heads"}, "workers": {"google.com/tpu": "slices"},
	})
	w := f.workload("weather", "forecast")
	if w.is("Admitted") {
		f.Errorf("%s does not wait for its check: %v", w, w.Status.Conditions)
	}
	f.kubectl("patch", "workloads", w.Metadata.Name, "--namespace=weather", "--subresource=status", "--type=json",
		`--patch=[{"op": "test", "path": "/status/admissionChecks/0/name", "value": "prepare-slices"},
			{"op": "replace", "path": "/status/admissionChecks/0/state", "value": "Ready"}]`)
	f.running(map[string]int{"heads": 3, "slices": 2})

	const licence = "example.com/simulator"
	f.enqueue("chip-a", "verification", quotaJob("compile", 1, cpu))
	f.enqueue("chip-a", "verification", quotaJob("simulate", 1, fields{"cpu": "1", "memory": "1Gi", licence: "1"}))
	f.assigned("chip-a", "compile", map[string]fields{"main": {"cpu": "hosts", "memory": "hosts"}})
	f.assigned("chip-a", "simulate", map[string]fields{
		"main": {"cpu": "hosts", "memory": "hosts", licence: "licence-server"},
	})
}

// escape submits a job with six pods that request nothing. A queue that does not count pods must
// admit it without quota. A queue with quota for four pods must not admit it.
func (f *folder) escape() {
	f.Helper()
	f.enqueue("default", "guests", quotaJob("escapes", 6, fields{}))
	f.assigned("default", "escapes", map[string]fields{"main": {}})
	f.runsIn("default", "escapes", 6)

	f.enqueue("east", "arrays", quotaJob("fits", 4, fields{}))
	f.assigned("east", "fits", map[string]fields{"main": {"pods": "day"}})
	f.runsIn("east", "fits", 4)
	f.enqueue("west", "arrays", quotaJob("escapes", 6, fields{}))
	f.eventually(func() string {
		reserved := f.workload("west", "escapes").condition("QuotaReserved")
		const wait = "insufficient quota for pods in flavor day"
		if reserved.Status == "False" && strings.Contains(reserved.Message, wait) {
			return ""
		}
		return fmt.Sprint("6 pods do not wait for quota, but there is quota for 4: ", reserved)
	})
}

// weights submits jobs for all 12 GPUs of a cohort from the team with weight 1, and then from the
// team with weight 2. The teams must get 4 and 8 GPUs, also after a job of each team has ended.
func (f *folder) weights() {
	f.Helper()
	f.submitTeam("games")
	f.queues("cq-games-train", count{0, 6})
	f.submitTeam("maps")
	f.queues("cq-maps-train", count{2, 4})
	f.queues("cq-games-train", count{4, 2})
	f.runningIn("maps", 4)
	f.runningIn("games", 2)

	f.end("maps")
	f.queues("cq-maps-train", count{1, 4})
	f.end("games")
	f.queues("cq-games-train", count{3, 2})
	f.queues("cq-maps-train", count{1, 4})
	f.runningIn("maps", 4)
	f.runningIn("games", 2)
}

// usage submits jobs of two teams to the queue that they share. The first team uses all of it, and
// more of its jobs wait. When one job has ended, the job of the second team must start, although
// it is the newest.
func (f *folder) usage() {
	f.Helper()
	f.submitTeam("heavy")
	f.queues("cq-batch", count{2, 2})
	f.eventually(func() string {
		used := map[string]string{}
		for _, o := range f.get("localqueues", "--namespace=heavy") {
			used = o.Status.FairSharing.AdmissionFairSharingStatus.ConsumedResources
		}
		if gpus := used["nvidia.com/gpu"]; gpus == "" || gpus == "0" {
			return fmt.Sprint("Kueue has not measured the GPUs of heavy: ", used)
		}
		return ""
	})
	f.submit("light", "batch-1")
	f.queues("cq-batch", count{3, 2})
	f.end("heavy")
	f.queues("cq-batch", count{2, 2})
	if w := f.workload("light", "batch-1"); !w.is("Admitted") {
		f.Errorf("%s is not admitted before jobs of heavy: %v", w, w.Status.Conditions)
	}
}

// submitTeam submits all workloads of a team.
func (f *folder) submitTeam(team string) {
	f.Helper()
	f.kubectl(append([]string{"apply", "--server-side", "-k", filepath.Join(f.dir, "workloads", team)},
		f.member(team)...)...)
}

// runningIn waits until the given number of pods run in a namespace, and none of them is about to
// end.
func (f *folder) runningIn(namespace string, want int) {
	f.Helper()
	f.eventually(func() string {
		running, ending := 0, 0
		for _, o := range f.get("pods", "--namespace="+namespace, "--field-selector=status.phase=Running") {
			running++
			if o.Metadata.Deletion != "" || o.Metadata.Annotations["plane/ends"] != "" {
				ending++
			}
		}
		if running != want || ending != 0 {
			return fmt.Sprintf("%s: %d pods run, want %d; %d are about to end", namespace, running, want, ending)
		}
		return ""
	})
}

// end lets one running pod in a namespace succeed.
func (f *folder) end(namespace string) {
	f.Helper()
	for _, o := range f.get("pods", "--namespace="+namespace, "--field-selector=status.phase=Running") {
		if o.Metadata.Deletion == "" && o.Metadata.Annotations["plane/ends"] == "" {
			f.kubectl("annotate", "pods", o.Metadata.Name, "--namespace="+namespace, "plane/ends=Succeeded")
			return
		}
	}
	f.Fatalf("no pod runs in %s", namespace)
}

// enqueue creates a job in a LocalQueue, as an administrator.
func (f *folder) enqueue(namespace, queue string, job fields) {
	f.Helper()
	metadata := job["metadata"].(fields)
	metadata["namespace"] = namespace
	metadata["labels"] = fields{"kueue.x-k8s.io/queue-name": queue}
	if err := f.plane.Submit(f.ctx, plane.Member{}, job, false); err != nil {
		f.Fatal(err)
	}
}

// quotaJob returns a Job whose pods request resources and run until they are deleted.
func quotaJob(name string, pods int, resources fields) fields {
	return fields{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": name},
		"spec": quotaJobSpec(pods, resources),
	}
}

// quotaJobSpec returns the spec of quotaJob.
func quotaJobSpec(pods int, resources fields) fields {
	return fields{
		"parallelism": pods, "completions": pods,
		"template": fields{"spec": fields{
			"restartPolicy": "Never",
			"containers": []any{fields{
				"name": "main", "image": "busybox:1.37",
				"resources": fields{"requests": resources, "limits": resources},
			}},
		}},
	}
}

// assigned waits until Kueue has reserved quota of these flavors for a job, by pod set and
// resource.
func (f *folder) assigned(namespace, job string, want map[string]fields) {
	f.Helper()
	f.eventually(func() string {
		w := f.workload(namespace, job)
		if !w.is("QuotaReserved") {
			return fmt.Sprint(w, " has no quota: ", w.Status.Conditions)
		}
		got := map[string]fields{}
		for _, a := range w.Status.Admission.PodSetAssignments {
			got[a.Name] = fields{}
			for resource, flavor := range a.Flavors {
				got[a.Name][resource] = flavor
			}
		}
		return cmp.Diff(want, got)
	})
}
