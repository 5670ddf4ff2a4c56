package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
)

// pool is a node pool of a cluster, or of a blueprint of Cluster Toolkit.
type pool struct {
	*object
	aliases              []string // further names by which flavors select its nodes
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

// at returns the value below a path of keys, nil if there is none.
func at(v any, path ...string) any {
	for _, key := range path {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

// textAt returns the text below a path of keys.
func textAt(v any, path ...string) string {
	switch v := at(v, path...).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// numberAt returns the whole number below a path of keys. gcloud prints some numbers as
// texts. The result is 0 for anything else, and for numbers that no cluster has.
func numberAt(v any, path ...string) int {
	n, err := strconv.Atoi(textAt(v, path...))
	if err != nil || n < 0 || n > 1_000_000 {
		return 0
	}
	return n
}

func isTrue(v any, path ...string) bool { return at(v, path...) == true }

// textsAt returns the texts of the list below a path of keys.
func textsAt(v any, path ...string) []string {
	list, _ := at(v, path...).([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// readGcloud adds a cluster or a node pool as gcloud prints it.
func (inv *inventory) readGcloud(doc *document, n *yaml.Node) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	o := &object{doc: doc, node: n, name: scalar(n, "name")}
	switch {
	case n.Kind == yaml.MappingNode && o.name != "" && (child(n, "currentMasterVersion") != nil ||
		child(n, "nodePools") != nil || child(n, "autopilot") != nil):
		o.kind = kindCluster
		for _, key := range []string{"clientKey", "password"} {
			if secret := child(child(n, "masterAuth"), key); secret != nil {
				at := doc.span(secret)
				doc.hide(at.Start, at.End)
			}
		}
		if scalar(n, "autopilot", "enabled") == "true" {
			inv.add(codeAutopilot, diag.Error, doc.span(child(child(n, "autopilot"), "enabled")),
				fmt.Sprintf("cluster %q is an Autopilot cluster", o.name),
				"give the export of a Standard cluster: batchwright makes node pools, which Autopilot does not allow")
			return
		}
		if inv.compared {
			o.cluster = clusterPath(n)
		}
		inv.addObject(o)
		if pools := child(n, "nodePools"); pools != nil {
			for _, item := range pools.Content {
				inv.addPool(doc, item, clusterPath(n))
			}
		}
	case n.Kind == yaml.MappingNode && o.name != "" && child(n, "config") != nil:
		inv.addPool(doc, n, clusterPath(n))
	default:
		inv.add(codeNothing, diag.Error, doc.span(n), "this is no object that "+inv.command()+" knows", inv.wanted())
	}
}

// clusterPath returns the path of the cluster in the self link of a cluster or of a node
// pool, such as "projects/p/locations/us-central1/clusters/c". Without a link it returns
// "clusters/c" for a cluster, and "" for a node pool.
func clusterPath(n *yaml.Node) string {
	_, path, found := strings.Cut(scalar(n, "selfLink"), "/projects/")
	switch {
	case !found && child(n, "config") != nil:
		return ""
	case !found:
		return "clusters/" + scalar(n, "name")
	}
	path, _, _ = strings.Cut("projects/"+path, "/nodePools/")
	return strings.Replace(path, "/zones/", "/locations/", 1) // links of zonal clusters have zones
}

// addPool adds a node pool of a cluster as gcloud prints it. The list of node pools
// repeats the node pools of the cluster.
func (inv *inventory) addPool(doc *document, n *yaml.Node, cluster string) {
	o := &object{kind: kindNodePool, name: scalar(n, "name"), doc: doc, node: n}
	if inv.compared {
		o.cluster = cluster // two clusters can have pools of one name
	}
	if first := inv.seen[o.key()]; first != nil && first.doc != doc {
		doc.repeats = true
		return
	}
	before := len(inv.objects)
	inv.addObject(o)
	if len(inv.objects) == before {
		return
	}
	inv.pools = append(inv.pools, gcloudPool(o))
}

// gcloudPool reads a node pool as gcloud prints it.
func gcloudPool(o *object) *pool {
	raw := o.raw
	p := &pool{
		object: o, machine: textAt(raw, "config", "machineType"),
		spot:     isTrue(raw, "config", "spot") || isTrue(raw, "config", "preemptible"),
		flex:     isTrue(raw, "config", "flexStart"),
		queued:   isTrue(raw, "queuedProvisioning", "enabled"),
		topology: textAt(raw, "placementPolicy", "tpuTopology"),
		compact:  textAt(raw, "placementPolicy", "type") == "COMPACT",
		zones:    textsAt(raw, "locations"), diskGiB: numberAt(raw, "config", "diskSizeGb"),
		diskType:   textAt(raw, "config", "diskType"),
		localSSDs:  numberAt(raw, "config", "ephemeralStorageLocalSsdConfig", "localSsdCount"),
		runSeconds: seconds(textAt(raw, "config", "maxRunDuration")),
	}
	if list, _ := at(raw, "config", "accelerators").([]any); len(list) > 0 {
		p.accelerator, p.gpus = textAt(list[0], "acceleratorType"), numberAt(list[0], "acceleratorCount")
		p.driver = driverOf(textAt(list[0], "gpuDriverInstallationConfig", "gpuDriverVersion"))
	}
	affinity := at(raw, "config", "reservationAffinity")
	switch textAt(affinity, "consumeReservationType") {
	case "SPECIFIC_RESERVATION":
		if names := textsAt(affinity, "values"); len(names) > 0 {
			p.reservation = names[0]
		}
	case "ANY_RESERVATION":
		p.anyReservation = true
	}
	zones := max(1, len(p.zones))
	p.nodes = numberAt(raw, "initialNodeCount") * zones
	if isTrue(raw, "autoscaling", "enabled") {
		p.min = max(numberAt(raw, "autoscaling", "totalMinNodeCount"), numberAt(raw, "autoscaling",
			"minNodeCount")*zones)
		p.max = max(numberAt(raw, "autoscaling", "totalMaxNodeCount"), numberAt(raw, "autoscaling",
			"maxNodeCount")*zones)
	}
	networks, _ := at(raw, "networkConfig", "additionalNodeNetworkConfigs").([]any)
	for _, n := range networks {
		_, network := lastOf(textAt(n, "network"))
		_, subnet := lastOf(textAt(n, "subnetwork"))
		p.additional = append(p.additional, [2]string{network, subnet})
	}
	p.networks = len(p.additional) > 0
	return p
}

// seconds returns the whole seconds of a duration such as "3600s" or 3600, 0 for anything
// else.
func seconds(text string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "s"))
	if err != nil || n < 0 || n > 1_000_000_000 {
		return 0
	}
	return n
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

// poolRow says what becomes of a setting of a node pool.
type poolRow struct {
	path        string // in gcloud's JSON, with dots
	becomes     string // "HW" stands for the hardware, "CAP" for the capacity
	status      Status
	consequence string
	unset       []any // values that say nothing
}

// poolRows returns the table of the settings of a node pool as gcloud prints it. Facts
// such as the status, and settings that every node pool of batchwright has, are omitted.
func poolRows() []poolRow {
	const capacity = "CAP"
	return []poolRow{
		{path: "config.machineType", becomes: "HW.machine", status: Exact},
		{path: "config.accelerators", becomes: "HW", status: Exact},
		{path: "config.diskSizeGb", becomes: "HW.disk.sizeGiB", status: Exact},
		{path: "config.diskType", becomes: "HW.disk.type", status: Exact},
		{path: "config.ephemeralStorageLocalSsdConfig.localSsdCount", becomes: "HW.localSSDs", status: Exact},
		{path: "config.spot", becomes: capacity + ".consumption", status: Exact, unset: []any{false}},
		{
			path: "config.preemptible", becomes: capacity + ".consumption", status: Approximated, unset: []any{false},
			consequence: "Spot nodes replace preemptible nodes, which end after 24 hours",
		},
		{path: "config.flexStart", becomes: capacity + ".consumption", status: Exact, unset: []any{false}},
		{path: "config.maxRunDuration", becomes: capacity + ".consumption", status: Exact, unset: []any{"", "0s"}},
		{
			path: "config.reservationAffinity.consumeReservationType", becomes: capacity + ".consumption",
			status: Exact, unset: []any{"NO_RESERVATION"},
		},
		{path: "queuedProvisioning.enabled", becomes: capacity + ".consumption", status: Exact, unset: []any{false}},
		{path: "locations", becomes: capacity + ".zones", status: Exact},
		{path: "autoscaling.enabled", becomes: capacity, status: Exact, unset: []any{false}},
		{
			path: "placementPolicy.type", becomes: capacity + ".placement", status: Exact,
			unset: []any{"TYPE_UNSPECIFIED"},
		},
		{path: "placementPolicy.tpuTopology", becomes: "HW.topology", status: Exact},
		{
			path: "config.labels", becomes: capacity, status: Approximated,
			consequence: "the nodes have the labels of the capacity instead",
		},
		{
			path: "config.taints", becomes: capacity, status: Approximated,
			consequence: "the nodes have the taints of the capacity instead",
		},
		{
			path: "config.serviceAccount", status: Approximated,
			consequence: "the nodes have a service account of the platform", unset: []any{"default"},
		},
		{
			path: "config.bootDiskKmsKey", becomes: "security.kmsKey", status: Approximated,
			consequence: "the key encrypts the boot disks of all node pools of the platform",
		},
		{
			path: "config.imageType", status: NoPart, consequence: "the nodes have Container-Optimized OS",
			unset: []any{"COS_CONTAINERD"},
		},
		{
			path: "config.resourceLabels", status: NoPart, consequence: "the nodes have the labels of the platform",
		},
		{path: "config.tags", status: NoPart, consequence: "firewall rules for these tags do not reach the nodes"},
		{path: "config.resourceManagerTags", status: NoPart, consequence: "policies for these tags do not reach the " +
			"nodes"},
		{path: "config.kubeletConfig", status: NoPart, consequence: "the kubelet has GKE's defaults"},
		{path: "config.linuxNodeConfig", status: NoPart, consequence: "the kernel has GKE's defaults"},
		{path: "config.containerdConfig", status: NoPart, consequence: "containerd has GKE's defaults"},
		{
			path: "config.advancedMachineFeatures", status: NoPart,
			consequence: "the machines have Compute Engine's defaults, such as two threads for each core",
		},
		{path: "config.minCpuPlatform", status: NoPart, consequence: "Compute Engine chooses the CPU platform"},
		{path: "config.localNvmeSsdBlockConfig", status: NoPart, consequence: "local SSDs hold ephemeral storage"},
		{path: "config.secondaryBootDisks", status: NoPart, consequence: "the nodes have no images preloaded"},
		{path: "config.sandboxConfig", status: NoPart, consequence: "the nodes have no GKE Sandbox"},
		{path: "config.confidentialNodes", status: NoPart, consequence: "the nodes are not confidential"},
		{path: "config.soleTenantConfig", status: NoPart, consequence: "the nodes share hosts with others"},
		{
			path: "config.shieldedInstanceConfig.enableSecureBoot", status: Approximated, unset: []any{true},
			consequence: "the nodes have secure boot: drivers must be signed",
		},
		{
			path: "maxPodsConstraint.maxPodsPerNode", status: NoPart, unset: []any{json.Number("110"), "110"},
			consequence: "a node has at most 110 pods",
		},
		{
			path: "management.autoUpgrade", status: Approximated, unset: []any{true},
			consequence: "GKE upgrades the nodes in the maintenance window",
		},
		{
			path: "management.autoRepair", status: Approximated, unset: []any{true},
			consequence: "GKE repairs all nodes except flex-start nodes",
		},
		{
			path: "upgradeSettings.blueGreenSettings", status: NoPart, consequence: "upgrades replace the nodes one " +
				"by one",
		},
		{
			path: "networkConfig.podRange", status: NoPart, consequence: "pods have addresses of the cluster's own " +
				"range",
			unset: []any{""},
		},
	}
}

// reportPool reports the settings of a pool from which a capacity is made.
func (d *design) reportPool(c *capacity) {
	p := c.pool
	verb := "compile describes a new pool of the name " + c.name
	if p.exists() {
		verb = fmt.Sprintf("the pool stays as it is, and compile describes a pool of its own beside it, %q; to take "+
			"over the pool instead, call the capacity %q and set takeOver", c.name, p.name)
	}
	p.approximate("object", "capacity."+c.name, verb)
	if p.kind == kindModule {
		d.reportPoolModule(c)
		return
	}
	for _, row := range poolRows() {
		v := at(p.raw, strings.Split(row.path, ".")...)
		if v == nil || saysNothing(v) || slices.Contains(row.unset, v) ||
			row.path == "networkConfig.podRange" && v == d.podRange() {
			continue
		}
		becomes := c.paths().Replace(row.becomes)
		status, consequence := row.status, row.consequence
		if replaced := d.replacedSetting(c, row.path); replaced != "" {
			status, consequence = Approximated, replaced
		}
		p.fields = append(p.fields,
			FieldReport{Field: row.path, Status: status, Becomes: becomes, Consequence: consequence})
	}
	if p.max == 0 && !c.fillCount {
		p.exact("initialNodeCount", "capacity."+c.name)
	}
}

// saysNothing reports whether a setting of a node pool is empty, or has only labels that
// Google sets and fields that are off.
func saysNothing(v any) bool {
	fields, ok := v.(map[string]any)
	if !ok {
		return isEmpty(v)
	}
	for key, value := range fields {
		if !strings.HasPrefix(key, "goog-") && value != false && !isEmpty(value) {
			return false
		}
	}
	return true
}

// paths replaces HW and CAP in the paths of a table by the paths of the hardware and of the
// capacity.
func (c *capacity) paths() *strings.Replacer {
	return strings.NewReplacer("HW", "hardware."+c.hardware.name, "CAP", "capacity."+c.name)
}

// exists reports whether the pool is one of a cluster, rather than of a blueprint of
// Cluster Toolkit.
func (p *pool) exists() bool { return p.kind == kindNodePool }

// podRange returns the name of the cluster's own range for pods.
func (d *design) podRange() any {
	if len(d.inv.clusters) == 0 {
		return nil
	}
	return at(d.inv.clusters[0].raw, "ipAllocationPolicy", "clusterSecondaryRangeName")
}

// replacedSetting returns the consequence of a setting that the capacity has otherwise
// than the pool, "" if it has the same.
func (d *design) replacedSetting(c *capacity, path string) string {
	p, h := c.pool, c.hardware
	switch path {
	case "config.machineType":
		if p.machine != h.machine.Type {
			return "the hardware has " + h.machine.Type
		}
	case "config.diskType":
		if h.diskType != p.diskType && h.machine.BootDisk() != p.diskType {
			return "a blueprint cannot have this type of disk on the machine: the nodes have " + h.machine.BootDisk()
		}
	case "config.ephemeralStorageLocalSsdConfig.localSsdCount":
		if h.localSSDs == 0 && h.machine.SSDs.Bundled == 0 {
			return "a blueprint cannot have this number of local SSDs on the machine"
		}
	case "placementPolicy.type":
		if !c.compact && !c.slices {
			return "the nodes are placed anywhere"
		}
	case "placementPolicy.tpuTopology":
		if h.topology != p.topology {
			return "the machine cannot form this topology: the slices are " + h.topology
		}
	}
	if c.fillOption && strings.HasPrefix(path, "config.reservationAffinity") {
		return "fill in the reservation"
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
	return p.kind == kindModule || m.Count > 0 || m.Networks.RDMA > 0 || p.accelerator != "" || p.compact || p.spot ||
		p.flex || p.queued || p.reservation != ""
}
