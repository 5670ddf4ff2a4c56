package folders_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// gitOpsTools are the tools. Each has an overlay of the batch platform: the overlay of
// Argo CD is a blueprint, and the others are in testdata/gitops.
var gitOpsTools = []string{"argocd", "configsync", "flux"}

// argoCDOverlay is the overlay of Argo CD.
var argoCDOverlay = fixture.Path("blueprints/batch-platform-argocd")

// compileGitOps compiles the batch platform with overlays: one for a GitOps tool, and
// perhaps others of testdata/gitops.
func compileGitOps(t *testing.T, overlays ...string) emit.Tree {
	t.Helper()
	paths := []string{fixture.Path("blueprints/batch-platform")}
	for _, name := range overlays {
		overlay := filepath.Join("golden/testdata/gitops", name+".cue")
		if name == "argocd" {
			overlay = argoCDOverlay
		}
		paths = append(paths, overlay)
	}
	return compile.Folder(t, paths...)
}

// TestGitOps runs the checks of the goldens on the batch platform with each GitOps tool
// that has no golden folder of its own, and compares README.md and the folder gitops/.
func TestGitOps(t *testing.T) {
	for _, tool := range gitOpsTools {
		if tool == "argocd" {
			continue // TestBlueprints
		}
		t.Run(tool, func(t *testing.T) {
			tree := compileGitOps(t, tool)
			checkFolder(t, fixture.FS(tree))
			if fixture.Updating() && !t.Failed() {
				runConformance(t, tree)
			}
			files := slices.DeleteFunc(tree, func(f emit.File) bool {
				return f.Path != "README.md" && !strings.HasPrefix(f.Path, "gitops/")
			})
			if !t.Failed() {
				fixture.CompareTree(t, fixture.Path("golden/testdata/batch-platform-"+tool), files)
			}
		})
	}
}

// TestGitOpsChangesLittle checks which objects of kubernetes/ a GitOps tool changes: all
// of them only in annotations, except those that name JobSet's account or the labels of
// its pods.
func TestGitOpsChangesLittle(t *testing.T) {
	plain := kubernetesObjects(t, compile.Reference(t, "batch-platform"))
	for _, tool := range gitOpsTools {
		var changed []string
		synced := kubernetesObjects(t, compileGitOps(t, tool))
		for key, text := range plain {
			if other, found := synced[key]; !found {
				changed = append(changed, "-"+key)
			} else if other != text {
				changed = append(changed, key)
			}
		}
		for key := range synced {
			if _, found := plain[key]; !found {
				changed = append(changed, "+"+key)
			}
		}
		slices.Sort(changed)
		want := []string{"-ConfigMap kueue-system/kueue-manager-config"}
		if tool != "configsync" {
			want = append(want, "PodMonitoring jobset-system/jobset", "ValidatingAdmissionPolicy /jobs-are-queued",
				"ValidatingAdmissionPolicy /jobs-block-nobody", "ValidatingAdmissionPolicy /jobs-end-with-their-pods",
				"ValidatingAdmissionPolicy /jobs-fit-nodes",
				"ValidatingAdmissionPolicy /jobs-stay-in-bounds")
		}
		if tool == "argocd" {
			want = slices.Insert(want, 0, "+Namespace /jobset-system", "+Namespace /kueue-system")
		}
		if diff := cmp.Diff(want, changed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tool, diff)
		}
	}
}

// kubernetesObjects returns the objects of kubernetes/ without the annotations of GitOps
// tools, by kind, namespace and name.
func kubernetesObjects(t *testing.T, tree emit.Tree) map[string]string {
	t.Helper()
	objects := map[string]string{}
	for _, f := range tree {
		if !strings.HasPrefix(f.Path, "kubernetes/") || filepath.Base(f.Path) == "kustomization.yaml" {
			continue
		}
		for _, document := range bytes.Split(f.Content, []byte("\n---\n")) {
			var o map[string]any
			var meta metav1.PartialObjectMetadata
			for _, into := range []any{&o, &meta} {
				if err := yaml.Unmarshal(document, into); err != nil {
					t.Fatalf("%s: %v", f.Path, err)
				}
			}
			metadata := o["metadata"].(map[string]any)
			if annotations, ok := metadata["annotations"].(map[string]any); ok {
				for name := range annotations {
					if strings.HasPrefix(name, "argocd.") || strings.HasPrefix(name, "kustomize.toolkit.") ||
						strings.Contains(name, "config.k8s.io/") || strings.HasPrefix(name, "config.kubernetes.io/") {
						delete(annotations, name)
					}
				}
				if len(annotations) == 0 {
					delete(metadata, "annotations")
				}
			}
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			objects[fmt.Sprintf("%s %s/%s", meta.Kind, meta.Namespace, meta.Name)] = string(text)
		}
	}
	return objects
}

