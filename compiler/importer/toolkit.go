package importer

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// module is a module of a blueprint of Cluster Toolkit.
type module struct {
	*object
	source   string         // the last part of its source, such as "gke-cluster"
	settings map[string]any // with the values of variables
	uses     []string
}

// Modules whose settings the importer reads.
const (
	moduleCluster   = "gke-cluster"
	modulePool      = "gke-node-pool"
	moduleOwned     = "pre-existing-gke-cluster"
	moduleNetwork   = "vpc"
	moduleOwnedVPC  = "pre-existing-vpc"
	moduleRDMA      = "gpu-rdma-vpc"
	moduleManyVPCs  = "multivpc"
	moduleInstall   = "kubectl-apply"
	modulePlacement = "resource-policy"
)

// readToolkit adds a blueprint of Google's Cluster Toolkit. Its modules are read when the
// values of the variables are known.
func (inv *inventory) readToolkit(doc *document, root *yaml.Node) {
	o := &object{kind: kindToolkit, name: scalar(root, "blueprint_name"), doc: doc, node: root}
	inv.addObject(o)
	if len(inv.objects) > 0 && inv.objects[len(inv.objects)-1] == o {
		inv.toolkits = append(inv.toolkits, o)
	}
}

// readDeployment adds a deployment file of Cluster Toolkit, which gives values to the
// variables of a blueprint.
func (inv *inventory) readDeployment(doc *document, root *yaml.Node) {
	name := cmp.Or(scalar(root, "vars", "deployment_name"), doc.source.Name)
	o := &object{kind: kindDeployment, name: name, doc: doc, node: root}
	inv.addObject(o)
	if len(inv.objects) > 0 && inv.objects[len(inv.objects)-1] == o {
		inv.deployments = append(inv.deployments, o)
	}
}

// isDeployment reports whether a document is a deployment file of Cluster Toolkit.
func isDeployment(root *yaml.Node) bool {
	if child(root, "vars") == nil {
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !slices.Contains([]string{
			"vars", "terraform_backend_defaults", "terraform_providers", "validators", "validation_level",
		}, root.Content[i].Value) {
			return false
		}
	}
	return true
}

// readModules adds the modules of the blueprints of Cluster Toolkit.
func (inv *inventory) readModules() {
	if len(inv.toolkits) == 0 {
		for _, o := range inv.deployments {
			inv.add(codeNothing, diag.Error, o.span(), "the file gives values to a blueprint of Cluster Toolkit, but "+
				"the blueprint is not among the files", "give the blueprint, too: the file with deployment_groups")
		}
		return
	}
	for _, o := range inv.toolkits {
		before := len(inv.modules)
		o.vars = map[string]any{}
		if vars, ok := o.raw["vars"].(map[string]any); ok {
			maps.Copy(o.vars, vars)
		}
		for _, deployment := range inv.deployments {
			values, _ := deployment.raw["vars"].(map[string]any)
			for name, value := range values {
				if value != nil {
					o.vars[name] = value
				}
			}
		}
		groups := child(o.node, "deployment_groups")
		for _, group := range contentOf(groups) {
			for _, n := range contentOf(child(group, "modules")) {
				inv.readModule(o, n)
			}
		}
		if !slices.ContainsFunc(inv.modules[before:], func(m *module) bool {
			return slices.Contains([]string{moduleCluster, modulePool, moduleOwned}, m.source)
		}) {
			inv.add(codeNothing, diag.Error, o.span(), "the blueprint has neither a GKE cluster nor a node pool",
				"give a blueprint with the modules gke-cluster and gke-node-pool")
		}
	}
}

// contentOf returns the items of a node, nil if there is no node.
func contentOf(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}

// readModule adds a module of a blueprint.
func (inv *inventory) readModule(blueprint *object, n *yaml.Node) {
	o := &object{kind: kindModule, name: scalar(n, "id"), doc: blueprint.doc, node: n}
	if o.name == "" {
		return
	}
	before := len(inv.objects)
	inv.addObject(o)
	if len(inv.objects) == before {
		return
	}
	m := &module{object: o, source: moduleSource(textAt(o.raw, "source")), uses: textsAt(o.raw, "use")}
	settings, _ := o.raw["settings"].(map[string]any)
	m.settings = map[string]any{}
	for name, value := range settings {
		if value = inv.resolve(blueprint, value); value != nil {
			m.settings[name] = value
		}
	}
	for _, name := range moduleInputs(m.source) { // the toolkit passes variables of the same name
		if value := inv.resolve(blueprint, blueprint.vars[name]); value != nil && m.settings[name] == nil {
			m.settings[name] = value
		}
	}
	inv.modules = append(inv.modules, m)
	if m.source == modulePool {
		inv.pools = append(inv.pools, inv.modulePool(m))
	}
}

// moduleSource returns the last part of a module's source, without a version.
func moduleSource(source string) string {
	source, _, _ = strings.Cut(source, "?")
	return source[strings.LastIndexByte(source, '/')+1:]
}

