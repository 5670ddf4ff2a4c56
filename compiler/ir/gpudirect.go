package ir

// Images of GPUDirect-TCPX and TCPXO: of the NCCL plugin, which is installed on
// nodes, and of the daemon that runs beside each pod and receives data for it. A
// release of the plugin works with one release of its daemon. Sources: Google's Cluster
// Toolkit, module gke-node-pool, gpu_direct.tf; for TCPXO, the release notes in
// GoogleCloudPlatform/container-engine-accelerators, of 2026-01-09.
const (
	TCPXPlugin  = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9"
	TCPXDaemon  = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12"
	TCPXOPlugin = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.15"
	TCPXODaemon = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.21"
)

// Images that the installers of GPUDirect need in addition. Source: Google's own
// installers (GoogleCloudPlatform/container-engine-accelerators), in which the host is
// prepared in an unpinned image.
const (
	PauseImage    = "gke.gcr.io/pause:3.8@sha256:880e63f94b145e46f1b1082bb71b85e21f16b99b180b9996407d61240ceb9830"
	ShellImage    = "ubuntu:24.04"
	InjectorImage = "gcr.io/gke-release/nri-device-injector@sha256:" +
		"6e79483d52abdc28454bf186320b10a56b0f117a10e8d65d5c74dbb821a76970"
)

// Daemon returns the public image of the daemon that receives data for pods, "" if the
// transport needs none.
func (d GPUDirect) Daemon() string {
	switch d {
	case TCPX:
		return TCPXDaemon
	case TCPXO:
		return TCPXODaemon
	}
	return ""
}

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
