package gke

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// nodePoolArguments are the arguments of node pools, in the order in which an import
// reports them. Facts such as the status, and settings that every node pool of a platform
// has, have no row.
//
// Source: hashicorp/terraform-provider-google 7.45.0, flattenNodePool and
// flattenNodeConfig, with the JSON names of the GKE API, v1; its schema for Computed and
// Replaces (ForceNew).
var nodePoolArguments = []Argument{
	{Path: "cluster", Flags: Replaces | Uncompared},
	{Path: "name", Flags: Computed | Replaces | Uncompared},
	{Path: "location", Flags: Computed | Replaces | Uncompared},
	{Path: "initial_node_count", Flags: Computed | Replaces | Uncompared},
	{Path: "node_config", Flags: Block | Computed | Replaces, Key: "config"},
	{
		Path: "node_config.machine_type", Toolkit: "machine_type", Flags: Computed | IfPrinted | Recreates,
		Field: "HW.machine",
	},
	{
		Path: "node_config.guest_accelerator", Toolkit: "guest_accelerator", Flags: Block | Computed | Replaces,
		Key: "accelerators", Field: "HW",
	},
	{
		Path: "node_config.guest_accelerator.type", Flags: Replaces, Key: "acceleratorType", Convert: lastName,
	},
	{Path: "node_config.guest_accelerator.count", Flags: Replaces, Key: "acceleratorCount"},
	{Path: "node_config.guest_accelerator.gpu_partition_size", Flags: Replaces | Foreign},
	{
		Path:  "node_config.guest_accelerator.gpu_driver_installation_config",
		Flags: Block | Computed | Replaces,
	},
	{Path: "node_config.guest_accelerator.gpu_driver_installation_config.gpu_driver_version", Flags: Replaces},
	{Path: "node_config.guest_accelerator.gpu_sharing_config", Flags: Block | Replaces | Foreign},
	{Path: "node_config.guest_accelerator.gpu_sharing_config.gpu_sharing_strategy"},
	{Path: "node_config.guest_accelerator.gpu_sharing_config.max_shared_clients_per_gpu"},
	{
		Path: "node_config.disk_size_gb", Toolkit: "disk_size_gb", Flags: Computed | IfPrinted | Recreates,
		Field: "HW.disk.sizeGiB",
	},
	{
		Path: "node_config.disk_type", Toolkit: "disk_type", Flags: Computed | IfPrinted | Recreates,
		Field: "HW.disk.type",
	},
	{Path: "node_config.ephemeral_storage_local_ssd_config", Flags: Block | Replaces},
	{
		Path:    "node_config.ephemeral_storage_local_ssd_config.local_ssd_count",
		Toolkit: "local_ssd_count_ephemeral_storage", Flags: Replaces, Field: "HW.localSSDs",
	},
	{Path: "node_config.ephemeral_storage_local_ssd_config.data_cache_count", Flags: Replaces | Foreign},
	{Path: "node_config.spot", Toolkit: "spot", Flags: Replaces, Field: "CAP.consumption", Unset: []any{false}},
	{
		Path: "node_config.preemptible", Flags: Replaces | Foreign | Approximated, Field: "CAP.consumption",
		Unset: []any{false}, Instead: "Spot nodes replace preemptible nodes, which end after 24 hours",
	},
	{
		Path: "node_config.flex_start", Toolkit: "enable_flex_start", Flags: Replaces, Field: "CAP.consumption",
		Unset: []any{false},
	},
	{
		Path: "node_config.max_run_duration", Toolkit: "max_run_duration", Flags: Replaces, Field: "CAP.consumption",
		Unset: []any{"", "0s"},
	},
	{Path: "node_config.reservation_affinity", Flags: Block | Replaces},
	{
		Path: "node_config.reservation_affinity.consume_reservation_type", Toolkit: "reservation_affinity",
		Flags: Replaces, Field: "CAP.consumption", Unset: []any{"NO_RESERVATION"},
	},
	{Path: "node_config.reservation_affinity.key", Flags: Replaces},
	{Path: "node_config.reservation_affinity.values", Flags: Replaces},
	{Path: "queued_provisioning", Flags: Block | Replaces},
	{
		Path: "queued_provisioning.enabled", Toolkit: "enable_queued_provisioning", Flags: Replaces,
		Field: "CAP.consumption", Unset: []any{false},
	},
	{Path: "node_locations", Toolkit: "zones", Flags: Computed | IfPrinted, Key: "locations", Field: "CAP.zones"},
	{Path: "node_count", Flags: Computed, Key: "initialNodeCount"},
	{Path: "autoscaling", Flags: Block, Convert: onlyEnabled},
	{Key: "autoscaling.enabled", Flags: Uncompared, Field: "CAP", Unset: []any{false}},
	{Path: "autoscaling.location_policy", Flags: Computed | IfPrinted},
	{Path: "autoscaling.min_node_count"},
	{Path: "autoscaling.max_node_count"},
	{Path: "autoscaling.total_min_node_count"},
	{Path: "autoscaling.total_max_node_count"},
	{Path: "placement_policy", Flags: Block | Replaces},
	{
		Path: "placement_policy.type", Toolkit: "placement_policy", Flags: Triggered, Field: "CAP.placement",
		Unset: []any{"TYPE_UNSPECIFIED"},
	},
	{Path: "placement_policy.policy_name", Flags: Names | Replaces},
	{Path: "placement_policy.tpu_topology", Flags: Triggered, Field: "HW.topology"},
	{
		Path: "node_config.labels", Toolkit: "kubernetes_labels", Flags: Computed | Approximated, Field: "CAP",
		Instead: "the nodes have the labels of the capacity instead",
	},
	{
		Path: "node_config.taint", Toolkit: "taints", Flags: Block | Computed | Approximated, Key: "taints",
		Field: "CAP", Instead: "the nodes have the taints of the capacity instead", Kept: isTaintOfGKE,
	},
	{Path: "node_config.taint.key"},
	{Path: "node_config.taint.value"},
	{Path: "node_config.taint.effect"},
	{
		Path: "node_config.service_account", Toolkit: "service_account_email",
		Flags:   Computed | IfPrinted | Replaces | Approximated,
		Instead: "the nodes have a service account of the platform", Unset: []any{"default"},
	},
	{Path: "node_config.oauth_scopes", Flags: Computed | IfPrinted | Replaces},
	{Path: "node_config.metadata", Flags: Computed | Replaces},
	{
		Path: "node_config.boot_disk_kms_key", Flags: Replaces | Approximated, Field: "security.kmsKey",
		Instead: "the key encrypts the boot disks of all node pools of the platform",
	},
	{
		Path: "node_config.image_type", Toolkit: "image_type", Flags: Computed | AnyCase | IfPrinted | Recreates,
		Instead: "the nodes have Container-Optimized OS", Unset: []any{"COS_CONTAINERD"},
	},
	{
		Path: "node_config.resource_labels", Instead: "the nodes have the labels of the platform",
		Convert: withoutOwnLabels,
	},
	{Path: "node_config.tags", Instead: "firewall rules for these tags do not reach the nodes"},
	{
		Path: "node_config.resource_manager_tags", Flags: Uncompared,
		Instead: "policies for these tags do not reach the nodes",
	},
	{Path: "node_config.kubelet_config", Flags: Block | Uncompared, Instead: "the kubelet has GKE's defaults"},
	{Path: "node_config.linux_node_config", Flags: Block | Uncompared, Instead: "the kernel has GKE's defaults"},
	{Path: "node_config.containerd_config", Flags: Block | Uncompared, Instead: "containerd has GKE's defaults"},
	{
		Path: "node_config.advanced_machine_features", Flags: Block | Replaces | Foreign,
		Instead: "the machines have Compute Engine's defaults, such as two threads for each core",
	},
	{Path: "node_config.advanced_machine_features.threads_per_core"},
	{Path: "node_config.advanced_machine_features.enable_nested_virtualization"},
	{Path: "node_config.min_cpu_platform", Flags: Uncompared, Instead: "Compute Engine chooses the CPU platform"},
	{
		Path: "node_config.local_nvme_ssd_block_config", Flags: Block | Replaces | Foreign,
		Instead: "local SSDs hold ephemeral storage",
	},
	{Path: "node_config.local_nvme_ssd_block_config.local_ssd_count"},
	{
		Path: "node_config.secondary_boot_disks", Flags: Block | Replaces | Foreign,
		Instead: "the nodes have no images preloaded",
	},
	{Path: "node_config.secondary_boot_disks.disk_image"},
	{Path: "node_config.secondary_boot_disks.mode"},
	{
		Path: "node_config.sandbox_config", Flags: Block | Replaces | Foreign,
		Instead: "the nodes have no GKE Sandbox",
	},
	{Path: "node_config.sandbox_config.type"},
	{Path: "node_config.confidential_nodes", Flags: Block | Uncompared, Instead: "the nodes are not confidential"},
	{Path: "node_config.enable_confidential_storage", Flags: Replaces | Foreign},
	{Path: "node_config.local_ssd_encryption_mode", Flags: Replaces | Foreign},
	{Path: "node_config.node_group", Flags: Replaces | Foreign},
	{
		Path: "node_config.sole_tenant_config", Flags: Block | Replaces | Foreign,
		Instead: "the nodes share hosts with others",
	},
	{Path: "node_config.sole_tenant_config.node_affinity", Flags: Block, Key: "nodeAffinities"},
	{Path: "node_config.sole_tenant_config.node_affinity.key"},
	{Path: "node_config.sole_tenant_config.node_affinity.values"},
	{Path: "node_config.host_maintenance_policy", Flags: Block | Replaces | Foreign},
	{Path: "node_config.host_maintenance_policy.maintenance_interval"},
	{Path: "node_config.gcfs_config", Flags: Block | Recreates},
	{Path: "node_config.gcfs_config.enabled"},
	{Path: "node_config.gvnic", Flags: Block | Recreates},
	{Path: "node_config.gvnic.enabled"},
	{Path: "node_config.workload_metadata_config", Flags: Block | Computed | Recreates},
	{Path: "node_config.workload_metadata_config.mode"},
	{Path: "node_config.shielded_instance_config", Flags: Block | Computed | Replaces},
	{
		Path: "node_config.shielded_instance_config.enable_secure_boot", Toolkit: "enable_secure_boot",
		Flags: Replaces | Approximated, Instead: "the nodes have secure boot: drivers must be signed",
		Unset: []any{true},
	},
	{Path: "node_config.shielded_instance_config.enable_integrity_monitoring", Flags: Replaces},
	{
		Path: "max_pods_per_node", Flags: Uncompared, Key: "maxPodsConstraint.maxPodsPerNode",
		Instead: "a node has at most 110 pods", Unset: []any{json.Number("110"), "110"},
	},
	{Path: "management", Flags: Block | Computed},
	{
		Path: "management.auto_upgrade", Flags: Approximated, Unset: []any{true},
		Instead: "GKE upgrades the nodes in the maintenance window",
	},
	{
		Path: "management.auto_repair", Flags: Approximated, Unset: []any{true},
		Instead: "GKE repairs all nodes except flex-start nodes",
	},
	{Path: "upgrade_settings", Flags: Block | Computed},
	{
		Path: "upgrade_settings.blue_green_settings", Flags: Block | Uncompared,
		Instead: "upgrades replace the nodes one by one",
	},
	{Path: "upgrade_settings.strategy", Flags: IfPrinted},
	{Path: "upgrade_settings.max_surge", Flags: Computed},
	{Path: "upgrade_settings.max_unavailable", Flags: Computed},
	{Path: "maintenance_policy", Flags: Block | Computed},
	{Path: "maintenance_policy.exclusion_until_end_of_support", Flags: Block | Computed},
	{Path: "maintenance_policy.exclusion_until_end_of_support.enabled"},
	{Path: "network_config", Flags: Block | Computed},
	{
		Path: "network_config.pod_range", Flags: Uncompared, Unset: []any{""},
		Instead: "pods have addresses of the cluster's own range",
	},
	{Path: "network_config.enable_private_nodes", Flags: Computed | Recreates},
	{Path: "network_config.accelerator_network_profile", Flags: Replaces},
	{Path: "network_config.additional_node_network_configs", Flags: Block | Computed | Replaces},
	{Path: "network_config.additional_node_network_configs.network", Flags: Names | Computed | Replaces},
	{Path: "network_config.additional_node_network_configs.subnetwork", Flags: Names | Computed | Replaces},
	{Path: "network_config.additional_pod_network_configs", Flags: Block | Replaces | Foreign},
	{Path: "network_config.additional_pod_network_configs.subnetwork", Flags: Names},
	{Path: "network_config.additional_pod_network_configs.secondary_pod_range"},
}

// onlyEnabled returns a block of the API if it is enabled. The provider omits the others.
func onlyEnabled(v any) any {
	if fields, ok := v.(map[string]any); ok && fields["enabled"] == true {
		return fields
	}
	return nil
}

// lastName returns the last name of a path.
func lastName(v any) any {
	if text, ok := v.(string); ok && text != "" {
		return path.Base(text)
	}
	return nil
}

// withoutOwnLabels returns labels of resources without the labels of GKE, which the
// provider ignores.
func withoutOwnLabels(v any) any {
	labels, _ := v.(map[string]any)
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(key string, _ any) bool { return strings.HasPrefix(key, "goog-") })
	return out
}

// isTaintOfGKE reports whether GKE itself sets a taint of this key. The provider ignores
// taints that the configuration does not have.
func isTaintOfGKE(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	return found && slices.ContainsFunc(domainsOfGKE, func(own string) bool {
		return domain == own || strings.HasSuffix(domain, "."+own)
	})
}

// domainsOfGKE are the domains of the taints that GKE itself sets.
var domainsOfGKE = []string{"kubernetes.io", "cloud.google.com", "gke.io", "nvidia.com", "google.com"}
