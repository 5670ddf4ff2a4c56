package lower

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// lowerDemand returns the Google Cloud quota that a platform needs in its region,
// computed from its capacities, its system pool and the limits of node
// auto-provisioning.
//
// Rows are sorted by kind (accelerators, vCPUs, boot disks, local SSDs, everything
// else), then by metric, then by what is counted; rows without a metric come last.
// If no source names the metric, it stays empty and the row says so: the amount is
// known even if the name is not. Disk types whose metric is uncertain have no row.
func lowerDemand(p *ir.Platform) ir.Demand {
	var t demandTally
	all, counts := slices.Clone(p.Capacities), p.CountNodes()
	if p.OwnsCluster() {
		system := systemCapacity(p)
		all = append(all, system)
		counts = append(counts, ir.NodeCount{Standing: system.MaxNodes, Ceiling: system.MaxNodes})
	}
	for i, c := range all {
		n := counts[i]
		t.addDisks(c, n)
		if c.Option.Facts().NoQuota {
			continue
		}
		t.addAccelerators(c, n)
		t.addCPUs(c, n)
		t.addLocalSSDs(c, n)
		t.addResizeRequests(c)
	}
	if p.AutoProvisioning.Create {
		for _, limit := range p.AutoProvisioning.Limits {
			t.capAutoscaling(limit)
		}
	}
	t.addAllRegions()
	t.addNetworks(p)
	d := ir.Demand{Rows: t.finishRows()}
	d.VCPUs, d.MemoryGiB = autoProvisioningNeed(p)
	d.IAM = iamDemand(p)
	return d
}

// iamDemand counts the bindings that create-platform.sh and Terraform add to the
// project's allow policy, and the accounts and roles that they create. Buckets and
// service accounts have policies of their own, which hold few bindings.
func iamDemand(p *ir.Platform) ir.IAMDemand {
	d := p.Delivery
	// The 1 is the build's right to grant roles.
	principals := len(d.Account.Roles) + len(d.NarrowRoles) + 1 + len(p.NodeAccount.Roles)
	demand := ir.IAMDemand{ServiceAccounts: 2, CustomRoles: len(d.CustomRoles)}
	if len(d.Permissions) > 0 {
		principals++
		demand.CustomRoles++
	}
	if len(p.OwnTeams()) > 0 && p.OwnsCluster() {
		principals += len(p.JobRoles)
	}
	for _, t := range p.OwnTeams() {
		principals += len(t.Roles)
		if t.Account == nil && !p.OwnsCluster() { // one principal for each team
			principals += len(p.JobRoles)
		}
	}
	demand.ServiceAccounts += len(p.OwnAccounts())
	rolesEach := 1 + len(p.Monitoring.MemberRoles)
	if p.HasGroups() {
		demand.Groups = rolesEach
	}
	demand.Principals = principals + demand.Groups + rolesEach*len(p.MemberAccounts())
	return demand
}

// systemCapacity returns the system pool in the form of a capacity.
func systemCapacity(p *ir.Platform) ir.Capacity {
	return ir.Capacity{
		Option: ir.OnDemand, Static: true, MaxNodes: p.SystemPool.MostPerZone() * len(p.Zones),
		Machine:  ir.Machine{Family: p.SystemPool.Family, VCPUs: p.SystemPool.VCPUs, MemoryGiB: p.SystemPool.MemoryGiB},
		DiskType: p.SystemPool.DiskType, DiskSizeGiB: p.SystemPool.DiskSizeGiB,
	}
}

// autoProvisioningNeed returns the limits that auto-provisioning needs so that
// everything that the teams' quotas can ever admit gets its nodes: the vCPUs and the
// memory of these nodes, counted as whole nodes, and of the system pool.
func autoProvisioningNeed(p *ir.Platform) (vcpus, memoryGiB int) {
	system := systemCapacity(p)
	vcpus, memory := system.MaxNodes*system.Machine.VCPUs, float64(system.MaxNodes)*system.Machine.MemoryGiB
	for i, n := range p.CountNodes() {
		m := p.Capacities[i].Machine
		vcpus += n.Admitted() * m.VCPUs
		memory += float64(n.Admitted()) * m.MemoryGiB
	}
	return vcpus, int(math.Ceil(memory))
}

// demandKind is the kind of a row. Its values are in the order of the rows.
type demandKind int

const (
	demandAccelerators demandKind = iota
	demandCPUs
	demandDisks
	demandLocalSSDs
	demandOthers
)

// demandMetric is a quota metric whose row is not finished.
type demandMetric struct {
	kind     demandKind
	row      ir.DemandRow
	subjects []string // what the metric counts: accelerators, families, disk types
	notes    []string
	limit    string // type of the auto-provisioning limit that bounds the metric, "" for none
	gpu      bool
}

