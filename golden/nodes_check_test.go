package golden_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// checkNodes holds what Terraform makes against what Kueue believes of it: a
// ResourceFlavor has exactly the taints of its node pool and only labels that
// the pool or GKE gives, and a pool is obtained as its label resource-type
// says.
func checkNodes(folder fs.FS) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	pools, err := nodePools(folder)
	if err != nil {
		return []error{err}
	}
	flavors, err := resourceFlavors(folder)
	if err != nil {
		return []error{err}
	}
	served := map[string]bool{"system": true}
	for _, f := range flavors {
		name, static := f.Spec.NodeLabels["cloud.google.com/gke-nodepool"]
		if !static {
			checkAutoProvisioned(f, fail)
			continue
		}
		pool, ok := pools[name]
		if !ok {
			fail("ResourceFlavor %s: there is no node pool %q", f.Name, name)
			continue
		}
		served[name] = true
		for key, value := range f.Spec.NodeLabels {
			if got := pool.label(key); got != value {
				fail("ResourceFlavor %s: nodes of its pool have %s=%q, not %q", f.Name, key, got, value)
			}
		}
		want := slices.Clone(pool.taints)
		if pool.queued { // added by GKE
			want = append(want, "cloud.google.com/gke-queued=true:NoSchedule")
		}
		if got := taints(f); !equalSets(got, want) {
			fail("ResourceFlavor %s has taints %q, and its pool %q", f.Name, got, want)
		}
		if pool.accelerator != "" && !slices.Contains(want, "nvidia.com/gpu=present:NoSchedule") {
			fail("node pool %s: GKE taints GPU nodes nvidia.com/gpu=present, and it has %q", name, want)
		}
		errs = append(errs, pool.checkOption(f.Spec.NodeLabels["resource-type"])...)
	}
	for name := range pools {
		if !served[name] {
			fail("node pool %s: no ResourceFlavor stands for it", name)
		}
	}
	return errs
}

// checkAutoProvisioned: the nodes come into being with the labels and taints
// that GKE's documentation of node auto-provisioning promises.
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
	if got := taints(f); !equalSets(got, want) {
		fail("ResourceFlavor %s has taints %q, and its nodes will have %q", f.Name, got, want)
	}
}

// nodePool is what Terraform says of a node pool.
type nodePool struct {
	name        string
	labels      map[string]string
	taints      []string // key=value:Effect, as Kubernetes spells it
	accelerator string
	spot        bool
	flexStart   bool
	queued      bool
	affinity    string // consume_reservation_type
}

// label returns a node's label: one the pool sets, or one GKE adds.
func (p nodePool) label(key string) string {
	switch key {
	case "cloud.google.com/gke-nodepool":
		return p.name
	case "cloud.google.com/gke-accelerator":
		return p.accelerator
	}
	return p.labels[key]
}

// checkOption holds a pool against the option its label names.
func (p nodePool) checkOption(option string) []error {
	want := nodePool{affinity: "NO_RESERVATION", spot: option == "spot", flexStart: option == "flex-start"}
	if option == "reservation" {
		want.affinity = "SPECIFIC_RESERVATION"
	}
	if p.spot != want.spot || p.flexStart != want.flexStart || p.affinity != want.affinity || p.queued && !p.flexStart {
		return []error{fmt.Errorf("node pool %s is labelled %q, and has spot=%v, flex_start=%v, queued=%v, reservation affinity %s",
			p.name, option, p.spot, p.flexStart, p.queued, p.affinity)}
	}
	return nil
}

func nodePools(folder fs.FS) (map[string]nodePool, error) {
	source, err := fs.ReadFile(folder, "terraform/node_pools.tf")
	if err != nil {
		return nil, err
	}
	file, diags := hclsyntax.ParseConfig(source, "node_pools.tf", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	pools := map[string]nodePool{}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if block.Type != "resource" || block.Labels[0] != "google_container_node_pool" {
			continue
		}
		p := nodePool{name: literal(block.Body, "name").AsString(), labels: map[string]string{}}
		for _, inner := range block.Body.Blocks {
			switch inner.Type {
			case "node_config":
				p.read(inner.Body)
			case "queued_provisioning":
				p.queued = literal(inner.Body, "enabled").True()
			}
		}
		pools[p.name] = p
	}
	return pools, nil
}

func (p *nodePool) read(config *hclsyntax.Body) {
	isTrue := func(v cty.Value) bool { return v != cty.NilVal && v.True() }
	p.spot, p.flexStart = isTrue(literal(config, "spot")), isTrue(literal(config, "flex_start"))
	if labels := literal(config, "labels"); labels != cty.NilVal {
		for key, value := range labels.AsValueMap() {
			p.labels[key] = value.AsString()
		}
	}
	effects := map[string]string{"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
	for _, b := range config.Blocks {
		switch b.Type {
		case "taint":
			p.taints = append(p.taints, fmt.Sprintf("%s=%s:%s", literal(b.Body, "key").AsString(), literal(b.Body, "value").AsString(),
				effects[literal(b.Body, "effect").AsString()]))
		case "guest_accelerator":
			p.accelerator = literal(b.Body, "type").AsString()
		case "reservation_affinity":
			p.affinity = literal(b.Body, "consume_reservation_type").AsString()
		}
	}
}

// literal returns an attribute's value, NilVal where it is absent or no
// literal.
func literal(body *hclsyntax.Body, name string) cty.Value {
	attr, ok := body.Attributes[name]
	if !ok {
		return cty.NilVal
	}
	value, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		return cty.NilVal
	}
	return value
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

func taints(f kueue.ResourceFlavor) []string {
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

// TestCheckNodes breaks the batch platform in ways that each half alone would
// let pass.
func TestCheckNodes(t *testing.T) {
	tree := compileFolder(t, root+"/blueprints/batch-platform")
	for _, test := range []struct{ name, file, old, new string }{
		{"pool taint", "terraform/node_pools.tf", `value  = "present"`, `value  = "true"`},
		{"flavor taint", "kubernetes/resource-flavors.yaml", "value: present", `value: "true"`},
		{"flavor label", "kubernetes/resource-flavors.yaml", "resource-type: spot", "resource-type: cheap"},
		{"pool label", "terraform/node_pools.tf", `resource-type = "reservation"`, `resource-type = "reserved"`},
		{"pool name", "terraform/node_pools.tf", `= "l4-spot"`, `= "l4-cheap"`},
		{"spot", "terraform/node_pools.tf", "spot            = true", "preemptible     = true"},
		{"affinity", "terraform/node_pools.tf", "SPECIFIC_RESERVATION", "ANY_RESERVATION"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := fstest.MapFS{}
			hit := false
			for _, f := range tree {
				content := string(f.Content)
				if f.Path == test.file {
					hit = strings.Contains(content, test.old)
					content = strings.ReplaceAll(content, test.old, test.new)
				}
				files[f.Path] = &fstest.MapFile{Data: []byte(content)}
			}
			if !hit {
				t.Fatalf("%s has no %q", test.file, test.old)
			}
			if len(checkNodes(files)) == 0 {
				t.Error("nothing found")
			}
		})
	}
}
