variable "name" {
  description = "Name of the VPC network, and prefix of the names of its router, NAT and firewall rule."
  type        = string
  nullable    = false
}

variable "subnet" {
  description = "Name of the subnet."
  type        = string
  nullable    = false
}

variable "region" {
  description = "Region of the subnet, the router and the NAT."
  type        = string
  nullable    = false
}

variable "node_range" {
  description = "Primary range of the subnet, for the nodes."
  type        = string
  nullable    = false
}

variable "pod_range" {
  description = "Secondary range of the subnet, for the pods."
  type        = string
  nullable    = false
}

variable "service_range" {
  description = "Secondary range of the subnet, for the Services."
  type        = string
  nullable    = false
}

variable "control_plane_range" {
  description = "Range of the control plane, which calls webhooks on the nodes."
  type        = string
  nullable    = false
}

variable "node_service_account" {
  description = "Email address of the nodes' service account. The firewall rule selects the nodes by it."
  type        = string
  nullable    = false
}
