package golden_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// checkPools checks that node pools match their machines, and the reservations and
// policies to which they refer. It reports pools that GKE would refuse, that would
// get no machine from their reservation, or that Terraform would replace at the next
// apply.
func checkPools(folder fs.FS) []error {
	pools, err := nodePools(folder)
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, p := range pools {
		for _, err := range slices.Concat(p.checkMachine(), p.checkSize(), p.checkPlacement()) {
			errs = append(errs, fmt.Errorf("node pool %s: %w", p.label, err))
		}
	}
	return append(errs, checkReservations(folder, pools)...)
}

// nodePool holds Terraform's settings for one node pool, or for several identical
// ones.
type nodePool struct {
	label string   // label of the resource
	names []string // names of the pools
	each  bool     // whether the names are those of a for_each

	machine  hardware
	labels   map[string]string
	taints   []string // key=value:Effect, spelled as in Kubernetes
	zones    string   // source of node_locations
	nodes    int      // node_count; -1 if the pool scales
	perZone  [2]int   // fewest and most nodes in a zone, if the pool scales by zone
	compact  bool
	topology string // tpu_topology
	policy   string // topology that a workload policy names

	networks []string // keys of the networks besides the cluster's own

	spot, flexStart, queued bool

	affinity       string // consume_reservation_type
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
func (p nodePool) nodeLabel(key string) string {
	m, _ := catalog.Lookup(p.machine.Type)
	switch key {
	case nodePoolLabel:
		if len(p.names) == 1 {
			return p.names[0]
		}
		return ""
	case "cloud.google.com/gke-accelerator":
		return p.machine.Accelerator
	case "cloud.google.com/gke-tpu-accelerator":
		if m.HasTPUs() {
			return m.Accelerator
		}
		return ""
	case topologyLabel:
		if topology := p.topology + p.policy; topology != "" && m.HasTPUs() {
			return topology
		}
		for _, s := range m.Slices() {
			if s.Hosts == 1 { // every machine type forms one such slice
				return s.Topology
			}
		}
		return ""
	}
	return p.labels[key]
}

// nodeTaints returns the taints of the pool's nodes, which the pool sets or GKE
// adds.
func (p nodePool) nodeTaints() []string {
	out := slices.Clone(p.taints)
	if p.queued {
		out = append(out, "cloud.google.com/gke-queued=true:NoSchedule")
	}
	if m, _ := catalog.Lookup(p.machine.Type); m.Arch == "arm64" {
		out = append(out, "kubernetes.io/arch=arm64:NoSchedule")
	}
	return out
}

// checkMachine checks that accelerators and local SSDs belong to the machine type,
// or can be attached to it.
func (p nodePool) checkMachine() []error {
	m, ok := catalog.Usable(p.machine.Type)
	if !ok {
		return []error{fmt.Errorf("there is no machine type %q", p.machine.Type)}
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	taint := ""
	switch {
	case m.HasTPUs():
		taint = "google.com/tpu=present:NoSchedule"
		if p.machine.Accelerator != "" {
			fail("a TPU comes with its machine type, and %s is declared", p.machine.Accelerator)
		}
	case m.Accelerator != "":
		taint = "nvidia.com/gpu=present:NoSchedule"
		if p.machine.Accelerator != m.Accelerator || p.machine.Count != m.Count {
			fail("%s has %d %s, and %d %s are declared", m.Type, m.Count, m.Accelerator, p.machine.Count,
				p.machine.Accelerator)
		}
	case p.machine.Accelerator != "":
		taint = "nvidia.com/gpu=present:NoSchedule"
		if m, ok = catalog.Find(p.machine.Type, p.machine.Accelerator, p.machine.Count); !ok {
			fail("%s takes no %d %s", p.machine.Type, p.machine.Count, p.machine.Accelerator)
		}
	}
	if taint != "" && !slices.Contains(p.taints, taint) {
		fail("GKE taints such nodes %s, and it has %q", taint, p.taints)
	}
	if n := p.machine.SSDs; n != m.SSDs.Bundled && !slices.Contains(m.SSDs.Allowed, n) {
		fail("%s has %d local SSDs and takes one of %v, and %d are declared", p.machine.Type, m.SSDs.Bundled,
			m.SSDs.Allowed, n)
	}
	return errs
}

// checkSize checks the number of nodes of a TPU slice: GKE requires the maximum of a
// zone to equal the number of the slice's hosts, and creates all of them or none.
func (p nodePool) checkSize() []error {
	m, _ := catalog.Lookup(p.machine.Type)
	hosts := 1
	if s, ok := m.Slice(p.nodeLabel(topologyLabel)); ok {
		hosts = s.Hosts
	}
	switch {
	case !m.HasTPUs():
	case p.nodes >= 0 && hosts > 1 && p.nodes != 0 && p.nodes != hosts:
		return []error{fmt.Errorf("a slice has %d hosts, and the pool %d nodes", hosts, p.nodes)}
	case p.nodes < 0 && hosts > 1 && p.perZone != [2]int{0, hosts}:
		return []error{fmt.Errorf("a slice has %d hosts, and the pool scales between %v nodes", hosts, p.perZone)}
	}
	return nil
}

// checkPlacement checks that a slice of several hosts has a topology, and the pool
// for itself.
func (p nodePool) checkPlacement() []error {
	m, _ := catalog.Lookup(p.machine.Type)
	slice, _ := m.Slice(p.topology + p.policy)
	byPolicy := strings.HasPrefix(p.machine.Type, "a4x-") || p.each && strings.HasPrefix(p.machine.Type, "tpu7x-")
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.each != (slice.Hosts > 1) {
		fail("for_each is for slices of several hosts, and one of topology %q has %d", p.topology+p.policy, slice.Hosts)
	}
	if byPolicy != (p.policy != "") || p.policy == noPolicy {
		fail("workload policy of topology %q for %s", p.policy, p.machine.Type)
	}
	if p.topology != "" && p.policy != "" {
		fail("topology %q beside a policy of %q", p.topology, p.policy)
	}
	if p.topology+p.policy != "" && !p.compact {
		fail("linked nodes stand compactly")
	}
	for i, name := range p.names {
		if p.each && name != p.labels["capacity"]+"-"+strconv.Itoa(i) {
			fail("pool %d of capacity %q is named %q", i, p.labels["capacity"], name)
		}
	}
	return errs
}

// checkReservations checks that each reservation is consumed by one pool, which has
// the same size, zone and hardware.
func checkReservations(folder fs.FS, pools []nodePool) []error {
	resources, err := tfResources(folder, "terraform/reservations.tf", "google_compute_reservation")
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, r := range resources {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("reservation %s: %w", r.label, fmt.Errorf(format, args...)))
		}
		address := "google_compute_reservation." + r.label
		consumes := func(p nodePool) bool { return p.reservation == "["+address+".name]" }
		i := slices.IndexFunc(pools, consumes)
		if i < 0 || slices.ContainsFunc(pools[i+1:], consumes) {
			fail("not exactly one node pool consumes it")
			continue
		}
		specific := r.firstBlock("specific_reservation")
		got, want := specific.firstBlock("instance_properties").hardwareOf("guest_accelerators", "accelerator_type",
			"accelerator_count"), pools[i].machine
		if got != want {
			fail("%+v are reserved, and its pool has %+v", got, want)
		}
		if n := specific.numberOf("count"); n != pools[i].nodes {
			fail("%d machines are reserved, and its pool has %d", n, pools[i].nodes)
		}
		if want := "[" + address + ".zone]"; pools[i].zones != want {
			fail("its pool stands in %s, not in %s", pools[i].zones, want)
		}
		if !r.isTrue("specific_reservation_required") {
			fail("any machine could consume it")
		}
	}
	return errs
}

