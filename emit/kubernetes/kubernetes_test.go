package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubernetes"
)

// plan has a team in a cohort with a group, and one with neither that waits
// for queued flex-start capacity.
func plan() *ir.Platform {
	return &ir.Platform{
		Name:    "demo",
		Project: "my-project",
		Capacities: []ir.Capacity{
			{
				Name:           "h100-queued",
				NodeLabels:     []ir.KeyValue{{Key: "cloud.google.com/gke-queued", Value: "true"}},
				NodeTaints:     []ir.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}},
				AdmissionCheck: "flex-start",
			},
			{Name: "l4-spot", NodeLabels: []ir.KeyValue{{Key: "resource-type", Value: "spot"}}},
		},
		PriorityClasses: []ir.PriorityClass{
			{Name: "lp", Value: -10, Default: true, Note: "tier lp"},
			{Name: "hp", Value: 20, Preempts: true, Note: "tier hp"},
		},
		AdmissionChecks: []ir.AdmissionCheck{{
			Name: "flex-start", Class: "queued-provisioning.gke.io", Resources: []string{"nvidia.com/gpu"},
		}},
		Cohorts: []ir.Cohort{{Name: "all"}, {Name: "research", Parent: "all"}},
		Teams: []ir.Team{
			{
				Name: "team-a", Namespace: "ns-a", Cohort: "research", Group: "team-a@example.com",
				KubeAccount: "team-a-ksa", Account: ir.ServiceAccount{ID: "wi-team-a"},
				Queues: []ir.Queue{
					{
						Tier: "hp", Cohort: "research", ClusterQueue: "cq-team-a-hp", LocalQueue: "lq-team-a-hp", Strategy: "StrictFIFO", Preempts: true,
						Resources: []string{"cpu", "memory", "nvidia.com/gpu"},
						Flavors: []ir.FlavorQuota{
							{Flavor: "l4-spot", Quotas: []ir.ResourceQuota{
								{Resource: "cpu", Nominal: resource.MustParse("1000"), Borrowing: quantity("4000m")},
								{Resource: "memory", Nominal: resource.MustParse("1024Mi"), Borrowing: quantity("0"), Lending: quantity("512Mi")},
								{Resource: "nvidia.com/gpu", Nominal: resource.MustParse("4"), Borrowing: quantity("4")},
							}},
							{Flavor: "h100-queued", AdmissionCheck: "flex-start", Quotas: []ir.ResourceQuota{
								{Resource: "cpu", Nominal: resource.MustParse("0"), Borrowing: quantity("0")},
								{Resource: "memory", Nominal: resource.MustParse("0"), Borrowing: quantity("0")},
								{Resource: "nvidia.com/gpu", Nominal: resource.MustParse("0"), Borrowing: quantity("0")},
							}},
						},
					},
					{Tier: "lp", Cohort: "research", ClusterQueue: "cq-team-a-lp", LocalQueue: "lq-team-a-lp", Strategy: "BestEffortFIFO"},
				},
			},
			{
				Name: "team-b", Namespace: "team-b", KubeAccount: "team-b-ksa", Account: ir.ServiceAccount{ID: "wi-team-b"},
				Queues: []ir.Queue{{
					Tier: "lp", ClusterQueue: "cq-team-b-lp", LocalQueue: "lq-team-b-lp", Strategy: "StrictFIFO",
					Resources: []string{"nvidia.com/gpu"},
					Flavors: []ir.FlavorQuota{{Flavor: "l4-spot", Quotas: []ir.ResourceQuota{
						{Resource: "nvidia.com/gpu", Nominal: resource.MustParse("4")},
					}}},
				}},
			},
		},
	}
}

func quantity(s string) *resource.Quantity {
	return new(resource.MustParse(s))
}

// render returns the files of a plan by path.
func render(t testing.TB, p *ir.Platform) map[string]string {
	t.Helper()
	files, err := kubernetes.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string, len(files))
	for _, f := range files {
		if _, twice := out[f.Path]; twice {
			t.Errorf("%s comes twice", f.Path)
		}
		out[f.Path] = string(f.Content)
	}
	return out
}

