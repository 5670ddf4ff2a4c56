terraform {
  backend "gcs" {
    bucket = "my-project-shared-vpc-tfstate"
    prefix = "shared-vpc/terraform"
  }
}
