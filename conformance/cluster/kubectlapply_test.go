package cluster_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// installed are the kinds of the objects that gcluster's second group creates in a cluster.
const installed = "namespaces,customresourcedefinitions,validatingwebhookconfigurations," +
	"mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles," +
	"clusterrolebindings,priorityclasses,apiservices"

// TestKubectlApply lets Terraform and the real provider apply the root kubectl-apply/, as
// `gcluster deploy` does, to a cluster without Kueue and JobSet. Then the platform must work,
// and another plan must be empty. While jobs run, `terraform destroy` must leave nothing.
//
// The test replaces what two other providers read: Google's, the address of the cluster, and
// hashicorp/http, the releases.
func TestKubectlApply(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	g := newGroup(t, "batch-platform")
	p := startPlane(ctx, t, plane.StartEmpty)
	g.folder = &folder{T: t, ctx: ctx, plane: p, dir: g.laid}
	g.localize()
	before := g.identities()

	g.run("init", "-input=false", "-no-color")
	started := make(chan error, 1)
	go func() { started <- g.startControllers() }()
	g.run("apply", "-input=false", "-no-color", "-auto-approve")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	g.eventually(g.inactive)
	g.run("plan", "-input=false", "-no-color", "-detailed-exitcode")
	g.submitted()
	g.add(g.pools()...)
	g.submit("team-a", "high-priority-1")
	g.eventually(func() string {
		if w := g.workload("team-a", "high-priority-1"); !w.is("Admitted") {
			return fmt.Sprint("not admitted: ", w.Status.Conditions)
		}
		return ""
	})

	g.run("destroy", "-input=false", "-no-color", "-auto-approve")
	for name := range g.identities() {
		if !before[name] {
			t.Errorf("%s is left", name)
		}
	}
	if left := g.run("state", "list"); left != "" {
		t.Errorf("the state still has\n%s", left)
	}
}

// group is the root kubectl-apply/ of a folder.
type group struct {
	*folder
	t       *testing.T
	laid    string // the folder
	program string
	config  string // of Terraform
}

// newGroup lays a folder, and skips the test if Terraform or the provider is absent.
func newGroup(t *testing.T, name string) *group {
	t.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed: nothing was applied")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	provider := filepath.Join(cache, "batchwright/terraform-provider-kubectl-1.19.0")
	if _, err := os.Stat(provider); err != nil {
		t.Skip("the provider gavinbunney/kubectl is not built, see make conformance: nothing was applied")
	}
	g := &group{t: t, program: program, laid: t.TempDir()}
	if err := os.CopyFS(g.laid, os.DirFS(layFolder(t, name))); err != nil {
		t.Fatal(err)
	}
	mirror := t.TempDir()
	into := filepath.Join(mirror, "registry.terraform.io/gavinbunney/kubectl/1.19.0", runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(into, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(provider, filepath.Join(into, "terraform-provider-kubectl_v1.19.0")); err != nil {
		t.Fatal(err)
	}
	g.config = filepath.Join(mirror, "terraform.rc")
	g.write(g.config, fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    "+
		"path = %q\n  }\n}\n", mirror))
	return g
}

func (g *group) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		g.t.Fatal(err)
	}
}

// localize points the root at the plane, at the plane's releases and at a state in a file.
func (g *group) localize() {
	g.t.Helper()
	if err := g.plane.WriteReleases(); err != nil {
		g.t.Fatal(err)
	}
	root := filepath.Join(g.laid, "kubectl-apply")
	if err := os.Remove(filepath.Join(root, "backend.tf")); err != nil {
		g.t.Fatal(err)
	}
	g.write(filepath.Join(root, "providers.tf"), fmt.Sprintf(
		"provider \"kubectl\" {\n  config_path       = %q\n  apply_retry_count = 15\n}\n", g.plane.Kubeconfig))
	others := regexp.MustCompile(`(?m)^    (google|http) += \{\n(?:      .*\n)+    \}\n`)
	download := regexp.MustCompile(`(?s)data "http" "manifest" \{.*?\n\}\n`)
	for name, change := range map[string]func(string) string{
		"versions.tf":                 func(s string) string { return others.ReplaceAllString(s, "") },
		"modules/release/versions.tf": func(s string) string { return others.ReplaceAllString(s, "") },
		"modules/release/main.tf": func(s string) string {
			return strings.ReplaceAll(download.ReplaceAllString(s, ""), "data.http.manifest.response_body",
				"file(var.release.url)")
		},
		"terraform.tfvars": func(s string) string {
			for _, controller := range []string{"kueue", "jobset"} {
				url := regexp.MustCompile(`"https://[^"]*/` + controller + `/[^"]*"`)
				s = url.ReplaceAllString(s, fmt.Sprintf("%q", g.plane.Release(controller)))
			}
			return s
		},
	} {
		file := filepath.Join(root, name)
		text, err := os.ReadFile(file)
		if err != nil {
			g.t.Fatal(err)
		}
		changed := change(string(text))
		if changed == string(text) {
			g.t.Fatalf("%s has another form than this test expects:\n%s", name, text)
		}
		g.write(file, changed)
	}
}

// run runs a command of Terraform on the root. It must succeed.
func (g *group) run(args ...string) string {
	g.t.Helper()
	began := time.Now()
	c := exec.CommandContext(g.ctx, g.program, append([]string{"-chdir=" + filepath.Join(g.laid, "kubectl-apply")},
		args...)...)
	c.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+g.config, "TF_IN_AUTOMATION=1")
	out, err := c.CombinedOutput()
	if err != nil {
		g.t.Fatalf("terraform %s: %v\n%s", args[0], err, out)
	}
	g.t.Logf("terraform %s took %.1f s", args[0], time.Since(began).Seconds())
	return string(out)
}

// startControllers starts Kueue and JobSet once their Deployments exist: a plane has no nodes
// for the pods.
func (g *group) startControllers() error {
	for {
		out, err := g.plane.Kubectl(g.ctx, nil, "get", "deployments", "--all-namespaces", "--output=name")
		if err == nil && strings.Contains(out, "kueue-controller-manager") &&
			strings.Contains(out, "jobset-controller-manager") {
			return g.plane.StartReleases(g.ctx)
		}
		select {
		case <-g.ctx.Done():
			return g.ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// identities returns the kinds and names of the objects of the kinds in installed.
func (g *group) identities() map[string]bool {
	g.t.Helper()
	found := map[string]bool{}
	for _, o := range g.get(installed) {
		found[o.String()] = true
	}
	return found
}