func TestTeam(t *testing.T) {
	want := `apiVersion: v1
kind: Namespace
metadata:
  annotations:
    queues: lq-team-a-hp=hp, lq-team-a-lp=lp
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    pod-security.kubernetes.io/enforce: baseline
    team: team-a
  name: ns-a
---
apiVersion: v1
automountServiceAccountToken: false
kind: ServiceAccount
metadata:
  annotations:
    iam.gke.io/gcp-service-account: wi-team-a@my-project.iam.gserviceaccount.com
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: team-a-ksa
  namespace: ns-a
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: job-submitter
  namespace: ns-a
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: job-submitter
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: team-a@example.com
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    team: team-a
  name: cq-team-a-hp
spec:
  admissionChecksStrategy:
    admissionChecks:
    - name: flex-start
      onFlavors:
      - h100-queued
  cohortName: research
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: ns-a
  preemption:
    reclaimWithinCohort: LowerPriority
    withinClusterQueue: LowerPriority
  queueingStrategy: StrictFIFO
  resourceGroups:
  - coveredResources:
    - cpu
    - memory
    - nvidia.com/gpu
    flavors:
    - name: l4-spot
      resources:
      - borrowingLimit: "4"
        name: cpu
        nominalQuota: 1k
      - borrowingLimit: "0"
        lendingLimit: 512Mi
        name: memory
        nominalQuota: 1Gi
      - borrowingLimit: "4"
        name: nvidia.com/gpu
        nominalQuota: "4"
    - name: h100-queued
      resources:
      - borrowingLimit: "0"
        name: cpu
        nominalQuota: "0"
      - borrowingLimit: "0"
        name: memory
        nominalQuota: "0"
      - borrowingLimit: "0"
        name: nvidia.com/gpu
        nominalQuota: "0"
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    team: team-a
  name: cq-team-a-lp
spec:
  cohortName: research
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: ns-a
  queueingStrategy: BestEffortFIFO
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: lq-team-a-hp
  namespace: ns-a
spec:
  clusterQueue: cq-team-a-hp
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: lq-team-a-lp
  namespace: ns-a
spec:
  clusterQueue: cq-team-a-lp
`
	if diff := cmp.Diff(want, render(t, plan())["kubernetes/teams/team-a.yaml"]); diff != "" {
		t.Errorf("team in a cohort (-want +got):\n%s", diff)
	}
}

// TestTeamByItself: without a group nobody may submit, and without a cohort
// there is nothing to borrow.
func TestTeamByItself(t *testing.T) {
	got := render(t, plan())["kubernetes/teams/team-b.yaml"]
	for _, never := range []string{"RoleBinding", "cohortName", "preemption", "admissionChecks"} {
		if strings.Contains(got, never) {
			t.Errorf("team without group and cohort has %s:\n%s", never, got)
		}
	}
	if !strings.Contains(got, `nominalQuota: "4"`) {
		t.Errorf("team without cohort has no quota:\n%s", got)
	}
}

func TestResourceFlavors(t *testing.T) {
	want := `apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: h100-queued
spec:
  nodeLabels:
    cloud.google.com/gke-queued: "true"
  nodeTaints:
  - effect: NoSchedule
    key: nvidia.com/gpu
    value: present
  tolerations:
  - effect: NoSchedule
    key: nvidia.com/gpu
    operator: Equal
    value: present
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: l4-spot
spec:
  nodeLabels:
    resource-type: spot
`
	if diff := cmp.Diff(want, render(t, plan())["kubernetes/resource-flavors.yaml"]); diff != "" {
		t.Errorf("resource flavors (-want +got):\n%s", diff)
	}
}

func TestAdmissionChecks(t *testing.T) {
	want := `apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: flex-start
spec:
  managedResources:
  - nvidia.com/gpu
  podSetUpdates:
    nodeSelector:
    - key: autoscaling.gke.io/provisioning-request
      valueFromProvisioningClassDetail: ResizeRequestName
  provisioningClassName: queued-provisioning.gke.io
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: flex-start
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters:
    apiGroup: kueue.x-k8s.io
    kind: ProvisioningRequestConfig
    name: flex-start
`
	if diff := cmp.Diff(want, render(t, plan())["kubernetes/admission-checks.yaml"]); diff != "" {
		t.Errorf("admission checks (-want +got):\n%s", diff)
	}
}

