package terraform

import (
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
)

// variable is an input of the root with its value for this platform.
type variable struct {
	name        string
	kind        constant
	description string
	value       func() hclwrite.Tokens // called only if the value is written
	condition   constant               // "" for none
	message     string                 // shown for a value that fails the condition
}

// rootVariables returns the root's variables in the order of variables.tf and
// terraform.tfvars. It omits unused variables.
func rootVariables(p *ir.Platform) []variable {
	// Before version 1.9 Terraform does not let a condition refer to another
	// variable.
	zones, message := constant(
		`length(var.zones) > 0 && alltrue([for zone in var.zones : startswith(zone, "${var.region}-")])`),
		"Give at least one zone. Every zone must be in the region."
	if p.Delivery.InfrastructureManager {
		zones, message = `length(var.zones) > 0 && alltrue([for zone in var.zones : `+
			`can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z0-9]+$", zone))])`,
			"Give at least one zone. A zone looks like us-central1-a."
	}
	regionOf := "Region of the control plane, the network and the buckets."
	if !p.OwnsCluster() {
		regionOf = "Region of the node pools and the buckets."
	}
	var vars []variable
	add := func(needed bool, more ...variable) {
		if needed {
			vars = append(vars, more...)
		}
	}
	add(true, projectVariable("project_id", "Google Cloud project of the platform.", p.Project),
		regionVariable("region", regionOf, p.Region),
		variable{
			"zones", "list(string)", "Zones of the nodes. A node pool can use fewer zones.",
			func() hclwrite.Tokens { return hclwrite.TokensForValue(stringTuple(p.Zones)) },
			zones, message,
		},
		variable{
			"cluster_name", "string", "Name of the cluster.", stringValue(p.Cluster.Name),
			`can(regex("^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$", var.cluster_name))`,
			"A cluster name begins with a letter, and has at most 40 lower-case letters, digits and dashes.",
		})
	add(!p.OwnsCluster(), existingClusterVariables(p)...)
	add(true, networkVariablesOfRoot(p)...)
	add(p.OwnsCluster(), variable{
		"authorized_networks", "map(string)",
		"Ranges that may reach the control plane's IP endpoint, by name. If there are none, the endpoint has no " +
			"public address.",
		func() hclwrite.Tokens { return authorizedNetworks(p.Cluster.AuthorizedNetworks) },
		"alltrue([for range in values(var.authorized_networks) : can(cidrhost(range, 0))])",
		"Write every range in CIDR notation, such as 203.0.113.0/24.",
	})
	add(len(p.Labels) > 0, variable{
		"labels", "map(string)", "Labels of all resources that have labels, for cost reports.",
		func() hclwrite.Tokens { return labelTokens(p.Labels) },
		`alltrue([for key, value in var.labels : can(regex("^[a-z][-_a-z0-9]{0,62}$", key)) && ` +
			`can(regex("^[-_a-z0-9]{0,63}$", value))])`,
		"Keys and values have at most 63 lower-case letters, digits, dashes and underscores.",
	})
	for _, r := range p.Network.GPURanges {
		add(true, cidrVariable(r.Name+"_range", gpuRanges[r.Name], r.CIDR))
	}
	add(true, variable{
		"node_account", "string", "Email address of the nodes' service account, which create-platform.sh creates.",
		stringValue(p.NodeAccount.Email(p.Project)),
		`can(regex("^[^@]+@[^@]+$", var.node_account))`,
		"An address looks like NAME@PROJECT.iam.gserviceaccount.com.",
	})
	add(p.Cluster.SecurityGroup != "", variable{
		"security_group", "string", "Google group that contains the teams' groups, for Kubernetes RBAC.",
		stringValue(p.Cluster.SecurityGroup),
		`startswith(var.security_group, "gke-security-groups@")`,
		"GKE accepts only a group named gke-security-groups@DOMAIN.",
	})
	accounts := p.MemberAccounts()
	member, message := constant(`^(user|serviceAccount):[^@]+@[^@]+$`),
		"A member is user:ADDRESS or serviceAccount:ADDRESS."
	if p.HasWorkforce() {
		member = `^((user|serviceAccount):[^@]+@[^@]+|` +
			`principal(Set)?://iam[.]googleapis[.]com/locations/global/workforcePools/.+)$`
		message = "A member is user:ADDRESS, serviceAccount:ADDRESS, or a principal of a workforce identity pool."
	}
	add(len(accounts) > 0, variable{
		"member_accounts", "list(string)",
		"IAM principals of the people and service accounts that submit jobs besides the teams' groups.",
		func() hclwrite.Tokens { return lineTuple(accounts) },
		`alltrue([for member in var.member_accounts : can(regex("` + member + `", member))])`, message,
	})
	add(p.OwnsCluster(), variable{
		name: "deletion_protection", kind: "bool", description: "If true, Terraform refuses to destroy the cluster.",
		value: func() hclwrite.Tokens {
			return hclwrite.TokensForValue(cty.BoolVal(p.Cluster.DeletionProtection))
		},
	})
	add(p.Monitoring.TensorBoard != "",
		regionVariable("tensorboard_region", "Region of the TensorBoard.", p.Monitoring.TensorBoard))
	add(true, variable{
		"notification_channels", "list(string)",
		"Full resource names of the Cloud Monitoring channels that receive the alerts.",
		func() hclwrite.Tokens { return lineTuple(p.Monitoring.NotificationChannels) },
		`alltrue([for channel in var.notification_channels : ` +
			`can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", channel))])`,
		"A channel is named projects/PROJECT/notificationChannels/ID.",
	})
	add(len(p.OwnTeams()) > 0, variable{
		"teams", teamType(p), teamsDescription(p),
		func() hclwrite.Tokens { return teamTokens(p) },
		`alltrue([for team in values(var.teams) : ` +
			`can(regex("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", team.namespace))])`,
		"A namespace has at most 63 lower-case letters, digits and dashes.",
	})
	return vars
}

