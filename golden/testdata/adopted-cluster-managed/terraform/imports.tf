# These resources exist already, and the next apply imports them. Once a resource is in
# the state, its block does nothing.
import {
  to = google_container_cluster.main
  id = "projects/my-project/locations/us-east5/clusters/research"
}

import {
  to = google_container_node_pool.cpu
  id = "my-project/us-east5/research/cpu"
}

import {
  to = google_container_node_pool.h100_spot
  id = "my-project/us-east5/research/h100-spot"
}

import {
  to = google_container_node_pool.tpus["tpus-0"]
  id = "my-project/us-east5/research/tpus-0"
}

import {
  to = google_container_node_pool.tpus["tpus-1"]
  id = "my-project/us-east5/research/tpus-1"
}
