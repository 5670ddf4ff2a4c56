package golden_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/emit"
)

// checkNodes checks that the nodes that Terraform creates match Kueue's description
// of them. A ResourceFlavor must have exactly the taints of its node pools, and only
// labels that the pools or GKE set. A pool must be obtained in the way that its
// label resource-type names.
func checkNodes(folder fs.FS) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	pools, err := nodePools(folder)
	if err != nil {
		return []error{err}
	}
	if _, err := fs.Stat(folder, "kubernetes/resource-flavors.yaml"); errors.Is(err, fs.ErrNotExist) {
		return checkKAINodes(folder, pools)
	}
	flavors, err := resourceFlavors(folder)
	if err != nil {
		return []error{err}
	}
	served := map[string]bool{"system": true}
	for _, f := range flavors {
		if _, ok := f.Spec.NodeLabels[computeClassLabel]; ok {
			continue // GKE creates its nodes; see kubernetesCheck.classFlavor
		}
		capacity, ok := f.Spec.NodeLabels[capacityLabel]
		if !ok {
			checkAutoProvisioned(f, fail)
			continue
		}
		i := slices.IndexFunc(pools, func(p nodePool) bool { return p.labels[capacityLabel] == capacity })
		if i < 0 {
			fail("ResourceFlavor %s: there is no node pool %q", f.Name, capacity)
			continue
		}
		pool := pools[i]
		served[pool.label] = true
		for key, value := range f.Spec.NodeLabels {
			if got := pool.nodeLabel(key); got != value {
				fail("ResourceFlavor %s: nodes of its pool have %s=%q, not %q", f.Name, key, got, value)
			}
		}
		if got, want := flavorTaints(f), pool.nodeTaints(); !equalSets(got, want) {
			fail("ResourceFlavor %s has taints %q, and its pool %q", f.Name, got, want)
		}
		errs = append(errs, pool.checkOption(f.Spec.NodeLabels["resource-type"])...)
	}
	for _, p := range pools {
		if !served[p.label] {
			fail("node pool %s: no ResourceFlavor stands for it", p.label)
		}
	}
	return errs
}

// checkAutoProvisioned checks that nodes are created with the labels and taints that
// GKE's documentation of node auto-provisioning describes.
func checkAutoProvisioned(f kueue.ResourceFlavor, fail func(string, ...any)) {
	known := []string{
		"cloud.google.com/gke-accelerator", "cloud.google.com/gke-spot", "cloud.google.com/machine-family",
		"cloud.google.com/gke-provisioning",
	}
	for key := range f.Spec.NodeLabels {
		if !slices.Contains(known, key) {
			fail("ResourceFlavor %s: auto-provisioned nodes have no label %s", f.Name, key)
		}
	}
	var want []string
	if f.Spec.NodeLabels["cloud.google.com/gke-accelerator"] != "" {
		want = append(want, "nvidia.com/gpu=present:NoSchedule")
	}
	if f.Spec.NodeLabels["cloud.google.com/gke-spot"] == "true" {
		want = append(want, "cloud.google.com/gke-spot=true:NoSchedule")
	}
	if got := flavorTaints(f); !equalSets(got, want) {
		fail("ResourceFlavor %s has taints %q, and its nodes will have %q", f.Name, got, want)
	}
}

// checkOption checks that a pool is obtained through the option that its label
// names.
func (p nodePool) checkOption(option string) []error {
	affinity := map[string][]string{
		"reservation":     {"SPECIFIC_RESERVATION"},
		"any-reservation": {"ANY_RESERVATION", "ANY_RESERVATION_THEN_FAIL"},
	}[option]
	if affinity == nil {
		affinity = []string{"NO_RESERVATION"}
	}
	specific := p.reservationKey == "compute.googleapis.com/reservation-name" && p.reservation != ""
	none := p.reservationKey == "" && p.reservation == ""
	if p.spot != (option == "spot") || p.flexStart != (option == "flex-start") || p.queued && !p.flexStart ||
		!slices.Contains(affinity, p.affinity) || option == "reservation" && !specific ||
		option != "reservation" && !none {
		return []error{fmt.Errorf(
			"node pool %s is labelled %q, and has spot=%v, flex_start=%v, queued=%v, reservation affinity %s of %s %s",
			p.label, option, p.spot, p.flexStart, p.queued, p.affinity, p.reservationKey, p.reservation)}
	}
	return nil
}

func resourceFlavors(folder fs.FS) ([]kueue.ResourceFlavor, error) {
	content, err := fs.ReadFile(folder, "kubernetes/resource-flavors.yaml")
	if err != nil {
		return nil, err
	}
	var out []kueue.ResourceFlavor
	for _, doc := range strings.Split(string(content), "\n---\n") {
		var f kueue.ResourceFlavor
		if err := yaml.UnmarshalStrict([]byte(doc), &f); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func flavorTaints(f kueue.ResourceFlavor) []string {
	var out []string
	for _, t := range f.Spec.NodeTaints {
		out = append(out, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return out
}

func equalSets(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

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
			var tree emit.Tree
			switch test.platform {
			case "batch":
				tree = compileFolder(t, root+"/blueprints/batch-platform")
			case "kai":
				tree = compileFolder(t, root+"/blueprints/kai-departments")
			default:
				tree = compileText(t, optionNamed(t, test.platform).optionBlueprint())
			}
			for _, err := range check(treeFS(tree)) {
				t.Errorf("before the edit: %v", err)
			}
			i := slices.IndexFunc(tree, func(f emit.File) bool { return f.Path == test.file })
			edited := strings.ReplaceAll(string(tree[i].Content), test.old, test.new)
			if edited == string(tree[i].Content) {
				t.Fatalf("%s has no %q", test.file, test.old)
			}
			tree[i].Content = []byte(edited)
			if len(check(treeFS(tree))) == 0 {
				t.Error("nothing found")
			}
		})
	}
}
