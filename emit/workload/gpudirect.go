package workload

import (
	"encoding/json"
	"strconv"
	"strings"

	networkv1 "github.com/GoogleCloudPlatform/gke-networking-api/apis/network/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Paths, images and names that pods need for GPUDirect. Source of all of them:
// GoogleCloudPlatform/container-engine-accelerators, the tests of gpudirect-rdma,
// gpudirect-tcpx and gpudirect-tcpxo; Google's Cluster Toolkit, module
// gke-node-pool.
const (
	nvidiaPath = "/usr/local/nvidia" // GPU images expect the driver here
	gibPath    = "/usr/local/gib"
	socketPath = "/run/tcpx" // where the daemon mounts the volume tcpx-socket

	tcpxDaemon  = "tcpx-daemon"
	tcpxoDaemon = "tcpxo-daemon"

	envLibraries = "LD_LIBRARY_PATH"
)

// pathToGPUs gives a pod what GPUDirect needs: libraries of its node, and with TCPX
// and TCPXO a daemon that receives data for the pod.
func pathToGPUs(w ir.Workload, pod *corev1.PodSpec, worker *corev1.Container) {
	if w.GPUDirect == "" {
		return
	}
	// Other pods on the node use the folders as well.
	const readOnly = true
	mountHost(pod, worker, "nvidia", ir.HostNVIDIA, nvidiaPath, readOnly)
	setDefault(worker, envLibraries, nvidiaPath+"/lib64")
	switch w.GPUDirect {
	case ir.RDMA:
		mountHost(pod, worker, "gib", ir.HostGIB, gibPath, readOnly)
		lockMemory(worker)
	case ir.TCPX:
		pod.Volumes = append(pod.Volumes,
			corev1.Volume{
				Name: "tcpx-socket", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
			})
		worker.VolumeMounts = append(worker.VolumeMounts, corev1.VolumeMount{Name: "tcpx-socket", MountPath: "/tmp"})
		lockMemory(worker)
		daemon := corev1.Container{
			Name: tcpxDaemon, Image: w.DaemonImage,
			Command: []string{
				"/tcpgpudmarxd/build/app/tcpgpudmarxd", "--gpu_nic_preset", "a3vm", "--gpu_shmem_type", "fd",
				"--uds_path", socketPath, "--setup_param", `\"--verbose 128 2 0 \"`,
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "tcpx-socket", MountPath: socketPath}},
		}
		addSidecar(pod, daemon, "NET_ADMIN")
	case ir.TCPXO:
		mountHost(pod, worker, "aperture-devices", ir.HostApertures, ir.HostApertures, false)
		setDefault(worker, "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY", ir.HostApertures)
		daemon := corev1.Container{
			Name: tcpxoDaemon, Image: w.DaemonImage,
			Command: []string{"/bin/sh", "-c", "chmod 755 /fts/entrypoint_rxdm_container.sh\nexec " +
				"/fts/entrypoint_rxdm_container.sh --num_hops=2 --num_nics=8 --uid= --alsologtostderr\n"},
		}
		addSidecar(pod, daemon, "NET_ADMIN", "NET_BIND_SERVICE")
	}
}

// addSidecar adds a daemon to a pod as a sidecar. The daemon starts before the pod's
// container and ends after it, so that a job can end. It sees and tunes the kernel
// of its node.
func addSidecar(pod *corev1.PodSpec, daemon corev1.Container, capabilities ...corev1.Capability) {
	daemon.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	daemon.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: capabilities}}
	daemon.VolumeMounts = append(daemon.VolumeMounts,
		corev1.VolumeMount{Name: "nvidia", MountPath: nvidiaPath, ReadOnly: true})
	daemon.Env = []corev1.EnvVar{{Name: envLibraries, Value: nvidiaPath + "/lib64"}}
	mountHost(pod, &daemon, "sys", "/sys", "/hostsysfs", false)
	mountHost(pod, &daemon, "proc-sys", "/proc/sys", "/hostprocsysfs", false)
	pod.InitContainers = append(pod.InitContainers, daemon)
}

// mountHost mounts a folder of the node in a container. If the folder does not exist
// yet, the pod waits for it.
func mountHost(pod *corev1.PodSpec, c *corev1.Container, name, host, path string, readOnly bool) {
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: host, Type: new(corev1.HostPathDirectory)},
	}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: readOnly})
}

// lockMemory lets a container lock the memory that devices read and write. The
// container's memory limit still applies.
func lockMemory(c *corev1.Container) {
	c.SecurityContext.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"IPC_LOCK"}}
}

// setDefault sets an environment variable if the workload does not set it itself.
func setDefault(c *corev1.Container, name, value string) {
	for _, e := range c.Env {
		if e.Name == name {
			return
		}
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
}

// podAnnotations returns the annotations that list the networks in which a
// workload's pods have an interface, and the devices that the daemon in the pod
// needs; nil if there are none. Only the container that requests GPUs gets them; the
// device injector gives the daemon the devices that its annotation names.
func podAnnotations(w ir.Workload) map[string]string {
	if len(w.Interfaces) == 0 {
		return nil
	}
	network := networkv1.DefaultPodNetworkName
	interfaces := []networkv1.InterfaceRef{{InterfaceName: firstInterface, Network: &network}}
	for _, i := range w.Interfaces {
		interfaces = append(interfaces, networkv1.InterfaceRef{InterfaceName: i.Name, Network: &i.Network})
	}
	out := map[string]string{
		networkv1.DefaultInterfaceAnnotationKey: firstInterface,
		networkv1.InterfaceAnnotationKey:        jsonLines(interfaces),
	}
	switch w.GPUDirect {
	case ir.TCPX:
		out[injectAnnotation+tcpxDaemon] = jsonLines(gpuDevices(w))
	case ir.TCPXO:
		out[injectAnnotation+tcpxoDaemon] = jsonLines(append(gpuDevices(w), device{"/dev/dmabuf_import_helper"}))
	}
	return out
}

// firstInterface is a pod's own interface, in the cluster's network.
const firstInterface = "eth0"

// injectAnnotation, followed by a container's name, is the annotation that tells the
// device injector which devices to give to the container.
const injectAnnotation = "devices.gke.io/container."

type device struct {
	Path string `json:"path"`
}

// gpuDevices returns the GPUs of a pod and the control devices of their driver.
func gpuDevices(w ir.Workload) []device {
	var out []device
	for _, a := range w.Requests {
		if a.Resource == ir.GPU {
			for i := range a.Quantity.Value() {
				out = append(out, device{"/dev/nvidia" + strconv.FormatInt(i, 10)})
			}
		}
	}
	return append(out, device{"/dev/nvidiactl"}, device{"/dev/nvidia-uvm"})
}

// jsonLines returns a JSON list with each element on a line of its own.
func jsonLines[T any](elements []T) string {
	lines := make([]string, len(elements))
	for i, e := range elements {
		text, _ := json.Marshal(e) // the elements hold only strings, so that marshalling cannot fail
		lines[i] = "  " + string(text)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}