// TestNetworksOfAccelerators: Kueue leaves claims of them alone, and teams may
// make them; on other platforms Kueue and the role are as ever.
func TestNetworksOfAccelerators(t *testing.T) {
	const (
		configuration = "kubernetes/system/kueue-configuration.yaml"
		gates         = "      KueueDRAIntegration: false\n      KueueDRAIntegrationExtendedResource: false\n" +
			"      KueueDRAIntegrationPartitionableDevices: false\n      KueueDRARejectWorkloadsWhenDRADisabled: false\n"
		role   = "kubernetes/system/job-submitter.yaml"
		claims = "  resources:\n  - resourceclaimtemplates\n"
	)
	p := plan()
	for _, want := range []bool{false, true} {
		p.Capacities[0].Machine.AcceleratorNetworks = want
		files := render(t, p)
		if got := strings.Contains(files[configuration], gates); got != want {
			t.Errorf("gates are there: %v, want %v\n%s", got, want, files[configuration])
		}
		if got := strings.Contains(files[role], claims); got != want {
			t.Errorf("teams may claim: %v, want %v\n%s", got, want, files[role])
		}
	}
}

// TestQueuedSlices: a request for TPUs says of which shape.
func TestQueuedSlices(t *testing.T) {
	p := plan()
	p.AdmissionChecks[0].Resources, p.AdmissionChecks[0].Topology = []string{"google.com/tpu"}, "4x4"
	want := `spec:
  managedResources:
  - google.com/tpu
  parameters:
    tpu-topology: 4x4
  podSetUpdates:
`
	if got := render(t, p)["kubernetes/admission-checks.yaml"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
}

func TestPriorityClasses(t *testing.T) {
	want := `apiVersion: scheduling.k8s.io/v1
description: tier lp
globalDefault: true
kind: PriorityClass
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: lp
preemptionPolicy: Never
value: -10
---
apiVersion: scheduling.k8s.io/v1
description: tier hp
kind: PriorityClass
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: hp
preemptionPolicy: PreemptLowerPriority
value: 20
`
	if diff := cmp.Diff(want, render(t, plan())["kubernetes/priority-classes.yaml"]); diff != "" {
		t.Errorf("priority classes (-want +got):\n%s", diff)
	}
}

func TestKustomizationListsWhatThereIs(t *testing.T) {
	small := plan()
	small.AdmissionChecks, small.Cohorts, small.Teams = nil, nil, small.Teams[1:]
	got := render(t, small)
	want := `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- system/kueue-configuration.yaml
- system/job-submitter.yaml
- system/admission-policies.yaml
- priority-classes.yaml
- resource-flavors.yaml
- teams/team-b.yaml
- monitoring
sortOptions:
  order: fifo
`
	if diff := cmp.Diff(want, got["kubernetes/kustomization.yaml"]); diff != "" {
		t.Errorf("kustomization (-want +got):\n%s", diff)
	}
	if len(got) != 7 {
		t.Errorf("%d files, want 7", len(got))
	}
}

func TestFilesLeavesThePlanAlone(t *testing.T) {
	p := plan()
	first := render(t, p)
	if diff := cmp.Diff(plan(), p); diff != "" {
		t.Errorf("plan changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(first, render(t, p)); diff != "" {
		t.Errorf("second run differs (-first +second):\n%s", diff)
	}
}

func BenchmarkFiles(b *testing.B) {
	p := plan()
	for len(p.Teams) < 1000 {
		p.Teams = append(p.Teams, p.Teams[0])
	}
	for b.Loop() {
		if _, err := kubernetes.Files(p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(p.Teams)), "ns/team")
}

// TestWaitingQuota: of a capacity whose reservation has not begun a queue has
// nothing, whatever it will have.
func TestWaitingQuota(t *testing.T) {
	p := plan()
	flavors := p.Teams[0].Queues[0].Flavors
	flavors[0].Waiting = true
	got := render(t, p)["kubernetes/teams/team-a.yaml"]
	first := got[strings.Index(got, "- name: l4-spot"):strings.Index(got, "- name: h100-queued")]
	want := `- name: l4-spot
      resources:
      - borrowingLimit: "0"
        name: cpu
        nominalQuota: "0"
      - borrowingLimit: "0"
        name: memory
        nominalQuota: "0"
      - borrowingLimit: "0"
        name: nvidia.com/gpu
        nominalQuota: "0"
`
	if diff := cmp.Diff(want, strings.TrimRight(first, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
