package terraform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// loggingComponents are the components whose logs GKE sends to Cloud Logging (GKE
// documentation: "About GKE logs").
var loggingComponents = []string{"SYSTEM_COMPONENTS", "WORKLOADS"}

func writeCluster(b *body, p *ir.Platform) {
	if !p.OwnsCluster() {
		existingCluster(b, p)
		return
	}
	c := b.resource("google_container_cluster", "main")
	c.setExpr("name", "var.cluster_name")
	if p.Cluster.Description != "" {
		c.setString("description", p.Cluster.Description)
	}
	c.setExpr("location", "var.region")
	c.setExpr("node_locations", "var.zones")
	c.setExpr("deletion_protection", "var.deletion_protection")
	if p.Cluster.MinVersion != "" {
		c.note("The version of a new cluster, which the release channel then upgrades. A higher",
			"value upgrades the control plane at once; a lower value changes nothing.")
		c.setString("min_master_version", p.Cluster.MinVersion)
	}
	c.setBool("enable_shielded_nodes", true)
	c.setExpr("network", "module.network.id")
	c.setExpr("subnetwork", "module.network.subnet_id")
	c.setString("networking_mode", "VPC_NATIVE")
	c.note("This is GKE Dataplane V2, which also enforces network policies.")
	c.setString("datapath_provider", "ADVANCED_DATAPATH")
	if p.Cluster.MultiNetworking {
		c.setBool("enable_multi_networking", true)
	}
	if p.Security.IntraNodeVisibility {
		c.setBool("enable_intranode_visibility", true)
	}
	firstNodes(c, p.Security)

	c.block("release_channel").setString("channel", p.Cluster.ReleaseChannel)
	privateNetwork(c, p)
	writeAccess(c, p)
	writeSecurity(c, p.Security)
	writeAddons(c, p)
	autoProvisioning(c, p)
	writeObservability(c, p.Cluster.Metrics)
	writeMaintenance(c, p.Cluster.Maintenance)

	clusterLifecycle(c, p.Cluster)
	if p.Network.Existing != nil {
		c.note("Nodes need their roles to join the cluster.")
		c.setExpr("depends_on", "[google_project_iam_member.nodes]")
		return
	}
	c.note("Nodes need their roles to join the cluster, and the NAT to pull public images.")
	c.setExpr("depends_on", `[
  module.network,
  google_project_iam_member.nodes,
]`)
}

// clusterLifecycle writes the changes of the cluster that Terraform ignores. GKE returns
// the list of metrics in an order of its own, which differs from call to call, and the
// provider compares lists in order: the step "metrics" of the build brings a changed list
// to a cluster that exists. The other three arguments apply only to the default node pool
// of a new cluster. For a cluster that was imported, the provider reads another
// initial_node_count, which would replace the cluster, and remove_default_node_pool would
// delete a node pool default-pool with its jobs. They stay ignored for ever, because a
// blueprint can lose its takeOver.
//
// Sources: hashicorp/terraform-provider-google, resource_container_cluster.go:
// resourceContainerClusterRead, resourceContainerClusterUpdate and
// resourceContainerClusterStateImporter; issues 27247 and 28688 for the metrics.
func clusterLifecycle(c *body, cluster ir.Cluster) {
	lifecycle := c.block("lifecycle")
	lifecycle.note("Once the default node pool is deleted, the provider reports no node_config. If",
		"Terraform did not ignore this, the next plan would replace the cluster. The next two",
		"apply only to a new cluster: they would replace an imported cluster, or delete its",
		"node pool default-pool. GKE returns the metrics in an order of its own, so that every",
		"plan would change them: the step \"metrics\" of the build sets them instead.")
	lifecycle.setExpr("ignore_changes", `[
  node_config,
  initial_node_count,
  remove_default_node_pool,
  monitoring_config[0].enable_components,
]`)
	if cluster.TakeOver != nil {
		preventDestroy(lifecycle, "The cluster was taken over: Terraform refuses a plan that would replace it.")
	}
}

func privateNetwork(c *body, p *ir.Platform) {
	ranges := c.block("ip_allocation_policy")
	ranges.setExpr("cluster_secondary_range_name", "module.network.pod_range_name")
	ranges.setExpr("services_secondary_range_name", "module.network.service_range_name")

	private := c.block("private_cluster_config")
	private.setBool("enable_private_nodes", true)
	private.setExpr("enable_private_endpoint", "length(var.authorized_networks) == 0")
	switch e := p.Network.Existing; {
	case p.Network.ControlPlane != "":
		private.setExpr("master_ipv4_cidr_block", "var.control_plane_range")
	case e != nil && e.ControlPlaneSubnet != "":
		private.note("The control plane has its private address in this subnet.")
		private.setExpr("private_endpoint_subnetwork",
			`"projects/${var.network_project}/regions/${var.region}/subnetworks/${var.control_plane_subnet}"`)
	}

	c.note("GKE requires this block for a private endpoint. Without authorized networks, only",
		"the cluster's own subnet can reach the endpoint.")
	authorized := c.block("master_authorized_networks_config")
	authorized.setBool("gcp_public_cidrs_access_enabled", false)
	each := authorized.block("dynamic", "cidr_blocks")
	each.setExpr("for_each", "var.authorized_networks")
	content := each.block("content")
	content.setExpr("display_name", "cidr_blocks.key")
	content.setExpr("cidr_block", "cidr_blocks.value")
}