// networkVariablesOfRoot returns the variables of the cluster's network. The network of a
// cluster that others own is a variable only if the nodes have networks for their GPUs.
func networkVariablesOfRoot(p *ir.Platform) []variable {
	if !p.OwnsCluster() && len(p.Network.GPUs) == 0 {
		return nil
	}
	if !p.OwnsCluster() {
		return []variable{networkProjectVariable(p)}
	}
	var vars []variable
	if p.Network.Existing != nil {
		vars = existingVariables(p)
	} else {
		vars = []variable{
			cidrVariable("node_range", "Primary range of the subnet. Each node takes one address.", p.Network.Nodes),
			cidrVariable("pod_range", "Secondary range of the pods. Each node takes a /24.", p.Network.Pods),
			cidrVariable("service_range", "Secondary range of the Services.", p.Network.Services),
		}
	}
	if p.Network.ControlPlane == "" {
		return vars
	}
	return append(vars, variable{
		"control_plane_range", "string", "Range of the control plane, a /28.", stringValue(p.Network.ControlPlane),
		`can(cidrhost(var.control_plane_range, 0)) && endswith(var.control_plane_range, "/28")`,
		"The range of the control plane must be a /28, such as 172.16.0.32/28.",
	})
}

// gpuRanges maps the kinds of networks between GPUs to the descriptions of their
// address ranges.
var gpuRanges = map[string]string{
	"tcpx":  "Range of the networks between GPUs. Each network takes an eighth of it.",
	"gvnic": "Range of the additional network of nodes with RDMA. Each node takes one address.",
	"rdma":  "Range of the RDMA network. The subnet of each device of a node takes an eighth of it.",
}

// teamType returns the type of the variable teams, with the fields that at least one
// team has.
func teamType(p *ir.Platform) constant {
	fields := constant(`map(object({
  namespace    = string
  kube_account = string
`)
	for _, f := range []struct {
		used bool
		line constant
	}{
		{p.HasTeamAccounts(), "account = optional(string)"},
		{hasRoles(p), "roles = optional(set(string), [])"},
		{p.HasBuckets(), "bucket = optional(string)"},
		{len(p.BucketsWithData(true)) > 0, "delete_bucket_data = optional(bool, false)"},
		{nodesListBuckets(p), "nodes_list_bucket = optional(bool, false)"},
		{labelsBuckets(p), "labels = optional(map(string), {})"},
	} {
		if f.used {
			fields += "  " + f.line + "\n"
		}
	}
	return fields + "}))"
}

