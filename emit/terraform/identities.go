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
	if len(p.OwnTeams()) > 0 {
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
// through the group of these groups, and all other members by one binding for each role.
// Each binding has a condition that is specific to this platform. Without it, the binding
// could also belong to another platform with the same members: IAM distinguishes bindings
// of one role by their conditions (IAM documentation: "Allow policies").
func writeMembers(b *body, p *ir.Platform) {
	if p.HasGroups() {
		b.note("The group contains the groups of all teams. This role lets their members connect to",
			"the cluster. RBAC in each team's namespace decides what they may do there.")
		reachCluster(b, p, "members")
	}
	accounts := len(p.MemberAccounts()) > 0
	if accounts {
		b.note("This role lets the teams' members that the blueprint lists connect to the cluster. RBAC",
			"in each team's namespace decides what they may do there.")
		reachCluster(b, p, "member_accounts")
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
		alwaysHolds(p, "Members", projectRoles(b, "viewers", p.Monitoring.MemberRoles, `"group:${var.security_group}"`))
	}
	if accounts {
		b.note("These roles let the teams' members that the blueprint lists open the " + opened)
		viewers := b.resource("google_project_iam_binding", "viewer_accounts")
		viewers.setTokens("for_each", hclwrite.TokensForFunctionCall("toset", lineTuple(p.Monitoring.MemberRoles)))
		viewers.setExpr("project", "var.project_id")
		viewers.setExpr("role", "each.key")
		viewers.setExpr("members", "var.member_accounts")
		alwaysHolds(p, "Member accounts", viewers)
	}
}

// reachCluster grants the role that lets members connect to the cluster: to the group of
// the teams' groups, or to the members that the blueprint lists.
func reachCluster(b *body, p *ir.Platform, name string) {
	kind, holders := "google_project_iam_member", constant("")
	if name == "member_accounts" {
		kind, holders = "google_project_iam_binding", ": member accounts"
	}
	grant := b.resource(kind, name)
	grant.setExpr("project", "var.project_id")
	grant.setString("role", ir.MemberRole)
	if name == "member_accounts" {
		grant.setExpr("members", "var.member_accounts")
	} else {
		grant.setExpr("member", `"group:${var.security_group}"`)
	}
	only := grant.block("condition")
	location := "${var.region}"
	if p.OwnsCluster() {
		only.setExpr("title", `"Cluster ${var.cluster_name}`+holders+`"`)
	} else { // other platforms in the cluster have bindings of their own
		only.setExpr("title", `"Cluster ${var.cluster_name}, platform ${var.platform}`+holders+`"`)
		location = "${var.cluster_location}"
	}
	only.setExpr("expression",
		constant(strconv.Quote(ir.ClusterCondition("${var.project_id}", location, "${var.cluster_name}"))))
}

// alwaysHolds gives a binding a condition that is always true, and whose title names the
// platform and the holders of the role.
//
// Every service evaluates conditions on the time of the request (IAM documentation,
// "Attribute reference for IAM Conditions"). Only basic roles cannot have a condition (IAM
// documentation, "IAM Conditions overview"), and no folder grants a basic role: a team
// cannot have one (E0210).
//
// google_project_iam_binding sets all principals of one role under one condition, and
// google_project_iam_member sets one of them (hashicorp/terraform-provider-google,
// google/tpgiamresource: resource_iam_binding.go, and the key of a binding in iam.go). A
// binding and a member of one role must therefore have different conditions. In earlier
// folders the members that the blueprint lists and the roles of teams were resources
// google_project_iam_member, so the bindings have titles that no earlier folder has:
// otherwise the end of the former resource could remove a principal from the binding.
func alwaysHolds(p *ir.Platform, holders constant, grant *body) {
	grant.note("The condition is always true. It makes this binding differ from the binding of another",
		"platform in the project: if both used the same binding, destroying the other platform",
		"would delete it.")
	always := grant.block("condition")
	always.setExpr("title", `"`+holders+` of ${`+platformName(p)+`}"`)
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

	if p.OwnsCluster() {
		b.note("Roles that every job needs. The principal stands for all pods of the cluster.")
		projectRoles(b, "jobs", p.JobRoles,
			`"principalSet://${local.workload_pool}/kubernetes.cluster/`+
				`https://container.googleapis.com/v1/projects/${var.project_id}/locations/${var.region}`+
				`/clusters/${var.cluster_name}"`)
	}
	teamRoles(b, p)
}

// teamRoles grants the roles of single teams, with one resource for each role: the roles
// that the blueprint gives to a team, and in a cluster that others own the roles that
// every job needs, because other pods of that cluster belong to others. A team's Google
// service account has the latter among its roles, and an account of somebody else gets no
// role.
func teamRoles(b *body, p *ir.Platform) {
	jobs := !p.OwnsCluster() && slices.ContainsFunc(p.OwnTeams(), func(t ir.Team) bool { return t.Account == nil })
	own := hasRoles(p)
	if !jobs && !own {
		return
	}
	local, grants := b.block("locals"), constant("")
	if jobs {
		local.note("Roles that every job needs.")
		local.setTokens("job_roles", lineTuple(p.JobRoles))
		unless := constant("")
		if p.HasTeamAccounts() {
			unless = " if team.account == null"
		}
		local.setExpr("job_grants", roleGrants("local.job_roles", unless))
		grants = "local.job_grants"
	}
	if own {
		local.note("Roles of single teams.")
		local.setExpr("team_grants", roleGrants("team.roles", ""))
		grants = "local.team_grants"
	}
	if jobs && own {
		grants = "merge(local.job_grants, local.team_grants)"
	}
	local.note("The principals that have each role.")
	local.setExpr("role_members", "{ for grant in "+grants+" : grant.role => local.team_members[grant.team]... }")
	grant := b.resource("google_project_iam_binding", "team")
	grant.setExpr("for_each", "local.role_members")
	grant.setExpr("project", "var.project_id")
	grant.setExpr("role", "each.key")
	grant.setExpr("members", "each.value")
	alwaysHolds(p, "Jobs", grant)
}

// roleGrants returns an expression for the pairs of teams and roles, without the teams for
// which a condition does not hold. A pair has a key, so that two maps with the same pair can
// be merged.
func roleGrants(roles, condition constant) constant {
	return `merge([
  for name, team in var.teams : {
    for role in ` + roles + ` : "${name}/${role}" => { team = name, role = role }` + condition + `
  }
]...)`
}
