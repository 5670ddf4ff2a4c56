terraform {
  backend "gcs" {
    bucket = "my-project-tpu-training-tfstate"
    prefix = "tpu-training/terraform-kubectl-apply"
  }
}
