provider "google" {
  project = var.project_id
  region  = var.region

  # The provider sets these labels on all resources that have labels, so that cost reports
  # can distinguish platforms.
  default_labels = {
    managed-by = "batchwright"
    platform   = var.platform
  }
}
