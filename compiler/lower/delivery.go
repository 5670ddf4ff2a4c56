package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerDelivery completes the description of how a platform is built. The blueprint
// gives the region, the bucket, the machine and the time limit of builds, and who runs
// Terraform. lowerDelivery decides where in the bucket the state is by default,
// and derives the rights of the build from the parts of the plan that the build creates.
func lowerDelivery(p *ir.Platform) ir.Delivery {
	d := p.Delivery
	d.StatePrefix = cmp.Or(d.StatePrefix, p.Name+"/terraform") // keeps platforms that share a bucket apart
	d.Account = ir.ServiceAccount{ID: p.Name + "-build", Display: "Builds " + p.Name, Roles: buildRoles(p)}
	d.NarrowRoles = narrowRoles(p)
	d.Permissions = buildPermissions(p)
	d.CustomRoles = customRoles(p)
	d.GrantableRoles = grantableRoles(p)
	d.Repository = p.Name
	d.APIs = requiredAPIs(p)
	return d
}

// lowerGitOps resolves which GitOps tool applies the objects, and from where. Without
// a source there is nothing to resolve: a rule reports it.
func lowerGitOps(b *schema.Blueprint) ir.GitOps {
	d := b.Delivery
	if d.GitOps == nil || d.Source == nil {
		return ir.GitOps{Tool: ir.GitOpsTool(valueOr(d.GitOps, ""))}
	}
	return ir.GitOps{
		Tool:        ir.GitOpsTool(*d.GitOps),
		Repository:  d.Source.Repository,
		Branch:      d.Source.Branch,
		Path:        valueOr(d.Source.Path, b.Name),
		Secret:      valueOr(d.Source.Secret, ""),
		Destination: valueOr(d.Destination, ""),
	}
}

// lowerNodeAccount resolves the service account of the nodes.
func lowerNodeAccount(b *schema.Blueprint) ir.ServiceAccount {
	nodes := b.Cluster.Nodes
	return ir.ServiceAccount{
		ID: valueOr(nodes.ServiceAccount, b.Name+"-nodes"), Display: "Nodes of " + b.Name,
		Roles: sortedUnique(slices.Concat(ir.RequiredNodeRoles(), nodes.Roles)),
	}
}

// jobRoles returns the roles that every job needs to write logs and metrics.
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

// customRoles returns the custom roles, which exist because the predefined roles are
// too wide: roles/aiplatform.user, which Google recommends for writing to a
// TensorBoard, can run machines in Vertex AI without passing any queue.
//
// In a cluster that others own, the build has a role that cannot delete the cluster and
// that gives no right to an object in it: the owner of the cluster gives the build these
// rights in the cluster itself.
func customRoles(p *ir.Platform) []ir.CustomRole {
	var roles []ir.CustomRole
	if !p.OwnsCluster() {
		roles = append(roles, nodePoolAdmin(p.Name))
	}
	if p.Monitoring.TensorBoard == "" {
		return roles
	}
	roles = append(roles, tensorBoardWriter(p.Name))
	if len(p.Monitoring.MemberRoles) > 0 {
		roles = append(roles, tensorBoardReader(p.Name))
	}
	return roles
}

// roleID returns the ID of a platform's custom role. An ID has no dashes (IAM
// documentation: "Create and manage custom roles").
func roleID(platform, role string) string { return strings.ReplaceAll(platform, "-", "_") + "_" + role }

// nodePoolAdmin returns the role that creates, changes and deletes node pools, and that
// reaches the control plane (GKE documentation: "IAM permissions for the GKE API").
func nodePoolAdmin(platform string) ir.CustomRole {
	return ir.CustomRole{
		ID: roleID(platform, "node_pool_admin"), Title: "Manages the node pools of " + platform,
		Permissions: []string{
			"container.clusters.connect",
			"container.clusters.get",
			"container.clusters.getCredentials",
			"container.clusters.list",
			"container.clusters.update",
			"container.operations.get",
			"container.operations.list",
		},
	}
}

// tensorBoardReads returns the permissions to view a TensorBoard, and the experiment
// that the uploader creates for it in Vertex ML Metadata.
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

