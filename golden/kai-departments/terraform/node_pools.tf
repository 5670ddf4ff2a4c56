# The nodes for GKE's own pods, KAI Scheduler and JobSet.
resource "google_container_node_pool" "system" {
  name           = "system"
  cluster        = google_container_cluster.main.name
  location       = google_container_cluster.main.location
  node_locations = var.zones

  # The number of nodes in each zone.
  node_count = 2

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
resource "google_container_node_pool" "h100_reserved" {
  name           = "h100-reserved"
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
  }

  node_config {
    machine_type    = "a3-highgpu-8g"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "h100-reserved"
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
      type  = "nvidia-h100-80gb"
      count = 8

      gpu_driver_installation_config {
        gpu_driver_version = "DEFAULT"
      }
    }

    # The local SSDs hold images, logs and emptyDir volumes.
    ephemeral_storage_local_ssd_config {
      local_ssd_count = 16
    }

    reservation_affinity {
      consume_reservation_type = "SPECIFIC_RESERVATION"
      key                      = "compute.googleapis.com/reservation-name"
      values                   = ["h100-reservation"]
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
