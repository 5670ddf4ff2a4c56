package cluster_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// installed are the kinds of the objects that gcluster's second group creates in a cluster.
const installed = "namespaces,customresourcedefinitions,validatingwebhookconfigurations," +
	"mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles," +
	"clusterrolebindings,priorityclasses,apiservices,storageclasses"

// ownWaves are resources in the state of the second group, for objects of the administrator's own
// manifests that need another object, or that another object needs.
var ownWaves = []string{
	`kubectl_manifest.own_foundations["CustomResourceDefinition.apiextensions.k8s.io/profiles.tuning.example.com"]`,
	`kubectl_manifest.own_foundations["Namespace/node-tuning"]`,
	`kubectl_manifest.own["DaemonSet.apps/node-tuning/sysctl"]`,
	`kubectl_manifest.own["ServiceAccount/node-tuning/sysctl"]`,
	`kubectl_manifest.own["StorageClass.storage.k8s.io/fast"]`,
	`kubectl_manifest.own_dependents["Profile.tuning.example.com/node-tuning/sockets"]`,
	`kubectl_manifest.own_dependents["Secret/node-tuning/sysctl-token"]`,
}

// TestKubectlApply plays `gcluster deploy` on a folder with manifests of the administrator, in an
// empty project and on a cluster without Kueue and JobSet, and with the real provider
// gavinbunney/kubectl. The second group finds the cluster that the first has created. Then
// another deploy must change nothing, a deploy without one of the manifests must delete its
// object, and a sample job of the folder must be admitted. While the job runs, `gcluster destroy`
// must leave nothing, in the cluster and in the project.
//
// The folder stays as it is compiled, except for the addresses of the releases and their SHA-256.
func TestKubectlApply(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	g := newToolkit(t)
	p := startPlane(ctx, t, plane.StartEmpty)
	g.folder = &folder{T: t, ctx: ctx, plane: p, dir: g.laid}
	g.start()
	g.serveReleases()
	before := g.identities()

	// The first group is applied, and the second rejects releases that have another SHA-256.
	a := g.ask("deploy")
	if !strings.Contains(a.Output, "set versions.sha256 in the blueprint") ||
		!slices.Equal(a.Changed, toolkitGroups[:1]) {
		t.Fatalf("releases with another SHA-256: changed %v\n%s\n%s", a.Changed, a.Error, a.Output)
	}
	g.pinReleases()
	started := make(chan error, 1)
	go func() { started <- g.startControllers() }()
	g.must("deploy", toolkitGroups[1])
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	g.eventually(g.inactive)
	g.must("deploy")
	state := strings.Split(g.run("state", "list"), "\n")
	for _, resource := range ownWaves {
		if !slices.Contains(state, resource) {
			t.Errorf("the state has no %s", resource)
		}
	}
	if token := g.kubectl("get", "secret", "sysctl-token", "--namespace=node-tuning",
		"--output=jsonpath={.data.token}"); token == "" {
		t.Error("the Secret of the own manifests has no token")
	}
	// An administrator removes one of their own manifests.
	kustomization := filepath.Join(g.laid, "kubernetes/own/kustomization.yaml")
	text, err := os.ReadFile(kustomization)
	if err != nil {
		t.Fatal(err)
	}
	g.write(kustomization, strings.Replace(string(text), "- class.yaml\n", "", 1))
	g.must("deploy", toolkitGroups[1])
	if g.identities()["storageclass /fast"] {
		t.Error("the StorageClass is left")
	}
	g.submitted()
	g.add(g.pools()...)
	g.submit("team-a", "high-priority-1")
	g.eventually(func() string {
		if w := g.workload("team-a", "high-priority-1"); !w.is("Admitted") {
			return fmt.Sprint("not admitted: ", w.Status.Conditions)
		}
		return ""
	})

	g.must("unprotect")
	g.must("destroy", toolkitGroups[1], toolkitGroups[0])
	for name := range g.identities() {
		if !before[name] {
			t.Errorf("%s is left", name)
		}
	}
	if left := g.must("left").Left; len(left) > 0 {
		t.Errorf("left in the project and in the states:\n%s", strings.Join(left, "\n"))
	}
	g.must("destroy") // again
}

// toolkitGroups are the deployment groups of a folder, in the order in which gcluster applies them.
var toolkitGroups = []string{"terraform", "kubectl-apply"}

// toolkit is gcluster at work on a deploy folder: the program conformance/terraform/cmd/gcluster.
type toolkit struct {
	*folder
	t       *testing.T
	laid    string   // the folder
	env     []string // of Terraform
	verbs   io.Writer
	answers *bufio.Scanner
}

// answer decodes terraform.Answer, which the player of gcluster prints after each command.
type answer struct {
	Env, Changed, Left []string
	Output, Error      string
}

// newToolkit compiles the batch platform with manifests of the administrator, and skips the test
// if Terraform or the provider is absent.
func newToolkit(t *testing.T) *toolkit {
	t.Helper()
	if _, err := exec.LookPath("terraform"); err != nil {
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
	g := &toolkit{t: t, laid: filepath.Join(t.TempDir(), "gke-batch")}
	ctx := testContext(t)
	runTool(ctx, t, "../..", buildCompiler(ctx, t), "compile", "-o", g.laid, "blueprints/batch-platform",
		"golden/testdata/own/own.cue")
	mirror := t.TempDir()
	into := filepath.Join(mirror, "registry.terraform.io/gavinbunney/kubectl/1.19.0", runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(into, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(provider, filepath.Join(into, "terraform-provider-kubectl_v1.19.0")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(mirror, "terraform.rc")
	g.write(config, fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    "+
		"path = %q\n  }\n}\n", mirror))
	g.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+config, "TF_IN_AUTOMATION=1",
		"TF_LOG_SDK=off", "TF_LOG_SDK_PROTO=off", // of the stand-ins
		"HOME="+mirror) // the provider has its cache there
	return g
}

func (g *toolkit) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		g.t.Fatal(err)
	}
}

