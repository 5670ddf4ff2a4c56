project_id            = "my-project"
region                = "us-central1"
zones                 = ["us-central1-a", "us-central1-b", "us-central1-c"]
cluster_name          = "gke-batch"
node_range            = "10.0.0.0/20"
pod_range             = "10.4.0.0/14"
service_range         = "10.0.32.0/20"
control_plane_range   = "172.16.0.32/28"
authorized_networks   = {}
node_account          = "gke-batch-nodes@my-project.iam.gserviceaccount.com"
security_group        = "gke-security-groups@example.com"
deletion_protection   = true
notification_channels = []
teams = {
  team-a = {
    namespace    = "team-a"
    kube_account = "team-a-ksa"
    account      = "wi-team-a@my-project.iam.gserviceaccount.com"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
    bucket = "my-project-gke-batch-team-a"
  }
  team-b = {
    namespace    = "team-b"
    kube_account = "team-b-ksa"
    account      = "wi-team-b@my-project.iam.gserviceaccount.com"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
    bucket = "my-project-gke-batch-team-b"
  }
  team-c = {
    namespace    = "team-c"
    kube_account = "team-c-ksa"
    account      = "wi-team-c@my-project.iam.gserviceaccount.com"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
    bucket = "my-project-gke-batch-team-c"
  }
  team-d = {
    namespace    = "team-d"
    kube_account = "team-d-ksa"
    account      = "wi-team-d@my-project.iam.gserviceaccount.com"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
    bucket = "my-project-gke-batch-team-d"
  }
}
