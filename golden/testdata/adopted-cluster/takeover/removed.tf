# For the Terraform configurations of the former owners: Terraform forgets these resources
# and leaves them as they are. README.md says what else to do.
removed {
  from = module.gke.google_container_cluster.primary

  lifecycle {
    destroy = false
  }
}

# A removed block cannot name one instance of a resource, so the instance moves first.
moved {
  from = module.gke.google_container_node_pool.pools["h100-spot"]
  to   = google_container_node_pool.taken_over_h100_spot
}

removed {
  from = google_container_node_pool.taken_over_h100_spot

  lifecycle {
    destroy = false
  }
}

removed {
  from = module.tpus.google_container_node_pool.slices

  lifecycle {
    destroy = false
  }
}
