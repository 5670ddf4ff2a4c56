provider "google" {
  project = var.project_id
  region  = var.region
}

data "google_client_config" "current" {
}

data "google_container_cluster" "main" {
  name     = var.cluster_name
  location = var.region
}

# The DNS endpoint has a certificate of a public authority. A webhook that does not answer
# yet rejects an object: the provider tries again for about five minutes.
provider "kubectl" {
  host              = "https://${data.google_container_cluster.main.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint}"
  token             = data.google_client_config.current.access_token
  load_config_file  = false
  apply_retry_count = 15
}
