package folders_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestKubernetesOfEveryShape compiles platforms of TPU slices, of ComputeClasses,
// and of tiers that burst from one capacity into others. It runs the same checks on
// their manifests as on the goldens.
func TestKubernetesOfEveryShape(t *testing.T) {
	for name, platform := range map[string]string{
		"TPUs": `
zones: ["us-central1-a"]
hardware: {
	v6e: {machine: "ct6e-standard-4t", topology: "4x4"}
	v5p: {machine: "ct5p-hightpu-4t", topology: "2x2x2"}
	v5e: {machine: "ct5lp-hightpu-8t", topology: "2x4"}
}
capacity: {
	"v6e-reserved": {hardware: "v6e", consumption: reservation: name: "ours", slices: 4}
	"v6e-spot": {hardware: "v6e", consumption: spot: {}, maxSlices: 2}
	"v6e-flex": {
		hardware: "v6e", consumption: flexStart: {queued: true, maxRunSeconds: 86400}, maxSlices: 2
		accept: W0415: "promised by Google"
	}
	"v5p-owned": {hardware: "v5p", consumption: reservation: {name: "theirs", project: "other-project"}, maxSlices: 2}
	"v5e-spot": {hardware: "v5e", consumption: spot: {}, maxSlices: 8}
}
tiers: {
	large: {priority: 10, default: true, capacity: ["v6e-reserved", "v6e-spot"]}
	queued: {priority: 20, capacity: ["v6e-flex"]}
	shared: {priority: 30, capacity: ["v5p-owned"]}
	small: {priority: 40, capacity: ["v5e-spot"]}
}
teams: vision: quota: {
	large: {"v6e-reserved": accelerators: 64, "v6e-spot": accelerators: 32}
	queued: "v6e-flex": accelerators: 32
	shared: "v5p-owned": accelerators: 16
	small: "v5e-spot": accelerators: 16
}
workloads: {
	[string]: {perPod: {cpu: 8, memory: "64Gi"}, image: "python:3.13.1"}
	pretrain: {tier: "large", kind: "JobSet", slices: 2, perPod: accelerators: 4, rendezvous: {}, maxRunSeconds: 86400}
	tune: {tier: "large", kind: "JobSet", perPod: accelerators: 4}
	later: {tier: "queued", kind: "JobSet", copies: 2, perPod: accelerators: 4}
	eval: {tier: "shared", kind: "JobSet", slices: 2, perPod: accelerators: 4}
	infer: {tier: "small", pods: 2, perPod: accelerators: 8}
}
`,
		"ComputeClasses": `
zones: ["us-central1-a", "us-central1-b"]
cluster: minVersion: "1.36"
hardware: {
	l4: {machine: "g2-standard-24", localSSDs: 2}
	latest: {machine: "g2-standard-24", gpuDriver: "LATEST", disk: sizeGiB: 200}
	cpu: machine: "c3-standard-22"
}
capacity: [string]: {maxNodes: 4, computeClass: true}
capacity: {
	"l4-ondemand": {hardware: "l4", consumption: onDemand: {}}
	"l4-spot": {hardware: "latest", consumption: spot: {}, zones: ["us-central1-a"]}
	"l4-ours": {hardware: "l4", consumption: reservation: name: "ours", zones: ["us-central1-b"]}
	"l4-block": {
		hardware: "l4", zones: ["us-central1-a", "us-central1-b"]
		consumption: reservation: {name: "theirs", project: "other-project", block: "b", subBlock: "s"}
	}
	"l4-any": {hardware: "l4", consumption: anyReservation: {}}
	"l4-only": {hardware: "l4", consumption: anyReservation: otherwise: "none"}
	"l4-flex": {hardware: "latest", consumption: flexStart: maxRunSeconds: 3600}
	"cpu-spot": {hardware: "cpu", consumption: spot: {}}
}
tiers: {
	batch: {
		priority: 10, default: true
		capacity: ["l4-ours", "l4-block", "l4-any", "l4-only", "l4-ondemand", "l4-spot", "l4-flex"]
	}
	one: {priority: 20, capacity: ["l4-spot"]}
	cpu: {priority: 30, capacity: ["cpu-spot"]}
}
teams: vision: quota: {
	batch: {for c in tiers.batch.capacity {(c): accelerators: 4}}
	one: "l4-spot": accelerators: 4
	cpu: "cpu-spot": cpus: 44
}
workloads: {
	[string]: {perPod: {cpu: 4, memory: "32Gi"}, image: "python:3.13.1"}
	anywhere: {tier: "batch", pods: 2, perPod: accelerators: 2, rendezvous: {}}
	here: {tier: "one", kind: "JobSet", perPod: accelerators: 2}
	plain: {tier: "cpu", pods: 4}
}
`,
		"linked GPUs": `
zones: ["us-central1-a"]
hardware: gb200: machine: "a4x-highgpu-4g"
capacity: "gb200": {
	hardware: "gb200", consumption: reservation: {name: "ours", block: "b"}, nodes: 18
	accept: E1016: "the driver is installed"
}
tiers: large: {priority: 10, default: true, capacity: ["gb200"]}
teams: vision: quota: large: gb200: accelerators: 72
workloads: {
	[string]: {tier: "large", image: "python:3.13.1"}
	pretrain: {kind: "JobSet", pods: 18, perPod: {accelerators: 4, cpu: 100, memory: "400Gi"}, rendezvous: {}}
	tune: {pods: 2, perPod: {accelerators: 4, cpu: 100, memory: "400Gi"}, rendezvous: {}}
	probe: perPod: {accelerators: 1, cpu: 8, memory: "32Gi"}
}
`,
		"bursting": `
zones: ["us-central1-a", "us-central1-b"]
hardware: l4: machine: "g2-standard-24"
capacity: {
	"l4-reserved": {
		hardware: "l4", consumption: reservation: {name: "ours", create: true}, nodes: 2, zones: ["us-central1-a"]
	}
	"l4-queued": {hardware: "l4", consumption: flexStart: {queued: true, maxRunSeconds: 7200}, maxNodes: 4}
	"l4-class": {hardware: "l4", consumption: spot: {}, maxNodes: 4, computeClass: true}
	"l4-auto": {hardware: "l4", consumption: onDemand: {}, maxNodes: 4, autoProvisioned: true}
}
tiers: {
	burst: {priority: 10, default: true, capacity: ["l4-reserved", "l4-queued", "l4-class", "l4-auto"]}
	steady: {priority: 20, capacity: ["l4-reserved"]}
}
teams: vision: quota: {
	burst: {"l4-reserved": accelerators: 2, "l4-queued": accelerators: 4}
	burst: {"l4-class": accelerators: 4, "l4-auto": accelerators: 4}
	steady: "l4-reserved": accelerators: 2
}
workloads: {
	[string]: {perPod: {accelerators: 2, cpu: 8, memory: "32Gi"}, image: "python:3.13.1"}
	train: {tier: "burst", pods: 2, kind: "JobSet", maxRunSeconds: 3600}
	serve: {tier: "steady", maxRunSeconds: 600}
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, err := range check.Kubernetes(compileShape(t, platform)) {
				t.Error(err)
			}
		})
	}
}

// compileShape compiles a blueprint that is given without its first lines.
func compileShape(t *testing.T, platform string) fs.FS {
	t.Helper()
	dir := t.TempDir()
	blueprint := "package platform\n\nname: \"shapes\"\nproject: \"my-project\"\nregion: \"us-central1\"\n" + platform
	if err := os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(blueprint), 0o644); err != nil {
		t.Fatal(err)
	}
	return fixture.FS(compile.Folder(t, dir))
}

// TestRunTimes checks that a workload may run as long as it asks for and its nodes
// exist, and that nodes on request are requested for the same time.
func TestRunTimes(t *testing.T) {
	for _, test := range []struct {
		name, consumption, workload string
		deadline, request           string // "" for none
	}{
		{"no bound", "onDemand: {}", "", "", ""},
		{"its own", "onDemand: {}", "maxRunSeconds: 600", "600", ""},
		{"the nodes'", "flexStart: maxRunSeconds: 3600", "", "3600", ""},
		{"its own, on nodes that last longer", "flexStart: maxRunSeconds: 3600", "maxRunSeconds: 600", "600", ""},
		{"the nodes' on request", "flexStart: {queued: true, maxRunSeconds: 3600}", "", "3600", "3600"},
		{"its own on request", "flexStart: {queued: true, maxRunSeconds: 3600}", "maxRunSeconds: 600", "600", "600"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := compileShape(t, `
zones: ["us-central1-a"]
hardware: l4: machine: "g2-standard-24"
capacity: some: {hardware: "l4", maxNodes: 4, consumption: `+test.consumption+`}
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 4
workloads: train: {tier: "batch", perPod: {accelerators: 2, cpu: 2, memory: "10Gi"}, image: "python:3.13.1", `+
				test.workload+`}
`)
			text, err := fs.ReadFile(folder, "workloads/vision/train.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var job batchv1.Job
			if err := yaml.Unmarshal(text, &job); err != nil {
				t.Fatal(err)
			}
			deadline := ""
			if d := job.Spec.ActiveDeadlineSeconds; d != nil {
				deadline = strconv.FormatInt(*d, 10)
			}
			request := job.Annotations[check.MaxRunAnnotation]
			if deadline != test.deadline || request != test.request {
				t.Errorf("runs for %q on nodes for %q, want %q and %q", deadline, request, test.deadline, test.request)
			}
		})
	}
}
