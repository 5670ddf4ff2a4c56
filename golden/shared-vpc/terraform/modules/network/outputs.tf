output "id" {
  description = "ID of the VPC network."
  value       = "projects/${var.network_project}/global/networks/${var.network}"
}

output "name" {
  description = "Name of the VPC network."
  value       = var.network
}

output "subnet_id" {
  description = "ID of the subnet."
  value       = "projects/${var.network_project}/regions/${var.region}/subnetworks/${var.subnet}"
}

output "pod_range_name" {
  description = "Name of the pods' range."
  value       = var.pod_range_name
}

output "service_range_name" {
  description = "Name of the Services' range."
  value       = var.service_range_name
}
