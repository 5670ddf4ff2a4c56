package gke

// clusterArguments are the arguments of clusters.
//
// Source: hashicorp/terraform-provider-google 7.45.0, resource_container_cluster.go, with
// the JSON names of the GKE API, v1; its schema for Computed and Replaces (ForceNew).
var clusterArguments = []Argument{
	{Path: "name", Flags: Replaces | Uncompared},
	{Path: "location", Flags: Computed | Replaces | Uncompared},
	{Path: "node_locations", Flags: Computed | IfPrinted, Key: "locations"},
	{Path: "initial_node_count", Flags: IfPrinted | Replaces},
	{Path: "enable_shielded_nodes", Flags: IfPrinted, Key: "shieldedNodes.enabled"},
	{Path: "network", Flags: Names | IfPrinted | Replaces, Key: "networkConfig.network"},
	{Path: "subnetwork", Flags: Computed | Names | IfPrinted | Replaces, Key: "networkConfig.subnetwork"},
	{
		Path:  "networking_mode",
		Flags: Computed | IfPrinted | Replaces, Key: "ipAllocationPolicy", Convert: networkingMode,
	},
	{
		Path:  "datapath_provider",
		Flags: Computed | IfPrinted | Replaces, Key: "networkConfig", Convert: datapathProvider,
	},
	{Path: "dataplane_optimization_mode", Flags: Replaces | Foreign, Key: "networkConfig.dataplaneOptimizationMode"},
	{Path: "enable_multi_networking", Key: "networkConfig.enableMultiNetworking"},
	{Path: "enable_intranode_visibility", Flags: Computed, Key: "networkConfig.enableIntraNodeVisibility"},
	{Path: "description", Flags: Replaces},
	{Path: "enable_kubernetes_alpha", Flags: Replaces | Foreign},
	{Path: "enable_tpu", Flags: Replaces | Foreign},
	{Path: "release_channel", Flags: Block | Computed},
	{Path: "release_channel.channel"},
	{Path: "ip_allocation_policy", Flags: Block | Computed | IfPrinted | Replaces},
	{Path: "ip_allocation_policy.cluster_secondary_range_name", Flags: Computed | Replaces},
	{Path: "ip_allocation_policy.services_secondary_range_name", Flags: Computed | Replaces},
	{Path: "private_cluster_config", Flags: Block | Computed},
	{Path: "private_cluster_config.enable_private_nodes"},
	{Path: "private_cluster_config.enable_private_endpoint"},
	{Path: "private_cluster_config.master_ipv4_cidr_block", Flags: Computed | IfPrinted | Replaces},
	{Path: "private_cluster_config.private_endpoint_subnetwork", Flags: Names | IfPrinted | Replaces},
	{Path: "master_authorized_networks_config", Flags: Block | Computed},
	{Path: "master_authorized_networks_config.gcp_public_cidrs_access_enabled", Flags: Computed},
	{Path: "master_authorized_networks_config.cidr_blocks", Flags: Block},
	{Path: "master_authorized_networks_config.cidr_blocks.display_name"},
	{Path: "master_authorized_networks_config.cidr_blocks.cidr_block"},
	{Path: "control_plane_endpoints_config", Flags: Block | Computed},
	{Path: "control_plane_endpoints_config.dns_endpoint_config", Flags: Block | Computed},
	{Path: "control_plane_endpoints_config.dns_endpoint_config.allow_external_traffic"},
	{Path: "workload_identity_config", Flags: Block | Computed},
	{Path: "workload_identity_config.workload_pool"},
	{Path: "authenticator_groups_config", Flags: Block | Computed},
	{Path: "authenticator_groups_config.security_group"},
	{Path: "master_auth", Flags: Block | Computed},
	{
		Path:  "master_auth.client_certificate_config",
		Flags: Block | Computed | Replaces, Key: "clientCertificate", Convert: clientCertificate,
	},
	{Path: "master_auth.client_certificate_config.issue_client_certificate", Flags: Replaces, Key: "issued"},
	{Path: "anonymous_authentication_config", Flags: Block | Computed},
	{Path: "anonymous_authentication_config.mode"},
	{Path: "rbac_binding_config", Flags: Block | Computed},
	{Path: "rbac_binding_config.enable_insecure_binding_system_authenticated", Flags: IfPrinted},
	{Path: "rbac_binding_config.enable_insecure_binding_system_unauthenticated", Flags: IfPrinted},
	{Path: "addons_config", Flags: Block | Computed},
	{Path: "addons_config.gce_persistent_disk_csi_driver_config", Flags: Block | Computed},
	{Path: "addons_config.gce_persistent_disk_csi_driver_config.enabled"},
	{Path: "addons_config.gcp_filestore_csi_driver_config", Flags: Block | Computed},
	{Path: "addons_config.gcp_filestore_csi_driver_config.enabled"},
	{Path: "addons_config.gcs_fuse_csi_driver_config", Flags: Block | Computed},
	{Path: "addons_config.gcs_fuse_csi_driver_config.enabled"},
	{Path: "cluster_autoscaling", Flags: Block | Computed, Key: "autoscaling"},
	{Path: "cluster_autoscaling.enabled", Flags: Computed, Key: "enableNodeAutoprovisioning"},
	{Path: "cluster_autoscaling.autoscaling_profile", Flags: IfPrinted},
	{Path: "cluster_autoscaling.auto_provisioning_locations", Flags: Computed, Key: "autoprovisioningLocations"},
	{Path: "cluster_autoscaling.resource_limits", Flags: Block | Computed},
	{Path: "cluster_autoscaling.resource_limits.resource_type"},
	{Path: "cluster_autoscaling.resource_limits.minimum"},
	{Path: "cluster_autoscaling.resource_limits.maximum"},
	{
		Path:  "cluster_autoscaling.auto_provisioning_defaults",
		Flags: Block | Computed, Key: "autoprovisioningNodePoolDefaults",
	},
	{Path: "cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key", Flags: Replaces},
	{Path: "cluster_autoscaling.auto_provisioning_defaults.service_account"},
	{Path: "cluster_autoscaling.auto_provisioning_defaults.oauth_scopes", Flags: Computed},
	{Path: "cluster_autoscaling.auto_provisioning_defaults.disk_type", Flags: IfPrinted},
	{Path: "cluster_autoscaling.auto_provisioning_defaults.disk_size", Flags: IfPrinted, Key: "diskSizeGb"},
	{Path: "cluster_autoscaling.auto_provisioning_defaults.image_type", Flags: AnyCase | IfPrinted},
	{Path: "logging_config", Flags: Block | Computed, Key: "loggingConfig.componentConfig"},
	{Path: "logging_config.enable_components"},
	{Path: "monitoring_config", Flags: Block | Computed},
	{Path: "monitoring_config.enable_components", Flags: Computed, Key: "componentConfig.enableComponents"},
	{Path: "monitoring_config.managed_prometheus", Flags: Block | Computed, Key: "managedPrometheusConfig"},
	{Path: "monitoring_config.managed_prometheus.enabled"},
	{Path: "cost_management_config", Flags: Block | Computed},
	{Path: "cost_management_config.enabled"},
	{Path: "maintenance_policy", Flags: Block, Key: "maintenancePolicy.window"},
	{Path: "maintenance_policy.recurring_window", Flags: Block},
	{Path: "maintenance_policy.recurring_window.recurrence"},
	{Path: "database_encryption", Flags: Block | Computed},
	{Path: "database_encryption.key_name"},
	{Path: "database_encryption.state", Flags: IfPrinted},
	{Path: "binary_authorization", Flags: Block},
	{Path: "binary_authorization.evaluation_mode", Flags: Computed},
	{Path: "security_posture_config", Flags: Block | Computed},
	{Path: "security_posture_config.mode", Flags: Computed},
	{Path: "user_managed_keys_config", Flags: Block},
	{Path: "user_managed_keys_config.aggregation_ca", Flags: Replaces | Foreign},
	{Path: "user_managed_keys_config.cluster_ca", Flags: Replaces | Foreign},
	{Path: "user_managed_keys_config.etcd_api_ca", Flags: Replaces | Foreign},
	{Path: "user_managed_keys_config.etcd_peer_ca", Flags: Replaces | Foreign},
	{Path: "node_config", Flags: Block | Replaces | Uncompared},
	{Path: "node_config.boot_disk_kms_key", Flags: Replaces | Uncompared},
	{Path: "node_config.shielded_instance_config", Flags: Block | Replaces | Uncompared},
	{Path: "node_config.shielded_instance_config.enable_secure_boot", Flags: Replaces | Uncompared},
	{Path: "node_config.shielded_instance_config.enable_integrity_monitoring", Flags: Replaces | Uncompared},
	{Path: "node_config.service_account", Flags: Computed | Replaces | Uncompared},
	{Path: "node_config.oauth_scopes", Flags: Computed | Replaces | Uncompared},
	{Path: "node_config.metadata", Flags: Computed | Replaces | Uncompared},
}

// networkingMode returns the networking mode for an ipAllocationPolicy.
func networkingMode(v any) any {
	if policy, _ := v.(map[string]any); policy["useIpAliases"] == true {
		return "VPC_NATIVE"
	}
	return "ROUTES"
}

// datapathProvider returns the datapath provider of a networkConfig, which omits the legacy
// one.
func datapathProvider(v any) any {
	network, _ := v.(map[string]any)
	if p := network["datapathProvider"]; p != nil && p != "DATAPATH_PROVIDER_UNSPECIFIED" {
		return p
	}
	return "LEGACY_DATAPATH"
}

// clientCertificate returns the block for a client certificate.
func clientCertificate(v any) any { return map[string]any{"issued": v != nil && v != ""} }
