package cloudbuild

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// fullPlatform returns a plan with everything that this package reads.
func fullPlatform() *ir.Platform {
	return &ir.Platform{
		Scheduler:   ir.Kueue,
		Name:        "gke-batch",
		Project:     "my-project",
		Region:      "us-central1",
		Versions:    ir.Versions{Kueue: "0.19.2", JobSet: "0.12.0", Terraform: "1.13.5", Gcloud: "573.0.0"},
		Cluster:     ir.Cluster{Name: "gke-batch", Location: "us-central1", DNSEndpoint: true},
		NodeAccount: ir.ServiceAccount{ID: "gke-batch-nodes", Display: "Nodes of gke-batch"},
		Monitoring:  ir.Monitoring{Grafana: true, GrafanaNamespace: "monitoring"},
		Delivery: ir.Delivery{
			Region:      "us-central1",
			StateBucket: "my-project-gke-batch-tfstate",
			StatePrefix: "gke-batch/terraform",
			Account: ir.ServiceAccount{
				ID: "gke-batch-build", Display: "Builds gke-batch",
				Roles: []string{"roles/compute.networkAdmin"},
			},
			NarrowRoles: []ir.NarrowRole{{
				Role: "roles/container.admin", Scope: ir.ClusterScope, Title: "Cluster gke-batch",
				Condition: `resource.name == "c"`,
			}},
			Permissions:    []string{"compute.reservations.create", "compute.reservations.delete"},
			GrantableRoles: []string{"roles/artifactregistry.reader", "roles/logging.logWriter"},
			Repository:     "gke-batch",
			APIs:           []string{"compute.googleapis.com", "container.googleapis.com"},
		},
	}
}

// kaiPlatform is platform with KAI Scheduler.
func kaiPlatform() *ir.Platform {
	p := fullPlatform()
	p.Scheduler = ir.KAI
	p.Versions.KAI, p.Versions.Helm = "0.17.0", "3.19.0"
	return p
}

// emittedFiles returns the emitted files by path.
func emittedFiles(t testing.TB, p *ir.Platform) map[string]emit.File {
	t.Helper()
	list, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]emit.File{}
	for _, f := range list {
		byPath[f.Path] = f
	}
	return byPath
}

// decodeBuild reads an emitted build back, strictly.
func decodeBuild(t *testing.T, f emit.File) build {
	t.Helper()
	var b build
	if err := yaml.UnmarshalStrict(f.Content, &b); err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	return b
}

func stepIDs(b build) []string {
	var out []string
	for _, s := range b.Steps {
		out = append(out, s.ID)
	}
	return out
}

func findStep(t *testing.T, b build, id string) step {
	t.Helper()
	i := slices.IndexFunc(b.Steps, func(s step) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("no step %q", id)
	}
	return b.Steps[i]
}

func TestSteps(t *testing.T) {
	out := emittedFiles(t, fullPlatform())
	want := []string{
		"settings", "access", "turn", "state-bucket", "unlock", "terraform-init", "terraform-plan", "terraform-show",
		"retire", "terraform-apply", "metrics", "credentials", "kueue", "jobset", "priorities",
		"local-queues", "manifests",
		"queues", "dashboards",
	}
	if diff := cmp.Diff(want, stepIDs(decodeBuild(t, out["cloudbuild/provision.yaml"]))); diff != "" {
		t.Errorf("provision (-want +got):\n%s", diff)
	}
	want = []string{
		"settings", "access", "turn", "state-bucket", "unlock", "terraform-init", "terraform-plan",
		"terraform-show", "shrink",
		"terraform-apply", "metrics", "credentials", "helm", "kai", "jobset", "priorities", "manifests",
		"queues", "dashboards",
	}
	if diff := cmp.Diff(want,
		stepIDs(decodeBuild(t, emittedFiles(t, kaiPlatform())["cloudbuild/provision.yaml"]))); diff != "" {
		t.Errorf("provision with KAI Scheduler (-want +got):\n%s", diff)
	}
	want = []string{"settings", "access", "turn", "unlock", "terraform-init", "drain", "unprotect", "terraform-destroy"}
	if diff := cmp.Diff(want, stepIDs(decodeBuild(t, out["cloudbuild/destroy.yaml"]))); diff != "" {
		t.Errorf("destroy (-want +got):\n%s", diff)
	}
	modes := map[string]uint32{"create-platform.sh": 0o755, "destroy-platform.sh": 0o755, ".gcloudignore": 0}
	for path, mode := range modes {
		if got := out[path].Mode; uint32(got) != mode {
			t.Errorf("%s: mode %o, want %o", path, got, mode)
		}
	}
}

func TestWithoutGrafana(t *testing.T) {
	p := fullPlatform()
	p.Monitoring.Grafana = false
	b := decodeBuild(t, emittedFiles(t, p)["cloudbuild/provision.yaml"])
	if slices.Contains(stepIDs(b), "dashboards") {
		t.Error("a step applies dashboards that are not there")
	}
}

