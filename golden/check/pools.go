package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// Pools checks that node pools match their machines, and the reservations and
// policies to which they refer. It reports pools that GKE would refuse, that would
// get no machine from their reservation, or that Terraform would replace at the next
// apply.
func Pools(folder fs.FS) []error {
	pools, err := NodePools(folder)
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, p := range pools {
		for _, err := range slices.Concat(p.checkMachine(), p.checkSize(), p.checkPlacement()) {
			errs = append(errs, fmt.Errorf("node pool %s: %w", p.Label, err))
		}
	}
	return append(errs, checkReservations(folder, pools)...)
}

// NodePool holds Terraform's settings for one node pool, or for several identical
// ones.
type NodePool struct {
	Label string   // Label of the resource
	Names []string // Names of the pools
	each  bool     // whether the names are those of a for_each

	Machine  hardware
	Labels   map[string]string
	Taints   []string // key=value:Effect, spelled as in Kubernetes
	zones    string   // source of node_locations
	Nodes    int      // node_count; -1 if the pool scales
	PerZone  [2]int   // fewest and most nodes in a zone, if the pool scales by zone
	Compact  bool
	Topology string // tpu_topology
	Policy   string // Topology that a workload policy names

	Networks []string // keys of the networks besides the cluster's own

	spot, FlexStart, Queued bool

	Affinity       string // consume_reservation_type
	reservationKey string
	reservation    string // source of its values
}

// noPolicy is the topology of a policy that is missing or not a workload policy.
const noPolicy = "none"

// hardware holds the fields that a reservation and the pool that consumes it have in
// common.
type hardware struct {
	Type        string
	Accelerator string
	Count       int
	SSDs        int
}

// nodeLabel returns a label of the pool's nodes, which the pool sets or GKE adds.
func (p NodePool) nodeLabel(key string) string {
	m, _ := catalog.Lookup(p.Machine.Type)
	switch key {
	case nodePoolLabel:
		if len(p.Names) == 1 {
			return p.Names[0]
		}
		return ""
	case "cloud.google.com/gke-accelerator":
		return p.Machine.Accelerator
	case "cloud.google.com/gke-tpu-accelerator":
		if m.HasTPUs() {
			return m.Accelerator
		}
		return ""
	case TopologyLabel:
		if topology := p.Topology + p.Policy; topology != "" && m.HasTPUs() {
			return topology
		}
		for _, s := range m.Slices() {
			if s.Hosts == 1 { // every machine type forms one such slice
				return s.Topology
			}
		}
		return ""
	}
	return p.Labels[key]
}

// nodeTaints returns the taints of the pool's nodes, which the pool sets or GKE
// adds.
func (p NodePool) nodeTaints() []string {
	out := slices.Clone(p.Taints)
	if p.Queued {
		out = append(out, "cloud.google.com/gke-queued=true:NoSchedule")
	}
	if m, _ := catalog.Lookup(p.Machine.Type); m.Arch == "arm64" {
		out = append(out, "kubernetes.io/arch=arm64:NoSchedule")
	}
	return out
}

