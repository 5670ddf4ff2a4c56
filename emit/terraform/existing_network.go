package terraform

import "github.com/batchwright/batchwright/compiler/ir"

// existingInputs returns the variables of the module network for a network that others
// own.
func existingInputs(p *ir.Platform) []moduleInput {
	e := p.Network.Existing
	return []moduleInput{
		passedInput("network_project", "Project that owns the VPC network."),
		passedInput("network", "Name of the VPC network."),
		passedInput("subnet", "Name of the subnet of the nodes."),
		passedInput("pod_range_name", "Name of the subnet's secondary range for pods."),
		passedInput("service_range_name", "Name of the subnet's secondary range for Services."),
		passedInput("region", "Region of the subnet."),
		numberInput("node_prefix", "Longest prefix of the subnet with room for all nodes.", e.NodePrefix),
		numberInput("pod_prefix", "Longest prefix of the pods' range with room for the pods of all nodes.",
			e.PodPrefix),
		numberInput("service_prefix", "Longest prefix of the Services' range that GKE accepts.", e.ServicePrefix),
	}
}

// existingVariables returns the variables of the root that name an existing network.
func existingVariables(p *ir.Platform) []variable {
	e := p.Network.Existing
	name := func(name, description, value string) variable {
		return variable{
			name, "string", description, stringValue(value),
			constant(`can(regex("^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$", var.` + name + `))`),
			"Write the name, not a path: at most 63 lower-case letters, digits and dashes, a letter first.",
		}
	}
	vars := []variable{
		networkProjectVariable(p),
		name("network", "Name of the VPC network.", p.Network.Name),
		name("subnet", "Name of the subnet of the nodes.", p.Network.Subnet),
		name("pod_range_name", "Name of the subnet's secondary range for pods.", e.PodRange),
		name("service_range_name", "Name of the subnet's secondary range for Services.", e.ServiceRange),
	}
	if e.ControlPlaneSubnet != "" {
		vars = append(vars, name("control_plane_subnet",
			"Name of the subnet in which the control plane has its private address.", e.ControlPlaneSubnet))
	}
	return vars
}

// networkProjectVariable returns the variable of the project that owns the network.
func networkProjectVariable(p *ir.Platform) variable {
	return projectVariable("network_project", "Project that owns the VPC network.", p.Network.Existing.Project)
}

// existingOutputs writes the outputs of the module network for a network that others
// own. They are names, so that the cluster does not depend on what Terraform reads.
func existingOutputs(b *body) {
	writeOutput(b, "id", "ID of the VPC network.", `"projects/${var.network_project}/global/networks/${var.network}"`)
	writeOutput(b, "name", "Name of the VPC network.", "var.network")
	writeOutput(b, "subnet_id", "ID of the subnet.",
		`"projects/${var.network_project}/regions/${var.region}/subnetworks/${var.subnet}"`)
	writeOutput(b, "pod_range_name", "Name of the pods' range.", "var.pod_range_name")
	writeOutput(b, "service_range_name", "Name of the Services' range.", "var.service_range_name")
}

// existingMain writes the check of a subnet that others own. Terraform prints a warning
// for each assertion that fails, and continues. Source: Terraform documentation,
// "Validate your infrastructure". An error in a condition would stop it, so the conditions
// try to read the ranges.
//
// The data source stands beside the check. In the check, every apply would read it again,
// and a plan without changes would not count as empty. Source: hashicorp/terraform, issues
// 35226 and 36536.
func existingMain(b *body) {
	b.note("The network belongs to others, and this folder changes nothing in it. Terraform reads the",
		"subnet only to warn: an assertion that fails stops no plan.")
	data := b.data("google_compute_subnetwork", "nodes")
	data.setExpr("name", "var.subnet")
	data.setExpr("project", "var.network_project")
	data.setExpr("region", "var.region")
	check := b.block("check", "subnet")
	assert := func(condition constant, message string) { writeAssert(check, condition, message) }
	const subnet = "data.google_compute_subnetwork.nodes"
	assert(subnet+".private_ip_google_access",
		"Subnet ${var.subnet} has no Private Google Access, so nodes cannot reach Google APIs.")
	assert(`endswith(`+subnet+`.network, "/networks/${var.network}")`,
		"Subnet ${var.subnet} is not in network ${var.network}.")
	assert(`try(tonumber(split("/", `+subnet+`.ip_cidr_range)[1]) <= var.node_prefix, false)`,
		"The primary range of subnet ${var.subnet} is smaller than the /${var.node_prefix} that the nodes need.")
	for _, r := range []struct{ name, prefix, what constant }{
		{"var.pod_range_name", "var.pod_prefix", "pods"}, {"var.service_range_name", "var.service_prefix", "Services"},
	} {
		assert(`try(contains([for range in `+subnet+`.secondary_ip_range : range.range_name if tonumber(split("/", `+
			`range.ip_cidr_range)[1]) <= `+r.prefix+`], `+r.name+`), false)`,
			string("Subnet ${var.subnet} has no secondary range ${"+r.name+"} of at least a /${"+r.prefix+"} for "+
				r.what+"."))
	}
}

// writeAssert writes an assertion of a check. The message is source of this package.
func writeAssert(check *body, condition constant, message string) {
	a := check.block("assert")
	a.setExpr("condition", condition)
	a.setExpr("error_message", constant(`"`+message+`"`))
}

// existingGPUNetworks writes the names of the networks between GPUs that others own.
func existingGPUNetworks(b *body, p *ir.Platform) {
	var subnets []entry
	for _, n := range p.Network.GPUs {
		for _, s := range n.Subnets {
			subnets = append(subnets, entry{s.Network,
				inlineObject([]entry{{"network", stringTokens(n.Name)}, {"subnet", stringTokens(s.Name)}})})
		}
	}
	locals := b.block("locals")
	locals.note("VPC networks and subnets of GPU nodes, in addition to the cluster's network. They belong",
		"to others. Each key is also the name of the Kubernetes Network through which pods use",
		"the subnet.")
	locals.setTokens("gpu_subnets", objectTokens(subnets))
}
