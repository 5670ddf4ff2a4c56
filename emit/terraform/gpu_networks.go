package terraform

import (
	"strconv"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

// gpuNetworks writes the networks over which GPUs of different nodes reach each
// other. Two tables come first: what a reviewer looks at are their lines. The
// networks are no part of the module network: they hold the devices of nodes, and
// no network that exists takes their place.
func gpuNetworks(b *body, p *ir.Platform) {
	if len(p.Network.GPUs) == 0 {
		return
	}
	var networks, subnets []entry
	for _, n := range p.Network.GPUs {
		profile := hclwrite.TokensForIdentifier("null")
		if n.Profile != "" {
			profile = literal(n.Profile)
		}
		networks = append(networks, entry{n.Short, line([]entry{{"mtu", number(n.MTU)}, {"profile", profile}})})
		for _, s := range n.Subnets {
			subnets = append(subnets,
				entry{s.Network, line([]entry{{"network", literal(n.Short)}, {"range", cut(s.Cut)}})})
		}
	}
	locals := b.block("locals")
	locals.note("VPC networks that nodes have besides the cluster's own. A profile makes one for",
		"RDMA within a zone; it then takes no firewall rules.")
	locals.raw("gpu_networks", object(networks))
	locals.note("Their subnets, by the names that pods know them by.")
	locals.raw("gpu_subnets", object(subnets))

	vpc := b.resource("google_compute_network", "gpu")
	vpc.expr("for_each", "local.gpu_networks")
	vpc.expr("name", `"${module.network.name}-${each.key}"`)
	vpc.flag("auto_create_subnetworks", false)
	vpc.expr("mtu", "each.value.mtu")
	vpc.expr("network_profile",
		`each.value.profile == null ? null : "projects/${var.project_id}/global/networkProfiles/${each.value.profile}"`)

	subnet := b.resource("google_compute_subnetwork", "gpu")
	subnet.expr("for_each", "local.gpu_subnets")
	subnet.expr("name", `"${module.network.name}-${each.key}"`)
	subnet.expr("region", "var.region")
	subnet.expr("network", "google_compute_network.gpu[each.value.network].id")
	subnet.expr("ip_cidr_range", "each.value.range")

	b.note("Nodes reach each other, and nobody else reaches them.")
	firewall := b.resource("google_compute_firewall", "gpu")
	firewall.expr("for_each",
		"{ for name, network in local.gpu_networks : name => network if network.profile == null }")
	firewall.expr("name", `"${google_compute_network.gpu[each.key].name}-internal"`)
	firewall.expr("network", "google_compute_network.gpu[each.key].id")
	firewall.text("direction", "INGRESS")
	firewall.expr("source_ranges", "[for subnet in local.gpu_subnets : subnet.range if subnet.network == each.key]")
	for _, protocol := range []string{"tcp", "udp", "icmp"} {
		firewall.block("allow").text("protocol", protocol)
	}
}

// deviceNetworks gives nodes a network for each of their devices, in the order of
// the devices.
func deviceNetworks(networks *body, c ir.Capacity) {
	networks.note("A network for each device, in their order: pods find the devices by it.")
	each := networks.block("dynamic", "additional_node_network_configs")
	each.value("for_each", stringTuple(c.Networks))
	content := each.block("content")
	content.expr("network",
		"google_compute_network.gpu[local.gpu_subnets[additional_node_network_configs.value].network].name")
	content.expr("subnetwork", "google_compute_subnetwork.gpu[additional_node_network_configs.value].name")
}

// cut returns the expression of a part of a range.
func cut(c ir.Cut) hclwrite.Tokens {
	whole := reference("var", c.Of+"_range")
	if c.Bits == 0 {
		return whole
	}
	return hclwrite.TokensForFunctionCall("cidrsubnet", whole, number(c.Bits), number(c.Index))
}

// number returns the tokens of a whole number.
func number(n int) hclwrite.Tokens {
	return hclwrite.Tokens{mark(hclsyntax.TokenNumberLit, strconv.Itoa(n))}
}

// line returns the tokens of an object on one line.
func line(entries []entry) hclwrite.Tokens {
	tokens := hclwrite.Tokens{mark(hclsyntax.TokenOBrace, "{")}
	for i, e := range entries {
		if i > 0 {
			tokens = append(tokens, mark(hclsyntax.TokenComma, ","))
		}
		tokens = append(tokens, hclwrite.TokensForIdentifier(e.key)...)
		tokens = append(tokens, mark(hclsyntax.TokenEqual, "="))
		tokens = append(tokens, e.value...)
	}
	return append(tokens, mark(hclsyntax.TokenCBrace, "}"))
}
