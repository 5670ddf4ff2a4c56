package terraform

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
)

// networkTeamFile is a Terraform root of its own, for the owners of an existing network:
// what they must add to their project for the platform.
const networkTeamFile = "network-team/main.tf"

// networkTeam writes the root of the network's owners: the firewall rules, and in a
// Shared VPC the IAM bindings. The names in it are literals, because the file is applied
// in another project, without the platform's variables.
func networkTeam(b *body, p *ir.Platform) {
	b.note("For the owners of the network: what they must add for this platform. README.md lists it",
		"in tables, for those who do not use Terraform.")
	terraform := b.block("terraform")
	terraform.setString("required_version", ">= 1.5")
	terraform.block("required_providers").setTokens("google",
		objectTokens([]entry{{"source", stringTokens(googleProvider)}}))
	b.block("provider", "google").setString("project", p.Network.Existing.Project)

	if p.SharesVPC() {
		number := b.block("variable", "platform_number")
		number.setString("description", "Number of the platform's project, which the names of Google's service agents "+
			"have: gcloud projects describe "+p.Project+" --format='value(projectNumber)'")
		number.setExpr("type", "string")
		number.setBool("nullable", false)
		validation := number.block("validation")
		validation.setExpr("condition", `can(regex("^[0-9]+$", var.platform_number))`)
		validation.setString("error_message", "A project number has only digits.")
	}
	prefix := b.block("variable", "rule_prefix")
	prefix.setString("description", "First part of the names of the firewall rules. Set another if the network "+
		"already has rules of another platform of this name.")
	prefix.setExpr("type", "string")
	prefix.setString("default", p.Name)
	prefix.setBool("nullable", false)
	denied := b.block("variable", "egress_is_denied")
	denied.setString("description", "Whether firewall rules of the networks deny egress, with a priority number above "+
		"1000. The priority of the rules in this file is 1000.")
	denied.setExpr("type", "bool")
	denied.setExpr("default", "false")
	denied.setBool("nullable", false)

	teamSubnets(b, p)
	teamFirewall(b, p)
	if p.SharesVPC() {
		teamBindings(b, p)
	}
}

// teamSubnets writes the data sources of the subnets whose ranges the firewall rules
// name.
func teamSubnets(b *body, p *ir.Platform) {
	e := p.Network.Existing
	locals := b.block("locals")
	locals.setTokens("network", stringTokens(p.NetworkID()))
	locals.setString("nodes", p.NodeAccount.Email(p.Project))
	locals.note("All subnets that the platform uses.")
	locals.setTokens("subnets", lineTuple(p.UsedSubnets()))
	locals.note("The subnet's secondary range for pods, a list of one.")
	locals.setTokens("pod_ranges", podRanges(p))
	b.note("The firewall rules name the ranges of these subnets.")
	data := b.data("google_compute_subnetwork", "used")
	data.setExpr("for_each", "toset(local.subnets)")
	data.setString("project", e.Project)
	data.setString("region", p.Region)
	data.setExpr("name", "each.key")
}

// subnetRange returns a reference to the primary range of a used subnet.
func subnetRange(name string) hclwrite.Tokens { return subnetField(name, "ip_cidr_range") }

// subnetField returns a reference to a field of a used subnet.
func subnetField(name, field string) hclwrite.Tokens {
	return slices.Concat(traversalTokens("data", "google_compute_subnetwork", "used"),
		hclwrite.Tokens{newToken(hclsyntax.TokenOBrack, "[")}, stringTokens(name),
		hclwrite.Tokens{newToken(hclsyntax.TokenCBrack, "]"), newToken(hclsyntax.TokenDot, "."),
			newToken(hclsyntax.TokenIdent, field)})
}

// podRanges returns an expression for the range of the pods.
func podRanges(p *ir.Platform) hclwrite.Tokens {
	secondary := hclwrite.Tokens{newToken(hclsyntax.TokenOBrack, "["), newlineToken(),
		newToken(hclsyntax.TokenIdent, "for range in")}
	secondary = append(secondary, subnetField(p.Network.Subnet, "secondary_ip_range")...)
	secondary = append(secondary, newToken(hclsyntax.TokenIdent, ": range.ip_cidr_range"), newlineToken(),
		newToken(hclsyntax.TokenIdent, "if range.range_name =="))
	secondary = append(secondary, stringTokens(p.Network.Existing.PodRange)...)
	return append(secondary, newlineToken(), newToken(hclsyntax.TokenCBrack, "]"))
}

