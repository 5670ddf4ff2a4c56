output "id" {
  description = "ID of the VPC network."
  value       = google_compute_network.main.id
}

output "name" {
  description = "Name of the VPC network."
  value       = google_compute_network.main.name
}

output "subnet_id" {
  description = "ID of the subnet."
  value       = google_compute_subnetwork.main.id
}

output "pod_range_name" {
  description = "Name of the pods' range."
  value       = google_compute_subnetwork.main.secondary_ip_range[0].range_name
}

output "service_range_name" {
  description = "Name of the Services' range."
  value       = google_compute_subnetwork.main.secondary_ip_range[1].range_name
}
