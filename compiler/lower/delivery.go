package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// delivery completes how a platform is built, of which the blueprint says the
// region, the bucket, and who runs Terraform: it decides where in the bucket the
// state lies, and what the build may do, by the parts of the plan that it makes.
func delivery(p *ir.Platform) ir.Delivery {
	d := p.Delivery
	d.StatePrefix = p.Name + "/terraform" // platforms that share a bucket keep apart
	d.Account = ir.ServiceAccount{ID: p.Name + "-build", Display: "Builds " + p.Name, Roles: buildRoles(p)}
	d.NarrowRoles = narrowRoles(p)
	d.Permissions = buildPermissions(p)
	d.CustomRoles = customRoles(p)
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

// jobRoles returns what every job needs: it writes logs and metrics.
func jobRoles() []string {
	return []string{"roles/logging.logWriter", "roles/monitoring.metricWriter"}
}

// memberRoles returns the roles with which the members of the teams' groups open
// the dashboards and the TensorBoard. roles/aiplatform.tensorboardWebAppUser holds
// one permission, aiplatform.tensorboards.recordAccess, to use the TensorBoard web
// application (Vertex AI documentation: "Access control with IAM").
func memberRoles(p *ir.Platform) []string {
	roles := []string{"roles/monitoring.viewer"}
	if p.Monitoring.TensorBoard != "" {
		roles = append(roles, "roles/aiplatform.tensorboardWebAppUser", tensorBoardReader(p.Name).Name(p.Project))
	}
	return sortedUnique(roles)
}

// customRoles returns the roles that predefined ones are too wide for:
// roles/aiplatform.user, which Google recommends for writing to a TensorBoard, runs
// machines in Vertex AI past every queue.
func customRoles(p *ir.Platform) []ir.CustomRole {
	if p.Monitoring.TensorBoard == "" {
		return nil
	}
	roles := []ir.CustomRole{tensorBoardWriter(p.Name)}
	if len(p.Monitoring.MemberRoles) > 0 {
		roles = append(roles, tensorBoardReader(p.Name))
	}
	return roles
}

// roleID returns the ID of a custom role of a platform. It has no dashes (IAM
// documentation: "Create and manage custom roles").
func roleID(platform, role string) string { return strings.ReplaceAll(platform, "-", "_") + "_" + role }

// tensorBoardReads returns the permissions to look at a TensorBoard, and at the
// experiment that the uploader makes for it in Vertex ML Metadata.
func tensorBoardReads() []string {
	return []string{
		"aiplatform.artifacts.get",
		"aiplatform.artifacts.list",
		"aiplatform.contexts.get",
		"aiplatform.contexts.list",
		"aiplatform.contexts.queryContextLineageSubgraph",
		"aiplatform.executions.get",
		"aiplatform.executions.list",
		"aiplatform.executions.queryExecutionInputsAndOutputs",
		"aiplatform.locations.get",
		"aiplatform.metadataSchemas.get",
		"aiplatform.metadataSchemas.list",
		"aiplatform.metadataStores.get",
		"aiplatform.metadataStores.list",
		"aiplatform.tensorboardExperiments.get",
		"aiplatform.tensorboardExperiments.list",
		"aiplatform.tensorboardRuns.get",
		"aiplatform.tensorboardRuns.list",
		"aiplatform.tensorboardTimeSeries.batchRead",
		"aiplatform.tensorboardTimeSeries.get",
		"aiplatform.tensorboardTimeSeries.list",
		"aiplatform.tensorboardTimeSeries.read",
		"aiplatform.tensorboards.get",
		"aiplatform.tensorboards.list",
	}
}

// tensorBoardWrites returns the permissions to add to a TensorBoard, as the uploader of
// google-cloud-aiplatform does: it makes an experiment in the project's metadata
// store, and the store if there is none yet. Source: googleapis/python-aiplatform,
// google/cloud/aiplatform/tensorboard/uploader.py and metadata/.
func tensorBoardWrites() []string {
	return []string{
		"aiplatform.artifacts.create",
		"aiplatform.artifacts.update",
		"aiplatform.contexts.addContextArtifactsAndExecutions",
		"aiplatform.contexts.addContextChildren",
		"aiplatform.contexts.create",
		"aiplatform.contexts.update",
		"aiplatform.executions.addExecutionEvents",
		"aiplatform.executions.create",
		"aiplatform.executions.update",
		"aiplatform.metadataSchemas.create",
		"aiplatform.metadataStores.create",
		"aiplatform.tensorboardExperiments.create",
		"aiplatform.tensorboardExperiments.update",
		"aiplatform.tensorboardExperiments.write",
		"aiplatform.tensorboardRuns.batchCreate",
		"aiplatform.tensorboardRuns.create",
		"aiplatform.tensorboardRuns.update",
		"aiplatform.tensorboardRuns.write",
		"aiplatform.tensorboardTimeSeries.batchCreate",
		"aiplatform.tensorboardTimeSeries.create",
		"aiplatform.tensorboardTimeSeries.update",
	}
}

func tensorBoardReader(platform string) ir.CustomRole {
	return ir.CustomRole{
		ID: roleID(platform, "tensorboard_reader"), Title: "Reads the TensorBoard of " + platform,
		Permissions: tensorBoardReads(),
	}
}

func tensorBoardWriter(platform string) ir.CustomRole {
	return ir.CustomRole{
		ID: roleID(platform, "tensorboard_writer"), Title: "Writes to the TensorBoard of " + platform,
		Permissions: sortedUnique(slices.Concat(tensorBoardReads(), tensorBoardWrites())),
	}
}

// buildRoles returns the roles of the build's service account on the whole project
// (IAM documentation: "IAM roles and permissions index"). They do not include
// rights on a single resource, which create-platform.sh grants there, the roles of
// narrowRoles, and the right to grant roles, which ir.Delivery.GrantableRoles
// bounds. The build administers no service accounts: whoever may set their
// policies can become any account of the project.
func buildRoles(p *ir.Platform) []string {
	roles := []string{
		"roles/compute.networkAdmin",  // network, subnet, router, NAT
		"roles/compute.securityAdmin", // firewall
		"roles/logging.logWriter",     // the build's own log
		"roles/monitoring.dashboardEditor",
	}
	if len(p.Monitoring.Alerts) > 0 {
		roles = append(roles, "roles/monitoring.alertPolicyEditor")
	}
	// Whoever has Infrastructure Manager apply something may manage deployments
	// (roles/config.admin), and it acts as an account with roles/config.agent.
	if p.Delivery.InfrastructureManager {
		roles = append(roles, "roles/config.admin", "roles/config.agent")
	}
	return sortedUnique(roles)
}

// narrowRoles returns the roles of the build that a condition narrows to the
// cluster, and to buckets of the teams' prefix. A platform whose name begins with
// this one's and a dash has buckets of the same prefix.
//
// Cloud Storage names the bucket that it checks a permission for (IAM
// documentation: "Resource attributes for IAM Conditions"). The right to create one
// is among buildPermissions, without a condition: no source says whether it is
// checked on the new bucket or on the project.
func narrowRoles(p *ir.Platform) []ir.NarrowRole {
	roles := []ir.NarrowRole{{
		Role: "roles/container.admin", Scope: ir.ClusterScope, Title: "Cluster " + p.Cluster.Name,
		Condition: ir.ClusterCondition(p.Project, p.Region, p.Cluster.Name),
	}}
	if p.HasBuckets() {
		prefix := "projects/_/buckets/" + bucketPrefix(p.Project, p.Name)
		roles = append(roles, ir.NarrowRole{
			Role: "roles/storage.admin", Scope: ir.BucketScope, Title: "Buckets of the teams of " + p.Name,
			Condition: `resource.name.startsWith(` + strconv.Quote(prefix) + `)`,
		})
	}
	return roles
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
	if p.HasBuckets() {
		out = append(out, "storage.buckets.create")
	}
	return out
}

func grantableRoles(p *ir.Platform) []string {
	granted := slices.Concat(p.NodeAccount.Roles, p.JobRoles, p.Monitoring.MemberRoles)
	for _, t := range p.Teams {
		granted = append(granted, t.Roles...)
	}
	if p.HasGroups() {
		granted = append(granted, ir.MemberRole)
	}
	return sortedUnique(granted)
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
	if p.Security.KMSKey != "" {
		names = append(names, "cloudkms.googleapis.com")
	}
	if p.Security.BinaryAuthorization {
		names = append(names, "binaryauthorization.googleapis.com")
	}
	if p.Security.Posture {
		names = append(names, "containersecurity.googleapis.com")
	}
	return sortedUnique(names)
}
