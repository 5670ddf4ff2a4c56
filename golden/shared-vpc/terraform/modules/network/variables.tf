variable "network_project" {
  description = "Project that owns the VPC network."
  type        = string
  nullable    = false
}

variable "network" {
  description = "Name of the VPC network."
  type        = string
  nullable    = false
}

variable "subnet" {
  description = "Name of the subnet of the nodes."
  type        = string
  nullable    = false
}

variable "pod_range_name" {
  description = "Name of the subnet's secondary range for pods."
  type        = string
  nullable    = false
}

variable "service_range_name" {
  description = "Name of the subnet's secondary range for Services."
  type        = string
  nullable    = false
}

variable "region" {
  description = "Region of the subnet."
  type        = string
  nullable    = false
}

variable "node_prefix" {
  description = "Longest prefix of the subnet with room for all nodes."
  type        = number
  nullable    = false
}

variable "pod_prefix" {
  description = "Longest prefix of the pods' range with room for the pods of all nodes."
  type        = number
  nullable    = false
}

variable "service_prefix" {
  description = "Longest prefix of the Services' range that GKE accepts."
  type        = number
  nullable    = false
}
