package terraform

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

func identities(b *body, p *ir.Platform) {
	b.note("Every node of the cluster. create-platform.sh makes it first, so that the build",
		"may act as this one account and no other.")
	nodes := b.resource("google_service_account", "nodes")
	nodes.text("account_id", p.NodeAccount.ID)
	nodes.text("display_name", p.NodeAccount.Display)
	nodes.flag("create_ignore_already_exists", true)

	roles := b.resource("google_project_iam_member", "nodes")
	roles.raw("for_each", hclwrite.TokensForFunctionCall("toset", column(p.NodeAccount.Roles)))
	roles.expr("project", "var.project_id")
	roles.expr("role", "each.key")
	roles.expr("member", "google_service_account.nodes.member")

	if len(p.Teams) > 0 {
		teamIdentities(b)
	}
	if slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Group != "" }) {
		members(b)
	}
}

// members lets the teams' groups reach the cluster. Several teams may share a
// group, which has the role once.
func members(b *body) {
	b.note("Who may reach the control plane. What a member may do there, the namespace's",
		"RoleBinding says.")
	member := b.resource("google_project_iam_member", "members")
	member.expr("for_each", "toset([for team in values(var.teams) : team.group if team.group != null])")
	member.expr("project", "var.project_id")
	member.text("role", ir.MemberRole)
	member.expr("member", `"group:${each.key}"`)
}

func teamIdentities(b *body) {
	b.note("What the jobs of a team run as.")
	account := b.resource("google_service_account", "team")
	account.expr("for_each", "var.teams")
	account.expr("account_id", "each.value.account_id")
	account.expr("display_name", "each.value.display_name")

	b.block("locals").expr("team_roles", `merge([
  for name, team in var.teams : {
    for role in team.roles : "${name}/${role}" => { team = name, role = role }
  }
]...)`)

	roles := b.resource("google_project_iam_member", "team")
	roles.expr("for_each", "local.team_roles")
	roles.expr("project", "var.project_id")
	roles.expr("role", "each.value.role")
	roles.expr("member", "google_service_account.team[each.value.team].member")

	b.note("Workload Identity: only the Kubernetes service account of the team's own",
		"namespace may act as the team. The pool exists once the cluster does.")
	identity := b.resource("google_service_account_iam_member", "team")
	identity.expr("for_each", "var.teams")
	identity.expr("service_account_id", "google_service_account.team[each.key].name")
	identity.text("role", "roles/iam.workloadIdentityUser")
	identity.expr("member", `"serviceAccount:${google_container_cluster.main.workload_identity_config[0].workload_pool}[${each.value.namespace}/${each.value.kube_account}]"`)
}
