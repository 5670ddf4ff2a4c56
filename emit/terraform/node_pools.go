package terraform

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

func nodePools(b *body, p *ir.Platform) {
	if p.OwnsCluster() { // otherwise GKE's own pods run on the nodes of others
		systemPool(b, p)
	}
	for _, c := range p.Capacities {
		if c.OwnsPools() {
			capacityPool(b, p, c)
		}
	}
}

// onePool adds the resource of one node pool and returns its body.
func onePool(b *body, p *ir.Platform, name string) *body {
	np := b.resource("google_container_node_pool", resourceLabel(name))
	np.setString("name", name)
	inCluster(np, p)
	return np
}

// slicePools adds the resource of the node pools for a capacity's TPU slices and
// returns its body. The pools are identical, so that a change of their number is a
// change of one line.
func slicePools(b *body, p *ir.Platform, c ir.Capacity) *body {
	np := b.resource("google_container_node_pool", resourceLabel(c.Name))
	np.note("Each TPU slice is a node pool of its own, because its hosts start and stop together.")
	np.setTokens("for_each", hclwrite.TokensForFunctionCall("toset", hclwrite.TokensForValue(stringTuple(c.Pools()))))
	np.setExpr("name", "each.key")
	inCluster(np, p)
	return np
}

func inCluster(np *body, p *ir.Platform) {
	np.setExpr("cluster", clusterName(p))
	np.setExpr("location", clusterLocation(p))
}

// controllers lists the scheduler and the controllers of jobs, which are constants of tables.
func controllers(p *ir.Platform) constant {
	return constant(words.And(kinds.WithControllers(p.Scheduler.Facts().Name)))
}

func systemPool(b *body, p *ir.Platform) {
	b.note("The nodes for GKE's own pods, " + controllers(p) + ".")
	np := onePool(b, p, p.SystemPool.Name)
	np.setExpr("node_locations", "var.zones")
	systemNodeCount(np, p.SystemPool)
	writeManagement(np, true)
	writeUpgrades(np, ir.SystemSurge, 0)
	privateNodes(np)
	node := np.block("node_config")
	writeMachine(node, p.SystemPool.Machine, p.SystemPool.DiskType, p.SystemPool.DiskSizeGiB)
	nodeIdentity(node)
	nodeDefaults(node, p)
	machine := ir.Machine{CountsNoSSDs: p.SystemPool.CountsNoSSDs}
	writeLifecycle(np, ir.Capacity{Static: !p.SystemPool.Scales(), Machine: machine}, clusterTrigger(p)...)
}

// systemNodeCount sets the number of nodes of the system pool. It spreads them evenly, so
// that each zone keeps its nodes.
func systemNodeCount(np *body, pool ir.SystemPool) {
	np.note("The number of nodes in each zone.")
	if !pool.Scales() {
		np.setNumber("node_count", pool.NodesPerZone)
		return
	}
	np.setNumber("initial_node_count", pool.NodesPerZone)
	scaling := np.block("autoscaling")
	scaling.setNumber("min_node_count", pool.NodesPerZone)
	scaling.setNumber("max_node_count", pool.MaxNodesPerZone)
	scaling.setString("location_policy", "BALANCED")
}

