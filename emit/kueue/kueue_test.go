package kueue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// testPlan has a team in a cohort with a group, and one with neither that waits
// for queued flex-start capacity.
func testPlan() *ir.Platform {
	return &ir.Platform{
		Scheduler: ir.Kueue,
		Name:      "demo",
		Project:   "my-project",
		Capacities: []ir.Capacity{
			{
				Name:           "h100-queued",
				Machine:        ir.Machine{Resource: ir.GPU},
				NodeLabels:     []ir.KeyValue{{Key: "cloud.google.com/gke-queued", Value: "true"}},
				NodeTaints:     []ir.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}},
				AdmissionCheck: "flex-start",
			},
			{
				Name: "l4-spot", Machine: ir.Machine{Resource: ir.GPU},
				NodeLabels: []ir.KeyValue{{Key: "resource-type", Value: "spot"}},
			},
		},
		PriorityClasses: []ir.PriorityClass{
			{Name: "lp", Value: -10, Default: true, Note: "tier lp"},
			{Name: "hp", Value: 20, Preempts: true, Note: "tier hp"},
		},
		AdmissionChecks: []ir.AdmissionCheck{{
			Name: "flex-start", Class: "queued-provisioning.gke.io", Resources: []string{"nvidia.com/gpu"},
			Retries: 340,
		}},
		Cohorts: []ir.Cohort{{Name: "all"}, {Name: "research", Parent: "all"}},
		Teams: []ir.Team{
			{
				Name: "team-a", Namespace: "ns-a", Cohort: "research", Group: "team-a@example.com",
				KubeAccount: "team-a-ksa", Account: &ir.TeamAccount{ID: "wi-team-a"},
				Queues: []ir.Queue{
					{
						Tier: "hp", Cohort: "research", ClusterQueue: "cq-team-a-hp", LocalQueue: "lq-team-a-hp",
						Strategy: "StrictFIFO",
						Preemption: ir.Preemption{
							InQueue:   ir.PreemptLowerPriority,
							ToReclaim: ir.PreemptAny, ToBorrow: ir.PreemptLowerPriority,
						},
						Flavors: []ir.FlavorQuota{
							{Flavor: "l4-spot", Quotas: []ir.ResourceQuota{
								{Resource: "cpu", Nominal: resource.MustParse("1000"), Borrowing: newQuantity("4000m")},
								{
									Resource: "memory", Nominal: resource.MustParse("1024Mi"),
									Borrowing: newQuantity("0"),
									Lending:   newQuantity("512Mi"),
								},
								{
									Resource: "nvidia.com/gpu", Nominal: resource.MustParse("4"),
									Borrowing: newQuantity("4"),
								},
								{Resource: "pods", Nominal: resource.MustParse("440"), Borrowing: newQuantity("440")},
							}},
							{Flavor: "h100-queued", AdmissionCheck: "flex-start", Quotas: []ir.ResourceQuota{
								{Resource: "cpu", Nominal: resource.MustParse("0"), Borrowing: newQuantity("0")},
								{Resource: "memory", Nominal: resource.MustParse("0"), Borrowing: newQuantity("0")},
								{
									Resource: "nvidia.com/gpu", Nominal: resource.MustParse("0"),
									Borrowing: newQuantity("0"),
								},
								{Resource: "pods", Nominal: resource.MustParse("0"), Borrowing: newQuantity("0")},
							}},
						},
					},
					{
						Tier: "lp", Cohort: "research", ClusterQueue: "cq-team-a-lp", LocalQueue: "lq-team-a-lp",
						Strategy: "BestEffortFIFO",
					},
				},
			},
			{
				Name: "team-b", Namespace: "team-b", KubeAccount: "team-b-ksa",
				Account: &ir.TeamAccount{ID: "wi-team-b"},
				Queues: []ir.Queue{{
					Tier: "lp", ClusterQueue: "cq-team-b-lp", LocalQueue: "lq-team-b-lp", Strategy: "StrictFIFO",
					Flavors: []ir.FlavorQuota{{Flavor: "l4-spot", Quotas: []ir.ResourceQuota{
						{Resource: "nvidia.com/gpu", Nominal: resource.MustParse("4")},
						{Resource: "pods", Nominal: resource.MustParse("440")},
					}}},
				}},
			},
		},
	}
}

func newQuantity(s string) *resource.Quantity {
	return new(resource.MustParse(s))
}