// controlPlaneSource returns the range from which the control plane calls the nodes.
func controlPlaneSource(p *ir.Platform) hclwrite.Tokens {
	switch e := p.Network.Existing; {
	case p.Network.ControlPlane != "":
		return stringTokens(p.Network.ControlPlane)
	case e.ControlPlaneSubnet != "":
		return subnetRange(e.ControlPlaneSubnet)
	}
	return subnetRange(p.Network.Subnet)
}

// teamRule is a firewall rule of the network's owners. Its targets are the nodes.
type teamRule struct {
	label       string // of the resource
	suffix      string // of the rule's name
	description string
	network     hclwrite.Tokens
	// egress reports whether the rule is for a network that denies egress. Other rules
	// are ingress rules.
	egress bool
	ranges hclwrite.Tokens // sources, or destinations of egress
	allow  []allowed
}

// allowed is a protocol that a firewall rule allows, on all ports if it names none.
type allowed struct {
	protocol string
	ports    []string
}

// betweenGPUs are the protocols of the networks between GPUs.
var betweenGPUs = []allowed{{protocol: "tcp"}, {protocol: "udp"}, {protocol: "icmp"}}

// writeTeamRule writes a firewall rule of the network's owners.
func writeTeamRule(b *body, p *ir.Platform, r teamRule) {
	f := b.resource("google_compute_firewall", r.label)
	direction, ranges := "INGRESS", "source_ranges"
	if r.egress {
		f.setExpr("count", "var.egress_is_denied ? 1 : 0")
		direction, ranges = "EGRESS", "destination_ranges"
	}
	f.setString("project", p.Network.Existing.Project)
	f.setTokens("name", hclwrite.TokensForFunctionCall("join", stringTokens("-"),
		tupleTokens(traversalTokens("var", "rule_prefix"), stringTokens(r.suffix))))
	f.setString("description", r.description)
	f.setTokens("network", r.network)
	f.setString("direction", direction)
	f.setTokens(ranges, r.ranges)
	f.setExpr("target_service_accounts", "[local.nodes]")
	for _, each := range r.allow {
		a := f.block("allow")
		a.setString("protocol", each.protocol)
		if each.ports != nil {
			a.setStrings("ports", each.ports)
		}
	}
	firewallLogs(f, p.Security)
}

func teamFirewall(b *body, p *ir.Platform) {
	if p.OwnsCluster() { // otherwise the controllers run on nodes of others
		webhooks := webhookServers(p)
		b.note("GKE lets a private control plane reach only ports 443 and 10250 of the nodes. The", webhooks.note)
		writeTeamRule(b, p, teamRule{
			label: "webhooks", suffix: "webhooks",
			description: "Lets the control plane of " + p.Name + " call webhooks on its nodes.",
			network:     traversalTokens("local", "network"), ranges: tupleTokens(controlPlaneSource(p)),
			allow: []allowed{{"tcp", webhooks.ports}},
		})
	}
	teamGPUs(b, p, false)
	teamEgress(b, p)
}

// teamGPUs writes the rules, in one direction, of the networks between GPUs.
func teamGPUs(b *body, p *ir.Platform, egress bool) {
	for _, n := range p.Network.GPUs {
		if n.Profile != "" { // an RDMA network supports no firewall rules
			continue
		}
		var ranges []hclwrite.Tokens
		for _, s := range n.Subnets {
			ranges = append(ranges, subnetRange(s.Name))
		}
		r := teamRule{
			label: "gpu_" + resourceLabel(n.Short), suffix: n.Short,
			description: "Lets the GPU nodes of " + p.Name + " reach each other.",
			network:     stringTokens(p.NetworkPath(n.Name)), egress: egress, ranges: tupleTokens(ranges...),
			allow: betweenGPUs,
		}
		if egress {
			r.label, r.suffix = "egress_"+r.label, "egress-"+r.suffix
		}
		writeTeamRule(b, p, r)
	}
}

// privateGoogleAccess are the addresses of private.googleapis.com and
// restricted.googleapis.com. Source: VPC documentation, "Configure Private Google Access".
var privateGoogleAccess = []string{"199.36.153.4/30", "199.36.153.8/30"}

