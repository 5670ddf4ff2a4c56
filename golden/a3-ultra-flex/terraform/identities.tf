# Every node of the cluster. create-platform.sh makes it first, so that the build
# may act as this one account and no other.
resource "google_service_account" "nodes" {
  account_id                   = "a3-ultra-flex-nodes"
  display_name                 = "Nodes of a3-ultra-flex"
  create_ignore_already_exists = true
}

resource "google_project_iam_member" "nodes" {
  for_each = toset([
    "roles/artifactregistry.reader",
    "roles/container.defaultNodeServiceAccount",
    "roles/serviceusage.serviceUsageConsumer",
  ])
  project = var.project_id
  role    = each.key
  member  = google_service_account.nodes.member
}

# What the jobs of a team run as.
resource "google_service_account" "team" {
  for_each     = var.teams
  account_id   = each.value.account_id
  display_name = each.value.display_name
}

locals {
  team_roles = merge([
    for name, team in var.teams : {
      for role in team.roles : "${name}/${role}" => { team = name, role = role }
    }
  ]...)
}

resource "google_project_iam_member" "team" {
  for_each = local.team_roles
  project  = var.project_id
  role     = each.value.role
  member   = google_service_account.team[each.value.team].member
}

# Workload Identity: only the Kubernetes service account of the team's own
# namespace may act as the team. The pool exists once the cluster does.
resource "google_service_account_iam_member" "team" {
  for_each           = var.teams
  service_account_id = google_service_account.team[each.key].name
  role               = "roles/iam.workloadIdentityUser"
  member             = "serviceAccount:${google_container_cluster.main.workload_identity_config[0].workload_pool}[${each.value.namespace}/${each.value.kube_account}]"
}

# Who may reach the control plane. What a member may do there, the namespace's
# RoleBinding says.
resource "google_project_iam_member" "members" {
  for_each = toset([for team in values(var.teams) : team.group if team.group != null])
  project  = var.project_id
  role     = "roles/container.clusterViewer"
  member   = "group:${each.key}"
}
