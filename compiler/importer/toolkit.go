package importer

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// moduleInputs returns the settings of a module that a variable of the same name sets.
func moduleInputs(source string) []string {
	if source == exports.ModulePool {
		return []string{
			"zones", "machine_type", "static_node_count", "disk_size_gb", "disk_type", "spot", "enable_flex_start",
			"enable_queued_provisioning", "max_run_duration", "num_slices", "autoscaling_total_min_nodes",
			"autoscaling_total_max_nodes", "is_reservation_active",
		}
	}
	var out []string
	for _, f := range settingFates(source) {
		if !strings.Contains(f.field, ".") {
			out = append(out, f.field)
		}
	}
	return out
}

// readModulePool reads a node pool of Cluster Toolkit.
func (inv *inventory) readModulePool(m *module) *pool {
	settings := m.settings
	p := &pool{object: m.object, settings: settings}
	p.readArguments()
	placement := settings["placement_policy"]
	p.topology = cmp.Or(exports.Text(placement, "tpu_topology"), exports.Text(settings, "tpu_topology"))
	p.compact = strings.EqualFold(exports.Text(placement, "type"), "compact")
	p.slices = exports.Number(settings, "num_slices")
	p.inactive = settings["is_reservation_active"] == false
	p.networks = settings["additional_networks"] != nil || inv.usedModule(m, moduleManyVPCs) != nil
	p.aliases = []string{exports.Text(settings, "name"), p.machine + "-" + m.Name, p.machine + "-" + m.Name + "-0"}
	p.zones = slices.DeleteFunc(p.zones, func(z string) bool { return !zoneName.MatchString(z) })
	machine, _ := p.machineOf()
	if policy := inv.usedModule(m, modulePlacement); policy != nil && p.topology == "" && machine.HasTPUs() {
		p.topology = exports.Text(policy.settings, "workload_policy", "accelerator_topology")
	}
	if list := exports.List(settings, "guest_accelerator"); len(list) > 0 {
		p.accelerator, p.gpus = exports.Text(list[0], "type"), exports.Number(list[0], "count")
		p.driver = driverOf(exports.Text(list[0], "gpu_driver_installation_config", "gpu_driver_version"))
	}
	if p.machine == "" && p.accelerator == "" {
		p.machine = "c2-standard-60" // the default of the module
	}
	switch affinity := settings["reservation_affinity"]; exports.Text(affinity, "consume_reservation_type") {
	case "SPECIFIC_RESERVATION":
		p.reservation = "$(fill in)"
		if list := exports.List(affinity, "specific_reservations"); len(list) > 0 {
			p.reservation = cmp.Or(exports.Text(list[0], "name"), p.reservation)
			p.reservationProject = exports.Text(list[0], "project")
		}
	case "ANY_RESERVATION":
		p.anyReservation = true
	}
	p.countModuleNodes()
	return p
}

// countModuleNodes sets the numbers of nodes of a pool of Cluster Toolkit.
func (p *pool) countModuleNodes() {
	number := func(setting string) int { return exports.Number(p.settings, setting) }
	zones, pools := max(1, len(p.zones)), max(1, number("num_node_pools"))
	p.nodes = max(number("static_node_count"), number("initial_node_count")) * pools
	if p.settings["static_node_count"] == nil && p.settings["initial_node_count"] == nil {
		p.min = max(number("autoscaling_total_min_nodes"), number("autoscaling_min_node_count")*zones) * pools
		p.max = max(number("autoscaling_total_max_nodes"), number("autoscaling_max_node_count")*zones) * pools
	}
	m, _ := p.machineOf()
	s, ok := m.Slice(p.topology)
	switch {
	case p.slices == 0 || !ok:
	case p.flex || p.queued:
		p.nodes, p.min, p.max = 0, 0, p.slices*s.Hosts
	default:
		p.nodes, p.min, p.max = p.slices*s.Hosts, 0, 0
	}
}

// isExpression reports whether a value is, or contains, an expression that only Cluster
// Toolkit can evaluate.
func isExpression(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "$(") || strings.HasPrefix(v, "((")
	case []any:
		return slices.ContainsFunc(v, isExpression)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), isExpression)
	}
	return false
}