// renderManifests returns the manifests of a plan by name, and the teams' queues by the
// team's name.
func renderManifests(t testing.TB, p *ir.Platform) map[string]string {
	t.Helper()
	manifests, err := kueue.System(p)
	if err != nil {
		t.Fatal(err)
	}
	manifests = append(manifests, kueue.Queues(p)...)
	for _, team := range p.Teams {
		manifests = append(manifests, kubeyaml.Manifest{Name: team.Name, Objects: kueue.Team(p, team)})
	}
	out := map[string]string{}
	for _, m := range manifests {
		content, err := kubeyaml.Marshal(m.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := out[m.Name]; twice {
			t.Errorf("%s comes twice", m.Name)
		}
		out[m.Name] = string(content)
	}
	return out
}

// TestCohorts holds that a Cohort has its own quota, with the limits towards its parent, and no
// quota of nodes that cannot be obtained yet.
func TestCohorts(t *testing.T) {
	p := testPlan()
	p.Cohorts[1].Flavors = []ir.FlavorQuota{
		{Flavor: "l4-spot", Quotas: []ir.ResourceQuota{
			{Resource: "cpu", Nominal: resource.MustParse("8"), BorrowsAll: true},
			{
				Resource: "nvidia.com/gpu", Nominal: resource.MustParse("4"), Borrowing: newQuantity("0"),
				Lending: newQuantity("6"),
			},
		}},
		{Flavor: "h100-queued", Waiting: true, Quotas: []ir.ResourceQuota{
			{Resource: "memory", Nominal: resource.MustParse("8Gi"), Lending: newQuantity("8Gi")},
		}},
	}
	want := `spec:
  parentName: all
  resourceGroups:
  - coveredResources:
    - cpu
    - nvidia.com/gpu
    flavors:
    - name: l4-spot
      resources:
      - name: cpu
        nominalQuota: "8"
      - borrowingLimit: "0"
        lendingLimit: "6"
        name: nvidia.com/gpu
        nominalQuota: "4"
  - coveredResources:
    - memory
    flavors:
    - name: h100-queued
      resources:
      - name: memory
        nominalQuota: "0"
`
	_, got, _ := strings.Cut(renderManifests(t, p)["cohorts.yaml"], "name: research\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Cohort with quota (-want +got):\n%s", diff)
	}
}

// TestRetries holds the pauses before retries, which are Kueue's defaults unless the plan has others.
func TestRetries(t *testing.T) {
	p := testPlan()
	for _, c := range []struct {
		pauses ir.RetryPauses
		want   string
	}{
		{ir.RetryPauses{}, "backoffBaseSeconds: 60\n    backoffLimitCount: 340\n    backoffMaxSeconds: 1800\n"},
		{
			ir.RetryPauses{First: 90, Longest: 300},
			"backoffBaseSeconds: 90\n    backoffLimitCount: 340\n    backoffMaxSeconds: 300\n",
		},
	} {
		p.AdmissionChecks[0].Retry = c.pauses
		if got := renderManifests(t, p)["admission-checks.yaml"]; !strings.Contains(got, c.want) {
			t.Errorf("the checks lack %q:\n%s", c.want, got)
		}
	}
}

