package gitops_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// crds are the files of the CRDs, by kind.
var crds = map[string][2]string{
	"Application": {"github.com/argoproj/argo-cd/v3@v3.5.7", "manifests/crds/application-crd.yaml"},
	"AppProject":  {"github.com/argoproj/argo-cd/v3@v3.5.7", "manifests/crds/appproject-crd.yaml"},
	"GitRepository": {
		"github.com/fluxcd/source-controller@v1.9.6", "config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml",
	},
	"OCIRepository": {
		"github.com/fluxcd/source-controller@v1.9.6", "config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml",
	},
	"Kustomization": {
		"github.com/fluxcd/kustomize-controller@v1.9.6",
		"config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml",
	},
}

// TestObjects checks the tools' own objects against the tools' CRDs, without unknown
// fields. Flux's HelmRelease is decoded into its Go type, because no module has its CRD.
// No module has the CRD of RootSync either; emit/gitops names its source.
func TestObjects(t *testing.T) {
	for _, tool := range tools {
		for _, o := range readPlatform(t, tool).tool {
			if crd, known := crds[o.GetKind()]; known {
				for _, problem := range checkAgainst(t, crd, o) {
					t.Errorf("%s: %s: %s", tool, o.key(), problem)
				}
				continue
			}
			switch o.GetKind() {
			case "HelmRelease":
				text, err := json.Marshal(o.Object)
				if err != nil {
					t.Fatal(err)
				}
				if err := yaml.UnmarshalStrict(text, new(helmv2.HelmRelease)); err != nil {
					t.Errorf("%s: %s: %v", tool, o.key(), err)
				}
			case "RootSync", "Namespace":
			default:
				t.Errorf("%s: %s is not checked", tool, o.key())
			}
		}
	}
}

// checkAgainst returns what the API server would find in an object of a CRD, and its
// unknown fields, which the API server would drop.
func checkAgainst(t *testing.T, file [2]string, o object) []string {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	readFile(t, moduleDir(t, file[0]), file[1], &crd)
	var problems []string
	for _, version := range crd.Spec.Versions {
		if version.Name != o.GroupVersionKind().Version || crd.Spec.Group != o.GroupVersionKind().Group {
			continue
		}
		var internal apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			version.Schema.OpenAPIV3Schema, &internal, nil)
		if err != nil {
			t.Fatal(err)
		}
		structural, err := structuralschema.NewStructural(&internal)
		if err != nil {
			t.Fatal(err)
		}
		validator, _, err := validation.NewSchemaValidator(&internal)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range validation.ValidateCustomResource(nil, o.Object, validator) {
			problems = append(problems, problem.Error())
		}
		unknown := pruning.PruneWithOptions(runtime.DeepCopyJSON(o.Object), structural, true,
			structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		for _, field := range unknown {
			problems = append(problems, "unknown field "+field)
		}
		return problems
	}
	return []string{"no CRD of this version"}
}

// TestCharts checks what the charts and releases make of the platform's values: Kueue reads the
// platform's configuration, and the objects have the names and labels that the platform's
// own objects refer to.
func TestCharts(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			p := readPlatform(t, tool)
			checkConfiguration(t, p)
			checkWebhooks(t, p)
			checkScraping(t, p)
			policies, err := os.ReadFile(filepath.Join(p.dir, "kubernetes/system/admission-policies.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			names := []string{"kueue-system:kueue-controller-manager", "jobset-system:jobset-controller"}
			if len(p.charts) == 0 {
				names[1] += "-manager"
			}
			for _, name := range names {
				namespace, account, _ := strings.Cut(name, ":")
				if o := find(t, p.objects, "ServiceAccount", account); o.GetNamespace() != namespace {
					t.Errorf("%s is not in %s", o.key(), namespace)
				}
				if !strings.Contains(string(policies), "system:serviceaccount:"+name+"'") {
					t.Errorf("the admission policies do not name %s", name)
				}
			}
		})
	}
}

