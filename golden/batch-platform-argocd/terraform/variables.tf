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
  description = "Region of the control plane, the network and the buckets."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "A region looks like us-central1."
  }
}

variable "zones" {
  description = "Zones of the nodes. A node pool can use fewer zones."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.zones) > 0 && alltrue([for zone in var.zones : startswith(zone, "${var.region}-")])
    error_message = "Give at least one zone. Every zone must be in the region."
  }
}

variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$", var.cluster_name))
    error_message = "A cluster name begins with a letter, and has at most 40 lower-case letters, digits and dashes."
  }
}

variable "node_range" {
  description = "Primary range of the subnet. Each node takes one address."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrhost(var.node_range, 0))
    error_message = "Write the range in CIDR notation, such as 10.0.0.0/20."
  }
}

variable "pod_range" {
  description = "Secondary range of the pods. Each node takes a /24."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrhost(var.pod_range, 0))
    error_message = "Write the range in CIDR notation, such as 10.0.0.0/20."
  }
}

variable "service_range" {
  description = "Secondary range of the Services."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrhost(var.service_range, 0))
    error_message = "Write the range in CIDR notation, such as 10.0.0.0/20."
  }
}

variable "control_plane_range" {
  description = "Range of the control plane, a /28."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrhost(var.control_plane_range, 0)) && endswith(var.control_plane_range, "/28")
    error_message = "The range of the control plane must be a /28, such as 172.16.0.32/28."
  }
}

variable "authorized_networks" {
  description = "Ranges that may reach the control plane's IP endpoint, by name. If there are none, the endpoint has no public address."
  type        = map(string)
  nullable    = false

  validation {
    condition     = alltrue([for range in values(var.authorized_networks) : can(cidrhost(range, 0))])
    error_message = "Write every range in CIDR notation, such as 203.0.113.0/24."
  }
}

variable "node_account" {
  description = "Email address of the nodes' service account, which create-platform.sh creates."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[^@]+@[^@]+$", var.node_account))
    error_message = "An address looks like NAME@PROJECT.iam.gserviceaccount.com."
  }
}

variable "security_group" {
  description = "Google group that contains the teams' groups, for Kubernetes RBAC."
  type        = string
  nullable    = false

  validation {
    condition     = startswith(var.security_group, "gke-security-groups@")
    error_message = "GKE accepts only a group named gke-security-groups@DOMAIN."
  }
}

variable "deletion_protection" {
  description = "If true, Terraform refuses to destroy the cluster."
  type        = bool
  nullable    = false
}

variable "notification_channels" {
  description = "Full resource names of the Cloud Monitoring channels that receive the alerts."
  type        = list(string)
  nullable    = false

  validation {
    condition     = alltrue([for channel in var.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", channel))])
    error_message = "A channel is named projects/PROJECT/notificationChannels/ID."
  }
}

variable "teams" {
  description = "Teams, by name: the namespace and Kubernetes service account of their jobs, the Google service account that the jobs act as, their project roles, their bucket."
  type = map(object({
    namespace    = string
    kube_account = string
    account      = optional(string)
    roles        = optional(set(string), [])
    bucket       = optional(string)
  }))
  nullable = false

  validation {
    condition     = alltrue([for team in values(var.teams) : can(regex("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", team.namespace))])
    error_message = "A namespace has at most 63 lower-case letters, digits and dashes."
  }
}
