package cloudbuild

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// provisionBuild returns the build that creates the platform, or changes it to match
// the deploy folder.
//
// The bucket of the state must exist: creating a bucket takes a permission on the
// whole project. The person who runs create-platform.sh has it; the build does not
// need it. The build ensures that the bucket is safe for keeping state.
func provisionBuild(p *ir.Platform) build {
	tasks := []task{
		checkSettings(p),
		awaitAccess(p, testedPermissions(p, provisioning), "./create-platform.sh"),
	}
	if p.Network.Existing != nil {
		tasks = append(tasks, checkNetwork(p))
	}
	if !p.OwnsCluster() {
		tasks = append(tasks, checkCluster(p))
	}
	tasks = append(tasks, takeTurn(p))
	scheduler := schedulerOf(p)
	if p.Delivery.InfrastructureManager {
		tasks = append(tasks, scheduler.retire...)
		tasks = append(tasks, infrastructureManager(p, 14400, "infrastructure", readScript("infrastructure.sh")))
	} else {
		bucket := commandStep(p, 300, "state-bucket", "gcloud", "storage", "buckets", "update")
		bucket.Args = append(bucket.Args, "gs://$"+ir.StateBucketSubstitution, "--versioning",
			"--uniform-bucket-level-access", "--public-access-prevention")
		tasks = append(tasks, bucket, unlockState(p), terraformInit(p),
			terraformStep(p, 3600, "terraform-plan", "plan", "-input=false", "-lock-timeout=300s",
				"-out=platform.tfplan"))
		tasks = append(tasks, scheduler.retire...)
		tasks = append(tasks,
			terraformStep(p, 10800, "terraform-apply", "apply", "-input=false", "-lock-timeout=300s",
				"platform.tfplan"))
	}
	if p.OwnsCluster() {
		tasks = append(tasks, collectMetrics(p))
	}
	if p.Delivery.GitOps.On() {
		return newBuild(p, "provision", append(tasks, withoutManifests(p)...)...)
	}
	tasks = append(tasks, credentials(p))
	// The scheduler comes before the controllers of jobs: a scheduler that is down or
	// partly installed may refuse their Deployments, and this step repairs the
	// scheduler. Kueue waits for kinds that do not exist yet.
	tasks = append(tasks, scheduler.install...)
	for _, c := range p.InstalledControllers() {
		tasks = append(tasks, installRelease(p, c.Field, "controllers/"+c.Field+".sh", c.Release(),
			variable{"NAMESPACE", c.Namespace}))
	}
	tasks = append(tasks,
		scriptStep(p, 300, "priorities", readScript("priorities.sh"), variable{"PLATFORM", platformSelector(p)}))
	tasks = append(tasks, scheduler.prepare...)
	tasks = append(tasks,
		commandStep(p, 7200, "manifests", "kubectl", "apply", "--server-side", "--force-conflicts",
			"--field-manager=batchwright", "-k", "kubernetes"),
		scheduler.queues)
	if !p.InstallsScheduler() {
		tasks = append(tasks, checkManaged(p))
	}
	if p.Monitoring.TensorBoard != "" {
		tasks = append(tasks, tensorBoard(p))
	}
	if p.Monitoring.Grafana {
		tasks = append(tasks, scriptStep(p, 300, "dashboards", readScript("dashboards.sh"),
			variable{"NAMESPACE", p.Monitoring.GrafanaNamespace}, variable{"PLATFORM", platformSelector(p)}))
	}
	tasks = append(tasks, applyOwn(p)...)
	return newBuild(p, "provision", tasks...)
}

// checkNetwork returns the step that compares an existing network with what the platform
// needs.
func checkNetwork(p *ir.Platform) task {
	e := p.Network.Existing
	subnet := func(name, network string, prefix int) string {
		return name + ":" + network + ":" + strconv.Itoa(prefix)
	}
	subnets := []string{subnet(p.Network.Subnet, p.Network.Name, e.NodePrefix)}
	if e.ControlPlaneSubnet != "" {
		subnets = append(subnets, subnet(e.ControlPlaneSubnet, p.Network.Name, ir.SmallestSubnet))
	}
	for _, n := range p.Network.GPUs {
		for _, s := range n.Subnets {
			subnets = append(subnets, subnet(s.Name, n.Name, e.GPUPrefix))
		}
	}
	ranges := []string{
		e.PodRange + ":" + strconv.Itoa(e.PodPrefix), e.ServiceRange + ":" + strconv.Itoa(e.ServicePrefix),
	}
	agent := ""
	if p.SharesVPC() && p.OwnsCluster() {
		agent = p.Project
	}
	return scriptStep(p, 300, "network", readScript("network.sh"), variable{"NETWORK_PROJECT", e.Project},
		variable{"AGENT_PROJECT", agent}, variable{"REGION", p.Region}, variable{"SUBNETS", strings.Join(subnets, " ")},
		variable{"RANGES", strings.Join(ranges, " ")})
}

