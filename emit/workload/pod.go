package workload

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

const (
	containerName = "worker"
	filesVolume   = "files"
	filesPath     = "/workload" // mount point of a workload's files
	memoryVolume  = "shared-memory"
	memoryPath    = "/dev/shm"
)

// tpuPorts are the port on which the hosts of a slice talk to each other and the
// port of the coordinator of several slices (GKE documentation: "Deploy TPU
// workloads in GKE Standard", "Deploy TPU Multislices in GKE").
var tpuPorts = [...]int32{8471, 8080}

// podSpec returns the pod of a workload. first is the host name of the first pod,
// which has an address if the workload has a rendezvous.
func podSpec(w ir.Workload, first string) corev1.PodSpec {
	resources, accelerator := podResources(w)
	container := corev1.Container{
		Name:      containerName,
		Image:     w.Image,
		Command:   w.Command,
		Env:       podEnvironment(w, first),
		Resources: resources,
		// These fields restrict what the baseline Pod Security Standard permits.
		// Images that run as root are common and stay possible.
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	pod := corev1.PodSpec{
		RestartPolicy:      corev1.RestartPolicyNever,
		ServiceAccountName: w.KubeAccount,
		PriorityClassName:  w.PriorityClass,
		SchedulerName:      w.Queueing.SchedulerName,
		Tolerations:        kubeyaml.Tolerations(w.Tolerations),
	}
	for _, s := range w.NodeSelector {
		if pod.NodeSelector == nil {
			pod.NodeSelector = make(map[string]string, len(w.NodeSelector))
		}
		pod.NodeSelector[s.Key] = s.Value
	}
	if w.HostNetwork {
		// The ports of containers are then ports of the node: two such pods do not
		// fit on one node. The pod still resolves names through the cluster's DNS.
		pod.HostNetwork = true
		pod.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	if w.GraceSeconds != 0 {
		pod.TerminationGracePeriodSeconds = new(int64(w.GraceSeconds))
	}
	mount := func(name, path string, readOnly bool, source corev1.VolumeSource) {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		container.VolumeMounts = append(container.VolumeMounts,
			corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: readOnly})
	}
	if w.ConfigMap != "" {
		mount(filesVolume, filesPath, true, corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: w.ConfigMap},
			},
		})
	}
	if accelerator == ir.TPU {
		for _, port := range tpuPorts {
			container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port})
		}
	}
	if accelerator != "" {
		// Processes that drive accelerators exchange data in this volume. The
		// default of 64 MiB for a container is too small. The volume counts towards
		// the container's memory limit.
		mount(memoryVolume, memoryPath, false, corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
		})
	}
	if w.Networks {
		pod.ResourceClaims = []corev1.PodResourceClaim{{Name: networks, ResourceClaimTemplateName: new(w.Name)}}
		container.Resources.Claims = []corev1.ResourceClaim{{Name: networks}}
	}
	pathToGPUs(w, &pod, &container)
	pod.Containers = []corev1.Container{container}
	return pod
}

// podResources returns the requests of each pod, and the name of its accelerator
// resource, which is "" without accelerators. Memory and accelerators are limited to
// the request. CPU has no limit, because a limit would slow a pod down while cores
// are idle.
func podResources(w ir.Workload) (_ corev1.ResourceRequirements, accelerator string) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, a := range w.Requests {
		name, quantity := corev1.ResourceName(a.Resource), kubeyaml.Canonical(a.Quantity)
		requests[name] = quantity
		switch name {
		case ir.CPU:
		case ir.Memory:
			limits[name] = quantity
		default:
			limits[name] = quantity
			accelerator = a.Resource
		}
	}
	return corev1.ResourceRequirements{Requests: requests, Limits: limits}, accelerator
}

// podEnvironment returns the platform's variables, then the variables from Secrets,
// then the workload's own variables. The workload's variables can refer to the
// others.
func podEnvironment(w ir.Workload, first string) []corev1.EnvVar {
	var out []corev1.EnvVar
	if w.Port != 0 {
		// The full name, as the pod knows itself: PyTorch starts the rendezvous on
		// the host that finds its own name in the address, and the short name
		// resolves only after it is published.
		master := first + "." + w.Name + "." + w.Namespace + ".svc.cluster.local"
		out = []corev1.EnvVar{
			{Name: ir.EnvMasterAddr, Value: master},
			{Name: ir.EnvMasterPort, Value: strconv.Itoa(w.Port)},
			{Name: ir.EnvNodes, Value: strconv.Itoa(w.Pods)},
		}
		if w.Slices > 1 {
			// Kubernetes numbers the pods of each Job separately.
			out = append(out, corev1.EnvVar{Name: ir.EnvJobIndex, ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + jobIndexKey + "']"},
			}})
		}
	}
	out = append(out, storageVariables(w)...)
	for _, e := range w.SecretEnv {
		out = append(out, corev1.EnvVar{Name: e.Name, ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: e.Secret}, Key: e.Key,
			},
		}})
	}
	for _, e := range w.Env {
		out = append(out, corev1.EnvVar{Name: e.Key, Value: e.Value})
	}
	return out
}

// storageVariables returns the variables that name the team's bucket and the
// platform's TensorBoard instance, if they exist.
func storageVariables(w ir.Workload) []corev1.EnvVar {
	var out []corev1.EnvVar
	if w.Bucket != "" {
		out = append(out, corev1.EnvVar{Name: ir.EnvBucket, Value: w.Bucket})
	}
	if w.TensorBoard {
		out = append(out, corev1.EnvVar{Name: ir.EnvTensorBoard, ValueFrom: &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: ir.TensorBoardConfig}, Key: ir.TensorBoardKey,
			},
		}})
	}
	return out
}

// configMap returns the ConfigMap of a workload's files. All of a team's copies of
// the workload mount the same ConfigMap.
func configMap(p *ir.Platform, w ir.Workload) *corev1.ConfigMap {
	c := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ConfigMap"},
		ObjectMeta: objectMeta(p, w, w.ConfigMap),
		Data:       make(map[string]string, len(w.Files)),
	}
	for _, f := range w.Files {
		c.Data[f.Key] = f.Value
	}
	return c
}
