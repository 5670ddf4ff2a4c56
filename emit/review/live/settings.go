package live

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// settingRow says where gcloud prints an argument or a block of Terraform.
type settingRow struct {
	// path is the path in Terraform, as in "node_config.spot". The row of a block comes
	// before the rows in it.
	path string
	// key is the path in gcloud's JSON with dots, below the key of the block around it. If it
	// is "", the key is the last name of path in camel case.
	key   string
	block bool
	objects.Setting
	// required reports whether nothing is known if gcloud does not print the key.
	// Otherwise a missing key is false, 0 or empty.
	required bool
	// convert returns the argument for a value of gcloud, nil for none. If it is nil, the
	// argument is the value.
	convert func(v any) any
}

// row returns the row of an argument.
func row(path string) settingRow { return settingRow{path: path} }

// blockRow returns the row of a block.
func blockRow(path string) settingRow { return settingRow{path: path, block: true} }

func (r settingRow) at(key string) settingRow { r.key = key; return r }

func (r settingRow) computed() settingRow { r.Computed = true; return r }

func (r settingRow) names() settingRow { r.Names = true; return r }

func (r settingRow) anyCase() settingRow { r.AnyCase = true; return r }

func (r settingRow) ifPrinted() settingRow { r.required = true; return r }

func (r settingRow) with(convert func(v any) any) settingRow { r.convert = convert; return r }

// keys returns the path of the key in gcloud's JSON, below the key of the block around it.
func (r settingRow) keys() []string {
	if r.key != "" {
		return strings.Split(r.key, ".")
	}
	return []string{camelCase(r.path[strings.LastIndexByte(r.path, '.')+1:])}
}

