package compiler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
)

// demand returns the Google Cloud quota a platform needs in its region, from
// its capacities, its system pool and the limits of node auto-provisioning.
//
// Rows are ordered by kind (accelerators, vCPUs, disks, everything else), then
// by metric, then by what is counted; nameless metrics come last. A metric that
// no source names stays empty and its row says so: the amount is known even
// where the name is not. Disk types whose metric is not certain have no row.
func demand(p *ir.Platform) ir.Demand {
	var t demandTally
	for _, c := range p.Capacities {
		n := countNodes(c)
		t.addAccelerators(c, n)
		t.addCPUs(c.Machine.Family, c.Option, n, c.Machine.VCPUs)
		t.addDisks(c.DiskType, n, c.DiskSizeGiB)
		t.addResizeRequests(c)
	}
	nodes := systemNodes(p)
	system := nodeCount{nodes, nodes, nodes}
	t.addCPUs(p.SystemPool.Family, ir.OnDemand, system, p.SystemPool.VCPUs)
	t.addDisks(p.SystemPool.DiskType, system, p.SystemPool.DiskSizeGiB)

	if p.AutoProvisioning.Create {
		for _, limit := range p.AutoProvisioning.Limits {
			t.bound(limit)
		}
	}
	t.addAllRegions()
	d := ir.Demand{Rows: t.rows()}
	d.VCPUs, d.MemoryGiB = autoProvisioningNeed(p)
	return d
}

// autoProvisioningNeed returns what auto-provisioning must allow the cluster
// for all that the teams' quotas can ever admit to get its nodes: the vCPUs and
// the memory of those nodes, whole ones, and of the system pool.
func autoProvisioningNeed(p *ir.Platform) (vcpus, memoryGiB int) {
	nodes := systemNodes(p)
	vcpus = nodes * p.SystemPool.VCPUs
	memory := float64(nodes) * p.SystemPool.MemoryGiB
	for _, c := range p.Capacities {
		n := countNodes(c).admitted
		vcpus += n * c.Machine.VCPUs
		memory += float64(n) * c.Machine.MemoryGiB
	}
	return vcpus, int(math.Ceil(memory))
}

func systemNodes(p *ir.Platform) int { return p.SystemPool.NodesPerZone * len(p.Zones) }

// nodeCount is how many nodes of a pool stand always, can be admitted to by
// the teams' quotas, and exist at the pool's maximum.
type nodeCount struct{ static, admitted, ceiling int }

// countNodes counts a capacity's nodes. Kueue never admits more to a flavor than
// the nominal quota of all its queues together, because borrowing only moves
// what others leave unused: so the scarcest resource's quota, in whole nodes,
// bounds what can run.
func countNodes(c ir.Capacity) nodeCount {
	static := c.MinNodes
	// A reservation takes up its project's quota from the day it is made, used
	// or not.
	if c.Static || c.OwnsReservation() {
		static = c.MaxNodes
	}
	needed := 0
	for i := range min(len(c.Guaranteed), len(c.PerNode)) {
		needed = max(needed, wholeNodes(c.Guaranteed[i], c.PerNode[i]))
	}
	return nodeCount{static, max(static, min(needed, c.MaxNodes)), c.MaxNodes}
}

// wholeNodes returns how many nodes offer the total when each offers one.
func wholeNodes(total, one ir.Amount) int {
	a, b := total.Quantity.Value(), one.Quantity.Value()
	if total.Resource == ir.CPU { // the only resource that comes in fractions
		a, b = total.Quantity.MilliValue(), one.Quantity.MilliValue()
	}
	if b <= 0 {
		return 0
	}
	return int((a + b - 1) / b)
}

// demandKind orders the rows.
type demandKind int

const (
	demandAccelerators demandKind = iota
	demandCPUs
	demandDisks
	demandOthers
)

// demandMetric is a quota metric under way to its row.
type demandMetric struct {
	kind     demandKind
	row      ir.DemandRow
	subjects []string // what is counted: accelerator, families, disk types
	notes    []string
	limit    string // type of the auto-provisioning limit that bounds it, "" for none
	gpu      bool
}

// note adds a remark, each once.
func (m *demandMetric) note(s string) {
	if s != "" && !slices.Contains(m.notes, s) {
		m.notes = append(m.notes, s)
	}
}

// demandTally collects metrics.
type demandTally struct{ metrics []*demandMetric }

