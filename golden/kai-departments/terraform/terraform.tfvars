project_id            = "my-project"
region                = "us-central1"
zones                 = ["us-central1-a"]
cluster_name          = "kai-departments"
node_range            = "10.0.0.0/20"
pod_range             = "10.4.0.0/14"
service_range         = "10.0.32.0/20"
control_plane_range   = "172.16.0.32/28"
authorized_networks   = {}
node_account          = "kai-departments-nodes@my-project.iam.gserviceaccount.com"
deletion_protection   = true
notification_channels = []
teams = {
  project-a = {
    namespace    = "project-a"
    kube_account = "project-a-ksa"
  }
  project-b = {
    namespace    = "project-b"
    kube_account = "project-b-ksa"
  }
  project-c = {
    namespace    = "project-c"
    kube_account = "project-c-ksa"
  }
  project-d = {
    namespace    = "project-d"
    kube_account = "project-d-ksa"
  }
}
