package terraform

import (
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
)

// networkModule is the folder, below the root, of the module that creates the
// cluster's network. The network is a module because it has other owners and
// reviewers than the cluster. The module gets facts of the platform only through its
// variables, and the cluster gets facts of the network only through its outputs.
const networkModule = "modules/network"

// moduleInput is a variable of a module.
type moduleInput struct {
	name        string
	description string
	value       hclwrite.Tokens // in the root
	kind        constant        // type of the variable
}

// textInput, passedInput and numberInput return variables of a module: a text, the root's
// variable of the same name, which is a text, and a number.
func textInput(name, description string, value hclwrite.Tokens) moduleInput {
	return moduleInput{name, description, value, "string"}
}

func passedInput(name, description string) moduleInput {
	return textInput(name, description, traversalTokens("var", name))
}

func numberInput(name, description string, n int) moduleInput {
	return moduleInput{name, description, numberTokens(n), "number"}
}

// networkInputs returns the variables of the module in the order of the files.
func networkInputs(p *ir.Platform) []moduleInput {
	if p.Network.Existing != nil {
		return existingInputs(p)
	}
	inputs := []moduleInput{
		textInput("name", "Name of the VPC network, and prefix of the names of its router, NAT and firewall rule.",
			stringTokens(p.Network.Name)),
		textInput("subnet", "Name of the subnet.", stringTokens(p.Network.Subnet)),
		passedInput("region", "Region of the subnet, the router and the NAT."),
		passedInput("node_range", "Primary range of the subnet, for the nodes."),
		passedInput("pod_range", "Secondary range of the subnet, for the pods."),
		passedInput("service_range", "Secondary range of the subnet, for the Services."),
	}
	if p.Network.ControlPlane != "" {
		inputs = append(inputs,
			passedInput("control_plane_range", "Range of the control plane, which calls webhooks on the nodes."))
	}
	inputs = append(inputs, textInput("node_service_account",
		"Email address of the nodes' service account. The firewall rule selects the nodes by it.",
		traversalTokens("var", "node_account")))
	if p.Network.MTU > 0 {
		inputs = append(inputs,
			numberInput("mtu", "Size in bytes of the largest packet that a new network carries.", p.Network.MTU))
	}
	return inputs
}

// network writes the call of the module.
func network(b *body, p *ir.Platform) {
	if !p.OwnsCluster() { // the cluster has its network already
		return
	}
	if p.Network.Existing != nil {
		b.note("The cluster's network exists. network-team/ lists what its owners must do.")
	} else {
		b.note("The cluster's network is a module, so that a network team can review and own it.")
	}
	callModule(b, "network", networkModule, networkInputs(p))
}

// callModule writes the call of a module of the folder.
func callModule(b *body, label, folder string, inputs []moduleInput) {
	call := b.block("module", label)
	call.setString("source", "./"+folder)
	call.addBlankLine()
	for _, in := range inputs {
		call.setTokens(in.name, in.value)
	}
}

// moduleVersions names the provider. Only the root restricts the versions of
// Terraform and of the provider.
func moduleVersions(b *body, _ *ir.Platform) {
	b.block("terraform").block("required_providers").setTokens("google",
		objectTokens([]entry{{"source", stringTokens(googleProvider)}}))
}

// moduleVariables declares the variables of a module.
func moduleVariables(b *body, inputs []moduleInput) {
	for _, in := range inputs {
		v := b.block("variable", in.name)
		v.setString("description", in.description)
		v.setExpr("type", in.kind)
		v.setBool("nullable", false)
	}
}

func networkOutputs(b *body, p *ir.Platform) {
	if p.Network.Existing != nil {
		existingOutputs(b)
		return
	}
	const ranges = "google_compute_subnetwork.main.secondary_ip_range"
	writeOutput(b, "id", "ID of the VPC network.", "google_compute_network.main.id")
	writeOutput(b, "name", "Name of the VPC network.", "google_compute_network.main.name")
	writeOutput(b, "subnet_id", "ID of the subnet.", "google_compute_subnetwork.main.id")
	writeOutput(b, "pod_range_name", "Name of the pods' range.", ranges+"[0].range_name")
	writeOutput(b, "service_range_name", "Name of the Services' range.", ranges+"[1].range_name")
}

