package cloudbuild

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// existingPlatform returns a plan in a cluster that others own, with Kueue and JobSet of
// others.
func existingPlatform() *ir.Platform {
	p := fullPlatform()
	p.Name = "research"
	p.Cluster = ir.Cluster{
		Name: "prod", Location: "us-central1-a", DNSEndpoint: true, MultiNetworking: true,
		SecurityGroup: "gke-security-groups@example.com",
		Existing: &ir.ExistingCluster{
			Version: "1.34", DataplaneV2: true, WorkloadIdentity: true, ManagedPrometheus: true,
			Kueue: &ir.ExistingKueue{Version: "0.19.0"}, JobSet: &ir.ExistingJobSet{Version: "0.11.0"},
		},
	}
	p.AutoProvisioning = ir.AutoProvisioning{
		Create: true, Limits: []ir.ResourceLimit{{Type: "cpu", Max: 1000}, {Type: "nvidia-l4", Max: 64}},
	}
	p.Capacities = []ir.Capacity{{Name: "l4"}, {Name: "l4-auto", AutoProvisioned: true}}
	return p
}

// fittingCluster answers as a cluster does that fits existingPlatform.
const fittingCluster = `
case $call in
*'clusters describe prod '*flatten*) printf 'cpu|2000\nnvidia-l4|64\n' ;;
*'clusters describe prod '*)
  printf '1.34.1-gke.100|False|my-project.svc.id.goog|ADVANCED_DATAPATH|True|'
  echo 'gke-security-groups@example.com|True|True|n|s' ;;
*'node-pools list '*) printf 'l4|research\ndefault|\n' ;;
*'get deployment kueue-controller-manager '*) printf 'registry.k8s.io/kueue/kueue:v0.19.2@sha256:00' ;;
*'annotate --local '*) cat >/dev/null; printf 'batch/job\njobset.x-k8s.io/jobset\n' ;;
*'get deployment jobset-controller '*) printf 'registry.k8s.io/jobset/jobset:v0.12.0' ;;
*'get -k kubernetes '*) printf 'ClusterQueue - cq - - research\nNamespace - vision - - research\n' ;;
esac
`

// TestCheckCluster holds that the step accepts a cluster that fits, and reports all
// differences of one that does not.
func TestCheckCluster(t *testing.T) {
	s := newSandbox(t, existingPlatform())
	s.writeFile("deploy folder/kubernetes/kustomization.yaml", "", 0o644)
	st := findStep(t, provisionBuild(existingPlatform()), "cluster")
	s.answer(fittingCluster)
	r := s.runStep(st)
	if r.code != 0 || r.output != "" {
		t.Errorf("a cluster that fits: exit code %d\n%s", r.code, r.output)
	}
	for _, want := range []string{
		"gcloud container clusters describe prod --project=my-project --location=us-central1-a ",
		"gcloud container clusters get-credentials prod --project=my-project --location=us-central1-a --dns-endpoint",
	} {
		if len(r.callsWith(want)) == 0 {
			t.Errorf("no %q in %q", want, r.calls)
		}
	}
	for _, call := range r.calls {
		if slices.ContainsFunc([]string{"apply", "delete", "patch", "create"}, func(verb string) bool {
			return strings.HasPrefix(call, "kubectl "+verb+" ")
		}) {
			t.Errorf("the step changes something: %s", call)
		}
	}

	const every = "The cluster prod does not fit the platform:\n"
	for _, tt := range []struct{ name, answers, says string }{
		{
			"a cluster that cannot be read",
			`if [[ $call == *'clusters describe '* ]]; then echo 'not found' >&2; exit 1; fi`,
			"- cluster prod in us-central1-a of project my-project cannot be read: not found\n",
		},
		{
			"Autopilot", `if [[ $call == *'clusters describe '* ]]; then echo '1.34|True||||||||'; fi`,
			"- it is an Autopilot cluster, which has no node pools of others: use a Standard cluster\n",
		},
		{
			"no rights in it", `if [[ $call == 'kubectl auth'* ]]; then exit 1; fi` + fittingCluster,
			"- this build may not change its objects. The owner of the cluster runs: kubectl create " +
				"clusterrolebinding research-build --clusterrole=cluster-admin " +
				"--user=gke-batch-build@my-project.iam.gserviceaccount.com\n",
		},
		{
			"every difference at once", `
case $call in
*'clusters describe prod '*flatten*) printf 'cpu|900\n' ;;
*'clusters describe prod '*) echo '1.33.9-gke.1|False||||||False|n|s' ;;
*'node-pools list '*) printf 'l4|\ndefault|\n' ;;
*'get deployment kueue-controller-manager '*) printf 'registry.k8s.io/kueue/kueue:v0.18.9' ;;
*'annotate --local '*) cat >/dev/null; printf 'pod\n' ;;
*'get -k kubernetes '*)
  printf 'ClusterQueue - cq - -\nNamespace - vision - - other\nConfigMap vision files - - <no value>\n'
  printf 'ClusterQueue - synced Argo_CD - research\nLocalQueue vision lq - Flux\n'
  printf 'Namespace - speech Config_Sync - research\n' ;;
esac
`, `- its version is 1.33.9-gke.1, but the blueprint says cluster: existing: version: "1.34"
- it has no Workload Identity Federation, so jobs would have no identities
- it does not use Dataplane V2, so nothing enforces network policies: write has: dataplaneV2: false, if that is intended
- it has no multi-networking, which the blueprint says it has
- its security group is "", but the blueprint says gke-security-groups@example.com
- it has no managed collection of metrics: write has: managedPrometheus: false, if that is intended
- its DNS endpoint is closed: write has: dnsEndpoint: false, and build in a private worker pool
- its auto-provisioning limit for cpu is 900, but the blueprint says 1000
- its auto-provisioning limit for nvidia-l4 is 0, but the blueprint says 64
- it has a node pool l4, which belongs to others: rename the capacity
- Kueue is version 0.18.9, but the blueprint says cluster: existing: kueue: version: "0.19.0"
- Kueue does not manage jobs of kind batch/job: its owner adds it to integrations.frameworks
- Kueue does not manage jobs of kind jobset.x-k8s.io/jobset: its owner adds it to integrations.frameworks
- JobSet does not run in namespace jobset-system: install it, or remove cluster: existing: jobset
- ClusterQueue cq exists and belongs to others. Rename it in the blueprint, or let its owner hand it over: ` +
				`kubectl label ClusterQueue cq app.kubernetes.io/part-of=research --overwrite
- Namespace vision exists and belongs to others. Rename it in the blueprint, or let its owner hand it over: ` +
				`kubectl label Namespace vision app.kubernetes.io/part-of=research batchwright-existing=true --overwrite
- ConfigMap files exists and belongs to others. Rename it in the blueprint, or let its owner hand it over: ` +
				`kubectl label -n vision ConfigMap files app.kubernetes.io/part-of=research --overwrite
- ClusterQueue synced is applied by Argo CD, which would undo the platform's changes or delete it. ` +
				`batchwright diff --live FILE --handover DIR writes how its owner hands it over
- LocalQueue lq is applied by Flux, which would undo the platform's changes or delete it. ` +
				`batchwright diff --live FILE --handover DIR writes how its owner hands it over
`,
		},
	} {
		s.answer(tt.answers)
		r := s.runStep(st)
		if diff := cmp.Diff(every+tt.says, r.output); r.code != 1 || diff != "" {
			t.Errorf("%s: exit code %d (-want +got):\n%s", tt.name, r.code, diff)
		}
	}
}