func writeAccess(c *body, p *ir.Platform) {
	if p.Cluster.DNSEndpoint {
		c.note("IAM decides who may use the DNS endpoint. Through it, the Cloud Build builds reach",
			"the control plane from outside the VPC.")
	}
	c.block("control_plane_endpoints_config").block("dns_endpoint_config").setBool("allow_external_traffic",
		p.Cluster.DNSEndpoint)

	c.block("workload_identity_config").setExpr("workload_pool", `"${var.project_id}.svc.id.goog"`)
	if p.Cluster.SecurityGroup != "" {
		c.block("authenticator_groups_config").setExpr("security_group", "var.security_group")
	}
	c.block("master_auth").block("client_certificate_config").setBool("issue_client_certificate", false)

	c.note("Anonymous requests reach only health checks. No binding can grant a role to all users,",
		"that is to system:anonymous, system:unauthenticated or system:authenticated.")
	c.block("anonymous_authentication_config").setString("mode", "LIMITED")
	binding := c.block("rbac_binding_config")
	binding.setBool("enable_insecure_binding_system_authenticated", false)
	binding.setBool("enable_insecure_binding_system_unauthenticated", false)
}

// firstNodes configures the default node pool, which GKE always creates and which is
// removed at once.
func firstNodes(c *body, s ir.Security) {
	c.note("GKE creates every cluster with a default node pool, which Terraform then deletes. The",
		"pool uses the nodes' service account, because the project's default account may have",
		"too many rights or may not exist.")
	c.setBool("remove_default_node_pool", true)
	c.setNumber("initial_node_count", 1)
	node := c.block("node_config")
	bootDiskKey(node, s)
	serialPortLogs(node, s)
	nodeIdentity(node)
	writeShielded(node)
}

// writeSecurity enables the optional security features that an organisation may
// require.
func writeSecurity(c *body, s ir.Security) {
	if s.KMSKey != "" {
		c.note("This key encrypts the Secrets in etcd.")
		encryption := c.block("database_encryption")
		encryption.setString("state", "ENCRYPTED")
		encryption.setString("key_name", s.KMSKey)
	}
	if s.BinaryAuthorization {
		c.block("binary_authorization").setString("evaluation_mode", "PROJECT_SINGLETON_POLICY_ENFORCE")
	}
	if s.Posture {
		c.block("security_posture_config").setString("mode", "BASIC")
	}
	if s.BulletinTopic != "" {
		pubsub := c.block("notification_config").block("pubsub")
		pubsub.setBool("enabled", true)
		pubsub.setString("topic", s.BulletinTopic)
		pubsub.block("filter").setStrings("event_type",
			[]string{"SECURITY_BULLETIN_EVENT", "UPGRADE_AVAILABLE_EVENT", "UPGRADE_EVENT"})
	}
}

// firewallLogs logs the connections that a firewall rule allows, if the platform asks
// for it.
func firewallLogs(b *body, s ir.Security) {
	if s.FirewallLogs {
		b.block("log_config").setString("metadata", "INCLUDE_ALL_METADATA")
	}
}

// bootDiskKey sets the encryption key of the nodes' boot disks, if the platform has
// its own key.
func bootDiskKey(b *body, s ir.Security) {
	if s.KMSKey != "" {
		b.setString("boot_disk_kms_key", s.KMSKey)
	}
}

// serialPortLogs keeps the output of a node's serial ports out of Cloud Logging, if the
// platform asks for it. The other key is a default of
// GKE, which the provider would otherwise unset. Sources: gcpdiag, gke/ERR/2025_001; documentation of the provider,
// google_container_cluster, node_config.metadata.
func serialPortLogs(node *body, s ir.Security) {
	if !s.NoSerialPortLogs {
		return
	}
	node.setTokens("metadata", objectTokens([]entry{
		{"disable-legacy-endpoints", stringTokens("true")}, {"serial-port-logging-enable", stringTokens("false")},
	}))
}

