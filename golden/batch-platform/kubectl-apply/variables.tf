variable "project_id" {
  description = "Google Cloud project of the platform."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][-a-z0-9]{4,28}[a-z0-9]$", var.project_id))
    error_message = "A project ID has 6 to 30 lower-case letters, digits and dashes."
  }
}

variable "region" {
  description = "Region of the control plane."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "A region looks like us-central1."
  }
}

variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "kueue_release" {
  description = "Release manifest of Kueue, and its SHA-256. Any manifest is accepted if it is \"\"."
  type        = object({ url = string, sha256 = string })
  nullable    = false
}

variable "jobset_release" {
  description = "Release manifest of JobSet, and its SHA-256. Any manifest is accepted if it is \"\"."
  type        = object({ url = string, sha256 = string })
  nullable    = false
}