// TestCheckClusterInstalls holds that controllers of others are reported where the platform
// would install its own, without asking for their objects, and that the platform's own are
// not.
func TestCheckClusterInstalls(t *testing.T) {
	p := existingPlatform()
	p.Cluster.Existing.Kueue, p.Cluster.Existing.JobSet = nil, nil
	s := newSandbox(t, p)
	s.writeFile("deploy folder/kubernetes/kustomization.yaml", "", 0o644)
	st := findStep(t, provisionBuild(p), "cluster")
	const running = `
case $call in
*kueue-controller-manager*managedFields*) printf 'KUEUE kube-controller-manager' ;;
*jobset-controller-manager*managedFields*) printf 'JOBSET kube-controller-manager' ;;
*'get deployment jobset-controller-manager '*) printf 'registry.k8s.io/jobset/jobset:v0.11.1' ;;
*'get -k kubernetes '*) printf 'ConfigMap kueue-system kueue-manager-config - - OWNER\n' ;;
*) FITS ;;
esac
`
	for _, tt := range []struct{ kueue, jobset, owner, says string }{
		{"kueue-release", "jobset-release", "research", ""},
		{"kueue-release", "kubectl", "research", "- others run JobSet 0.11.1 in it: write cluster: existing: jobset: " +
			"version: \"0.11.1\"\n"},
		{"helm", "jobset-release", "helm", "- others run Kueue 0.19.2 in it: write cluster: existing: kueue: " +
			"version: \"0.19.2\"\n"},
	} {
		s.answer(strings.NewReplacer("KUEUE", tt.kueue, "JOBSET", tt.jobset, "OWNER", tt.owner, "FITS",
			fittingCluster).Replace(running))
		want := tt.says
		if want != "" {
			want = "The cluster prod does not fit the platform:\n" + want
		}
		if r := s.runStep(st); r.output != want || (r.code == 0) != (want == "") {
			t.Errorf("%+v: exit code %d\n%s", tt, r.code, r.output)
		}
	}
}