func capacityPool(b *body, p *ir.Platform, c ir.Capacity) {
	triggers := slices.Concat(clusterTrigger(p), placementTrigger(b, c), reservationTrigger(c), networkTriggers(p, c))
	option := c.Option.Facts()
	b.note(optionNote(option)...)
	var np *body
	if c.Sliced() {
		np = slicePools(b, p, c)
	} else {
		np = onePool(b, p, c.Name)
	}
	np.setTokens("node_locations", zoneTokens(p, c))
	setNodeCount(np, c)
	if option.NoRepair {
		np.note("GKE repairs a node by replacing it, but "+constant(option.Nodes)+" cannot promise another node. GKE",
			"does not upgrade running "+constant(option.Nodes)+" nodes: only new nodes get the new version.")
	}
	writeManagement(np, c.Repaired())
	if !option.ShortLived {
		reason := constant("Accelerators are scarce")
		if c.Machine.Accelerator == "" {
			reason = "The quota may leave no room for more nodes"
		}
		np.note(reason + ", so upgrades replace one node at a time and add none.")
		writeUpgrades(np, 0, 1)
	}
	if c.KeepsVersion {
		np.note("GKE does not upgrade the nodes before the support of their version ends.")
		np.block("maintenance_policy").block("exclusion_until_end_of_support").setBool("enabled", true)
	}
	writePlacement(np, c)
	networks := privateNodes(np)
	switch {
	case c.Machine.AcceleratorNetworks:
		networks.note("GKE attaches the networks between the accelerators.")
		networks.setString("accelerator_network_profile", "auto")
	case len(c.Networks) > 0:
		deviceNetworks(networks, p, c)
	}
	if option.Queued {
		np.note("GKE starts all nodes that a workload needs at once, or none.")
		np.block("queued_provisioning").setBool("enabled", true)
	}

	node := np.block("node_config")
	writeMachine(node, c.Machine.Type, c.DiskType, c.DiskSizeGiB)
	if option.NodeConfig != "" {
		node.setBool(option.NodeConfig, true)
	}
	if c.MaxRunSeconds > 0 {
		node.setString("max_run_duration", strconv.Itoa(c.MaxRunSeconds)+"s")
	}
	nodeIdentity(node)
	setLabels(node, c.PoolLabels)
	for _, t := range poolTaints(c) {
		taint := node.block("taint")
		taint.setString("key", t.Key)
		taint.setString("value", t.Value)
		taint.setString("effect", effect[t.Effect])
	}
	writeAccelerators(node, c)
	localSSDs(node, c)
	writeAffinity(node, c)
	nodeDefaults(node, p)

	writeLifecycle(np, c, triggers...)
	if !p.OwnsCluster() {
		return
	}
	np.note("The system pool comes first, because GKE's own pods need nodes.")
	np.setTokens("depends_on",
		tupleTokens(traversalTokens("google_container_node_pool", resourceLabel(p.SystemPool.Name))))
}

// optionNote returns a comment that says how an option's nodes are obtained. The
// text is part of the table of options and holds nothing of a blueprint.
func optionNote(option ir.OptionFacts) []constant {
	var out []constant
	for _, line := range option.Note {
		out = append(out, constant(line))
	}
	return out
}

// clusterTrigger returns the trigger of every pool of a cluster that Terraform may delete. GKE
// deletes a cluster with its pools, which refer to it by its name: another cluster with the
// same name would leave them unchanged in Terraform's plan. Without it, Terraform fails at a
// cluster with deletion protection before it deletes a pool.
//
// Source: GKE API, projects.locations.clusters.delete.
func clusterTrigger(p *ir.Platform) []trigger {
	if !p.OwnsCluster() || p.Cluster.DeletionProtection {
		return nil
	}
	return []trigger{{
		"google_container_cluster.main.id",
		[]constant{"GKE deletes the pools with their cluster: Terraform must replace them together."},
	}}
}

// reservationTrigger returns the trigger of a pool whose nodes consume a reservation that
// the platform creates. Terraform destroys a pool before what it depends on, and creates it
// afterwards.
//
// Source: Compute Engine documentation, "Delete reservations".
func reservationTrigger(c ir.Capacity) []trigger {
	if !createsReservation(c) {
		return nil
	}
	return []trigger{{
		constant("google_compute_reservation." + resourceLabel(c.Name) + ".id"),
		[]constant{
			"Compute Engine does not delete a reservation that nodes use: Terraform must replace the",
			"pool with the reservation.",
		},
	}}
}

// networkTriggers returns the triggers of a pool whose nodes use subnets that the platform
// creates. A network is only replaced together with its subnets.
//
// Source: Compute Engine API, resourceInUseByAnotherResource.
func networkTriggers(p *ir.Platform, c ir.Capacity) []trigger {
	if p.Network.Existing != nil || c.Machine.AcceleratorNetworks {
		return nil
	}
	var triggers []trigger
	for i, name := range c.Networks {
		t := trigger{name: constant("google_compute_subnetwork.gpu[" + string(stringTokens(name).Bytes()) + "].id")}
		if i == 0 {
			t.note = []constant{
				"Compute Engine does not delete a subnet that nodes use: Terraform must replace the pool",
				"with it.",
			}
		}
		triggers = append(triggers, t)
	}
	return triggers
}