// tensorBoardWrites returns the permissions to add data to a TensorBoard in the way
// of the uploader of google-cloud-aiplatform: it creates an experiment in the
// project's metadata store, and the store itself if there is none yet. Source:
// googleapis/python-aiplatform, google/cloud/aiplatform/tensorboard/uploader.py and
// metadata/.
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
// (IAM documentation: "IAM roles and permissions index"). They do not include the
// rights on single resources, which create-platform.sh grants on these resources,
// the roles of narrowRoles, or the right to grant roles, which
// ir.Delivery.GrantableRoles bounds. The build administers no service accounts: an
// account that can set their policies can become any account of the project.
func buildRoles(p *ir.Platform) []string {
	roles := []string{
		"roles/logging.logWriter", // the build's own log
		"roles/monitoring.dashboardEditor",
		"roles/monitoring.alertPolicyEditor",
	}
	switch {
	case p.OwnsNetwork():
		roles = append(roles,
			"roles/compute.networkAdmin",  // network, subnet, router, NAT
			"roles/compute.securityAdmin") // firewall
	case p.Network.Existing != nil && !p.SharesVPC(): // the owners of a Shared VPC grant the role on their subnets
		roles = append(roles, "roles/compute.networkUser")
	}
	// Cloud Build pulls the images of the steps as the account of the build.
	if p.Images.InProject(p.Project) {
		roles = append(roles, "roles/artifactregistry.reader")
	}
	// An account that lets Infrastructure Manager apply a configuration must be able
	// to manage deployments (roles/config.admin); Infrastructure Manager then acts
	// as an account with roles/config.agent.
	if p.Delivery.InfrastructureManager {
		roles = append(roles, "roles/config.admin", "roles/config.agent")
	}
	return sortedUnique(roles)
}

// narrowRoles returns the roles of the build that a condition narrows to the
// cluster, and to buckets with the prefix of the teams' buckets. If another
// platform's name begins with this platform's name and a dash, its buckets have the
// same prefix. Buckets that the blueprint names are in conditions by themselves.
//
// For a permission on a bucket, Cloud Storage gives IAM the name of that bucket (IAM
// documentation: "Resource attributes for IAM Conditions"). The right to create a
// bucket is in buildPermissions, without a condition: no source says whether it is
// checked on the new bucket or on the project.
func narrowRoles(p *ir.Platform) []ir.NarrowRole {
	cluster := ir.NarrowRole{
		Role: "roles/container.admin", Scope: ir.ClusterScope, Title: "Cluster " + p.Cluster.Name,
		Condition: ir.ClusterCondition(p.Project, p.Cluster.Location, p.Cluster.Name),
	}
	if !p.OwnsCluster() {
		cluster.Role = nodePoolAdmin(p.Name).Name(p.Project)
	}
	roles := []ir.NarrowRole{cluster}
	prefix, named := bucketPrefix(p.Project, p.Name), []string(nil)
	derived := false
	for _, t := range p.Teams {
		switch {
		case strings.HasPrefix(t.Bucket, prefix):
			derived = true
		case t.Bucket != "":
			named = append(named, t.Bucket)
		}
	}
	const buckets = "projects/_/buckets/"
	if derived {
		roles = append(roles, ir.NarrowRole{
			Role: "roles/storage.admin", Scope: ir.BucketScope, Title: "Buckets of the teams of " + p.Name,
			Condition: `resource.name.startsWith(` + strconv.Quote(buckets+prefix) + `)`,
		})
	}
	slices.Sort(named)
	i := 0
	for part := range slices.Chunk(named, ir.MaxBucketsPerCondition) {
		i++
		var terms []string
		for _, name := range part { // not the buckets whose names begin with this one
			terms = append(terms, `resource.name == `+strconv.Quote(buckets+name),
				`resource.name.startsWith(`+strconv.Quote(buckets+name+"/")+`)`)
		}
		roles = append(roles, ir.NarrowRole{
			Role: "roles/storage.admin", Scope: ir.NamedScope, Title: fmt.Sprintf("Named buckets %d of %s", i, p.Name),
			Condition: strings.Join(terms, " || "), Buckets: part,
		})
	}
	return roles
}

// buildPermissions returns the permissions that the build needs in addition to its
// roles. Among the predefined roles, only roles/compute.admin and wider roles may
// create and delete a reservation. The roles that may create a resource policy or a
// TensorBoard include many other rights (Vertex AI documentation: "Access control
// with IAM").
func buildPermissions(p *ir.Platform) []string {
	var out []string
	if p.Monitoring.TensorBoard != "" {
		out = append(out,
			"aiplatform.locations.get", // reads the operation that creates the TensorBoard
			"aiplatform.tensorboards.create",
			"aiplatform.tensorboards.delete",
			"aiplatform.tensorboards.get",
			"aiplatform.tensorboards.list",
			"aiplatform.tensorboards.update",
		)
	}
	out = append(out, "cloudbuild.builds.list") // a build waits for an older build of the platform
	if !p.OwnsNetwork() {                       // otherwise roles/compute.networkAdmin has it
		out = append(out, "compute.instanceGroupManagers.list") // the provider's read of every node pool
	}
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
	if p.HasMembers() {
		granted = append(granted, ir.MemberRole)
	}
	return sortedUnique(granted)
}

// requiredAPIs returns the services that the platform needs (GKE documentation: "Use
// Image streaming", "Access Filestore instances with the Filestore CSI driver"; for
// the others, the documentation of their products).
func requiredAPIs(p *ir.Platform) []string {
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
