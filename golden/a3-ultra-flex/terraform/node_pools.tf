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
    machine_type    = "e2-standard-16"
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
resource "google_container_node_pool" "a3_ultra" {
  name               = "a3-ultra"
  cluster            = google_container_cluster.main.name
  location           = google_container_cluster.main.location
  node_locations     = var.zones
  initial_node_count = 0

  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 64

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

    # Attaches one network to each network device of a node, in the order of the devices.
    # A pod selects a device by its network.
    dynamic "additional_node_network_configs" {
      for_each = ["gvnic-1", "rdma-0", "rdma-1", "rdma-2", "rdma-3", "rdma-4", "rdma-5", "rdma-6", "rdma-7"]

      content {
        network    = google_compute_network.gpu[local.gpu_subnets[additional_node_network_configs.value].network].name
        subnetwork = google_compute_subnetwork.gpu[additional_node_network_configs.value].name
      }
    }
  }

  # GKE starts all nodes that a workload needs at once, or none.
  queued_provisioning {
    enabled = true
  }

  node_config {
    machine_type     = "a3-ultragpu-8g"
    image_type       = "COS_CONTAINERD"
    disk_type        = "hyperdisk-balanced"
    disk_size_gb     = 100
    flex_start       = true
    max_run_duration = "604800s"
    service_account  = var.node_account
    oauth_scopes     = ["https://www.googleapis.com/auth/cloud-platform"]
    labels = {
      capacity                      = "a3-ultra"
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

    # Compute Engine does not delete a subnet that nodes use: Terraform must replace the pool
    # with it.
    replace_triggered_by = [
      google_compute_subnetwork.gpu["gvnic-1"].id,
      google_compute_subnetwork.gpu["rdma-0"].id,
      google_compute_subnetwork.gpu["rdma-1"].id,
      google_compute_subnetwork.gpu["rdma-2"].id,
      google_compute_subnetwork.gpu["rdma-3"].id,
      google_compute_subnetwork.gpu["rdma-4"].id,
      google_compute_subnetwork.gpu["rdma-5"].id,
      google_compute_subnetwork.gpu["rdma-6"].id,
      google_compute_subnetwork.gpu["rdma-7"].id,
    ]
  }

  # The system pool comes first, because GKE's own pods need nodes.
  depends_on = [google_container_node_pool.system]
}
