project_id          = "my-project"
region              = "us-central1"
zones               = ["us-central1-b"]
cluster_name        = "shared-vpc"
network_project     = "net-host"
network             = "shared"
subnet              = "batch"
pod_range_name      = "batch-pods"
service_range_name  = "batch-services"
authorized_networks = {}
node_account        = "shared-vpc-nodes@my-project.iam.gserviceaccount.com"
member_accounts = [
  "user:speech@example.com",
  "user:vision@example.com",
]
deletion_protection   = true
notification_channels = []
teams = {
  speech = {
    namespace    = "speech"
    kube_account = "speech-ksa"
  }
  vision = {
    namespace    = "vision"
    kube_account = "vision-ksa"
  }
}
