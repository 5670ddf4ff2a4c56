package importer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/gke"
)

// pool is a node pool of a cluster, or of a blueprint of Cluster Toolkit.
type pool struct {
	*object
	settings             map[string]any // of a module of Cluster Toolkit, nil for the pool of a cluster
	aliases              []string       // further names by which flavors select its nodes
	machine, accelerator string
	gpus                 int // per node, if the pool says so
	spot, flex, queued   bool
	runSeconds           int    // longest time that a node of flex-start runs, 0 if unknown
	reservation          string // its name or self link
	reservationProject   string
	anyReservation       bool
	inactive             bool // the reservation has not begun
	topology             string
	compact              bool
	zones                []string
	nodes, min, max      int // in all zones; max is 0 for a fixed number
	slices               int // of TPUs, each with that many nodes; 0 for one
	diskGiB              int
	diskType             string
	localSSDs            int
	driver               string // of GPUs, "" for the default
	networks             bool   // nodes have networks in addition to the cluster's
	additional           [][2]string
	taken                bool // a flavor uses it
}

// exists reports whether the pool is one of a cluster, rather than of a blueprint of
// Cluster Toolkit.
func (p *pool) exists() bool { return p.settings == nil }

// setting returns the value of an argument of Terraform in the exports.
func (p *pool) setting(argument string) any {
	a := gke.NodePoolArgument(argument)
	if p.exists() {
		return exports.At(p.Fields, strings.Split(gke.KeyPath(gke.NodePool, a), ".")...)
	}
	return p.settings[a.Toolkit]
}

// readArguments reads what node pools of a cluster and of Cluster Toolkit say alike.
func (p *pool) readArguments() {
	p.machine = exports.Text(p.setting("node_config.machine_type"))
	p.spot = p.setting("node_config.spot") == true
	p.flex = p.setting("node_config.flex_start") == true
	p.queued = p.setting("queued_provisioning.enabled") == true
	p.runSeconds = exports.Seconds(p.setting("node_config.max_run_duration"))
	p.zones = exports.Texts(p.setting("node_locations"))
	p.diskGiB = exports.Number(p.setting("node_config.disk_size_gb"))
	p.diskType = exports.Text(p.setting("node_config.disk_type"))
	p.localSSDs = exports.Number(p.setting("node_config.ephemeral_storage_local_ssd_config.local_ssd_count"))
}

// readPool reads a node pool as gcloud prints it.
func readPool(o *object) *pool {
	p, raw := &pool{object: o}, o.Fields
	p.readArguments()
	p.spot = p.spot || exports.IsTrue(raw, "config", "preemptible")
	p.topology = exports.Text(raw, "placementPolicy", "tpuTopology")
	p.compact = exports.Text(raw, "placementPolicy", "type") == "COMPACT"
	if list := exports.List(raw, "config", "accelerators"); len(list) > 0 {
		p.accelerator = exports.Text(list[0], "acceleratorType")
		p.gpus = exports.Number(list[0], "acceleratorCount")
		p.driver = driverOf(exports.Text(list[0], "gpuDriverInstallationConfig", "gpuDriverVersion"))
	}
	affinity := exports.At(raw, "config", "reservationAffinity")
	switch exports.Text(affinity, "consumeReservationType") {
	case "SPECIFIC_RESERVATION":
		if names := exports.Texts(affinity, "values"); len(names) > 0 {
			p.reservation = names[0]
		}
	case "ANY_RESERVATION":
		p.anyReservation = true
	}
	zones := max(1, len(p.zones))
	p.nodes = exports.Number(raw, "initialNodeCount") * zones
	if scaling := exports.At(raw, "autoscaling"); exports.IsTrue(scaling, "enabled") {
		p.min = max(exports.Number(scaling, "totalMinNodeCount"), exports.Number(scaling, "minNodeCount")*zones)
		p.max = max(exports.Number(scaling, "totalMaxNodeCount"), exports.Number(scaling, "maxNodeCount")*zones)
	}
	for _, n := range exports.List(raw, "networkConfig", "additionalNodeNetworkConfigs") {
		_, network := lastOf(exports.Text(n, "network"))
		_, subnet := lastOf(exports.Text(n, "subnetwork"))
		p.additional = append(p.additional, [2]string{network, subnet})
	}
	p.networks = len(p.additional) > 0
	return p
}

// driverOf returns the blueprint's word for the driver that GKE installs on GPU nodes.
func driverOf(version string) string {
	switch version {
	case "LATEST":
		return version
	case "INSTALLATION_DISABLED":
		return "DISABLED"
	}
	return ""
}

// poolFate says what the import does with a node pool setting.
type poolFate struct {
	fate
	argument string // of Terraform, "" for none
}

