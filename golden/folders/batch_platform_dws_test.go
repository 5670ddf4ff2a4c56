package folders_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// The tables of the batch platform with Dynamic Workload Scheduler, written by hand
// from the reference.
var (
	// Pool, machine, GPUs of a node, and how the nodes are obtained.
	dwsPools = []string{
		"a100-dws a2-highgpu-2g 2 nvidia-tesla-a100 queued flex-start",
		"h100-dws a3-highgpu-8g 8 nvidia-h100-80gb queued flex-start",
	}
	// Flavor, nominal GPUs, and the check for which a job of the flavor waits. One
	// ClusterQueue has both flavors, with 20 GPUs in total.
	dwsQuota = []string{
		"a100-dws 4 dws-a100-dws",
		"h100-dws 16 dws-h100-dws",
	}
	dwsGPUs = int64(20)
	// Job, GPUs, model, capacity, seconds.
	dwsJobs = []string{
		"team-a/finetune-gemma-2b 2 google/gemma-2b a100-dws 14400",
		"team-b/finetune-gemma-7b 8 google/gemma-7b h100-dws 14400",
	}
	// The files that must differ from the batch platform's own folder. All other
	// files are equal, byte for byte.
	dwsChanges = []string{
		".batchwright/manifest.json",
		"DEMONSTRATION.md", // two more phases
		"README.md",
		"REFERENCE.md",
		"USING.md",
		"dashboards/alert-rules.yaml",               // jobs that wait for a check
		"dashboards/cloud-monitoring/kueue.json",    // jobs that wait for a check
		"dashboards/cloud-monitoring/team.json",     // shared queues
		"dashboards/grafana/kueue.json",             // as in Cloud Monitoring
		"dashboards/grafana/team.json",              // as in Cloud Monitoring
		"demonstrate.sh",                            // more capacities and phases
		"kubernetes/kustomization.yaml",             // more files
		"kubernetes/priority-classes.yaml",          // dws
		"kubernetes/resource-flavors.yaml",          // two more
		"kubernetes/system/admission-policies.yaml", // limits of the tier's pods
		"kubernetes/teams/team-a.yaml",              // the LocalQueue
		"kubernetes/teams/team-b.yaml",              // the LocalQueue
		"terraform/cluster.tf",                      // limits of auto-provisioning
		"terraform/monitoring.tf",                   // an alert
		"terraform/node_pools.tf",                   // two more
		"workloads/team-a/kustomization.yaml",       // the job
		"workloads/team-b/kustomization.yaml",       // the job
	}
	dwsAdded = []string{
		"kubernetes/admission-checks.yaml",
		"kubernetes/shared-queues.yaml",
		"workloads/team-a/finetune-gemma-2b-files.yaml",
		"workloads/team-a/finetune-gemma-2b.yaml",
		"workloads/team-b/finetune-gemma-7b-files.yaml",
		"workloads/team-b/finetune-gemma-7b.yaml",
	}
	dwsRemoved []string // no file
)

func dwsFolder(t *testing.T) fs.FS {
	t.Helper()
	return fixture.FS(compile.Reference(t, "batch-platform-dws"))
}

