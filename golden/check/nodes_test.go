package check

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/golden/options"
)

// TestCheckNodes breaks platforms in ways that a check of Terraform or of the
// manifests alone would accept.
func TestCheckNodes(t *testing.T) {
	const pools, flavors = "terraform/node_pools.tf", "kubernetes/resource-flavors.yaml"
	breaks{
		{"pool taint", "batch", pools, `value  = "present"`, `value  = "true"`},
		{"flavor taint", "batch", flavors, "value: present", `value: "true"`},
		{"flavor label", "batch", flavors, "resource-type: spot", "resource-type: cheap"},
		{"pool label", "batch", pools, `resource-type = "reservation"`, `resource-type = "reserved"`},
		{"pool name", "batch", pools, `= "l4-spot"`, `= "l4-cheap"`},
		{"spot", "batch", pools, "spot            = true", "preemptible     = true"},
		{"affinity", "batch", pools, "SPECIFIC_RESERVATION", "ANY_RESERVATION"},
		{"reservation's key", "reservation", pools, `"compute.googleapis.com/reservation-name"`, `"reservation"`},
		{"any reservation", "any reservation", pools, `"ANY_RESERVATION"`, `"NO_RESERVATION"`},
		{
			"any reservation of a name", "any reservation", pools, `= "ANY_RESERVATION"`,
			"= \"ANY_RESERVATION\"\nvalues = [\"ours\"]",
		},
		{"label of queued nodes", "flex-start, queued", pools, `cloud.google.com/gke-queued`, `gke-queued`},
		{"taint of queued nodes", "flex-start, queued", flavors, `key: cloud.google.com/gke-queued`, `key: gke-queued`},

		{"pools of slices", "TPU slices, scaling", pools, `capacity      = "some-0"`, `capacity      = "some"`},
		{"pools of no slices", "TPU slices, none", pools, `capacity      = "some-0"`, `capacity      = "some"`},
		{"topology of a slice", "TPU slices, static", flavors, "gke-tpu-topology: 4x4", "gke-tpu-topology: 2x4"},
		{
			"topology of a linked slice", "TPU slices, linked by a policy", flavors, "gke-tpu-topology: 2x2x2",
			"gke-tpu-topology: 2x2x4",
		},
		{"topology of a host", "TPU hosts, static", flavors, "gke-tpu-topology: 2x4", "gke-tpu-topology: 2x2"},
		{"TPU", "TPU hosts, static", flavors, "tpu-v6e-slice", "tpu-v5p-slice"},
		{"TPU taint", "TPU hosts, static", flavors, "key: google.com/tpu", "key: nvidia.com/gpu"},
		{"Arm taint", "A4X, reservation", flavors, "key: kubernetes.io/arch", "key: arch"},

		{"pool of KAI's jobs", "KAI", pools, `= "some-0"`, `= "some"`},
		{"taint of KAI's nodes", "KAI, JobSet", pools, `value  = "present"`, `value  = "true"`},
		{"toleration of KAI's jobs", "kai", "workloads/project-d/interactive.yaml", "key: reserved", "key: spot"},
		{
			"selector of KAI's jobs", "kai", "workloads/project-d/interactive.yaml", "resource-type: reservation",
			"resource-type: spot",
		},

		{
			"pool of a ComputeClass", "ComputeClass", pools, "# The nodes for GKE's own pods, Kueue and JobSet.",
			"resource \"google_container_node_pool\" \"some_0\" {\n  name = \"some-0\"\n}",
		},
	}.checkEdits(t, checkNodes)
}

// breaks are edits of a platform's folder. The platform is the batch platform, the
// KAI Scheduler reference system, or the platform of an option, given by its name.
type breaks []struct{ name, platform, file, old, new string }

// checkEdits checks that check reports nothing for the unchanged platforms, and an
// error for each edit.
func (b breaks) checkEdits(t *testing.T, check func(fs.FS) []error) {
	for _, test := range b {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree := platformTree(t, test.platform)
			for _, err := range check(fixture.FS(tree)) {
				t.Errorf("before the edit: %v", err)
			}
			i := slices.IndexFunc(tree, func(f emit.File) bool { return f.Path == test.file })
			edited := strings.ReplaceAll(string(tree[i].Content), test.old, test.new)
			if edited == string(tree[i].Content) {
				t.Fatalf("%s has no %q", test.file, test.old)
			}
			tree[i].Content = []byte(edited)
			if len(check(fixture.FS(tree))) == 0 {
				t.Error("nothing found")
			}
		})
	}
}

// platformTree returns the folder of a platform of breaks. It is compiled once.
func platformTree(t *testing.T, platform string) emit.Tree {
	t.Helper()
	switch platform {
	case "batch":
		return compile.Reference(t, "batch-platform")
	case "kai":
		return compile.Reference(t, "kai-departments")
	}
	all := options.All()
	i := slices.IndexFunc(all, func(o options.Option) bool { return o.Name == platform })
	if i < 0 {
		t.Fatalf("no option %q", platform)
	}
	return compile.Text(t, all[i].Blueprint())
}
