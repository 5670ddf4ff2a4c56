package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubernetes"
)

// testPlan has a team with a group, and one without.
func testPlan() *ir.Platform {
	return &ir.Platform{
		Scheduler: ir.Kueue,
		Name:      "demo",
		Project:   "my-project",
		Capacities: []ir.Capacity{
			{
				Name:           "h100-queued",
				Option:         ir.QueuedFlexStart,
				NodeLabels:     []ir.KeyValue{{Key: "cloud.google.com/gke-queued", Value: "true"}},
				NodeTaints:     []ir.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}},
				AdmissionCheck: "flex-start",
			},
			{Name: "l4-spot", Option: ir.Spot, NodeLabels: []ir.KeyValue{{Key: "resource-type", Value: "spot"}}},
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
				Members: []string{
					"serviceAccount:ci@my-project.iam.gserviceaccount.com", "user:analyst@example.com",
				},
				KubeAccount: "team-a-ksa", Account: &ir.TeamAccount{ID: "wi-team-a"}, MaxJobs: 5000,
				Queues: []ir.Queue{
					{Tier: "hp", Classes: []string{"hp"}, ClusterQueue: "cq-team-a-hp", LocalQueue: "lq-team-a-hp"},
					{Tier: "lp", Classes: []string{"lp"}, ClusterQueue: "cq-team-a-lp", LocalQueue: "lq-team-a-lp"},
				},
			},
			{
				Name: "team-b", Namespace: "team-b", KubeAccount: "team-b-ksa",
				Queues: []ir.Queue{
					{Tier: "lp", Classes: []string{"lp"}, ClusterQueue: "cq-team-b-lp", LocalQueue: "lq-team-b-lp"},
				},
			},
		},
	}
}

// renderFiles returns the files of a plan by path.
func renderFiles(t testing.TB, p *ir.Platform) map[string]string {
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
    pod-security.kubernetes.io/audit: restricted
    pod-security.kubernetes.io/enforce: baseline
    team: team-a
  name: ns-a
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: team-only
  namespace: ns-a
spec:
  ingress:
  - from:
    - podSelector: {}
  podSelector: {}
  policyTypes:
  - Ingress
---
apiVersion: v1
kind: ResourceQuota
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: team-limits
  namespace: ns-a
spec:
  hard:
    count/configmaps: "500"
    count/jobs.batch: 5k
    count/services: 5k
---
apiVersion: v1
kind: ResourceQuota
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: no-affinity-to-other-namespaces
  namespace: ns-a
spec:
  hard:
    pods: "0"
  scopes:
  - CrossNamespacePodAffinity
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
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: ci@my-project.iam.gserviceaccount.com
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: analyst@example.com
---
`
	file := renderFiles(t, testPlan())["kubernetes/teams/team-a.yaml"]
	got, queues, _ := strings.Cut(file, "apiVersion: kueue.x-k8s.io")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("team with a group (-want +got):\n%s", diff)
	}
	if n := strings.Count(queues, "\nkind: "); n != 4 {
		t.Errorf("%d objects after them, want its queues:\n%s", n, queues)
	}
}

// TestTeamByItself: without members nobody may submit. The binding is there, so that a
// build takes the right from the members that the team had before.
func TestTeamByItself(t *testing.T) {
	got := renderFiles(t, testPlan())["kubernetes/teams/team-b.yaml"]
	if !strings.Contains(got, "kind: RoleBinding") || strings.Contains(got, "subjects:") {
		t.Errorf("a team without members has another RoleBinding than a binding of nobody:\n%s", got)
	}
}

// TestQueuesOfSeveralClasses: the namespace tells the admission policy which
// jobs may have.
func TestQueuesOfSeveralClasses(t *testing.T) {
	p := testPlan()
	p.Teams[0].Queues[1].Classes = []string{"low", "high"}
	const want = "queues: lq-team-a-hp=hp, lq-team-a-lp=low|high\n"
	if got := renderFiles(t, p)["kubernetes/teams/team-a.yaml"]; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestClaims: teams may claim the networks of accelerators where nodes have
// such.
func TestClaims(t *testing.T) {
	const role, claims = "kubernetes/system/job-submitter.yaml", "  resources:\n  - resourceclaimtemplates\n"
	p := testPlan()
	for _, want := range []bool{false, true} {
		p.Capacities[0].Machine.AcceleratorNetworks = want
		if got := renderFiles(t, p)[role]; strings.Contains(got, claims) != want {
			t.Errorf("teams may claim: %v, want %v\n%s", !want, want, got)
		}
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
	if diff := cmp.Diff(want, renderFiles(t, testPlan())["kubernetes/priority-classes.yaml"]); diff != "" {
		t.Errorf("priority classes (-want +got):\n%s", diff)
	}
}

func TestKustomizationListsWhatThereIs(t *testing.T) {
	small := testPlan()
	small.AdmissionChecks, small.Cohorts, small.Teams = nil, nil, small.Teams[1:]
	got := renderFiles(t, small)
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
`
	if diff := cmp.Diff(want, got["kubernetes/kustomization.yaml"]); diff != "" {
		t.Errorf("kustomization (-want +got):\n%s", diff)
	}
	if len(got) != 11 { // one changes Kueue's release, and is not applied by itself
		t.Errorf("%d files, want 11", len(got))
	}
}

