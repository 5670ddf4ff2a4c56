# The nodes for GKE's own pods, Kueue and JobSet.
resource "google_container_node_pool" "system" {
  name           = "system"
  cluster        = google_container_cluster.main.name
  location       = google_container_cluster.main.location
  node_locations = var.zones

  # The number of nodes in each zone.
  node_count = 3

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 1
    max_unavailable = 0
  }

  network_config {
    enable_private_nodes = true
  }

  node_config {
    machine_type    = "n1-standard-4"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-standard"
    disk_size_gb    = 200
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]

    gcfs_config {
      enabled = true
    }

    gvnic {
      enabled = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }
  }
}

# On demand: nodes cost the list price, and start only while capacity is available.
resource "google_container_node_pool" "cpu" {
  name               = "cpu"
  cluster            = google_container_cluster.main.name
  location           = google_container_cluster.main.location
  node_locations     = var.zones
  initial_node_count = 0

  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 2

    # ANY creates nodes in any zone with capacity, instead of spreading them evenly.
    location_policy = "ANY"
  }

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  # The quota may leave no room for more nodes, so upgrades replace one node at a time and add none.
  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 0
    max_unavailable = 1
  }

  network_config {
    enable_private_nodes = true
  }

  node_config {
    machine_type    = "n1-standard-4"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "cpu"
      resource-type = "ondemand"
    }

    taint {
      key    = "ondemand"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    reservation_affinity {
      consume_reservation_type = "NO_RESERVATION"
    }

    gcfs_config {
      enabled = true
    }

    gvnic {
      enabled = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }
  }

  lifecycle {
    # initial_node_count applies only at creation: a later change would replace the pool.
    ignore_changes = [initial_node_count]
  }

  # The system pool comes first, because GKE's own pods need nodes.
  depends_on = [google_container_node_pool.system]
}

# The provider cannot change the topology of a node pool. This resource makes Terraform
# replace the pools when the topology changes.
resource "terraform_data" "slices_topology" {
  input = "2x2x4"
}

# On demand: nodes cost the list price, and start only while capacity is available.
resource "google_container_node_pool" "slices" {
  # Each TPU slice is a node pool of its own, because its hosts start and stop together.
  for_each       = toset(["slices-0", "slices-1"])
  name           = each.key
  cluster        = google_container_cluster.main.name
  location       = google_container_cluster.main.location
  node_locations = var.zones
  node_count     = 4

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  # Accelerators are scarce, so upgrades replace one node at a time and add none.
  upgrade_settings {
    strategy        = "SURGE"
    max_surge       = 0
    max_unavailable = 1
  }

  # The chips of the slice are linked with each other in this topology.
  placement_policy {
    type         = "COMPACT"
    tpu_topology = "2x2x4"
  }

  network_config {
    enable_private_nodes = true
  }

  node_config {
    machine_type    = "ct4p-hightpu-4t"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "slices"
      resource-type = "ondemand"
    }

    taint {
      key    = "ondemand"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "google.com/tpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }

    reservation_affinity {
      consume_reservation_type = "NO_RESERVATION"
    }

    gcfs_config {
      enabled = true
    }

    gvnic {
      enabled = true
    }

    workload_metadata_config {
      mode = "GKE_METADATA"
    }

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }
  }

  lifecycle {
    # GKE sets threads_per_core on TPU machines. Terraform must not treat this as a change.
    # GKE may return the name of the placement policy without its type.
    ignore_changes       = [node_config[0].advanced_machine_features, placement_policy[0].type]
    replace_triggered_by = [terraform_data.slices_topology.input]
  }

  # The system pool comes first, because GKE's own pods need nodes.
  depends_on = [google_container_node_pool.system]
}