// teamEgress writes the rules of a network that denies egress. Source: GKE documentation,
// "Automatically created firewall rules", which are ingress rules only.
func teamEgress(b *body, p *ir.Platform) {
	b.note("Nodes reach each other, all pods, and the control plane. GKE itself makes only ingress",
		"rules.")
	nodes := subnetRange(p.Network.Subnet)
	destinations := []hclwrite.Tokens{nodes}
	if source := controlPlaneSource(p); string(source.Bytes()) != string(nodes.Bytes()) {
		destinations = append(destinations, source)
	}
	writeTeamRule(b, p, teamRule{
		label: "egress_cluster", suffix: "egress-cluster",
		description: "Lets the nodes of " + p.Name + " reach the cluster.",
		network:     traversalTokens("local", "network"), egress: true,
		ranges: hclwrite.TokensForFunctionCall("concat", tupleTokens(destinations...),
			traversalTokens("local", "pod_ranges")),
		allow: []allowed{{protocol: "all"}},
	})
	b.note("Nodes reach Google APIs over Private Google Access. The DNS of the network must lead their",
		"names to these addresses, and a route must lead the addresses to the default internet",
		"gateway.")
	writeTeamRule(b, p, teamRule{
		label: "egress_google", suffix: "egress-google",
		description: "Lets the nodes of " + p.Name + " reach Google APIs.",
		network:     traversalTokens("local", "network"), egress: true,
		ranges: hclwrite.TokensForValue(stringTuple(privateGoogleAccess)), allow: []allowed{{"tcp", []string{"443"}}},
	})
	teamGPUs(b, p, true)
}

// teamBindings writes the IAM bindings of a Shared VPC. Sources: GKE documentation, "Set
// up clusters with Shared VPC"; Cloud Foundation Fabric, modules/project,
// sharedvpc-agent-iam.yaml.
func teamBindings(b *body, p *ir.Platform) {
	host := p.Network.Existing.Project
	b.note("The build of the platform and Google's agents in its project may use the subnets, and no",
		"others.")
	members := b.block("locals")
	members.setTokens("network_users", objectTokens([]entry{
		{"build", stringTokens("serviceAccount:" + p.Delivery.Account.Email(p.Project))},
		{"compute", sourceTokens(`"serviceAccount:${var.platform_number}@cloudservices.gserviceaccount.com"`)},
		{"container", sourceTokens(`"serviceAccount:service-${var.platform_number}@` +
			`container-engine-robot.iam.gserviceaccount.com"`)},
	}))
	users := b.resource("google_compute_subnetwork_iam_member", "users")
	users.setExpr("for_each", `{
  for pair in setproduct(local.subnets, keys(local.network_users)) :
  "${pair[0]}/${pair[1]}" => { subnet = pair[0], member = local.network_users[pair[1]] }`+ofAgents(p)+`
}`)
	users.setString("project", host)
	users.setString("region", p.Region)
	users.setExpr("subnetwork", "each.value.subnet")
	users.setString("role", "roles/compute.networkUser")
	users.setExpr("member", "each.value.member")

	if !p.OwnsCluster() {
		return // the cluster has the other bindings and services already
	}
	b.note("GKE's agent in the platform's project makes the cluster's own firewall rules through the",
		"agent of this project.")
	agent := b.resource("google_project_iam_member", "host_service_agent_user")
	agent.setString("project", host)
	agent.setString("role", "roles/container.hostServiceAgentUser")
	agent.setExpr("member", "local.network_users.container")

	b.note("GKE needs these services in the project of the network, too.")
	services := b.resource("google_project_service", "gke")
	services.setExpr("for_each", `toset(["compute.googleapis.com", "container.googleapis.com"])`)
	services.setString("project", host)
	services.setExpr("service", "each.key")
	services.setLiteral("disable_on_destroy", cty.False)
}

// ofAgents restricts the bindings in the network of a cluster that others own. Google's
// agents may use the subnet of the cluster already, and must keep the right when the
// bindings of the platform are deleted.
func ofAgents(p *ir.Platform) constant {
	if p.OwnsCluster() {
		return ""
	}
	return constant("\n  if pair[1] == \"build\" || pair[0] != " + strconv.Quote(p.Network.Subnet))
}
