package workload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit/workload"
)

// trainingJob is a job of two pods that meet, on GPUs.
func trainingJob(name string) ir.Workload {
	return ir.Workload{
		Template: "train", Name: name, Kind: ir.Job, Team: "team-a", Namespace: "ns-a", KubeAccount: "team-a-ksa",
		Queue: "lq-team-a-lp", PriorityClass: "lp", Pods: 2, Retries: 20, Port: 29500,
		Queueing: ir.Queueing{
			Labels:      []ir.KeyValue{{Key: "kueue.x-k8s.io/queue-name", Value: "lq-team-a-lp"}},
			Annotations: []ir.KeyValue{{Key: "provreq.kueue.x-k8s.io/maxRunDurationSeconds", Value: "3600"}},
		},
		Requests: []ir.Amount{
			{Resource: "cpu", Quantity: resource.MustParse("2000m")},
			{Resource: "memory", Quantity: resource.MustParse("10Gi")},
			{Resource: "nvidia.com/gpu", Quantity: resource.MustParse("2")},
		},
		Image:        "pytorch/pytorch:2.8.0",
		Command:      []string{"torchrun", "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)", "/workload/train.py"},
		Env:          []ir.KeyValue{{Key: "RUN", Value: "yes"}},
		Files:        []ir.KeyValue{{Key: "train.py", Value: "import torch\nprint(\"${x}\")\n"}},
		ConfigMap:    "train-files",
		NodeSelector: []ir.KeyValue{{Key: "cloud.google.com/gke-accelerator", Value: "nvidia-l4"}},
		Tolerations: []ir.Taint{
			{Key: "cloud.google.com/gke-queued", Value: "true", Effect: "NoSchedule"},
			{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"},
		},
		MaxRunSeconds: 3600,
		GraceSeconds:  25,
	}
}

// renderWorkloads returns the files of workloads by path.
func renderWorkloads(t testing.TB, workloads ...ir.Workload) map[string]string {
	t.Helper()
	files, err := workload.Files(&ir.Platform{Name: "demo", Workloads: workloads})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string, len(files))
	for _, f := range files {
		out[f.Path] = string(f.Content)
	}
	return out
}

func TestJob(t *testing.T) {
	want := `apiVersion: v1
kind: Service
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: train-1
  namespace: ns-a
spec:
  clusterIP: None
  ports:
  - name: rendezvous
    port: 29500
    targetPort: 29500
  publishNotReadyAddresses: true
  selector:
    batch.kubernetes.io/job-name: train-1
---
apiVersion: batch/v1
kind: Job
metadata:
  annotations:
    provreq.kueue.x-k8s.io/maxRunDurationSeconds: "3600"
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    kueue.x-k8s.io/queue-name: lq-team-a-lp
  name: train-1
  namespace: ns-a
spec:
  activeDeadlineSeconds: 3600
  backoffLimit: 20
  completionMode: Indexed
  completions: 2
  parallelism: 2
  podFailurePolicy:
    rules:
    - action: Ignore
      onPodConditions:
      - status: "True"
        type: DisruptionTarget
  template:
    spec:
      containers:
      - command:
        - torchrun
        - --rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)
        - /workload/train.py
        env:
        - name: MASTER_ADDR
          value: train-1-0.train-1.ns-a.svc.cluster.local
        - name: MASTER_PORT
          value: "29500"
        - name: NNODES
          value: "2"
        - name: RUN
          value: "yes"
        image: pytorch/pytorch:2.8.0
        name: worker
        resources:
          limits:
            memory: 10Gi
            nvidia.com/gpu: "2"
          requests:
            cpu: "2"
            memory: 10Gi
            nvidia.com/gpu: "2"
        securityContext:
          allowPrivilegeEscalation: false
          seccompProfile:
            type: RuntimeDefault
        volumeMounts:
        - mountPath: /workload
          name: files
          readOnly: true
        - mountPath: /dev/shm
          name: shared-memory
      nodeSelector:
        cloud.google.com/gke-accelerator: nvidia-l4
      priorityClassName: lp
      restartPolicy: Never
      serviceAccountName: team-a-ksa
      subdomain: train-1
      terminationGracePeriodSeconds: 25
      tolerations:
      - effect: NoSchedule
        key: cloud.google.com/gke-queued
        operator: Equal
        value: "true"
      - effect: NoSchedule
        key: nvidia.com/gpu
        operator: Equal
        value: present
      volumes:
      - configMap:
          name: train-files
        name: files
      - emptyDir:
          medium: Memory
        name: shared-memory
`
	if diff := cmp.Diff(want, renderWorkloads(t, trainingJob("train-1"))["workloads/team-a/train-1.yaml"]); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}