// camelCase returns a name as Google's APIs write it.
func camelCase(name string) string {
	parts := strings.Split(name, "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

// settingsOf returns the settings of a table by path.
func settingsOf(rows []settingRow) map[string]objects.Setting {
	out := make(map[string]objects.Setting, len(rows))
	for _, r := range rows {
		out[r.path] = r.Setting
	}
	return out
}

// readSettings returns the settings in a value of gcloud, and the paths of which nothing
// is known.
func readSettings(rows []settingRow, value map[string]any) (s objects.Settings, unknown []string) {
	return readBlock(rows, "", value)
}

// readBlock returns the settings of a block. at is the path of the block with a dot, or "".
func readBlock(rows []settingRow, at string, value map[string]any) (s objects.Settings, unknown []string) {
	s = objects.Settings{Values: map[string]any{}, Blocks: map[string][]objects.Settings{}}
	for _, r := range rows {
		name, inside := strings.CutPrefix(r.path, at)
		if !inside || strings.Contains(name, ".") {
			continue
		}
		v := valueBelow(value, r.keys())
		if v == nil && r.required {
			unknown = append(unknown, r.path)
			continue
		}
		if r.convert != nil {
			v = r.convert(v)
		}
		if !r.block {
			if v = plainSetting(v); v != nil {
				s.Values[name] = v
			}
			continue
		}
		list, isList := v.([]any)
		if !isList && v != nil {
			list = []any{v}
		}
		for _, item := range list {
			fields, _ := item.(map[string]any)
			b, more := readBlock(rows, r.path+".", fields)
			unknown = append(unknown, more...)
			// gcloud prints an empty object for a block that sets nothing.
			if len(b.Values)+len(b.Blocks) > 0 {
				s.Blocks[name] = append(s.Blocks[name], b)
			}
		}
	}
	return s, unknown
}

// valueBelow returns the value below a path of keys, nil if there is none.
func valueBelow(value map[string]any, keys []string) any {
	var v any = value
	for _, key := range keys {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

// plainSetting returns a value as objects.Settings holds it; nil for zero values and for
// what is no value of an argument.
func plainSetting(v any) any {
	switch v := v.(type) {
	case string:
		if v != "" {
			return v
		}
	case bool:
		if v {
			return v
		}
	case json.Number:
		if v != "0" {
			return v
		}
	case []any:
		var list []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				list = append(list, text)
			}
		}
		if len(list) > 0 {
			return list
		}
	case map[string]any:
		texts := map[string]string{}
		for key, item := range v {
			if text, ok := item.(string); ok {
				texts[key] = text
			}
		}
		if len(texts) > 0 {
			return texts
		}
	}
	return nil
}

// poolRows returns the rows of a node pool.
//
// Source: hashicorp/terraform-provider-google 7.45.0, flattenNodePool and
// flattenNodeConfig, with the JSON names of the GKE API, v1.
func poolRows() []settingRow {
	rows := []settingRow{
		row("node_locations").at("locations").computed().ifPrinted(),
		row("node_count").at("initialNodeCount").computed(),
		blockRow("autoscaling").with(onlyEnabled),
		row("autoscaling.location_policy").computed().ifPrinted(),
		row("autoscaling.min_node_count"), row("autoscaling.max_node_count"),
		row("autoscaling.total_min_node_count"), row("autoscaling.total_max_node_count"),
		blockRow("management").computed(),
		row("management.auto_repair"), row("management.auto_upgrade"),
		blockRow("upgrade_settings").computed(),
		row("upgrade_settings.strategy").ifPrinted(),
		row("upgrade_settings.max_surge").computed(), row("upgrade_settings.max_unavailable").computed(),
		blockRow("maintenance_policy").computed(),
		blockRow("maintenance_policy.exclusion_until_end_of_support").computed(),
		row("maintenance_policy.exclusion_until_end_of_support.enabled"),
		blockRow("placement_policy"),
		row("placement_policy.type"), row("placement_policy.policy_name").names(),
		row("placement_policy.tpu_topology"),
		blockRow("queued_provisioning"), row("queued_provisioning.enabled"),
		blockRow("network_config").computed(),
		row("network_config.enable_private_nodes").computed(),
		row("network_config.accelerator_network_profile"),
		blockRow("network_config.additional_node_network_configs").computed(),
		row("network_config.additional_node_network_configs.network").names().computed(),
		row("network_config.additional_node_network_configs.subnetwork").names().computed(),
		blockRow("network_config.additional_pod_network_configs"),
		row("network_config.additional_pod_network_configs.subnetwork").names(),
		row("network_config.additional_pod_network_configs.secondary_pod_range"),
		blockRow("node_config").at("config").computed(),
	}
	for _, r := range nodeRows() {
		r.path = "node_config." + r.path
		rows = append(rows, r)
	}
	return rows
}

// nodeRows returns the rows of the nodes of a pool, with paths below node_config.
func nodeRows() []settingRow {
	rows := []settingRow{
		row("machine_type").computed().ifPrinted(), row("image_type").computed().anyCase().ifPrinted(),
		row("disk_type").computed().ifPrinted(), row("disk_size_gb").computed().ifPrinted(),
		row("service_account").computed().ifPrinted(), row("oauth_scopes").computed().ifPrinted(),
		row("labels").computed(), row("metadata").computed(), row("resource_labels").with(withoutOwnLabels),
		row("tags"),
		row("preemptible"), row("max_run_duration"), row("boot_disk_kms_key"), row("enable_confidential_storage"),
		row("local_ssd_encryption_mode"), row("node_group"),
		{
			path: "taint", key: "taints", block: true,
			Setting: objects.Setting{Computed: true, Kept: isTaintOfGKE},
		},
		row("taint.key"), row("taint.value"), row("taint.effect"),
		blockRow("guest_accelerator").at("accelerators").computed(),
		row("guest_accelerator.type").at("acceleratorType").with(lastName),
		row("guest_accelerator.count").at("acceleratorCount"),
		row("guest_accelerator.gpu_partition_size"),
		blockRow("guest_accelerator.gpu_driver_installation_config").computed(),
		row("guest_accelerator.gpu_driver_installation_config.gpu_driver_version"),
		blockRow("guest_accelerator.gpu_sharing_config"),
		row("guest_accelerator.gpu_sharing_config.gpu_sharing_strategy"),
		row("guest_accelerator.gpu_sharing_config.max_shared_clients_per_gpu"),
		blockRow("ephemeral_storage_local_ssd_config"),
		row("ephemeral_storage_local_ssd_config.local_ssd_count"),
		row("ephemeral_storage_local_ssd_config.data_cache_count"),
		blockRow("local_nvme_ssd_block_config"), row("local_nvme_ssd_block_config.local_ssd_count"),
		blockRow("reservation_affinity"),
		row("reservation_affinity.consume_reservation_type"), row("reservation_affinity.key"),
		row("reservation_affinity.values"),
		blockRow("gcfs_config"), row("gcfs_config.enabled"),
		blockRow("gvnic"), row("gvnic.enabled"),
		blockRow("workload_metadata_config").computed(), row("workload_metadata_config.mode"),
		blockRow("shielded_instance_config").computed(),
		row("shielded_instance_config.enable_secure_boot"),
		row("shielded_instance_config.enable_integrity_monitoring"),
		blockRow("advanced_machine_features"), row("advanced_machine_features.threads_per_core"),
		row("advanced_machine_features.enable_nested_virtualization"),
		blockRow("sandbox_config"), row("sandbox_config.type"),
		blockRow("secondary_boot_disks"), row("secondary_boot_disks.disk_image"), row("secondary_boot_disks.mode"),
		blockRow("sole_tenant_config"), blockRow("sole_tenant_config.node_affinity").at("nodeAffinities"),
		row("sole_tenant_config.node_affinity.key"), row("sole_tenant_config.node_affinity.values"),
		blockRow("host_maintenance_policy"), row("host_maintenance_policy.maintenance_interval"),
	}
	for _, option := range ir.Options() {
		isKnown := slices.ContainsFunc(rows, func(r settingRow) bool { return r.path == option.NodeConfig })
		if option.NodeConfig != "" && !isKnown {
			rows = append(rows, row(option.NodeConfig))
		}
	}
	return rows
}

// recreating are the settings of which a change makes GKE recreate the nodes of a pool, as
// an upgrade does.
//
// Source: GKE documentation, "Node upgrade strategies", changes that recreate nodes.
var recreating = []string{
	"node_config.machine_type", "node_config.disk_type", "node_config.disk_size_gb", "node_config.image_type",
	"node_config.workload_metadata_config", "node_config.gvnic", "node_config.gcfs_config",
	"network_config.enable_private_nodes",
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

// clusterRows returns the rows of a cluster.
//
// Source: hashicorp/terraform-provider-google 7.45.0, resource_container_cluster.go, with
// the JSON names of the GKE API, v1.
func clusterRows() []settingRow {
	return []settingRow{
		row("node_locations").at("locations").computed().ifPrinted(),
		row("initial_node_count").ifPrinted(),
		row("enable_shielded_nodes").at("shieldedNodes.enabled").ifPrinted(),
		row("network").at("networkConfig.network").names().ifPrinted(),
		row("subnetwork").at("networkConfig.subnetwork").names().computed().ifPrinted(),
		row("networking_mode").at("ipAllocationPolicy").computed().ifPrinted().with(networkingMode),
		row("datapath_provider").at("networkConfig").computed().ifPrinted().with(datapathProvider),
		row("dataplane_optimization_mode").at("networkConfig.dataplaneOptimizationMode"),
		row("enable_multi_networking").at("networkConfig.enableMultiNetworking"),
		row("enable_intranode_visibility").at("networkConfig.enableIntraNodeVisibility").computed(),
		row("description"), row("enable_kubernetes_alpha"), row("enable_tpu"),
		blockRow("release_channel").computed(), row("release_channel.channel"),
		blockRow("ip_allocation_policy").computed().ifPrinted(),
		row("ip_allocation_policy.cluster_secondary_range_name").computed(),
		row("ip_allocation_policy.services_secondary_range_name").computed(),
		blockRow("private_cluster_config").computed(),
		row("private_cluster_config.enable_private_nodes"),
		row("private_cluster_config.enable_private_endpoint"),
		row("private_cluster_config.master_ipv4_cidr_block").computed().ifPrinted(),
		row("private_cluster_config.private_endpoint_subnetwork").names().ifPrinted(),
		blockRow("master_authorized_networks_config").computed(),
		row("master_authorized_networks_config.gcp_public_cidrs_access_enabled").computed(),
		blockRow("master_authorized_networks_config.cidr_blocks"),
		row("master_authorized_networks_config.cidr_blocks.display_name"),
		row("master_authorized_networks_config.cidr_blocks.cidr_block"),
		blockRow("control_plane_endpoints_config").computed(),
		blockRow("control_plane_endpoints_config.dns_endpoint_config").computed(),
		row("control_plane_endpoints_config.dns_endpoint_config.allow_external_traffic"),
		blockRow("workload_identity_config").computed(), row("workload_identity_config.workload_pool"),
		blockRow("authenticator_groups_config").computed(), row("authenticator_groups_config.security_group"),
		blockRow("master_auth").computed(), blockRow("master_auth.client_certificate_config").at("clientCertificate").
			computed().with(clientCertificate),
		row("master_auth.client_certificate_config.issue_client_certificate").at("issued"),
		blockRow("anonymous_authentication_config").computed(), row("anonymous_authentication_config.mode"),
		blockRow("rbac_binding_config").computed(),
		row("rbac_binding_config.enable_insecure_binding_system_authenticated").ifPrinted(),
		row("rbac_binding_config.enable_insecure_binding_system_unauthenticated").ifPrinted(),
		blockRow("addons_config").computed(),
		blockRow("addons_config.gce_persistent_disk_csi_driver_config").computed(),
		row("addons_config.gce_persistent_disk_csi_driver_config.enabled"),
		blockRow("addons_config.gcp_filestore_csi_driver_config").computed(),
		row("addons_config.gcp_filestore_csi_driver_config.enabled"),
		blockRow("addons_config.gcs_fuse_csi_driver_config").computed(),
		row("addons_config.gcs_fuse_csi_driver_config.enabled"),
		blockRow("cluster_autoscaling").at("autoscaling").computed(),
		row("cluster_autoscaling.enabled").at("enableNodeAutoprovisioning").computed(),
		row("cluster_autoscaling.autoscaling_profile").ifPrinted(),
		row("cluster_autoscaling.auto_provisioning_locations").at("autoprovisioningLocations").computed(),
		blockRow("cluster_autoscaling.resource_limits").computed(),
		row("cluster_autoscaling.resource_limits.resource_type"),
		row("cluster_autoscaling.resource_limits.minimum"), row("cluster_autoscaling.resource_limits.maximum"),
		blockRow("cluster_autoscaling.auto_provisioning_defaults").at("autoprovisioningNodePoolDefaults").computed(),
		row("cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key"),
		row("cluster_autoscaling.auto_provisioning_defaults.service_account"),
		row("cluster_autoscaling.auto_provisioning_defaults.oauth_scopes").computed(),
		row("cluster_autoscaling.auto_provisioning_defaults.disk_type").ifPrinted(),
		row("cluster_autoscaling.auto_provisioning_defaults.disk_size").at("diskSizeGb").ifPrinted(),
		row("cluster_autoscaling.auto_provisioning_defaults.image_type").anyCase().ifPrinted(),
		blockRow("logging_config").at("loggingConfig.componentConfig").computed(),
		row("logging_config.enable_components"),
		blockRow("monitoring_config").computed(),
		row("monitoring_config.enable_components").at("componentConfig.enableComponents").computed(),
		blockRow("monitoring_config.managed_prometheus").at("managedPrometheusConfig").computed(),
		row("monitoring_config.managed_prometheus.enabled"),
		blockRow("cost_management_config").computed(), row("cost_management_config.enabled"),
		blockRow("maintenance_policy").at("maintenancePolicy.window"),
		blockRow("maintenance_policy.recurring_window"), row("maintenance_policy.recurring_window.recurrence"),
		blockRow("database_encryption").computed(), row("database_encryption.key_name"),
		row("database_encryption.state").ifPrinted(),
		blockRow("binary_authorization"), row("binary_authorization.evaluation_mode").computed(),
		blockRow("security_posture_config").computed(), row("security_posture_config.mode").computed(),
		blockRow("user_managed_keys_config"), row("user_managed_keys_config.aggregation_ca"),
		row("user_managed_keys_config.cluster_ca"), row("user_managed_keys_config.etcd_api_ca"),
		row("user_managed_keys_config.etcd_peer_ca"),
	}
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
