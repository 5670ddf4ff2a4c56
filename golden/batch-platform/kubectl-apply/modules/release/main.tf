data "http" "manifest" {
  url = var.release.url

  lifecycle {
    postcondition {
      condition     = var.release.sha256 == "" || sha256(self.response_body) == var.release.sha256
      error_message = "The SHA-256 of ${var.release.url} is ${sha256(self.response_body)}. If it is right, set versions.sha256 in the blueprint and compile again."
    }
  }
}

data "kubectl_file_documents" "release" {
  content = data.http.manifest.response_body
}

locals {
  released = {
    for document in values(data.kubectl_file_documents.release.manifests) :
    join("/", compact([
      yamldecode(document).kind,
      try(yamldecode(document).metadata.namespace, ""),
      yamldecode(document).metadata.name,
    ])) => yamldecode(document)
  }
  configuration = {
    for document in compact([var.configuration]) :
    "ConfigMap/${yamldecode(document).metadata.namespace}/${yamldecode(document).metadata.name}" => document
  }
  objects = merge({
    for id, object in local.released : id => yamlencode(merge(object,
      { for field in ["webhooks"] : field => [
        for webhook in object[field] : merge(webhook, {
          for selector in ["namespaceSelector"] : selector => var.namespace_selector if can(webhook[selector])
        })
      ] if var.namespace_selector != null && can(object[field]) },
      { for field in ["spec"] : field => merge(object.spec, { template = merge(object.spec.template, {
        metadata = merge(object.spec.template.metadata, {
          annotations = merge(try(object.spec.template.metadata.annotations, {}), var.pod_annotations)
        })
      }) }) if object.kind == "Deployment" },
    ))
  }, local.configuration)
  foundations = toset([for id in keys(local.objects) : id if can(regex("^(Namespace|CustomResourceDefinition)/", id))])
  deployments = toset([for id in keys(local.objects) : id if startswith(id, "Deployment/")])
}

resource "kubectl_manifest" "foundations" {
  for_each = local.foundations

  yaml_body         = local.objects[each.key]
  server_side_apply = true
  force_conflicts   = true
  wait              = true
  wait_for_rollout  = false
}

resource "kubectl_manifest" "settings" {
  for_each = setsubtract(keys(local.objects), setunion(local.foundations, local.deployments))

  yaml_body         = local.objects[each.key]
  server_side_apply = true
  force_conflicts   = true
  wait_for_rollout  = false

  depends_on = [kubectl_manifest.foundations]
}

resource "kubectl_manifest" "deployments" {
  for_each = local.deployments

  yaml_body         = local.objects[each.key]
  server_side_apply = true
  force_conflicts   = true
  wait_for_rollout  = true

  depends_on = [kubectl_manifest.settings]
}
