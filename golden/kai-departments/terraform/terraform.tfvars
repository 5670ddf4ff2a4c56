project_id            = "my-project"
region                = "us-central1"
zones                 = ["us-central1-a"]
cluster_name          = "kai-departments"
node_range            = "10.0.0.0/20"
pod_range             = "10.4.0.0/14"
service_range         = "10.0.32.0/20"
control_plane_range   = "172.16.0.32/28"
authorized_networks   = {}
deletion_protection   = true
notification_channels = []
teams = {
  project-a = {
    namespace    = "project-a"
    kube_account = "project-a-ksa"
    account_id   = "wi-project-a"
    display_name = "Jobs of project-a"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
  }
  project-b = {
    namespace    = "project-b"
    kube_account = "project-b-ksa"
    account_id   = "wi-project-b"
    display_name = "Jobs of project-b"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
  }
  project-c = {
    namespace    = "project-c"
    kube_account = "project-c-ksa"
    account_id   = "wi-project-c"
    display_name = "Jobs of project-c"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
  }
  project-d = {
    namespace    = "project-d"
    kube_account = "project-d-ksa"
    account_id   = "wi-project-d"
    display_name = "Jobs of project-d"
    roles = [
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
  }
}
