package terraform

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// clusterName, clusterLocation and workloadPool return expressions for facts of the
// cluster. For a cluster that the platform creates they refer to its resource, so that
// Terraform creates the cluster first. For a cluster that others own they are variables,
// so that Terraform reads nothing from Google Cloud to plan the platform.
func clusterName(p *ir.Platform) constant {
	if p.OwnsCluster() {
		return "google_container_cluster.main.name"
	}
	return "var.cluster_name"
}

func clusterLocation(p *ir.Platform) constant {
	if p.OwnsCluster() {
		return "google_container_cluster.main.location"
	}
	return "var.cluster_location"
}

func workloadPool(p *ir.Platform) constant {
	if p.OwnsCluster() {
		return "google_container_cluster.main.workload_identity_config[0].workload_pool"
	}
	return `"${var.project_id}.svc.id.goog"`
}

// platformName returns an expression for the name of the platform, which is also the name
// of a cluster that it creates. Several platforms can be in a cluster that others own.
func platformName(p *ir.Platform) constant {
	if p.OwnsCluster() {
		return "var.cluster_name"
	}
	return "var.platform"
}

// existingClusterVariables returns the variables that only a cluster of others needs.
func existingClusterVariables(p *ir.Platform) []variable {
	return []variable{
		{
			"platform", "string", "Name of the platform, which is part of labels and titles.", stringValue(p.Name),
			`can(regex("^[a-z]([-a-z0-9]{0,22}[a-z0-9])?$", var.platform))`,
			"A platform's name begins with a letter, and has at most 24 lower-case letters, digits and dashes.",
		},
		{
			"cluster_location", "string", "Region or zone of the control plane.", stringValue(p.Cluster.Location),
			`can(regex("^[a-z]+-[a-z]+[0-9]+(-[a-z0-9]+)?$", var.cluster_location))`,
			"A location looks like us-central1 or us-central1-a.",
		},
	}
}

// existingCluster writes the check of a cluster that others own. Terraform prints a warning
// for each assertion that fails, and continues. An error in a condition would stop it, so
// the conditions try to read the fields. The step "cluster" of the build compares the same
// facts, and stops.
func existingCluster(b *body, p *ir.Platform) {
	b.note("The cluster belongs to others, and this folder changes nothing in it except its own node",
		"pools. Terraform reads the cluster only to warn: a check never stops a plan.")
	check := b.block("check", "cluster")
	data := check.data("google_container_cluster", "main")
	data.setExpr("name", "var.cluster_name")
	data.setExpr("location", "var.cluster_location")
	data.setExpr("project", "var.project_id")
	assert := func(condition constant, message string) {
		a := check.block("assert")
		a.setExpr("condition", "try("+condition+", false)")
		a.setExpr("error_message", constant(`"Cluster ${var.cluster_name} `+message+`"`))
	}
	const cluster = "data.google_container_cluster.main"
	assert("!"+cluster+".enable_autopilot", "is an Autopilot cluster, which has no node pools.")
	assert(cluster+`.workload_identity_config[0].workload_pool == `+workloadPool(p),
		"has no Workload Identity Federation, so jobs have no identities of their own.")
	e := p.Cluster.Existing
	if e.DataplaneV2 {
		assert(cluster+`.datapath_provider == "ADVANCED_DATAPATH"`,
			"does not use Dataplane V2, so nothing enforces network policies.")
	}
	if p.Cluster.MultiNetworking {
		assert(cluster+".enable_multi_networking", "has no multi-networking, so nodes have no networks for GPUs.")
	}
	if p.Cluster.SecurityGroup != "" {
		assert(cluster+`.authenticator_groups_config[0].security_group == var.security_group`,
			"has another security group, so the groups of the teams have no rights.")
	}
	for _, limit := range p.AutoProvisioning.Limits {
		assert(constant("anytrue([for limit in "+cluster+".cluster_autoscaling[0].resource_limits : limit.resource_type == "+
			strconv.Quote(limit.Type)+" && limit.maximum >= "+strconv.Itoa(limit.Max)+"])"),
			"has a lower limit of auto-provisioning for "+limit.Type+" than the blueprint says.")
	}
}
