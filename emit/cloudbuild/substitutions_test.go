package cloudbuild

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// slicesOf returns a platform of one team with TPU slices of a topology.
func slicesOf(tpuType string, slice ir.Slice, count int) *ir.Platform {
	p := fullPlatform()
	p.Zones = []string{"us-central1-a"}
	p.Network = ir.Network{Name: "gke-batch", Subnet: "gke-batch"}
	p.Teams = []ir.Team{{Name: "a", Namespace: "tpu-training"}}
	p.Capacities = []ir.Capacity{{
		Name: "slices", Slices: count, MaxNodes: count * slice.Hosts,
		Machine: ir.Machine{TPUType: tpuType, Resource: ir.TPU, AcceleratorCount: 4, Slice: &slice},
	}}
	return p
}

func TestSubstitutions(t *testing.T) {
	with := func(more map[string]string) map[string]string {
		all := map[string]string{
			"_TF_STATE_BUCKET": "my-project-gke-batch-tfstate", "_TF_STATE_PREFIX": "gke-batch/terraform",
			"_REGION": "us-central1", "_CLUSTER_NAME": "gke-batch",
			"_JOBSET_API_VERSION": "0.12.0", "_KUEUE_API_VERSION": "0.19.2",
		}
		maps.Copy(all, more)
		maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
		return all
	}
	tpus := slicesOf("v5litepod-16", ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}, 2)
	tpus.Teams[0].Bucket, tpus.Monitoring.TensorBoard = "my-project-gke-batch-a", "europe-west4"
	none := slicesOf("v4-32", ir.Slice{Topology: "2x2x4", Chips: 16, Hosts: 4}, 0)
	two := slicesOf("v5litepod-16", ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}, 2)
	two.Capacities = append(two.Capacities,
		slicesOf("v5litepod-32", ir.Slice{Topology: "4x8", Chips: 32, Hosts: 8}, 1).Capacities...)
	two.Teams = append(two.Teams, ir.Team{Name: "b", Namespace: "b"})
	kai, managed := kaiPlatform(), fullPlatform()
	managed.Delivery.InfrastructureManager = true
	managedTPUs := slicesOf("v4-32", ir.Slice{Topology: "2x2x4", Chips: 16, Hosts: 4}, 1)
	managedTPUs.Delivery.InfrastructureManager = true
	one := with(map[string]string{"_ZONE": "us-central1-a", "_NAMESPACE": "tpu-training",
		"_NETWORK_NAME": "gke-batch", "_SUBNET_NAME": "gke-batch"})
	maps.Copy(one, map[string]string{"_ARTIFACT_REPOSITORY_BUCKET_NAME": "", "_TENSORBOARD_REGION": ""})
	of := func(more map[string]string) map[string]string {
		all := maps.Clone(one)
		maps.Copy(all, more)
		return all
	}
	for _, test := range []struct {
		name     string
		platform *ir.Platform
		want     map[string]string
	}{
		{"any", fullPlatform(), with(nil)},
		{"slices", tpus, of(map[string]string{"_TPU_TYPE": "v5litepod-16", "_NUM_TPU_POOLS": "2",
			"_NUM_OF_CHIPS": "32", "_ARTIFACT_REPOSITORY_BUCKET_NAME": "my-project-gke-batch-a",
			"_TENSORBOARD_REGION": "europe-west4"})},
		{"no slices", none, of(map[string]string{"_TPU_TYPE": "v4-32", "_NUM_TPU_POOLS": "0", "_NUM_OF_CHIPS": "0"})},
		{"slices of two kinds, two teams", two, one},
		{"KAI Scheduler", kai, with(map[string]string{"_KUEUE_API_VERSION": "", "_KAI_VERSION": "0.17.0"})},
		{"Infrastructure Manager", managed, with(map[string]string{"_TF_STATE_BUCKET": "", "_TF_STATE_PREFIX": ""})},
		{"Infrastructure Manager and slices", managedTPUs, of(map[string]string{"_TPU_TYPE": "v4-32",
			"_NUM_TPU_POOLS": "1", "_NUM_OF_CHIPS": "16", "_TF_STATE_BUCKET": "", "_TF_STATE_PREFIX": ""})},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, b := range []build{provisionBuild(test.platform), destroyBuild(test.platform)} {
				if diff := cmp.Diff(test.want, b.Substitutions); diff != "" {
					t.Errorf("substitutions (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// guideValues are the substitutions of the build command of the public TPU training
// guide, with the guide's own values. Source: applied-ai-engineering-samples,
// ai-infrastructure/tpu-training-on-gke, env_setup/build.sh and vars.env.
func guideValues() map[string]string {
	return map[string]string{
		"_TF_STATE_BUCKET": "my-project-tf-state", "_TF_STATE_PREFIX": "gke-tpu-training-environment",
		"_REGION": "us-central2", "_TENSORBOARD_REGION": "us-central1", "_ZONE": "us-central2-b",
		"_ARTIFACT_REPOSITORY_BUCKET_NAME": "my-project-aiml-repository", "_NETWORK_NAME": "my-project-network",
		"_SUBNET_NAME": "my-project-subnet", "_CLUSTER_NAME": "gke-tpu-training-cluster",
		"_NAMESPACE": "training", "_TPU_TYPE": "v4-16", "_NUM_TPU_POOLS": "1", "_NUM_OF_CHIPS": "8",
		"_JOBSET_API_VERSION": "v0.2.3", "_KUEUE_API_VERSION": "v0.4.2",
	}
}

// TestSettingsStop: the builds of a TPU platform declare every substitution of the
// guide. Each is either used, or must be what the folder was compiled for, in both
// builds. Otherwise the first step stops, and names the field of the blueprint.
func TestSettingsStop(t *testing.T) {
	own := slicesOf("v5litepod-16", ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}, 2)
	own.Teams = append(own.Teams, ir.Team{Name: "b", Namespace: "b", Bucket: "my-project-gke-batch-b"})
	own.Monitoring.TensorBoard = "europe-west4"
	lacking := slicesOf("v5litepod-16", ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}, 2)
	lacking.Delivery.InfrastructureManager = true
	wants := map[string]string{
		"_REGION": `"us-central1": change region`, "_ZONE": `"us-central1-a": change zones`,
		"_CLUSTER_NAME": `"gke-batch": change name`, "_NETWORK_NAME": `"gke-batch": change network.name`,
		"_SUBNET_NAME": `"gke-batch": change network.subnet`, "_TPU_TYPE": `"v5litepod-16": change hardware`,
		"_NUM_TPU_POOLS": `"2": change capacity`, "_NUM_OF_CHIPS": `"32": change capacity`,
		"_JOBSET_API_VERSION": `"0.12.0": change versions.jobset`,
		"_KUEUE_API_VERSION":  `"0.19.2": change versions.kueue`,
	}
	for _, test := range []struct {
		name     string
		platform *ir.Platform
		more     map[string]string
	}{
		{"whole", own, map[string]string{
			"_NAMESPACE":                       `"tpu-training" or "b": change teams`,
			"_ARTIFACT_REPOSITORY_BUCKET_NAME": `"my-project-gke-batch-b": change teams.TEAM.bucket`,
			"_TENSORBOARD_REGION":              `"europe-west4": change monitoring.tensorBoard`,
		}},
		{"lacking", lacking, map[string]string{
			"_NAMESPACE":                       `"tpu-training": change teams`,
			"_ARTIFACT_REPOSITORY_BUCKET_NAME": `none: change teams.TEAM.bucket`,
			"_TENSORBOARD_REGION":              `none: change monitoring.tensorBoard`,
			"_TF_STATE_BUCKET":                 `none: change delivery.infrastructureManager`,
			"_TF_STATE_PREFIX":                 `none: change delivery.infrastructureManager`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := maps.Clone(wants)
			maps.Copy(want, test.more)
			s := newSandbox(t, test.platform)
			for _, b := range []build{provisionBuild(test.platform), destroyBuild(test.platform)} {
				if b.Steps[0].ID != "settings" {
					t.Errorf("%s comes before what is built is compared", b.Steps[0].ID)
				}
				guide, declared := slices.Sorted(maps.Keys(guideValues())), slices.Sorted(maps.Keys(b.Substitutions))
				if d := cmp.Diff(guide, declared); d != "" {
					t.Errorf("substitutions (-guide +build):\n%s", d)
				}
				for name, given := range guideValues() {
					testSetting(t, s, b, name, given, want[name])
					testSetting(t, s, b, name, "other | $(id) '", want[name])
				}
			}
		})
	}
}

// testSetting runs the first step of a build with one other value. The step must
// succeed if want is "", and otherwise stop with this text.
func testSetting(t *testing.T, s *sandbox, b build, name, given, want string) {
	t.Helper()
	s.substitutions = maps.Clone(b.Substitutions)
	if r := s.runStep(b.Steps[0]); r.code != 0 {
		t.Fatalf("exit code %d with the folder's own values\n%s", r.code, r.output)
	}
	s.substitutions[name] = given
	r := s.runStep(b.Steps[0])
	if want == "" {
		if r.code != 0 || r.output != "" {
			t.Errorf("%s=%s: exit code %d, want 0\n%s", name, given, r.code, r.output)
		}
		return
	}
	want = name + ` is "` + given + `", but this folder was compiled for ` + want +
		" in the blueprint and compile again."
	if r.code != 1 || strings.TrimSpace(r.output) != want {
		t.Errorf("exit code %d, want 1 and %q\n%s", r.code, want, r.output)
	}
}

// TestSettingsAccept: the other spellings of a folder's own values are right too.
func TestSettingsAccept(t *testing.T) {
	p := slicesOf("v5litepod-16", ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}, 2)
	p.Teams = append(p.Teams, ir.Team{Name: "b", Namespace: "b", Bucket: "b-bucket"})
	s := newSandbox(t, p)
	for name, given := range map[string]string{
		"_NAMESPACE": "b", "_JOBSET_API_VERSION": "v0.12.0", "_KUEUE_API_VERSION": "v0.19.2",
	} {
		testSetting(t, s, provisionBuild(p), name, given, "")
	}
	testSetting(t, s, provisionBuild(p), "_ZONE", "vus-central1-a", `"us-central1-a": change zones`)
}

// TestStateIsElsewhere: the bucket and the prefix of the state are those that
// the build is given, wherever it looks for them.
func TestStateIsElsewhere(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	s.substitutions[ir.StateBucketSubstitution], s.substitutions[ir.StatePrefixSubstitution] = "elsewhere", "a/b"
	var calls []string
	for _, b := range []build{provisionBuild(fullPlatform()), destroyBuild(fullPlatform())} {
		for _, st := range b.Steps {
			if st.ID == "state-bucket" || st.ID == "terraform-init" {
				calls = append(calls, s.runStep(st).calls...)
			}
		}
	}
	init := "terraform init -input=false -backend-config=bucket=elsewhere -backend-config=prefix=a/b"
	want := []string{"gcloud storage buckets update gs://elsewhere --versioning --uniform-bucket-level-access " +
		"--public-access-prevention", init, init}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func managedPlan() *ir.Platform {
	p := fullPlatform()
	p.Delivery.InfrastructureManager = true
	p.Monitoring.TensorBoard = "europe-west4"
	return p
}

func TestInfrastructureManagerSteps(t *testing.T) {
	p := managedPlan()
	want := []string{
		"settings", "access", "turn", "retire", "infrastructure", "metrics", "credentials", "kueue", "jobset",
		"priorities", "local-queues",
		"manifests", "queues",
		"tensorboard", "dashboards",
	}
	if diff := cmp.Diff(want, stepIDs(provisionBuild(p))); diff != "" {
		t.Errorf("provision (-want +got):\n%s", diff)
	}
	destroys := []string{"settings", "access", "turn", "drain", "infrastructure"}
	if diff := cmp.Diff(destroys, stepIDs(destroyBuild(p))); diff != "" {
		t.Errorf("destroy (-want +got):\n%s", diff)
	}
}

// answerStates answers to one list of deployments after the other with these states,
// and to all that follow with the last one. An empty one is no deployment.
func answerStates(list ...string) string {
	answer := "if [[ $call == *\"deployments list\"* ]]; then\nn=$(cat \"$SANDBOX/lists\" 2>/dev/null || echo 0); " +
		"echo $((n + 1)) >\"$SANDBOX/lists\"\necho other FAILED\nstates=("
	for _, state := range list {
		answer += " " + words.ShellString(state)
	}
	return answer + ")\nif ((n >= ${#states[@]})); then n=$((${#states[@]} - 1)); fi\nif [[ -n ${states[n]} ]]; then " +
		"echo gke-batch \"${states[n]}\"; fi\nfi\n"
}

const deployment = "projects/my-project/locations/us-central1/deployments/gke-batch"

// TestInfrastructureManagerApplies holds that the build waits for whatever is
// being done, and prints the errors of Terraform if that fails.
func TestInfrastructureManagerApplies(t *testing.T) {
	const apply = "gcloud infra-manager deployments apply " + deployment + " " +
		"--service-account=projects/my-project/serviceAccounts/gke-batch-build@my-project.iam.gserviceaccount.com " +
		"--tf-version-constraint==1.5.7 --local-source=terraform --inputs-file=terraform/terraform.tfvars --quiet"
	const fails = "if [[ $call == *' apply '* ]]; then echo refused >&2; exit 1; fi\n"
	p := managedPlan()
	s := newSandbox(t, p)
	for _, tt := range []struct {
		name   string
		states []string
		apply  string
		code   int
		waits  int
	}{
		{"first build", []string{"", "ACTIVE"}, "", 0, 0},
		{"after a cancelled build", []string{"CREATING", "UPDATING", "FAILED", "ACTIVE"}, "", 0, 2},
		{"after a cancelled destroy", []string{"DELETING", "", "ACTIVE"}, "", 0, 1},
		{"gcloud stops waiting", []string{"ACTIVE", "UPDATING", "ACTIVE"}, fails, 0, 1},
		{"Terraform fails", []string{"", "FAILED"}, fails, 1, 0},
		{"Terraform fails later", []string{"", "CREATING", "FAILED"}, fails, 1, 1},
		{"refused", []string{"ACTIVE"}, fails, 1, 0},
		{"refused at first", []string{""}, fails, 1, 0},
		{"never ends", []string{"UPDATING"}, "", 1, 199},
	} {
		if err := os.RemoveAll(filepath.Join(s.root, "lists")); err != nil {
			t.Fatal(err)
		}
		s.answer(answerStates(tt.states...) + tt.apply)
		r := s.runStep(findStep(t, provisionBuild(p), "infrastructure"))
		if r.code != tt.code || len(r.callsWith("sleep")) != tt.waits {
			t.Errorf("%s: exit code %d, %d waits, want %d\n%s", tt.name, r.code, len(r.callsWith("sleep")), tt.waits,
				r.output)
		}
		if tt.waits < 199 && !slices.Contains(r.calls, apply) {
			t.Errorf("%s: calls %q", tt.name, r.calls)
		}
		described := slices.ContainsFunc(r.calls, func(call string) bool { return strings.Contains(call, "tfErrors") })
		if there := tt.states[len(tt.states)-1] != ""; described != (tt.code != 0 && there && tt.waits < 199) {
			t.Errorf("%s: prints the errors of Terraform: %t", tt.name, described)
		}
	}
}

// TestInfrastructureManagerDeletes holds that nothing is applied before the
// deployment is deleted, however much of it was built.
func TestInfrastructureManagerDeletes(t *testing.T) {
	const (
		cluster = "gcloud container clusters delete gke-batch --project=my-project --location=us-central1 --quiet"
		remove  = "gcloud infra-manager deployments delete " + deployment + " --delete-policy=delete --quiet"
		there   = "if [[ $call == *\"clusters list\"* ]]; then echo gke-batch; fi\n"
		fails   = "if [[ $call == *'deployments delete'* ]]; then echo timed out >&2; exit 1; fi\n"
	)
	p := managedPlan()
	s := newSandbox(t, p)
	for _, tt := range []struct {
		name    string
		states  []string
		answers string
		code    int
		want    []string
		says    string
	}{
		{"nothing built", []string{""}, "", 0, nil, "Nothing has been built"},
		{"no cluster", []string{"FAILED", ""}, "", 0, []string{remove}, "is deleted"},
		{"half built", []string{"FAILED", ""}, there, 0, []string{cluster, remove}, "is deleted"},
		{"whole", []string{"ACTIVE", ""}, there, 0, []string{cluster, remove}, "is deleted"},
		{"after a cancelled build", []string{"UPDATING", "FAILED", ""}, there, 0, []string{cluster, remove},
			"is deleted"},
		{"after a cancelled destroy", []string{"DELETING", ""}, there, 0, nil, "Nothing has been built"},
		{"gcloud stops waiting", []string{"ACTIVE", "DELETING", ""}, fails, 0, []string{remove}, "is deleted"},
		{"Terraform fails", []string{"ACTIVE", "DELETING", "FAILED"}, fails, 1, []string{remove},
			"timed out\nThe deployment is FAILED"},
		{"refused", []string{"ACTIVE"}, fails, 1, []string{remove}, "timed out"},
	} {
		if err := os.RemoveAll(filepath.Join(s.root, "lists")); err != nil {
			t.Fatal(err)
		}
		s.answer(answerStates(tt.states...) + tt.answers)
		r := s.runStep(findStep(t, destroyBuild(p), "infrastructure"))
		var got []string
		for _, call := range r.calls {
			if strings.Contains(call, " delete ") || strings.Contains(call, " apply ") {
				got = append(got, call)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || r.code != tt.code || !strings.Contains(r.output, tt.says) {
			t.Errorf("%s: exit code %d, want %q, calls (-want +got):\n%s\n%s", tt.name, r.code, tt.says, diff, r.output)
		}
	}
}

// TestTensorBoard: there is one of the name, or the build stops.
func TestTensorBoard(t *testing.T) {
	s := newSandbox(t, managedPlan())
	st := findStep(t, provisionBuild(managedPlan()), "tensorboard")
	const name = "projects/1/locations/europe-west4/tensorboards/2"
	s.answer(`case $call in *"tensorboards list"*) echo ` + name + ` ;; *"get namespaces"*) printf '%s\n' a b ;; esac`)
	r := s.runStep(st)
	want := []string{
		`gcloud ai tensorboards list --project=my-project --region=europe-west4 ` +
			`--filter=displayName=\"gke-batch\" --format=value\(name\)`,
		`kubectl get namespaces -l team\,app.kubernetes.io/part-of=gke-batch ` +
			`-o jsonpath=\{range\ .items\[\*\]\}\{.metadata.name\}\{\"\\n\"\}\{end\}`,
		"kubectl create configmap tensorboard --from-literal=name=" + name + " --dry-run=client -o yaml",
		"kubectl apply --server-side --force-conflicts --field-manager=batchwright -n a -f -",
		"kubectl apply --server-side --force-conflicts --field-manager=batchwright -n b -f -",
	}
	if diff := cmp.Diff(want, r.calls); r.code != 0 || diff != "" {
		t.Errorf("exit code %d, calls (-want +got):\n%s\n%s", r.code, diff, r.output)
	}
	for _, answer := range []string{"", "printf '%s\\n' x y"} {
		s.answer(`case $call in *"tensorboards list"*) ` + answer + ` ;; esac`)
		if r := s.runStep(st); r.code != 1 || len(r.calls) != 1 ||
			!strings.Contains(r.output, "exactly one TensorBoard") {
			t.Errorf("exit code %d, calls %q\n%s", r.code, r.calls, r.output)
		}
	}
}