func TestDWSPools(t *testing.T) {
	pools, err := check.NodePools(dwsFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pools {
		if p.Queued || p.FlexStart {
			how := ""
			if p.Queued && p.FlexStart && p.Affinity == "NO_RESERVATION" && p.Nodes < 0 {
				how = "queued flex-start"
			}
			got = append(got,
				fmt.Sprintf("%s %s %d %s %s", p.Names[0], p.Machine.Type, p.Machine.Count, p.Machine.Accelerator, how))
		}
	}
	if d := cmp.Diff(dwsPools, got); d != "" {
		t.Errorf("(-reference +compiled):\n%s", d)
	}
}

func TestDWSQueue(t *testing.T) {
	files := dwsFolder(t)
	queues := check.ObjectsIn[kueue.ClusterQueue](t, files, "kubernetes/shared-queues.yaml", "ClusterQueue")
	if len(queues) != 1 || len(queues[0].Spec.ResourceGroups) != 1 {
		t.Fatalf("%d shared queues, want one with one group of flavors", len(queues))
	}
	cq := queues[0]
	if cq.Name != "dws-cluster-queue" || cq.Spec.QueueingStrategy != kueue.BestEffortFIFO || cq.Spec.CohortName != "" ||
		cq.Spec.Preemption != nil {
		t.Errorf("%s: %s, cohort %q, preemption %v", cq.Name, cq.Spec.QueueingStrategy, cq.Spec.CohortName,
			cq.Spec.Preemption)
	}
	namespaces := check.NamespacesOf(cq.Spec.NamespaceSelector)
	if want := []string{"team-a", "team-b"}; !slices.Equal(namespaces, want) {
		t.Errorf("shared by %v, want %v", namespaces, want)
	}
	checks := map[kueue.ResourceFlavorReference]string{}
	for _, c := range cq.Spec.AdmissionChecksStrategy.AdmissionChecks {
		for _, f := range c.OnFlavors {
			checks[f] += string(c.Name)
		}
	}
	var got []string
	sum := int64(0)
	for _, f := range cq.Spec.ResourceGroups[0].Flavors {
		for _, r := range f.Resources {
			if r.Name == "nvidia.com/gpu" {
				sum += r.NominalQuota.Value()
				got = append(got, fmt.Sprintf("%s %s %s", f.Name, r.NominalQuota.String(), checks[f.Name]))
				delete(checks, f.Name)
			}
		}
	}
	if d := cmp.Diff(dwsQuota, got); d != "" || sum != dwsGPUs || len(checks) != 0 {
		t.Errorf("%d GPUs, want %d; checks on other flavors: %v (-reference +compiled):\n%s", sum, dwsGPUs, checks, d)
	}
	for _, c := range check.ObjectsIn[kueue.ProvisioningRequestConfig](t, files, "kubernetes/admission-checks.yaml",
		"ProvisioningRequestConfig") {
		if c.Spec.ProvisioningClassName != "queued-provisioning.gke.io" ||
			!slices.Equal(c.Spec.ManagedResources, []corev1.ResourceName{"nvidia.com/gpu"}) {
			t.Errorf("%s asks for %v by %s", c.Name, c.Spec.ManagedResources, c.Spec.ProvisioningClassName)
		}
	}
	const file = "kubernetes/admission-checks.yaml"
	for _, c := range check.ObjectsIn[kueue.AdmissionCheck](t, files, file, "AdmissionCheck") {
		if c.Spec.ControllerName != "kueue.x-k8s.io/provisioning-request" || c.Spec.Parameters.Name != c.Name {
			t.Errorf("%s is %s of %v", c.Name, c.Spec.ControllerName, c.Spec.Parameters)
		}
	}
	var local []string
	for _, team := range batchPlatformTeams {
		for _, lq := range check.ObjectsIn[kueue.LocalQueue](t, files, "kubernetes/teams/"+team+".yaml", "LocalQueue") {
			if lq.Spec.ClusterQueue == "dws-cluster-queue" {
				local = append(local, lq.Namespace+"/"+lq.Name)
			}
		}
	}
	if want := []string{"team-a/lq-team-a-dws", "team-b/lq-team-b-dws"}; !slices.Equal(local, want) {
		t.Errorf("local queues %v, want %v", local, want)
	}
}

// TestBuildKeepsQueues checks that the manifests that the build reads have all
// ClusterQueues, because the build stops every other ClusterQueue.
func TestBuildKeepsQueues(t *testing.T) {
	files := dwsFolder(t)
	build, err := fs.ReadFile(files, "cloudbuild/provision.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubernetes/shared-queues.yaml", "kubernetes/teams"} {
		if _, err := fs.Stat(files, name); err != nil || !strings.Contains(string(build), " "+name) {
			t.Errorf("%s: %v, or the build does not look there", name, err)
		}
	}
	if err := fs.WalkDir(files, "kubernetes", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "kubernetes/shared-queues.yaml" ||
			strings.HasPrefix(name, "kubernetes/teams/") {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if strings.Contains(string(content), "kind: ClusterQueue\n") {
			t.Errorf("%s has ClusterQueues that the build would stop", name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestDWSJobs(t *testing.T) {
	files := dwsFolder(t)
	var got []string
	for _, name := range []string{
		"workloads/team-a/finetune-gemma-2b.yaml", "workloads/team-b/finetune-gemma-7b.yaml",
	} {
		job := check.ObjectsIn[batchv1.Job](t, files, name, "Job")[0]
		pod := job.Spec.Template.Spec
		container := pod.Containers[0]
		env := map[string]corev1.EnvVar{}
		for _, e := range container.Env {
			env[e.Name] = e
		}
		got = append(got,
			fmt.Sprintf("%s/%s %s %s %s %s", job.Namespace, job.Name,
				container.Resources.Limits.Name("nvidia.com/gpu", "").String(),
				env["MODEL"].Value, pod.NodeSelector[check.CapacityLabel], job.Annotations[check.MaxRunAnnotation]))
		if want := "lq-" + job.Namespace + "-dws"; job.Labels["kueue.x-k8s.io/queue-name"] != want ||
			*job.Spec.Completions != 1 {
			t.Errorf("%s: %d pods in queue %s, want 1 in %s", name, *job.Spec.Completions,
				job.Labels["kueue.x-k8s.io/queue-name"], want)
		}
		want := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "hf-secret"}, Key: "hf_api_token",
		}}
		if d := cmp.Diff(want, env["HF_TOKEN"].ValueFrom); d != "" || env["HF_TOKEN"].Value != "" {
			t.Errorf("%s: HF_TOKEN is %q (-reference +compiled):\n%s", name, env["HF_TOKEN"].Value, d)
		}
		if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == "/dev/shm" && slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
				return v.Name == m.Name && v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory
			})
		}) {
			t.Errorf("%s: /dev/shm is not in memory", name)
		}
	}
	if d := cmp.Diff(dwsJobs, got); d != "" {
		t.Errorf("(-reference +compiled):\n%s", d)
	}
}

