# Google Cloud bills the reservation from its creation on, even if no node uses it.
resource "google_compute_reservation" "l4_reserved" {
  name = "machine-reservation"
  zone = "us-central1-c"

  # Only node pools that name the reservation can use it.
  specific_reservation_required = true

  specific_reservation {
    count = 4

    instance_properties {
      machine_type = "g2-standard-24"

      guest_accelerators {
        accelerator_type  = "nvidia-l4"
        accelerator_count = 2
      }
    }
  }
}