// start starts gcluster in an empty project. Its cluster is the plane, whose certificate the
// provider takes from the environment: on GKE, a public authority has issued it.
func (g *toolkit) start() {
	g.t.Helper()
	program := filepath.Join(g.t.TempDir(), "gcluster")
	const module = "../terraform"
	runTool(g.ctx, g.t, module, "go", "build", "-o", program, "./cmd/gcluster")
	address, certificate, token := g.plane.Endpoint()
	project, err := json.Marshal(map[string]string{
		"Folder": g.laid, "Facts": "../../golden/testdata/provider", "Endpoint": address, "Token": token,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	c := exec.CommandContext(g.ctx, program, string(project))
	g.env = append(g.env, "KUBE_CLUSTER_CA_CERT_DATA="+certificate)
	c.Dir, c.Env, c.Stderr = module, g.env, os.Stderr
	verbs, err := c.StdinPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	answers, err := c.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = verbs.Close()
		_ = c.Wait()
	})
	g.verbs, g.answers = verbs, bufio.NewScanner(answers)
	g.answers.Buffer(nil, 64<<20)
	g.env = append(g.env, g.answer().Env...)
}

func (g *toolkit) answer() (a answer) {
	g.t.Helper()
	if !g.answers.Scan() {
		g.t.Fatalf("gcluster ended: %v", g.answers.Err())
	}
	if err := json.Unmarshal(g.answers.Bytes(), &a); err != nil {
		g.t.Fatal(err)
	}
	return a
}

// ask lets gcluster do what a verb says.
func (g *toolkit) ask(verb string) answer {
	g.t.Helper()
	began := time.Now()
	if _, err := fmt.Fprintln(g.verbs, verb); err != nil {
		g.t.Fatal(err)
	}
	a := g.answer()
	g.t.Logf("gcluster %s took %.1f s", verb, time.Since(began).Seconds())
	return a
}

// must is ask for a verb that must succeed, and change the groups in this order.
func (g *toolkit) must(verb string, changed ...string) answer {
	g.t.Helper()
	a := g.ask(verb)
	if a.Error != "" {
		g.t.Fatalf("gcluster %s: %s\n%s", verb, a.Error, a.Output)
	}
	if !slices.Equal(a.Changed, changed) {
		g.t.Errorf("gcluster %s: changed %v, want %v", verb, a.Changed, changed)
	}
	return a
}

// serveReleases lets the second group download the plane's releases.
func (g *toolkit) serveReleases() {
	g.t.Helper()
	if err := g.plane.WriteReleases(); err != nil {
		g.t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, g.plane.Release(strings.TrimPrefix(r.URL.Path, "/")))
	}))
	g.t.Cleanup(server.Close)
	g.editReleases(`url += "[^"]*"`, func(name string) string {
		return fmt.Sprintf("url = %q", server.URL+"/"+name)
	})
}

// pinReleases lets the second group accept the plane's releases.
func (g *toolkit) pinReleases() {
	g.t.Helper()
	g.editReleases(`sha256 += "[^"]*"`, func(name string) string {
		text, err := os.ReadFile(g.plane.Release(name))
		if err != nil {
			g.t.Fatal(err)
		}
		return fmt.Sprintf(`sha256 = "%x"`, sha256.Sum256(text))
	})
}

// editReleases replaces a part of the releases in terraform.tfvars, of which value returns the
// new text.
func (g *toolkit) editReleases(part string, value func(name string) string) {
	g.t.Helper()
	file := filepath.Join(g.laid, "kubectl-apply/terraform.tfvars")
	content, err := os.ReadFile(file)
	if err != nil {
		g.t.Fatal(err)
	}
	text := string(content)
	for _, name := range []string{"kueue", "jobset"} {
		release := regexp.MustCompile(`(?s)(` + name + `_release += \{[^}]*)` + part)
		if !release.MatchString(text) {
			g.t.Fatalf("terraform.tfvars has another form than this test expects:\n%s", text)
		}
		text = release.ReplaceAllString(text, "${1}"+value(name))
	}
	g.write(file, text)
}

// run runs a command of Terraform on the root of the second group. It must succeed.
func (g *toolkit) run(args ...string) string {
	g.t.Helper()
	c := exec.CommandContext(g.ctx, "terraform", args...)
	c.Dir, c.Env = filepath.Join(g.laid, toolkitGroups[1]), g.env
	out, err := c.CombinedOutput()
	if err != nil {
		g.t.Fatalf("terraform %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// startControllers starts Kueue and JobSet once their Deployments exist: a plane has no nodes
// for the pods.
func (g *toolkit) startControllers() error {
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
func (g *toolkit) identities() map[string]bool {
	g.t.Helper()
	found := map[string]bool{}
	for _, o := range g.get(installed) {
		found[o.String()] = true
	}
	return found
}