// moduleInputs returns the settings of a module that a variable of the same name sets.
func moduleInputs(source string) []string {
	var out []string
	for _, row := range moduleRows() {
		if row.module == source && !strings.Contains(row.setting, ".") {
			out = append(out, row.setting)
		}
	}
	return out
}

// usedModule returns the module of a source that another module uses, nil if there is
// none.
func (inv *inventory) usedModule(m *module, source string) *module {
	for _, other := range inv.modules {
		if other.source == source && other.doc == m.doc && slices.Contains(m.uses, other.name) {
			return other
		}
	}
	return nil
}

// modulePool reads a node pool of Cluster Toolkit.
func (inv *inventory) modulePool(m *module) *pool {
	settings := m.settings
	p := &pool{
		object: m.object, machine: textAt(settings, "machine_type"),
		spot: isTrue(settings, "spot"),
		flex: isTrue(settings, "enable_flex_start"), queued: isTrue(settings, "enable_queued_provisioning"),
		runSeconds: seconds(textAt(settings, "max_run_duration")),
		topology:   cmp.Or(textAt(settings, "placement_policy", "tpu_topology"), textAt(settings, "tpu_topology")),
		compact:    strings.EqualFold(textAt(settings, "placement_policy", "type"), "compact"),
		zones:      textsAt(settings, "zones"), diskGiB: numberAt(settings, "disk_size_gb"),
		diskType:  textAt(settings, "disk_type"),
		localSSDs: numberAt(settings, "local_ssd_count_ephemeral_storage"),
		nodes:     max(numberAt(settings, "static_node_count"), numberAt(settings, "initial_node_count")),
		slices:    numberAt(settings, "num_slices"),
		inactive:  at(settings, "is_reservation_active") == false,
		networks:  settings["additional_networks"] != nil || inv.usedModule(m, moduleManyVPCs) != nil,
	}
	p.aliases = []string{textAt(settings, "name"), p.machine + "-" + m.name, p.machine + "-" + m.name + "-0"}
	p.zones = slices.DeleteFunc(p.zones, func(z string) bool { return !zoneName.MatchString(z) })
	if policy := inv.usedModule(m, modulePlacement); policy != nil && p.topology == "" {
		if t := textAt(policy.settings, "workload_policy", "accelerator_topology"); isTPUMachine(p.machine) {
			p.topology = t
		}
	}
	if list, _ := settings["guest_accelerator"].([]any); len(list) > 0 {
		p.accelerator, p.gpus = textAt(list[0], "type"), numberAt(list[0], "count")
		p.driver = driverOf(textAt(list[0], "gpu_driver_installation_config", "gpu_driver_version"))
	}
	if p.machine == "" && p.accelerator == "" {
		p.machine = "c2-standard-60" // the default of the module
	}
	switch affinity := settings["reservation_affinity"]; textAt(affinity, "consume_reservation_type") {
	case "SPECIFIC_RESERVATION":
		p.reservation = "$(fill in)"
		if list, _ := at(affinity, "specific_reservations").([]any); len(list) > 0 {
			p.reservation = cmp.Or(textAt(list[0], "name"), p.reservation)
			p.reservationProject = textAt(list[0], "project")
		}
	case "ANY_RESERVATION":
		p.anyReservation = true
	}
	p.countModuleNodes(settings)
	return p
}

// isTPUMachine reports whether a machine type has TPUs.
func isTPUMachine(name string) bool {
	m, _ := catalog.Usable(name)
	return m.HasTPUs()
}

// countModuleNodes sets the numbers of nodes of a pool of Cluster Toolkit.
func (p *pool) countModuleNodes(settings map[string]any) {
	zones := max(1, len(p.zones))
	if settings["static_node_count"] == nil && settings["initial_node_count"] == nil {
		p.min = max(numberAt(settings, "autoscaling_total_min_nodes"),
			numberAt(settings, "autoscaling_min_node_count")*zones)
		p.max = max(numberAt(settings, "autoscaling_total_max_nodes"),
			numberAt(settings, "autoscaling_max_node_count")*zones)
	}
	pools := max(1, numberAt(settings, "num_node_pools"))
	p.nodes, p.min, p.max = p.nodes*pools, p.min*pools, p.max*pools
	if p.slices == 0 {
		return
	}
	m, _ := p.machineOf()
	s, ok := m.Slice(p.topology)
	if !ok {
		return
	}
	if p.flex || p.queued {
		p.nodes, p.min, p.max = 0, 0, p.slices*s.Hosts
	} else {
		p.nodes, p.min, p.max = p.slices*s.Hosts, 0, 0
	}
}

// variable matches a reference to a variable of a blueprint of Cluster Toolkit.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\(vars\.([A-Za-z0-9_-]+)\)|\(\(\s*var\.([A-Za-z0-9_-]+)\s*\)\)`)
})

// maxResolved is the most values of a blueprint of Cluster Toolkit after the variables in
// a module's settings have their values.
const maxResolved = 100_000

