variable "release" {
  description = "URL and SHA-256 of the release manifest."
  type        = object({ url = string, sha256 = string })
}

variable "configuration" {
  description = "ConfigMap that replaces the one of the release, as YAML. null if it stays."
  type        = string
  default     = null
}

variable "namespace_selector" {
  description = "Namespaces whose objects the webhooks see, if the release selects some. null if it stays."
  type        = any
  default     = null
}

variable "pod_annotations" {
  description = "Annotations of the controllers' pods."
  type        = map(string)
  default     = {}
}
