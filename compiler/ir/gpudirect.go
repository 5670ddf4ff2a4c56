package ir

// Images of GPUDirect-TCPX and TCPXO: of the plugin for NCCL, which is installed
// on nodes, and of the daemon beside each pod, which receives for it. A plugin
// goes with one release of its daemon. Source: Google's Cluster Toolkit, module
// gke-node-pool, gpu_direct.tf.
const (
	TCPXPlugin  = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9"
	TCPXDaemon  = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12"
	TCPXOPlugin = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.14"
	TCPXODaemon = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.20"
)

// GIBImage is the image of the NCCL plugin of GPUDirect RDMA, for x86 or Arm.
// Source: Google's Cluster Toolkit, module kubectl-apply.
func (v Versions) GIBImage(arm bool) string {
	name := "nccl-plugin-gib"
	if arm {
		name += "-arm64"
	}
	return "us-docker.pkg.dev/gce-ai-infra/gpudirect-gib/" + name + ":v" + v.GIB
}

// Folders of a node: of the plugin of GPUDirect RDMA, of the GPU driver with the
// plugins for NCCL among its libraries, and of what TCPXO sends by. Source:
// GoogleCloudPlatform/container-engine-accelerators, gpudirect-rdma and
// gpudirect-tcpxo.
const (
	HostGIB       = "/home/kubernetes/bin/gib"
	HostNVIDIA    = "/home/kubernetes/bin/nvidia"
	HostApertures = "/dev/aperture_devices"
)
