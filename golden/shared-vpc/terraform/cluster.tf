resource "google_container_cluster" "main" {
  name                  = var.cluster_name
  location              = var.region
  node_locations        = var.zones
  deletion_protection   = var.deletion_protection
  enable_shielded_nodes = true
  network               = module.network.id
  subnetwork            = module.network.subnet_id
  networking_mode       = "VPC_NATIVE"

  # This is GKE Dataplane V2, which also enforces network policies.
  datapath_provider       = "ADVANCED_DATAPATH"
  enable_multi_networking = true

  # GKE creates every cluster with a default node pool, which Terraform then deletes. The
  # pool uses the nodes' service account, because the project's default account may have
  # too many rights or may not exist.
  remove_default_node_pool = true
  initial_node_count       = 1

  node_config {
    service_account = var.node_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]

    shielded_instance_config {
      enable_secure_boot          = true
      enable_integrity_monitoring = true
    }
  }

  release_channel {
    channel = "REGULAR"
  }

  ip_allocation_policy {
    cluster_secondary_range_name  = module.network.pod_range_name
    services_secondary_range_name = module.network.service_range_name
  }

  private_cluster_config {
    enable_private_nodes    = true
    enable_private_endpoint = length(var.authorized_networks) == 0
  }

  # GKE requires this block for a private endpoint. Without authorized networks, only
  # the cluster's own subnet can reach the endpoint.
  master_authorized_networks_config {
    gcp_public_cidrs_access_enabled = false

    dynamic "cidr_blocks" {
      for_each = var.authorized_networks

      content {
        display_name = cidr_blocks.key
        cidr_block   = cidr_blocks.value
      }
    }
  }

  # IAM decides who may use the DNS endpoint. Through it, the Cloud Build builds reach
  # the control plane from outside the VPC.
  control_plane_endpoints_config {
    dns_endpoint_config {
      allow_external_traffic = true
    }
  }

  workload_identity_config {
    workload_pool = "${var.project_id}.svc.id.goog"
  }

  master_auth {
    client_certificate_config {
      issue_client_certificate = false
    }
  }

  # Anonymous requests reach only health checks. No binding can grant a role to all users,
  # that is to system:anonymous, system:unauthenticated or system:authenticated.
  anonymous_authentication_config {
    mode = "LIMITED"
  }

  rbac_binding_config {
    enable_insecure_binding_system_authenticated   = false
    enable_insecure_binding_system_unauthenticated = false
  }

  addons_config {
    gce_persistent_disk_csi_driver_config {
      enabled = true
    }

    gcp_filestore_csi_driver_config {
      enabled = false
    }

    gcs_fuse_csi_driver_config {
      enabled = true
    }
  }

  node_pool_defaults {
    node_config_defaults {
      insecure_kubelet_readonly_port_enabled = "FALSE"

      gcfs_config {
        enabled = true
      }
    }
  }

  node_pool_auto_config {
    node_kubelet_config {
      insecure_kubelet_readonly_port_enabled = "FALSE"
    }
  }

  cluster_autoscaling {
    enabled             = false
    autoscaling_profile = "OPTIMIZE_UTILIZATION"
  }

  logging_config {
    enable_components = [
      "SYSTEM_COMPONENTS",
      "WORKLOADS",
    ]
  }

  monitoring_config {
    enable_components = [
      "APISERVER",
      "CADVISOR",
      "CONTROLLER_MANAGER",
      "DAEMONSET",
      "DCGM",
      "DEPLOYMENT",
      "HPA",
      "JOBSET",
      "KUBELET",
      "POD",
      "SCHEDULER",
      "STATEFULSET",
      "STORAGE",
      "SYSTEM_COMPONENTS",
    ]

    managed_prometheus {
      enabled = true
    }
  }

  # Cloud Billing then reports costs by namespace. Each team has its own namespace.
  cost_management_config {
    enabled = true
  }

  # Times are in UTC. The dates set only the first window; recurrence names its weekdays.
  maintenance_policy {
    recurring_window {
      start_time = "2024-01-06T03:00:00Z"
      end_time   = "2024-01-06T09:00:00Z"
      recurrence = "FREQ=WEEKLY;BYDAY=SA,SU"
    }
  }

  lifecycle {
    # Once the default node pool is deleted, the provider reports no node_config. If
    # Terraform did not ignore this, the next plan would replace the cluster. The next two
    # apply only to a new cluster: they would replace an imported cluster, or delete its
    # node pool default-pool. GKE returns the metrics in an order of its own, so that every
    # plan would change them: the step "metrics" of the build sets them instead.
    ignore_changes = [
      node_config,
      initial_node_count,
      remove_default_node_pool,
      monitoring_config[0].enable_components,
    ]
  }

  # Nodes need their roles to join the cluster.
  depends_on = [google_project_iam_member.nodes]
}
