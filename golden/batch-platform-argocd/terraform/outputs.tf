output "cluster_name" {
  description = "Name of the cluster."
  value       = google_container_cluster.main.name
}

output "cluster_location" {
  description = "Region of the control plane."
  value       = google_container_cluster.main.location
}

output "cluster_endpoint" {
  description = "DNS name of the control plane."
  value       = google_container_cluster.main.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint
}

output "get_credentials" {
  description = "Command that points kubectl at the cluster."
  value       = "gcloud container clusters get-credentials ${google_container_cluster.main.name} --region ${google_container_cluster.main.location} --project ${var.project_id} --dns-endpoint"
}

output "network" {
  description = "Name of the VPC."
  value       = module.network.name
}

output "node_service_account" {
  description = "Service account of the nodes."
  value       = var.node_account
}

output "workload_pool" {
  description = "Workload Identity pool of the cluster."
  value       = google_container_cluster.main.workload_identity_config[0].workload_pool
}

output "team_principals" {
  description = "IAM principal of each team's jobs. Grant roles to this member."
  value       = local.team_members
}

output "team_buckets" {
  description = "Bucket of each team that has one."
  value       = { for name, bucket in google_storage_bucket.team : name => bucket.url }
}
