project_id          = "my-project"
region              = "us-central1"
zones               = ["us-central1-b"]
cluster_name        = "a3-ultra-flex"
node_range          = "192.168.0.0/18"
pod_range           = "10.4.0.0/14"
service_range       = "10.0.32.0/20"
control_plane_range = "172.16.0.32/28"
authorized_networks = {
  office = "203.0.113.0/24"
}
gvnic_range    = "192.168.64.0/18"
rdma_range     = "192.168.128.0/18"
node_account   = "a3-ultra-flex-nodes@my-project.iam.gserviceaccount.com"
security_group = "gke-security-groups@example.com"
member_accounts = [
  "user:analyst@example.com",
]
deletion_protection   = true
notification_channels = []
teams = {
  products = {
    namespace    = "products"
    kube_account = "products-ksa"
    bucket       = "my-project-a3-ultra-flex-products"
  }
  research = {
    namespace    = "research"
    kube_account = "research-ksa"
    bucket       = "my-project-a3-ultra-flex-research"
  }
}