// checkMachine checks that accelerators and local SSDs belong to the machine type,
// or can be attached to it.
func (p NodePool) checkMachine() []error {
	m, ok := catalog.Usable(p.Machine.Type)
	if !ok {
		return []error{fmt.Errorf("there is no machine type %q", p.Machine.Type)}
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	taint := ""
	switch {
	case m.HasTPUs():
		taint = "google.com/tpu=present:NoSchedule"
		if p.Machine.Accelerator != "" {
			fail("a TPU comes with its machine type, and %s is declared", p.Machine.Accelerator)
		}
	case m.Accelerator != "":
		taint = "nvidia.com/gpu=present:NoSchedule"
		if p.Machine.Accelerator != m.Accelerator || p.Machine.Count != m.Count {
			fail("%s has %d %s, and %d %s are declared", m.Type, m.Count, m.Accelerator, p.Machine.Count,
				p.Machine.Accelerator)
		}
	case p.Machine.Accelerator != "":
		taint = "nvidia.com/gpu=present:NoSchedule"
		if m, ok = catalog.Find(p.Machine.Type, p.Machine.Accelerator, p.Machine.Count); !ok {
			fail("%s takes no %d %s", p.Machine.Type, p.Machine.Count, p.Machine.Accelerator)
		}
	}
	if taint != "" && !slices.Contains(p.Taints, taint) {
		fail("GKE taints such nodes %s, and it has %q", taint, p.Taints)
	}
	if n := p.Machine.SSDs; n != m.SSDs.Bundled && !slices.Contains(m.SSDs.Allowed, n) {
		fail("%s has %d local SSDs and takes one of %v, and %d are declared", p.Machine.Type, m.SSDs.Bundled,
			m.SSDs.Allowed, n)
	}
	return errs
}

// checkSize checks the number of nodes of a TPU slice: GKE requires the maximum of a
// zone to equal the number of the slice's hosts, and creates all of them or none.
func (p NodePool) checkSize() []error {
	m, _ := catalog.Lookup(p.Machine.Type)
	hosts := 1
	if s, ok := m.Slice(p.nodeLabel(TopologyLabel)); ok {
		hosts = s.Hosts
	}
	switch {
	case !m.HasTPUs():
	case p.Nodes >= 0 && hosts > 1 && p.Nodes != 0 && p.Nodes != hosts:
		return []error{fmt.Errorf("a slice has %d hosts, and the pool %d nodes", hosts, p.Nodes)}
	case p.Nodes < 0 && hosts > 1 && p.PerZone != [2]int{0, hosts}:
		return []error{fmt.Errorf("a slice has %d hosts, and the pool scales between %v nodes", hosts, p.PerZone)}
	}
	return nil
}

// checkPlacement checks that a slice of several hosts has a topology, and the pool
// for itself.
func (p NodePool) checkPlacement() []error {
	m, _ := catalog.Lookup(p.Machine.Type)
	slice, _ := m.Slice(p.Topology + p.Policy)
	byPolicy := strings.HasPrefix(p.Machine.Type, "a4x-") || p.each && strings.HasPrefix(p.Machine.Type, "tpu7x-")
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.each != (slice.Hosts > 1) {
		fail("for_each is for slices of several hosts, and one of topology %q has %d", p.Topology+p.Policy, slice.Hosts)
	}
	if byPolicy != (p.Policy != "") || p.Policy == noPolicy {
		fail("workload policy of topology %q for %s", p.Policy, p.Machine.Type)
	}
	if p.Topology != "" && p.Policy != "" {
		fail("topology %q beside a policy of %q", p.Topology, p.Policy)
	}
	if p.Topology+p.Policy != "" && !p.Compact {
		fail("linked nodes stand compactly")
	}
	for i, name := range p.Names {
		if p.each && name != p.Labels["capacity"]+"-"+strconv.Itoa(i) {
			fail("pool %d of capacity %q is named %q", i, p.Labels["capacity"], name)
		}
	}
	return errs
}

// checkReservations checks that each reservation is consumed by one pool, which has
// the same size, zone and hardware.
func checkReservations(folder fs.FS, pools []NodePool) []error {
	resources, err := TerraformResources(folder, "terraform/reservations.tf", "google_compute_reservation")
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, r := range resources {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("reservation %s: %w", r.label, fmt.Errorf(format, args...)))
		}
		address := "google_compute_reservation." + r.label
		consumes := func(p NodePool) bool { return p.reservation == "["+address+".name]" }
		i := slices.IndexFunc(pools, consumes)
		if i < 0 || slices.ContainsFunc(pools[i+1:], consumes) {
			fail("not exactly one node pool consumes it")
			continue
		}
		specific := r.FirstBlock("specific_reservation")
		got, want := specific.FirstBlock("instance_properties").hardwareOf("guest_accelerators", "accelerator_type",
			"accelerator_count"), pools[i].Machine
		if got != want {
			fail("%+v are reserved, and its pool has %+v", got, want)
		}
		if n := specific.NumberOf("count"); n != pools[i].Nodes {
			fail("%d machines are reserved, and its pool has %d", n, pools[i].Nodes)
		}
		// A reference to the zone would be its URL, which GKE does not accept.
		if want := "[" + r.SourceOf("zone") + "]"; pools[i].zones != want && pools[i].zones != "var.zones" {
			fail("its pool stands in %s, not in %s", pools[i].zones, want)
		}
		if !r.IsTrue("specific_reservation_required") {
			fail("any machine could consume it")
		}
	}
	return errs
}