func checkConfiguration(t *testing.T, p platform) {
	t.Helper()
	configMap := find(t, p.objects, "ConfigMap", "kueue-manager-config")
	text, _, _ := unstructured.NestedString(configMap.Object, "data", "controller_manager_config.yaml")
	k, chart := p.charts["kueue"]
	if !chart {
		checkRelease(t, p, text)
		return
	}
	wanted, _, _ := unstructured.NestedString(k.Values, "managerConfig", "controllerManagerConfigYaml")
	var got, want map[string]any
	for from, into := range map[string]*map[string]any{text: &got, wanted: &want} {
		if err := yaml.Unmarshal([]byte(from), into); err != nil || len(*into) < 5 {
			t.Fatalf("%v:\n%s", err, from)
		}
	}
	delete(got, "internalCertManagement") // the chart adds it
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Kueue's configuration (-value +chart):\n%s", diff)
	}
	// A change of the configuration must restart the controller.
	checksum := func(objects []object) string {
		controller := find(t, objects, "Deployment", "kueue-controller-manager")
		annotations, _, _ := unstructured.NestedStringMap(controller.Object,
			"spec", "template", "metadata", "annotations")
		return annotations["charts.kueue.x-k8s.io/config-checksum"]
	}
	k.Values = nil
	plain := renderChart(t, k)
	if a, b := checksum(p.objects), checksum(plain); a == "" || a == b {
		t.Errorf("checksums %q and %q with another configuration", a, b)
	}
}

// checkRelease checks the configuration of Kueue, and the digest that restarts the
// controller, if Kueue is installed from the manifest of its release. text is the
// configuration that the controller reads.
func checkRelease(t *testing.T, p platform, text string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(p.dir, "gitops/kueue/configuration.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var wanted struct{ Data map[string]string }
	if err := yaml.Unmarshal(file, &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted.Data["controller_manager_config.yaml"], text); diff != "" || len(text) < 500 {
		t.Errorf("Kueue's configuration (-folder +release):\n%s", diff)
	}
	controller := find(t, p.objects, "Deployment", "kueue-controller-manager")
	annotations, _, _ := unstructured.NestedStringMap(controller.Object,
		"spec", "template", "metadata", "annotations")
	if want := fmt.Sprintf("%x", sha256.Sum256(file)); annotations["batchwright/configuration"] != want {
		t.Errorf("the pods have the annotations %v, want the digest %s", annotations, want)
	}
}

// checkWebhooks checks that the webhooks for jobs and pods see only the teams' namespaces:
// while Kueue is down, others would block their requests in every namespace.
func checkWebhooks(t *testing.T, p platform) {
	t.Helper()
	selected := 0
	for _, o := range p.objects {
		if !strings.HasSuffix(o.GetKind(), "WebhookConfiguration") || o.from != "chart kueue" && o.from != "kueue" {
			continue
		}
		webhooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
		for _, w := range webhooks {
			webhook := w.(map[string]any)
			rules, _, _ := unstructured.NestedSlice(webhook, "rules")
			own := !slices.ContainsFunc(rules, func(rule any) bool {
				groups, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "apiGroups")
				return !slices.Equal(groups, []string{"kueue.x-k8s.io"})
			})
			selector, found, _ := unstructured.NestedMap(webhook, "namespaceSelector")
			if !found {
				if !own {
					t.Errorf("webhook %v sees every namespace", webhook["name"])
				}
				continue
			}
			selected++
			var decoded metav1.LabelSelector
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &decoded); err != nil {
				t.Fatal(err)
			}
			matches, err := metav1.LabelSelectorAsSelector(&decoded)
			if err != nil {
				t.Fatal(err)
			}
			team := labels.Set(find(t, p.objects, "Namespace", "team-a").GetLabels())
			if !matches.Matches(team) || matches.Matches(labels.Set{"kubernetes.io/metadata.name": "default"}) {
				t.Errorf("webhook %v does not see exactly the teams' namespaces", webhook["name"])
			}
		}
	}
	if selected < 5 {
		t.Errorf("%d webhooks have a namespaceSelector", selected)
	}
}

