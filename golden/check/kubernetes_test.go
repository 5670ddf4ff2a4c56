package check

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// manifests is a small deploy folder without mistakes.
const manifests = `
-- kubernetes/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- resource-flavors.yaml
- teams/team-a.yaml
- monitoring
-- kubernetes/monitoring/anything.yaml --
not: checked
-- kubernetes/resource-flavors.yaml --
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: l4
spec:
  nodeLabels:
    resource-type: spot
  nodeTaints:
  - effect: NoSchedule
    key: nvidia.com/gpu
    value: present
  tolerations:
  - effect: NoSchedule
    key: nvidia.com/gpu
    operator: Equal
    value: present
-- kubernetes/teams/team-a.yaml --
apiVersion: v1
kind: Namespace
metadata:
  annotations:
    queues: lq-team-a-hp=hp, lq-team-a-lp=lp
  name: team-a
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: team-a-ksa
  namespace: team-a
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: lp
value: 10
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata:
  name: research
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: cq-team-a-lp
spec:
  cohortName: research
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: team-a
  resourceGroups:
  - coveredResources:
    - cpu
    flavors:
    - name: l4
      resources:
      - borrowingLimit: "4"
        name: cpu
        nominalQuota: "4"
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: lq-team-a-lp
  namespace: team-a
spec:
  clusterQueue: cq-team-a-lp
-- workloads/team-a/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- files.yaml
- job.yaml
-- workloads/team-a/files.yaml --
apiVersion: v1
data:
  a: |
    ---
    text
kind: ConfigMap
metadata:
  name: files
  namespace: team-a
-- workloads/team-a/job.yaml --
apiVersion: batch/v1
kind: Job
metadata:
  labels:
    kueue.x-k8s.io/queue-name: lq-team-a-lp
  name: job
  namespace: team-a
spec:
  completions: 2
  template:
    spec:
      containers:
      - image: busybox:1.37
        name: worker
        resources:
          requests:
            cpu: "2"
      nodeSelector:
        resource-type: spot
      priorityClassName: lp
      serviceAccountName: team-a-ksa
      tolerations:
      - effect: NoSchedule
        key: nvidia.com/gpu
        operator: Equal
        value: present
      volumes:
      - configMap:
          name: files
        name: files
`

