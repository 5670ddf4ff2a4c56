data "kubectl_kustomize_documents" "platform" {
  target = "${path.module}/../kubernetes"
}

locals {
  # The module kueue applies Kueue's configuration.
  objects = {
    for document in data.kubectl_kustomize_documents.platform.documents :
    join("/", compact([
      yamldecode(document).kind,
      try(yamldecode(document).metadata.namespace, ""),
      yamldecode(document).metadata.name,
    ])) => document
    if yamldecode(document).metadata.name != yamldecode(local.kueue_configuration).metadata.name
  }
  accounts   = { for id, document in local.objects : id => document if startswith(id, "ServiceAccount/") }
  namespaced = { for id, document in local.objects : id => document if length(split("/", id)) == 3 && !contains(keys(local.accounts), id) }
  namespaces = { for id, document in local.objects : id => document if startswith(id, "Namespace/") }
  queues     = { for id, document in local.objects : id => document if startswith(id, "ClusterQueue/") }
  shared     = { for id, document in local.objects : id => document if !contains(keys(merge(local.accounts, local.namespaced, local.namespaces, local.queues)), id) }
}

# Kubernetes does not change the value of a PriorityClass: Terraform creates it again.
resource "kubectl_manifest" "shared" {
  for_each = local.shared

  yaml_body         = each.value
  server_side_apply = true
  force_conflicts   = true
  wait              = true
  force_new         = startswith(each.key, "PriorityClass/")

  depends_on = [module.kueue, module.jobset]
}

# Kueue keeps a ResourceFlavor as long as a ClusterQueue uses it.
resource "kubectl_manifest" "queues" {
  for_each = local.queues

  yaml_body         = each.value
  server_side_apply = true
  force_conflicts   = true
  wait              = true

  depends_on = [kubectl_manifest.shared]
}

resource "kubectl_manifest" "namespaces" {
  for_each = local.namespaces

  yaml_body         = each.value
  server_side_apply = true
  force_conflicts   = true
  wait              = true

  depends_on = [kubectl_manifest.queues]
}

# Kubernetes deletes a token's Secret that exists before its ServiceAccount.
resource "kubectl_manifest" "accounts" {
  for_each = local.accounts

  yaml_body         = each.value
  server_side_apply = true
  force_conflicts   = true

  depends_on = [kubectl_manifest.namespaces]
}

# Kueue does not move a LocalQueue to another ClusterQueue: Terraform creates it again. Jobs that
# run continue.
resource "kubectl_manifest" "namespaced" {
  for_each = local.namespaced

  yaml_body         = each.value
  server_side_apply = true
  force_conflicts   = true
  force_new         = startswith(each.key, "LocalQueue/")

  depends_on = [kubectl_manifest.accounts]
}
