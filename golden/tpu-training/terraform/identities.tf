# Roles of the nodes' service account. create-platform.sh creates the account, because
# the build that runs Terraform may not create service accounts.
resource "google_project_iam_member" "nodes" {
  for_each = toset([
    "roles/artifactregistry.reader",
    "roles/container.defaultNodeServiceAccount",
    "roles/serviceusage.serviceUsageConsumer",
  ])
  project = var.project_id
  role    = each.key
  member  = "serviceAccount:${var.node_account}"
}

data "google_project" "main" {
  project_id = var.project_id
}

locals {
  # The project's Workload Identity pool, which gives pods their identities. The pool
  # exists once the cluster exists, so the expression refers to the cluster.
  workload_pool = "iam.googleapis.com/projects/${data.google_project.main.number}/locations/global/workloadIdentityPools/${google_container_cluster.main.workload_identity_config[0].workload_pool}"

  # The IAM principal of each team's jobs: the team's Google service account if it has
  # one, otherwise the Kubernetes service account in its namespace.
  team_members = {
    for name, team in var.teams : name => team.account != null ? "serviceAccount:${team.account}" : "principal://${local.workload_pool}/subject/ns/${team.namespace}/sa/${team.kube_account}"
  }
}

# Roles that every job needs. The principal stands for all pods of the cluster.
resource "google_project_iam_member" "jobs" {
  for_each = toset([
    "projects/my-project/roles/tpu_training_tensorboard_writer",
    "roles/logging.logWriter",
    "roles/monitoring.metricWriter",
  ])
  project = var.project_id
  role    = each.key
  member  = "principalSet://${local.workload_pool}/kubernetes.cluster/https://container.googleapis.com/v1/projects/${var.project_id}/locations/${var.region}/clusters/${var.cluster_name}"
}

locals {
  # Roles of single teams.
  team_grants = merge([
    for name, team in var.teams : {
      for role in team.roles : "${name}/${role}" => { team = name, role = role }
    }
  ]...)

  # The principals that have each role.
  role_members = { for grant in local.team_grants : grant.role => local.team_members[grant.team]... }
}

resource "google_project_iam_binding" "team" {
  for_each = local.role_members
  project  = var.project_id
  role     = each.key
  members  = each.value

  # The condition is always true. It makes this binding differ from the binding of another
  # platform in the project: if both used the same binding, destroying the other platform
  # would delete it.
  condition {
    title      = "Jobs of ${var.cluster_name}"
    expression = "request.time > timestamp(\"2000-01-01T00:00:00Z\")"
  }
}
