package ir

// Images of GPUDirect-TCPX and TCPXO: of the NCCL plugin, which is installed on
// nodes, and of the daemon that runs beside each pod and receives data for it. A
// release of the plugin works with one release of its daemon. Source: Google's
// Cluster Toolkit, module gke-node-pool, gpu_direct.tf.
const (
	TCPXPlugin  = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9"
	TCPXDaemon  = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12"
	TCPXOPlugin = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.14"
	TCPXODaemon = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.20"
)

// GIBImage returns the image of the NCCL plugin of GPUDirect RDMA, for x86 or Arm.
// Source: Google's Cluster Toolkit, module kubectl-apply.
func (v Versions) GIBImage(arm bool) string {
	name := "nccl-plugin-gib"
	if arm {
		name += "-arm64"
	}
	return "us-docker.pkg.dev/gce-ai-infra/gpudirect-gib/" + name + ":v" + v.GIB
}

// Folders of a node: of the GPUDirect RDMA plugin, of the GPU driver (whose
// libraries include the NCCL plugins), and of the devices through which TCPXO sends.
// Source: GoogleCloudPlatform/container-engine-accelerators, gpudirect-rdma and
// gpudirect-tcpxo.
const (
	HostGIB       = "/home/kubernetes/bin/gib"
	HostNVIDIA    = "/home/kubernetes/bin/nvidia"
	HostApertures = "/dev/aperture_devices"
)
