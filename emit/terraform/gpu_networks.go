package terraform

import (
	"strconv"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

// gpuNetworks writes the networks over which GPUs of different nodes reach each
// other. Two tables come first, whose lines are the part that a reviewer checks. The
// networks are not part of the module network: they hold the devices of nodes, and
// an existing network cannot replace them.
func gpuNetworks(b *body, p *ir.Platform) {
	if len(p.Network.GPUs) == 0 {
		return
	}
	if p.Network.Existing != nil {
		existingGPUNetworks(b, p)
		return
	}
	var networks, subnets []entry
	for _, n := range p.Network.GPUs {
		profile := hclwrite.TokensForIdentifier("null")
		if n.Profile != "" {
			profile = stringTokens(n.Profile)
		}
		network := inlineObject([]entry{{"mtu", numberTokens(n.MTU)}, {"profile", profile}})
		networks = append(networks, entry{n.Short, network})
		for _, s := range n.Subnets {
			subnets = append(subnets,
				entry{s.Network,
					inlineObject([]entry{{"network", stringTokens(n.Short)}, {"range", subnetCall(s.Cut)}})})
		}
	}
	locals := b.block("locals")
	locals.note("VPC networks of GPU nodes, in addition to the cluster's network. A network with a",
		"profile carries RDMA within one zone and supports no firewall rules.")
	locals.setTokens("gpu_networks", objectTokens(networks))
	locals.note("The subnets of these networks. Each name is also the name of the Kubernetes Network",
		"through which pods use the subnet.")
	locals.setTokens("gpu_subnets", objectTokens(subnets))

	vpc := b.resource("google_compute_network", "gpu")
	vpc.setExpr("for_each", "local.gpu_networks")
	vpc.setExpr("name", `"${module.network.name}-${each.key}"`)
	vpc.setBool("auto_create_subnetworks", false)
	vpc.setExpr("mtu", "each.value.mtu")
	vpc.setExpr("network_profile",
		`each.value.profile == null ? null : "projects/${var.project_id}/global/networkProfiles/${each.value.profile}"`)

	subnet := b.resource("google_compute_subnetwork", "gpu")
	subnet.setExpr("for_each", "local.gpu_subnets")
	subnet.setExpr("name", `"${module.network.name}-${each.key}"`)
	subnet.setExpr("region", "var.region")
	subnet.setExpr("network", "google_compute_network.gpu[each.value.network].id")
	subnet.setExpr("ip_cidr_range", "each.value.range")
	subnet.note("Organisations demand it, and nodes do not use it here. It is not verified for RDMA networks.")
	subnet.setExpr("private_ip_google_access", "local.gpu_networks[each.value.network].profile == null")

	b.note("On these networks, nodes accept connections only from each other.")
	firewall := b.resource("google_compute_firewall", "gpu")
	firewall.setExpr("for_each",
		"{ for name, network in local.gpu_networks : name => network if network.profile == null }")
	firewall.setExpr("name", `"${google_compute_network.gpu[each.key].name}-internal"`)
	firewall.setString("description", "Lets nodes reach each other on this network between GPUs, and nobody else.")
	firewall.setExpr("network", "google_compute_network.gpu[each.key].id")
	firewall.setString("direction", "INGRESS")
	firewall.setExpr("source_ranges", "[for subnet in local.gpu_subnets : subnet.range if subnet.network == each.key]")
	for _, protocol := range []string{"tcp", "udp", "icmp"} {
		firewall.block("allow").setString("protocol", protocol)
	}
	firewallLogs(firewall, p.Security)
}

// deviceNetworks attaches a network to each device of a node, in the order of the
// devices.
func deviceNetworks(networks *body, p *ir.Platform, c ir.Capacity) {
	networks.note("Attaches one network to each network device of a node, in the order of the devices.",
		"A pod selects a device by its network.")
	each := networks.block("dynamic", "additional_node_network_configs")
	each.setLiteral("for_each", stringTuple(c.Networks))
	content := each.block("content")
	if p.Network.Existing != nil {
		content.setExpr("network", `"projects/${var.network_project}/global/networks/`+
			`${local.gpu_subnets[additional_node_network_configs.value].network}"`)
		content.setExpr("subnetwork", `"projects/${var.network_project}/regions/${var.region}/subnetworks/`+
			`${local.gpu_subnets[additional_node_network_configs.value].subnet}"`)
		return
	}
	content.setExpr("network",
		"google_compute_network.gpu[local.gpu_subnets[additional_node_network_configs.value].network].name")
	content.setExpr("subnetwork", "google_compute_subnetwork.gpu[additional_node_network_configs.value].name")
}

// subnetCall returns an expression for a part of an address range.
func subnetCall(c ir.Cut) hclwrite.Tokens {
	whole := traversalTokens("var", c.Of+"_range")
	if c.Bits == 0 {
		return whole
	}
	return hclwrite.TokensForFunctionCall("cidrsubnet", whole, numberTokens(c.Bits), numberTokens(c.Index))
}

// numberTokens returns the tokens of a whole number.
func numberTokens(n int) hclwrite.Tokens {
	return hclwrite.Tokens{newToken(hclsyntax.TokenNumberLit, strconv.Itoa(n))}
}

// inlineObject returns the tokens of an object on one line.
func inlineObject(entries []entry) hclwrite.Tokens {
	tokens := hclwrite.Tokens{newToken(hclsyntax.TokenOBrace, "{")}
	for i, e := range entries {
		if i > 0 {
			tokens = append(tokens, newToken(hclsyntax.TokenComma, ","))
		}
		tokens = append(tokens, hclwrite.TokensForIdentifier(e.key)...)
		tokens = append(tokens, newToken(hclsyntax.TokenEqual, "="))
		tokens = append(tokens, e.value...)
	}
	return append(tokens, newToken(hclsyntax.TokenCBrace, "}"))
}
