# On demand: nodes cost the list price, and start only while capacity is available.
resource "google_container_node_pool" "research_l4" {
  name               = "research-l4"
  cluster            = module.cluster.name
  location           = module.cluster.location
  node_locations     = var.zones
  initial_node_count = 0

  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 4

    # ANY creates nodes in any zone with capacity, instead of spreading them evenly.
    location_policy = "ANY"
  }

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

  network_config {
    enable_private_nodes = true
  }

  node_config {
    machine_type    = "g2-standard-24"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "research-l4"
      resource-type = "ondemand"
    }

    taint {
      key    = "ondemand"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "nvidia.com/gpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }

    guest_accelerator {
      type  = "nvidia-l4"
      count = 2

      gpu_driver_installation_config {
        gpu_driver_version = "DEFAULT"
      }
    }

    reservation_affinity {
      consume_reservation_type = "NO_RESERVATION"
    }

    # The label distinguishes the platform's node pools from those of others.
    resource_labels = {
      platform = var.platform
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
}

# Spot VMs: Compute Engine can reclaim the nodes at any time.
resource "google_container_node_pool" "research_l4_spot" {
  name               = "research-l4-spot"
  cluster            = module.cluster.name
  location           = module.cluster.location
  node_locations     = var.zones
  initial_node_count = 0

  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 8

    # ANY creates nodes in any zone with capacity, instead of spreading them evenly.
    location_policy = "ANY"
  }

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

  network_config {
    enable_private_nodes = true
  }

  node_config {
    machine_type    = "g2-standard-24"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
    spot            = true
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "research-l4-spot"
      resource-type = "spot"
    }

    taint {
      key    = "spot"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "nvidia.com/gpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }

    guest_accelerator {
      type  = "nvidia-l4"
      count = 2

      gpu_driver_installation_config {
        gpu_driver_version = "DEFAULT"
      }
    }

    reservation_affinity {
      consume_reservation_type = "NO_RESERVATION"
    }

    # The label distinguishes the platform's node pools from those of others.
    resource_labels = {
      platform = var.platform
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
}
