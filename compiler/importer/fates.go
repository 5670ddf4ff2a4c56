package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// fate says what becomes of a field or setting whose fate does not depend on the design. A
// new word of the grammar changes the row of its field.
type fate struct {
	field       string
	status      Status
	becomes     string
	consequence string
	unset       []any // values that say nothing
	// value returns the blueprint's value, and false if the blueprint cannot have it. A row
	// without value changes nothing in the blueprint.
	value    func(v any) (any, bool)
	standard any // the blueprint's default, which is not written
}

// exactly returns the row of a field whose value the blueprint has.
func exactly(field, becomes string, unset ...any) fate {
	return fate{field: field, status: Exact, becomes: becomes, unset: unset}
}

// otherwise returns the row of a field in whose place the platform has something else.
func otherwise(field, becomes, consequence string, unset ...any) fate {
	return fate{field: field, status: Approximated, becomes: becomes, consequence: consequence, unset: unset}
}

// missing returns the row of a field that a blueprint cannot say.
func missing(field, consequence string, unset ...any) fate {
	return fate{field: field, status: NoPart, consequence: consequence, unset: unset}
}

// as returns a row that sets a field of the blueprint.
func (f fate) as(value func(v any) (any, bool), standard any) fate {
	f.value, f.standard = value, standard
	return f
}

// kueueFates returns the rows of a kind of Kueue's objects, whose fields are below spec. A
// field with the value that the API sets by default is not reported.
func kueueFates(kind string) []fate {
	const (
		admits     = "the compiled queue admits jobs: stop it again with kubectl, if it must stay stopped"
		noTopology = "Kueue places pods without regard to blocks and racks"
	)
	switch kind {
	case "ClusterQueue":
		return []fate{
			missing("flavorFungibility", "the compiled queue takes a flavor in which it can borrow, and tries the "+
				"next flavor before it preempts"),
			missing("stopPolicy", admits),
			missing("fairSharing", "all queues get equal shares of what is idle"),
			missing("admissionScope", "the order of admission ignores the past use of the LocalQueues"),
			missing("concurrentAdmissionPolicy", "a job stays in the flavor in which it was admitted"),
		}
	case "LocalQueue":
		return []fate{
			missing("stopPolicy", admits),
			missing("fairSharing", "all LocalQueues of the ClusterQueue have the same weight"),
		}
	case "ResourceFlavor":
		return []fate{
			otherwise("nodeTaints", "capacity", "the compiled flavor has the taints of the nodes that "+
				"batchwright makes"),
			otherwise("tolerations", "capacity", "the compiled flavor tolerates only the taints of the nodes that "+
				"batchwright makes"),
			missing("topologyName", noTopology),
		}
	case "Cohort":
		return []fate{
			missing("resourceGroups", "the queues of the cohort lose the quota that the cohort itself has"),
			missing("fairSharing", "all cohorts get equal shares of what is idle"),
		}
	case "Topology":
		return []fate{missing("levels", noTopology)}
	case "ProvisioningRequestConfig":
		return []fate{
			otherwise("parameters", "capacity", "the parameters follow from the capacity"),
			otherwise("managedResources", "capacity", "the resources follow from the machine of the capacity"),
			otherwise("retryStrategy", "capacity", "the number of retries is the same; the first is after one minute, "+
				"and each later one after twice the time, at most 30 minutes"),
			otherwise("podSetUpdates", "capacity", "the compiled object keeps pods on the nodes that were started for "+
				"them"),
			missing("podSetMergePolicy", "each podset of a job gets a PodTemplate of its own"),
		}
	}
	return nil
}

// reportFates reports the fields of an object of Kueue that have rows.
func (o *object) reportFates() {
	for _, f := range kueueFates(o.Kind) {
		v := exports.At(o.Fields, "spec", f.field)
		if v != nil && !isUnset(v, defaultOf(o.Kind, f.field)) {
			o.report(f.field, f.status, f.becomes, f.consequence)
		}
	}
}

// defaultOf returns the value that the API sets in a field below spec, alone or in an empty
// object; nil if it sets none.
func defaultOf(kind, field string) any {
	spec := map[string]any{}
	exports.SetDefaults(kind, map[string]any{"spec": spec})
	if spec[field] != nil {
		return spec[field]
	}
	below := map[string]any{}
	exports.SetDefaults(kind, map[string]any{"spec": map[string]any{field: below}})
	if len(below) == 0 {
		return nil
	}
	return below
}

// isUnset reports whether a value says only what the API sets by default. An object may
// omit some of its fields.
func isUnset(value, unset any) bool {
	fields, ok := value.(map[string]any)
	defaults, isMap := unset.(map[string]any)
	if !ok || !isMap {
		number, isNumber := value.(json.Number)
		return reflect.DeepEqual(value, unset) || isNumber && string(number) == unset
	}
	for key, v := range fields {
		if d, known := defaults[key]; !known || !isUnset(v, d) {
			return false
		}
	}
	return true
}

