# The cluster belongs to others. Terraform reads the cluster only to warn: an assertion that
# fails stops no plan.
data "google_container_cluster" "main" {
  name     = var.name
  location = var.location
  project  = var.project_id
}

check "cluster" {
  assert {
    condition     = try(!data.google_container_cluster.main.enable_autopilot, false)
    error_message = "Cluster ${var.name} is an Autopilot cluster, which has no node pools."
  }

  assert {
    condition     = try(data.google_container_cluster.main.workload_identity_config[0].workload_pool == "${var.project_id}.svc.id.goog", false)
    error_message = "Cluster ${var.name} has no Workload Identity Federation, so jobs have no identities of their own."
  }

  assert {
    condition     = try(data.google_container_cluster.main.datapath_provider == "ADVANCED_DATAPATH", false)
    error_message = "Cluster ${var.name} does not use Dataplane V2, so nothing enforces network policies."
  }

  assert {
    condition     = try(data.google_container_cluster.main.authenticator_groups_config[0].security_group == var.security_group, false)
    error_message = "Cluster ${var.name} has another security group, so the groups of the teams have no rights."
  }
}