// checkScraping checks that every PodMonitoring selects the pods of a Deployment of a
// chart, and that the ClusterRole of its account exists.
func checkScraping(t *testing.T, p platform) {
	t.Helper()
	for _, name := range []string{"kueue", "jobset"} {
		monitoring := find(t, p.objects, "PodMonitoring", name)
		wanted, _, _ := unstructured.NestedStringMap(monitoring.Object, "spec", "selector", "matchLabels")
		found := 0
		for _, o := range p.objects {
			if o.GetKind() != "Deployment" || o.GetNamespace() != monitoring.GetNamespace() {
				continue
			}
			got, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
			if labels.SelectorFromSet(wanted).Matches(labels.Set(got)) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s selects the pods of %d Deployments", monitoring.key(), found)
		}
		find(t, p.objects, "ClusterRole", name+"-metrics-reader")
	}
}

// TestOneOwner checks that each object of the charts, kubernetes/ and dashboards/ comes
// from one of them.
func TestOneOwner(t *testing.T) {
	for _, tool := range tools {
		owners := map[string]string{}
		for _, o := range readPlatform(t, tool).objects {
			if owner, owned := owners[o.key()]; owned {
				t.Errorf("%s: %s is in %s and in %s", tool, o.key(), owner, o.from)
			}
			owners[o.key()] = o.from
		}
		if len(owners) < 120 {
			t.Errorf("%s: %d objects", tool, len(owners))
		}
	}
}

// TestOrder checks the waves of Argo CD: namespaces and charts come first, all other
// objects in the one wave that follows, and Kueue's objects are in it.
func TestOrder(t *testing.T) {
	for _, o := range readPlatform(t, "argocd").objects {
		wave := o.GetAnnotations()["argocd.argoproj.io/sync-wave"]
		want := ""
		if o.from == "kubernetes" && o.GetKind() != "Namespace" {
			want = "1"
		}
		if wave != want {
			t.Errorf("%s of %s is in wave %q, want %q", o.key(), o.from, wave, want)
		}
	}
}

// TestDefaults checks that no field of Kueue's objects has a default below a list. Argo CD
// compares a list as a whole, and would take the defaults that the API server adds to it
// for a change, over and over.
func TestDefaults(t *testing.T) {
	p := readPlatform(t, "argocd")
	used := map[string]bool{}
	for _, o := range p.objects {
		if o.from == "kubernetes" {
			used[o.GroupVersionKind().String()] = true
		}
	}
	checked := 0
	for _, o := range p.objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			if !used[gvk.String()] {
				continue
			}
			checked++
			spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
			for _, field := range listDefaults(&spec, "spec", false) {
				t.Errorf("%s: %s has a default in a list", gvk.Kind, field)
			}
		}
	}
	if checked < 4 {
		t.Errorf("%d kinds", checked)
	}
}

