# The cluster's network exists. network-team/ lists what its owners must do.
module "network" {
  source = "./modules/network"

  network_project    = var.network_project
  network            = var.network
  subnet             = var.subnet
  pod_range_name     = var.pod_range_name
  service_range_name = var.service_range_name
  region             = var.region
  node_prefix        = 27
  pod_prefix         = 20
  service_prefix     = 27
}