func writeAddons(c *body, p *ir.Platform) {
	a := c.block("addons_config")
	a.block("gce_persistent_disk_csi_driver_config").setBool("enabled", true)
	a.block("gcp_filestore_csi_driver_config").setBool("enabled", p.Cluster.Filestore)
	a.block("gcs_fuse_csi_driver_config").setBool("enabled", p.Cluster.GCSFuse)

	if p.AutoProvisioning.Create {
		c.note("These defaults also apply to the node pools that GKE creates itself.")
	}
	defaults := c.block("node_pool_defaults").block("node_config_defaults")
	defaults.setString("insecure_kubelet_readonly_port_enabled", "FALSE")
	defaults.block("gcfs_config").setBool("enabled", p.Cluster.ImageStreaming)
	c.block("node_pool_auto_config").block("node_kubelet_config").setString("insecure_kubelet_readonly_port_enabled",
		"FALSE")
}

func autoProvisioning(c *body, p *ir.Platform) {
	auto := c.block("cluster_autoscaling")
	auto.setBool("enabled", p.AutoProvisioning.Create)
	auto.setString("autoscaling_profile", p.AutoProvisioning.Profile)
	if !p.AutoProvisioning.Create {
		return
	}
	auto.setExpr("auto_provisioning_locations", "var.zones")
	for _, limit := range p.AutoProvisioning.Limits {
		l := auto.block("resource_limits")
		l.setString("resource_type", limit.Type)
		l.setNumber("minimum", limit.Min)
		l.setNumber("maximum", limit.Max)
	}
	defaults := auto.block("auto_provisioning_defaults")
	writeBootDisk(defaults, "disk_size", p.Capacities)
	defaults.setString("image_type", "COS_CONTAINERD")
	bootDiskKey(defaults, p.Security)
	nodeIdentity(defaults)
	writeManagement(defaults, true)
	// Source: GKE documentation, "Configure node pool auto-creation".
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		defaults.note("The nodes of ComputeClasses do not use the upgrade and Shielded VM settings below.")
	}
	defaults.note("Accelerators are scarce, so upgrades replace one node at a time and add none.")
	writeUpgrades(defaults, 0, 1)
	writeShielded(defaults)
}

// writeBootDisk sets the one boot disk that all auto-provisioned nodes share: the
// largest size that any capacity asks for, and the disk type if all capacities agree
// on one. A ComputeClass sets the disk of its own nodes.
func writeBootDisk(b *body, size string, capacities []ir.Capacity) {
	largest := 0
	var types []string
	for _, c := range capacities {
		if !c.AutoProvisioned {
			continue
		}
		largest = max(largest, c.DiskSizeGiB)
		if !slices.Contains(types, c.DiskType) {
			types = append(types, c.DiskType)
		}
	}
	if len(types) == 1 && types[0] != "" {
		b.setString("disk_type", types[0])
	}
	if largest > 0 {
		b.setNumber(size, largest)
	}
}

func writeObservability(c *body, metrics []string) {
	c.block("logging_config").setTokens("enable_components", lineTuple(loggingComponents))
	monitoring := c.block("monitoring_config")
	monitoring.setTokens("enable_components", lineTuple(metrics))
	monitoring.block("managed_prometheus").setBool("enabled", true)
	c.note("Cloud Billing then reports costs by namespace. Each team has its own namespace.")
	c.block("cost_management_config").setBool("enabled", true)
}

func writeMaintenance(c *body, m ir.Maintenance) {
	start, end := firstWindow(m)
	c.note("Times are in UTC. The dates set only the first window; recurrence names its weekdays.")
	policy := c.block("maintenance_policy")
	w := policy.block("recurring_window")
	w.setString("start_time", start)
	w.setString("end_time", end)
	w.setString("recurrence", "FREQ=WEEKLY;BYDAY="+strings.Join(m.Days, ","))
	for _, e := range m.Exclusions {
		x := policy.block("maintenance_exclusion")
		x.setString("exclusion_name", e.Name)
		x.setString("start_time", e.Start+"T00:00:00Z")
		x.setString("end_time", e.End+"T00:00:00Z")
		x.block("exclusion_options").setString("scope", e.Scope)
	}
}

// weekdays are the names of RFC 5545, starting with Monday: 1 January 2024 was a
// Monday.
var weekdays = []string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}

// firstWindow returns the start and end of the first window as RFC 3339: in the week
// of 1 January 2024, on the earliest of the window's days. The week is fixed because
// the output depends only on the plan.
func firstWindow(m ir.Maintenance) (start, end string) {
	day := slices.IndexFunc(weekdays, func(d string) bool { return slices.Contains(m.Days, d) })
	var hour, minute int
	fmt.Sscanf(m.Start, "%d:%d", &hour, &minute)
	stamp := func(hours int) string {
		return fmt.Sprintf("2024-01-%02dT%02d:%02d:00Z", 1+max(day, 0)+hours/24, hours%24, minute)
	}
	return stamp(hour), stamp(hour + m.Hours)
}