func TestJobSet(t *testing.T) {
	w := trainingJob("set-1")
	w.Kind, w.Env, w.ConfigMap, w.Files, w.NodeSelector, w.Tolerations, w.MaxRunSeconds, w.GraceSeconds = ir.JobSet,
		nil, "", nil, nil, nil, 0, 0
	w.Queueing.Annotations = nil
	w.Requests = w.Requests[:2]
	want := `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    kueue.x-k8s.io/queue-name: lq-team-a-lp
  name: set-1
  namespace: ns-a
spec:
  failurePolicy:
    maxRestarts: 20
    rules:
    - action: RestartJobSetAndIgnoreMaxRestarts
      name: disruption
      onJobFailureReasons:
      - PodFailurePolicy
  network:
    enableDNSHostnames: true
  replicatedJobs:
  - name: worker
    replicas: 1
    template:
      spec:
        backoffLimit: 0
        completionMode: Indexed
        completions: 2
        parallelism: 2
        podFailurePolicy:
          rules:
          - action: FailJob
            onPodConditions:
            - status: "True"
              type: DisruptionTarget
        template:
          spec:
            containers:
            - command:
              - torchrun
              - --rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)
              - /workload/train.py
              env:
              - name: MASTER_ADDR
                value: set-1-worker-0-0.set-1.ns-a.svc.cluster.local
              - name: MASTER_PORT
                value: "29500"
              - name: NNODES
                value: "2"
              image: pytorch/pytorch:2.8.0
              name: worker
              resources:
                limits:
                  memory: 10Gi
                requests:
                  cpu: "2"
                  memory: 10Gi
              securityContext:
                allowPrivilegeEscalation: false
                seccompProfile:
                  type: RuntimeDefault
            priorityClassName: lp
            restartPolicy: Never
            serviceAccountName: team-a-ksa
`
	if diff := cmp.Diff(want, renderWorkloads(t, w)["workloads/team-a/set-1.yaml"]); diff != "" {
		t.Errorf("jobset (-want +got):\n%s", diff)
	}
}

// onSlices is a JobSet on two TPU slices of two hosts each.
func onSlices() ir.Workload {
	w := trainingJob("pretrain")
	w.Kind, w.Pods, w.Slices = ir.JobSet, 4, 2
	w.Requests[2] = ir.Amount{Resource: "google.com/tpu", Quantity: resource.MustParse("4")}
	w.NodeSelector = []ir.KeyValue{
		{Key: "cloud.google.com/gke-tpu-accelerator", Value: "tpu-v6e-slice"},
		{Key: "cloud.google.com/gke-tpu-topology", Value: "2x4"},
	}
	w.Tolerations = []ir.Taint{{Key: "google.com/tpu", Value: "present", Effect: "NoSchedule"}}
	w.Command, w.Env, w.ConfigMap, w.Files = nil, nil, "", nil
	w.MaxRunSeconds, w.Queueing.Annotations, w.GraceSeconds = 86400, nil, 0
	return w
}

func TestSlices(t *testing.T) {
	want := `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    kueue.x-k8s.io/queue-name: lq-team-a-lp
  name: pretrain
  namespace: ns-a
spec:
  failurePolicy:
    maxRestarts: 20
    rules:
    - action: RestartJobSetAndIgnoreMaxRestarts
      name: disruption
      onJobFailureReasons:
      - PodFailurePolicy
  network:
    enableDNSHostnames: true
  replicatedJobs:
  - name: slice
    replicas: 2
    template:
      metadata:
        annotations:
          alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool
      spec:
        activeDeadlineSeconds: 86400
        backoffLimit: 0
        completionMode: Indexed
        completions: 2
        parallelism: 2
        podFailurePolicy:
          rules:
          - action: FailJob
            onPodConditions:
            - status: "True"
              type: DisruptionTarget
        template:
          spec:
            containers:
            - env:
              - name: MASTER_ADDR
                value: pretrain-slice-0-0.pretrain.ns-a.svc.cluster.local
              - name: MASTER_PORT
                value: "29500"
              - name: NNODES
                value: "4"
              - name: JOB_INDEX
                valueFrom:
                  fieldRef:
                    fieldPath: metadata.labels['jobset.sigs.k8s.io/job-index']
              image: pytorch/pytorch:2.8.0
              name: worker
              ports:
              - containerPort: 8471
              - containerPort: 8080
              resources:
                limits:
                  google.com/tpu: "4"
                  memory: 10Gi
                requests:
                  cpu: "2"
                  google.com/tpu: "4"
                  memory: 10Gi
              securityContext:
                allowPrivilegeEscalation: false
                seccompProfile:
                  type: RuntimeDefault
              volumeMounts:
              - mountPath: /dev/shm
                name: shared-memory
            nodeSelector:
              cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
              cloud.google.com/gke-tpu-topology: 2x4
            priorityClassName: lp
            restartPolicy: Never
            serviceAccountName: team-a-ksa
            tolerations:
            - effect: NoSchedule
              key: google.com/tpu
              operator: Equal
              value: present
            volumes:
            - emptyDir:
                medium: Memory
              name: shared-memory
`
	if diff := cmp.Diff(want, renderWorkloads(t, onSlices())["workloads/team-a/pretrain.yaml"]); diff != "" {
		t.Errorf("jobset on slices (-want +got):\n%s", diff)
	}
}

