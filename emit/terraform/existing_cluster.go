package terraform

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// ofCluster returns the expression for a platform that creates its cluster, or the expression
// for a platform in a cluster that others own.
func ofCluster(p *ir.Platform, own, existing constant) constant {
	if p.OwnsCluster() {
		return own
	}
	return existing
}

// clusterName, clusterLocation and workloadPool return expressions for facts of the
// cluster. For a cluster that the platform creates they refer to its resource, so that
// Terraform creates the cluster first. For a cluster that others own they refer to the
// module cluster, whose outputs are names.
func clusterName(p *ir.Platform) constant {
	return ofCluster(p, "google_container_cluster.main.name", "module.cluster.name")
}

func clusterLocation(p *ir.Platform) constant {
	return ofCluster(p, "google_container_cluster.main.location", "module.cluster.location")
}

func workloadPool(p *ir.Platform) constant {
	return ofCluster(p, "google_container_cluster.main.workload_identity_config[0].workload_pool",
		"module.cluster.workload_pool")
}

// platformName returns an expression for the name of the platform, which is also the name
// of a cluster that it creates. Several platforms can be in a cluster that others own.
func platformName(p *ir.Platform) constant { return ofCluster(p, "var.cluster_name", "var.platform") }

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

// clusterModule is the folder, below the root, of the module that stands for a cluster
// that others own.
const clusterModule = "modules/cluster"

// clusterInputs returns the variables of the module in the order of the files.
func clusterInputs(p *ir.Platform) []moduleInput {
	inputs := []moduleInput{
		textInput("project_id", "Project of the cluster.", traversalTokens("var", "project_id")),
		textInput("name", "Name of the cluster.", traversalTokens("var", "cluster_name")),
		textInput("location", "Region or zone of the control plane.", traversalTokens("var", "cluster_location")),
	}
	if p.Cluster.SecurityGroup != "" {
		inputs = append(inputs, passedInput("security_group", "Google group that contains the teams' groups."))
	}
	return inputs
}

// existingCluster writes the call of the module.
func existingCluster(b *body, p *ir.Platform) {
	b.note("The cluster belongs to others. This folder adds node pools to it, and changes nothing else.")
	callModule(b, "cluster", clusterModule, clusterInputs(p))
}

// clusterOutputs writes the outputs of the module. They are names, so that the node pools do
// not depend on what Terraform reads.
func clusterOutputs(b *body, _ *ir.Platform) {
	writeOutput(b, "name", "Name of the cluster.", "var.name")
	writeOutput(b, "location", "Region or zone of the control plane.", "var.location")
	writeOutput(b, "workload_pool", "Workload Identity pool of the cluster.", `"${var.project_id}.svc.id.goog"`)
}

// clusterMain writes the check of the cluster. Terraform prints a warning for each
// assertion that fails, and continues. An error in a condition would stop it, so the
// conditions try to read the fields. The step "cluster" of the build compares the same
// facts, and stops. The data source stands beside the check, as in existingMain.
func clusterMain(b *body, p *ir.Platform) {
	b.note("The cluster belongs to others. Terraform reads the cluster only to warn: an assertion that",
		"fails stops no plan.")
	data := b.data("google_container_cluster", "main")
	data.setExpr("name", "var.name")
	data.setExpr("location", "var.location")
	data.setExpr("project", "var.project_id")
	check := b.block("check", "cluster")
	assert := func(condition constant, message string) {
		writeAssert(check, "try("+condition+", false)", "Cluster ${var.name} "+message)
	}
	const cluster = "data.google_container_cluster.main"
	assert("!"+cluster+".enable_autopilot", "is an Autopilot cluster, which has no node pools.")
	assert(cluster+`.workload_identity_config[0].workload_pool == "${var.project_id}.svc.id.goog"`,
		"has no Workload Identity Federation, so jobs have no identities of their own.")
	if p.Cluster.Existing.DataplaneV2 {
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
		assert(constant("anytrue([for limit in "+cluster+".cluster_autoscaling[0].resource_limits : "+
			"limit.resource_type == "+strconv.Quote(limit.Type)+" && limit.maximum >= "+strconv.Itoa(limit.Max)+"])"),
			"has a lower limit of auto-provisioning for "+limit.Type+" than the blueprint says.")
	}
}
