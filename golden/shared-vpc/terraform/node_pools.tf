# The nodes for GKE's own pods, Kueue and JobSet.
resource "google_container_node_pool" "system" {
  name           = "system"
  cluster        = google_container_cluster.main.name
  location       = google_container_cluster.main.location
  node_locations = var.zones

  # The number of nodes in each zone.
  node_count = 1

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
    machine_type    = "e2-standard-4"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
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

# Nodes come only from one specific reservation.
resource "google_container_node_pool" "h200" {
  name           = "h200"
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

  network_config {
    enable_private_nodes = true

    # Attaches one network to each network device of a node, in the order of the devices.
    # A pod selects a device by its network.
    dynamic "additional_node_network_configs" {
      for_each = ["gvnic-1", "rdma-0", "rdma-1", "rdma-2", "rdma-3", "rdma-4", "rdma-5", "rdma-6", "rdma-7"]

      content {
        network    = "projects/${var.network_project}/global/networks/${local.gpu_subnets[additional_node_network_configs.value].network}"
        subnetwork = "projects/${var.network_project}/regions/${var.region}/subnetworks/${local.gpu_subnets[additional_node_network_configs.value].subnet}"
      }
    }
  }

  node_config {
    machine_type    = "a3-ultragpu-8g"
    image_type      = "COS_CONTAINERD"
    disk_type       = "hyperdisk-balanced"
    disk_size_gb    = 100
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "h200"
      resource-type = "reservation"
    }

    taint {
      key    = "reserved"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "nvidia.com/gpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }

    guest_accelerator {
      type  = "nvidia-h200-141gb"
      count = 8

      gpu_driver_installation_config {
        gpu_driver_version = "DEFAULT"
      }
    }

    # The local SSDs hold images, logs and emptyDir volumes.
    ephemeral_storage_local_ssd_config {
      local_ssd_count = 32
    }

    reservation_affinity {
      consume_reservation_type = "SPECIFIC_RESERVATION"
      key                      = "compute.googleapis.com/reservation-name"
      values                   = ["h200"]
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

  # The system pool comes first, because GKE's own pods need nodes.
  depends_on = [google_container_node_pool.system]
}

# Spot VMs: Compute Engine can reclaim the nodes at any time.
resource "google_container_node_pool" "l4_spot" {
  name               = "l4-spot"
  cluster            = google_container_cluster.main.name
  location           = google_container_cluster.main.location
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
      capacity      = "l4-spot"
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
