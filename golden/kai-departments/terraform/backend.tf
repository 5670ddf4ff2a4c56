terraform {
  backend "gcs" {
    bucket = "my-project-kai-departments-tfstate"
    prefix = "kai-departments/terraform"
  }
}
