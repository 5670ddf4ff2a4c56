terraform {
  # Before version 1.9, a validation cannot refer to another variable.
  required_version = ">= 1.9"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "7.45.0"
    }
  }
}
