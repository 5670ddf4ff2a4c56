package kubernetes

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// hostBin is the folder of a node that contains the folders ir.HostGIB and
// ir.HostNVIDIA.
const hostBin = "/home/kubernetes/bin"

// installer installs the software for one kind of GPUDirect on nodes. Google
// publishes a manifest for each (GoogleCloudPlatform/container-engine-accelerators:
// gpudirect-rdma, gpudirect-tcpx, gpudirect-tcpxo, nri_device_injector). Google's
// manifests leave some images unpinned, and select nodes only by GPU. The installers
// here do the same to the nodes of the platform's pools. They have the same names as
// Google's, because two installers in one cluster would undo each other's work.
type installer struct {
	name       string
	pools      []string
	hostPaths  []hostPath
	steps      []corev1.Container // run one after the other
	stays      *corev1.Container  // keeps running; nil for an installer that only waits
	sharesNet  bool               // with the node
	sharesPIDs bool               // with the node
}

// hostPath is a folder of the node and its mount path in installers.
type hostPath struct{ name, host, path string }

// gpuInstallers returns the installers that the platform's pools need.
func gpuInstallers(p *ir.Platform) []any {
	var all []installer
	for _, arm := range []bool{false, true} {
		all = append(all, gibInstaller(p, arm))
	}
	all = append(all, tcpxInstaller(p), tcpxoInstaller(p), gpuInjector(p))
	var objects []any
	for _, i := range all {
		if len(i.pools) > 0 {
			objects = append(objects, i.daemonSet(p))
		}
	}
	return objects
}

// gpuDirectPools returns the names of the node pools that use one of the given kinds
// of GPUDirect, either on Arm or on other machines.
func gpuDirectPools(p *ir.Platform, arm bool, ways ...ir.GPUDirect) []string {
	var out []string
	for _, c := range p.Capacities {
		if c.Machine.Arm == arm && slices.Contains(ways, c.GPUDirect) {
			out = append(out, c.Pools()...)
		}
	}
	return out
}

// gibInstaller installs the NCCL plugin of GPUDirect RDMA. It also stops the kernel
// from logging packets on the RDMA interfaces that the kernel takes for stray
// packets. On a new node the plugin appears all at once, because the first pods can
// start before it is installed.
func gibInstaller(p *ir.Platform, arm bool) installer {
	name := "nccl-rdma-installer"
	if arm {
		name += "-arm64"
	}
	return installer{
		name: name, pools: gpuDirectPools(p, arm, ir.RDMA), sharesNet: true,
		hostPaths: []hostPath{{"bin", hostBin, "/host"}},
		steps: []corev1.Container{shellContainer("install", p.Versions.GIBImage(arm), `set -eu
for martians in /proc/sys/net/ipv4/conf/gpu*rdma*/log_martians; do
  [ ! -e "$martians" ] || echo 0 >"$martians"
done
/scripts/container_entry.sh install --install-nccl
mkdir -p /host/nvidia/lib64
cp -r /var/lib/gib/lib64/. /host/nvidia/lib64
if [ -d /host/gib ]; then
  cp -r /var/lib/gib/. /host/gib
else
  rm -rf /host/gib.new
  cp -r /var/lib/gib /host/gib.new
  mv /host/gib.new /host/gib
fi
`)},
	}
}

// tcpxInstaller installs the NCCL plugin of GPUDirect-TCPX.
func tcpxInstaller(p *ir.Platform) installer {
	return installer{
		name: "nccl-tcpx-installer", pools: gpuDirectPools(p, false, ir.TCPX), sharesNet: true,
		hostPaths: pluginPaths(), steps: []corev1.Container{pluginContainer(ir.TCPXPlugin, "/var/lib/tcpx")},
	}
}

