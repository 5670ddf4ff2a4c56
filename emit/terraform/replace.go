package terraform

import (
	"net/netip"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Argument is an argument of a resource that the provider cannot change in place.
// If the argument changes, Terraform destroys the resource and creates another.
type Argument struct {
	// Path is the names of the blocks around the argument and its own, as in
	// "node_config.reservation_affinity.key".
	Path string
	// Computed arguments keep their value if the configuration no longer sets them,
	// because the provider computes them: unsetting one replaces nothing.
	Computed bool
	// Forces reports whether a change from one value to another replaces the
	// resource. If it is nil, every change does.
	Forces func(from, to string) bool
	// Triggered arguments neither reach an existing resource nor replace it:
	// Terraform replaces the resource if its replace_triggered_by says so.
	Triggered bool
}

// ReplacingArguments returns the arguments of a type of resource that the provider
// cannot change in place, among the arguments that Files sets for some platform.
// A path may also name a block: the block can neither be added nor removed in
// place. The result is nil for a type that Files does not write.
//
// A review reads the table to list the resources that a change replaces. To set
// another such argument in an emitter, add the argument to its row.
func ReplacingArguments(kind string) []Argument { return replacingArguments[kind] }

// replacingArguments holds the arguments by type of resource.
//
// Source: the schema of the provider hashicorp/google 7.45.0, ForceNew.
var replacingArguments = map[string][]Argument{
	"google_compute_firewall": slices.Concat(forcedArguments("name"), computedArguments("direction")),
	"google_compute_network":  forcedArguments("auto_create_subnetworks", "name", "network_profile"),
	"google_compute_reservation": forcedArguments(
		"name", "zone", "specific_reservation_required",
		"specific_reservation.instance_properties",
		"specific_reservation.instance_properties.machine_type",
		"specific_reservation.instance_properties.guest_accelerators",
		"specific_reservation.instance_properties.guest_accelerators.accelerator_type",
		"specific_reservation.instance_properties.guest_accelerators.accelerator_count",
		"specific_reservation.instance_properties.local_ssds",
		"specific_reservation.instance_properties.local_ssds.interface",
		"specific_reservation.instance_properties.local_ssds.disk_size_gb",
	),
	"google_compute_resource_policy": slices.Concat(
		forcedArguments("workload_policy.type", "workload_policy.accelerator_topology"),
		computedArguments("region"),
		triggeredArguments("name"),
	),
	"google_compute_router":     slices.Concat(forcedArguments("name", "network"), computedArguments("region")),
	"google_compute_router_nat": slices.Concat(forcedArguments("name", "router"), computedArguments("region")),
	"google_compute_subnetwork": slices.Concat(
		forcedArguments("name", "network"),
		computedArguments("region"),
		// The range can grow in place.
		// Source: the provider's own code, resource_compute_subnetwork.go.
		[]Argument{{
			Path: "ip_cidr_range", Computed: true,
			Forces: func(from, to string) bool { return !coversRange(to, from) },
		}},
	),
	"google_container_cluster": slices.Concat(
		forcedArguments(
			"name", "network", "initial_node_count", "ip_allocation_policy",
			"master_auth.client_certificate_config",
			"master_auth.client_certificate_config.issue_client_certificate",
			"cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key",
			"private_cluster_config.private_endpoint_subnetwork",
			"node_config",
			"node_config.boot_disk_kms_key",
			"node_config.shielded_instance_config",
			"node_config.shielded_instance_config.enable_secure_boot",
			"node_config.shielded_instance_config.enable_integrity_monitoring",
		),
		computedArguments(
			"location", "subnetwork", "networking_mode", "datapath_provider",
			"ip_allocation_policy.cluster_secondary_range_name",
			"ip_allocation_policy.services_secondary_range_name",
			"private_cluster_config.master_ipv4_cidr_block",
			"node_config.service_account", "node_config.oauth_scopes", "node_config.metadata",
		),
	),
	"google_container_node_pool": slices.Concat(
		forcedArguments(
			"cluster",
			"network_config.accelerator_network_profile",
			"network_config.additional_node_network_configs",
			"placement_policy", "placement_policy.policy_name",
			"queued_provisioning", "queued_provisioning.enabled",
			"node_config",
			"node_config.boot_disk_kms_key",
			"node_config.max_run_duration",
			"node_config.guest_accelerator",
			"node_config.guest_accelerator.type",
			"node_config.guest_accelerator.count",
			"node_config.guest_accelerator.gpu_driver_installation_config",
			"node_config.guest_accelerator.gpu_driver_installation_config.gpu_driver_version",
			"node_config.ephemeral_storage_local_ssd_config",
			"node_config.ephemeral_storage_local_ssd_config.local_ssd_count",
			"node_config.reservation_affinity",
			"node_config.reservation_affinity.consume_reservation_type",
			"node_config.reservation_affinity.key",
			"node_config.reservation_affinity.values",
			"node_config.shielded_instance_config",
			"node_config.shielded_instance_config.enable_secure_boot",
			"node_config.shielded_instance_config.enable_integrity_monitoring",
		),
		forcedArguments(optionArguments()...),
		computedArguments(
			"name", "location", "initial_node_count",
			"network_config.additional_node_network_configs.network",
			"network_config.additional_node_network_configs.subnetwork",
			"node_config.service_account", "node_config.oauth_scopes", "node_config.metadata",
		),
		triggeredArguments("placement_policy.type", "placement_policy.tpu_topology"),
	),
	"google_project_iam_binding": forcedArguments(
		"project", "role", "condition", "condition.title", "condition.expression",
	),
	"google_project_iam_member": forcedArguments(
		"project", "role", "member", "condition", "condition.title", "condition.expression",
	),
	"google_storage_bucket":            forcedArguments("name", "location"),
	"google_storage_bucket_iam_policy": forcedArguments("bucket"),
	"google_storage_bucket_iam_member": forcedArguments("bucket", "role", "member"),
	"google_vertex_ai_tensorboard":     computedArguments("region"),
}

// ForeignArguments returns the arguments that Files never sets and that replace a resource
// that somebody else made: the resource has the argument, and the configuration does not.
// It is nil for a type that is never taken over. Arguments in a block of the list are
// omitted.
func ForeignArguments(kind string) []Argument { return foreignArguments[kind] }

// foreignArguments holds the arguments by type of resource.
//
// Source: the schema of the provider hashicorp/google 7.45.0, ForceNew without Computed.
var foreignArguments = map[string][]Argument{
	"google_container_cluster": forcedArguments(
		"dataplane_optimization_mode", "description", "enable_kubernetes_alpha", "enable_tpu",
		"user_managed_keys_config.aggregation_ca", "user_managed_keys_config.cluster_ca",
		"user_managed_keys_config.etcd_api_ca", "user_managed_keys_config.etcd_peer_ca",
	),
	"google_container_node_pool": forcedArguments(
		"network_config.additional_pod_network_configs",
		"node_config.advanced_machine_features", "node_config.enable_confidential_storage",
		"node_config.ephemeral_storage_local_ssd_config.data_cache_count",
		"node_config.guest_accelerator.gpu_partition_size", "node_config.guest_accelerator.gpu_sharing_config",
		"node_config.host_maintenance_policy", "node_config.local_nvme_ssd_block_config",
		"node_config.local_ssd_encryption_mode", "node_config.node_group", "node_config.preemptible",
		"node_config.sandbox_config", "node_config.secondary_boot_disks", "node_config.sole_tenant_config",
	),
}

// optionArguments returns the paths of the arguments that ask for the nodes of a
// consumption option.
func optionArguments() []string {
	var paths []string
	for _, option := range ir.Options() {
		path := "node_config." + option.NodeConfig
		if option.NodeConfig != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// forcedArguments returns arguments of which every change replaces the resource.
func forcedArguments(paths ...string) []Argument {
	out := make([]Argument, len(paths))
	for i, p := range paths {
		out[i] = Argument{Path: p}
	}
	return out
}

// computedArguments returns arguments of which every change except unsetting them
// replaces the resource.
func computedArguments(paths ...string) []Argument {
	out := forcedArguments(paths...)
	for i := range out {
		out[i].Computed = true
	}
	return out
}

// triggeredArguments returns arguments that the provider's update omits, although
// their change does not replace the resource: every plan shows the change, and no
// apply makes it.
//
// Source: hashicorp/terraform-provider-google, nodePoolUpdate in
// resource_container_node_pool.go, and the update of
// resource_compute_resource_policy.go, which asks for a policy of the new name.
func triggeredArguments(paths ...string) []Argument {
	out := forcedArguments(paths...)
	for i := range out {
		out[i].Triggered = true
	}
	return out
}

// coversRange reports whether the address range outer contains the address range
// inner. It returns false if either is not an address range.
func coversRange(outer, inner string) bool {
	o, err := netip.ParsePrefix(outer)
	if err != nil {
		return false
	}
	i, err := netip.ParsePrefix(inner)
	return err == nil && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}