// teamsDescription returns the description of the variable teams, with the fields
// that at least one team has.
func teamsDescription(p *ir.Platform) string {
	s := "Teams, by name: the namespace and Kubernetes service account of their jobs"
	if p.HasTeamAccounts() {
		s += ", the Google service account that the jobs act as"
	}
	if hasRoles(p) {
		s += ", their project roles"
	}
	if p.HasBuckets() {
		s += ", their bucket"
	}
	return s + "."
}

// stringValue returns a function for the value of a string variable.
func stringValue(s string) func() hclwrite.Tokens {
	return func() hclwrite.Tokens { return stringTokens(s) }
}

// projectVariable returns a variable for the ID of a project.
func projectVariable(name, description, value string) variable {
	return variable{
		name, "string", description, stringValue(value),
		constant(`can(regex("^[a-z][-a-z0-9]{4,28}[a-z0-9]$", var.` + name + `))`),
		"A project ID has 6 to 30 lower-case letters, digits and dashes.",
	}
}

// regionVariable returns a variable for a region.
func regionVariable(name, description, value string) variable {
	return variable{
		name, "string", description, stringValue(value),
		constant(`can(regex("^[a-z]+-[a-z]+[0-9]+$", var.` + name + `))`),
		"A region looks like us-central1.",
	}
}

// cidrVariable returns a variable for an address range.
func cidrVariable(name, description, value string) variable {
	return variable{
		name, "string", description, stringValue(value),
		constant("can(cidrhost(var." + name + ", 0))"),
		"Write the range in CIDR notation, such as 10.0.0.0/20.",
	}
}

func authorizedNetworks(ranges []ir.NamedRange) hclwrite.Tokens {
	entries := make([]entry, len(ranges))
	for i, r := range ranges {
		entries[i] = entry{r.Name, stringTokens(r.CIDR)}
	}
	return objectTokens(entries)
}

// labelTokens returns the tokens of a map of labels.
func labelTokens(labels []ir.KeyValue) hclwrite.Tokens {
	entries := make([]entry, len(labels))
	for i, l := range labels {
		entries[i] = entry{l.Key, stringTokens(l.Value)}
	}
	return objectTokens(entries)
}

func teamTokens(p *ir.Platform) hclwrite.Tokens {
	teams := p.OwnTeams()
	entries := make([]entry, len(teams))
	for i, t := range teams {
		fields := []entry{
			{"namespace", stringTokens(t.Namespace)},
			{"kube_account", stringTokens(t.KubeAccount)},
		}
		if t.Account != nil {
			fields = append(fields, entry{"account", stringTokens(t.Account.Email(p.Project))})
		}
		if len(t.Roles) > 0 {
			fields = append(fields, entry{"roles", lineTuple(t.Roles)})
		}
		if t.Bucket != "" {
			fields = append(fields, entry{"bucket", stringTokens(t.Bucket)})
		}
		if t.DeletesBucketData {
			fields = append(fields, entry{"delete_bucket_data", hclwrite.TokensForValue(cty.True)})
		}
		if t.NodesListBucket {
			fields = append(fields, entry{"nodes_list_bucket", hclwrite.TokensForValue(cty.True)})
		}
		if t.Bucket != "" && len(t.Labels) > 0 {
			fields = append(fields, entry{"labels", labelTokens(t.Labels)})
		}
		entries[i] = entry{t.Name, objectTokens(fields)}
	}
	return objectTokens(entries)
}

func writeVariables(b *body, p *ir.Platform) { declareVariables(b, rootVariables(p)) }

func writeValues(b *body, p *ir.Platform) { setVariables(b, rootVariables(p)) }

// declareVariables writes the variables of a root.
func declareVariables(b *body, variables []variable) {
	for _, v := range variables {
		block := b.block("variable", v.name)
		block.setString("description", v.description)
		block.setExpr("type", v.kind)
		block.setBool("nullable", false)
		if v.condition != "" {
			validation := block.block("validation")
			validation.setExpr("condition", v.condition)
			validation.setString("error_message", v.message)
		}
	}
}

// setVariables writes the values of a root's variables.
func setVariables(b *body, variables []variable) {
	for _, v := range variables {
		b.setTokens(v.name, v.value())
	}
}