// TestDWSLeavesTheRest checks that the overlay adds to the batch platform and
// changes only what it must.
func TestDWSLeavesTheRest(t *testing.T) {
	files := dwsFolder(t)
	base := os.DirFS(fixture.Path("golden/batch-platform"))
	list := func(folder fs.FS) []string {
		var names []string
		if err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return names
	}
	var changed, added, removed []string
	there := list(files)
	for _, name := range list(base) {
		if !slices.Contains(there, name) {
			removed = append(removed, name)
			continue
		}
		want, err := fs.ReadFile(base, name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			changed = append(changed, name)
		}
		there = slices.DeleteFunc(there, func(n string) bool { return n == name })
	}
	added = there
	for _, c := range []struct {
		what      string
		want, got []string
	}{{"changed", dwsChanges, changed}, {"added", dwsAdded, added}, {"removed", dwsRemoved, removed}} {
		slices.Sort(c.want)
		slices.Sort(c.got)
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("files %s (-expected +compiled):\n%s", c.what, d)
		}
	}
	for _, team := range batchPlatformTeams {
		before, err := fs.ReadFile(base, "kubernetes/teams/"+team+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		// after the namespace, which lists its queues
		for _, document := range strings.Split(string(before), "\n---\n")[1:] {
			if strings.Contains(document, "name: "+ir.TeamQuota+"\n") {
				continue // it adds the accelerators of all queues
			}
			after, err := fs.ReadFile(files, "kubernetes/teams/"+team+".yaml")
			if err != nil || !strings.Contains(string(after), strings.TrimSuffix(document, "\n")) {
				t.Errorf("%s lost or changed:\n%s", team, document)
			}
		}
	}
}