// TestCheckKubernetes breaks the folder in one place for each case.
func TestCheckKubernetes(t *testing.T) {
	const (
		team    = "kubernetes/teams/team-a.yaml"
		flavors = "kubernetes/resource-flavors.yaml"
		job     = "workloads/team-a/job.yaml"
		list    = "kubernetes/kustomization.yaml"
	)
	for _, test := range []struct {
		name, file, old, new string
		want                 string // part of an error; "" for none at all
	}{
		{name: "nothing"},
		{"unknown kind", team, "kind: LocalQueue", "kind: Queue", `no kind "Queue" is registered`},
		{"unknown version", team, "v1beta2\nkind: LocalQueue", "v1beta1\nkind: LocalQueue", "v1beta1"},
		{"unknown field", flavors, "spec:\n", "spec:\n  nodePool: x\n", `unknown field "nodePool"`},
		{
			"a field that v1beta2 removed", team, "spec:\n  cohortName",
			"spec:\n  admissionChecks:\n  - x\n  cohortName", `unknown field "admissionChecks"`,
		},
		{"misspelt field", flavors, "nodeLabels", "nodelabels", "prints as something else"},
		{
			"duplicate key", flavors, "kind: ResourceFlavor", "kind: ResourceFlavor\nkind: ResourceFlavor",
			`key "kind" already set`,
		},
		{"wrong type", job, "completions: 2", "completions: two", "cannot unmarshal string"},
		{
			"status", team, "kind: Cohort\nmetadata:\n  name: research\n",
			"kind: Cohort\nmetadata:\n  name: research\nstatus: {}\n", "prints as something else",
		},
		{"null", flavors, "metadata:\n", "metadata:\n  creationTimestamp: null\n", "prints as something else"},
		{
			"quantity with a needless unit", team, "nominalQuota: \"4\"", "nominalQuota: 4000m",
			"prints as something else",
		},
		{"quantity without a unit", team, "nominalQuota: \"4\"", "nominalQuota: \"4000\"", "prints as something else"},
		{
			"same object twice", flavors, "apiVersion",
			"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-a\n---\napiVersion",
			"Namespace /team-a is there already",
		},
		{"empty document", flavors, "apiVersion", "---\napiVersion", "prints as something else"},
		{"file not listed", list, "- resource-flavors.yaml\n", "", "does not list what is there"},
		{
			"listed file missing", list, "- monitoring\n", "- monitoring\n- cohorts.yaml\n",
			"does not list what is there",
		},
		{"file listed twice", list, "- monitoring\n", "- monitoring\n- monitoring\n", "does not list what is there"},
		{"version of a kustomization", list, "v1beta1", "v1", "want a kustomization of resources"},
		{
			"unknown field of a kustomization", list, "kind: Kustomization\n", "bases: []\nkind: Kustomization\n",
			`unknown field "bases"`,
		},
		{"no namespace", team, "  name: team-a\n---", "  name: team-x\n---", "refers to Namespace /team-a"},
		{"no cohort", team, "cohortName: research", "cohortName: other", "refers to Cohort /other"},
		{"limit outside a cohort", team, "  cohortName: research\n", "", "outside a cohort"},
		{"no flavor", team, "- name: l4", "- name: l5", "refers to ResourceFlavor /l5"},
		{"flavor covers something else", team, "name: cpu", "name: memory", "covers [memory], its group [cpu]"},
		{
			"check on every flavor", team, "spec:\n  cohortName",
			"spec:\n  admissionChecksStrategy:\n    admissionChecks:\n    - name: flex\n  cohortName",
			"would hold up every flavor",
		},
		{
			"no check", team, "spec:\n  cohortName",
			"spec:\n  admissionChecksStrategy:\n    admissionChecks:\n    - name: flex\n  cohortName",
			"refers to AdmissionCheck /flex",
		},
		{"no cluster queue", team, "clusterQueue: cq-team-a-lp", "clusterQueue: cq", "refers to ClusterQueue /cq"},
		{
			"another team's cluster queue", team, "metadata.name: team-a", "metadata.name: team-b",
			"does not admit its namespace",
		},
		{"no local queue", job, "queue-name: lq-team-a-lp", "queue-name: lq", "refers to LocalQueue team-a/lq"},
		{"no priority class", job, "priorityClassName: lp", "priorityClassName: hp", "refers to PriorityClass /hp"},
		{"no service account", job, "team-a-ksa", "ksa", "refers to ServiceAccount team-a/ksa"},
		{
			"no config map", job, "name: files\n        name", "name: script\n        name",
			"refers to ConfigMap team-a/script",
		},
		{
			"no claim", job, "      tolerations:",
			"      resourceClaims:\n      - name: networks\n        resourceClaimTemplateName: job\n      tolerations:",
			"refers to ResourceClaimTemplate team-a/job",
		},
		{
			"claim for nothing", job, "      tolerations:",
			"      resourceClaims:\n      - name: networks\n        resourceClaimTemplateName: job\n      tolerations:",
			"no container uses its claim networks",
		},
		{
			"no service", job, "      tolerations:", "      subdomain: job\n      tolerations:",
			"refers to Service team-a/job",
		},
		{"suspended", job, "spec:\n", "spec:\n  suspend: true\n", "sets suspend"},
		{
			"toleration left to Kueue", job, "value: present", "value: \"true\"",
			"lacks the toleration of nvidia.com/gpu=present that flavor l4 gives",
		},
		{
			"flavor without toleration", flavors, "operator: Equal\n    value: present",
			"operator: Equal\n    value: \"true\"", "does not let pods tolerate nvidia.com/gpu=present:NoSchedule",
		},
		{
			"flavor tolerates another taint", flavors, "  tolerations:\n",
			"  tolerations:\n  - key: spot\n    operator: Exists\n", "tolerates spot, which its nodes do not have",
		},
		{
			"shared by nobody in particular", team, "    matchLabels:\n      kubernetes.io/metadata.name: team-a\n",
			"    matchLabels:\n      team: team-a\n", "does not admit its namespace",
		},
		{
			"shared with another namespace", team, "    matchLabels:\n      kubernetes.io/metadata.name: team-a\n",
			"    matchExpressions:\n    - key: kubernetes.io/metadata.name\n      operator: In\n      values:\n      " +
				"- team-a\n      - team-b\n", "admits namespace team-b, which has no LocalQueue to it",
		},
		{"one of several priorities", team, "lq-team-a-lp=lp", "lq-team-a-lp=low|lp", ""},
		{
			"none of several priorities", team, "lq-team-a-lp=lp", "lq-team-a-lp=low|lpp",
			"lq-team-a-lp=lp is not one of team-a's queues",
		},
		{
			"another tier's priority", team, "lq-team-a-lp=lp", "lq-team-a-lp=hp",
			"lq-team-a-lp=lp is not one of team-a's queues",
		},
		{
			"another flavor's nodes", job, "resource-type: spot", "resource-type: ondemand",
			"selects nodes of none of its flavors, which are [l4]",
		},
		{
			"more pods than quota", job, "completions: 2\n", "completions: 6\n  parallelism: 6\n",
			"no flavor's quota holds its 6 pods",
		},
		{
			"nodes on request nobody has", job, "  labels:\n",
			"  annotations:\n    provreq.kueue.x-k8s.io/maxRunDurationSeconds: \"60\"\n  labels:\n",
			"how long nodes on request are wanted: true, and its queue has some: false",
		},
		{
			"resource without quota", job, "cpu: \"2\"", "cpu: \"2\"\n            memory: 1Gi",
			"requests memory, which the queue does not cover",
		},
	} {
		t.Run(test.name, func(t *testing.T) { breakManifest(t, manifests, test.file, test.old, test.new, test.want) })
	}
}