// metric returns the metric of that name, made on first use. A nameless one
// is told apart by its subject.
func (t *demandTally) metric(k demandKind, name, subject string) *demandMetric {
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

// add adds the nodes of one pool, with so many units each.
func (m *demandMetric) add(n nodeCount, perNode int) {
	m.row.Static += n.static * perNode
	m.row.Admitted += n.admitted * perNode
	m.row.Ceiling += n.ceiling * perNode
}

func (t *demandTally) addAccelerators(c ir.Capacity, n nodeCount) {
	a := c.Machine.Accelerator
	if a == "" {
		return
	}
	metrics := catalog.QuotaMetrics(a)
	name, subject := metrics.Standard, a+", on demand and reserved"
	// Flex-start spends preemptible quota too (Google Cloud documentation:
	// "Compute Engine instances provisioning models").
	preemptible := c.Option == ir.Spot || c.Option == ir.FlexStart
	if preemptible {
		name, subject = metrics.Preemptible, a+", Spot and flex-start"
	}
	m := t.metric(demandAccelerators, name, subject)
	m.limit = a
	m.gpu = c.HasGPUs()
	m.row.Unit = "chips"
	if m.gpu {
		m.row.Unit = "GPUs"
	}
	m.add(n, c.Machine.AcceleratorCount)

	switch {
	case name == "":
		m.note("the metric's name is not verified")
	case preemptible && metrics.Standard != "":
		m.note("a project without this quota spends " + metrics.Standard)
	case !preemptible:
		m.note(metrics.Note)
	}
	if r := c.Reservation; r != nil && r.Owner != "" {
		m.note("includes reservation " + r.Name + " of project " + r.Owner + ": whether it counts in this project is not verified")
	}
}

func (t *demandTally) addCPUs(family string, option ir.Option, n nodeCount, perNode int) {
	if n.ceiling == 0 {
		return
	}
	name := catalog.CPUMetric(family)
	m := t.metric(demandCPUs, name, family)
	m.limit = ir.CPU
	m.row.Unit = "vCPUs"
	m.add(n, perNode)

	switch {
	case family == "g2" || family == "a3":
		m.note("the metric's name is not verified; Google's Cluster Toolkit checks no vCPU quota for this family")
	case name == "":
		m.note("the metric's name is not verified")
	case family == "e2":
		m.note("a project that lists E2_CPUS counts e2 there")
	}
	if option == ir.Spot {
		m.note("Spot machines spend PREEMPTIBLE_CPUS where the project has it")
	}
}

func (t *demandTally) addDisks(diskType string, n nodeCount, sizeGiB int) {
	name := catalog.DiskMetric(diskType)
	if name == "" || n.ceiling == 0 {
		return
	}
	m := t.metric(demandDisks, name, diskType)
	m.row.Unit = "GB"
	m.add(n, sizeGiB)
}

// addResizeRequests counts the requests queued provisioning can have open:
// Kueue makes one for a workload that has its quota reserved, and a workload
// holds one accelerator at least.
func (t *demandTally) addResizeRequests(c ir.Capacity) {
	if !c.Queued() {
		return
	}
	most := 0
	for _, g := range c.Guaranteed {
		if g.Resource == c.Machine.Resource {
			most = int(g.Quantity.Value())
		}
	}
	m := t.metric(demandOthers, "active_resize_requests", "open requests of queued flex-start, one a workload")
	m.row.Unit = "requests"
	m.row.Admitted += most
	m.row.Ceiling += most
	m.note("at most one for each accelerator of quota; projects start with 100")
}

// addAllRegions sums up all GPUs: call it last.
func (t *demandTally) addAllRegions() {
	var sum ir.DemandRow
	for _, m := range t.metrics {
		if m.gpu {
			sum.Static += m.row.Static
			sum.Admitted += m.row.Admitted
			sum.Ceiling += m.row.Ceiling
		}
	}
	if sum.Ceiling == 0 {
		return
	}
	m := t.metric(demandOthers, "GPUS_ALL_REGIONS", "GPUs of the project in all regions")
	sum.Metric, sum.Unit = m.row.Metric, "GPUs"
	m.row = sum
	m.note("newer projects do not have it; whether Spot counts is not verified")
}

// bound applies a limit of node auto-provisioning, which holds for the
// autoscaling of all node pools (Terraform provider documentation,
// google_container_cluster, cluster_autoscaling.resource_limits). Nodes that
// always stand are no matter of autoscaling.
func (t *demandTally) bound(limit ir.ResourceLimit) {
	for _, m := range t.metrics {
		if m.limit != limit.Type || m.row.Ceiling <= limit.Max {
			continue
		}
		m.row.Ceiling = max(m.row.Static, limit.Max)
		m.row.Admitted = min(m.row.Admitted, m.row.Ceiling)
		m.note(fmt.Sprintf("auto-provisioning holds the whole cluster at %d", limit.Max))
	}
}

// rows returns the finished rows.
func (t *demandTally) rows() []ir.DemandRow {
	for _, m := range t.metrics {
		slices.Sort(m.subjects)
		m.row.What = strings.Join(m.subjects, ", ")
		switch m.kind {
		case demandCPUs:
			m.row.What = "machines of family " + m.row.What
		case demandDisks:
			m.row.What = "boot disks of type " + m.row.What
		}
		m.row.Note = strings.Join(m.notes, "; ")
	}
	slices.SortFunc(t.metrics, func(a, b *demandMetric) int {
		return cmp.Or(
			cmp.Compare(a.kind, b.kind),
			// "~" comes after every name: what has none stands last.
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
