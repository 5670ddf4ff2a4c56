# These resources exist already, and the next apply imports them. Once a resource is in
# the state, its block does nothing.
import {
  to = google_container_cluster.main
  id = "projects/${var.project_id}/locations/${var.region}/clusters/${var.cluster_name}"
}

import {
  to = google_container_node_pool.cpu
  id = join("/", [var.project_id, var.region, var.cluster_name, "cpu"])
}

import {
  to = google_container_node_pool.h100_spot
  id = join("/", [var.project_id, var.region, var.cluster_name, "h100-spot"])
}

import {
  for_each = toset(["tpus-0", "tpus-1"])
  to       = google_container_node_pool.tpus[each.key]
  id       = join("/", [var.project_id, var.region, var.cluster_name, each.key])
}