// TestEndpoint holds the way into the cluster, in both builds and in what the
// scripts ask for.
func TestEndpoint(t *testing.T) {
	for _, tt := range []struct {
		dns        bool
		flag, pool string
	}{
		{true, "--dns-endpoint", "NEEDS_WORKER_POOL='false'\n"},
		{false, "--internal-ip", "NEEDS_WORKER_POOL='true'\n"},
	} {
		p := fullPlatform()
		p.Cluster.DNSEndpoint = tt.dns
		out := emittedFiles(t, p)
		args := findStep(t, decodeBuild(t, out["cloudbuild/provision.yaml"]), "credentials").Args
		if !slices.Contains(args, tt.flag) {
			t.Errorf("DNSEndpoint %t: provision gets credentials with %q", tt.dns, args)
		}
		env := findStep(t, decodeBuild(t, out["cloudbuild/destroy.yaml"]), "drain").Env
		if !slices.Contains(env, "ENDPOINT="+tt.flag) {
			t.Errorf("DNSEndpoint %t: destroy has %q", tt.dns, env)
		}
		for _, path := range []string{"create-platform.sh", "destroy-platform.sh"} {
			if !strings.Contains(string(out[path].Content), tt.pool) {
				t.Errorf("DNSEndpoint %t: %s has no %q", tt.dns, path, tt.pool)
			}
		}
	}
}

// TestHostileValues holds that no value of a plan becomes YAML or a Cloud Build
// substitution. What becomes of them in a shell, the script tests hold.
func TestHostileValues(t *testing.T) {
	const hostile = "a'\"$PROJECT_ID ${_X} $(id) $$ `id`\n- b: c #"
	p := fullPlatform()
	p.Name, p.Project, p.Region, p.Cluster.Name = hostile, hostile, hostile, hostile
	p.Delivery.StateBucket, p.Monitoring.GrafanaNamespace = hostile, hostile
	p.Versions = ir.Versions{
		Kueue: hostile, JobSet: hostile, KAI: hostile, Helm: hostile, Terraform: hostile, Gcloud: hostile,
	}
	out := emittedFiles(t, p)

	provision := decodeBuild(t, out["cloudbuild/provision.yaml"])
	escaped := strings.ReplaceAll(hostile, "$", "$$")
	if got := findStep(t, provision, "access").Env; !cmp.Equal(got[0], "PROJECT="+escaped) {
		t.Errorf("environment %q", got)
	}
	if got := findStep(t, provision, "state-bucket").Args[3]; substituteText(got, provision.Substitutions) != "gs://"+
		hostile {
		t.Errorf("argument %q", got)
	}
	ours := regexp.MustCompile(`\$(_[A-Z_]+|BUILD_ID)`)
	for _, b := range []build{provision, decodeBuild(t, out["cloudbuild/destroy.yaml"])} {
		var substituted []string
		substituted = append(substituted, b.ServiceAccount)
		substituted = append(substituted, b.Tags...)
		for _, s := range b.Steps {
			substituted = append(substituted, s.Name, s.Dir, s.Entrypoint, s.ID)
			substituted = append(append(substituted, s.Args...), s.Env...)
			if strings.Contains(s.Script, "PROJECT_ID") {
				t.Errorf("step %s: a value stands in its script", s.ID)
			}
		}
		for _, s := range substituted {
			if strings.Contains(ours.ReplaceAllString(strings.ReplaceAll(s, "$$", ""), ""), "$") {
				t.Errorf("Cloud Build would substitute in %q", s)
			}
		}
	}
}

func TestGrantCondition(t *testing.T) {
	const attribute = `api.getAttribute("iam.googleapis.com/modifiedGrantsByRole", [])`
	eleven := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
	for _, tt := range []struct {
		roles []string
		want  string
	}{
		{nil, attribute + `.hasOnly([])`},
		{[]string{"roles/a", "roles/b"}, attribute + `.hasOnly(["roles/a", "roles/b"])`},
		{eleven[:10], attribute + `.hasOnly(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])`},
		{eleven, attribute + `.hasOnly(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]) || ` +
			attribute + `.hasOnly(["k"])`},
		{[]string{`x"]) || true; title=y`}, attribute + `.hasOnly(["x\"]) || true\x3b title=y"])`},
	} {
		if got := grantCondition(tt.roles); got != tt.want {
			t.Errorf("grantCondition(%q)\n got %s\nwant %s", tt.roles, got, tt.want)
		}
	}
}

func TestBuildTime(t *testing.T) {
	b := newBuild(fullPlatform(), "test", task{60, step{ID: "a"}}, task{3600, step{ID: "b"}})
	if b.Steps[0].Timeout != "60s" || b.Steps[1].Timeout != "3600s" || b.Timeout != "3660s" {
		t.Errorf("timeouts %s, %s and %s", b.Steps[0].Timeout, b.Steps[1].Timeout, b.Timeout)
	}
}
