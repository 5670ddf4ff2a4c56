terraform {
  backend "gcs" {
    bucket = "my-project-gke-batch-tfstate"
    prefix = "gke-batch/terraform-kubectl-apply"
  }
}
