output "cluster_name" {
  description = "Name of the cluster."
  value       = module.cluster.name
}

output "cluster_location" {
  description = "Region of the control plane."
  value       = module.cluster.location
}

output "get_credentials" {
  description = "Command that points kubectl at the cluster."
  value       = "gcloud container clusters get-credentials ${module.cluster.name} --location ${module.cluster.location} --project ${var.project_id} --dns-endpoint"
}

output "node_service_account" {
  description = "Service account of the nodes."
  value       = var.node_account
}

output "workload_pool" {
  description = "Workload Identity pool of the cluster."
  value       = module.cluster.workload_pool
}

output "team_principals" {
  description = "IAM principal of each team's jobs. Grant roles to this member."
  value       = local.team_members
}