func TestFilesLeavesThePlanAlone(t *testing.T) {
	p := testPlan()
	first := renderFiles(t, p)
	if diff := cmp.Diff(testPlan(), p); diff != "" {
		t.Errorf("plan changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(first, renderFiles(t, p)); diff != "" {
		t.Errorf("second run differs (-first +second):\n%s", diff)
	}
}

func BenchmarkFiles(b *testing.B) {
	p := testPlan()
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

// gpuQuotas returns no GPUs of each capacity.
func gpuQuotas(capacities ...string) (out []ir.FlavorQuota) {
	for _, c := range capacities {
		out = append(out, ir.FlavorQuota{Flavor: c, Quotas: []ir.ResourceQuota{{Resource: ir.GPU}}})
	}
	return out
}

// TestBounds: the namespace says what its team may use besides, and the policy what
// the queues of each tier lead to.
func TestBounds(t *testing.T) {
	p := testPlan()
	p.Teams[0].Bucket, p.Teams[0].Allow = "my-bucket", []string{"csi", "nfs"}
	p.Capacities[0].AutoProvisioned, p.Capacities[0].Compact = true, true
	for i := range p.Teams {
		for j := range p.Teams[i].Queues {
			q := &p.Teams[i].Queues[j]
			q.MaxGraceSeconds = 60
			q.Flavors = gpuQuotas("l4-spot")
			if q.Tier == "hp" {
				q.MaxGraceSeconds = 90
				q.Flavors = gpuQuotas("h100-queued", "l4-spot")
			}
		}
	}
	files := renderFiles(t, p)
	for path, wants := range map[string][]string{
		"kubernetes/teams/team-a.yaml": {"  annotations:\n    allow: csi, nfs\n    bucket: my-bucket\n    queues: "},
		"kubernetes/teams/team-b.yaml": {"  annotations:\n    queues: "},
		"kubernetes/system/admission-policies.yaml": {
			"{'hp': 90,\n      'lp': 60}\n",
			"{'hp': ['cloud.google.com/gke-queued=true', 'resource-type=spot'],\n      'lp': ['resource-type=spot']}\n",
			"{'hp': ['cloud.google.com/gke-placement-group=', 'nvidia.com/gpu=present'],\n      'lp': []}\n",
			"['cloud.google.com/compute-class', 'cloud.google.com/gke-queued', " +
				"'cloud.google.com/reservation-name', 'resource-type']",
			"? ['resourceClaims'] : []",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(files[path], want) {
				t.Errorf("%s: no %q in\n%s", path, want, files[path])
			}
		}
	}
	p.Capacities[0].Machine.AcceleratorNetworks = true
	got := renderFiles(t, p)["kubernetes/system/admission-policies.yaml"]
	if strings.Contains(got, "['resourceClaims']") {
		t.Errorf("pods may not claim the networks of their GPUs:\n%s", got)
	}
}

// TestLabelsOfNamespaces checks that a namespace has the labels of the platform and of
// its team, that the team's labels come first, and that batchwright's own labels stay.
func TestLabelsOfNamespaces(t *testing.T) {
	p := testPlan()
	p.Labels = []ir.KeyValue{
		{Key: "cost-center", Value: "4711"}, {Key: "stage", Value: "prod"}, {Key: "team", Value: "infra"},
	}
	p.Teams[0].Labels = []ir.KeyValue{{Key: "cost-center", Value: "4712"}}
	const want = `  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    cost-center: "4712"
    pod-security.kubernetes.io/audit: restricted
    pod-security.kubernetes.io/enforce: baseline
    stage: prod
    team: team-a
  name: ns-a
`
	if got := renderFiles(t, p)["kubernetes/teams/team-a.yaml"]; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// TestMembersOfAWorkforcePool checks the subjects of RBAC for the principals of a
// workforce identity pool: the whole identifier is the name.
func TestMembersOfAWorkforcePool(t *testing.T) {
	const pool = "iam.googleapis.com/locations/global/workforcePools/employees/"
	p := testPlan()
	p.Teams[0].Members = []string{"principal://" + pool + "subject/a@example.com", "principalSet://" + pool + "group/g"}
	const want = `- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: principal://` + pool + `subject/a@example.com
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: principalSet://` + pool + `group/g
`
	if got := renderFiles(t, p)["kubernetes/teams/team-a.yaml"]; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}
