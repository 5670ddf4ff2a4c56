# The nodes for GKE's own pods, Kueue and JobSet.
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

# Flex-start: Dynamic Workload Scheduler starts the nodes once capacity is available.
resource "google_container_node_pool" "a100_dws" {
  name               = "a100-dws"
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

  # GKE repairs a node by replacing it, but flex-start cannot promise another node. GKE
  # does not upgrade running flex-start nodes: only new nodes get the new version.
  management {
    auto_repair  = false
    auto_upgrade = true
  }

  network_config {
    enable_private_nodes = true
  }

  # GKE starts all nodes that a workload needs at once, or none.
  queued_provisioning {
    enabled = true
  }

  node_config {
    machine_type     = "a2-highgpu-2g"
    image_type       = "COS_CONTAINERD"
    disk_type        = "pd-balanced"
    disk_size_gb     = 100
    flex_start       = true
    max_run_duration = "604800s"
    service_account  = var.node_account
    oauth_scopes     = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity                      = "a100-dws"
      "cloud.google.com/gke-queued" = "true"
      resource-type                 = "flex-start"
    }

    taint {
      key    = "flex-start"
      value  = "true"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "nvidia.com/gpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }

    guest_accelerator {
      type  = "nvidia-tesla-a100"
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

# Flex-start: Dynamic Workload Scheduler starts the nodes once capacity is available.
resource "google_container_node_pool" "h100_dws" {
  name               = "h100-dws"
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

  # GKE repairs a node by replacing it, but flex-start cannot promise another node. GKE
  # does not upgrade running flex-start nodes: only new nodes get the new version.
  management {
    auto_repair  = false
    auto_upgrade = true
  }

  network_config {
    enable_private_nodes = true
  }

  # GKE starts all nodes that a workload needs at once, or none.
  queued_provisioning {
    enabled = true
  }

  node_config {
    machine_type     = "a3-highgpu-8g"
    image_type       = "COS_CONTAINERD"
    disk_type        = "pd-balanced"
    disk_size_gb     = 100
    flex_start       = true
    max_run_duration = "604800s"
    service_account  = var.node_account
    oauth_scopes     = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity                      = "h100-dws"
      "cloud.google.com/gke-queued" = "true"
      resource-type                 = "flex-start"
    }

    taint {
      key    = "flex-start"
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

# On demand: nodes cost the list price, and start only while capacity is available.
resource "google_container_node_pool" "l4_ondemand" {
  name               = "l4-ondemand"
  cluster            = google_container_cluster.main.name
  location           = google_container_cluster.main.location
  node_locations     = var.zones
  initial_node_count = 0

  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 24

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
      capacity      = "l4-ondemand"
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

# Nodes come only from one specific reservation.
resource "google_container_node_pool" "l4_reserved" {
  name           = "l4-reserved"
  cluster        = google_container_cluster.main.name
  location       = google_container_cluster.main.location
  node_locations = ["us-central1-c"]
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
    machine_type    = "g2-standard-24"
    image_type      = "COS_CONTAINERD"
    disk_type       = "pd-balanced"
    disk_size_gb    = 100
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity      = "l4-reserved"
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
      type  = "nvidia-l4"
      count = 2

      gpu_driver_installation_config {
        gpu_driver_version = "DEFAULT"
      }
    }

    reservation_affinity {
      consume_reservation_type = "SPECIFIC_RESERVATION"
      key                      = "compute.googleapis.com/reservation-name"
      values                   = [google_compute_reservation.l4_reserved.name]
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
    # Compute Engine does not delete a reservation that nodes use: Terraform must replace the
    # pool with the reservation.
    replace_triggered_by = [google_compute_reservation.l4_reserved.id]
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
    total_max_node_count = 36

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