// tcpxoInstaller installs the NCCL plugin of GPUDirect-TCPXO, after it has made the
// node's kernel show pods the devices that send the data.
func tcpxoInstaller(p *ir.Platform) installer {
	prepare := shellContainer("prepare", ir.ShellImage, `exec nsenter --all --target 1 -- bash -eu -c '
iptables -C INPUT -p tcp -j ACCEPT 2>/dev/null || iptables -I INPUT -p tcp -j ACCEPT
modprobe import-helper
for device in $(lspci -nD -d 1ae0:0084 | cut -d " " -f 1); do
  mkdir -p "`+ir.HostApertures+`/$device"
  mountpoint -q "`+ir.HostApertures+`/$device" ||
    mount --bind "$(readlink -f "/sys/bus/pci/devices/$device")" "`+ir.HostApertures+`/$device"
done
chmod -R a+r `+ir.HostApertures+`
chmod a+rw `+ir.HostApertures+`/*/resource*'
`)
	return installer{
		name: "nccl-tcpxo-installer", pools: gpuDirectPools(p, false, ir.TCPXO), sharesNet: true, sharesPIDs: true,
		hostPaths: pluginPaths(),
		steps:     []corev1.Container{prepare, pluginContainer(ir.TCPXOPlugin, "/var/lib/tcpxo")},
	}
}

// gpuInjector gives the daemon in a pod access to the pod's GPUs.
func gpuInjector(p *ir.Platform) installer {
	return installer{
		name: "device-injector", pools: gpuDirectPools(p, false, ir.TCPX, ir.TCPXO), sharesNet: true, sharesPIDs: true,
		hostPaths: []hostPath{{"dev", "/dev", "/dev"}, {"nri", "/var/run/nri", "/var/run/nri"}},
		stays:     &corev1.Container{Name: "device-injector", Image: ir.InjectorImage},
	}
}

// pluginPaths returns the folders to which the plugins' images install.
func pluginPaths() []hostPath {
	return []hostPath{{"bin", hostBin, "/usr/local"}, {"var-lib", "/var/lib", "/var/lib"}}
}

func pluginContainer(image, installed string) corev1.Container {
	return shellContainer("install", image, `set -eu
chmod 755 /scripts/container_entry.sh
/scripts/container_entry.sh install --install-nccl
mkdir -p /usr/local/nvidia/lib64
cp -r `+installed+`/lib64/. /usr/local/nvidia/lib64
`)
}

func shellContainer(name, image, script string) corev1.Container {
	return corev1.Container{Name: name, Image: image, Command: []string{"/bin/sh", "-c", script}}
}

func (i installer) daemonSet(p *ir.Platform) *appsv1.DaemonSet {
	selector := map[string]string{"k8s-app": i.name}
	d := &appsv1.DaemonSet{
		TypeMeta: kubeyaml.Kind(appsv1.SchemeGroupVersion, "DaemonSet"),
		// GKE admits pods with this priority only in kube-system.
		ObjectMeta: kubeyaml.Meta(p.Name, metav1.NamespaceSystem, i.name),
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: selector},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector}},
		},
	}
	pod := &d.Spec.Template.Spec
	pod.PriorityClassName = "system-node-critical"
	pod.HostNetwork, pod.HostPID = i.sharesNet, i.sharesPIDs
	// Run on all nodes of the pools, whatever taints they have.
	pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	inPools := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: ir.LabelNodePool, Operator: corev1.NodeSelectorOpIn, Values: i.pools},
	}}
	pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{inPools},
		},
	}}
	var mounts []corev1.VolumeMount
	for _, h := range i.hostPaths {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: h.name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: h.host, Type: new(corev1.HostPathDirectoryOrCreate)},
		}})
		mounts = append(mounts, corev1.VolumeMount{Name: h.name, MountPath: h.path})
	}
	// The containers request nothing, so that a pod that takes a whole node still
	// fits.
	onHost := func(c corev1.Container) corev1.Container {
		c.VolumeMounts = mounts
		c.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		return c
	}
	for _, step := range i.steps {
		pod.InitContainers = append(pod.InitContainers, onHost(step))
	}
	if i.stays != nil {
		pod.Containers = []corev1.Container{onHost(*i.stays)}
	} else {
		pod.Containers = []corev1.Container{{Name: "pause", Image: ir.PauseImage}}
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			containers[i].Image = p.Images.Copy(containers[i].Image)
		}
	}
	return d
}
