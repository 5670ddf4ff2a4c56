# The cluster belongs to others. This folder adds node pools to it, and changes nothing else.
module "cluster" {
  source = "./modules/cluster"

  project_id     = var.project_id
  name           = var.cluster_name
  location       = var.cluster_location
  security_group = var.security_group
}
