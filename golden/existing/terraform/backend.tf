terraform {
  backend "gcs" {
    bucket = "my-project-research-tfstate"
    prefix = "research/terraform"
  }
}
