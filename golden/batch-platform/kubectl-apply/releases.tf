locals {
  kueue_configuration = file("${path.module}/../kubernetes/system/kueue-configuration.yaml")
}

# The controller reads its configuration only when it starts: the digest in its pods restarts it.
# Its webhooks see the namespaces that the configuration selects.
module "kueue" {
  source = "./modules/release"

  release            = var.kueue_release
  configuration      = local.kueue_configuration
  namespace_selector = yamldecode(yamldecode(local.kueue_configuration).data["controller_manager_config.yaml"]).managedJobsNamespaceSelector
  pod_annotations    = { "batchwright/configuration" = sha256(local.kueue_configuration) }
}

module "jobset" {
  source = "./modules/release"

  release = var.jobset_release
}
