package check

import "testing"

// shapes is a small deploy folder with a ComputeClass and TPU slices, without
// mistakes.
const shapes = `
-- kubernetes/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- compute-classes.yaml
- resource-flavors.yaml
- admission-checks.yaml
- teams/team-a.yaml
-- kubernetes/compute-classes.yaml --
apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata:
  name: l4
spec:
  nodePoolAutoCreation:
    enabled: true
  nodePoolConfig:
    serviceAccount: nodes@p.iam.gserviceaccount.com
  priorities:
  - gpu:
      count: 2
      driverVersion: default
      type: nvidia-l4
    machineType: g2-standard-24
    reservations:
      affinity: Specific
      specific:
      - name: ours
        reservationBlock:
          name: b
    spot: false
    storage:
      bootDiskSize: 100
      bootDiskType: pd-balanced
  whenUnsatisfiable: DoNotScaleUp
-- kubernetes/resource-flavors.yaml --
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: l4
spec:
  nodeLabels:
    cloud.google.com/compute-class: l4
  nodeTaints:
  - effect: NoSchedule
    key: cloud.google.com/compute-class
    value: l4
  - effect: NoSchedule
    key: nvidia.com/gpu
    value: present
  tolerations:
  - effect: NoSchedule
    key: cloud.google.com/compute-class
    operator: Equal
    value: l4
  - effect: NoSchedule
    key: nvidia.com/gpu
    operator: Equal
    value: present
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: v6e
spec:
  nodeLabels:
    cloud.google.com/gke-tpu-topology: 2x4
  nodeTaints:
  - effect: NoSchedule
    key: google.com/tpu
    value: present
  tolerations:
  - effect: NoSchedule
    key: google.com/tpu
    operator: Equal
    value: present
-- kubernetes/admission-checks.yaml --
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata:
  name: dws-v6e
spec:
  managedResources:
  - google.com/tpu
  parameters:
    tpu-topology: 2x4
  provisioningClassName: queued-provisioning.gke.io
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata:
  name: dws-v6e
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters:
    apiGroup: kueue.x-k8s.io
    kind: ProvisioningRequestConfig
    name: dws-v6e
-- kubernetes/teams/team-a.yaml --
apiVersion: v1
kind: Namespace
metadata:
  annotations:
    queues: gpus=lp, tpus=lp
  name: team-a
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ksa
  namespace: team-a
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: lp
value: 10
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: gpus
spec:
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: team-a
  resourceGroups:
  - coveredResources:
    - nvidia.com/gpu
    flavors:
    - name: l4
      resources:
      - name: nvidia.com/gpu
        nominalQuota: "4"
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: tpus
spec:
  admissionChecksStrategy:
    admissionChecks:
    - name: dws-v6e
      onFlavors:
      - v6e
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: team-a
  resourceGroups:
  - coveredResources:
    - google.com/tpu
    flavors:
    - name: v6e
      resources:
      - name: google.com/tpu
        nominalQuota: "16"
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: gpus
  namespace: team-a
spec:
  clusterQueue: gpus
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: tpus
  namespace: team-a
spec:
  clusterQueue: tpus
-- workloads/team-a/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- job.yaml
- slices.yaml
-- workloads/team-a/job.yaml --
apiVersion: batch/v1
kind: Job
metadata:
  labels:
    kueue.x-k8s.io/queue-name: gpus
  name: job
  namespace: team-a
spec:
  template:
    spec:
      containers:
      - name: worker
        resources:
          limits:
            nvidia.com/gpu: "2"
          requests:
            nvidia.com/gpu: "2"
      nodeSelector:
        cloud.google.com/compute-class: l4
      priorityClassName: lp
      serviceAccountName: ksa
      tolerations:
      - effect: NoSchedule
        key: cloud.google.com/compute-class
        operator: Equal
        value: l4
      - effect: NoSchedule
        key: nvidia.com/gpu
        operator: Equal
        value: present
-- workloads/team-a/slices.yaml --
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  annotations:
    provreq.kueue.x-k8s.io/maxRunDurationSeconds: "3600"
  labels:
    kueue.x-k8s.io/queue-name: tpus
  name: slices
  namespace: team-a
spec:
  network:
    enableDNSHostnames: true
  replicatedJobs:
  - name: worker
    replicas: 2
    template:
      metadata:
        annotations:
          alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool
      spec:
        backoffLimit: 0
        completionMode: Indexed
        completions: 2
        parallelism: 2
        template:
          spec:
            containers:
            - name: worker
              ports:
              - containerPort: 8471
              - containerPort: 8080
              resources:
                limits:
                  google.com/tpu: "4"
                requests:
                  google.com/tpu: "4"
            priorityClassName: lp
            serviceAccountName: ksa
            tolerations:
            - effect: NoSchedule
              key: google.com/tpu
              operator: Equal
              value: present
`

