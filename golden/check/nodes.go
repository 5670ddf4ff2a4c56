package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// checkNodes checks that the nodes that Terraform creates match Kueue's description
// of them. A ResourceFlavor must have exactly the taints of its node pools, and only
// labels that the pools or GKE set. A pool must be obtained in the way that its
// label resource-type names.
func checkNodes(folder fs.FS) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	pools, err := NodePools(folder)
	if err != nil {
		return []error{err}
	}
	if _, err := fs.Stat(folder, "kubernetes/resource-flavors.yaml"); errors.Is(err, fs.ErrNotExist) {
		return checkKAINodes(folder, pools)
	}
	flavors, err := ResourceFlavors(folder)
	if err != nil {
		return []error{err}
	}
	served := map[string]bool{"system": true}
	for _, f := range flavors {
		if _, ok := f.Spec.NodeLabels[computeClassLabel]; ok {
			continue // GKE creates its nodes; see kubernetesCheck.classFlavor
		}
		capacity, ok := f.Spec.NodeLabels[CapacityLabel]
		if !ok {
			checkAutoProvisioned(f, fail)
			continue
		}
		i := slices.IndexFunc(pools, func(p NodePool) bool { return p.Labels[CapacityLabel] == capacity })
		if i < 0 {
			fail("ResourceFlavor %s: there is no node pool %q", f.Name, capacity)
			continue
		}
		pool := pools[i]
		served[pool.Label] = true
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
		if !served[p.Label] {
			fail("node pool %s: no ResourceFlavor stands for it", p.Label)
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
func (p NodePool) checkOption(option string) []error {
	affinity := map[string][]string{
		"reservation":     {"SPECIFIC_RESERVATION"},
		"any-reservation": {"ANY_RESERVATION", "ANY_RESERVATION_THEN_FAIL"},
	}[option]
	if affinity == nil {
		affinity = []string{"NO_RESERVATION"}
	}
	specific := p.reservationKey == "compute.googleapis.com/reservation-name" && p.reservation != ""
	none := p.reservationKey == "" && p.reservation == ""
	if p.spot != (option == "spot") || p.FlexStart != (option == "flex-start") || p.Queued && !p.FlexStart ||
		!slices.Contains(affinity, p.Affinity) || option == "reservation" && !specific ||
		option != "reservation" && !none {
		return []error{fmt.Errorf(
			"node pool %s is labelled %q, and has spot=%v, flex_start=%v, queued=%v, reservation affinity %s of %s %s",
			p.Label, option, p.spot, p.FlexStart, p.Queued, p.Affinity, p.reservationKey, p.reservation)}
	}
	return nil
}

func ResourceFlavors(folder fs.FS) ([]kueue.ResourceFlavor, error) {
	return decodeObjects[kueue.ResourceFlavor](folder, "kubernetes/resource-flavors.yaml", "ResourceFlavor")
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
