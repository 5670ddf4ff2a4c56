package gitops_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/gitops"
)

// tools are the tools whose folders of the batch platform are checked.
var tools = []string{"argocd", "configsync", "flux"}

// compiler returns the path of batchwright, which it builds once.
var compiler = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "batchwright")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "batchwright")
	c := exec.Command("go", "build", "-o", program, "./cmd/batchwright")
	c.Dir, c.Stderr = "../..", os.Stderr
	return program, c.Run()
})

// compileFolder returns the deploy folder of the batch platform for a tool: the golden
// folder for Argo CD, and an overlay of golden/testdata/gitops for the others. The folders
// of platforms with TPUs, GPUDirect or DWS have the same objects of the tool.
func compileFolder(t *testing.T, tool string) string {
	t.Helper()
	program, err := compiler()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "gke-batch")
	overlay := "golden/testdata/gitops/" + tool + ".cue"
	if tool == "argocd" {
		overlay = "blueprints/batch-platform-argocd"
	}
	c := exec.CommandContext(t.Context(), program, "compile", "-o", dir, "blueprints/batch-platform", overlay)
	c.Dir = "../.."
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// object is a Kubernetes object and where it comes from.
type object struct {
	*unstructured.Unstructured
	from string
}

// key identifies an object in a cluster.
func (o object) key() string {
	gvk := o.GroupVersionKind()
	return fmt.Sprintf("%s.%s %s/%s", gvk.Kind, gvk.Group, o.GetNamespace(), o.GetName())
}

// decodeObjects returns the objects of a YAML text.
func decodeObjects(t *testing.T, from string, text []byte) []object {
	t.Helper()
	decoded, err := gitops.Decode(text)
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	var objects []object
	for _, fields := range decoded {
		objects = append(objects, object{&unstructured.Unstructured{Object: fields}, from})
	}
	return objects
}

// kustomize returns the objects of a kustomization.
func kustomize(t *testing.T, dir string) []object {
	t.Helper()
	text, err := gitops.Kustomize(dir)
	if err != nil {
		t.Fatal(err)
	}
	return decodeObjects(t, filepath.Base(dir), text)
}

// renderChart returns the objects of a chart.
func renderChart(t *testing.T, c gitops.Chart) []object {
	t.Helper()
	text, err := c.Render(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := c.Name()
	var objects []object
	for _, o := range decodeObjects(t, "chart "+name, text) {
		// The charts' own tests are hooks, which no GitOps tool of the platform runs.
		if o.GetNamespace() == "" && slices.Contains([]string{"ConfigMap", "Secret", "Service"}, o.GetKind()) {
			t.Errorf("chart %s: %s has no namespace", name, o.key())
		}
		objects = append(objects, o)
	}
	return objects
}

// renderRelease returns the objects of a kustomization that lists the manifest of a
// release. Instead of downloading the manifest, it builds the manifest from the module,
// as the release does.
func renderRelease(t *testing.T, dir, name string) []object {
	t.Helper()
	file := filepath.Join(dir, "kustomization.yaml")
	var fields map[string]any
	readFile(t, dir, "kustomization.yaml", &fields)
	addresses, _, _ := unstructured.NestedStringSlice(fields, "resources")
	if len(addresses) != 1 {
		t.Fatalf("%s: resources %q", file, addresses)
	}
	version := filepath.Base(filepath.Dir(addresses[0]))
	want := "https://github.com/kubernetes-sigs/" + name + "/releases/download/" + version + "/manifests.yaml"
	if addresses[0] != want {
		t.Fatalf("%s: resource %s, want %s", file, addresses[0], want)
	}
	manifest, err := gitops.Kustomize(filepath.Join(moduleDir(t, "sigs.k8s.io/"+name+"@"+version), "config/default"))
	if err != nil {
		t.Fatal(err)
	}
	fields["resources"] = []string{"release.yaml"}
	changed, err := yaml.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"release.yaml": manifest, "kustomization.yaml": changed} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return kustomize(t, dir)
}

// platform is what a tool applies.
type platform struct {
	dir     string
	tool    []object // the tool's own objects
	charts  map[string]gitops.Chart
	objects []object // of the charts, kubernetes/ and dashboards/
}

// readPlatform renders everything that a tool applies.
func readPlatform(t *testing.T, tool string) platform {
	t.Helper()
	p := platform{dir: compileFolder(t, tool), charts: map[string]gitops.Chart{}}
	p.tool = kustomize(t, filepath.Join(p.dir, "gitops"))
	if tool == "flux" {
		p.tool = append(p.tool, kustomize(t, filepath.Join(p.dir, "gitops/system"))...)
	}
	for _, o := range p.tool {
		for _, i := range installations(t, p.tool, o) {
			p.charts[i.Name()] = i
			p.objects = append(p.objects, renderChart(t, i)...)
		}
	}
	if len(p.charts) == 0 {
		for _, name := range []string{"kueue", "jobset"} {
			p.objects = append(p.objects, renderRelease(t, filepath.Join(p.dir, "gitops", name), name)...)
		}
	}
	p.objects = append(p.objects, kustomize(t, filepath.Join(p.dir, "kubernetes"))...)
	p.objects = append(p.objects, kustomize(t, filepath.Join(p.dir, "dashboards"))...)
	return p
}

// installations returns the charts that an object of a tool installs.
func installations(t *testing.T, all []object, o object) []gitops.Chart {
	t.Helper()
	text := func(fields map[string]any, path ...string) string {
		value, _, _ := unstructured.NestedString(fields, path...)
		return value
	}
	nested := func(fields map[string]any, path ...string) map[string]any {
		value, _, _ := unstructured.NestedMap(fields, path...)
		return value
	}
	var found []gitops.Chart
	switch o.GetKind() {
	case "Application":
		sources, _, _ := unstructured.NestedSlice(o.Object, "spec", "sources")
		for _, s := range sources {
			source := s.(map[string]any)
			if helm := nested(source, "helm"); helm != nil {
				found = append(found, gitops.Chart{
					text(source, "repoURL"), text(source, "targetRevision"), text(helm, "releaseName"),
					text(helm, "namespace"), nested(helm, "valuesObject"),
				})
			}
		}
	case "HelmRelease":
		spec := nested(o.Object, "spec")
		for _, repository := range all {
			if repository.GetKind() == "OCIRepository" && repository.GetName() == text(spec, "chartRef", "name") {
				found = append(found, gitops.Chart{
					text(repository.Object, "spec", "url"), text(repository.Object, "spec", "ref", "tag"),
					text(spec, "releaseName"), text(spec, "targetNamespace"), nested(spec, "values"),
				})
			}
		}
		if len(found) != 1 {
			t.Errorf("%s has %d charts", o.key(), len(found))
		}
	}
	return found
}

// find returns the only object of a kind with a name.
func find(t *testing.T, objects []object, kind, name string) object {
	t.Helper()
	var found []object
	for _, o := range objects {
		if o.GetKind() == kind && o.GetName() == name {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects %s %s", len(found), kind, name)
	}
	return found[0]
}