// zoneTokens returns the node locations of a capacity: a reference to the platform's
// zones, if they are the same, and otherwise literals. They never refer to the zone of a
// reservation: Compute Engine answers with its URL, which GKE does not take as a zone.
func zoneTokens(p *ir.Platform, c ir.Capacity) hclwrite.Tokens {
	if slices.Equal(c.Zones, p.Zones) {
		return traversalTokens("var", "zones")
	}
	return hclwrite.TokensForValue(stringTuple(c.Zones))
}

// isAutoscaled reports whether the autoscaler sizes a capacity's pools.
func isAutoscaled(c ir.Capacity) bool { return !c.Static && !c.Waiting }

// setNodeCount sets the number of nodes of a pool. In GKE, node_count and
// initial_node_count are numbers for each zone; in the plan, numbers are totals over
// all zones and slices.
func setNodeCount(np *body, c ir.Capacity) {
	least, most, zones := c.MinNodes, c.MaxNodes, len(c.Zones)
	if c.Sliced() { // all hosts of a slice, or none
		least, most = 0, c.Machine.Slice.Hosts
	}
	switch {
	case c.Waiting:
		np.note("No nodes until the reservation begins. Then set active in the blueprint.")
		np.setNumber("node_count", 0)
		return
	case c.Static:
		if zones > 1 {
			np.note("The number of nodes in each zone.")
		}
		np.setNumber("node_count", most/zones)
		return
	}
	// The autoscaler keeps a pool at its minimum but does not bring it there. The
	// number is rounded up, unless that exceeds the maximum.
	np.setNumber("initial_node_count", min((least+zones-1)/zones, most/zones))
	scaling := np.block("autoscaling")
	if c.HasTPUs() && zones == 1 {
		scaling.note("These limits are for each zone, and the pool has one zone. GKE compares the size of",
			"a slice with the maximum of a zone, not with the total maximum.")
		scaling.setNumber("min_node_count", least)
		scaling.setNumber("max_node_count", most)
	} else {
		scaling.setNumber("total_min_node_count", least)
		scaling.setNumber("total_max_node_count", most)
		scaling.note("ANY creates nodes in any zone with capacity, instead of spreading them evenly.")
	}
	scaling.setString("location_policy", "ANY")
}