// TestWhatFollowsFromAWorkload: what stands in its file, and what does not.
func TestWhatFollowsFromAWorkload(t *testing.T) {
	const (
		exclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool\n"
		maxRun    = "provreq.kueue.x-k8s.io/maxRunDurationSeconds: \"86400\"\n"
		deadline  = "activeDeadlineSeconds: 86400\n"
		ports     = "ports:\n              - containerPort: 8471\n              - containerPort: 8080\n"
	)
	for _, test := range []struct {
		name  string
		edit  func(*ir.Workload)
		want  []string
		never []string
	}{
		{
			"queued slices", func(w *ir.Workload) {
				w.Queueing.Annotations = []ir.KeyValue{
					{Key: "provreq.kueue.x-k8s.io/maxRunDurationSeconds", Value: "86400"},
				}
				w.Slices, w.Pods = 1, 2
			},
			[]string{exclusive, maxRun, deadline, "replicas: 1\n", "parallelism: 2\n", "completions: 2\n"},
			[]string{"JOB_INDEX"},
		},
		{
			"slices that do not meet", func(w *ir.Workload) { w.Port = 0 },
			[]string{"enableDNSHostnames: true\n", ports}, []string{"JOB_INDEX", "MASTER_ADDR"},
		},
		{
			"single hosts", func(w *ir.Workload) { w.Slices = 0 },
			[]string{ports, "replicas: 1\n", "parallelism: 4\n"}, []string{"annotations", "JOB_INDEX"},
		},
		{
			"single hosts as a job", func(w *ir.Workload) { w.Kind, w.Slices, w.Port = ir.Job, 0, 0 },
			[]string{"containerPort: 8471\n", "parallelism: 4\n"}, []string{"annotations", "subdomain"},
		},
		{
			"no bound", func(w *ir.Workload) { w.MaxRunSeconds = 0 },
			nil, []string{"activeDeadline", maxRun},
		},
		{
			"networks of GPUs", func(w *ir.Workload) { w.Slices, w.Networks = 0, true },
			[]string{
				"kind: ResourceClaimTemplate\nmetadata:\n  labels:\n    app.kubernetes.io/managed-by: batchwright\n  " +
					"  app.kubernetes.io/part-of: demo\n  name: pretrain\n",
				"      - exactly:\n          allocationMode: All\n          deviceClassName: mrdma.google.com\n      " +
					"  name: networks\n---\n",
				"                claims:\n                - name: networks\n",
				"            resourceClaims:\n            - name: networks\n              resourceClaimTemplateName: " +
					"pretrain\n",
			}, nil,
		},
		{
			"the network of the nodes", func(w *ir.Workload) { w.HostNetwork = true },
			[]string{"            dnsPolicy: ClusterFirstWithHostNet\n            hostNetwork: true\n", ports},
			[]string{"hostPort"},
		},
		{
			"a pod beside", func(w *ir.Workload) {
				w.HostNetwork, w.Files, w.ConfigMap, w.Retries = true, []ir.KeyValue{{Key: "a", Value: "b"}}, "files", 1
				w.Auxiliaries = []ir.Auxiliary{{
					Name: "upload", Requests: []ir.Amount{{Resource: "cpu", Quantity: resource.MustParse("1")}},
					Image: "uploader:1", Command: []string{"upload"},
					NodeSelector: []ir.KeyValue{{Key: "cloud.google.com/gke-nodepool", Value: "cpu"}}, GraceSeconds: 25,
				}}
			},
			[]string{`
  - name: upload
    replicas: 1
    template:
      spec:
        activeDeadlineSeconds: 86400
        backoffLimit: 1
        completionMode: Indexed
        completions: 1
        parallelism: 1
        podFailurePolicy:
          rules:
          - action: Ignore
            onPodConditions:
            - status: "True"
              type: DisruptionTarget
        template:
          spec:
            containers:
            - command:
              - upload
              image: uploader:1
              name: worker
              resources:
                requests:
                  cpu: "1"
              securityContext:
                allowPrivilegeEscalation: false
                seccompProfile:
                  type: RuntimeDefault
              volumeMounts:
              - mountPath: /workload
                name: files
                readOnly: true
            nodeSelector:
              cloud.google.com/gke-nodepool: cpu
            priorityClassName: lp
            restartPolicy: Never
            serviceAccountName: team-a-ksa
            terminationGracePeriodSeconds: 25
            volumes:
            - configMap:
                name: files
              name: files
  successPolicy:
    operator: All
    targetReplicatedJobs:
    - slice
`, "    maxRestarts: 1\n"}, nil,
		},
		{
			"GPUs", func(w *ir.Workload) {
				w.Slices = 0
				w.Requests[2] = ir.Amount{Resource: "nvidia.com/gpu", Quantity: resource.MustParse("4")}
			},
			[]string{deadline, "medium: Memory\n"}, []string{"containerPort", "laims"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := onSlices()
			test.edit(&w)
			got := renderWorkloads(t, w)["workloads/team-a/pretrain.yaml"]
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, never := range test.never {
				if strings.Contains(got, never) {
					t.Errorf("%q in\n%s", never, got)
				}
			}
		})
	}
}