// Cluster Toolkit modules whose settings the importer reads, in addition to those in package
// exports.
const (
	moduleNetwork   = "vpc"
	moduleOwnedVPC  = "pre-existing-vpc"
	moduleRDMA      = "gpu-rdma-vpc"
	moduleManyVPCs  = "multivpc"
	moduleInstall   = "kubectl-apply"
	modulePlacement = "resource-policy"
)

// moduleFate says what the platform has instead of a module of Cluster Toolkit.
func moduleFate(source string) (Status, string) {
	switch source {
	case exports.ModuleCluster:
		return Approximated, "the platform makes a cluster of its own, with batchwright's settings"
	case moduleNetwork, moduleManyVPCs, moduleRDMA:
		return Approximated, "the platform makes networks of its own"
	case moduleInstall:
		return Approximated, "the platform installs " + words.And(kinds.WithControllers("Kueue")) + " itself"
	case modulePlacement:
		return Approximated, "the placement follows from the capacity: from its topology, or from placement"
	case "service-account":
		return Approximated, "the platform makes service accounts of its own: write further roles of jobs in " +
			"teams.TEAM.roles, and of nodes in cluster.nodes.roles"
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

// settingFates returns the rows of the settings of a module of Cluster Toolkit.
func settingFates(source string) []fate {
	switch source {
	case exports.ModuleCluster:
		return clusterFates()
	case moduleNetwork:
		return []fate{
			otherwise("firewall_rules", "", "GKE's own firewall rules let nodes and pods reach each other"),
			otherwise("network_name", "network.name", "the network has the name of the platform: set network.name"),
			otherwise("subnetwork_name", "network.subnet", "the subnet has the name of the platform: set "+
				"network.subnet"),
			otherwise("mtu", "", "the size of packets follows from the networks of the GPUs"),
			otherwise("ips_per_nat", "", "Cloud NAT allocates its addresses itself"),
		}
	case moduleInstall:
		return installFates()
	}
	return nil
}

func clusterFates() []fate {
	const ownRanges = "a new network has ranges of batchwright's names"
	return []fate{
		exactly("release_channel", "cluster.releaseChannel").
			as(oneOfTexts("RAPID", "STABLE", "EXTENDED", "REGULAR"), "REGULAR"),
		exactly("version_prefix", "cluster.minVersion").as(versionPrefix, nil),
		exactly("min_master_version", "cluster.minVersion").as(versionPrefix, nil),
		exactly("master_authorized_networks", "cluster.authorizedNetworks").as(authorizedNetworks, nil),
		otherwise("enable_private_endpoint", "", "the control plane has a public address only if "+
			"cluster.authorizedNetworks is set", true),
		missing("gcp_public_cidrs_access_enabled", "the public addresses of Google Cloud cannot reach the control "+
			"plane", false),
		exactly("enable_gcsfuse_csi", "cluster.csiDrivers.gcsFuse").as(anyBool, true),
		exactly("enable_filestore_csi", "cluster.csiDrivers.filestore").as(anyBool, false),
		exactly("enable_gcfs", "cluster.imageStreaming").as(anyBool, true),
		exactly("enable_multi_networking", "cluster.multiNetworking", false).as(anyBool, nil),
		otherwise("additional_networks", "", "the networks follow from gpuDirect of the hardware"),
		missing("k8s_network_names", "the networks have batchwright's names in the cluster: pods that name them must "+
			"change"),
		exactly("system_node_pool_machine_type", "cluster.systemPool.machine").as(usableMachine, "e2-standard-4"),
		exactly("system_node_pool_disk_size_gb", "cluster.systemPool.disk.sizeGiB").as(diskSize, standardDiskGiB),
		otherwise("system_node_pool_disk_type", "", "the disk type of the system pool follows from its machine type"),
		otherwise("system_node_pool_node_count", "cluster.systemPool.nodesPerZone", "the system pool has a fixed "+
			"number of nodes: fill it in"),
		fate{
			field: "maintenance_exclusions", status: Exact, becomes: "cluster.maintenance.exclusions",
			consequence: "a blueprint needs the last day of an exclusion: set cluster.maintenance.exclusions",
		}.as(exclusions, nil),
		otherwise("maintenance_start_time", "cluster.maintenance", "the maintenance window is weekly: set "+
			"cluster.maintenance"),
		exactly("authenticator_security_group", "cluster.securityGroup").as(groupName, nil),
		exactly("deletion_protection", "cluster.deletionProtection").as(anyBool, true),
		exactly("master_ipv4_cidr_block", "network.controlPlane").as(anyRange, "172.16.0.32/28"),
		otherwise("enable_dcgm_monitoring", "", "the cluster collects the metrics of GPUs that the dashboards "+
			"show", true),
		otherwise("monitoring_components", "", "the cluster collects the metrics that the dashboards show"),
		otherwise("configure_workload_identity_sa", "", "the jobs of each team have an identity of the team", false),
		otherwise("k8s_service_account_name", "", "the jobs of each team have a Kubernetes service account of "+
			"the team"),
		otherwise("system_node_pool_taints", "", "the system pool has no taints of its own"),
		otherwise("enable_private_nodes", "", "nodes always have private addresses", true),
		otherwise("pods_ip_range_name", "network", ownRanges, "pods"),
		otherwise("services_ip_range_name", "network", ownRanges, "services"),
		exactly("prefix_with_deployment_name", "name"),
		exactly("name_suffix", "name", ""),
	}
}

func installFates() []fate {
	out := []fate{
		exactly("kueue.install", "scheduler"),
		otherwise("kueue.version", "versions.kueue", "the platform installs batchwright's default, 0.19.2 or later"),
		otherwise("kueue.config_path", "tiers", "import the queues, too: export them from the cluster, or fill in the "+
			"placeholders of the file"),
		otherwise("kueue.config_template_vars", "tiers", "the capacities give the quota: import the queues, too"),
		otherwise("kueue.wait", "", "the build always waits for Kueue"),
	}
	for _, c := range kinds.Controllers() {
		field := "versions." + c.Field
		out = append(out, exactly(c.Field+".install", field), otherwise(c.Field+".version", field,
			"the platform installs batchwright's default, "+c.Oldest+" or later"))
	}
	return append(out,
		exactly("gib.install", "hardware"),
		otherwise("gib.template_vars", "versions.gib", "the platform installs batchwright's default version on nodes "+
			"with gpuDirect"),
		otherwise("gib.path", "hardware", "the platform has a manifest of its own"),
		missing("apply_manifests", "the platform does not apply these manifests: apply them with kubectl"),
		missing("nvidia_dra_driver", "the platform does not install NVIDIA's DRA driver"),
		missing("gpu_operator", "the platform does not install the GPU Operator: GKE installs the drivers"),
		missing("cert_manager", "the platform does not install cert-manager"),
		otherwise("target_architecture", "", "the architecture follows from the machine type"),
	)
}

// fateOf returns the row of a field, nil if there is none.
func fateOf(rows []fate, field string) *fate {
	i := slices.IndexFunc(rows, func(f fate) bool { return f.field == field })
	if i < 0 {
		return nil
	}
	return &rows[i]
}

func oneOfTexts(texts ...string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		s, _ := v.(string)
		return s, slices.Contains(texts, s)
	}
}

func anyBool(v any) (any, bool) {
	b, ok := v.(bool)
	return b, ok
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
	n := exports.Number(v)
	return n, isDiskSize(n)
}

func groupName(v any) (any, bool) {
	s, _ := v.(string)
	return s, securityGroup().MatchString(s)
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

var ipv4Range = regexp.MustCompile(`^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$`)

// authorizedNetworks accepts a list of ranges, each with a name or without.
func authorizedNetworks(v any) (any, bool) {
	list, _ := v.([]any)
	var out settings
	taken := map[string]bool{}
	for i, item := range list {
		block := exports.Text(item, "cidr_block")
		name := cmp.Or(exports.Text(item, "display_name"), fmt.Sprintf("range-%d", i+1))
		if !ipv4Range.MatchString(block) {
			return nil, false
		}
		out = append(out, setting{uniqueName(fitName(name, 40), 40, taken), block})
	}
	return out, len(out) > 0
}

// day matches a time and its day.
var day = regexp.MustCompile(`^(20[0-9]{2}-[01][0-9]-[0-3][0-9])T`)

// exclusions returns maintenance exclusions with a first and a last day.
func exclusions(v any) (any, bool) {
	list, _ := v.([]any)
	var out settings
	taken := map[string]bool{}
	for _, item := range list {
		start := day.FindStringSubmatch(exports.Text(item, "start_time"))
		end := day.FindStringSubmatch(exports.Text(item, "end_time"))
		scope := exports.Text(item, "exclusion_scope")
		if start == nil || end == nil || !slices.Contains([]string{
			"NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES",
		}, scope) {
			return nil, false
		}
		fields := settings{{"start", start[1]}, {"end", end[1]}}
		if scope != "NO_MINOR_OR_NODE_UPGRADES" {
			fields = append(fields, setting{"scope", scope})
		}
		out = append(out, setting{uniqueName(fitName(exports.Text(item, "name"), 40), 40, taken), fields})
	}
	return out, len(out) > 0
}
