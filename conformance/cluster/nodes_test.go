package cluster_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// pool is a node pool as Terraform would create it.
type pool struct {
	name        string
	nodes       int // all that it may grow to
	machine     string
	labels      map[string]string // with those that GKE adds
	taints      []taint
	accelerator int
}

type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// machines holds the sizes of the machine types in the folders, and their TPU
// chips. Terraform does not know them. Source: Compute Engine documentation,
// machine families; GKE documentation, TPUs.
var machines = map[string]struct {
	cpu, memoryGiB, chips int
	labels                map[string]string
}{
	"e2-standard-4":  {cpu: 4, memoryGiB: 16},
	"e2-standard-16": {cpu: 16, memoryGiB: 64},
	"e2-standard-8":  {cpu: 8, memoryGiB: 32},
	"n1-standard-4":  {cpu: 4, memoryGiB: 15},
	"n1-standard-16": {cpu: 16, memoryGiB: 60},
	"n2-standard-16": {cpu: 16, memoryGiB: 64},
	"c3-standard-22": {cpu: 22, memoryGiB: 88},
	"g2-standard-8":  {cpu: 8, memoryGiB: 32},
	"g2-standard-24": {cpu: 24, memoryGiB: 96},
	"g2-standard-48": {cpu: 48, memoryGiB: 192},
	"a2-highgpu-1g":  {cpu: 12, memoryGiB: 85},
	"a2-highgpu-2g":  {cpu: 24, memoryGiB: 170},
	"a3-highgpu-8g":  {cpu: 208, memoryGiB: 1872},
	"a3-ultragpu-8g": {cpu: 224, memoryGiB: 2952},
	"ct5lp-hightpu-4t": {
		cpu: 112, memoryGiB: 192, chips: 4,
		labels: map[string]string{"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"},
	},
}

// effects maps the provider's names of taint effects to Kubernetes' names.
var effects = map[string]string{
	"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}

// pools reads the node pools from the folder's Terraform, so that the scheduler
// meets the nodes that GKE would create, not the nodes that the queues expect. It
// adds the labels that GKE itself adds. Source: GKE documentation, node labels;
// Spot VMs; TPUs; flex-start with queued provisioning.
func (f *folder) pools() []pool {
	f.Helper()
	context := &hcl.EvalContext{
		Variables: map[string]cty.Value{"var": cty.ObjectVal(f.variables())},
		Functions: map[string]function.Function{"toset": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
			Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
			Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil },
		})},
	}
	var pools []pool
	for _, resource := range f.terraform("node_pools.tf").Blocks {
		if resource.Type != "resource" || resource.Labels[0] != "google_container_node_pool" {
			continue
		}
		b := block{f, resource.Body, context}
		names := []string{}
		if _, ok := resource.Body.Attributes["for_each"]; ok {
			for _, name := range b.value("for_each").AsValueSlice() {
				names = append(names, name.AsString())
			}
		} else {
			names = append(names, b.string("name"))
		}
		node := b.block("node_config")
		p := pool{machine: node.string("machine_type"), labels: map[string]string{}}
		machine, ok := machines[p.machine]
		if !ok {
			f.Fatalf("the test does not know the machine type %q", p.machine)
		}
		if b.has("node_count") { // in each zone
			p.nodes = b.int("node_count") * b.length("node_locations")
		} else {
			p.nodes = b.block("autoscaling").int("total_max_node_count")
		}
		if node.has("labels") {
			for key, value := range node.value("labels").AsValueMap() {
				p.labels[key] = value.AsString()
			}
		}
		maps.Copy(p.labels, machine.labels)
		p.accelerator = machine.chips
		for _, inner := range node.body.Blocks {
			b := block{f, inner.Body, context}
			switch inner.Type {
			case "taint":
				p.taints = append(p.taints, taint{b.string("key"), b.string("value"), effects[b.string("effect")]})
			case "guest_accelerator":
				p.accelerator = b.int("count")
				p.labels["cloud.google.com/gke-accelerator"] = b.string("type")
			}
		}
		if node.has("spot") && node.value("spot").True() {
			p.labels["cloud.google.com/gke-spot"] = "true"
		}
		for _, inner := range resource.Body.Blocks {
			b := block{f, inner.Body, context}
			switch {
			case inner.Type == "queued_provisioning" && b.value("enabled").True():
				p.labels["cloud.google.com/gke-queued"] = "true"
				p.taints = append(p.taints, taint{"cloud.google.com/gke-queued", "true", "NoSchedule"})
			case inner.Type == "placement_policy" && b.has("tpu_topology"):
				p.labels["cloud.google.com/gke-tpu-topology"] = b.string("tpu_topology")
			}
		}
		for _, name := range names {
			named := p
			named.name = name
			named.labels = maps.Clone(p.labels)
			named.labels["cloud.google.com/gke-nodepool"] = name
			pools = append(pools, named)
		}
	}
	return pools
}

