locals {
  # VPC networks of GPU nodes, in addition to the cluster's network. A network with a
  # profile carries RDMA within one zone and supports no firewall rules.
  gpu_networks = {
    gvnic-1 = { mtu = 8896, profile = null }
    rdma    = { mtu = 8896, profile = "us-central1-b-vpc-roce" }
  }

  # The subnets of these networks. Each name is also the name of the Kubernetes Network
  # through which pods use the subnet.
  gpu_subnets = {
    gvnic-1 = { network = "gvnic-1", range = var.gvnic_range }
    rdma-0  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 0) }
    rdma-1  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 1) }
    rdma-2  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 2) }
    rdma-3  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 3) }
    rdma-4  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 4) }
    rdma-5  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 5) }
    rdma-6  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 6) }
    rdma-7  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 7) }
  }
}

resource "google_compute_network" "gpu" {
  for_each                = local.gpu_networks
  name                    = "${module.network.name}-${each.key}"
  auto_create_subnetworks = false
  mtu                     = each.value.mtu
  network_profile         = each.value.profile == null ? null : "projects/${var.project_id}/global/networkProfiles/${each.value.profile}"
}

resource "google_compute_subnetwork" "gpu" {
  for_each      = local.gpu_subnets
  name          = "${module.network.name}-${each.key}"
  region        = var.region
  network       = google_compute_network.gpu[each.value.network].id
  ip_cidr_range = each.value.range

  # Organisations demand it, and nodes do not use it here. It is not verified for RDMA networks.
  private_ip_google_access = local.gpu_networks[each.value.network].profile == null
}

# On these networks, nodes accept connections only from each other.
resource "google_compute_firewall" "gpu" {
  for_each      = { for name, network in local.gpu_networks : name => network if network.profile == null }
  name          = "${google_compute_network.gpu[each.key].name}-internal"
  description   = "Lets nodes reach each other on this network between GPUs, and nobody else."
  network       = google_compute_network.gpu[each.key].id
  direction     = "INGRESS"
  source_ranges = [for subnet in local.gpu_subnets : subnet.range if subnet.network == each.key]

  allow {
    protocol = "tcp"
  }

  allow {
    protocol = "udp"
  }

  allow {
    protocol = "icmp"
  }
}