// resolve replaces references to variables of a blueprint by their values.
func (inv *inventory) resolve(blueprint *object, v any) any {
	left := maxResolved
	return resolveVars(v, blueprint.vars, &left, 0)
}

// resolveVars replaces references to variables by their values. A reference that is the
// whole text becomes the value, nil if the variable has none. Other expressions stay.
func resolveVars(v any, vars map[string]any, left *int, depth int) any {
	if *left--; *left < 0 || depth > 20 {
		return nil
	}
	switch v := v.(type) {
	case string:
		if m := variable().FindStringSubmatch(v); m != nil && m[0] == v {
			value, ok := vars[m[1]+m[2]]
			if !ok {
				return v
			}
			return resolveVars(value, vars, left, depth+1)
		}
		return variable().ReplaceAllStringFunc(v, func(reference string) string {
			m := variable().FindStringSubmatch(reference)
			if text := textAt(vars, m[1]+m[2]); text != "" && len(text) < 200 && !strings.Contains(text, "$(") {
				return text
			}
			return reference
		})
	case []any:
		out := []any{}
		for _, item := range v {
			if item = resolveVars(item, vars, left, depth+1); item != nil {
				out = append(out, item)
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			if value := resolveVars(v[key], vars, left, depth+1); value != nil {
				out[key] = value
			}
		}
		return out
	}
	return v
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
		for _, value := range v {
			if isExpression(value) {
				return true
			}
		}
	}
	return false
}

