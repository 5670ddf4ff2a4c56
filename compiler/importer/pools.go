package importer

import (
	"encoding/json"
	"fmt"
	"regexp"
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
	machine, accelerator string
	gpus                 int // per node, if the pool says so
	spot, flex, queued   bool
	reservation          string // its name or self link
	anyReservation       bool
	topology             string
	compact              bool
	zones                []string
	nodes, min, max      int // in all zones; max is 0 for a fixed number
	diskGiB              int
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
// repeats those of the cluster.
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
	raw := o.raw
	p := &pool{
		object: o, machine: textAt(raw, "config", "machineType"),
		spot:     isTrue(raw, "config", "spot") || isTrue(raw, "config", "preemptible"),
		flex:     isTrue(raw, "config", "flexStart"),
		queued:   isTrue(raw, "queuedProvisioning", "enabled"),
		topology: textAt(raw, "placementPolicy", "tpuTopology"),
		compact:  textAt(raw, "placementPolicy", "type") == "COMPACT",
		zones:    textsAt(raw, "locations"), diskGiB: numberAt(raw, "config", "diskSizeGb"),
	}
	if list, _ := at(raw, "config", "accelerators").([]any); len(list) > 0 {
		p.accelerator, p.gpus = textAt(list[0], "acceleratorType"), numberAt(list[0], "acceleratorCount")
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
	inv.pools = append(inv.pools, p)
}

// readToolkit adds a blueprint of Google's Cluster Toolkit and its node pools.
func (inv *inventory) readToolkit(doc *document, root *yaml.Node) {
	o := &object{kind: kindToolkit, name: scalar(root, "blueprint_name"), doc: doc, node: root}
	inv.addObject(o)
	if len(inv.objects) == 0 || inv.objects[len(inv.objects)-1] != o {
		return
	}
	inv.toolkits = append(inv.toolkits, o)
	vars, _ := o.raw["vars"].(map[string]any)
	groups := child(root, "deployment_groups")
	if groups == nil {
		return
	}
	for _, group := range groups.Content {
		modules := child(group, "modules")
		if modules == nil {
			continue
		}
		for _, n := range modules.Content {
			inv.readModule(doc, n, vars)
		}
	}
}

// readModule adds a module of Cluster Toolkit.
func (inv *inventory) readModule(doc *document, n *yaml.Node, vars map[string]any) {
	o := &object{kind: kindModule, name: scalar(n, "id"), doc: doc, node: n}
	if o.name == "" {
		return
	}
	before := len(inv.objects)
	inv.addObject(o)
	if len(inv.objects) == before {
		return
	}
	settings, _ := resolveVars(o.raw["settings"], vars, 0).(map[string]any)
	o.raw["settings"] = settings
	if !strings.HasSuffix(textAt(o.raw, "source"), "/gke-node-pool") {
		return
	}
	p := &pool{
		object: o, machine: textAt(settings, "machine_type"), spot: isTrue(settings, "spot"),
		flex: isTrue(settings, "enable_flex_start"), queued: isTrue(settings, "enable_queued_provisioning"),
		topology: textAt(settings, "placement_policy", "tpu_topology"),
		compact:  strings.EqualFold(textAt(settings, "placement_policy", "type"), "compact"),
		zones:    textsAt(settings, "zones"), diskGiB: numberAt(settings, "disk_size_gb"),
		nodes: max(numberAt(settings, "static_node_count"), numberAt(settings, "initial_node_count")),
		min:   numberAt(settings, "autoscaling_total_min_nodes"), max: numberAt(settings,
			"autoscaling_total_max_nodes"),
	}
	if p.topology == "" {
		p.topology = textAt(settings, "tpu_topology")
	}
	if list, _ := settings["guest_accelerator"].([]any); len(list) > 0 {
		p.accelerator, p.gpus = textAt(list[0], "type"), numberAt(list[0], "count")
	}
	switch affinity := settings["reservation_affinity"]; textAt(affinity, "consume_reservation_type") {
	case "SPECIFIC_RESERVATION":
		if list, _ := at(affinity, "specific_reservations").([]any); len(list) > 0 {
			p.reservation = textAt(list[0], "name")
		}
	case "ANY_RESERVATION":
		p.anyReservation = true
	}
	inv.pools = append(inv.pools, p)
}

// variable matches a reference to a variable of a blueprint of Cluster Toolkit.
var variable = regexp.MustCompile(`^\$\(vars\.([A-Za-z0-9_-]+)\)$|^\(\(\s*var\.([A-Za-z0-9_-]+)\s*\)\)$`)

// resolveVars replaces references to variables by their values. Other expressions stay.
func resolveVars(v any, vars map[string]any, depth int) any {
	if depth > 20 {
		return v
	}
	switch v := v.(type) {
	case string:
		if m := variable.FindStringSubmatch(v); m != nil {
			if value, ok := vars[m[1]+m[2]]; ok {
				return resolveVars(value, vars, depth+1)
			}
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = resolveVars(v[i], vars, depth+1)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = resolveVars(v[key], vars, depth+1)
		}
		return out
	}
	return v
}

// machineOf returns the machine type of a pool that a blueprint can use.
func (p *pool) machineOf() (catalog.Machine, bool) {
	m, ok := catalog.Usable(p.machine)
	return m, ok
}

// isCompute reports whether the pool holds jobs rather than the cluster's own pods.
func (p *pool) isCompute() bool {
	m, _ := p.machineOf()
	return m.Count > 0 || p.accelerator != "" || p.spot || p.flex || p.queued || p.reservation != "" ||
		slices.Contains([]string{"H4D", "C4D"}, m.Family)
}