// Block is the body of a block, with the values to which its expressions may refer.
type Block struct {
	*hclsyntax.Body
	label  string // Label of a resource
	source []byte
	ctx    *hcl.EvalContext
}

// readBlocks returns the blocks of a type in a Terraform file, in their order.
func readBlocks(folder fs.FS, name, kind string) ([]Block, error) {
	file, err := readFile(folder, name)
	var out []Block
	for _, b := range file.Blocks {
		if b.Type == kind {
			out = append(out, Block{b.Body, strings.Join(b.Labels, "."), file.source, file.ctx})
		}
	}
	return out, err
}

// readFile returns the body of a Terraform file.
func readFile(folder fs.FS, name string) (Block, error) {
	source, err := fs.ReadFile(folder, name)
	if err != nil {
		return Block{Body: &hclsyntax.Body{}}, err
	}
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	if diags.HasErrors() {
		return Block{Body: &hclsyntax.Body{}}, diags
	}
	return Block{file.Body.(*hclsyntax.Body), "", source, &hcl.EvalContext{Functions: tfFunctions(folder)}}, nil
}

// TerraformResources returns the resources of a kind in a file, in their order; none if the
// file does not exist.
func TerraformResources(folder fs.FS, name, kind string) ([]Block, error) {
	all, err := readBlocks(folder, name, "resource")
	var out []Block
	for _, b := range all {
		if label, ok := strings.CutPrefix(b.label, kind+"."); ok {
			b.label = label
			out = append(out, b)
		}
	}
	return out, ignoreMissing(err)
}

// valueOf returns the value of an attribute; NilVal if it is missing or depends on
// something else.
func (b Block) valueOf(name string) cty.Value {
	a := b.Attributes[name]
	if a == nil {
		return cty.NilVal
	}
	v, diags := a.Expr.Value(b.ctx)
	if diags.HasErrors() {
		return cty.NilVal
	}
	return v
}

func (b Block) TextOf(name string) string {
	if v := b.valueOf(name); v != cty.NilVal {
		return v.AsString()
	}
	return ""
}

