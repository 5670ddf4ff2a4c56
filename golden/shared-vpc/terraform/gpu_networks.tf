locals {
  # VPC networks and subnets of GPU nodes, in addition to the cluster's network. They belong
  # to others. Each key is also the name of the Kubernetes Network through which pods use
  # the subnet.
  gpu_subnets = {
    gvnic-1 = { network = "gpu-gvnic", subnet = "gpu-gvnic-b" }
    rdma-0  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-0" }
    rdma-1  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-1" }
    rdma-2  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-2" }
    rdma-3  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-3" }
    rdma-4  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-4" }
    rdma-5  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-5" }
    rdma-6  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-6" }
    rdma-7  = { network = "gpu-rdma-b", subnet = "gpu-rdma-b-7" }
  }
}
