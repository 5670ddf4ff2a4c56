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
	"github.com/batchwright/batchwright/compiler/gke"
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
	for _, a := range gke.Arguments(gke.NodePool) {
		if a.Field == "" && a.Instead == "" {
			continue
		}
		key := gke.KeyPath(gke.NodePool, a)
		v := at(p.raw, strings.Split(key, ".")...)
		if v == nil || saysNothing(v) || slices.Contains(a.Unset, v) ||
			key == "networkConfig.podRange" && v == d.podRange() {
			continue
		}
		status, consequence := statusOf(a), a.Instead
		if replaced := d.replacedSetting(c, key); replaced != "" {
			status, consequence = Approximated, replaced
		}
		p.fields = append(p.fields,
			FieldReport{Field: key, Status: status, Becomes: c.paths().Replace(a.Field), Consequence: consequence})
	}
	if p.max == 0 && !c.fillCount {
		p.exact("initialNodeCount", "capacity."+c.name)
	}
}

// statusOf returns what becomes of an argument of a node pool.
func statusOf(a gke.Argument) Status {
	switch {
	case a.Is(gke.Approximated):
		return Approximated
	case a.Field == "":
		return NoPart
	}
	return Exact
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