// TestCheckManaged holds that a job without Kueue's suspension stops the build.
func TestCheckManaged(t *testing.T) {
	p := existingPlatform()
	p.PriorityClasses = []ir.PriorityClass{{Name: "low", Tier: "low"}}
	p.Teams = []ir.Team{
		{Name: "a", Namespace: "team-a", Queues: []ir.Queue{{Tier: "low", LocalQueue: "lq-a"}}},
		{Name: "b", Namespace: "team-b", Queues: []ir.Queue{{Tier: "low", LocalQueue: "lq-b"}}},
	}
	s := newSandbox(t, p)
	st := findStep(t, provisionBuild(p), "managed")
	const answers = `case $call in
'kubectl create --dry-run=server'*)
  job=$(cat)
  if [[ $job == *'queue-name: lq-b'* ]]; then printf ANSWER; else printf true; fi ;;
*'annotate --local '*) cat >/dev/null; printf 'managed=true,' ;;
'kubectl get namespaces -l managed=true '*) printf 'team-a\nteam-b\n' ;;
esac`
	s.answer(strings.Replace(answers, "ANSWER", "true", 1))
	if r := s.runStep(st); r.code != 0 || r.output != "" {
		t.Errorf("managed namespaces: exit code %d\n%s", r.code, r.output)
	}
	s.answer(strings.Replace(answers, "ANSWER", "false", 1))
	if r := s.runStep(st); r.code != 1 || strings.Contains(r.output, "team-a") ||
		!strings.Contains(r.output, "- team-b: the webhooks do not see it, or refuse a job. Suspended: \"false\". \n") {
		t.Errorf("a namespace that no webhook sees: exit code %d\n%s", r.code, r.output)
	}
	s.answer(strings.NewReplacer("ANSWER", "true", `\nteam-b`, "").Replace(answers))
	if r := s.runStep(st); r.code != 1 || strings.Contains(r.output, "team-a") ||
		!strings.Contains(r.output, "- team-b: managedJobsNamespaceSelector of the configuration does not select it: "+
			"managed=true\n") {
		t.Errorf("a namespace that is not selected: exit code %d\n%s", r.code, r.output)
	}
}

// TestLeaveCluster holds that the destroying build deletes only what has the label of the
// platform, and neither the cluster nor what others use.
func TestLeaveCluster(t *testing.T) {
	p := existingPlatform()
	s := newSandbox(t, p)
	var ids []string
	for _, st := range destroyBuild(p).Steps {
		ids = append(ids, st.ID)
		if strings.Contains(st.Script, "clusters delete") ||
			slices.Contains(st.Args, "-var=deletion_protection=false") {
			t.Errorf("step %s is about a cluster of the platform", st.ID)
		}
	}
	if diff := cmp.Diff([]string{
		"settings", "access", "turn", "unlock", "terraform-init", "leave", "terraform-destroy",
	}, ids); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	s.answer(`case $call in
*'clusters list '*) echo RUNNING ;;
*'get deployment kueue-controller-manager '*) echo 1 ;;
*'get customresourcedefinitions networks'*|*'get customresourcedefinitions gke'*) ;;
*'get customresourcedefinitions '*) echo found ;;
esac`)
	r := s.runStep(findStep(t, destroyBuild(p), "leave"))
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s", r.code, r.output)
	}
	for _, call := range r.callsWith("kubectl delete ") {
		if !strings.Contains(call, "app.kubernetes.io/part-of=research") {
			t.Errorf("this deletes what others own: %s", call)
		}
		if strings.Contains(call, "networking.gke.io") {
			t.Errorf("the cluster does not know this kind: %s", call)
		}
	}
	const namespaces = "kubectl delete namespaces -l " +
		"team\\,app.kubernetes.io/part-of=research\\,\\!batchwright-existing"
	if len(r.callsWith(namespaces)) != 1 {
		t.Errorf("calls %q", r.calls)
	}

	own := existingPlatform()
	own.Cluster.Existing.Kueue, own.Cluster.Existing.JobSet = nil, nil
	uninstall := findStep(t, destroyBuild(own), "uninstall-kueue")
	const installed = `case $call in
*'clusters list '*) echo RUNNING ;;
*managedFields*) printf 'kueue-release' ;;
*'get customresourcedefinitions '*) echo found ;;
*'get clusterqueues.kueue.x-k8s.io '*) printf 'FOUND' ;;
esac`
	s.answer(strings.Replace(installed, "FOUND", "clusterqueue.kueue.x-k8s.io/theirs", 1))
	if r := s.runStep(uninstall); r.code != 0 || len(r.callsWith("kubectl delete ")) > 0 ||
		!strings.Contains(r.output, "theirs") {
		t.Errorf("Kueue that others use: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	s.answer(strings.Replace(installed, "FOUND", "", 1))
	if r := s.runStep(uninstall); r.code != 0 || len(r.callsWith("kubectl delete ")) != 1 {
		t.Errorf("Kueue that nobody uses: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	s.answer(strings.Replace(installed, "kueue-release", "kubectl", 1))
	if r := s.runStep(uninstall); r.code != 0 || len(r.callsWith("kubectl delete ")) > 0 {
		t.Errorf("Kueue of others: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
}
