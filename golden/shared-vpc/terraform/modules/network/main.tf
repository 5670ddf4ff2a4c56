# The network belongs to others, and this folder changes nothing in it. Terraform reads the
# subnet only to warn: an assertion that fails stops no plan.
data "google_compute_subnetwork" "nodes" {
  name    = var.subnet
  project = var.network_project
  region  = var.region
}

check "subnet" {
  assert {
    condition     = data.google_compute_subnetwork.nodes.private_ip_google_access
    error_message = "Subnet ${var.subnet} has no Private Google Access, so nodes cannot reach Google APIs."
  }

  assert {
    condition     = endswith(data.google_compute_subnetwork.nodes.network, "/networks/${var.network}")
    error_message = "Subnet ${var.subnet} is not in network ${var.network}."
  }

  assert {
    condition     = try(tonumber(split("/", data.google_compute_subnetwork.nodes.ip_cidr_range)[1]) <= var.node_prefix, false)
    error_message = "The primary range of subnet ${var.subnet} is smaller than the /${var.node_prefix} that the nodes need."
  }

  assert {
    condition     = try(contains([for range in data.google_compute_subnetwork.nodes.secondary_ip_range : range.range_name if tonumber(split("/", range.ip_cidr_range)[1]) <= var.pod_prefix], var.pod_range_name), false)
    error_message = "Subnet ${var.subnet} has no secondary range ${var.pod_range_name} of at least a /${var.pod_prefix} for pods."
  }

  assert {
    condition     = try(contains([for range in data.google_compute_subnetwork.nodes.secondary_ip_range : range.range_name if tonumber(split("/", range.ip_cidr_range)[1]) <= var.service_prefix], var.service_range_name), false)
    error_message = "Subnet ${var.subnet} has no secondary range ${var.service_range_name} of at least a /${var.service_prefix} for Services."
  }
}
