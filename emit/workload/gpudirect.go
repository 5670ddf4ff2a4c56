package workload

import (
	"encoding/json"
	"strconv"
	"strings"

	networkv1 "github.com/GoogleCloudPlatform/gke-networking-api/apis/network/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchwright/batchwright/compiler/ir"
)

// What pods have to reach the GPUs of others by. Source of all of it:
// GoogleCloudPlatform/container-engine-accelerators, the tests of
// gpudirect-rdma, gpudirect-tcpx and gpudirect-tcpxo; Google's Cluster Toolkit,
// module gke-node-pool.
const (
	nvidiaPath = "/usr/local/nvidia" // where GPU images expect the driver
	gibPath    = "/usr/local/gib"
	socketPath = "/run/tcpx" // the daemon's end of tcpx-socket

	tcpxDaemon  = "tcpx-daemon"
	tcpxoDaemon = "tcpxo-daemon"

	envLibraries = "LD_LIBRARY_PATH"
)

// pathToGPUs gives a pod what its way to the GPUs of others takes: libraries of
// its node, and with TCPX and TCPXO a daemon that receives for it.
func pathToGPUs(w ir.Workload, pod *corev1.PodSpec, worker *corev1.Container) {
	if w.GPUDirect == "" {
		return
	}
	// Others on the node use them as well.
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
			Name: tcpxDaemon, Image: ir.TCPXDaemon,
			Command: []string{
				"/tcpgpudmarxd/build/app/tcpgpudmarxd", "--gpu_nic_preset", "a3vm", "--gpu_shmem_type", "fd",
				"--uds_path", socketPath, "--setup_param", `\"--verbose 128 2 0 \"`,
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "tcpx-socket", MountPath: socketPath}},
		}
		receive(pod, daemon, "NET_ADMIN")
	case ir.TCPXO:
		mountHost(pod, worker, "aperture-devices", ir.HostApertures, ir.HostApertures, false)
		setDefault(worker, "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY", ir.HostApertures)
		daemon := corev1.Container{
			Name: tcpxoDaemon, Image: ir.TCPXODaemon,
			Command: []string{"/bin/sh", "-c", "chmod 755 /fts/entrypoint_rxdm_container.sh\nexec " +
				"/fts/entrypoint_rxdm_container.sh --num_hops=2 --num_nics=8 --uid= --alsologtostderr\n"},
		}
		receive(pod, daemon, "NET_ADMIN", "NET_BIND_SERVICE")
	}
}

// receive puts a daemon beside the pod's container: one that starts before it
// and ends after it, so that a job can end. It sees and tunes its node's kernel.
func receive(pod *corev1.PodSpec, daemon corev1.Container, capabilities ...corev1.Capability) {
	daemon.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	daemon.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: capabilities}}
	daemon.VolumeMounts = append(daemon.VolumeMounts,
		corev1.VolumeMount{Name: "nvidia", MountPath: nvidiaPath, ReadOnly: true})
	daemon.Env = []corev1.EnvVar{{Name: envLibraries, Value: nvidiaPath + "/lib64"}}
	mountHost(pod, &daemon, "sys", "/sys", "/hostsysfs", false)
	mountHost(pod, &daemon, "proc-sys", "/proc/sys", "/hostprocsysfs", false)
	pod.InitContainers = append(pod.InitContainers, daemon)
}

// mountHost mounts a folder of the node. A pod can be there before the folder
// is, and waits for it.
func mountHost(pod *corev1.PodSpec, c *corev1.Container, name, host, path string, readOnly bool) {
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: host, Type: new(corev1.HostPathDirectory)},
	}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: readOnly})
}

// lockMemory lets a container keep in place what devices read and write. It is
// bound by its memory limit all the same.
func lockMemory(c *corev1.Container) {
	c.SecurityContext.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"IPC_LOCK"}}
}

// setDefault sets an environment variable that the workload does not set itself.
func setDefault(c *corev1.Container, name, value string) {
	for _, e := range c.Env {
		if e.Name == name {
			return
		}
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
}

// podAnnotations say which networks a workload's pods have an interface in, and
// which devices the daemon beside them needs; nil for none. GPUs are given to the
// container that requests them alone, and the device injector gives them to what
// its annotation names.
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
		networkv1.InterfaceAnnotationKey:        list(interfaces),
	}
	switch w.GPUDirect {
	case ir.TCPX:
		out[injectAnnotation+tcpxDaemon] = list(devices(w))
	case ir.TCPXO:
		out[injectAnnotation+tcpxoDaemon] = list(append(devices(w), device{"/dev/dmabuf_import_helper"}))
	}
	return out
}

// firstInterface is a pod's own, in the cluster's network.
const firstInterface = "eth0"

// injectAnnotation and a container's name are the annotation by which the device
// injector gives it devices.
const injectAnnotation = "devices.gke.io/container."

type device struct {
	Path string `json:"path"`
}

// devices are the GPUs of a pod, and what their driver is talked to by.
func devices(w ir.Workload) []device {
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

// list writes a JSON list with a line for each element.
func list[T any](elements []T) string {
	lines := make([]string, len(elements))
	for i, e := range elements {
		text, _ := json.Marshal(e) // of strings alone, which is always possible
		lines[i] = "  " + string(text)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}