// pool returns one of the folder's node pools.
func (f *folder) pool(name string) pool {
	f.Helper()
	pools := f.pools()
	i := slices.IndexFunc(pools, func(p pool) bool { return p.name == name })
	if i < 0 {
		f.Fatalf("Terraform has no node pool %q", name)
	}
	return pools[i]
}

// add creates the nodes of pools.
func (f *folder) add(pools ...pool) {
	f.Helper()
	var nodes []map[string]any
	for _, p := range pools {
		machine := machines[p.machine]
		resource := "nvidia.com/gpu"
		if machine.chips > 0 {
			resource = "google.com/tpu"
		}
		size := map[string]string{
			"cpu": strconv.Itoa(machine.cpu), "memory": fmt.Sprintf("%dGi", machine.memoryGiB), "pods": "110",
		}
		if p.accelerator > 0 {
			size[resource] = strconv.Itoa(p.accelerator)
		}
		left := maps.Clone(size)
		left["cpu"], left["memory"] = allocatable(machine.cpu, machine.memoryGiB)
		for range p.nodes {
			name := fmt.Sprintf("%s-%d", p.name, f.nodes)
			f.nodes++
			nodes = append(nodes, map[string]any{
				"apiVersion": "v1", "kind": "Node",
				"metadata": map[string]any{"name": name, "labels": p.labels},
				"spec":     map[string]any{"taints": p.taints},
				"status":   map[string]any{"capacity": size, "allocatable": left},
			})
		}
	}
	if err := f.plane.Create(f.ctx, nodes); err != nil {
		f.Fatal(err)
	}
}

// allocatable returns the cpu and memory that GKE leaves for pods on a node. Source:
// GKE documentation, "Plan node sizes".
func allocatable(cpu, memoryGiB int) (milliCPU, mebibytes string) {
	reserved := func(amount int, shares ...[2]int) int { // each an amount and the thousandths of it
		sum := 0
		for _, s := range shares {
			part := min(amount, s[0])
			sum += part * s[1]
			amount -= part
		}
		return sum
	}
	const rest = 1 << 20
	cores := reserved(1000*cpu, [2]int{1000, 600}, [2]int{1000, 100}, [2]int{2000, 50}, [2]int{rest, 25}) / 10_000
	memory := reserved(1024*memoryGiB, [2]int{4096, 250}, [2]int{4096, 200}, [2]int{8192, 100}, [2]int{112 * 1024, 60},
		[2]int{rest << 10, 20}) / 1000
	return fmt.Sprintf("%dm", 1000*cpu-cores), fmt.Sprintf("%dMi", 1024*memoryGiB-memory-100)
}

// variables returns the values in terraform.tfvars.
func (f *folder) variables() map[string]cty.Value {
	f.Helper()
	values := map[string]cty.Value{}
	for name, attribute := range f.terraform("terraform.tfvars").Attributes {
		value, diagnostics := attribute.Expr.Value(nil)
		if diagnostics.HasErrors() {
			f.Fatal(diagnostics)
		}
		values[name] = value
	}
	return values
}

func (f *folder) terraform(name string) *hclsyntax.Body {
	f.Helper()
	path := filepath.Join(f.dir, "terraform", name)
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	file, diagnostics := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
	if diagnostics.HasErrors() {
		f.Fatal(diagnostics)
	}
	return file.Body.(*hclsyntax.Body)
}

// block reads the attributes of an HCL block. Reading an attribute that is missing
// fails the test.
type block struct {
	f       *folder
	body    *hclsyntax.Body
	context *hcl.EvalContext
}

func (b block) has(name string) bool { return b.body.Attributes[name] != nil }

func (b block) value(name string) cty.Value {
	b.f.Helper()
	if !b.has(name) {
		b.f.Fatalf("%s: no %s", b.body.Range(), name)
	}
	value, diagnostics := b.body.Attributes[name].Expr.Value(b.context)
	if diagnostics.HasErrors() {
		b.f.Fatal(diagnostics)
	}
	return value
}

func (b block) string(name string) string { b.f.Helper(); return b.value(name).AsString() }

func (b block) int(name string) int {
	b.f.Helper()
	n, _ := b.value(name).AsBigFloat().Int64()
	return int(n)
}

// length returns the length of a list. Its elements may be values that only
// Terraform knows.
func (b block) length(name string) int {
	b.f.Helper()
	if b.has(name) {
		if tuple, ok := b.body.Attributes[name].Expr.(*hclsyntax.TupleConsExpr); ok {
			return len(tuple.Exprs)
		}
	}
	return b.value(name).LengthInt()
}

func (b block) block(name string) block {
	b.f.Helper()
	for _, inner := range b.body.Blocks {
		if inner.Type == name {
			return block{b.f, inner.Body, b.context}
		}
	}
	b.f.Fatalf("%s: no block %s", b.body.Range(), name)
	return block{}
}