// NumberOf returns a number; -1 if it is missing.
func (b Block) NumberOf(name string) int {
	v := b.valueOf(name)
	if v == cty.NilVal {
		return -1
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

func (b Block) IsTrue(name string) bool {
	v := b.valueOf(name)
	return v != cty.NilVal && v.True()
}

// SourceOf returns the source text of an attribute; "" if it is missing.
func (b Block) SourceOf(name string) string {
	if a := b.Attributes[name]; a != nil {
		return string(a.Expr.Range().SliceBytes(b.source))
	}
	return ""
}

// blocksOf returns the blocks of a kind, and each dynamic block as often as it is
// generated.
func (b Block) blocksOf(kind string) []Block {
	var out []Block
	for _, block := range b.Blocks {
		switch {
		case block.Type == kind:
			out = append(out, Block{block.Body, "", b.source, b.ctx})
		case block.Type == "dynamic" && block.Labels[0] == kind:
			each := Block{block.Body, "", b.source, b.ctx}
			for range each.valueOf("for_each").LengthInt() {
				out = append(out, each.FirstBlock("content"))
			}
		}
	}
	return out
}

// FirstBlock returns the first block of a kind; an empty block if there is none.
func (b Block) FirstBlock(kind string) Block {
	for _, found := range b.blocksOf(kind) {
		return found
	}
	return Block{&hclsyntax.Body{}, "", b.source, b.ctx}
}

// hardwareOf returns the machine settings of a pool or a reservation. It does not
// count local SSDs whose size or interface differs from the nodes'.
func (b Block) hardwareOf(accelerator, kind, count string) hardware {
	out := hardware{Type: b.TextOf("machine_type")}
	if gpu := b.FirstBlock(accelerator); len(gpu.Attributes) > 0 {
		out.Accelerator, out.Count = gpu.TextOf(kind), gpu.NumberOf(count)
	}
	m, ok := catalog.Find(out.Type, out.Accelerator, out.Count)
	if !ok { // part of the machine type, not attached to it
		m, _ = catalog.Lookup(out.Type)
	}
	if n := b.FirstBlock("ephemeral_storage_local_ssd_config").NumberOf("local_ssd_count"); n > 0 {
		out.SSDs = n
	}
	for _, ssd := range b.blocksOf("local_ssds") {
		if ssd.TextOf("interface") == "NVME" && ssd.NumberOf("disk_size_gb") == m.SSDs.SizeGB {
			out.SSDs++
		}
	}
	return out
}

func NodePools(folder fs.FS) ([]NodePool, error) {
	resources, err := TerraformResources(folder, "terraform/node_pools.tf", "google_container_node_pool")
	if err != nil {
		return nil, err
	}
	policies, err := TerraformResources(folder, "terraform/placement.tf", "google_compute_resource_policy")
	if err != nil {
		return nil, err
	}
	topologies := map[string]string{}
	for _, p := range policies {
		if workload := p.FirstBlock("workload_policy"); workload.TextOf("type") == "HIGH_THROUGHPUT" {
			topologies["google_compute_resource_policy."+p.label+".name"] = workload.TextOf("accelerator_topology")
		}
	}
	var out []NodePool
	for _, r := range resources {
		p := NodePool{
			Label: r.label, Names: []string{r.TextOf("name")}, Nodes: r.NumberOf("node_count"),
			Labels: map[string]string{},
		}
		if forEach := r.valueOf("for_each"); forEach != cty.NilVal {
			p.each, p.Names = true, nil
			for it := forEach.ElementIterator(); it.Next(); {
				key, _ := it.Element()
				p.Names = append(p.Names, key.AsString())
			}
			slices.SortStableFunc(p.Names, func(a, b string) int { return len(a) - len(b) }) // sort x-2 before x-10
			if name := r.SourceOf("name"); name != "each.key" {
				return nil, fmt.Errorf("node pool %s: all its pools are named %s", r.label, name)
			}
		}
		p.zones = r.SourceOf("node_locations")
		if scaling := r.FirstBlock("autoscaling"); len(scaling.Attributes) > 0 {
			p.PerZone = [2]int{scaling.NumberOf("min_node_count"), max(scaling.NumberOf("max_node_count"), 0)}
		}
		placement := r.FirstBlock("placement_policy")
		p.Compact, p.Topology = placement.TextOf("type") == "COMPACT", placement.TextOf("tpu_topology")
		if name := placement.SourceOf("policy_name"); name != "" {
			p.Policy = cmp.Or(topologies[name], noPolicy)
		}
		p.Queued = r.FirstBlock("queued_provisioning").IsTrue("enabled")

		for _, b := range r.FirstBlock("network_config").Blocks {
			each := Block{b.Body, "", r.source, r.ctx}
			for it := each.valueOf("for_each").ElementIterator(); it.Next(); {
				_, name := it.Element()
				p.Networks = append(p.Networks, name.AsString())
			}
		}

		config := r.FirstBlock("node_config")
		p.Machine = config.hardwareOf("guest_accelerator", "type", "count")
		p.spot, p.FlexStart = config.IsTrue("spot"), config.IsTrue("flex_start")
		if labels := config.valueOf("labels"); labels != cty.NilVal {
			for key, value := range labels.AsValueMap() {
				p.Labels[key] = value.AsString()
			}
		}
		effects := map[string]string{
			"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule",
		}
		for _, t := range config.blocksOf("taint") {
			p.Taints = append(p.Taints,
				fmt.Sprintf("%s=%s:%s", t.TextOf("key"), t.TextOf("value"), effects[t.TextOf("effect")]))
		}
		affinity := config.FirstBlock("reservation_affinity")
		p.Affinity, p.reservationKey, p.reservation = affinity.TextOf("consume_reservation_type"),
			affinity.TextOf("key"), affinity.SourceOf("values")
		out = append(out, p)
	}
	return out, nil
}