// TestGitOpsNamespaces checks that no GitOps tool deletes a namespace, in which everything
// would go, or the parts of it that running jobs need.
func TestGitOpsNamespaces(t *testing.T) {
	for tool, want := range map[string]string{
		"argocd":     "argocd.argoproj.io/sync-options: Prune=false,Delete=false",
		"configsync": "client.lifecycle.config.k8s.io/deletion: detach",
		"flux":       "kustomize.toolkit.fluxcd.io/prune: disabled",
	} {
		files := fixture.FS(compileGitOps(t, tool))
		teams, err := fs.Glob(files, "kubernetes/teams/*.yaml")
		if err != nil || len(teams) != 4 {
			t.Fatal(teams, err)
		}
		for _, name := range teams {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, document := range strings.Split(string(text), "\n---\n") {
				if !strings.Contains(document, want+"\n") {
					continue
				}
				_, kind, _ := strings.Cut("\n"+document, "\nkind: ")
				kind, _, _ = strings.Cut(kind, "\n")
				kept = append(kept, kind)
			}
			if diff := cmp.Diff([]string{"Namespace", "NetworkPolicy", "ServiceAccount"}, kept); diff != "" {
				t.Errorf("%s: %s: objects that stay (-want +got):\n%s", tool, name, diff)
			}
		}
	}
}

// TestGitOpsProject checks that Argo CD's project allows the kinds in kubernetes/ of
// platforms with other objects than the batch platform, and no kind that neither they nor
// the charts have. The conformance tests do the same with the charts themselves.
func TestGitOpsProject(t *testing.T) {
	charts := []string{
		"ConfigMap", "Secret", "Service", "ServiceAccount", "apps Deployment", "rbac.authorization.k8s.io Role",
		"rbac.authorization.k8s.io RoleBinding", "Namespace", "apiextensions.k8s.io CustomResourceDefinition",
		"apiregistration.k8s.io APIService", "rbac.authorization.k8s.io ClusterRole",
		"rbac.authorization.k8s.io ClusterRoleBinding", "admissionregistration.k8s.io MutatingWebhookConfiguration",
		"admissionregistration.k8s.io ValidatingWebhookConfiguration",
	}
	for _, paths := range [][]string{
		{"blueprints/batch-platform", "blueprints/batch-platform-dws"}, {"blueprints/a3-ultra-flex"},
		{"blueprints/tpu-training"}, {"golden/testdata/platforms/compute-classes.cue"}, {"blueprints/existing"},
	} {
		tree := compile.Folder(t, append(paths, argoCDOverlay)...)
		used := map[string]bool{}
		if paths[0] == "blueprints/existing" { // others run Kueue and JobSet
			used["ConfigMap"] = true // a dashboard
		} else {
			for _, kind := range charts {
				used[kind] = true
			}
		}
		for key, text := range kubernetesObjects(t, tree) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal([]byte(text), &meta); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			group := meta.GroupVersionKind().Group
			used[strings.TrimSpace(group+" "+meta.Kind)] = true
		}
		var project struct {
			Spec struct {
				Cluster    []metav1.GroupKind `json:"clusterResourceWhitelist"`
				Namespaced []metav1.GroupKind `json:"namespaceResourceWhitelist"`
			} `json:"spec"`
		}
		text, err := fs.ReadFile(fixture.FS(tree), "gitops/project.yaml")
		if err == nil {
			err = yaml.Unmarshal(text, &project)
		}
		if err != nil {
			t.Fatal(err)
		}
		allowed := map[string]bool{}
		for _, kind := range slices.Concat(project.Spec.Cluster, project.Spec.Namespaced) {
			allowed[strings.TrimSpace(kind.Group+" "+kind.Kind)] = true
		}
		if diff := cmp.Diff(used, allowed); diff != "" {
			t.Errorf("%s (-used +allowed):\n%s", paths, diff)
		}
	}
}
