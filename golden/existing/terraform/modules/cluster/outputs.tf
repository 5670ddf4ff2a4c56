output "name" {
  description = "Name of the cluster."
  value       = var.name
}

output "location" {
  description = "Region or zone of the control plane."
  value       = var.location
}

output "workload_pool" {
  description = "Workload Identity pool of the cluster."
  value       = "${var.project_id}.svc.id.goog"
}
