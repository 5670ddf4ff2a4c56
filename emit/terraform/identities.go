package terraform

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

// nodeMember is the principal of the nodes' service account.
const nodeMember constant = `"serviceAccount:${var.node_account}"`

// hasRoles reports whether the jobs of some team have project roles of their own.
func hasRoles(p *ir.Platform) bool {
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return len(t.Roles) > 0 })
}

func writeIdentities(b *body, p *ir.Platform) {
	b.note("Roles of the nodes' service account. create-platform.sh creates the account, because",
		"the build that runs Terraform may not create service accounts.")
	projectRoles(b, "nodes", p.NodeAccount.Roles, nodeMember)
	if len(p.Teams) > 0 {
		teamIdentities(b, p)
	}
	writeMembers(b, p)
}

// projectRoles grants literal roles on the project to one principal.
func projectRoles(b *body, name string, roles []string, member constant) *body {
	grant := b.resource("google_project_iam_member", name)
	grant.setTokens("for_each", hclwrite.TokensForFunctionCall("toset", lineTuple(roles)))
	grant.setExpr("project", "var.project_id")
	grant.setExpr("role", "each.key")
	grant.setExpr("member", member)
	return grant
}

// writeMembers lets the teams' members reach the cluster, and open the dashboards and
// the TensorBoard instance that the platform has: the members of the teams' groups
// through the group of these groups, and other members one by one. Each binding has a
// condition that is specific to this platform. Without it, the binding could also
// belong to another platform with the same members: IAM distinguishes bindings of one
// role by their conditions (IAM documentation: "Allow policies").
func writeMembers(b *body, p *ir.Platform) {
	if p.HasGroups() {
		b.note("The group contains the groups of all teams. This role lets their members connect to",
			"the cluster. RBAC in each team's namespace decides what they may do there.")
		reachCluster(b, p, "members", "", `"group:${var.security_group}"`)
	}
	accounts := len(p.MemberAccounts()) > 0
	if accounts {
		b.note("This role lets the teams' members that the blueprint lists connect to the cluster. RBAC",
			"in each team's namespace decides what they may do there.")
		reachCluster(b, p, "member_accounts", "toset(var.member_accounts)", "each.key")
	}
	if len(p.Monitoring.MemberRoles) == 0 {
		return
	}
	opened := constant("dashboards.")
	if p.Monitoring.TensorBoard != "" {
		opened = "dashboards and the TensorBoard."
	}
	if p.HasGroups() {
		b.note("These roles let the members of the teams' groups open the " + opened)
		alwaysHolds(p, projectRoles(b, "viewers", p.Monitoring.MemberRoles, `"group:${var.security_group}"`))
	}
	if accounts {
		b.note("These roles let the teams' members that the blueprint lists open the " + opened)
		b.block("locals").setTokens("viewer_roles", lineTuple(p.Monitoring.MemberRoles))
		viewers := b.resource("google_project_iam_member", "viewer_accounts")
		viewers.setExpr("for_each", `{
  for pair in setproduct(local.viewer_roles, var.member_accounts) : "${pair[0]} ${pair[1]}" => pair
}`)
		viewers.setExpr("project", "var.project_id")
		viewers.setExpr("role", "each.value[0]")
		viewers.setExpr("member", "each.value[1]")
		alwaysHolds(p, viewers)
	}
}

// reachCluster grants the role that lets a member connect to the cluster: to one
// member, or to each element of the set that the expression each gives.
func reachCluster(b *body, p *ir.Platform, name string, each, member constant) {
	grant := b.resource("google_project_iam_member", name)
	if each != "" {
		grant.setExpr("for_each", each)
	}
	grant.setExpr("project", "var.project_id")
	grant.setString("role", ir.MemberRole)
	grant.setExpr("member", member)
	only := grant.block("condition")
	location := "${var.region}"
	if p.OwnsCluster() {
		only.setExpr("title", `"Cluster ${var.cluster_name}"`)
	} else { // other platforms in the cluster have bindings of their own
		only.setExpr("title", `"Cluster ${var.cluster_name}, platform ${var.platform}"`)
		location = "${var.cluster_location}"
	}
	only.setExpr("expression",
		constant(strconv.Quote(ir.ClusterCondition("${var.project_id}", location, "${var.cluster_name}"))))
}