// listDefaults returns the fields with defaults at or below a schema that are in a list.
func listDefaults(s *apiextensionsv1.JSONSchemaProps, path string, inList bool) (found []string) {
	if inList && s.Default != nil {
		found = append(found, path)
	}
	for name, property := range s.Properties {
		found = append(found, listDefaults(&property, path+"."+name, inList)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		found = append(found, listDefaults(s.Items.Schema, path+"[]", true)...)
	}
	return found
}

// TestProject checks that Argo CD's project allows exactly the kinds and namespaces of
// the platform's objects.
func TestProject(t *testing.T) {
	p := readPlatform(t, "argocd")
	project := find(t, p.tool, "AppProject", "gke-batch")
	used := map[string]bool{}
	for _, o := range p.objects {
		scope := "cluster"
		if o.GetNamespace() != "" {
			scope = "namespaced"
			used["namespace "+o.GetNamespace()] = true
		}
		// The charts give two kinds without a namespace the name of one.
		if strings.HasSuffix(o.GetKind(), "WebhookConfiguration") {
			scope = "cluster"
		}
		used[fmt.Sprintf("%s %s.%s", scope, o.GetKind(), o.GroupVersionKind().Group)] = true
	}
	allowed := map[string]bool{}
	for scope, field := range map[string]string{
		"cluster": "clusterResourceWhitelist", "namespaced": "namespaceResourceWhitelist",
	} {
		kinds, _, _ := unstructured.NestedSlice(project.Object, "spec", field)
		for _, k := range kinds {
			kind := k.(map[string]any)
			allowed[fmt.Sprintf("%s %s.%s", scope, kind["kind"], kind["group"])] = true
		}
	}
	destinations, _, _ := unstructured.NestedSlice(project.Object, "spec", "destinations")
	for _, d := range destinations {
		allowed[fmt.Sprint("namespace ", d.(map[string]any)["namespace"])] = true
	}
	if diff := cmp.Diff(used, allowed); diff != "" {
		t.Errorf("kinds and namespaces (-used +allowed):\n%s", diff)
	}
}

// TestJobSetSecret checks that no tool writes the empty certificates of JobSet's chart
// over those that JobSet has made.
func TestJobSetSecret(t *testing.T) {
	p := readPlatform(t, "argocd")
	secret := find(t, p.objects, "Secret", "jobset-webhook-server-cert")
	if data, _, _ := unstructured.NestedMap(secret.Object, "data"); len(data) == 0 {
		t.Fatal("the chart's Secret has no data: the exceptions are no longer needed")
	}
	application := find(t, p.tool, "Application", "gke-batch")
	ignored, _, _ := unstructured.NestedSlice(application.Object, "spec", "ignoreDifferences")
	want := []any{map[string]any{
		"kind": "Secret", "name": secret.GetName(), "namespace": secret.GetNamespace(), "jsonPointers": []any{"/data"},
	}}
	if diff := cmp.Diff(want, ignored); diff != "" {
		t.Errorf("Argo CD ignores other differences (-want +got):\n%s", diff)
	}
	options, _, _ := unstructured.NestedStringSlice(application.Object, "spec", "syncPolicy", "syncOptions")
	if !slices.Contains(options, "RespectIgnoreDifferences=true") {
		t.Errorf("Argo CD applies the fields that it ignores: %q", options)
	}

	release := find(t, readPlatform(t, "flux").tool, "HelmRelease", "gke-batch-jobset")
	rendered, err := yaml.Marshal(secret.Object)
	if err != nil {
		t.Fatal(err)
	}
	renderers, _, _ := unstructured.NestedSlice(release.Object, "spec", "postRenderers")
	if len(renderers) != 1 {
		t.Fatalf("%d postRenderers", len(renderers))
	}
	kustomization := renderers[0].(map[string]any)["kustomize"].(map[string]any)
	kustomization["resources"] = []any{"secret.yaml"}
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		t.Fatal(err)
	}
	files := filesys.MakeFsInMemory()
	for name, content := range map[string][]byte{"secret.yaml": rendered, "kustomization.yaml": text} {
		if err := files.WriteFile(name, content); err != nil {
			t.Fatal(err)
		}
	}
	patched, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	out, err := patched.AsYaml()
	if err != nil || strings.Contains(string(out), "tls") || !strings.Contains(string(out), secret.GetName()) {
		t.Errorf("%v: Flux applies\n%s", err, out)
	}

	secret = find(t, readPlatform(t, "configsync").objects, "Secret", secret.GetName())
	if data, found, _ := unstructured.NestedMap(secret.Object, "data"); found {
		t.Errorf("Config Sync would restore the data %v", data)
	}
}

// TestConfigSyncScopes checks that no object without a namespace names one. Config Sync
// refuses such objects with KNV1052, and with them the chart of Kueue.
func TestConfigSyncScopes(t *testing.T) {
	misplaced := func(objects []object) (found []string) {
		for _, o := range objects {
			if strings.HasSuffix(o.GetKind(), "WebhookConfiguration") && o.GetNamespace() != "" {
				found = append(found, o.key())
			}
		}
		return found
	}
	if found := misplaced(readPlatform(t, "configsync").objects); found != nil {
		t.Errorf("Config Sync refuses %q", found)
	}
	if misplaced(readPlatform(t, "argocd").objects) == nil {
		t.Error("Config Sync could use the chart of Kueue")
	}
}