// argumentFates returns what becomes of the arguments of node pools, by the names that an
// export has for them.
func argumentFates(name func(gke.Argument) string) []poolFate {
	var out []poolFate
	for _, a := range gke.Arguments(gke.NodePool) {
		if a.Field == "" && a.Instead == "" || name(a) == "" {
			continue
		}
		status := Exact
		if a.Is(gke.Approximated) {
			status = Approximated
		} else if a.Field == "" {
			status = NoPart
		}
		out = append(out, poolFate{fate{
			field: name(a), status: status, becomes: a.Field, consequence: a.Instead, unset: a.Unset,
		}, a.Path})
	}
	return out
}

// reportPool reports the settings of a pool from which a capacity is made.
func (d *design) reportPool(c *capacity) {
	p := c.pool
	if !p.exists() {
		p.approximate("object", "capacity."+c.name, "compile describes a new pool of the name %s", c.name)
		d.reportModulePool(c)
		return
	}
	p.approximate("object", "capacity."+c.name, "the pool stays, and compile describes a new pool beside it, "+
		"%q; to take over the pool instead, call the capacity %q and set takeOver", c.name, p.Name)
	for _, f := range argumentFates(func(a gke.Argument) string { return gke.KeyPath(gke.NodePool, a) }) {
		v := exports.At(p.Fields, strings.Split(f.field, ".")...)
		if v != nil && !saysNothing(v) && !slices.Contains(f.unset, v) &&
			(f.argument != "network_config.pod_range" || v != d.podRange()) {
			p.reportSetting(c, f, f.field, d.replacedSetting(c, f.argument))
		}
	}
	if p.max == 0 && !c.fillCount {
		p.exact("initialNodeCount", "capacity."+c.name)
	}
}

// reportSetting reports a setting of a row. replaced is the consequence if the capacity has
// it otherwise, "" if it has the same. HW and CAP in the row stand for the paths of the
// hardware and of the capacity.
func (p *pool) reportSetting(c *capacity, f poolFate, field, replaced string) {
	if replaced != "" {
		f.status = Approximated
	}
	paths := strings.NewReplacer("HW", "hardware."+c.hardware.name, "CAP", "capacity."+c.name)
	p.report(field, f.status, paths.Replace(f.becomes), cmp.Or(replaced, f.consequence))
}

// saysNothing reports whether a setting of a node pool is empty, or has only labels that
// Google sets and fields that are off.
func saysNothing(v any) bool {
	fields, ok := v.(map[string]any)
	if !ok {
		return exports.IsEmpty(v)
	}
	for key, value := range fields {
		if !strings.HasPrefix(key, "goog-") && value != false && !exports.IsEmpty(value) {
			return false
		}
	}
	return true
}

// podRange returns the name of the cluster's own range for pods.
func (d *design) podRange() any {
	if d.inv.cluster == nil {
		return nil
	}
	return exports.At(d.inv.cluster.Fields, "ipAllocationPolicy", "clusterSecondaryRangeName")
}

// replacedSetting returns the consequence of an argument that the capacity has otherwise
// than the pool, "" if it has the same.
func (d *design) replacedSetting(c *capacity, argument string) string {
	p, h := c.pool, c.hardware
	switch argument {
	case "node_config.machine_type":
		if p.machine != h.machine.Type {
			return "the hardware has " + h.machine.Type
		}
	case "node_config.disk_type":
		if h.diskType != p.diskType && h.machine.BootDisk() != p.diskType {
			return "a blueprint cannot have this type of disk on the machine: the nodes have " + h.machine.BootDisk()
		}
	case "node_config.ephemeral_storage_local_ssd_config.local_ssd_count":
		if h.localSSDs == 0 && h.machine.SSDs.Bundled == 0 {
			return "a blueprint cannot have this number of local SSDs on the machine"
		}
	case "node_config.reservation_affinity.consume_reservation_type":
		if c.fillOption {
			return "fill in the reservation"
		}
	case "placement_policy.type":
		if !c.compact && !c.slices {
			return "the nodes are placed anywhere"
		}
	case "placement_policy.tpu_topology":
		if h.topology != p.topology {
			return "the machine cannot form this topology: the slices are " + h.topology
		}
	}
	return ""
}

// machineOf returns the machine type of a pool that a blueprint can use.
func (p *pool) machineOf() (catalog.Machine, bool) {
	m, ok := catalog.Usable(p.machine)
	return m, ok
}

// isCompute reports whether the pool holds jobs rather than the cluster's own pods. Cluster
// Toolkit makes the pool for the cluster's own pods itself.
func (p *pool) isCompute() bool {
	m, _ := p.machineOf()
	return !p.exists() || m.Count > 0 || m.Networks.RDMA > 0 || p.accelerator != "" || p.compact || p.spot ||
		p.flex || p.queued || p.reservation != ""
}
