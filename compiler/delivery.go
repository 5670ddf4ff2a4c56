package compiler

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// delivery completes how a platform is built, of which the blueprint says the
// region, the bucket, and who runs Terraform: it decides where in the bucket the
// state lies, and what the build may do, by the parts of the plan that it makes.
func delivery(p *ir.Platform) ir.Delivery {
	d := p.Delivery
	d.StatePrefix = p.Name + "/terraform" // platforms that share a bucket keep apart
	d.Account = ir.ServiceAccount{ID: p.Name + "-build", Display: "Builds " + p.Name, Roles: buildRoles(p)}
	d.Permissions = buildPermissions(p)
	d.GrantableRoles = grantableRoles(p)
	d.Repository = p.Name
	d.APIs = apis(p)
	return d
}

// nodeRoles returns the roles of the nodes' service account: what GKE demands,
// pulling the teams' images, and streaming them (GKE documentation: "Configure
// GKE node service accounts", "Use Image streaming").
func nodeRoles() []string {
	return []string{
		"roles/artifactregistry.reader",
		"roles/container.defaultNodeServiceAccount",
		"roles/serviceusage.serviceUsageConsumer",
	}
}

// teamRoles returns the roles of a team's service account: its jobs write logs
// and metrics and, where there is a TensorBoard, to that, and whatever the
// blueprint adds. Source: Vertex AI documentation, "Set up Vertex AI TensorBoard".
func teamRoles(extra []string, tensorBoard bool) []string {
	roles := append([]string{"roles/logging.logWriter", "roles/monitoring.metricWriter"}, extra...)
	if tensorBoard {
		roles = append(roles, "roles/aiplatform.user")
	}
	return sorted(roles)
}

// buildRoles returns the roles of the build's service account on the project
// (IAM documentation: "IAM roles and permissions index"). Not among them are
// rights on a single resource, which create-platform.sh grants there, and the
// right to grant roles, which it bounds by ir.Delivery.GrantableRoles.
func buildRoles(p *ir.Platform) []string {
	roles := []string{
		"roles/compute.networkAdmin",    // network, subnet, router, NAT
		"roles/compute.securityAdmin",   // firewall
		"roles/container.admin",         // cluster, node pools and everything in the cluster
		"roles/iam.serviceAccountAdmin", // accounts of the nodes and the teams
		"roles/logging.logWriter",       // the build's own log
		"roles/monitoring.dashboardEditor",
	}
	if len(p.Monitoring.Alerts) > 0 {
		roles = append(roles, "roles/monitoring.alertPolicyEditor")
	}
	// Whoever creates a bucket in a project needs a right on the project.
	if slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Bucket != "" }) {
		roles = append(roles, "roles/storage.admin")
	}
	// Whoever has Infrastructure Manager apply something may manage deployments
	// (roles/config.admin), and it acts as an account with roles/config.agent.
	if p.Delivery.InfrastructureManager {
		roles = append(roles, "roles/config.admin", "roles/config.agent")
	}
	return sorted(roles)
}

// buildPermissions returns what the build needs beside its roles. Of the
// predefined roles only roles/compute.admin and wider ones may create and
// delete a reservation, and those that may make a resource policy or a
// TensorBoard may much else (Vertex AI documentation: "Access control with IAM").
func buildPermissions(p *ir.Platform) []string {
	var out []string
	if p.Monitoring.TensorBoard != "" {
		out = append(out,
			"aiplatform.locations.get", // the operation that makes it
			"aiplatform.tensorboards.create",
			"aiplatform.tensorboards.delete",
			"aiplatform.tensorboards.get",
			"aiplatform.tensorboards.list",
			"aiplatform.tensorboards.update",
		)
	}
	out = append(out, "cloudbuild.builds.list") // a build waits for an older one of the platform
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.Reservation != nil && c.Reservation.Create }) {
		out = append(out,
			"compute.reservationBlocks.get",
			"compute.reservationBlocks.list", // the provider's read of every reservation
			"compute.reservations.create",
			"compute.reservations.delete",
			"compute.reservations.get",
			"compute.reservations.list",
			"compute.reservations.resize",
			"compute.reservations.update",
		)
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.OwnsPools() && c.Machine.PlacementTopology != "" }) {
		out = append(out,
			"compute.resourcePolicies.create",
			"compute.resourcePolicies.delete",
			"compute.resourcePolicies.get",
			"compute.resourcePolicies.list",
		)
	}
	return out
}

func grantableRoles(p *ir.Platform) []string {
	granted := slices.Clone(p.NodeAccount.Roles)
	for _, t := range p.Teams {
		granted = append(granted, t.Account.Roles...)
		if t.Group != "" {
			granted = append(granted, ir.MemberRole)
		}
	}
	return sorted(granted)
}

// apis returns the services behind everything the platform consists of (GKE
// documentation: "Use Image streaming", "Access Filestore instances with the
// Filestore CSI driver"; the others by the documentation of their products).
func apis(p *ir.Platform) []string {
	names := []string{
		"artifactregistry.googleapis.com",
		"cloudbuild.googleapis.com",
		"cloudresourcemanager.googleapis.com",
		"compute.googleapis.com",
		"container.googleapis.com",
		"iam.googleapis.com",
		"iamcredentials.googleapis.com",
		"logging.googleapis.com",
		"monitoring.googleapis.com",
		"serviceusage.googleapis.com",
		"storage.googleapis.com",
	}
	if p.Monitoring.TensorBoard != "" {
		names = append(names, "aiplatform.googleapis.com")
	}
	if p.Delivery.InfrastructureManager {
		names = append(names, "config.googleapis.com")
	}
	if p.Cluster.ImageStreaming {
		names = append(names, "containerfilesystem.googleapis.com")
	}
	if p.Cluster.Filestore {
		names = append(names, "file.googleapis.com")
	}
	return sorted(names)
}