// conditions are states of a ClusterQueue, with the health that a tool must report.
var conditions = []struct {
	name, status, reason, argoCD string
	flux                         bool
}{
	{"nothing yet", "", "", "Progressing", false},
	{"active", "True", "Ready", "Healthy", true},
	{"no flavor", "False", "FlavorNotFound", "Progressing", false},
	{"stopped", "False", "Stopped", "Suspended", true},
	{"deleted", "False", "Terminating", "Progressing", false},
}

// conditionOf returns a ClusterQueue with the condition Active.
func conditionOf(status, reason string) map[string]any {
	queue := map[string]any{"kind": "ClusterQueue", "status": map[string]any{}}
	if status != "" {
		queue["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": "Active", "status": status, "reason": reason, "message": "because",
		}}}
	}
	return queue
}

// TestArgoCDHealth runs the health checks in the Lua that Argo CD uses, with the
// libraries that it opens.
func TestArgoCDHealth(t *testing.T) {
	var patch struct{ Data map[string]string }
	readFile(t, compileFolder(t, "argocd"), "gitops/health-checks.yaml", &patch)
	for _, kind := range []string{"AdmissionCheck", "ClusterQueue", "LocalQueue"} {
		script := patch.Data["resource.customizations.health.kueue.x-k8s.io_"+kind]
		for _, c := range conditions {
			state := lua.NewState(lua.Options{SkipOpenLibs: true})
			for name, open := range map[string]lua.LGFunction{
				lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
			} {
				call := lua.P{Fn: state.NewFunction(open), Protect: true}
				if err := state.CallByParam(call, lua.LString(name)); err != nil {
					t.Fatal(err)
				}
			}
			state.SetGlobal("obj", toLua(state, conditionOf(c.status, c.reason)))
			if err := state.DoString(script); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			result := state.Get(-1).(*lua.LTable)
			if got := result.RawGetString("status").String(); got != c.argoCD {
				t.Errorf("%s, %s: %s, want %s", kind, c.name, got, c.argoCD)
			}
			state.Close()
		}
	}
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for k, v := range value {
			table.RawSetString(k, toLua(state, v))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, v := range value {
			table.Append(toLua(state, v))
		}
		return table
	}
	return lua.LString(fmt.Sprint(value))
}

// TestFluxHealth evaluates the health checks as Flux does.
func TestFluxHealth(t *testing.T) {
	kustomization := find(t, readPlatform(t, "flux").tool, "Kustomization", "gke-batch-platform")
	checks, _, _ := unstructured.NestedSlice(kustomization.Object, "spec", "healthCheckExprs")
	if len(checks) != 3 {
		t.Fatalf("%d checks", len(checks))
	}
	environment, err := cel.NewEnv(cel.Variable("status", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		check := c.(map[string]any)
		for _, condition := range conditions {
			for field, want := range map[string]bool{"current": condition.flux, "inProgress": !condition.flux} {
				ast, problems := environment.Compile(check[field].(string))
				if problems.Err() != nil {
					t.Fatal(problems.Err())
				}
				program, err := environment.Program(ast)
				if err != nil {
					t.Fatal(err)
				}
				status := conditionOf(condition.status, condition.reason)["status"]
				got, _, err := program.Eval(map[string]any{"status": status})
				if err != nil || got.Value() != want {
					t.Errorf("%v, %s: %s is %v, %v", check["kind"], condition.name, field, got, err)
				}
			}
		}
	}
}

// TestDependencies checks that Config Sync finds every object on which another depends,
// in the same RootSync.
func TestDependencies(t *testing.T) {
	objects := kustomize(t, filepath.Join(compileFolder(t, "configsync"), "kubernetes"))
	known := map[string]bool{}
	for _, o := range objects {
		known[o.GroupVersionKind().Group+"/"+o.GetKind()+"/"+o.GetName()] = o.GetNamespace() == ""
	}
	found := 0
	for _, o := range objects {
		for dependency := range strings.SplitSeq(o.GetAnnotations()["config.kubernetes.io/depends-on"], ",") {
			if dependency == "" {
				continue
			}
			found++
			if !known[dependency] {
				t.Errorf("%s depends on %s, which is not there", o.key(), dependency)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d dependencies", found)
	}
}