// addNote adds a remark unless the metric already has it.
func (m *demandMetric) addNote(s string) {
	if s != "" && !slices.Contains(m.notes, s) {
		m.notes = append(m.notes, s)
	}
}

// demandTally collects metrics.
type demandTally struct{ metrics []*demandMetric }

// findMetric returns the metric with the given name, and creates it on first use.
// Metrics without a name are distinguished by their subject.
func (t *demandTally) findMetric(k demandKind, name, subject string) *demandMetric {
	for _, m := range t.metrics {
		if m.kind == k && m.row.Metric == name && (name != "" || slices.Contains(m.subjects, subject)) {
			if !slices.Contains(m.subjects, subject) {
				m.subjects = append(m.subjects, subject)
			}
			return m
		}
	}
	m := &demandMetric{kind: k, row: ir.DemandRow{Metric: name}, subjects: []string{subject}}
	t.metrics = append(t.metrics, m)
	return m
}

// addNodes adds the nodes of one pool, each of which needs perNode units.
func (m *demandMetric) addNodes(n ir.NodeCount, perNode int) {
	m.row.Standing += n.Standing * perNode
	m.row.Admitted += n.Admitted() * perNode
	m.row.Ceiling += n.Ceiling * perNode
}

func (t *demandTally) addAccelerators(c ir.Capacity, n ir.NodeCount) {
	a := c.Machine.Accelerator
	if a == "" {
		return
	}
	metrics := catalog.QuotaMetrics(a)
	preemptible := c.Option.Facts().PreemptibleQuota
	name := metrics.Standard
	if preemptible {
		name = metrics.Preemptible
	}
	m := t.findMetric(demandAccelerators, name, a+", "+words.And(ir.NodesByQuota(preemptible)))
	m.limit = a
	m.gpu = c.HasGPUs()
	m.row.Unit = "chips"
	if m.gpu {
		m.row.Unit = "GPUs"
	}
	m.addNodes(n, c.Machine.AcceleratorCount)

	switch {
	case name == "":
		m.addNote("the metric's name is not verified")
	case preemptible && metrics.Standard != "":
		m.addNote("if the project does not have this quota, they count in " + metrics.Standard)
	case !preemptible:
		m.addNote(metrics.Note)
	}
	m.noteReservation(c)
}

// noteReservation adds a remark on a reservation's part in a metric.
func (m *demandMetric) noteReservation(c ir.Capacity) {
	if c.Option.Facts().AnyReservation {
		m.addNote("includes " + c.Name +
			", whose nodes from a reservation need no more quota than the reservation already uses")
	}
	r := c.Reservation
	if r == nil {
		return
	}
	if c.Waiting {
		m.addNote("includes reservation " + r.Name + ", which uses quota from the day on which it begins")
	}
	if r.Owner != "" {
		m.addNote("includes reservation " + r.Name + " of project " + r.Owner +
			"; whether it uses quota of this project is not verified")
	}
}

func (t *demandTally) addCPUs(c ir.Capacity, n ir.NodeCount) {
	if n.Ceiling == 0 {
		return
	}
	family := c.Machine.Family
	quota := catalog.CPUQuota(family)
	m := t.findMetric(demandCPUs, quota.Standard, family)
	m.limit = ir.CPU
	m.row.Unit = "vCPUs"
	m.addNodes(n, c.Machine.VCPUs)

	switch {
	case c.HasTPUs():
		m.addNote("whether machines with TPUs use vCPU quota is not verified")
	case quota.Note != "":
		m.addNote(quota.Note)
	case quota.Standard == "":
		m.addNote("the metric's name is not verified")
	}
	if option := c.Option.Facts(); option.PreemptibleCPUs {
		m.addNote(option.Nodes + " machines count in PREEMPTIBLE_CPUS if the project has this quota")
	}
	if !c.HasAccelerators() {
		m.noteReservation(c)
	}
}

func (t *demandTally) addDisks(c ir.Capacity, n ir.NodeCount) {
	name := catalog.DiskMetric(c.DiskType)
	if name == "" || n.Ceiling == 0 {
		return
	}
	m := t.findMetric(demandDisks, name, c.DiskType)
	m.row.Unit = "GB"
	m.addNodes(n, c.DiskSizeGiB)
}

// addLocalSSDs counts local SSDs, including those that come with a machine. Source:
// Google's Cluster Toolkit (pkg/validators/quota.go); for the other metrics, the
// Cloud Quotas documentation and the Compute Engine API's Quota.metric.
func (t *demandTally) addLocalSSDs(c ir.Capacity, n ir.NodeCount) {
	if c.SSDs() == 0 || n.Ceiling == 0 {
		return
	}
	m := t.findMetric(demandLocalSSDs, "LOCAL_SSD_TOTAL_GB", c.Machine.Family)
	m.row.Unit = "GB"
	m.addNodes(n, c.SSDs()*c.Machine.SSDSizeGB)
	m.addNote("if the project has the quota local_ssd_total_storage_per_vm_family, they count there instead")
	if option := c.Option.Facts(); option.PreemptibleCPUs {
		m.addNote(option.Nodes + " machines count in PREEMPTIBLE_LOCAL_SSD_GB if the project has this quota")
	}
}

