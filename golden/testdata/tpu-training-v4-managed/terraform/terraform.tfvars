project_id            = "my-project"
region                = "us-central2"
zones                 = ["us-central2-b"]
cluster_name          = "tpu-training"
node_range            = "10.129.0.0/20"
pod_range             = "192.168.128.0/17"
service_range         = "192.168.80.0/20"
control_plane_range   = "172.16.0.32/28"
authorized_networks   = {}
node_account          = "tpu-training-nodes@my-project.iam.gserviceaccount.com"
deletion_protection   = true
tensorboard_region    = "us-central1"
notification_channels = []
teams = {
  tpu-research = {
    namespace    = "tpu-research"
    kube_account = "tpu-research-ksa"
  }
  tpu-training = {
    namespace    = "tpu-training"
    kube_account = "tpu-training-ksa"
    account      = "wi-tpu-training@my-project.iam.gserviceaccount.com"
    roles = [
      "projects/my-project/roles/tpu_training_tensorboard_writer",
      "roles/logging.logWriter",
      "roles/monitoring.metricWriter",
    ]
    bucket            = "my-project-tpu-training-tpu-training"
    nodes_list_bucket = true
  }
}
