terraform {
  backend "gcs" {
    bucket = "my-project-a3-ultra-flex-tfstate"
    prefix = "a3-ultra-flex/terraform-kubectl-apply"
  }
}