// planToolkits takes over the settings of the modules. reportPoolModule reports the
// settings of node pools.
func (d *design) planToolkits() {
	for _, o := range d.inv.toolkits {
		if d.exists {
			o.approximate("object", "", "the cluster stays as it is, and the platform starts beside what runs in it")
		} else {
			o.approximate("object", "", "the compiled folder makes a platform of its own: it does not change or "+
				"delete the deployment")
		}
		for _, name := range slices.Sorted(maps.Keys(o.vars)) {
			if o.vars[name] == nil {
				o.approximate("vars."+name, "", "the variable has no value: give the deployment file, too, or fill in "+
					"what depends on it")
			}
		}
	}
	for _, o := range d.inv.deployments {
		o.exact("vars", "")
		if at(o.raw, "terraform_backend_defaults") != nil {
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
	switch m.source {
	case modulePool:
		return // reportPoolModule reports it
	case moduleOwnedVPC:
		d.planOwnedVPC(m)
		return
	case moduleOwned:
		m.exact("settings", "cluster.existing")
		return
	case moduleInstall:
		d.planInstall(m)
	}
	status, consequence := moduleConsequence(m.source)
	if d.exists && slices.Contains([]string{moduleCluster, moduleNetwork, moduleRDMA, moduleManyVPCs}, m.source) {
		m.approximate("source", "cluster.existing", "the cluster and its network stay as they are")
		return
	}
	m.fields = append(m.fields, FieldReport{Field: "source", Status: status, Consequence: consequence})
	if !slices.Contains([]string{moduleCluster, moduleNetwork, moduleRDMA, moduleManyVPCs, moduleInstall}, m.source) {
		return // the module says all
	}
	if m.source == moduleRDMA || m.source == moduleManyVPCs {
		m.approximate("settings", "hardware", "names and numbers of the networks follow from gpuDirect of the hardware")
	}
	for _, path := range settingPaths(m) {
		d.planSetting(m, path)
	}
}

// settingPaths returns the settings of a module in the order of the table, and then the
// others. The settings of objects that have rows of their own are listed with dots.
func settingPaths(m *module) []string {
	var out []string
	rows := moduleInputs(m.source)
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
	place := func(path string) int {
		if i := slices.Index(rows, path); i >= 0 {
			return i
		}
		return len(rows)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return out
}

// moduleConsequence says what the platform has instead of a module of Cluster Toolkit.
func moduleConsequence(source string) (Status, string) {
	switch source {
	case moduleCluster:
		return Approximated, "the platform makes a cluster of its own, with batchwright's settings"
	case moduleNetwork, moduleManyVPCs, moduleRDMA:
		return Approximated, "the platform makes networks of its own"
	case moduleInstall:
		return Approximated, "the platform installs " + words.And(kinds.WithControllers("Kueue")) + " itself"
	case modulePlacement:
		return Approximated, "the placement follows from the capacity: from its topology, or from placement"
	case "service-account":
		return Approximated, "the platform makes service accounts of its own: write further roles of jobs in " +
			"teams.TEAM.roles"
	case "cloud-storage-bucket":
		return Approximated, "a team gets a new bucket with bucket: true; the data of this one stays where it is"
	case "gke-job-template":
		return Approximated, "write the job in workloads"
	case "gke-persistent-volume", "gke-storage", "pre-existing-network-storage", "filestore", "managed-lustre",
		"parallelstore":
		return NoPart, "the platform makes no volumes: create them with kubectl, in the namespace of the team"
	}
	return NoPart, "the platform has nothing like this module"
}

// moduleRow says what becomes of a setting of a module.
type moduleRow struct {
	module, setting string
	becomes         string
	status          Status
	consequence     string
	unset           []any // values that say nothing
	// value returns the blueprint's value, and false if the blueprint cannot have it. A row
	// without value changes nothing in the blueprint.
	value    func(v any) (any, bool)
	standard any // the blueprint's default, which is not written
}

// clusterSettings returns the rows of the module gke-cluster. A new word of the grammar is
// a new row.
func clusterSettings() []moduleRow {
	rows := []moduleRow{
		{
			setting: "release_channel", becomes: "cluster.releaseChannel", status: Exact, standard: "REGULAR",
			value: oneOfTexts("RAPID", "STABLE", "EXTENDED", "REGULAR"),
		},
		{setting: "version_prefix", becomes: "cluster.minVersion", status: Exact, value: versionPrefix},
		{setting: "min_master_version", becomes: "cluster.minVersion", status: Exact, value: versionPrefix},
		{
			setting: "master_authorized_networks", becomes: "cluster.authorizedNetworks", status: Exact,
			value: namedRanges("cidr_block", "display_name"), unset: []any{nil},
		},
		{
			setting: "enable_private_endpoint", status: Approximated, unset: []any{true},
			consequence: "the control plane has a public address only if cluster.authorizedNetworks is set",
		},
		{
			setting: "gcp_public_cidrs_access_enabled", status: NoPart, unset: []any{false},
			consequence: "the public addresses of Google Cloud cannot reach the control plane",
		},
		{
			setting: "enable_gcsfuse_csi", becomes: "cluster.csiDrivers.gcsFuse", status: Exact, value: anyBool,
			standard: true,
		},
		{
			setting: "enable_filestore_csi", becomes: "cluster.csiDrivers.filestore", status: Exact, value: anyBool,
			standard: false,
		},
		{setting: "enable_gcfs", becomes: "cluster.imageStreaming", status: Exact, value: anyBool, standard: true},
		{
			setting: "enable_multi_networking", becomes: "cluster.multiNetworking", status: Exact, value: onlyTrue,
			unset: []any{false},
		},
		{
			setting: "additional_networks", status: Approximated,
			consequence: "the networks follow from gpuDirect of the hardware",
		},
		{
			setting: "k8s_network_names", status: NoPart,
			consequence: "the networks have batchwright's names in the cluster: pods that name them must change",
		},
		{
			setting: "system_node_pool_machine_type", becomes: "cluster.systemPool.machine", status: Exact,
			value: usableMachine, standard: "e2-standard-4",
		},
		{
			setting: "system_node_pool_disk_size_gb", becomes: "cluster.systemPool.disk.sizeGiB", status: Exact,
			value: diskSize, standard: standardDiskGiB,
		},
		{
			setting: "system_node_pool_disk_type", status: Approximated,
			consequence: "the disk type of the system pool follows from its machine type",
		},
		{
			setting: "system_node_pool_node_count", becomes: "cluster.systemPool.nodesPerZone", status: Approximated,
			consequence: "the system pool has a fixed number of nodes: fill it in",
		},
		{
			setting: "maintenance_exclusions", becomes: "cluster.maintenance.exclusions", status: Exact,
			value:       exclusions,
			consequence: "a blueprint needs the last day of an exclusion: set cluster.maintenance.exclusions",
		},
		{
			setting: "maintenance_start_time", becomes: "cluster.maintenance", status: Approximated,
			consequence: "the maintenance window is weekly: set cluster.maintenance",
		},
		{
			setting: "authenticator_security_group", becomes: "cluster.securityGroup", status: Exact,
			value: func(v any) (any, bool) {
				s, _ := v.(string)
				return s, securityGroup().MatchString(s)
			},
		},
		{
			setting: "deletion_protection", becomes: "cluster.deletionProtection", status: Exact, value: anyBool,
			standard: true,
		},
		{
			setting: "master_ipv4_cidr_block", becomes: "network.controlPlane", status: Exact, value: anyRange,
			standard: "172.16.0.32/28",
		},
		{
			setting: "enable_dcgm_monitoring", status: Approximated, unset: []any{true},
			consequence: "the cluster collects the metrics of GPUs that the dashboards show",
		},
		{
			setting: "monitoring_components", status: Approximated,
			consequence: "the cluster collects the metrics that the dashboards show",
		},
		{
			setting: "configure_workload_identity_sa", status: Approximated, unset: []any{false},
			consequence: "the jobs of each team have an identity of the team",
		},
		{
			setting: "k8s_service_account_name", status: Approximated,
			consequence: "the jobs of each team have a Kubernetes service account of the team",
		},
		{
			setting: "system_node_pool_taints", status: Approximated, consequence: "the system pool has no taints of " +
				"its own",
		},
		{
			setting: "enable_private_nodes", status: Approximated, unset: []any{true},
			consequence: "nodes always have private addresses",
		},
		{
			setting: "pods_ip_range_name", becomes: "network", status: Approximated, unset: []any{"pods"},
			consequence: "a new network has ranges of batchwright's names",
		},
		{
			setting: "services_ip_range_name", becomes: "network", status: Approximated, unset: []any{"services"},
			consequence: "a new network has ranges of batchwright's names",
		},
		{setting: "prefix_with_deployment_name", becomes: "name", status: Exact},
		{setting: "name_suffix", becomes: "name", status: Exact, unset: []any{""}},
	}
	for i := range rows {
		rows[i].module = moduleCluster
	}
	return rows
}

// moduleRows returns the table of the settings of modules.
func moduleRows() []moduleRow {
	rows := append(clusterSettings(),
		moduleRow{
			module: moduleNetwork, setting: "firewall_rules", status: Approximated,
			consequence: "GKE's own firewall rules let nodes and pods reach each other",
		},
		moduleRow{
			module: moduleNetwork, setting: "network_name", becomes: "name", status: Approximated,
			consequence: "the platform's networks have names that begin with its own",
		},
		moduleRow{
			module: moduleNetwork, setting: "subnetwork_name", becomes: "name", status: Approximated,
			consequence: "the platform's subnets have names that begin with its own",
		},
		moduleRow{
			module: moduleNetwork, setting: "mtu", status: Approximated,
			consequence: "the size of packets follows from the networks of the GPUs",
		},
		moduleRow{
			module: moduleNetwork, setting: "ips_per_nat", status: Approximated,
			consequence: "Cloud NAT allocates its addresses itself",
		},
		moduleRow{module: moduleInstall, setting: "kueue.install", becomes: "scheduler", status: Exact},
		moduleRow{
			module: moduleInstall, setting: "kueue.version", becomes: "versions.kueue", status: Approximated,
			consequence: "the platform installs batchwright's default, 0.19.2 or later",
		},
		moduleRow{
			module: moduleInstall, setting: "kueue.config_path", becomes: "tiers", status: Approximated,
			consequence: "import the queues, too: export them from the cluster, or fill in the placeholders of the " +
				"file",
		},
		moduleRow{
			module: moduleInstall, setting: "kueue.config_template_vars", becomes: "tiers", status: Approximated,
			consequence: "the capacities give the quota: import the queues, too",
		},
		moduleRow{
			module: moduleInstall, setting: "kueue.wait", status: Approximated,
			consequence: "the build always waits for Kueue",
		},
	)
	for _, c := range kinds.Controllers() {
		field := "versions." + c.Field
		rows = append(rows,
			moduleRow{module: moduleInstall, setting: c.Field + ".install", becomes: field, status: Exact},
			moduleRow{
				module: moduleInstall, setting: c.Field + ".version", becomes: field, status: Approximated,
				consequence: "the platform installs batchwright's default, " + c.Oldest + " or later",
			})
	}
	return append(rows,
		moduleRow{
			module: moduleInstall, setting: "gib.install", becomes: "hardware", status: Exact,
		},
		moduleRow{
			module: moduleInstall, setting: "gib.template_vars", becomes: "versions.gib", status: Approximated,
			consequence: "the platform installs batchwright's default version on nodes with gpuDirect",
		},
		moduleRow{
			module: moduleInstall, setting: "gib.path", becomes: "hardware", status: Approximated,
			consequence: "the platform has a manifest of its own",
		},
		moduleRow{
			module: moduleInstall, setting: "apply_manifests", status: NoPart,
			consequence: "the platform does not apply these manifests: apply them with kubectl",
		},
		moduleRow{
			module: moduleInstall, setting: "nvidia_dra_driver", status: NoPart,
			consequence: "the platform does not install NVIDIA's DRA driver",
		},
		moduleRow{
			module: moduleInstall, setting: "gpu_operator", status: NoPart,
			consequence: "the platform does not install the GPU Operator: GKE installs the drivers",
		},
		moduleRow{
			module: moduleInstall, setting: "cert_manager", status: NoPart,
			consequence: "the platform does not install cert-manager",
		},
		moduleRow{
			module: moduleInstall, setting: "target_architecture", status: Approximated,
			consequence: "the architecture follows from the machine type",
		},
		moduleRow{module: modulePool, setting: "zones"},
		moduleRow{module: modulePool, setting: "machine_type"},
		moduleRow{module: modulePool, setting: "static_node_count"},
		moduleRow{module: modulePool, setting: "disk_size_gb"},
		moduleRow{module: modulePool, setting: "disk_type"},
		moduleRow{module: modulePool, setting: "spot"},
		moduleRow{module: modulePool, setting: "enable_flex_start"},
		moduleRow{module: modulePool, setting: "enable_queued_provisioning"},
		moduleRow{module: modulePool, setting: "max_run_duration"},
		moduleRow{module: modulePool, setting: "num_slices"},
		moduleRow{module: modulePool, setting: "autoscaling_total_min_nodes"},
		moduleRow{module: modulePool, setting: "autoscaling_total_max_nodes"},
		moduleRow{module: modulePool, setting: "is_reservation_active"},
	)
}

// planSetting takes over a setting of a module, or reports that it has no counterpart.
func (d *design) planSetting(m *module, path string) {
	v := at(m.settings, strings.Split(path, ".")...)
	field := "settings." + path
	if d.planNetworkSetting(m, path, v) {
		return
	}
	switch {
	case path == "kueue.config_template_vars" && d.quota > 0:
		return // planInstall reports it
	case strings.HasSuffix(path, "_ip_range_name") && d.inv.usedModule(m, moduleOwnedVPC) != nil:
		m.exact(field, "network.existing."+strings.TrimSuffix(path, "_ip_range_name"))
		return
	}
	rows := moduleRows()
	i := slices.IndexFunc(rows, func(r moduleRow) bool { return r.module == m.source && r.setting == path })
	if i < 0 {
		if v != false && !isEmpty(v) {
			m.none(field, "", "a blueprint cannot say this")
		}
		return
	}
	row := rows[i]
	if slices.Contains(row.unset, v) || isEmpty(v) && row.value == nil {
		return
	}
	if row.value == nil {
		m.fields = append(m.fields,
			FieldReport{Field: field, Status: row.status, Becomes: row.becomes, Consequence: row.consequence})
		return
	}
	value, ok := row.value(v)
	switch {
	case !ok && isExpression(v):
		m.none(field, row.becomes, "only Cluster Toolkit can evaluate the expression: fill in the value")
	case !ok:
		m.none(field, row.becomes, cmp.Or(row.consequence, "the blueprint cannot have this value: it has the default"))
	default:
		m.exact(field, row.becomes)
		if value != row.standard {
			d.set(row.becomes, value)
		}
	}
}

// set sets a field of the cluster or the network, unless it is set.
func (d *design) set(path string, value any) {
	top, rest, _ := strings.Cut(path, ".")
	target := map[string]*[]setting{"cluster": &d.cluster, "network": &d.network}[top]
	*target = addSetting(*target, strings.Split(rest, "."), value)
}

// versionPrefix returns the version of a prefix such as "1.33." or "1.33.5-gke.1".
func versionPrefix(v any) (any, bool) {
	s, _ := v.(string)
	s = strings.TrimSuffix(s, ".")
	return s, gkeVersion().MatchString(s)
}

// usableMachine accepts a machine type that a blueprint can use.
func usableMachine(v any) (any, bool) {
	s, _ := v.(string)
	_, ok := catalog.Usable(s)
	return s, ok
}

func diskSize(v any) (any, bool) {
	n := numberAt(map[string]any{"n": v}, "n")
	return n, isDiskSize(n)
}

func anyRange(v any) (any, bool) {
	s, _ := v.(string)
	return s, privateRange(s).IsValid()
}

// privateRange returns a range of private IPv4 addresses, the zero value for any other.
func privateRange(text string) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4() || p.Masked() != p ||
		!p.Addr().IsPrivate() && !netip.MustParsePrefix("100.64.0.0/10").Contains(p.Addr()) {
		return netip.Prefix{}
	}
	return p
}

// day matches a time and its day.
var day = regexp.MustCompile(`^(20[0-9]{2}-[01][0-9]-[0-3][0-9])T`)

// exclusions returns maintenance exclusions with a first and a last day.
func exclusions(v any) (any, bool) {
	list, _ := v.([]any)
	var out []setting
	taken := map[string]bool{}
	for _, item := range list {
		start := day.FindStringSubmatch(textAt(item, "start_time"))
		end := day.FindStringSubmatch(textAt(item, "end_time"))
		scope := textAt(item, "exclusion_scope")
		if start == nil || end == nil || !slices.Contains([]string{
			"NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES",
		}, scope) {
			return nil, false
		}
		fields := []setting{{"start", start[1]}, {"end", end[1]}}
		if scope != "NO_MINOR_OR_NODE_UPGRADES" {
			fields = append(fields, setting{"scope", scope})
		}
		out = append(out, setting{uniqueName(fitName(textAt(item, "name"), 40), 40, taken), fields})
	}
	return out, len(out) > 0
}

// planNetworkSetting takes over the ranges of networks, and reports whether it knows the
// setting.
func (d *design) planNetworkSetting(m *module, path string, v any) bool {
	field := "settings." + path
	switch m.source + "." + path {
	case moduleNetwork + ".subnetworks":
		list, _ := v.([]any)
		if len(list) == 0 {
			return true
		}
		switch address := textAt(list[0], "subnet_ip"); {
		case d.isClusterNetwork(m):
			d.planRange(m, field, "network.nodes", address)
		case m.settings["network_profile"] == nil && d.hasRDMA():
			d.planRange(m, field, "network.gvnic", address)
		default:
			m.approximate(field, "network", "the nodes have only the network of the cluster")
		}
	case moduleNetwork + ".secondary_ranges_list":
		list, _ := v.([]any)
		for _, item := range list {
			ranges, _ := at(item, "ranges").([]any)
			for _, r := range ranges {
				name := textAt(r, "range_name")
				if name == "pods" || name == "services" {
					d.planRange(m, field+"."+name, "network."+name, textAt(r, "ip_cidr_range"))
				} else {
					m.none(field+"."+name, "", "the platform's subnet has no further ranges")
				}
			}
		}
	case moduleRDMA + ".subnetworks_template.ip_range":
		d.planRange(m, field, "network.rdma", textAt(v))
	case moduleManyVPCs + ".global_ip_address_range":
		d.planRange(m, field, "network.tcpx", textAt(v))
	default:
		return m.source == moduleRDMA || m.source == moduleManyVPCs // planModule reports them together
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
		if c.source == moduleCluster && d.inv.usedModule(c, moduleNetwork) != nil {
			return d.inv.usedModule(c, moduleNetwork) == m
		}
	}
	return true
}

// standardRanges returns the ranges of a new network that the blueprint does not name.
// Source: schema/blueprint.cue, #Network.
func standardRanges() []setting {
	return []setting{
		{"nodes", "10.0.0.0/20"}, {"pods", "10.4.0.0/14"}, {"services", "10.0.32.0/20"},
		{"controlPlane", "172.16.0.32/28"}, {"gvnic", "192.168.64.0/18"}, {"rdma", "192.168.128.0/18"},
		{"tcpx", "192.168.192.0/18"},
	}
}

// planRange takes over a range of a network, if it is private and overlaps no other.
func (d *design) planRange(m *module, field, becomes, text string) {
	name := strings.TrimPrefix(becomes, "network.")
	own := privateRange(text)
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
			m.none(field, becomes, fmt.Sprintf("the range overlaps network.%s, %s: the network has the default range",
				other.name, value))
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
		if c.source == moduleCluster {
			pods = cmp.Or(textAt(c.settings, "pods_ip_range_name"), pods)
			services = cmp.Or(textAt(c.settings, "services_ip_range_name"), services)
		}
	}
	list := networkPlace(textAt(m.settings, "network_name"), d.project)
	if owner := textAt(m.settings, "project_id"); projectID().MatchString(owner) && owner != d.project {
		list = append([]setting{{"project", owner}}, list...)
	}
	list = append(list, setting{"subnet", textAt(m.settings, "subnetwork_name")}, setting{"pods", pods},
		setting{"services", services})
	for i, s := range list {
		if text, ok := s.value.(string); ok && resourceName(text) != text {
			list[i].value = remarked{"fill-in", fillIn + "the name of it."}
		}
	}
	d.network = []setting{{"existing", list}}
	m.exact("settings", "network.existing")
}

// planInstall takes over the quota that the blueprint gives to Kueue's configuration.
func (d *design) planInstall(m *module) {
	for _, name := range []string{"num_gpus", "tpu_quota"} {
		if n := numberAt(m.settings, "kueue", "config_template_vars", name); n > 0 {
			d.quota = n
			m.exact("settings.kueue.config_template_vars."+name, "tiers")
		}
	}
}

// poolSettingRow says what becomes of a setting of the module gke-node-pool.
type poolSettingRow struct {
	setting, becomes string
	status           Status
	consequence      string
	unset            []any
}

func poolSettingRows() []poolSettingRow {
	return []poolSettingRow{
		{setting: "machine_type", becomes: "HW.machine", status: Exact},
		{setting: "guest_accelerator", becomes: "HW", status: Exact},
		{setting: "disk_size_gb", becomes: "HW.disk.sizeGiB", status: Exact},
		{setting: "disk_type", becomes: "HW.disk.type", status: Exact},
		{setting: "local_ssd_count_ephemeral_storage", becomes: "HW.localSSDs", status: Exact},
		{setting: "additional_networks", becomes: "HW.gpuDirect", status: Exact},
		{setting: "static_node_count", becomes: "CAP", status: Exact},
		{
			setting: "initial_node_count", becomes: "CAP", status: Approximated,
			consequence: "the capacity has this number of nodes, and does not scale",
		},
		{setting: "autoscaling_total_min_nodes", becomes: "CAP.minNodes", status: Exact},
		{setting: "autoscaling_total_max_nodes", becomes: "CAP.maxNodes", status: Exact},
		{setting: "autoscaling_min_node_count", becomes: "CAP.minNodes", status: Exact},
		{setting: "autoscaling_max_node_count", becomes: "CAP.maxNodes", status: Exact},
		{setting: "num_slices", becomes: "CAP", status: Exact},
		{setting: "num_node_pools", becomes: "CAP", status: Exact},
		{setting: "zones", becomes: "CAP.zones", status: Exact},
		{setting: "spot", becomes: "CAP.consumption", status: Exact, unset: []any{false}},
		{setting: "enable_flex_start", becomes: "CAP.consumption", status: Exact, unset: []any{false}},
		{setting: "enable_queued_provisioning", becomes: "CAP.consumption", status: Exact, unset: []any{false}},
		{setting: "max_run_duration", becomes: "CAP.consumption", status: Exact},
		{setting: "reservation_affinity", becomes: "CAP.consumption", status: Exact},
		{setting: "is_reservation_active", becomes: "CAP.consumption", status: Exact},
		{setting: "placement_policy", becomes: "CAP.placement", status: Exact},
		{
			setting: "auto_upgrade", becomes: "CAP.upgrades", status: Approximated, unset: []any{true},
			consequence: "GKE upgrades all nodes except flex-start nodes, in the maintenance window",
		},
		{
			setting: "auto_repair", becomes: "CAP", status: Approximated, unset: []any{true},
			consequence: "GKE repairs all nodes except flex-start nodes",
		},
		{
			setting: "taints", becomes: "CAP", status: Approximated,
			consequence: "the nodes have the taints of the capacity instead",
		},
		{
			setting: "kubernetes_labels", becomes: "CAP", status: Approximated,
			consequence: "the nodes have the labels of the capacity instead",
		},
		{
			setting: "labels", becomes: "labels", status: Approximated,
			consequence: "the machines have the labels of the platform: set labels",
		},
		{
			setting: "name", becomes: "CAP", status: Approximated, consequence: "the node pool is named after the " +
				"capacity",
		},
		{
			setting: "enable_gcfs", becomes: "cluster.imageStreaming", status: Approximated, unset: []any{true},
			consequence: "all node pools stream images: set cluster.imageStreaming",
		},
		{
			setting: "enable_secure_boot", status: Approximated, unset: []any{true},
			consequence: "the nodes have secure boot: drivers must be signed",
		},
		{
			setting: "image_type", status: NoPart, unset: []any{"COS_CONTAINERD"},
			consequence: "the nodes have Container-Optimized OS",
		},
		{
			setting: "threads_per_core", status: NoPart,
			consequence: "the machines have Compute Engine's default, two threads for each core on most of them",
		},
		{
			setting: "enable_dranet", status: NoPart, unset: []any{false},
			consequence: "pods get the networks by annotations, not by claims",
		},
		{
			setting: "service_account_email", status: Approximated,
			consequence: "the nodes have a service account of the platform",
		},
	}
}

// reportPoolModule reports the settings of a node pool of Cluster Toolkit.
func (d *design) reportPoolModule(c *capacity) {
	i := slices.IndexFunc(d.inv.modules, func(m *module) bool { return m.object == c.pool.object })
	if i < 0 {
		return
	}
	m := d.inv.modules[i]
	for _, path := range slices.Sorted(maps.Keys(m.settings)) {
		v := m.settings[path]
		i := slices.IndexFunc(poolSettingRows(), func(row poolSettingRow) bool { return row.setting == path })
		switch {
		case i < 0 && (v == false || isEmpty(v)):
		case i < 0:
			m.none("settings."+path, "", "a blueprint cannot say this")
		case !slices.Contains(poolSettingRows()[i].unset, v) && !isEmpty(v):
			row := poolSettingRows()[i]
			status, consequence := row.status, row.consequence
			if replaced := d.replacedModuleSetting(c, path, v); replaced != "" {
				status, consequence = Approximated, replaced
			}
			m.fields = append(m.fields, FieldReport{
				Field: "settings." + path, Status: status, Becomes: c.paths().Replace(row.becomes),
				Consequence: consequence,
			})
		}
	}
}

// replacedModuleSetting returns the consequence of a setting that the capacity has
// otherwise than the module, "" if it has the same.
func (d *design) replacedModuleSetting(c *capacity, path string, v any) string {
	h := c.hardware
	switch path {
	case "guest_accelerator":
		if h.guessed {
			return "fill in the machine type"
		}
		list, _ := v.([]any)
		if slices.ContainsFunc(list, func(item any) bool {
			return at(item, "gpu_partition_size") != nil || at(item, "gpu_sharing_config") != nil
		}) {
			return "a node has whole GPUs: no partitions, and no sharing"
		}
	case "additional_networks":
		if !h.gpuDirect && !catalog.FamilyOf(h.machine.Family).ClaimsNetworks {
			return "the nodes have only the network of the cluster"
		}
		return "" // only the toolkit can evaluate the list, but the machine says what it must be
	case "placement_policy":
		if replaced := d.replacedSetting(c, "placementPolicy.tpuTopology"); c.pool.topology != "" && replaced != "" {
			return replaced
		}
		return d.replacedSetting(c, "placementPolicy.type")
	case "reservation_affinity":
		if c.fillOption {
			return "fill in the reservation"
		}
	case "static_node_count", "num_slices", "autoscaling_total_max_nodes", "autoscaling_max_node_count":
		if c.fillCount {
			return "fill in the number"
		}
	}
	for setting, same := range map[string]string{
		"disk_type": "config.diskType", "machine_type": "config.machineType",
		"local_ssd_count_ephemeral_storage": "config.ephemeralStorageLocalSsdConfig.localSsdCount",
	} {
		if replaced := d.replacedSetting(c, same); setting == path && replaced != "" {
			return replaced
		}
	}
	if isExpression(v) {
		return "only Cluster Toolkit can evaluate the expression: fill in the value"
	}
	return ""
}
