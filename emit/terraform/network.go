package terraform

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
)

func network(b *body, p *ir.Platform) {
	vpc := b.resource("google_compute_network", "main")
	vpc.text("name", p.Network.Name)
	vpc.flag("auto_create_subnetworks", false)

	subnet := b.resource("google_compute_subnetwork", "main")
	subnet.text("name", p.Network.Subnet)
	subnet.expr("region", "var.region")
	subnet.expr("network", "google_compute_network.main.id")
	subnet.expr("ip_cidr_range", "var.node_range")
	subnet.note("Nodes have no public address: Google APIs are reached from inside.")
	subnet.flag("private_ip_google_access", true)
	secondaryRange(subnet, "pods", "var.pod_range")
	secondaryRange(subnet, "services", "var.service_range")
	if p.Security.FlowLogs {
		flow := subnet.block("log_config")
		flow.text("aggregation_interval", "INTERVAL_5_MIN")
		flow.value("flow_sampling", cty.NumberFloatVal(0.5))
		flow.text("metadata", "INCLUDE_ALL_METADATA")
	}

	router := b.resource("google_compute_router", "main")
	router.expr("name", `"${google_compute_network.main.name}-router"`)
	router.expr("region", "var.region")
	router.expr("network", "google_compute_network.main.id")

	nat := b.resource("google_compute_router_nat", "main")
	nat.expr("name", `"${google_compute_network.main.name}-nat"`)
	nat.expr("region", "var.region")
	nat.expr("router", "google_compute_router.main.name")
	nat.text("nat_ip_allocate_option", "AUTO_ONLY")
	nat.text("source_subnetwork_ip_ranges_to_nat", "ALL_SUBNETWORKS_ALL_IP_RANGES")
	nat.note("A node that pulls many images or reads much data at once needs more than the",
		"usual 64 ports.")
	nat.flag("enable_dynamic_port_allocation", true)
	nat.number("min_ports_per_vm", 64)
	nat.number("max_ports_per_vm", 4096)
	log := nat.block("log_config")
	log.flag("enable", true)
	log.text("filter", "ERRORS_ONLY")

	ports := []string{"8082", "9443"}
	if p.Scheduler == ir.KAI {
		ports = []string{"9443"}
		b.note("GKE opens only 443 and 10250 from a private control plane to the nodes. The",
			"webhooks of KAI Scheduler and JobSet listen on 9443.")
	} else {
		b.note("GKE opens only 443 and 10250 from a private control plane to the nodes. The",
			"webhooks of Kueue and JobSet listen on 9443, Kueue's visibility API on 8082.")
	}
	firewall := b.resource("google_compute_firewall", "webhooks")
	firewall.expr("name", `"${google_compute_network.main.name}-webhooks"`)
	firewall.expr("network", "google_compute_network.main.id")
	firewall.text("direction", "INGRESS")
	firewall.expr("source_ranges", "[var.control_plane_range]")
	firewall.expr("target_service_accounts", "[google_service_account.nodes.email]")
	allow := firewall.block("allow")
	allow.text("protocol", "tcp")
	allow.texts("ports", ports)
}

func secondaryRange(subnet *body, name string, cidr constant) {
	r := subnet.block("secondary_ip_range")
	r.text("range_name", name)
	r.expr("ip_cidr_range", cidr)
}