// addResizeRequests counts the requests that queued provisioning can have open:
// Kueue creates one for each workload with reserved quota, and a workload has at
// least one accelerator, or one TPU slice.
func (t *demandTally) addResizeRequests(c ir.Capacity) {
	if !c.Queued() {
		return
	}
	resource, smallest, unit := c.Machine.Resource, 1, "accelerator"
	if slice := c.Machine.Slice; slice != nil {
		smallest, unit = slice.Chips, "TPU slice"
	}
	if !c.HasAccelerators() {
		resource, unit = ir.CPU, "vCPU"
	}
	most := 0
	for _, g := range c.Guaranteed {
		if g.Resource == resource {
			most = int(g.Quantity.Value()) / smallest
		}
	}
	m := t.findMetric(demandOthers, "active_resize_requests",
		"open requests of "+c.Option.Facts().Name+", one for each workload")
	m.row.Unit = "requests"
	m.row.Admitted += most
	m.row.Ceiling += most
	m.addNote("at most one for each " + unit + " of quota")
	m.addNote("the default quota of a project is 100")
}

// addAllRegions adds the metric for the sum of all GPUs. It must be called last.
func (t *demandTally) addAllRegions() {
	var sum ir.DemandRow
	for _, m := range t.metrics {
		if m.gpu {
			sum.Standing += m.row.Standing
			sum.Admitted += m.row.Admitted
			sum.Ceiling += m.row.Ceiling
		}
	}
	if sum.Ceiling == 0 {
		return
	}
	m := t.findMetric(demandOthers, "GPUS_ALL_REGIONS", "GPUs of the project in all regions")
	sum.Metric, sum.Unit = m.row.Metric, "GPUs"
	m.row = sum
	m.addNote("newer projects do not have this quota; whether Spot GPUs count is not verified")
}

// addNetworks counts VPC networks if nodes have several, because the default quota
// of a project is small. Existing networks count already. Source: Compute Engine API, Quota.metric; Compute Engine
// documentation, "Allocation quotas".
func (t *demandTally) addNetworks(p *ir.Platform) {
	if len(p.Network.GPUs) == 0 || !p.OwnsNetwork() {
		return
	}
	n := 1 + len(p.Network.GPUs)
	m := t.findMetric(demandOthers, "NETWORKS", "VPC networks of the project in all regions")
	m.row.Standing, m.row.Admitted, m.row.Ceiling, m.row.Unit = n, n, n, "networks"
	m.addNote("the network named default also counts, if the project has it")
}

// capAutoscaling applies a limit of node auto-provisioning, which bounds the
// autoscaling of all node pools (Terraform provider documentation,
// google_container_cluster, cluster_autoscaling.resource_limits). It does not bound
// nodes that always exist, because they are not autoscaled.
func (t *demandTally) capAutoscaling(limit ir.ResourceLimit) {
	for _, m := range t.metrics {
		if m.limit != limit.Type || m.row.Ceiling <= limit.Max {
			continue
		}
		m.row.Ceiling = max(m.row.Standing, limit.Max)
		m.row.Admitted = min(m.row.Admitted, m.row.Ceiling)
		m.addNote(fmt.Sprintf("node auto-provisioning limits the whole cluster to %d", limit.Max))
	}
}

// finishRows returns the finished rows in their order.
func (t *demandTally) finishRows() []ir.DemandRow {
	for _, m := range t.metrics {
		slices.Sort(m.subjects)
		m.row.What = strings.Join(m.subjects, ", ")
		switch m.kind {
		case demandCPUs:
			m.row.What = "machines of family " + m.row.What
		case demandDisks:
			m.row.What = "boot disks of type " + m.row.What
		case demandLocalSSDs:
			m.row.What = "local SSDs of machines of family " + m.row.What
		}
		m.row.Note = strings.Join(m.notes, "; ")
	}
	slices.SortFunc(t.metrics, func(a, b *demandMetric) int {
		return cmp.Or(
			cmp.Compare(a.kind, b.kind),
			// "~" sorts after every name, so that metrics without a name come last.
			cmp.Compare(cmp.Or(a.row.Metric, "~"), cmp.Or(b.row.Metric, "~")),
			cmp.Compare(a.row.What, b.row.What),
		)
	})
	var rows []ir.DemandRow
	for _, m := range t.metrics {
		rows = append(rows, m.row)
	}
	return rows
}