// planToolkits takes over the settings of the modules. reportModulePool reports the
// settings of node pools.
func (d *design) planToolkits() {
	for _, o := range d.inv.toolkits {
		if d.exists {
			o.approximate("object", "", "the cluster stays as it is, and the platform starts beside what runs in it")
		} else {
			o.approximate("object", "", "the compiled folder makes a platform of its own: it does not change or "+
				"delete the deployment")
		}
		vars, _ := o.Fields["vars"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			if vars[name] == nil {
				o.approximate("vars."+name, "", "the variable has no value: give the deployment file, too, or fill in "+
					"what depends on it")
			}
		}
	}
	for _, o := range d.inv.deployments {
		o.exact("vars", "")
		if o.Fields["terraform_backend_defaults"] != nil {
			o.none("terraform_backend_defaults", "delivery.stateBucket", "the platform has a Terraform state of its "+
				"own")
		}
	}
	for _, m := range d.inv.modules {
		d.planModule(m)
	}
	place := func(s setting) int {
		return slices.IndexFunc(standardRanges(), func(r setting) bool { return r.name == s.name })
	}
	slices.SortStableFunc(d.network, func(a, b setting) int { return cmp.Compare(place(a), place(b)) })
}

// planModule takes over the settings of a module.
func (d *design) planModule(m *module) {
	source := m.module.Source
	isNetwork := source == moduleRDMA || source == moduleManyVPCs
	makesCluster := isNetwork || source == exports.ModuleCluster || source == moduleNetwork
	status, consequence := moduleFate(source)
	switch {
	case source == exports.ModulePool:
		return // reportModulePool reports it
	case source == moduleOwnedVPC:
		d.planOwnedVPC(m)
		return
	case source == exports.ModuleOwned:
		m.exact("settings", "cluster.existing")
		return
	case source == moduleInstall:
		d.planInstall(m)
	case d.exists && makesCluster:
		m.approximate("source", "cluster.existing", "the cluster and its network stay as they are")
		return
	}
	m.report("source", status, "", consequence)
	if !makesCluster && source != moduleInstall {
		return // the module says all
	}
	if isNetwork {
		m.approximate("settings", "hardware", "names and numbers of the networks follow from gpuDirect of the hardware")
	}
	for _, path := range m.settingPaths() {
		d.planSetting(m, path)
	}
}