// networkMain writes the resources of the module.
func networkMain(b *body, p *ir.Platform) {
	if p.Network.Existing != nil {
		existingMain(b)
		return
	}
	vpc := b.resource("google_compute_network", "main")
	vpc.setExpr("name", "var.name")
	vpc.setBool("auto_create_subnetworks", false)
	if p.Network.MTU > 0 {
		// Source: VPC documentation, "Change the MTU setting of a VPC network": nodes
		// read the MTU when they start, and nodes with different MTUs lose packets.
		vpc.setExpr("mtu", "var.mtu")
		life := vpc.block("lifecycle")
		life.note("Nodes read the MTU only when they start. It must not change while nodes run.")
		life.setExpr("ignore_changes", "[mtu]")
	}

	subnet := b.resource("google_compute_subnetwork", "main")
	subnet.setExpr("name", "var.subnet")
	subnet.setExpr("region", "var.region")
	subnet.setExpr("network", "google_compute_network.main.id")
	subnet.setExpr("ip_cidr_range", "var.node_range")
	subnet.note("Nodes have no public addresses. This setting lets them reach Google APIs.")
	subnet.setBool("private_ip_google_access", true)
	secondaryRange(subnet, "pods", "var.pod_range")
	secondaryRange(subnet, "services", "var.service_range")
	if p.Security.FlowLogs {
		flow := subnet.block("log_config")
		flow.setString("aggregation_interval", "INTERVAL_5_MIN")
		flow.setLiteral("flow_sampling", cty.NumberFloatVal(0.5))
		flow.setString("metadata", "INCLUDE_ALL_METADATA")
	}

	router := b.resource("google_compute_router", "main")
	router.setExpr("name", `"${google_compute_network.main.name}-router"`)
	router.setExpr("region", "var.region")
	router.setExpr("network", "google_compute_network.main.id")

	nat := b.resource("google_compute_router_nat", "main")
	nat.setExpr("name", `"${google_compute_network.main.name}-nat"`)
	nat.setExpr("region", "var.region")
	nat.setExpr("router", "google_compute_router.main.name")
	nat.setString("nat_ip_allocate_option", "AUTO_ONLY")
	nat.setString("source_subnetwork_ip_ranges_to_nat", "ALL_SUBNETWORKS_ALL_IP_RANGES")
	nat.note("The default of 64 ports is too low for a node that pulls many images or reads much",
		"data at once.")
	nat.setBool("enable_dynamic_port_allocation", true)
	nat.setNumber("min_ports_per_vm", 64)
	nat.setNumber("max_ports_per_vm", 4096)
	log := nat.block("log_config")
	log.setBool("enable", true)
	log.setString("filter", "ERRORS_ONLY")

	webhooks := webhookServers(p)
	b.note("GKE lets a private control plane reach only ports 443 and 10250 of the nodes. The", webhooks.note)
	firewall := b.resource("google_compute_firewall", "webhooks")
	firewall.setExpr("name", `"${google_compute_network.main.name}-webhooks"`)
	firewall.setString("description", "Lets the control plane reach the software of the platform on the nodes.")
	firewall.setExpr("network", "google_compute_network.main.id")
	firewall.setString("direction", "INGRESS")
	if p.Network.ControlPlane != "" {
		firewall.setExpr("source_ranges", "[var.control_plane_range]")
	} else {
		firewall.note("The control plane has an address in the subnet.")
		firewall.setExpr("source_ranges", "[var.node_range]")
	}
	firewall.setExpr("target_service_accounts", "[var.node_service_account]")
	allow := firewall.block("allow")
	allow.setString("protocol", "tcp")
	allow.setStrings("ports", webhooks.ports)
	firewallLogs(firewall, p.Security)
}

// servers are the servers on nodes that the control plane calls.
type servers struct {
	ports []string
	note  constant // continues a sentence that ends with "The"
}

// webhookServers returns the servers of the platform's software.
func webhookServers(p *ir.Platform) servers {
	return ir.Choose(p.Scheduler,
		servers{
			[]string{"8082", "9443"},
			"webhooks of " + controllers(p) + " listen on port 9443, Kueue's visibility API on port 8082.",
		},
		servers{[]string{"9443"}, "webhooks of " + controllers(p) + " listen on port 9443."})
}

func secondaryRange(subnet *body, name string, cidr constant) {
	r := subnet.block("secondary_ip_range")
	r.setString("range_name", name)
	r.setExpr("ip_cidr_range", cidr)
}
