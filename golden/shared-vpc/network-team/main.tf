# For the owners of the network: what they must add for this platform. README.md lists it
# in tables, for those who do not use Terraform.
terraform {
  required_version = ">= 1.5"

  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

provider "google" {
  project = "net-host"
}

variable "platform_number" {
  description = "Number of the platform's project, which the names of Google's service agents have: gcloud projects describe my-project --format='value(projectNumber)'"
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]+$", var.platform_number))
    error_message = "A project number has only digits."
  }
}

variable "rule_prefix" {
  description = "First part of the names of the firewall rules. Set another if the network already has rules of another platform of this name."
  type        = string
  default     = "shared-vpc"
  nullable    = false
}

variable "egress_is_denied" {
  description = "Whether firewall rules of the networks deny egress, with a priority number above 1000. The priority of the rules in this file is 1000."
  type        = bool
  default     = false
  nullable    = false
}

locals {
  network = "projects/net-host/global/networks/shared"
  nodes   = "shared-vpc-nodes@my-project.iam.gserviceaccount.com"

  # All subnets that the platform uses.
  subnets = [
    "batch",
    "gpu-gvnic-b",
    "gpu-rdma-b-0",
    "gpu-rdma-b-1",
    "gpu-rdma-b-2",
    "gpu-rdma-b-3",
    "gpu-rdma-b-4",
    "gpu-rdma-b-5",
    "gpu-rdma-b-6",
    "gpu-rdma-b-7",
  ]

  # The subnet's secondary range for pods, a list of one.
  pod_ranges = [
    for range in data.google_compute_subnetwork.used["batch"].secondary_ip_range : range.ip_cidr_range
    if range.range_name == "batch-pods"
  ]
}

# The firewall rules name the ranges of these subnets.
data "google_compute_subnetwork" "used" {
  for_each = toset(local.subnets)
  project  = "net-host"
  region   = "us-central1"
  name     = each.key
}

# GKE lets a private control plane reach only ports 443 and 10250 of the nodes. The
# webhooks of Kueue and JobSet listen on port 9443, Kueue's visibility API on port 8082.
resource "google_compute_firewall" "webhooks" {
  project                 = "net-host"
  name                    = join("-", [var.rule_prefix, "webhooks"])
  description             = "Lets the control plane of shared-vpc call webhooks on its nodes."
  network                 = local.network
  direction               = "INGRESS"
  source_ranges           = [data.google_compute_subnetwork.used["batch"].ip_cidr_range]
  target_service_accounts = [local.nodes]

  allow {
    protocol = "tcp"
    ports    = ["8082", "9443"]
  }
}

resource "google_compute_firewall" "gpu_gvnic_1" {
  project                 = "net-host"
  name                    = join("-", [var.rule_prefix, "gvnic-1"])
  description             = "Lets the GPU nodes of shared-vpc reach each other."
  network                 = "projects/net-host/global/networks/gpu-gvnic"
  direction               = "INGRESS"
  source_ranges           = [data.google_compute_subnetwork.used["gpu-gvnic-b"].ip_cidr_range]
  target_service_accounts = [local.nodes]

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

# Nodes reach each other, all pods, and the control plane. GKE itself makes only ingress
# rules.
resource "google_compute_firewall" "egress_cluster" {
  count                   = var.egress_is_denied ? 1 : 0
  project                 = "net-host"
  name                    = join("-", [var.rule_prefix, "egress-cluster"])
  description             = "Lets the nodes of shared-vpc reach the cluster."
  network                 = local.network
  direction               = "EGRESS"
  destination_ranges      = concat([data.google_compute_subnetwork.used["batch"].ip_cidr_range], local.pod_ranges)
  target_service_accounts = [local.nodes]

  allow {
    protocol = "all"
  }
}

# Nodes reach Google APIs over Private Google Access. The DNS of the network must lead their
# names to these addresses, and a route must lead the addresses to the default internet
# gateway.
resource "google_compute_firewall" "egress_google" {
  count                   = var.egress_is_denied ? 1 : 0
  project                 = "net-host"
  name                    = join("-", [var.rule_prefix, "egress-google"])
  description             = "Lets the nodes of shared-vpc reach Google APIs."
  network                 = local.network
  direction               = "EGRESS"
  destination_ranges      = ["199.36.153.4/30", "199.36.153.8/30"]
  target_service_accounts = [local.nodes]

  allow {
    protocol = "tcp"
    ports    = ["443"]
  }
}

resource "google_compute_firewall" "egress_gpu_gvnic_1" {
  count                   = var.egress_is_denied ? 1 : 0
  project                 = "net-host"
  name                    = join("-", [var.rule_prefix, "egress-gvnic-1"])
  description             = "Lets the GPU nodes of shared-vpc reach each other."
  network                 = "projects/net-host/global/networks/gpu-gvnic"
  direction               = "EGRESS"
  destination_ranges      = [data.google_compute_subnetwork.used["gpu-gvnic-b"].ip_cidr_range]
  target_service_accounts = [local.nodes]

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

# The build of the platform and Google's agents in its project may use the subnets, and no
# others.
locals {
  network_users = {
    build     = "serviceAccount:shared-vpc-build@my-project.iam.gserviceaccount.com"
    compute   = "serviceAccount:${var.platform_number}@cloudservices.gserviceaccount.com"
    container = "serviceAccount:service-${var.platform_number}@container-engine-robot.iam.gserviceaccount.com"
  }
}

resource "google_compute_subnetwork_iam_member" "users" {
  for_each = {
    for pair in setproduct(local.subnets, keys(local.network_users)) :
    "${pair[0]}/${pair[1]}" => { subnet = pair[0], member = local.network_users[pair[1]] }
  }
  project    = "net-host"
  region     = "us-central1"
  subnetwork = each.value.subnet
  role       = "roles/compute.networkUser"
  member     = each.value.member
}

# GKE's agent in the platform's project makes the cluster's own firewall rules through the
# agent of this project.
resource "google_project_iam_member" "host_service_agent_user" {
  project = "net-host"
  role    = "roles/container.hostServiceAgentUser"
  member  = local.network_users.container
}

# GKE needs these services in the project of the network, too.
resource "google_project_service" "gke" {
  for_each           = toset(["compute.googleapis.com", "container.googleapis.com"])
  project            = "net-host"
  service            = each.key
  disable_on_destroy = false
}