// settingPaths returns the settings of a module in the order of the table, and then the
// others. The settings of objects that have rows of their own are listed with dots.
func (m *module) settingPaths() []string {
	var out []string
	for name, value := range m.settings {
		fields, ok := value.(map[string]any)
		of := func(c kinds.Controller) bool { return c.Field == name }
		if !ok || !slices.Contains([]string{"kueue", "gib", "subnetworks_template"}, name) &&
			!slices.ContainsFunc(kinds.Controllers(), of) {
			out = append(out, name)
			continue
		}
		for field := range fields {
			out = append(out, name+"."+field)
		}
	}
	rows := moduleInputs(m.module.Source)
	place := func(path string) int {
		if i := slices.Index(rows, path); i >= 0 {
			return i
		}
		return len(rows)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return out
}

// planSetting takes over a setting of a module, or reports that it has no counterpart.
func (d *design) planSetting(m *module, path string) {
	v := exports.At(m.settings, strings.Split(path, ".")...)
	field := "settings." + path
	if d.planNetworkSetting(m, path, v) {
		return
	}
	f := fateOf(settingFates(m.module.Source), path)
	switch {
	case path == "kueue.config_template_vars" && d.quota > 0: // planInstall reports it
	case strings.HasSuffix(path, "_ip_range_name") && d.inv.usedModule(m, moduleOwnedVPC) != nil:
		m.exact(field, "network.existing."+strings.TrimSuffix(path, "_ip_range_name"))
	case f == nil && (v == false || exports.IsEmpty(v)):
	case f == nil:
		m.none(field, "", "a blueprint cannot say this")
	case slices.Contains(f.unset, v) || exports.IsEmpty(v) && f.value == nil:
	case f.value == nil:
		m.report(field, f.status, f.becomes, f.consequence)
	default:
		value, ok := f.value(v)
		switch {
		case ok:
			m.exact(field, f.becomes)
			if value != f.standard {
				d.set(f.becomes, value)
			}
		case isExpression(v):
			m.none(field, f.becomes, onlyToolkit)
		default:
			m.report(field, NoPart, f.becomes,
				cmp.Or(f.consequence, "the blueprint cannot have this value: it has the default"))
		}
	}
}

const onlyToolkit = "only Cluster Toolkit can evaluate the expression: fill in the value"

// set sets a field of the cluster or the network, unless it is set.
func (d *design) set(path string, value any) {
	top, rest, _ := strings.Cut(path, ".")
	target := map[string]*settings{"cluster": &d.cluster, "network": &d.network}[top]
	*target = addSetting(*target, strings.Split(rest, "."), value)
}

// addSetting sets the value at a path, unless it is set.
func addSetting(list settings, path []string, value any) settings {
	i := slices.IndexFunc(list, func(s setting) bool { return s.name == path[0] })
	switch {
	case i < 0 && len(path) == 1:
		return append(list, setting{path[0], value})
	case i < 0:
		return append(list, setting{path[0], addSetting(nil, path[1:], value)})
	case len(path) > 1:
		below, _ := list[i].value.(settings)
		list[i].value = addSetting(below, path[1:], value)
	}
	return list
}

// planNetworkSetting takes over the ranges of networks, and reports whether it knows the
// setting.
func (d *design) planNetworkSetting(m *module, path string, v any) bool {
	field, source := "settings."+path, m.module.Source
	switch source + "." + path {
	case moduleNetwork + ".subnetworks":
		list, _ := v.([]any)
		if len(list) == 0 {
			return true
		}
		switch address := exports.Text(list[0], "subnet_ip"); {
		case d.isClusterNetwork(m):
			d.planRange(m, field, "nodes", address)
		case m.settings["network_profile"] == nil && d.hasRDMA():
			d.planRange(m, field, "gvnic", address)
		default:
			m.approximate(field, "network", "the nodes have only the network of the cluster")
		}
	case moduleNetwork + ".secondary_ranges_list":
		list, _ := v.([]any)
		for _, item := range list {
			for _, r := range exports.List(item, "ranges") {
				name := exports.Text(r, "range_name")
				if name == "pods" || name == "services" {
					d.planRange(m, field+"."+name, name, exports.Text(r, "ip_cidr_range"))
				} else {
					m.none(field+"."+name, "", "the platform's subnet has no further ranges")
				}
			}
		}
	case moduleRDMA + ".subnetworks_template.ip_range":
		d.planRange(m, field, "rdma", exports.Text(v))
	case moduleManyVPCs + ".global_ip_address_range":
		d.planRange(m, field, "tcpx", exports.Text(v))
	default:
		return source == moduleRDMA || source == moduleManyVPCs // planModule reports them together
	}
	return true
}

// hasRDMA reports whether the nodes of a pool have the networks of GPUDirect RDMA.
func (d *design) hasRDMA() bool {
	return slices.ContainsFunc(d.inv.pools, func(p *pool) bool {
		m, _ := p.machineOf()
		return p.networks && m.Networks.RDMA > 0 && m.Networks.Direct != ""
	})
}

// isClusterNetwork reports whether the cluster is in the network of the module.
func (d *design) isClusterNetwork(m *module) bool {
	for _, c := range d.inv.modules {
		if c.module.Source == exports.ModuleCluster && d.inv.usedModule(c, moduleNetwork) != nil {
			return d.inv.usedModule(c, moduleNetwork) == m
		}
	}
	return true
}

// standardRanges returns the ranges of a new network that the blueprint does not name.
// Source: schema/blueprint.cue, #Network.
func standardRanges() settings {
	return settings{
		{"nodes", "10.0.0.0/20"}, {"pods", "10.4.0.0/14"}, {"services", "10.0.32.0/20"},
		{"controlPlane", "172.16.0.32/28"}, {"gvnic", "192.168.64.0/18"}, {"rdma", "192.168.128.0/18"},
		{"tcpx", "192.168.192.0/18"},
	}
}

// planRange takes over a range of a network, if it is private and overlaps no other.
func (d *design) planRange(m *module, field, name, text string) {
	becomes, own := "network."+name, privateRange(text)
	if !own.IsValid() {
		m.none(field, becomes, "the range is not private, or is no range: the network has the default range")
		return
	}
	for _, other := range standardRanges() {
		value, _ := other.value.(string)
		for _, s := range d.network {
			if text, ok := s.value.(string); ok && s.name == other.name {
				value = text
			}
		}
		if other.name == name && value == text {
			m.exact(field, becomes)
			return
		}
		if other.name != name && own.Overlaps(netip.MustParsePrefix(value)) {
			m.none(field, becomes, "the range overlaps network.%s, %s: the network has the default range", other.name,
				value)
			return
		}
	}
	m.exact(field, becomes)
	d.set(becomes, text)
}

// planOwnedVPC describes a network that others own.
func (d *design) planOwnedVPC(m *module) {
	pods, services := "pods", "services"
	for _, c := range d.inv.modules {
		if c.module.Source == exports.ModuleCluster {
			pods = cmp.Or(exports.Text(c.settings, "pods_ip_range_name"), pods)
			services = cmp.Or(exports.Text(c.settings, "services_ip_range_name"), services)
		}
	}
	owner, name := lastOf(exports.Text(m.settings, "network_name"))
	list, _ := d.existingNetwork(owner, name, exports.Text(m.settings, "subnetwork_name"), pods, services)
	if owner := exports.Text(m.settings, "project_id"); projectID().MatchString(owner) && owner != d.project {
		list = append(settings{{"project", owner}}, list...)
	}
	d.network = settings{{"existing", list}}
	m.exact("settings", "network.existing")
}

// planInstall takes over the quota that the blueprint gives to Kueue's configuration.
func (d *design) planInstall(m *module) {
	for _, name := range []string{"num_gpus", "tpu_quota"} {
		if n := exports.Number(m.settings, "kueue", "config_template_vars", name); n > 0 {
			d.quota = n
			m.exact("settings.kueue.config_template_vars."+name, "tiers")
		}
	}
}

// poolFates returns the rows of the module gke-node-pool. Package gke has those of settings
// that node pools of a cluster have, too.
func poolFates() []poolFate {
	out := argumentFates(func(a gke.Argument) string { return a.Toolkit })
	for _, f := range []fate{
		exactly("additional_networks", "HW.gpuDirect"),
		exactly("static_node_count", "CAP"),
		otherwise("initial_node_count", "CAP", "the capacity has this number of nodes, and does not scale"),
		exactly("autoscaling_total_min_nodes", "CAP.minNodes"),
		exactly("autoscaling_total_max_nodes", "CAP.maxNodes"),
		exactly("autoscaling_min_node_count", "CAP.minNodes"),
		exactly("autoscaling_max_node_count", "CAP.maxNodes"),
		exactly("num_slices", "CAP"),
		exactly("num_node_pools", "CAP"),
		exactly("is_reservation_active", "CAP.consumption"),
		otherwise("auto_upgrade", "CAP.upgrades", "GKE upgrades all nodes except flex-start nodes, in the maintenance "+
			"window", true),
		otherwise("auto_repair", "CAP", "GKE repairs all nodes except flex-start nodes", true),
		otherwise("labels", "labels", "the machines have the labels of the platform: set labels"),
		otherwise("name", "CAP", "the node pool is named after the capacity"),
		otherwise("enable_gcfs", "cluster.imageStreaming", "all node pools stream images: set cluster.imageStreaming",
			true),
		missing("threads_per_core", "the machines have Compute Engine's default, two threads for each core on most of "+
			"them"),
		missing("enable_dranet", "pods get the networks by annotations, not by claims", false),
	} {
		out = append(out, poolFate{fate: f})
	}
	return out
}

// reportModulePool reports the settings of a node pool of Cluster Toolkit.
func (d *design) reportModulePool(c *capacity) {
	p, rows := c.pool, poolFates()
	for _, name := range slices.Sorted(maps.Keys(p.settings)) {
		v := p.settings[name]
		i := slices.IndexFunc(rows, func(f poolFate) bool { return f.field == name })
		switch {
		case exports.IsEmpty(v) || i < 0 && v == false || i >= 0 && slices.Contains(rows[i].unset, v):
		case i < 0:
			p.none("settings."+name, "", "a blueprint cannot say this")
		default:
			p.reportSetting(c, rows[i], "settings."+name, d.replacedModuleSetting(c, rows[i], v))
		}
	}
}

// replacedModuleSetting returns the consequence of a setting that the capacity has
// otherwise than the module, "" if it has the same.
func (d *design) replacedModuleSetting(c *capacity, f poolFate, v any) string {
	h := c.hardware
	replaced := d.replacedSetting(c, f.argument)
	switch f.field {
	case "guest_accelerator":
		list, _ := v.([]any)
		if h.guessed {
			replaced = "fill in the machine type"
		} else if slices.ContainsFunc(list, func(item any) bool {
			return exports.At(item, "gpu_partition_size") != nil || exports.At(item, "gpu_sharing_config") != nil
		}) {
			replaced = "a node has whole GPUs: no partitions, and no sharing"
		}
	case "additional_networks":
		if !h.gpuDirect && !catalog.FamilyOf(h.machine.Family).ClaimsNetworks {
			return "the nodes have only the network of the cluster"
		}
		return "" // only the toolkit can evaluate the list, but the machine says what it must be
	case "placement_policy":
		if topology := d.replacedSetting(c, "placement_policy.tpu_topology"); c.pool.topology != "" && topology != "" {
			replaced = topology
		}
		return replaced
	case "static_node_count", "num_slices", "autoscaling_total_max_nodes", "autoscaling_max_node_count":
		if c.fillCount {
			replaced = "fill in the number"
		}
	}
	if replaced == "" && isExpression(v) {
		return onlyToolkit
	}
	return replaced
}