// withoutManifests returns the tasks in the cluster of a build that leaves the manifests
// to a GitOps tool. Only the name of the TensorBoard is not in the folder.
func withoutManifests(p *ir.Platform) []task {
	if p.Monitoring.TensorBoard == "" {
		return nil
	}
	return []task{credentials(p), tensorBoard(p)}
}

// gcloudMetrics are the components of metrics for which gcloud has another name than the
// API.
//
// Source: reference of "gcloud container clusters update", --monitoring.
var gcloudMetrics = map[string]string{"APISERVER": "API_SERVER", "SYSTEM_COMPONENTS": "SYSTEM"}

// collectMetrics returns the step that brings a changed list of metrics to a cluster that
// exists. Terraform ignores the list.
func collectMetrics(p *ir.Platform) task {
	components := mapElements(p.Cluster.Metrics, func(m string) string { return cmp.Or(gcloudMetrics[m], m) })
	return scriptStep(p, 1800, "metrics", readScript("metrics.sh"),
		variable{"PROJECT", p.Project}, variable{"REGION", p.Cluster.Location}, variable{"CLUSTER", p.Cluster.Name},
		variable{"METRICS", strings.Join(p.Cluster.Metrics, " ")},
		variable{"COMPONENTS", strings.Join(components, ",")})
}

// credentials returns the step that connects later steps to the cluster.
func credentials(p *ir.Platform) task {
	return commandStep(p, 300, "credentials",
		"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, "--project="+p.Project,
		"--location="+p.Cluster.Location, endpointFlag(p))
}

// tensorBoard returns the step that tells the teams' jobs the name of the TensorBoard.
func tensorBoard(p *ir.Platform) task {
	return scriptStep(p, 600, "tensorboard", readScript("tensorboard.sh"),
		variable{"PROJECT", p.Project}, variable{"REGION", p.Monitoring.TensorBoard},
		variable{"DISPLAY_NAME", p.Name},
		variable{"TEAMS", teamSelector(p)}, variable{"CONFIG", ir.TensorBoardConfig},
		variable{"KEY", ir.TensorBoardKey})
}

// rolePermissions maps each role that the builds can have to the permissions that the
// provisioning and the destroying build need of it, which Google Cloud checks on the project
// (IAM documentation: "IAM roles and permissions index"). It omits logging.logWriter and
// config.agent, because no other step needs them at its start, and storage.admin, because its
// condition names buckets.
var rolePermissions = map[string][2]string{
	"roles/compute.networkAdmin":         {"compute.networks.create", "compute.networks.delete"},
	"roles/compute.networkUser":          {"compute.subnetworks.use", "compute.subnetworks.use"},
	"roles/compute.securityAdmin":        {"compute.firewalls.create", "compute.firewalls.delete"},
	"roles/config.admin":                 {"config.deployments.create", "config.deployments.delete"},
	"roles/container.admin":              {"container.clusters.create", "container.clusters.list"},
	"roles/monitoring.alertPolicyEditor": {"monitoring.alertPolicies.create", "monitoring.alertPolicies.delete"},
	"roles/monitoring.dashboardEditor":   {"monitoring.dashboards.create", "monitoring.dashboards.delete"},
	"roles/artifactregistry.reader": {
		"artifactregistry.repositories.downloadArtifacts", "artifactregistry.repositories.downloadArtifacts",
	},
}

// The columns of rolePermissions.
const provisioning, destroying = 0, 1

// awaitAccess returns the step that waits until the build has the permissions.
// command is the command that grants them.
func awaitAccess(p *ir.Platform, permissions []string, command string) task {
	return scriptStep(p, 900, "access", readScript("access.sh"),
		variable{"PROJECT", p.Project}, variable{"PERMISSIONS", strings.Join(permissions, " ")},
		variable{"COMMAND", command})
}

// testedPermissions returns the permissions that show whether the build's roles have
// taken effect: all permissions of its custom roles, and the permission in a column of
// rolePermissions for each of its other roles. The API tests at most 100 permissions in one call (Resource
// Manager API: projects.testIamPermissions).
func testedPermissions(p *ir.Platform, column int) []string {
	tested := slices.Clone(p.Delivery.Permissions)
	roles := slices.Clone(p.Delivery.Account.Roles)
	for _, r := range p.Delivery.NarrowRoles {
		roles = append(roles, r.Role)
		for _, custom := range p.Delivery.CustomRoles {
			if custom.Name(p.Project) == r.Role {
				tested = append(tested, custom.Permissions...)
			}
		}
	}
	for _, role := range roles {
		if permission := rolePermissions[role][column]; permission != "" {
			tested = append(tested, permission)
		}
	}
	return tested[:min(len(tested), 100)]
}

// platformSelector selects the platform's own objects in the cluster.
func platformSelector(p *ir.Platform) string {
	return ir.LabelPartOf + "=" + p.Name
}

// teamSelector selects the namespaces of the platform's teams.
func teamSelector(p *ir.Platform) string {
	return ir.LabelTeam + "," + platformSelector(p)
}
