project_id   = "my-project"
region       = "us-central1"
cluster_name = "gke-batch"
kueue_release = {
  url    = "https://github.com/kubernetes-sigs/kueue/releases/download/v0.19.2/manifests.yaml"
  sha256 = "88881eb50734eb920b67486ebc2aa978ed325e1b12d99b22fc51a6d7e9e4d370"
}
jobset_release = {
  url    = "https://github.com/kubernetes-sigs/jobset/releases/download/v0.12.0/manifests.yaml"
  sha256 = "a41aaf12dd0b7b0a3d626b8d6107f32c3dc889d7e7830adc46b8cdb77a8963bb"
}
