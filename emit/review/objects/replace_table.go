package objects

import "net/netip"

// argument is one whose change makes the provider destroy a resource and create
// another.
type argument struct {
	path string
	// kept arguments keep the value they had when the configuration sets them no
	// more: the provider computes them.
	kept bool
	// when says for which changes of its text that holds, nil for all.
	when func(from, to string) bool
	// triggered arguments are neither sent to a resource that stands nor replace it:
	// Terraform replaces the resource if its replace_triggered_by says so.
	triggered bool
}

// force are arguments of which any change counts.
func force(paths ...string) []argument {
	out := make([]argument, len(paths))
	for i, p := range paths {
		out[i] = argument{path: p}
	}
	return out
}

// kept are arguments of which any change counts, but that they are not set.
func kept(paths ...string) []argument {
	out := force(paths...)
	for i := range out {
		out[i].kept = true
	}
	return out
}

// unsent are arguments that the provider's update leaves out, although their change
// does not replace the resource: a plan that changes one is never done.
//
// Source: hashicorp/terraform-provider-google, nodePoolUpdate in
// resource_container_node_pool.go, and the update of
// resource_compute_resource_policy.go, which asks for a policy of the new name.
func unsent(paths ...string) []argument {
	out := force(paths...)
	for i := range out {
		out[i].triggered = true
	}
	return out
}

// mustReplace returns the arguments that cannot be changed in place, of a type
// of resource: those that some platform's folder sets. A block that is among
// them cannot come or go. There are none of types that no folder has.
//
// Source: the schema of the provider hashicorp/google 7.45.0, ForceNew.
func mustReplace(kind string) []argument {
	switch kind {
	case "google_compute_firewall":
		return append(force("name"), kept("direction")...)
	case "google_compute_network":
		return force("auto_create_subnetworks", "name", "network_profile")
	case "google_compute_reservation":
		const machine = "specific_reservation.instance_properties"
		return force("name", "zone", "specific_reservation_required", machine, machine+".machine_type",
			machine+".guest_accelerators", machine+".guest_accelerators.accelerator_type",
			machine+".guest_accelerators.accelerator_count",
			machine+".local_ssds", machine+".local_ssds.interface", machine+".local_ssds.disk_size_gb")
	case "google_compute_resource_policy":
		return append(append(force("workload_policy.type", "workload_policy.accelerator_topology"), kept("region")...),
			unsent("name")...)
	case "google_compute_router":
		return append(force("name", "network"), kept("region")...)
	case "google_compute_router_nat":
		return append(force("name", "router"), kept("region")...)
	case "google_compute_subnetwork":
		// Source: the provider's own code, resource_compute_subnetwork.go.
		grows := argument{
			path: "ip_cidr_range", kept: true, when: func(from, to string) bool { return !covers(to, from) },
		}
		return append(force("name", "network"), append(kept("region"), grows)...)
	case "google_container_cluster":
		return append(force("name", "network", "initial_node_count", "ip_allocation_policy",
			"master_auth.client_certificate_config", "master_auth.client_certificate_config.issue_client_certificate",
			"node_config", "node_config.boot_disk_kms_key",
			"cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key",
			"node_config.shielded_instance_config",
			"node_config.shielded_instance_config.enable_secure_boot",
			"node_config.shielded_instance_config.enable_integrity_monitoring"),
			kept("location", "subnetwork", "networking_mode", "datapath_provider",
				"ip_allocation_policy.cluster_secondary_range_name",
				"ip_allocation_policy.services_secondary_range_name",
				"private_cluster_config.master_ipv4_cidr_block", "node_config.service_account",
				"node_config.oauth_scopes")...)
	case "google_container_node_pool":
		const gpu, network = "node_config.guest_accelerator", "network_config.additional_node_network_configs"
		return append(append(force("cluster", "network_config.accelerator_network_profile", network,
			"placement_policy", "placement_policy.policy_name", "queued_provisioning", "queued_provisioning.enabled",
			"node_config", "node_config.boot_disk_kms_key",
			"node_config.spot", "node_config.flex_start", "node_config.max_run_duration",
			gpu, gpu+".type", gpu+".count", gpu+".gpu_driver_installation_config",
			gpu+".gpu_driver_installation_config.gpu_driver_version",
			"node_config.ephemeral_storage_local_ssd_config",
			"node_config.ephemeral_storage_local_ssd_config.local_ssd_count",
			"node_config.reservation_affinity", "node_config.reservation_affinity.consume_reservation_type",
			"node_config.reservation_affinity.key", "node_config.reservation_affinity.values",
			"node_config.shielded_instance_config",
			"node_config.shielded_instance_config.enable_secure_boot",
			"node_config.shielded_instance_config.enable_integrity_monitoring"),
			kept(
				"name", "location", "initial_node_count", network+".network", network+".subnetwork",
				"node_config.service_account", "node_config.oauth_scopes",
			)...), unsent("placement_policy.type", "placement_policy.tpu_topology")...)
	case "google_project_iam_member":
		return force("project", "role", "member", "condition", "condition.title", "condition.expression")
	case "google_storage_bucket":
		return force("name", "location")
	case "google_storage_bucket_iam_member":
		return force("bucket", "role", "member")
	case "google_vertex_ai_tensorboard":
		return kept("region")
	}
	return nil
}

// covers tells whether a range holds another. What is no range is held by none.
func covers(outer, inner string) bool {
	o, err := netip.ParsePrefix(outer)
	if err != nil {
		return false
	}
	i, err := netip.ParsePrefix(inner)
	return err == nil && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}