// TestCheckChosenFlavors checks a job that selects the nodes of one flavor: it needs
// only what this flavor requires.
func TestCheckChosenFlavors(t *testing.T) {
	const job = "workloads/team-a/job.yaml"
	two := strings.NewReplacer(
		"-- kubernetes/teams/team-a.yaml --\n", `---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: queued
spec:
  nodeLabels:
    resource-type: flex-start
  nodeTaints:
  - effect: NoSchedule
    key: queued
    value: "true"
  tolerations:
  - effect: NoSchedule
    key: queued
    operator: Equal
    value: "true"
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata:
  name: dws
spec:
  provisioningClassName: queued-provisioning.gke.io
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata:
  name: dws
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters:
    apiGroup: kueue.x-k8s.io
    kind: ProvisioningRequestConfig
    name: dws
-- kubernetes/teams/team-a.yaml --
`,
		"spec:\n  cohortName: research\n",
		"spec:\n  admissionChecksStrategy:\n    admissionChecks:\n    - name: dws\n      onFlavors:\n      - "+
			"queued\n  cohortName: research\n",
		"        nominalQuota: \"4\"\n",
		"        nominalQuota: \"4\"\n    - name: queued\n      resources:\n      - borrowingLimit: \"0\"\n        "+
			"name: cpu\n        nominalQuota: \"2\"\n",
	).Replace(manifests)
	for _, test := range []struct {
		name, old, new string
		want           string // part of an error; "" for none at all
	}{
		{name: "the first"},
		{
			"the second's request", "  labels:\n",
			"  annotations:\n    provreq.kueue.x-k8s.io/maxRunDurationSeconds: \"60\"\n  labels:\n",
			"how long nodes on request are wanted: true, and its queue has some: false",
		},
		{
			"the second's toleration", "        value: present\n",
			"        value: present\n      - effect: NoSchedule\n        key: queued\n        operator: Equal\n      " +
				"  value: \"true\"\n",
			"tolerates queued=true of flavor queued, whose nodes it does not select",
		},
		{
			"the second", "resource-type: spot", "resource-type: flex-start",
			"lacks the toleration of queued=true that flavor queued gives",
		},
		{
			"the second without its request", "resource-type: spot", "resource-type: flex-start",
			"how long nodes on request are wanted: false, and its queue has some: true",
		},
		{
			"none", "resource-type: spot", "resource-type: ondemand",
			"selects nodes of none of its flavors, which are [l4 queued]",
		},
		{
			"both", "      nodeSelector:\n        resource-type: spot\n", "",
			"lacks the toleration of queued=true that flavor queued gives",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := job
			if test.old == "" {
				file = ""
			}
			breakManifest(t, two, file, test.old, test.new, test.want)
		})
	}
}

// breakManifest replaces one place in a file of a folder. It expects the check to
// report want, or nothing if want is "".
func breakManifest(t *testing.T, folder, file, old, replacement, want string) {
	t.Helper()
	dir := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(folder)).Files {
		text := string(f.Data)
		if f.Name == file {
			text = strings.Replace(text, old, replacement, 1)
			if text == string(f.Data) {
				t.Fatalf("%s: nothing to break", f.Name)
			}
		}
		dir[f.Name] = &fstest.MapFile{Data: []byte(text)}
	}
	err := errors.Join(Kubernetes(dir)...)
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q", err, want)
	}
}
