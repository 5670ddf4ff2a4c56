variable "project_id" {
  description = "Project of the cluster."
  type        = string
  nullable    = false
}

variable "name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "location" {
  description = "Region or zone of the control plane."
  type        = string
  nullable    = false
}

variable "security_group" {
  description = "Google group that contains the teams' groups."
  type        = string
  nullable    = false
}