// poolTaints returns the taints that a pool declares: the plan's taints, and the
// accelerator's. GKE adds the accelerator's taint itself, but only to a pool that is
// created beside a pool without accelerators; a declared taint does not depend on
// that order. The provider tracks only declared keys, so that a plan stays clean in
// both cases.
func poolTaints(c ir.Capacity) []ir.Taint {
	out := slices.Clone(c.PoolTaints)
	for _, t := range c.NodeTaints {
		if c.HasAccelerators() && t.Key == c.Machine.Resource && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// effect maps the taint effects of Kubernetes to the names in the GKE API.
var effect = map[string]string{
	"NoSchedule":       "NO_SCHEDULE",
	"PreferNoSchedule": "PREFER_NO_SCHEDULE",
	"NoExecute":        "NO_EXECUTE",
}

func setLabels(node *body, labels []ir.KeyValue) {
	if len(labels) > 0 {
		node.setTokens("labels", labelTokens(labels))
	}
}

// writeAccelerators writes a node's GPUs. TPUs come with the machine type.
func writeAccelerators(node *body, c ir.Capacity) {
	if !c.HasGPUs() {
		return
	}
	gpu := node.block("guest_accelerator")
	gpu.setString("type", c.Machine.Accelerator)
	gpu.setNumber("count", c.Machine.AcceleratorCount)
	version := c.GPUDriver
	if version == "DISABLED" {
		version = "INSTALLATION_DISABLED"
	}
	gpu.block("gpu_driver_installation_config").setString("gpu_driver_version", version)
}

// localSSDs makes the nodes use their local SSDs as ephemeral storage. GKE uses
// local SSDs that come with the machine type without being told, but then reports a
// count that is not declared, and the provider would replace the pool at every
// apply. Source: hashicorp/terraform-provider-google, issue 17068.
func localSSDs(node *body, c ir.Capacity) {
	if n := c.SSDs(); n > 0 {
		node.note("The local SSDs hold images, logs and emptyDir volumes.")
		node.block("ephemeral_storage_local_ssd_config").setNumber("local_ssd_count", n)
	}
}

// reservationKey is the label that selects a specific reservation (Compute Engine
// documentation: "Consume a reserved instance").
const reservationKey = "compute.googleapis.com/reservation-name"

// writeAffinity sets which reservations a pool may consume: the reservation for
// which it was made, any open reservation, or none. With none, the pool never
// consumes a reservation that somebody else made.
func writeAffinity(node *body, c ir.Capacity) {
	a := node.block("reservation_affinity")
	a.setString("consume_reservation_type", c.Option.Facts().ReservationAffinity)
	if c.Reservation != nil {
		a.setString("key", reservationKey)
		a.setTokens("values", tupleTokens(reservationName(c)))
	}
}

// reservationName returns the value that names a capacity's reservation. For a
// reservation that the platform creates it is a reference, so that the pool waits
// for it. For an existing reservation it is the path, including the block or
// sub-block if one is selected.
func reservationName(c ir.Capacity) hclwrite.Tokens {
	r := c.Reservation
	if r.Create {
		return traversalTokens("google_compute_reservation", resourceLabel(c.Name), "name")
	}
	path := r.Name
	if r.Owner != "" {
		path = "projects/" + r.Owner + "/reservations/" + path
	}
	if r.Block != "" {
		path += "/reservationBlocks/" + r.Block
	}
	if r.SubBlock != "" {
		path += "/reservationSubBlocks/" + r.SubBlock
	}
	return stringTokens(path)
}

// writeMachine sets the machine type, the image and the boot disk.
func writeMachine(node *body, kind, diskType string, diskSizeGiB int) {
	node.setString("machine_type", kind)
	node.setString("image_type", "COS_CONTAINERD")
	if diskType != "" {
		node.setString("disk_type", diskType)
	}
	if diskSizeGiB > 0 {
		node.setNumber("disk_size_gb", diskSizeGiB)
	}
}

// nodeIdentity lets IAM alone decide what a node may do: the node's access scope
// permits everything, and its service account has few permissions.
func nodeIdentity(node *body) {
	node.setExpr("service_account", "var.node_account")
	node.setStrings("oauth_scopes", []string{"https://www.googleapis.com/auth/cloud-platform"})
}

func nodeDefaults(node *body, p *ir.Platform) {
	bootDiskKey(node, p.Security)
	serialPortLogs(node, p.Security)
	switch {
	case !p.OwnsCluster():
		node.note("The label distinguishes the platform's node pools from those of others.")
		labels := objectTokens([]entry{{ir.CloudLabelPlatform, traversalTokens("var", "platform")}})
		if len(p.Labels) > 0 {
			labels = hclwrite.TokensForFunctionCall("merge", traversalTokens("var", "labels"), labels)
		}
		node.setTokens("resource_labels", labels)
	case len(p.Labels) > 0:
		node.setExpr("resource_labels", "var.labels")
	}
	node.block("gcfs_config").setBool("enabled", p.Cluster.ImageStreaming)
	node.block("gvnic").setBool("enabled", true)
	node.block("workload_metadata_config").setString("mode", "GKE_METADATA")
	writeShielded(node)
}

func writeShielded(node *body) {
	s := node.block("shielded_instance_config")
	s.setBool("enable_secure_boot", true)
	s.setBool("enable_integrity_monitoring", true)
}

// privateNodes gives the nodes of a pool only internal addresses, and returns the
// block for additional networks. Without the block, a pool follows its cluster. With
// the block, the provider always sends enable_private_nodes, as false if it is not
// set, and GKE refuses such a pool in a private cluster. Every pool sets
// enable_private_nodes, so that a reviewer need not know which pools have additional
// networks.
//
// Source: the provider's expandNodeNetworkConfig, ForceSendFields;
// terraform-google-modules/terraform-google-kubernetes-engine, issue 1493.
func privateNodes(np *body) *body {
	networks := np.block("network_config")
	networks.setBool("enable_private_nodes", true)
	return networks
}

// writeManagement sets automatic repair and upgrades. Every cluster has a release
// channel, which requires automatic upgrades of every pool.
func writeManagement(b *body, repair bool) {
	m := b.block("management")
	m.setBool("auto_repair", repair)
	m.setBool("auto_upgrade", true)
}

func writeUpgrades(b *body, surge, unavailable int) {
	u := b.block("upgrade_settings")
	u.setString("strategy", "SURGE")
	u.setNumber("max_surge", surge)
	u.setNumber("max_unavailable", unavailable)
}
