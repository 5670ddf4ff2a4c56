package cloudbuild

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// temporary is the name of a directory that mktemp makes, another each time.
var temporary = regexp.MustCompile(`/\S*/tmp\.\w+`)

// TestProvision runs the whole build, step by step.
func TestProvision(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	s.answer(`if [[ $call == *"objects describe"* ]]; then exit 1; fi`)
	b := decodeBuild(t, emittedFiles(t, fullPlatform())["cloudbuild/provision.yaml"])
	var calls []string
	for _, st := range b.Steps {
		r := s.runStep(st)
		if r.code != 0 {
			t.Fatalf("step %s: exit code %d\n%s", st.ID, r.code, r.output)
		}
		calls = append(calls, r.calls...)
	}
	var got []string
	for _, call := range calls {
		got = append(got, temporary.ReplaceAllString(call, "TEMP"))
	}
	want := splitCalls(`
gcloud projects get-iam-policy my-project
gcloud auth print-access-token
curl --fail --silent --show-error --config - --header Content-Type:\ application/json --data \
  \{\"permissions\":\[\"compute.reservations.create\"\,\"compute.reservations.delete\"\,\
  \"compute.networks.create\"\,\"container.clusters.create\"\]\} \
  https://cloudresourcemanager.googleapis.com/v3/projects/my-project:testIamPermissions
gcloud builds list --project=my-project --region=us-central1 --ongoing \
  --filter=tags=batchwright\ AND\ tags=gke-batch --format=value\(startTime\,id\)
gcloud storage buckets update gs://my-project-gke-batch-tfstate --versioning --uniform-bucket-level-access \
  --public-access-prevention
gcloud storage objects describe gs://my-project-gke-batch-tfstate/gke-batch/terraform/default.tflock \
  --format=value\(generation\)
terraform init -input=false -backend-config=bucket=my-project-gke-batch-tfstate \
  -backend-config=prefix=gke-batch/terraform
terraform plan -input=false -lock-timeout=300s -out=platform.tfplan
terraform show -json platform.tfplan
gcloud container clusters list --project=my-project --location=us-central1 --filter=name=\"gke-batch\" \
  --format=value\(status\)
terraform apply -input=false -lock-timeout=300s platform.tfplan
gcloud container clusters describe gke-batch --project=my-project --location=us-central1 \
  --format=value\(monitoringConfig.componentConfig.enableComponents\)
gcloud container clusters get-credentials gke-batch --project=my-project --location=us-central1 --dns-endpoint
curl --fail --silent --show-error --location --retry 5 --output TEMP/release.yaml \
  https://github.com/kubernetes-sigs/kueue/releases/download/v0.19.2/manifests.yaml
kubectl create --dry-run=client --validate=false -k TEMP -o \
  go-template=\{\{range\ .webhooks\}\}\{\{if\ not\ .namespaceSelector\}\}\{\{.name\}\}\|\{\{range\ .rules\}\}\
  \{\{range\ .apiGroups\}\}\{\{.\}\}\,\{\{end\}\}\{\{end\}\}\{\{\"\\n\"\}\}\{\{end\}\}\{\{end\}\}
kubectl apply --server-side --force-conflicts --field-manager=kueue-release -k TEMP
kubectl -n kueue-system rollout status deployment/kueue-controller-manager --timeout=600s
kubectl apply --server-side --force-conflicts --field-manager=batchwright --dry-run=server -f \
  kubernetes/resource-flavors.yaml
curl --fail --silent --show-error --location --retry 5 --output TEMP/release.yaml \
  https://github.com/kubernetes-sigs/jobset/releases/download/v0.12.0/manifests.yaml
kubectl apply --server-side --force-conflicts --field-manager=jobset-release -f TEMP/release.yaml
kubectl -n jobset-system rollout status deployment/jobset-controller-manager --timeout=600s
kubectl create --dry-run=server -f -
kubectl create --dry-run=client --validate=false -f kubernetes/priority-classes.yaml -o \
  jsonpath=\{.metadata.name\}\ \{.value\}\ \{.preemptionPolicy\}\ \{.globalDefault\}\{\"\\n\"\}
kubectl get priorityclasses.scheduling.k8s.io -l app.kubernetes.io/part-of=gke-batch -o \
  jsonpath=\{range\ .items\[\*\]\}\{.metadata.name\}\ \{.value\}\ \{.preemptionPolicy\}\ \{.globalDefault\}\
  \{\"\\n\"\}\{end\}
kubectl create --dry-run=client --validate=false -f kubernetes/teams -o \
  jsonpath=\{.kind\}\ \{.metadata.namespace\}\ \{.metadata.name\}\ \{.spec.clusterQueue\}\{\"\\n\"\}
kubectl get localqueues.kueue.x-k8s.io --all-namespaces -l app.kubernetes.io/part-of=gke-batch -o \
  jsonpath=\{range\ .items\[\*\]\}\{.kind\}\ \{.metadata.namespace\}\ \{.metadata.name\}\ \{.spec.clusterQueue\}\
  \{\"\\n\"\}\{end\}
kubectl apply --server-side --force-conflicts --field-manager=batchwright -k kubernetes
kubectl create --dry-run=client --validate=false -f kubernetes/shared-queues.yaml -o name
kubectl create --dry-run=client --validate=false -f kubernetes/teams -o name
kubectl get clusterqueues.kueue.x-k8s.io -l app.kubernetes.io/part-of=gke-batch -o \
  jsonpath=\{range\ .items\[\*\]\}clusterqueue.kueue.x-k8s.io/\{.metadata.name\}\ \
  \{.metadata.annotations.batchwright/drained\}\{\"\\n\"\}\{end\}
kubectl get clusterqueues.kueue.x-k8s.io -l app.kubernetes.io/part-of=gke-batch -o \
  jsonpath=\{range\ .items\[\?\(@.spec.stopPolicy==\"None\"\)\]\}\{.metadata.name\}\{\"\ \"\}\
  \{.status.conditions\[\?\(@.type==\"Active\"\)\].status\}\{\"\ \"\}\{.status.conditions\[\?\
  \(@.type==\"Active\"\)\].message\}\{\"\\n\"\}\{end\}
`)
	dashboards := []string{
		"kubectl get namespaces monitoring --ignore-not-found -o name",
		"kubectl create namespace monitoring",
		"kubectl label namespaces monitoring app.kubernetes.io/part-of=gke-batch",
		"kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards",
	}
	if len(got) != len(want)+len(dashboards) {
		t.Fatalf("calls %q", got)
	}
	if diff := cmp.Diff(slices.Concat(want, dashboards), got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestMetrics runs the step that brings a changed list of metrics to a cluster that exists.
func TestMetrics(t *testing.T) {
	p := fullPlatform()
	p.Cluster.Metrics = []string{"APISERVER", "POD", "SYSTEM_COMPONENTS"}
	s := newSandbox(t, p)
	st := findStep(t, provisionBuild(p), "metrics")
	const describe = `gcloud container clusters describe gke-batch --project=my-project --location=us-central1 ` +
		`--format=value\(monitoringConfig.componentConfig.enableComponents\)`
	const update = `gcloud container clusters update gke-batch --project=my-project --location=us-central1 ` +
		`--enable-managed-prometheus --monitoring=API_SERVER\,POD\,SYSTEM`
	for _, test := range []struct {
		name, live string
		want       []string
		code       int
	}{
		{"another order", "echo 'SYSTEM_COMPONENTS;POD;APISERVER'", []string{describe}, 0},
		{"one less", "echo 'SYSTEM_COMPONENTS;APISERVER'", []string{describe, update}, 0},
		{"one more", "echo 'SYSTEM_COMPONENTS;POD;APISERVER;DCGM'", []string{describe, update}, 0},
		{"none", "echo", []string{describe, update}, 0},
		{"no cluster", "exit 1", []string{describe}, 1},
	} {
		s.answer(`if [[ $call == *"clusters describe"* ]]; then ` + test.live + `; fi`)
		r := s.runStep(st)
		if diff := cmp.Diff(test.want, r.calls); r.code != test.code || diff != "" {
			t.Errorf("%s: exit code %d, calls (-want +got):\n%s\n%s", test.name, r.code, diff, r.output)
		}
	}
}

// TestProvisionWithKAI runs what is different of the build with KAI Scheduler.
func TestProvisionWithKAI(t *testing.T) {
	s := newSandbox(t, kaiPlatform())
	b := provisionBuild(kaiPlatform())
	helm := findStep(t, b, "helm")
	if helm.Name != "alpine/helm:3.19.0" || helm.Entrypoint != "cp" || !slices.Equal(helm.Args,
		[]string{"/usr/bin/helm", "/workspace/helm"}) {
		t.Errorf("Helm is taken out of its image by %+v", helm)
	}
	var got []string
	for _, id := range []string{"kai", "priorities", "queues"} {
		r := s.runStep(findStep(t, b, id))
		if r.code != 0 {
			t.Fatalf("step %s: exit code %d\n%s", id, r.code, r.output)
		}
		got = append(got, r.calls...)
	}
	want := splitCalls(`
kubectl delete secrets --namespace=kai-scheduler --ignore-not-found -l \
  owner=helm\,name=kai-scheduler\,status\ in\ \(pending-install\,pending-upgrade\,pending-rollback\)
helm upgrade kai-scheduler oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler --install --version=v0.17.0 \
  --namespace=kai-scheduler --create-namespace --set=defaultQueue.createDefaultQueue=false --wait --timeout=15m
kubectl wait configs.kai.scheduler/kai-config --for=condition=Ready --timeout=600s
kubectl create --dry-run=server -f -
kubectl create --dry-run=client --validate=false -f kubernetes/priority-classes.yaml -o \
  jsonpath=\{.metadata.name\}\ \{.value\}\ \{.preemptionPolicy\}\ \{.globalDefault\}\{\"\\n\"\}
kubectl get priorityclasses.scheduling.k8s.io -l app.kubernetes.io/part-of=gke-batch -o \
  jsonpath=\{range\ .items\[\*\]\}\{.metadata.name\}\ \{.value\}\ \{.preemptionPolicy\}\ \{.globalDefault\}\
  \{\"\\n\"\}\{end\}
kubectl create --dry-run=client --validate=false -f kubernetes/cohorts.yaml -o name
kubectl create --dry-run=client --validate=false -f kubernetes/teams -o name
kubectl get queues.scheduling.run.ai -l app.kubernetes.io/part-of=gke-batch -o \
  jsonpath=\{range\ .items\[\*\]\}queue.scheduling.run.ai/\{.metadata.name\}\ \{.metadata.labels.team\}\
  \{\"\\n\"\}\{end\}
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestKAIWaits holds that the build goes on when the webhook answers, and gives
// up when it never does.
func TestKAIWaits(t *testing.T) {
	s := newSandbox(t, kaiPlatform())
	st := findStep(t, provisionBuild(kaiPlatform()), "kai")
	s.answer(`if [[ $call == "kubectl create"* && ! -e $SANDBOX/second ]]; then : >"$SANDBOX/second"; exit 1; fi`)
	if r := s.runStep(st); r.code != 0 || len(r.callsWith("sleep")) != 1 {
		t.Errorf("exit code %d, calls %q", r.code, r.calls)
	}
	s.answer(`if [[ $call == "kubectl create"* ]]; then echo refused >&2; exit 1; fi`)
	if r := s.runStep(st); r.code != 1 || len(r.callsWith("kubectl create")) != 60 ||
		!strings.Contains(r.output, "refused") {
		t.Errorf("exit code %d, %d calls\n%s", r.code, len(r.calls), r.output)
	}
}

// TestKAIQueues holds that queues which are gone get nothing more, those of teams
// are named before the cohorts they are in, and nothing is deleted.
func TestKAIQueues(t *testing.T) {
	s := newSandbox(t, kaiPlatform())
	st := findStep(t, provisionBuild(kaiPlatform()), "queues")
	const (
		wanted = `
case $call in
*"-f kubernetes/cohorts.yaml"*) echo queue.scheduling.run.ai/department ;;
*"-f kubernetes/teams"*) printf 'namespace/a\nqueue.scheduling.run.ai/a\n' ;;
`
		stop = `kubectl patch --type=merge -p \{\"spec\":\{\"resources\":\{\"cpu\":\{\"limit\":0\,\"quota\":0\}\,` +
			`\"gpu\":\{\"limit\":0\,\"quota\":0\}\,\"memory\":\{\"limit\":0\,\"quota\":0\}\}\}\} ` +
			`queue.scheduling.run.ai/b queue.scheduling.run.ai/former`
	)
	s.answer(wanted + `*get*) printf 'queue.scheduling.run.ai/%s\n' 'former ' 'department ' 'b b' 'a a' ;;
esac`)
	r := s.runStep(st)
	if diff := cmp.Diff([]string{stop}, r.callsWith("kubectl patch")); diff != "" || r.code != 0 {
		t.Errorf("exit code %d, patches (-want +got):\n%s\n%s", r.code, diff, r.output)
	}
	const ended = "ended:\n  kubectl delete queue.scheduling.run.ai/b\n" +
		"  kubectl delete queue.scheduling.run.ai/former\n"
	if !strings.Contains(r.output, ended) {
		t.Errorf("output lacks %q:\n%s", ended, r.output)
	}
	if got := r.callsWith("kubectl delete"); got != nil {
		t.Errorf("called %q", got)
	}

	s.answer(wanted + `*get*) printf 'queue.scheduling.run.ai/%s\n' 'department ' 'a a' ;;
esac`)
	if r := s.runStep(st); r.code != 0 || r.output != "" || r.callsWith("kubectl patch") != nil {
		t.Errorf("no change: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
}

// TestKAIPrioritiesOfItsOwn: a platform may have no PriorityClass but the
// scheduler's.
func TestKAIPrioritiesOfItsOwn(t *testing.T) {
	s := newSandbox(t, kaiPlatform())
	if err := os.Remove(filepath.Join(s.folder, "kubernetes", "priority-classes.yaml")); err != nil {
		t.Fatal(err)
	}
	s.answer(`case $call in *"get priorityclasses"*) echo 'old 1 Never ' ;; esac`)
	r := s.runStep(findStep(t, provisionBuild(kaiPlatform()), "priorities"))
	if want := []string{"kubectl delete priorityclasses.scheduling.k8s.io old"}; r.code != 0 || !slices.Equal(
		r.callsWith("kubectl delete"), want) {
		t.Errorf("exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
}

// TestLocalQueuesMove holds that a LocalQueue goes where it is to lead to another
// ClusterQueue, and nowhere else.
func TestLocalQueuesMove(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	s.answer(`case $call in
*"-f kubernetes/teams"*)
  printf '%s\n' 'Namespace  a ' 'ClusterQueue  cq-a-hp '
  printf 'LocalQueue %s\n' 'a lq-a-lp cq-lp' 'a lq-a-hp cq-a-hp' 'b lq-b-lp cq-lp'
  ;;
*"get localqueues"*)
  printf 'LocalQueue %s\n' 'a lq-a-lp cq-a-lp' 'a lq-a-hp cq-a-hp' 'b lq-b-lp cq-b-lp' 'former lq-a-lp cq-former-lp'
  ;;
esac`)
	r := s.runStep(findStep(t, provisionBuild(fullPlatform()), "local-queues"))
	want := []string{"kubectl delete localqueues.kueue.x-k8s.io -n a lq-a-lp",
		"kubectl delete localqueues.kueue.x-k8s.io -n b lq-b-lp"}
	if diff := cmp.Diff(want, r.callsWith("kubectl delete")); diff != "" || r.code != 0 {
		t.Errorf("exit code %d, deletions (-want +got):\n%s\n%s", r.code, diff, r.output)
	}
}

func TestDrainWithKAI(t *testing.T) {
	s := newSandbox(t, kaiPlatform())
	s.answer(`case $call in *"clusters list"*) echo RUNNING ;; esac`)
	r := s.runStep(findStep(t, destroyBuild(kaiPlatform()), "drain"))
	end := `kubectl delete namespaces -l team\,app.kubernetes.io/part-of=gke-batch --wait=false`
	if r.code != 0 || !slices.Contains(r.calls, end) || strings.Contains(strings.Join(r.calls, "\n"), "queue") {
		t.Errorf("exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
}

// TestStepsStop holds that a step fails with whatever it calls: no failure is
// passed over, and what is waited for is not waited for without end.
func TestStepsStop(t *testing.T) {
	for _, p := range []*ir.Platform{fullPlatform(), managedPlan(), kaiPlatform()} {
		stepsStop(t, p)
	}
}

func stepsStop(t *testing.T, p *ir.Platform) {
	s := newSandbox(t, p)
	for _, path := range []string{"cloudbuild/provision.yaml", "cloudbuild/destroy.yaml"} {
		for _, st := range decodeBuild(t, emittedFiles(t, p)[path]).Steps {
			if st.ID == "helm" {
				continue // copies a file of its image
			}
			s.answer(running)
			for _, failing := range s.runStep(st).calls {
				if strings.Contains(failing, "objects describe") {
					continue // to fail is its answer
				}
				pattern := strings.ReplaceAll(words.ShellString(temporary.ReplaceAllString(failing, "TEMP")), "TEMP",
					"'*'")
				s.answer(running + "\nif [[ $line == " + pattern + " ]]; then echo refused >&2; exit 1; fi")
				if r := s.runStep(st); r.code == 0 || !strings.Contains(r.output, "refused") {
					t.Errorf("%s, step %s: exit code %d after a failure of %s\n%s", path, st.ID, r.code, failing,
						r.output)
				}
			}
		}
	}
}

// running answers like a platform that runs, has changed and has nothing left to
// drain.
const running = `
case $call in
*"-f kubernetes/teams"*) echo clusterqueue.kueue.x-k8s.io/cq-a ;;
*"get queues"*) printf 'queue.scheduling.run.ai/%s\n' 'a a' 'old ' ;;
*"batchwright/drained}"*) printf 'clusterqueue.kueue.x-k8s.io/cq-%s true\n' a old ;;
*"get priorityclasses"*) echo 'old 1 Never ' ;;
*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ACTIVE ;;
*"get deployment"*) echo 1 ;;
"terraform state pull") echo '{}' ;;
"terraform state list") echo google_container_cluster.main ;;
esac`

// TestAccessWaits holds that both builds wait for what they need, and name what
// they lack in the end.
func TestAccessWaits(t *testing.T) {
	p := fullPlatform()
	p.Delivery.Permissions = []string{
		"cloudbuild.builds.list",
		"compute.reservations.create", "compute.reservations.delete", "compute.reservations.resize",
	}
	s := newSandbox(t, p)
	for _, tt := range []struct {
		name   string
		build  build
		lacks  string
		grants string
	}{
		{
			"provision", provisionBuild(p),
			"cloudbuild.builds.list compute.reservations.create compute.reservations.delete " +
				"compute.reservations.resize container.clusters.create",
			"Run ./create-platform.sh again",
		},
		{
			"destroy", destroyBuild(p),
			"cloudbuild.builds.list compute.reservations.delete container.clusters.list",
			"Run ./create-platform.sh --prepare again",
		},
	} {
		accessWaits(t, s, tt.name, findStep(t, tt.build, "access"), tt.lacks, tt.grants)
	}
}

func accessWaits(t *testing.T, s *sandbox, build string, st step, lacks, grants string) {
	t.Helper()
	for _, tt := range []struct{ name, late, never, says string }{
		{
			"no rights",
			`if [[ $call == *get-iam-policy* && ! -e $SANDBOX/second ]]; then : >"$SANDBOX/second"; exit 1; fi`,
			`if [[ $call == *get-iam-policy* ]]; then echo denied >&2; exit 1; fi`, "denied",
		},
		{
			"the rights of an earlier state of the platform",
			`if [[ $call == *testIamPermissions* && ! -e $SANDBOX/second ]]; then ` +
				`: >"$SANDBOX/second"; denied=true; fi`,
			`if [[ $call == *testIamPermissions* ]]; then
  denied=true
  echo '{"permissions":["compute.networks.create","compute.networks.delete"]}'
fi`,
			"\n" + lacks + " \n",
		},
	} {
		if err := os.RemoveAll(filepath.Join(s.root, "second")); err != nil {
			t.Fatal(err)
		}
		s.answer(tt.late)
		if r := s.runStep(st); r.code != 0 || len(r.callsWith("sleep")) != 1 {
			t.Errorf("%s, %s: exit code %d, calls %q", build, tt.name, r.code, r.calls)
		}
		s.answer(tt.never)
		r := s.runStep(st)
		if r.code != 1 || len(r.callsWith("gcloud projects")) != 60 ||
			!strings.Contains("\n"+r.output, tt.says) || !strings.Contains(r.output, grants) {
			t.Errorf("%s, %s: exit code %d, %d calls\n%s", build, tt.name, r.code, len(r.calls), r.output)
		}
	}
}

// TestTurn holds that a build waits for older ones of the platform, and only for
// these, and names the one that does not end.
func TestTurn(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	st := findStep(t, provisionBuild(fullPlatform()), "turn")
	const (
		older = `2026-01-01T10:00:00.5Z\tolder\n`
		own   = `2026-01-01T10:00:01Z\tthis-build\n`
		newer = `2026-01-01T10:00:02Z\tnewer\n`
	)
	for _, tt := range []struct{ name, list string }{
		{"alone", own}, {"a newer build waits", newer + own}, {"not listed yet", ""},
		{"one has not started", `\tapproval\n` + own},
	} {
		s.answer(`printf '` + tt.list + `'`)
		if r := s.runStep(st); r.code != 0 || len(r.calls) != 1 {
			t.Errorf("%s: exit code %d, calls %q\n%s", tt.name, r.code, r.calls, r.output)
		}
	}
	s.answer(`if [[ ! -e $SANDBOX/second ]]; then : >"$SANDBOX/second"; ` +
		`printf '` + newer + own + older + `'; else printf '` + own + `'; fi`)
	if r := s.runStep(st); r.code != 0 || len(r.callsWith("sleep")) != 1 || !strings.Contains(r.output,
		"Waiting for build older") {
		t.Errorf("exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	s.answer(`printf '` + own + older + `'`)
	want := "gcloud builds cancel older --project=my-project --region=us-central1"
	if r := s.runStep(st); r.code != 1 || len(r.callsWith("gcloud")) != 100 || !strings.Contains(r.output, want) {
		t.Errorf("exit code %d, %d calls\n%s", r.code, len(r.calls), r.output)
	}
}

// TestUnlock holds that the lock of a build goes that has ended without success,
// and that every other lock stays.
func TestUnlock(t *testing.T) {
	const (
		lock   = "gs://my-project-gke-batch-tfstate/gke-batch/terraform/default.tflock"
		remove = "gcloud storage rm " + lock + `#17`
		who    = "root@be462693c16b"
		list   = `gcloud builds list --project=my-project --region=us-central1 ` +
			`--filter=tags=batchwright\ AND\ tags=gke-batch --format=value\(startTime\,finishTime\,status\,id\)`
		// The lock is of 10:00:00.5.
		spans    = `2026-01-01T09:00:00.1Z\t2026-01-01T11:00:00Z\tCANCELLED\tcancelled\n`
		toSecond = `2026-01-01T10:00:00.7Z\t2026-01-01T10:00:00.8Z\tTIMEOUT\tbrief\n`
		succeeds = `2026-01-01T09:00:00Z\t2026-01-01T11:00:00Z\tSUCCESS\tfine\n`
		earlier  = `2026-01-01T08:00:00Z\t2026-01-01T09:59:59.9Z\tFAILURE\tearlier\n`
		later    = `2026-01-01T10:00:01Z\t2026-01-01T11:00:00Z\tFAILURE\tlater\n`
		runs     = `2026-01-01T09:00:00Z\t\tWORKING\tthis-build\n`
	)
	info := func(owner string) string {
		return `{"ID":"f9763602","Operation":"OperationTypeApply","Info":"","Who":"` + owner +
			`","Version":"1.14.0","Created":"2026-01-01T10:00:00.516271834Z"}`
	}
	s := newSandbox(t, fullPlatform())
	for _, b := range []build{provisionBuild(fullPlatform()), destroyBuild(fullPlatform())} {
		st := findStep(t, b, "unlock")
		for _, tt := range []struct {
			name, holder, builds, says string
			removes                    bool
		}{
			{"no lock", "", spans, "not locked", false},
			{"a build's", info(who), later + earlier + spans, "Build cancelled has left", true},
			{"a brief build's", info(who), toSecond, "Build brief has left", true},
			{"of no build", info(who), "", "  " + remove, false},
			{"of a build that succeeded", info(who), succeeds, "  " + remove, false},
			{"before and after builds", info(who), earlier + later, "  " + remove, false},
			{"while a build runs", info(who), runs, "  " + remove, false},
			{"a person's", info("ana@laptop"), spans, "  " + remove, false},
			{"root's elsewhere", info("root@laptop"), spans, "  " + remove, false},
			{"without a time", `{"Who":"` + who + `"}`, spans, "  " + remove, false},
			{"unreadable", "{}", spans, "locked by unknown", false},
		} {
			describe := "echo 17"
			if tt.holder == "" {
				describe = "exit 1"
			}
			s.answer("case $call in\n*'objects describe'*) " + describe + " ;;\n*cat*) echo " +
				words.ShellString(tt.holder) + " ;;\n*'builds list'*) printf '" + tt.builds + "' ;;\nesac")
			r := s.runStep(st)
			if r.code != 0 || !strings.Contains(strings.ReplaceAll(r.output, `\#`, "#"), tt.says) ||
				(r.callsWith("gcloud storage rm") != nil) != tt.removes {
				t.Errorf("%s: exit code %d, calls %q\n%s", tt.name, r.code, r.calls, r.output)
			}
			if got := r.callsWith("gcloud builds"); got != nil && !slices.Equal(got, []string{list}) {
				t.Errorf("%s: asks %q, want %q", tt.name, got, list)
			}
		}
	}
}

// TestKueueRestart holds that the pod template, and with it the controller,
// changes when the configuration does, and only then.
func TestKueueRestart(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	st := findStep(t, provisionBuild(fullPlatform()), "kueue")
	s.answer(`
case $call in
curl*) : >"$8" ;;
*"field-manager=kueue-release"*) cat "$6/kustomization.yaml" >"$SANDBOX/kustomization" ;;
esac`)
	apply := func(configuration string) string {
		s.writeFile("deploy folder/kubernetes/system/kueue-configuration.yaml", configuration, 0o644)
		if r := s.runStep(st); r.code != 0 {
			t.Fatalf("exit code %d\n%s", r.code, r.output)
		}
		return s.readFile("kustomization")
	}
	first := apply("one")
	want := `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- release.yaml
components:
- webhooks
patches:
- path: configuration.yaml
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: kueue-controller-manager
      namespace: kueue-system
    spec:
      template:
        metadata:
          annotations:
            batchwright/configuration: 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed
`
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("kustomization (-want +got):\n%s", diff)
	}
	if apply("one") != first {
		t.Error("the same configuration restarts the controller")
	}
	if apply("two") == first {
		t.Error("another configuration does not restart the controller")
	}
}

// TestKueueStopsNobodyElse holds that a release is not installed whose webhooks
// for jobs see every namespace.
func TestKueueStopsNobodyElse(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	st := findStep(t, provisionBuild(fullPlatform()), "kueue")
	s.answer(`
case $call in
curl*) : >"$8" ;;
*" -k "*template*) printf '%s\n' 'mclusterqueue.kb.io|kueue.x-k8s.io,' 'mnew.kb.io|new.example.com,' 'vbare.kb.io|,' ;;
esac`)
	r := s.runStep(st)
	want := "see every namespace:\nmnew.kb.io\nvbare.kb.io\n"
	if r.code != 1 || !strings.Contains(r.output, want) || r.callsWith("kubectl apply") != nil {
		t.Errorf("exit code %d, calls %q, want %q:\n%s", r.code, r.calls, want, r.output)
	}
}

// TestManifestDigest holds that a manifest is applied only if it is the one that is
// pinned, and that its SHA-256 is printed where none is.
func TestManifestDigest(t *testing.T) {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for name, test := range map[string]struct {
		pinned  string
		code    int
		applied int
	}{
		"no pin":      {"", 0, 1},
		"the same":    {empty, 0, 1},
		"another one": {strings.Repeat("0", 64), 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := fullPlatform()
			p.Versions.SHA256 = ir.Pins{Kueue: test.pinned, JobSet: test.pinned}
			s := newSandbox(t, p)
			for _, id := range []string{"kueue", "jobset"} {
				r := s.runStep(findStep(t, provisionBuild(p), id))
				applied := len(r.callsWith(
					"kubectl apply --server-side --force-conflicts --field-manager=" + id + "-release"))
				if r.code != test.code || applied != test.applied || !strings.Contains(r.output, empty) {
					t.Errorf("%s: exit code %d, applied %d times\n%s", id, r.code, applied, r.output)
				}
			}
		})
	}
}

// TestPriorities holds that a PriorityClass which cannot be applied is deleted,
// and no other.
func TestPriorities(t *testing.T) {
	const wanted = "hp 20 PreemptLowerPriority true\nlp 10 Never \n"
	s := newSandbox(t, fullPlatform())
	st := findStep(t, provisionBuild(fullPlatform()), "priorities")
	for _, tt := range []struct{ name, live, deletes string }{
		{"first build", "", ""},
		{"no change", "lp 10 Never \nhp 20 PreemptLowerPriority true\n", ""},
		{"another value", "hp 21 PreemptLowerPriority true\nlp 10 Never \n", "hp"},
		{"another policy", "hp 20 PreemptLowerPriority true\nlp 10 PreemptLowerPriority \n", "lp"},
		{"another default", "hp 20 PreemptLowerPriority \nlp 10 Never true\n", "hp lp"},
		{"another name", "hp 20 PreemptLowerPriority true\nlow 10 Never \n", "low"},
	} {
		s.answer("case $call in\n*create*) printf %s " + words.ShellString(wanted) + " ;;\n*get*) printf %s " +
			words.ShellString(tt.live) + " ;;\nesac")
		r := s.runStep(st)
		var want []string
		if tt.deletes != "" {
			want = []string{"kubectl delete priorityclasses.scheduling.k8s.io " + tt.deletes}
		}
		if got := r.callsWith("kubectl delete"); r.code != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: exit code %d, %q, want %q\n%s", tt.name, r.code, got, want, r.output)
		}
	}
}

// TestRetire checks that the step stops the queues that are gone, takes the quota of
// capacities that are gone or get other nodes, evicts the jobs on them, waits for them,
// and lets them wait in their queues again.
func TestRetire(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	st := findStep(t, provisionBuild(fullPlatform()), "retire")
	const (
		wanted = `
case $call in
*"clusters list"*) echo RUNNING ;;
*"get deployment"*) echo 1 ;;
*"create "*"-f - "*) cat >/dev/null ;;
*create*shared-queues*) echo 'ClusterQueue cq-shared ' ;;
*create*teams*) printf '%s\n' 'Namespace team-a ' 'ClusterQueue cq-a ' ;;
*create*resource-flavors*) printf '%s\n' 'ResourceFlavor spot {"gpu":"l4"}' 'ResourceFlavor cpu {}' ;;
*"get clusterqueues"*kind*) printf '%s\n' 'ClusterQueue cq-a ' 'ClusterQueue cq-old ' 'ClusterQueue cq-shared ' ;;
*"get clusterqueues"*go-template*)
  printf '%s\n' 'cq-a spot /spec/0/r/0 nominalQuota borrowingLimit lendingLimit' 'cq-a spot /spec/0/r/1 nominalQuota' \
    'cq-a cpu /spec/1/r/0 nominalQuota' 'cq-shared dropped /spec/0/r/0 nominalQuota'
  ;;
`
		// spot gets other nodes, and dropped is gone.
		changed = wanted + `
*"get resourceflavors"*)
  printf '%s\n' 'ResourceFlavor spot {"gpu":"t4"}' 'ResourceFlavor cpu {}' 'ResourceFlavor dropped {}'
  ;;
`
		workloads = `
*"get workloads"*batchwright-evicted*) printf '%s\n' 'team-a job-1' ;;
*"get workloads"*)
  [[ -e $SANDBOX/stopped ]] && exit
  printf '%s\n' 'team-a job-1 |{"cpu":"spot","gpu":"spot"}' 'team-a job-2 True|{"cpu":"spot"}' \
    'team-a job-3 |{"spot":"cpu"}' 'team-b job-4 |' 'team-b job-5 |{"cpu":"cpu"} {"cpu":"dropped"}'
  ;;
"sleep 10") : >"$SANDBOX/stopped" ;;
esac`
	)
	s.answer(changed + workloads)
	r := s.runStep(st)
	var got []string
	for _, call := range r.calls {
		if strings.HasPrefix(call, "kubectl patch") || strings.HasPrefix(call, "kubectl apply") ||
			strings.HasPrefix(call, "sleep") {
			got = append(got, call)
		}
	}
	slices.Sort(got) // several at a time
	want := splitCalls(`
kubectl apply --server-side --force-conflicts --field-manager=batchwright -f kubernetes/resource-flavors.yaml
kubectl patch clusterqueues.kueue.x-k8s.io --type=json cq-a \
  -p=\[\{\"op\":\"add\"\,\"path\":\"/spec/0/r/0/nominalQuota\"\,\"value\":\"0\"\}\,\
  \{\"op\":\"add\"\,\"path\":\"/spec/0/r/0/borrowingLimit\"\,\"value\":\"0\"\}\,\
  \{\"op\":\"add\"\,\"path\":\"/spec/0/r/0/lendingLimit\"\,\"value\":\"0\"\}\,\
  \{\"op\":\"add\"\,\"path\":\"/spec/0/r/1/nominalQuota\"\,\"value\":\"0\"\}\]
kubectl patch clusterqueues.kueue.x-k8s.io --type=json cq-shared \
  -p=\[\{\"op\":\"add\"\,\"path\":\"/spec/0/r/0/nominalQuota\"\,\"value\":\"0\"\}\]
kubectl patch clusterqueues.kueue.x-k8s.io --type=merge -p \{\"metadata\":\{\"annotations\":\
  \{\"batchwright/drained\":\"true\"\}\}\,\"spec\":\{\"stopPolicy\":\"HoldAndDrain\"\,\
  \"resourceGroups\":null\,\"admissionChecksStrategy\":null\}\} cq-old
kubectl patch workloads.kueue.x-k8s.io --type=merge \
  -p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":\"true\"\}\}\,\"spec\":\{\"active\":false\}\} -n team-a job-1
kubectl patch workloads.kueue.x-k8s.io --type=merge \
  -p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":\"true\"\}\}\,\"spec\":\{\"active\":false\}\} -n team-b job-5
kubectl patch workloads.kueue.x-k8s.io --type=merge \
  -p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":null\}\}\,\"spec\":\{\"active\":true\}\} -n team-a job-1
sleep 10
`)
	if diff := cmp.Diff(want, got); diff != "" || r.code != 0 {
		t.Errorf("exit code %d, calls (-want +got):\n%s\n%s", r.code, diff, r.output)
	}
	if !strings.HasSuffix(r.output, "They are stopped. To delete them, run:\n"+
		"  kubectl delete clusterqueue.kueue.x-k8s.io/cq-old\n") {
		t.Errorf("output:\n%s", r.output)
	}

	// Four calls of five fail, and the last call does. The step names what it has seen last.
	s.answer(changed + strings.NewReplacer(
		`"sleep 10") : >"$SANDBOX/stopped" ;;`, "",
		`  [[ -e $SANDBOX/stopped ]] && exit`,
		`  printf x >>"$SANDBOX/asked"; asked=$(<"$SANDBOX/asked"); ((${#asked} % 5 == 1)) || exit 1`,
	).Replace(workloads))
	if err := os.RemoveAll(filepath.Join(s.root, "stopped")); err != nil {
		t.Fatal(err)
	}
	r = s.runStep(st)
	if r.code != 1 || !strings.HasSuffix(r.output, "submit this build again:\nteam-a job-1\nteam-b job-5\n") {
		t.Errorf("jobs that do not stop: exit code %d\n%s", r.code, r.output)
	}
	last := r.callsWith("kubectl patch")
	if !strings.Contains(last[len(last)-1], `\"active\":true\}\} -n team-a job-1`) {
		t.Errorf("the last patch is %q", last[len(last)-1])
	}

	const (
		failing = `*"patch workloads"*false*) echo 'Error from server (%s): workloads "job-1" is %[1]s' >&2; exit 1 ;;
`
		again = `kubectl patch workloads.kueue.x-k8s.io --type=merge -p=\{\"metadata\":\{\"labels\":\{` +
			`\"batchwright-evicted\":null\}\}\,\"spec\":\{\"active\":true\}\} -n team-a job-1`
	)
	for _, tt := range []struct {
		name, answers string
		code          int
		says          string
		patches       []string // the last of them
	}{
		{"no cluster", "case $call in\nesac", 0, "No cluster gke-batch runs", nil},
		{"no Kueue", "case $call in\n*\"clusters list\"*) echo RUNNING ;;\nesac", 0, "Kueue does not run", nil},
		{"no change", strings.Replace(wanted, `'ClusterQueue cq-old ' `, "", 1) + `
*"get resourceflavors"*) printf '%s\n' 'ResourceFlavor spot {"gpu":"l4"}' ;;
` + workloads, 0, "", []string{again}},
		{"a job ends meanwhile", changed + fmt.Sprintf(failing, "NotFound") + workloads, 0, "cq-old", []string{again}},
		{
			"no right to stop jobs", changed + fmt.Sprintf(failing, "Forbidden") + workloads, 1, "is Forbidden",
			[]string{again},
		},
	} {
		if err := os.RemoveAll(filepath.Join(s.root, "stopped")); err != nil {
			t.Fatal(err)
		}
		s.answer(tt.answers)
		r := s.runStep(st)
		got := r.callsWith("kubectl patch")
		got = got[max(0, len(got)-max(1, len(tt.patches))):]
		if diff := cmp.Diff(tt.patches, got, cmpopts.EquateEmpty()); diff != "" || r.code != tt.code ||
			!strings.Contains(r.output, tt.says) {
			t.Errorf("%s: exit code %d, patches (-want +got):\n%s\n%s", tt.name, r.code, diff, r.output)
		}
	}
}

// TestRetireLosses checks what the step does with node pools that lose nodes by Terraform's
// plan: it takes the quota of their capacities, evicts the jobs there, waits until their
// pods have ended, and only then makes a pool smaller. With a GitOps tool, it leaves the
// quota, and cordons the nodes that go away.
func TestRetireLosses(t *testing.T) {
	const answers = `
case $call in
*"clusters list"*) echo RUNNING ;;
*"get deployment"*) echo 1 ;;
*"create "*"-f - "*)
  [[ $(cat) == '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"plan"},"resource_changes":[]}' ]] || exit 1
  printf '%s\n' 'l4_spot l4-spot fewer 1' 'cpu cpu zone us-central1-b' 'system system replaced '
  ;;
*create*shared-queues*) ;;
*create*teams*) printf '%s\n' 'ClusterQueue cq-a ' ;;
*"create "*resource-flavors*metadata.name}*) printf '%s\n' l4-spot cpu other ;;
*create*resource-flavors*) printf '%s\n' 'ResourceFlavor l4-spot {}' 'ResourceFlavor cpu {}' ;;
*"get resourceflavors"*) printf '%s\n' 'ResourceFlavor l4-spot {}' 'ResourceFlavor cpu {}' ;;
*"get clusterqueues"*kind*) printf '%s\n' 'ClusterQueue cq-a ' ;;
*"get clusterqueues"*deletionTimestamp*) printf '%s\n' 'cq-a||l4-spot cpu other' ;;
*"get clusterqueues"*go-template*)
  printf '%s\n' 'cq-a l4-spot /spec/0 nominalQuota' 'cq-a cpu /spec/1 nominalQuota' 'cq-a other /spec/2 nominalQuota'
  ;;
*"get namespaces"*) echo team-a ;;
*"get workloads"*batchwright-evicted*) [[ ! -e $SANDBOX/evicted ]] || printf '%s\n' 'team-a job-1' ;;
*"get workloads"*)
  [[ -e $SANDBOX/evicted ]] || printf '%s\n' 'team-a job-1 |{"gpu":"l4-spot"}'
  printf '%s\n' 'team-a job-2 |{"gpu":"other"}'
  ;;
*"patch workloads"*) : >"$SANDBOX/evicted" ;;
*"get nodes"*) printf '%s\n' node-1 node-2 ;;
*"get pods"*)
  [[ -e $SANDBOX/ended ]] || printf '%s\n' 'node-2 team-a job-1-0' 'node-3 team-a job-9-0'
  printf '%s\n' 'node-3 team-a job-9-1'
  ;;
sleep*) if [[ -e $SANDBOX/slept ]]; then : >"$SANDBOX/ended"; fi; : >"$SANDBOX/slept" ;;
esac`
	const (
		evict = `kubectl patch workloads.kueue.x-k8s.io --type=merge ` +
			`-p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":\"true\"\}\}\,\"spec\":\{\"active\":false\}\} ` +
			`-n team-a job-1`
		again = `kubectl patch workloads.kueue.x-k8s.io --type=merge -p=\{\"metadata\":\{\"labels\":\{` +
			`\"batchwright-evicted\":null\}\}\,\"spec\":\{\"active\":true\}\} -n team-a job-1`
		pool   = `cloud.google.com/gke-nodepool=`
		zone   = `cloud.google.com/gke-nodepool=cpu\,topology.kubernetes.io/zone=us-central1-b`
		resize = `gcloud container clusters resize gke-batch --project=my-project --location=us-central1 ` +
			`--node-pool=l4-spot --num-nodes=1 --quiet`
		apply = `kubectl apply --server-side --force-conflicts --field-manager=batchwright ` +
			`-f kubernetes/resource-flavors.yaml`
	)
	for name, test := range map[string]struct {
		tool ir.GitOpsTool
		want []string
	}{
		"applied": {want: []string{
			`kubectl patch clusterqueues.kueue.x-k8s.io --type=json cq-a -p=\[` +
				`\{\"op\":\"add\"\,\"path\":\"/spec/0/nominalQuota\"\,\"value\":\"0\"\}\,` +
				`\{\"op\":\"add\"\,\"path\":\"/spec/1/nominalQuota\"\,\"value\":\"0\"\}\]`,
			evict, "sleep 10", apply, again, "sleep 10", resize,
		}},
		"synced": {tool: ir.Flux, want: []string{
			"kubectl uncordon -l batchwright-retired",
			"kubectl label nodes -l batchwright-retired batchwright-retired-",
			"kubectl cordon -l " + pool + "l4-spot",
			"kubectl label nodes -l " + pool + "l4-spot --overwrite batchwright-retired=fewer",
			"kubectl cordon -l " + zone, "kubectl label nodes -l " + zone + " --overwrite batchwright-retired=zone",
			"kubectl cordon -l " + pool + "system",
			"kubectl label nodes -l " + pool + "system --overwrite batchwright-retired=replaced",
			evict, "sleep 10", "sleep 10", resize, "kubectl uncordon -l batchwright-retired=fewer", again,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := fullPlatform()
			p.Delivery.GitOps = ir.GitOps{Tool: test.tool}
			s := newSandbox(t, p)
			s.writeFile("deploy folder/terraform/plan.json", `{"resource_changes":[]}`, 0o644)
			s.answer(answers)
			r := s.runStep(findStep(t, provisionBuild(p), "retire"))
			got := slices.DeleteFunc(r.calls, func(call string) bool {
				return strings.Contains(call, " get ") || strings.Contains(call, " create ") ||
					strings.HasPrefix(call, "gcloud container clusters list") ||
					strings.Contains(call, "get-credentials")
			})
			if diff := cmp.Diff(test.want, got); diff != "" || r.code != 0 {
				t.Errorf("exit code %d, calls (-want +got):\n%s\n%s", r.code, diff, r.output)
			}
			if !strings.Contains(r.output, "These pods still stop:\nteam-a job-1-0\n") {
				t.Errorf("output:\n%s", r.output)
			}

			s.answer(strings.Replace(answers, "echo 1", "echo 0", 1))
			r = s.runStep(findStep(t, provisionBuild(p), "retire"))
			const stop = "Jobs on nodes of capacity l4-spot that are deleted stop with them.\n" +
				"Jobs on nodes of capacity cpu that are deleted stop with them.\n"
			if r.code != 0 || !slices.Contains(r.calls, resize) || !strings.Contains(r.output, stop) ||
				strings.Contains(r.output, "capacity system") {
				t.Errorf("without Kueue: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
			}
		})
	}
}

// TestRetireNamed: the jobs on a capacity that loses nodes have quota of its flavor, whatever its name.
// Queues that ran before the platform lose this quota too.
func TestRetireNamed(t *testing.T) {
	p := existingPlatform()
	p.Capacities[0].Name, p.Capacities[0].Flavor.Name = "gpus", "l4"
	s := newSandbox(t, p)
	s.writeFile("deploy folder/terraform/plan.json", `{"resource_changes":[]}`, 0o644)
	s.answer(`
case $call in
*"clusters list"*) echo RUNNING ;;
*"get deployment"*) echo 1 ;;
*"create "*"-f - "*) cat >/dev/null; printf '%s\n' 'gpus gpus fewer 1' ;;
*"get clusterqueues"*go-template*) printf '%s\n' 'old l4 /spec/0 nominalQuota' 'old gpus /spec/1 nominalQuota' ;;
*"get workloads"*batchwright-evicted*) ;;
*"get workloads"*)
  [[ -e $SANDBOX/evicted ]] || printf '%s\n' 'team-a job-1 |{"gpu":"l4"}'
  printf '%s\n' 'team-a job-2 |{"gpu":"gpus"}'
  ;;
*"patch workloads"*) : >"$SANDBOX/evicted" ;;
esac`)
	r := s.runStep(findStep(t, provisionBuild(p), "retire"))
	if r.code != 0 {
		t.Fatalf("exit code %d:\n%s", r.code, r.output)
	}
	want := []string{
		`kubectl patch clusterqueues.kueue.x-k8s.io --type=json old -p=\[\{\"op\":\"add\"\,` +
			`\"path\":\"/spec/0/nominalQuota\"\,\"value\":\"0\"\}\]`,
	}
	if diff := cmp.Diff(want, r.callsWith("kubectl patch clusterqueues")); diff != "" {
		t.Errorf("quota (-want +got):\n%s", diff)
	}
	evicted := r.callsWith("kubectl patch workloads")
	if len(evicted) != 1 || !strings.HasSuffix(evicted[0], " -n team-a job-1") {
		t.Errorf("evicted: %q", evicted)
	}
	for _, call := range r.callsWith("kubectl get clusterqueues.kueue.x-k8s.io -l ") {
		if strings.Contains(call, "go-template") == strings.Contains(call, "batchwright-existing") {
			t.Errorf("only queues that the platform stops are without the label: %s", call)
		}
	}
}

// TestQueuesOfOthers: the step "queues" neither stops a queue that ran before the platform, nor waits
// for it.
func TestQueuesOfOthers(t *testing.T) {
	p := existingPlatform()
	s := newSandbox(t, p)
	s.answer("")
	r := s.runStep(findStep(t, provisionBuild(p), "queues"))
	calls := r.callsWith("kubectl get clusterqueues.kueue.x-k8s.io -l ")
	if r.code != 0 || len(calls) == 0 {
		t.Fatalf("exit code %d, calls %q:\n%s", r.code, calls, r.output)
	}
	for _, call := range calls {
		if !strings.Contains(call, "batchwright-existing") {
			t.Errorf("the step reads queues that ran before: %s", call)
		}
	}
}

// TestRetireSynced checks the step "retire" of a platform with a GitOps tool: it stops
// the jobs on capacities that are gone, and nothing while a queue still gives quota of
// them.
func TestRetireSynced(t *testing.T) {
	p := fullPlatform()
	p.Delivery.GitOps = ir.GitOps{Tool: ir.Flux}
	s := newSandbox(t, p)
	st := findStep(t, provisionBuild(p), "retire")
	const (
		live = `
case $call in
*"clusters list"*) echo RUNNING ;;
*"get deployment"*) echo 1 ;;
*"create "*"-f - "*) cat >/dev/null ;;
*create*resource-flavors*) printf '%s\n' spot cpu ;;
*"get namespaces"*) printf '%s\n' team-a team-b ;;
*"get workloads"*batchwright-evicted*) printf '%s\n' 'team-a job-1' ;;
*"get workloads"*)
  [[ -e $SANDBOX/stopped ]] && exit
  printf '%s\n' 'team-a job-1 |{"cpu":"dropped","gpu":"dropped"}' 'team-a job-2 True|{"cpu":"dropped"}' \
    'team-a job-3 |{"dropped":"cpu"}' 'team-b job-4 |' 'team-b job-5 |{"cpu":"cpu"} {"cpu":"dropped"}' \
    'somebody-else job-6 |{"cpu":"theirs"}'
  ;;
"sleep 10") : >"$SANDBOX/stopped" ;;
`
		synced = `
*"get clusterqueues"*) printf '%s\n' 'cq-a||spot cpu' 'cq-old|2026-11-24T03:00:00Z|dropped' 'cq-empty||' ;;
esac`
		behind = `
*"get clusterqueues"*) printf '%s\n' 'cq-a||spot dropped' ;;
esac`
	)
	s.answer(live + synced)
	r := s.runStep(st)
	got := r.callsWith("kubectl patch")
	slices.Sort(got) // several at a time
	want := splitCalls(`
kubectl patch workloads.kueue.x-k8s.io --type=merge \
  -p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":\"true\"\}\}\,\"spec\":\{\"active\":false\}\} -n team-a job-1
kubectl patch workloads.kueue.x-k8s.io --type=merge \
  -p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":\"true\"\}\}\,\"spec\":\{\"active\":false\}\} -n team-b job-5
kubectl patch workloads.kueue.x-k8s.io --type=merge \
  -p=\{\"metadata\":\{\"labels\":\{\"batchwright-evicted\":null\}\}\,\"spec\":\{\"active\":true\}\} -n team-a job-1
`)
	if diff := cmp.Diff(want, got); diff != "" || r.code != 0 {
		t.Errorf("exit code %d, patches (-want +got):\n%s\n%s", r.code, diff, r.output)
	}

	s.answer(live + behind)
	r = s.runStep(st)
	if patches := r.callsWith("kubectl patch"); r.code != 1 || len(patches) > 0 ||
		!strings.Contains(r.output, "until Flux has synced") ||
		!strings.HasSuffix(r.output, "ClusterQueue cq-a, capacity dropped\n") {
		t.Errorf("before the sync: exit code %d, patches %q\n%s", r.code, patches, r.output)
	}
}

// TestGitOpsBuild checks the steps of a build that leaves the manifests to a GitOps
// tool: none of them applies anything to the cluster.
func TestGitOpsBuild(t *testing.T) {
	p := fullPlatform()
	p.Delivery.GitOps = ir.GitOps{Tool: ir.ArgoCD}
	p.Monitoring.TensorBoard = "us-central1"
	var ids []string
	for _, s := range provisionBuild(p).Steps {
		ids = append(ids, s.ID)
		if strings.Contains(s.Script+strings.Join(s.Args, " "), "kubectl apply") && s.ID != "tensorboard" {
			t.Errorf("step %s applies manifests", s.ID)
		}
	}
	want := []string{
		"settings", "access", "turn", "state-bucket", "unlock", "terraform-init", "terraform-plan",
		"terraform-show", "retire",
		"terraform-apply", "metrics", "credentials", "tensorboard",
	}
	if d := cmp.Diff(want, ids); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
}

// TestQueues checks that a queue that is gone is stopped unless the step "retire" has
// stopped it, that a stop is lifted only where it is the platform's own, and that
// inactive queues fail the step.
func TestQueues(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	st := findStep(t, provisionBuild(fullPlatform()), "queues")
	const (
		stop = `kubectl patch --type=merge -p \{\"metadata\":\{\"annotations\":` +
			`\{\"batchwright/drained\":\"true\"\}\}\,\"spec\":\{\"stopPolicy\":\"HoldAndDrain\"\,` +
			`\"resourceGroups\":null\,\"admissionChecksStrategy\":null\}\} ` +
			`clusterqueue.kueue.x-k8s.io/cq-old`
		wanted = `
case $call in
*create*shared-queues*) echo clusterqueue.kueue.x-k8s.io/cq-shared ;;
*create*) printf '%s\n' namespace/team-a clusterqueue.kueue.x-k8s.io/cq-{a,b,c} ;;
`
		// Of cq-c an administrator has stopped, nothing is said.
		stopped = wanted + `
*'batchwright/drained}'*)
  printf 'clusterqueue.kueue.x-k8s.io/cq-%s\n' 'a true' 'b true' 'c ' 'old ' 'older true' 'shared '
  ;;
*'stopPolicy=="None"'*) printf 'cq-a True \ncq-b True \n' ;;
esac`
		lift = `kubectl patch --type=merge -p \{\"metadata\":\{\"annotations\":` +
			`\{\"batchwright/drained\":null\}\}\,\"spec\":\{\"stopPolicy\":\"None\"\}\} ` +
			`clusterqueue.kueue.x-k8s.io/cq-a clusterqueue.kueue.x-k8s.io/cq-b`
	)
	s.answer(stopped)
	r := s.runStep(st)
	if diff := cmp.Diff([]string{stop, lift}, r.callsWith("kubectl patch")); diff != "" || r.code != 0 {
		t.Errorf("exit code %d, patches (-want +got):\n%s", r.code, diff)
	}
	if got := r.callsWith("kubectl delete"); got != nil {
		t.Errorf("called %q", got)
	}

	s.answer(wanted + `
*'batchwright/drained}'*) printf 'clusterqueue.kueue.x-k8s.io/cq-%s\n' 'a ' 'b ' 'c ' 'shared ' ;;
*'stopPolicy=="None"'*) printf "cq-a True \ncq-b False Can't admit new workloads\ncq-c  \n" ;;
esac`)
	r = s.runStep(st)
	if r.code != 1 || !strings.Contains(r.output, "cq-b False Can't admit new workloads\ncq-c") ||
		strings.Contains(r.output, "cq-a") {
		t.Errorf("exit code %d\n%s", r.code, r.output)
	}
	if got := r.callsWith("kubectl patch"); got != nil {
		t.Errorf("patches what runs: %q", got)
	}

	// The last team is gone, and the folder with it.
	s.answer(stopped)
	if err := os.RemoveAll(filepath.Join(s.folder, "kubernetes", "teams")); err != nil {
		t.Fatal(err)
	}
	r = s.runStep(st)
	if got := r.callsWith("kubectl patch"); r.code != 0 || len(got) != 1 ||
		!strings.Contains(got[0], "HoldAndDrain") ||
		!strings.HasSuffix(got[0], "cq-c clusterqueue.kueue.x-k8s.io/cq-old") {
		t.Errorf("without teams: exit code %d, patches %q", r.code, got)
	}
}

func TestDrain(t *testing.T) {
	const (
		stop = `kubectl patch clusterqueues.kueue.x-k8s.io --type=merge -p \{\"metadata\":\{\"annotations\":` +
			`\{\"batchwright/drained\":\"true\"\}\}\,\"spec\":\{\"stopPolicy\":\"HoldAndDrain\"\}\} cq-a cq-b`
		end = `kubectl delete namespaces -l team\,app.kubernetes.io/part-of=gke-batch --wait=false`
	)
	for _, tt := range []struct {
		name, answers string
		code          int
		says          string
		does          []string // of stop and end, in order
	}{
		{"no cluster", ``, 0, "No cluster gke-batch runs", nil},
		{"cluster still comes up", `*"clusters list"*) echo PROVISIONING ;;`, 0, "No cluster gke-batch runs", nil},
		{"no Kueue", `*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ;;
*"value(state)"*) echo ACTIVE ;;`, 0, "Kueue does not run", []string{end}},
		{"Kueue without pods", `*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ACTIVE ;;
*"get deployment"*) echo 0 ;;`, 0, "Kueue does not run", []string{end}},
		{"all there", `
*"clusters list"*) echo RECONCILING ;;
*"get deployment"*) echo 1 ;;
*"get clusterqueues"*'stopPolicy=="None"'*) printf 'cq-a\ncq-b\n' ;;`,
			0, "The cluster is drained", []string{stop, end}},
		{"a disk remains", `
*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ACTIVE ;;
*"get persistentvolumes"*) echo 'PersistentVolume pv-1, claim team-a/data' ;;`, 1,
			"would outlive the cluster. Delete them, then run destroy-platform.sh again:\n\nPersistentVolume pv-1",
			[]string{end}},
		{"a load balancer remains", `
*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ACTIVE ;;
*"get services"*) echo 'Service grafana/grafana' ;;`, 1, "Service grafana/grafana", []string{end}},
		{"a namespace remains", `
*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ACTIVE ;;
*status.conditions*) echo 'team-a: has finalizers remaining' ;;
*"get namespaces"*) echo namespace/team-a ;;`, 0,
			"Waiting for these to end:\nteam-a: has finalizers remaining\n" +
				"These namespaces are not deleted yet. They are deleted with the cluster:\nnamespace/team-a\n" +
				"team-a: has finalizers remaining\n", []string{end}},
		{"a webhook that is gone", `
*"clusters list"*) echo RUNNING ;;
*"tensorboards list"*) echo projects/1/locations/r/tensorboards/2 ;;
*"deployments list"*) echo gke-batch ACTIVE ;;
*"get validatingwebhookconfigurations,"*) echo 'MutatingWebhookConfiguration jobs kueue-system webhook' ;;
*"get namespaces"*) echo namespace/team-a ;;`, 0,
			"MutatingWebhookConfiguration jobs refuses changes, because no pod of Service kueue-system/webhook runs",
			[]string{end}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t, fullPlatform())
			s.answer("case $call in\n" + tt.answers + "\nesac")
			r := s.runStep(findStep(t, destroyBuild(fullPlatform()), "drain"))
			if r.code != tt.code || !strings.Contains(r.output, tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", r.code, tt.code, tt.says, r.output)
			}
			var got []string
			for _, call := range r.calls {
				if call == stop || call == end {
					got = append(got, call)
				}
			}
			if diff := cmp.Diff(tt.does, got); diff != "" {
				t.Errorf("does (-want +got):\n%s", diff)
			}
			if tt.does == nil && len(r.callsWith("kubectl")) > 0 {
				t.Errorf("asks a cluster that is not there: %q", r.calls)
			}
		})
	}
}

func TestUnprotect(t *testing.T) {
	const (
		pull    = "terraform state pull"
		list    = "terraform state list"
		show    = "terraform state show -no-color google_container_cluster.main"
		untaint = "terraform untaint -lock-timeout=300s google_container_cluster.main"
		apply   = "terraform apply -input=false -auto-approve -lock-timeout=300s " +
			"-target=google_container_cluster.main -var=deletion_protection=false"
	)
	const pulled = "\"terraform state pull\") echo '{}' ;;\n"
	const cluster = `"terraform state list")
  printf '%s\n' google_compute_network.main google_container_cluster.main 'google_storage_bucket.team["a"]'
  ;;
`
	for _, tt := range []struct {
		name, answers string
		want          []string
	}{
		{"no state", ``, []string{pull}},
		{"empty state", pulled, []string{pull, list}},
		{"no cluster", pulled + `"terraform state list") echo google_compute_network.main ;;`, []string{pull, list}},
		{"cluster", pulled + cluster + `*"state show"*) echo '# google_container_cluster.main:' ;;`,
			[]string{pull, list, show, apply}},
		{"broken cluster", pulled + cluster + `*"state show"*) echo '# google_container_cluster.main: (tainted)' ;;`,
			[]string{pull, list, show, untaint, apply}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t, fullPlatform())
			s.answer("case $call in\n" + tt.answers + "\nesac")
			r := s.runStep(findStep(t, destroyBuild(fullPlatform()), "unprotect"))
			if diff := cmp.Diff(tt.want, r.calls); diff != "" || r.code != 0 {
				t.Errorf("exit code %d, calls (-want +got):\n%s\n%s", r.code, diff, r.output)
			}
		})
	}
}
