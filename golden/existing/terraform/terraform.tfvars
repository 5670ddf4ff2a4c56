project_id       = "my-project"
region           = "us-central1"
zones            = ["us-central1-a", "us-central1-c"]
cluster_name     = "prod"
platform         = "research"
cluster_location = "us-central1"
node_account     = "research-nodes@my-project.iam.gserviceaccount.com"
security_group   = "gke-security-groups@example.com"
member_accounts = [
  "serviceAccount:ci@my-project.iam.gserviceaccount.com",
  "user:ana@example.com",
]
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