// TestSharing holds the fields of weights and usage, none of which is emitted without them.
func TestSharing(t *testing.T) {
	plain := renderManifests(t, sharedQueuePlan())
	p := sharedQueuePlan()
	p.Cohorts = []ir.Cohort{{Name: "lab", Share: newQuantity("3")}}
	p.SharedQueues[0].Share, p.SharedQueues[0].ByUsage = newQuantity("0"), true
	team := &p.Teams[0]
	for i := range team.Queues {
		team.Queues[i].TeamShare = newQuantity("0.5")
	}
	limit := 3
	p.KueueSettings = ir.KueueSettings{
		Strategies: []string{"LessThanInitialShare"},
		Usage:      &ir.UsageSettings{HalfLife: 3600, Interval: 90, Weights: []ir.ResourceWeight{{Resource: "memory"}}},
		OwnPodsReady: &ir.PodsReady{
			Timeout: 90, Recovery: 60, Blocks: true, Place: ir.PlaceCreation, Limit: &limit, First: 5, Longest: 7,
		},
	}
	got := renderManifests(t, p)
	for _, c := range []struct {
		file  string
		lines []string
	}{
		{"cohorts.yaml", []string{"  fairSharing:\n    weight: \"3\"\n"}},
		{"shared-queues.yaml", []string{
			"  fairSharing:\n    weight: \"0\"\n",
			"  admissionScope:\n    admissionMode: UsageBasedAdmissionFairSharing\n",
		}},
		{team.Name, []string{"  fairSharing:\n    weight: 500m\n"}},
	} {
		for _, lines := range c.lines {
			if !strings.Contains(got[c.file], lines) || strings.Contains(plain[c.file], lines) {
				t.Errorf("%s lacks %q, or has it in any case:\n%s", c.file, lines, got[c.file])
			}
		}
	}
	configuration, err := kueue.Configuration(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []string{
		"fairSharing:\n  preemptionStrategies:\n  - LessThanInitialShare\n",
		"admissionFairSharing:\n  resourceWeights:\n    memory: 0\n" +
			"  usageHalfLifeTime: 60m\n  usageSamplingInterval: 90s\n",
		"waitForPodsReady:\n  blockAdmission: true\n  recoveryTimeout: 1m\n  requeuingStrategy:\n" +
			"    backoffBaseSeconds: 5\n    backoffLimitCount: 3\n    backoffMaxSeconds: 7\n    timestamp: Creation\n" +
			"  timeout: 90s\n",
	} {
		if !strings.Contains(string(configuration), lines) {
			t.Errorf("the configuration lacks %q:\n%s", lines, configuration)
		}
	}
}

func TestTeam(t *testing.T) {
	want := `apiVersion: kueue.x-k8s.io/v1beta2
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
    borrowWithinCohort:
      policy: LowerPriority
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
  queueingStrategy: StrictFIFO
  resourceGroups:
  - coveredResources:
    - cpu
    - memory
    - nvidia.com/gpu
    - pods
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
      - borrowingLimit: "440"
        name: pods
        nominalQuota: "440"
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
      - borrowingLimit: "0"
        name: pods
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
	if diff := cmp.Diff(want, renderManifests(t, testPlan())["team-a"]); diff != "" {
		t.Errorf("team in a cohort (-want +got):\n%s", diff)
	}
}

// TestTeamByItself: without a cohort there is nothing to borrow.
func TestTeamByItself(t *testing.T) {
	got := renderManifests(t, testPlan())["team-b"]
	for _, never := range []string{"cohortName", "preemption", "admissionChecks"} {
		if strings.Contains(got, never) {
			t.Errorf("team without a cohort has %s:\n%s", never, got)
		}
	}
	if !strings.Contains(got, `nominalQuota: "4"`) {
		t.Errorf("team without cohort has no quota:\n%s", got)
	}
}

// sharedQueuePlan is a queue that both teams share: it waits for nodes on two of its
// three flavors, by two checks.
func sharedQueuePlan() *ir.Platform {
	quota := func(flavor, check string) ir.FlavorQuota {
		return ir.FlavorQuota{
			Flavor: flavor, AdmissionCheck: check,
			Quotas: []ir.ResourceQuota{
				{Resource: "nvidia.com/gpu", Nominal: resource.MustParse("8")},
				{Resource: "pods", Nominal: resource.MustParse("880")},
			},
		}
	}
	p := testPlan()
	for _, name := range []string{"a100-far", "a100-queued"} {
		p.Capacities = append(p.Capacities, ir.Capacity{Name: name, Machine: ir.Machine{Resource: ir.GPU}})
	}
	q := ir.Queue{
		Tier: "dws", Classes: []string{"low", "high"}, ClusterQueue: "cq-dws", Shared: true, Strategy: "BestEffortFIFO",
		Preemption: ir.Preemption{
			InQueue: ir.PreemptNewer, ToReclaim: ir.PreemptNever, ToBorrow: ir.PreemptNever,
		},
		Flavors: []ir.FlavorQuota{
			quota("h100-queued", "dws-h100"), quota("l4-spot", ""), quota("a100-queued", "dws-a100"),
			quota("a100-far", "dws-a100"),
		},
	}
	p.SharedQueues = []ir.SharedQueue{
		{Queue: q, Teams: []ir.SharingTeam{{Name: "team-a", Namespace: "ns-a"}, {Name: "team-b", Namespace: "team-b"}}},
	}
	for i := range p.Teams {
		q.LocalQueue = "lq-" + p.Teams[i].Name + "-dws"
		p.Teams[i].Queues = append(p.Teams[i].Queues, q)
	}
	return p
}

func TestSharedQueues(t *testing.T) {
	got := renderManifests(t, sharedQueuePlan())
	want := `apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: cq-dws
spec:
  admissionChecksStrategy:
    admissionChecks:
    - name: dws-h100
      onFlavors:
      - h100-queued
    - name: dws-a100
      onFlavors:
      - a100-queued
      - a100-far
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: In
      values:
      - ns-a
      - team-b
  preemption:
    reclaimWithinCohort: Never
    withinClusterQueue: LowerOrNewerEqualPriority
  queueingStrategy: BestEffortFIFO
  resourceGroups:
  - coveredResources:
    - nvidia.com/gpu
    - pods
    flavors:
    - name: h100-queued
      resources:
      - name: nvidia.com/gpu
        nominalQuota: "8"
      - name: pods
        nominalQuota: "880"
    - name: l4-spot
      resources:
      - name: nvidia.com/gpu
        nominalQuota: "8"
      - name: pods
        nominalQuota: "880"
    - name: a100-queued
      resources:
      - name: nvidia.com/gpu
        nominalQuota: "8"
      - name: pods
        nominalQuota: "880"
    - name: a100-far
      resources:
      - name: nvidia.com/gpu
        nominalQuota: "8"
      - name: pods
        nominalQuota: "880"
`
	if diff := cmp.Diff(want, got["shared-queues.yaml"]); diff != "" {
		t.Errorf("shared queues (-want +got):\n%s", diff)
	}
	for _, team := range []string{"team-a", "team-b"} {
		if strings.Contains(got[team], "name: cq-dws") {
			t.Errorf("%s has the shared queue:\n%s", team, got[team])
		}
		if want := "  name: lq-" + team + "-dws\n  namespace: "; !strings.Contains(got[team], want) ||
			!strings.Contains(got[team], "  clusterQueue: cq-dws\n") {
			t.Errorf("%s has no way into it:\n%s", team, got[team])
		}
	}
}

// TestSharedByOne: the queue is one namespace's, as a team's own is.
func TestSharedByOne(t *testing.T) {
	p := sharedQueuePlan()
	p.SharedQueues[0].Teams = p.SharedQueues[0].Teams[:1]
	const want = "  namespaceSelector:\n    matchLabels:\n      kubernetes.io/metadata.name: ns-a\n"
	if got := renderManifests(t, p)["shared-queues.yaml"]; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestBorrowsAll: without a limit all that is idle may be borrowed.
func TestBorrowsAll(t *testing.T) {
	p := testPlan()
	quotas := p.Teams[0].Queues[0].Flavors[0].Quotas
	for i := range quotas {
		quotas[i].Borrowing, quotas[i].BorrowsAll = nil, true
	}
	got := renderManifests(t, p)["team-a"]
	first := got[strings.Index(got, "- name: l4-spot"):strings.Index(got, "- name: h100-queued")]
	if strings.Contains(first, "borrowingLimit") {
		t.Errorf("a limit in\n%s", first)
	}
}

// TestWaitingQuota: of a capacity whose reservation has not begun a queue has
// nothing, whatever it will have.
func TestWaitingQuota(t *testing.T) {
	p := testPlan()
	flavors := p.Teams[0].Queues[0].Flavors
	flavors[0].Waiting = true
	got := renderManifests(t, p)["team-a"]
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
      - borrowingLimit: "0"
        name: pods
        nominalQuota: "0"
`
	if diff := cmp.Diff(want, strings.TrimRight(first, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResourceFlavors(t *testing.T) {
	plan := testPlan()
	for i := range plan.Capacities {
		plan.Capacities[i].Flavor.Name = plan.Capacities[i].Name
	}
	seconds := int64(30)
	plan.Capacities[0].Flavor.Taints = plan.Capacities[0].NodeTaints
	plan.Capacities[0].Flavor.Tolerations = []ir.Toleration{
		{Key: "nvidia.com/gpu", Operator: "Equal", Value: "present", Effect: "NoSchedule"},
	}
	plan.ExistingCapacities = []ir.Capacity{{
		Name: "jobs", Option: ir.ExistingNodes,
		Flavor: ir.Flavor{Name: "1x.jobs", Tolerations: []ir.Toleration{
			{Operator: "Exists", Effect: "NoExecute", Seconds: &seconds},
		}},
	}}
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
  name: 1x.jobs
spec:
  tolerations:
  - effect: NoExecute
    operator: Exists
    tolerationSeconds: 30
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
	if diff := cmp.Diff(want, renderManifests(t, plan)["resource-flavors.yaml"]); diff != "" {
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
  retryStrategy:
    backoffBaseSeconds: 60
    backoffLimitCount: 340
    backoffMaxSeconds: 1800
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
	if diff := cmp.Diff(want, renderManifests(t, testPlan())["admission-checks.yaml"]); diff != "" {
		t.Errorf("admission checks (-want +got):\n%s", diff)
	}
}

// TestNetworksOfAccelerators: Kueue leaves claims of them alone, and elsewhere is
// as ever.
func TestNetworksOfAccelerators(t *testing.T) {
	const gates = "      KueueDRAIntegration: false\n      KueueDRAIntegrationExtendedResource: false\n" +
		"      KueueDRAIntegrationPartitionableDevices: false\n      KueueDRARejectWorkloadsWhenDRADisabled: false\n"
	p := testPlan()
	for _, want := range []bool{false, true} {
		p.Capacities[0].Machine.AcceleratorNetworks = want
		if got := renderManifests(t, p)["system/kueue-configuration.yaml"]; strings.Contains(got, gates) != want {
			t.Errorf("gates are there: %v, want %v\n%s", !want, want, got)
		}
	}
}

// TestQueuedSlices: a request for TPUs says of which shape.
func TestQueuedSlices(t *testing.T) {
	p := testPlan()
	p.AdmissionChecks[0].Resources, p.AdmissionChecks[0].Topology = []string{"google.com/tpu"}, "4x4"
	want := `spec:
  managedResources:
  - google.com/tpu
  parameters:
    tpu-topology: 4x4
  podSetUpdates:
`
	if got := renderManifests(t, p)["admission-checks.yaml"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
}

// TestGroups: resources that no flavor has in common are in groups of their own.
func TestGroups(t *testing.T) {
	p := testPlan()
	queue := &p.Teams[0].Queues[0]
	queue.Flavors[0].Quotas = queue.Flavors[0].Quotas[2:3] // only GPUs
	queue.Flavors[1].Quotas = queue.Flavors[1].Quotas[:2]  // vCPUs and memory
	const want = `  resourceGroups:
  - coveredResources:
    - nvidia.com/gpu
    flavors:
    - name: l4-spot
      resources:
      - borrowingLimit: "4"
        name: nvidia.com/gpu
        nominalQuota: "4"
  - coveredResources:
    - cpu
    - memory
    flavors:
    - name: h100-queued
`
	if got := renderManifests(t, p)["team-a"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
}

// TestOrder: what refers to something comes after it.
func TestOrder(t *testing.T) {
	var names []string
	for _, m := range kueue.Queues(sharedQueuePlan()) {
		names = append(names, m.Name)
	}
	if want := []string{
		"topologies.yaml", "workload-priority-classes.yaml", "resource-flavors.yaml", "admission-checks.yaml",
		"cohorts.yaml", "shared-queues.yaml",
	}; !slices.Equal(names, want) {
		t.Errorf("order %q, want %q", names, want)
	}
}

// TestNextCapacity: only what differs from the API's defaults is in a ClusterQueue.
func TestNextCapacity(t *testing.T) {
	for _, test := range []struct {
		next ir.NextCapacity
		want string
	}{
		{ir.NextCapacity{}, ""},
		{ir.NextCapacity{BeforeBorrowing: true}, "whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor"},
		{ir.NextCapacity{AfterEvicting: true}, "whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch"},
		{
			ir.NextCapacity{BeforeBorrowing: true, PrefersEvicting: true},
			"preference: PreemptionOverBorrowing, whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor",
		},
	} {
		p := testPlan()
		p.Teams[0].Queues[0].NextCapacity = test.next
		_, got, found := strings.Cut(renderManifests(t, p)["team-a"], "  flavorFungibility:\n    ")
		got, _, _ = strings.Cut(got, "\n  n")
		if got = strings.ReplaceAll(got, "\n    ", ", "); got != test.want || found != (test.want != "") {
			t.Errorf("%+v: got %q, want %q", test.next, got, test.want)
		}
	}
}

// TestLimitedBorrowing: the highest priority of the jobs that are evicted, also 0.
func TestLimitedBorrowing(t *testing.T) {
	p := testPlan()
	p.Teams[0].Queues[0].Preemption.LimitsToBorrow = true
	const want = "    borrowWithinCohort:\n      maxPriorityThreshold: 0\n      policy: LowerPriority\n"
	if got := renderManifests(t, p)["team-a"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
}

// TestStop: only a decision of the blueprint is in a ClusterQueue.
func TestStop(t *testing.T) {
	for stop, want := range map[string]bool{"": false, ir.StopNone: true, ir.StopHold: true, ir.StopDrain: true} {
		p := testPlan()
		p.Teams[0].Queues[0].Stop = stop
		if got := renderManifests(t, p)["team-a"]; strings.Contains(got, "  stopPolicy: "+stop+"\n") != want {
			t.Errorf("stop %q:\n%s", stop, got)
		}
	}
}

// TestLocalQueues: all LocalQueues lead to the ClusterQueue, and the policies know their tier.
func TestLocalQueues(t *testing.T) {
	p := testPlan()
	queue := &p.Teams[0].Queues[0]
	queue.LocalQueue, queue.LocalQueues = "day", []ir.LocalQueue{{Name: "day"}, {Name: "night", Stop: ir.StopHold}}
	const want = `  name: day
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
  name: night
  namespace: ns-a
spec:
  clusterQueue: cq-team-a-hp
  stopPolicy: Hold
`
	if got := renderManifests(t, p)["team-a"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
	if got := kueue.TierOfQueue(p); !strings.HasPrefix(got, "{'ns-a/day': 'hp',\n'ns-a/night': 'hp'}\n") {
		t.Errorf("the policies have %q", got)
	}
}

// TestSelectedNamespaces: conditions keep their order, and "none" has no selector.
func TestSelectedNamespaces(t *testing.T) {
	for _, test := range []struct {
		selected ir.Namespaces
		want     string
	}{
		{ir.Namespaces{None: true}, ""},
		{
			ir.Namespaces{Conditions: []ir.NamespaceCondition{
				{Label: "campus", Operator: ir.LabelIn, Values: []string{"south", "north"}},
				{Label: "age", Operator: ir.LabelMissing},
			}},
			`  namespaceSelector:
    matchExpressions:
    - key: campus
      operator: In
      values:
      - south
      - north
    - key: age
      operator: DoesNotExist
  preemption:
`,
		},
	} {
		p := testPlan()
		p.Teams[0].Queues[0].Namespaces = test.selected
		got := renderManifests(t, p)["team-a"]
		got, _, _ = strings.Cut(got, "\n---\n")
		if !strings.Contains(got, test.want) || strings.Contains(got, "namespaceSelector") != (test.want != "") {
			t.Errorf("no\n%s\nin\n%s", test.want, got)
		}
	}
}

// TestWorkloadPriorities: each class is made once, and the policy on jobs knows the classes of
// each tier.
func TestWorkloadPriorities(t *testing.T) {
	p := testPlan()
	p.WorkloadPriorities = []ir.WorkloadPriority{{Name: "normal", Value: 10}, {Name: "urgent", Value: -2}}
	p.Teams[0].Queues[0].WorkloadPriorities = p.WorkloadPriorities
	want := `apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: urgent
value: -2
`
	if got := renderManifests(t, p)["workload-priority-classes.yaml"]; !strings.HasSuffix(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{}
	kueue.Guard(p, policy)
	if got := policy.Spec.Variables[0]; got.Name != "priorities" ||
		!strings.HasPrefix(got.Expression, "{'hp': ['normal', 'urgent']}\n[?(") {
		t.Errorf("the policy has %+v", got)
	}
	for _, v := range policy.Spec.Validations[1:] {
		if strings.Contains(v.Expression, ir.LabelWorkloadPriority) {
			t.Errorf("the label is also in %s", v.Expression)
		}
	}
}

// TestChecksOfOthers: they follow those of the capacities, and nothing makes them.
func TestChecksOfOthers(t *testing.T) {
	p := testPlan()
	p.Teams[0].Queues[0].Checks = []ir.QueueCheck{{Name: "budget"}, {Name: "night", Flavors: []string{"l4-spot"}}}
	const want = `    admissionChecks:
    - name: flex-start
      onFlavors:
      - h100-queued
    - name: budget
    - name: night
      onFlavors:
      - l4-spot
`
	manifests := renderManifests(t, p)
	if got := manifests["team-a"]; !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
	if got := manifests["admission-checks.yaml"]; strings.Contains(got, "budget") {
		t.Errorf("a check of others is made:\n%s", got)
	}
}