// tfBody is the body of a block, with the values to which its expressions may refer.
type tfBody struct {
	*hclsyntax.Body
	label  string // label of a resource
	source []byte
	ctx    *hcl.EvalContext
}

// tfResources returns the resources of a kind in a file, in their order; none if the
// file does not exist.
func tfResources(folder fs.FS, name, kind string) ([]tfBody, error) {
	source, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, nil
	}
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	var out []tfBody
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		if b.Type == "resource" && b.Labels[0] == kind {
			out = append(out, tfBody{b.Body, b.Labels[1], source, &hcl.EvalContext{Functions: tfFunctions(folder)}})
		}
	}
	return out, nil
}

// valueOf returns the value of an attribute; NilVal if it is missing or depends on
// something else.
func (b tfBody) valueOf(name string) cty.Value {
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

func (b tfBody) textOf(name string) string {
	if v := b.valueOf(name); v != cty.NilVal {
		return v.AsString()
	}
	return ""
}

// numberOf returns a number; -1 if it is missing.
func (b tfBody) numberOf(name string) int {
	v := b.valueOf(name)
	if v == cty.NilVal {
		return -1
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

func (b tfBody) isTrue(name string) bool {
	v := b.valueOf(name)
	return v != cty.NilVal && v.True()
}

// sourceOf returns the source text of an attribute; "" if it is missing.
func (b tfBody) sourceOf(name string) string {
	if a := b.Attributes[name]; a != nil {
		return string(a.Expr.Range().SliceBytes(b.source))
	}
	return ""
}

// blocksOf returns the blocks of a kind, and each dynamic block as often as it is
// generated.
func (b tfBody) blocksOf(kind string) []tfBody {
	var out []tfBody
	for _, block := range b.Blocks {
		switch {
		case block.Type == kind:
			out = append(out, tfBody{block.Body, "", b.source, b.ctx})
		case block.Type == "dynamic" && block.Labels[0] == kind:
			each := tfBody{block.Body, "", b.source, b.ctx}
			for range each.valueOf("for_each").LengthInt() {
				out = append(out, each.firstBlock("content"))
			}
		}
	}
	return out
}

// firstBlock returns the first block of a kind; an empty block if there is none.
func (b tfBody) firstBlock(kind string) tfBody {
	for _, found := range b.blocksOf(kind) {
		return found
	}
	return tfBody{&hclsyntax.Body{}, "", b.source, b.ctx}
}

// hardwareOf returns the machine settings of a pool or a reservation. It does not
// count local SSDs whose size or interface differs from the nodes'.
func (b tfBody) hardwareOf(accelerator, kind, count string) hardware {
	out := hardware{Type: b.textOf("machine_type")}
	if gpu := b.firstBlock(accelerator); len(gpu.Attributes) > 0 {
		out.Accelerator, out.Count = gpu.textOf(kind), gpu.numberOf(count)
	}
	m, ok := catalog.Find(out.Type, out.Accelerator, out.Count)
	if !ok { // part of the machine type, not attached to it
		m, _ = catalog.Lookup(out.Type)
	}
	if n := b.firstBlock("ephemeral_storage_local_ssd_config").numberOf("local_ssd_count"); n > 0 {
		out.SSDs = n
	}
	for _, ssd := range b.blocksOf("local_ssds") {
		if ssd.textOf("interface") == "NVME" && ssd.numberOf("disk_size_gb") == m.SSDs.SizeGB {
			out.SSDs++
		}
	}
	return out
}

func nodePools(folder fs.FS) ([]nodePool, error) {
	resources, err := tfResources(folder, "terraform/node_pools.tf", "google_container_node_pool")
	if err != nil {
		return nil, err
	}
	policies, err := tfResources(folder, "terraform/placement.tf", "google_compute_resource_policy")
	if err != nil {
		return nil, err
	}
	topologies := map[string]string{}
	for _, p := range policies {
		if workload := p.firstBlock("workload_policy"); workload.textOf("type") == "HIGH_THROUGHPUT" {
			topologies["google_compute_resource_policy."+p.label+".name"] = workload.textOf("accelerator_topology")
		}
	}
	var out []nodePool
	for _, r := range resources {
		p := nodePool{
			label: r.label, names: []string{r.textOf("name")}, nodes: r.numberOf("node_count"),
			labels: map[string]string{},
		}
		if forEach := r.valueOf("for_each"); forEach != cty.NilVal {
			p.each, p.names = true, slices.Sorted(maps.Keys(instancesValue(forEach, cty.DynamicVal).AsValueMap()))
			slices.SortStableFunc(p.names, func(a, b string) int { return len(a) - len(b) }) // sort x-2 before x-10
			if name := r.sourceOf("name"); name != "each.key" {
				return nil, fmt.Errorf("node pool %s: all its pools are named %s", r.label, name)
			}
		}
		p.zones = r.sourceOf("node_locations")
		if scaling := r.firstBlock("autoscaling"); len(scaling.Attributes) > 0 {
			p.perZone = [2]int{scaling.numberOf("min_node_count"), max(scaling.numberOf("max_node_count"), 0)}
		}
		placement := r.firstBlock("placement_policy")
		p.compact, p.topology = placement.textOf("type") == "COMPACT", placement.textOf("tpu_topology")
		if name := placement.sourceOf("policy_name"); name != "" {
			p.policy = cmp.Or(topologies[name], noPolicy)
		}
		p.queued = r.firstBlock("queued_provisioning").isTrue("enabled")

		for _, b := range r.firstBlock("network_config").Blocks {
			each := tfBody{b.Body, "", r.source, r.ctx}
			for it := each.valueOf("for_each").ElementIterator(); it.Next(); {
				_, name := it.Element()
				p.networks = append(p.networks, name.AsString())
			}
		}

		config := r.firstBlock("node_config")
		p.machine = config.hardwareOf("guest_accelerator", "type", "count")
		p.spot, p.flexStart = config.isTrue("spot"), config.isTrue("flex_start")
		if labels := config.valueOf("labels"); labels != cty.NilVal {
			for key, value := range labels.AsValueMap() {
				p.labels[key] = value.AsString()
			}
		}
		effects := map[string]string{
			"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule",
		}
		for _, t := range config.blocksOf("taint") {
			p.taints = append(p.taints,
				fmt.Sprintf("%s=%s:%s", t.textOf("key"), t.textOf("value"), effects[t.textOf("effect")]))
		}
		affinity := config.firstBlock("reservation_affinity")
		p.affinity, p.reservationKey, p.reservation = affinity.textOf("consume_reservation_type"),
			affinity.textOf("key"), affinity.sourceOf("values")
		out = append(out, p)
	}
	return out, nil
}

// TestCheckPools breaks platforms in ways that the provider's schema would accept.
func TestCheckPools(t *testing.T) {
	const (
		pools        = "terraform/node_pools.tf"
		placement    = "terraform/placement.tf"
		reservations = "terraform/reservations.tf"
	)
	breaks{
		{"machine type", "spot", pools, `"g2-standard-24"`, `"g2-standard-25"`},
		{"accelerator", "spot", pools, `"nvidia-l4"`, `"nvidia-tesla-t4"`},
		{"number of accelerators", "spot", pools, "count = 2", "count = 1"},
		{"attached accelerators", "attached GPUs", pools, "count = 2", "count = 3"},
		{
			"accelerator of a TPU machine", "TPU hosts, static", pools, "reservation_affinity {",
			"guest_accelerator {\n type = \"tpu\"\n count = 4\n}\nreservation_affinity {",
		},
		{"GPU taint", "spot", pools, `"nvidia.com/gpu"`, `"gpu"`},
		{"TPU taint", "TPU hosts, static", pools, `"google.com/tpu"`, `"tpu"`},
		{"local SSDs", "local SSDs", pools, "local_ssd_count = 2", "local_ssd_count = 3"},
		{
			"the machine's local SSDs", "reservation, block", pools, "ephemeral_storage_local_ssd_config",
			"local_nvme_ssd_block_config",
		},

		{"half a slice", "TPU slices, static", pools, "node_count     = 4", "node_count     = 2"},
		{"slices that scale to half", "TPU slices, scaling", pools, "max_node_count  = 4", "max_node_count  = 2"},
		{"slices that keep a node", "TPU slices, scaling", pools, "min_node_count  = 0", "min_node_count  = 1"},
		{
			"slices that scale by the total", "TPU slices, scaling", pools, "max_node_count  = 4",
			"total_max_node_count = 4",
		},

		{"slices of one name", "TPU slices, static", pools, "each.key", `"some-0"`},
		{"names of slices", "TPU slices, static", pools, `"some-0-2"`, `"some-0-3"`},
		{"slice without topology", "TPU slices, static", pools, "tpu_topology", "topology"},
		{"slice of one host", "TPU slices, static", pools, `"4x4"`, `"1x1"`},
		{"slices in one pool", "TPU slices, static", pools, "for_each ", "count "},
		{"slice that is not compact", "TPU slices, static", pools, `"COMPACT"`, `"SPREAD"`},
		{
			"linked slice without policy", "TPU slices, linked by a policy", pools,
			"policy_name = google_compute_resource_policy.topology_2x2x2.name", `tpu_topology = "2x2x2"`,
		},
		{
			"policy beside topology", "TPU slices, linked by a policy", pools, "policy_name =",
			"tpu_topology = \"2x2x2\"\npolicy_name =",
		},
		{"linked nodes without policy", "A4X, reservation", pools, "policy_name", "policy"},
		{"policy of another kind", "A4X, reservation", placement, `"HIGH_THROUGHPUT"`, `"HIGH_AVAILABILITY"`},
		{"policy of another topology", "TPU slices, linked by a policy", placement, `"2x2x2"`, `"2x2x4"`},

		{"machines reserved", "batch", reservations, "count = 4", "count = 3"},
		{"machine type reserved", "batch", reservations, `"g2-standard-24"`, `"g2-standard-48"`},
		{"accelerators reserved", "batch", reservations, "accelerator_count = 2", "accelerator_count = 4"},
		{
			"reserved for all", "batch", reservations, "specific_reservation_required = true",
			"specific_reservation_required = false",
		},
		{"zone of a reservation", "batch", pools, "[google_compute_reservation.l4_reserved.zone]", `["us-central1-a"]`},
		{
			"nobody consumes a reservation", "batch", pools, "[google_compute_reservation.l4_reserved.name]",
			`["machine-reservation"]`,
		},
		{"local SSDs reserved", "reservation, created, local SSDs", reservations, "range(2)", "range(1)"},
		{"interface of local SSDs", "reservation, created, local SSDs", reservations, `"NVME"`, `"SCSI"`},
		{"size of local SSDs", "reservation, created, local SSDs", reservations, "375", "3000"},
	}.checkEdits(t, checkPools)
}
