# The cluster's network is a module, so that a network team can review and own it.
module "network" {
  source = "./modules/network"

  name                 = "gke-batch"
  subnet               = "gke-batch"
  region               = var.region
  node_range           = var.node_range
  pod_range            = var.pod_range
  service_range        = var.service_range
  control_plane_range  = var.control_plane_range
  node_service_account = var.node_account
}