// alwaysHolds gives a binding a condition that is always true.
func alwaysHolds(p *ir.Platform, grant *body) {
	grant.note("The condition is always true. It makes this binding differ from the binding of another",
		"platform in the project: if both used the same binding, destroying the other platform",
		"would delete it.")
	always := grant.block("condition")
	always.setExpr("title", `"Members of ${`+platformName(p)+`}"`)
	always.setExpr("expression", constant(strconv.Quote(`request.time > timestamp("2000-01-01T00:00:00Z")`)))
}

// teamIdentities grants the roles of the teams' jobs. The jobs' principals are those
// of Workload Identity Federation for GKE (GKE documentation: "About Workload
// Identity Federation for GKE", principal identifiers).
func teamIdentities(b *body, p *ir.Platform) {
	b.data("google_project", "main").setExpr("project_id", "var.project_id")

	local := b.block("locals")
	local.note("The project's Workload Identity pool, which gives pods their identities. The pool",
		"exists once the cluster exists, so the expression refers to the cluster.")
	local.setExpr("workload_pool", `"iam.googleapis.com/projects/${data.google_project.main.number}/`+
		`locations/global/workloadIdentityPools/${`+workloadPool(p)+`}"`)
	principal := constant(`"principal://${local.workload_pool}/subject/ns/${team.namespace}/sa/${team.kube_account}"`)
	if p.HasTeamAccounts() {
		local.note("The IAM principal of each team's jobs: the team's Google service account if it has",
			"one, otherwise the Kubernetes service account in its namespace.")
		local.setExpr("team_members", `{
  for name, team in var.teams : name => team.account != null ? "serviceAccount:${team.account}" : `+principal+`
}`)
	} else {
		local.note("The IAM principal of each team's jobs: the Kubernetes service account in its",
			"namespace.")
		local.setExpr("team_members", `{
  for name, team in var.teams : name => `+principal+`
}`)
	}

	jobRoles(b, p)
	if !hasRoles(p) {
		return
	}
	b.block("locals").setExpr("team_roles", `merge([
  for name, team in var.teams : {
    for role in team.roles : "${name}/${role}" => { team = name, role = role }
  }
]...)`)
	roles := b.resource("google_project_iam_member", "team")
	roles.setExpr("for_each", "local.team_roles")
	roles.setExpr("project", "var.project_id")
	roles.setExpr("role", "each.value.role")
	roles.setExpr("member", "local.team_members[each.value.team]")
}

// jobRoles grants the roles that every job needs: to all pods of a cluster that the
// platform creates, and otherwise to each team's jobs, because other pods of the cluster
// belong to others.
func jobRoles(b *body, p *ir.Platform) {
	if !p.OwnsCluster() {
		b.note("Roles that every job needs.")
		b.block("locals").setTokens("job_roles", lineTuple(p.JobRoles))
		jobs := b.resource("google_project_iam_member", "jobs")
		jobs.setExpr("for_each", `{
  for pair in setproduct(local.job_roles, keys(var.teams)) : "${pair[0]} ${pair[1]}" => pair
}`)
		jobs.setExpr("project", "var.project_id")
		jobs.setExpr("role", "each.value[0]")
		jobs.setExpr("member", "local.team_members[each.value[1]]")
		return
	}
	b.note("Roles that every job needs. The principal stands for all pods of the cluster.")
	projectRoles(b, "jobs", p.JobRoles,
		`"principalSet://${local.workload_pool}/kubernetes.cluster/`+
			`https://container.googleapis.com/v1/projects/${var.project_id}/locations/${var.region}`+
			`/clusters/${var.cluster_name}"`)
}
