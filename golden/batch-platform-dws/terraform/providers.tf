provider "google" {
  project = var.project_id
  region  = var.region

  # On everything that takes labels, so that cost reports can tell platforms apart.
  default_labels = {
    managed-by = "batchwright"
    platform   = var.cluster_name
  }
}