// TestEnvironment: what is set by the platform comes first, so that a workload's
// own variables can refer to it; of a Secret there is only the name.
// TestGPUDirect: what a pod has to reach the GPUs of others by.
func TestGPUDirect(t *testing.T) {
	const (
		rdma = "              - mountPath: /usr/local/gib\n                name: gib\n                readOnly: " +
			"true\n"
		lock   = "                - IPC_LOCK\n"
		daemon = "              restartPolicy: Always\n"
	)
	for _, test := range []struct {
		way   ir.GPUDirect
		want  []string
		never []string
	}{
		{"", nil, []string{"hostPath", "networking.gke.io", "LD_LIBRARY_PATH"}},
		{
			ir.RDMA, []string{rdma, lock, "path: /home/kubernetes/bin/gib\n                type: Directory\n"},
			[]string{daemon, "devices.gke.io"},
		},
		{ir.TCPX,
			[]string{lock, daemon, ir.TCPXDaemon, "- NET_ADMIN\n", "- emptyDir: {}\n              name: tcpx-socket\n",
				"devices.gke.io/container.tcpx-daemon: |\n                [\n                  " +
					"{\"path\":\"/dev/nvidia0\"},\n                  {\"path\":\"/dev/nvidia1\"},\n                  " +
					"{\"path\":\"/dev/nvidiactl\"},\n                  {\"path\":\"/dev/nvidia-uvm\"}\n              " +
					"  ]\n",
			}, []string{rdma, "dmabuf"}},
		{ir.TCPXO,
			[]string{
				daemon, ir.TCPXODaemon, "- NET_BIND_SERVICE\n", "/dev/dmabuf_import_helper",
				"mountPath: /dev/aperture_devices\n",
				"- name: NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY\n                value: mine\n",
			},
			[]string{lock, "value: /dev/aperture_devices"}},
	} {
		t.Run(string(test.way), func(t *testing.T) {
			w := trainingJob("train")
			w.Kind, w.GPUDirect, w.DaemonImage = ir.JobSet, test.way, test.way.Daemon()
			w.Env = []ir.KeyValue{{Key: "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY", Value: "mine"}}
			want := test.want
			if test.way != "" {
				w.Interfaces = []ir.Interface{{Name: "eth1", Network: "net-b"}, {Name: "eth2", Network: "net-a"}}
				want = append(want, "networking.gke.io/default-interface: eth0\n",
					"networking.gke.io/interfaces: |\n                [\n                  "+
						"{\"interfaceName\":\"eth0\",\"network\":\"default\"},\n                  "+
						"{\"interfaceName\":\"eth1\",\"network\":\"net-b\"},\n                  "+
						"{\"interfaceName\":\"eth2\",\"network\":\"net-a\"}\n                ]\n",
					"- name: LD_LIBRARY_PATH\n                value: /usr/local/nvidia/lib64\n")
			}
			got := renderWorkloads(t, w)["workloads/team-a/train.yaml"]
			for _, want := range want {
				if !strings.Contains(got, want) {
					t.Errorf("no\n%s\nin\n%s", want, got)
				}
			}
			for _, never := range test.never {
				if strings.Contains(got, never) {
					t.Errorf("%q in\n%s", never, got)
				}
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	w := trainingJob("train-1")
	w.Bucket, w.TensorBoard = "my-project-demo-team-a", true
	w.SecretEnv = []ir.SecretEnv{{Name: "TOKEN", Secret: "hub", Key: "read"}}
	w.Env = []ir.KeyValue{{Key: "ARGS", Value: "--to=gs://$(BUCKET) --token=$(TOKEN)"}}
	const want = `        - name: NNODES
          value: "2"
        - name: BUCKET
          value: my-project-demo-team-a
        - name: TENSORBOARD
          valueFrom:
            configMapKeyRef:
              key: name
              name: tensorboard
        - name: TOKEN
          valueFrom:
            secretKeyRef:
              key: read
              name: hub
        - name: ARGS
          value: --to=gs://$(BUCKET) --token=$(TOKEN)
        image: `
	if got := renderWorkloads(t, w)["workloads/team-a/train-1.yaml"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
}

// TestFolders: copies share one ConfigMap, teams share nothing, and what a
// workload does not have leaves no trace.
func TestFolders(t *testing.T) {
	plain := trainingJob("plain")
	plain.Team, plain.Namespace, plain.ConfigMap, plain.Files, plain.Port, plain.MaxRunSeconds = "team-b", "team-b", "",
		nil, 0, 0
	plain.Queueing.Annotations = nil
	got := renderWorkloads(t, trainingJob("train-1"), trainingJob("train-2"), plain)

	if want := `apiVersion: v1
data:
  train.py: |
    import torch
    print("${x}")
kind: ConfigMap
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: train-files
  namespace: ns-a
`; got["workloads/team-a/train-files.yaml"] != want {
		t.Errorf("config map (-want +got):\n%s", cmp.Diff(want, got["workloads/team-a/train-files.yaml"]))
	}
	if want := `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- train-files.yaml
- train-1.yaml
- train-2.yaml
`; got["workloads/team-a/kustomization.yaml"] != want {
		t.Errorf("kustomization (-want +got):\n%s", cmp.Diff(want, got["workloads/team-a/kustomization.yaml"]))
	}
	for _, never := range []string{
		"Service\n", "subdomain", "MASTER_ADDR\n", "NNODES: \"2\"", "configMap", "annotations", "activeDeadline",
	} {
		if strings.Contains(got["workloads/team-b/plain.yaml"], never) {
			t.Errorf("plain job has %q:\n%s", never, got["workloads/team-b/plain.yaml"])
		}
	}
	if len(got) != 6 {
		t.Errorf("%d files, want 6", len(got))
	}
}

// TestKinds checks that each row of compiler/kinds has a builder, whose objects have the API
// of the row.
func TestKinds(t *testing.T) {
	for _, k := range kinds.All() {
		w := trainingJob("train")
		w.Kind = ir.Kind(k.Name)
		want := "apiVersion: " + k.Group + "/" + k.Version + "\nkind: " + k.Name + "\n"
		if got := renderWorkloads(t, w)["workloads/team-a/train.yaml"]; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestFilesRefusesTwoOfAName(t *testing.T) {
	for name, workloads := range map[string][]ir.Workload{
		"two jobs":              {trainingJob("train-1"), trainingJob("train-1")},
		"a job and its files":   {trainingJob("train-files")},
		"a job's kustomization": {trainingJob("kustomization")},
	} {
		if _, err := workload.Files(&ir.Platform{Name: "demo", Workloads: workloads}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkFiles(b *testing.B) {
	p := &ir.Platform{Name: "demo"}
	for range 1000 {
		p.Workloads = append(p.Workloads, trainingJob("train-1"))
	}
	for i := range p.Workloads {
		p.Workloads[i].Team = "team-" + strings.Repeat("x", i%7)
	}
	for b.Loop() {
		if _, err := workload.Files(p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(p.Workloads)), "ns/workload")
}