// beside is an additional replicated job for slices.yaml.
const beside = `  - name: upload
    replicas: 1
    template:
      spec:
        template:
          spec:
            containers:
            - name: upload
              resources: {}
            priorityClassName: lp
            serviceAccountName: ksa
            tolerations:
            - effect: NoSchedule
              key: google.com/tpu
              operator: Equal
              value: present
`

// TestCheckShapes breaks the folder in one place for each case.
func TestCheckShapes(t *testing.T) {
	const (
		classes = "kubernetes/compute-classes.yaml"
		flavors = "kubernetes/resource-flavors.yaml"
		checks  = "kubernetes/admission-checks.yaml"
		team    = "kubernetes/teams/team-a.yaml"
		job     = "workloads/team-a/job.yaml"
		slices  = "workloads/team-a/slices.yaml"
	)
	for _, test := range []struct {
		name, file, old, new string
		want                 string // part of an error; "" for none at all
	}{
		{name: "nothing"},
		{
			"a field that classes do not have", classes, "  priorities:\n", "  description: x\n  priorities:\n",
			`unknown field "description"`,
		},
		{"a node's type misspelt", classes, "machineType", "machinetype", "prints as something else"},
		{"no machine type", classes, "machineType: g2-standard-24", `machineType: ""`, "no machine type"},
		{"nothing created", classes, "enabled: true", "enabled: false", "GKE would create no nodes for it"},
		{
			"other nodes instead", classes, "DoNotScaleUp", "ScaleUpAnyway",
			"GKE would create no nodes for it, or others",
		},
		{
			"no such affinity", classes, "affinity: Specific", "affinity: SPECIFIC_RESERVATION",
			`there is no affinity "SPECIFIC_RESERVATION"`,
		},
		{
			"no reservation named", classes,
			"      specific:\n      - name: ours\n        reservationBlock:\n          name: b\n", "",
			"affinity Specific and 0 reservations",
		},
		{
			"zones beside the reservation's", classes, "    machineType",
			"    location:\n      zones:\n      - us-central1-a\n    machineType", "has zones of its own",
		},
		{"reserved Spot nodes", classes, "spot: false", "spot: true", "come from no reservation"},
		{
			"flex-start without end", classes, "  - gpu:", "  - flexStart:\n      enabled: true\n    gpu:",
			"flex-start nodes run for a time",
		},
		{
			"no such driver", classes, "driverVersion: default", "driverVersion: DEFAULT",
			`there is no driver version "DEFAULT"`,
		},
		{"class without a flavor", classes, "name: l4", "name: l5", "refers to ResourceFlavor /l5"},
		{"flavor without a class", flavors, "compute-class: l4", "compute-class: l5", "refers to ComputeClass /l5"},
		{
			"flavor of more than the class", flavors, "    cloud.google.com/compute-class: l4\n",
			"    cloud.google.com/compute-class: l4\n    cloud.google.com/gke-spot: \"true\"\n",
			"select the class alone",
		},
		{
			"class without its taint", flavors,
			"  - effect: NoSchedule\n    key: cloud.google.com/compute-class\n    value: l4\n", "",
			`GKE taints its nodes ["cloud.google.com/compute-class=l4:NoSchedule" "nvidia.com/gpu=present:NoSchedule"]`,
		},
		{
			"class with another's taint", flavors, "key: cloud.google.com/compute-class\n    value: l4",
			"key: cloud.google.com/compute-class\n    value: l5", "GKE taints its nodes",
		},
		{"class of Arm machines", classes, "g2-standard-24", "a4x-highgpu-4g", `"kubernetes.io/arch=arm64:NoSchedule"`},
		{
			"class with one taint more", flavors, "  nodeTaints:\n",
			"  nodeTaints:\n  - effect: NoSchedule\n    key: spot\n    value: \"true\"\n", "GKE taints its nodes",
		},
		{
			"pods select more than the class", job, "compute-class: l4\n",
			"compute-class: l4\n        cloud.google.com/gke-spot: \"true\"\n", "selected by the class alone",
		},

		{
			"request for another shape", checks, "tpu-topology: 2x4", "tpu-topology: 4x4",
			`asks for topology "4x4", and flavor v6e has "2x4"`,
		},
		{
			"request for no shape", checks, "  parameters:\n    tpu-topology: 2x4\n", "",
			`asks for topology "", and flavor v6e has "2x4"`,
		},
		{
			"request for another resource", checks, "- google.com/tpu", "- nvidia.com/gpu",
			"asks for nvidia.com/gpu, which flavor v6e does not have",
		},
		{
			"nodes on request for no time", slices, "provreq.kueue", "x.kueue",
			"how long nodes on request are wanted: false, and its queue has some: true",
		},

		{
			"larger slices than jobs", flavors, "topology: 2x4", "topology: 4x4",
			"2 of 2 pods at once, and a slice of 4x4 has 4 hosts",
		},
		{"not all hosts at once", slices, "parallelism: 2", "parallelism: 1", "1 of 2 pods at once"},
		{
			"slices of single hosts", flavors, "topology: 2x4", "topology: 2x2",
			"keeps other jobs off the pool of its slice of one host",
		},
		{
			"part of a host", slices, "google.com/tpu: \"4\"", "google.com/tpu: \"8\"",
			"requests 4 and at most 8 of the 8 chips",
		},
		{
			"slices shared", slices, "exclusive-topology: cloud", "other-topology: cloud",
			"does not keep a slice of 2 hosts together",
		},
		{
			"slices by zone", slices, "cloud.google.com/gke-nodepool", "topology.kubernetes.io/zone",
			"does not keep a slice of 2 hosts together",
		},
		{"hosts that restart alone", slices, "backoffLimit: 0", "backoffLimit: 3", "restart alone"},
		{
			"hosts without names", slices, "enableDNSHostnames: true", "enableDNSHostnames: false",
			"the hosts of its slices have no names",
		},
		{"hosts without ports", slices, "              - containerPort: 8080\n", "", "has ports [8471]"},
		{
			"replicas beyond the quota", team, "nominalQuota: \"16\"", "nominalQuota: \"12\"",
			"no flavor's quota holds its 4 pods",
		},
		{
			"pods beside kept apart, too", slices, "  annotations:\n    provreq",
			"  annotations:\n    alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool\n    " +
				"provreq", "keeps pods beside its own off",
		},
		{
			"pods that are waited for", slices, "  - name: worker\n    replicas: 2\n",
			beside + "  - name: worker\n    replicas: 2\n", "waits for the pods beside its own",
		},
		{
			"many pods beside", slices, "  - name: worker\n    replicas: 2\n",
			beside + "  - name: worker\n    replicas: 2\n", "worker is more than a pod beside its own",
		},
	} {
		t.Run(test.name, func(t *testing.T) { breakManifest(t, shapes, test.file, test.old, test.new, test.want) })
	}
}
