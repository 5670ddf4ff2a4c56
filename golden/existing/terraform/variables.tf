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
  description = "Region of the node pools and the buckets."
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

variable "platform" {
  description = "Name of the platform, which is part of labels and titles."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]([-a-z0-9]{0,22}[a-z0-9])?$", var.platform))
    error_message = "A platform's name begins with a letter, and has at most 24 lower-case letters, digits and dashes."
  }
}

variable "cluster_location" {
  description = "Region or zone of the control plane."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+(-[a-z0-9]+)?$", var.cluster_location))
    error_message = "A location looks like us-central1 or us-central1-a."
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

variable "member_accounts" {
  description = "IAM principals of the people and service accounts that submit jobs besides the teams' groups."
  type        = list(string)
  nullable    = false

  validation {
    condition     = alltrue([for member in var.member_accounts : can(regex("^(user|serviceAccount):[^@]+@[^@]+$", member))])
    error_message = "A member is user:ADDRESS or serviceAccount:ADDRESS."
  }
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
  description = "Teams, by name: the namespace and Kubernetes service account of their jobs."
  type = map(object({
    namespace    = string
    kube_account = string
  }))
  nullable = false

  validation {
    condition     = alltrue([for team in values(var.teams) : can(regex("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", team.namespace))])
    error_message = "A namespace has at most 63 lower-case letters, digits and dashes."
  }
}
