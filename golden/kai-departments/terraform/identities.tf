# Roles of the nodes. create-platform.sh makes the account: Terraform administers
# no service accounts.
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
  # The identities of the project's pods. The pool exists once the cluster does.
  workload_pool = "iam.googleapis.com/projects/${data.google_project.main.number}/locations/global/workloadIdentityPools/${google_container_cluster.main.workload_identity_config[0].workload_pool}"

  # What the jobs of a team are to Google Cloud: the Kubernetes service account of
  # its namespace.
  team_members = {
    for name, team in var.teams : name => "principal://${local.workload_pool}/subject/ns/${team.namespace}/sa/${team.kube_account}"
  }
}

# What every job needs, once for all pods of the cluster.
resource "google_project_iam_member" "jobs" {
  for_each = toset([
    "roles/logging.logWriter",
    "roles/monitoring.metricWriter",
  ])
  project = var.project_id
  role    = each.key
  member  = "principalSet://${local.workload_pool}/kubernetes.cluster/https://container.googleapis.com/v1/projects/${var.project_id}/locations/${var.region}/clusters/${var.cluster_name}"
}
