resource "google_compute_network" "main" {
  name                    = var.name
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "main" {
  name          = var.subnet
  region        = var.region
  network       = google_compute_network.main.id
  ip_cidr_range = var.node_range

  # Nodes have no public addresses. This setting lets them reach Google APIs.
  private_ip_google_access = true

  secondary_ip_range {
    range_name    = "pods"
    ip_cidr_range = var.pod_range
  }

  secondary_ip_range {
    range_name    = "services"
    ip_cidr_range = var.service_range
  }
}

resource "google_compute_router" "main" {
  name    = "${google_compute_network.main.name}-router"
  region  = var.region
  network = google_compute_network.main.id
}

resource "google_compute_router_nat" "main" {
  name                               = "${google_compute_network.main.name}-nat"
  region                             = var.region
  router                             = google_compute_router.main.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"

  # The default of 64 ports is too low for a node that pulls many images or reads much
  # data at once.
  enable_dynamic_port_allocation = true
  min_ports_per_vm               = 64
  max_ports_per_vm               = 4096

  log_config {
    enable = true
    filter = "ERRORS_ONLY"
  }
}

# GKE lets a private control plane reach only ports 443 and 10250 of the nodes. The
# webhooks of Kueue and JobSet listen on port 9443, Kueue's visibility API on port 8082.
resource "google_compute_firewall" "webhooks" {
  name                    = "${google_compute_network.main.name}-webhooks"
  description             = "Lets the control plane reach the software of the platform on the nodes."
  network                 = google_compute_network.main.id
  direction               = "INGRESS"
  source_ranges           = [var.control_plane_range]
  target_service_accounts = [var.node_service_account]

  allow {
    protocol = "tcp"
    ports    = ["8082", "9443"]
  }
}
