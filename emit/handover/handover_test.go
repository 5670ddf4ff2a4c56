package handover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/exports"
)

// object returns an object of Kueue with annotations.
func object(kind, namespace, name string, annotations map[string]any) *exports.Object {
	return &exports.Object{
		Group: "kueue.x-k8s.io", Version: "v1beta1", Kind: kind, Namespace: namespace, Name: name,
		Fields: map[string]any{"metadata": map[string]any{"annotations": annotations}},
	}
}

// argo returns the annotation of an Application.
func argo(application string) map[string]any {
	return map[string]any{"argocd.argoproj.io/tracking-id": application + ":x"}
}

// TestFiles: objects that a tool would delete have a component that keeps them, and no name of a
// source leads out of the folder or to a second file of one name.
func TestFiles(t *testing.T) {
	kept := argo("Queues/a")
	kept["argocd.argoproj.io/sync-options"] = "Prune=false"
	files, err := Files("research", []*exports.Object{
		object("LocalQueue", "vision", "jobs", argo("../../etc")),
		object("ClusterQueue", "", "a.b", argo("queues-a")),
		object("ClusterQueue", "", "kept", kept),
		object("Cohort", "", "all", nil),
		{Version: "v1", Kind: "Namespace", Name: "vision"},
	}, "RoleBinding (2)", "kubectl get rolebindings -o yaml")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	var paths []string
	for _, f := range files {
		texts[f.Path] = string(f.Content)
		paths = append(paths, f.Path)
	}
	want := "README.md argo-cd-etc/kustomization.yaml argo-cd-etc/objects.yaml argo-cd-queues-a-2/kustomization.yaml " +
		"argo-cd-queues-a-2/objects.yaml argo-cd-queues-a/objects.yaml namespaces.yaml objects.yaml"
	if got := strings.Join(paths, " "); got != want {
		t.Fatalf("files\n%s\nwant\n%s", got, want)
	}
	for path, parts := range map[string][]string{
		"README.md": {
			"of which the platform's folder has some: RoleBinding (2).", "kubectl get rolebindings -o yaml\n",
			"kubectl label --overwrite -f objects.yaml app.kubernetes.io/part-of=research\n",
			"kubectl label --overwrite -f namespaces.yaml app.kubernetes.io/part-of=research " +
				"batchwright-existing=true\n",
			"kubectl annotate -f argo-cd-queues-a/objects.yaml argocd.argoproj.io/tracking-id- ",
			"| Argo CD Application Queues/a | [`argo-cd-queues-a/objects.yaml`](argo-cd-queues-a/objects.yaml) " +
				"| 1 | 0 |\n",
		},
		"objects.yaml": {
			"kind: Cohort\n", "kind: LocalQueue\nmetadata:\n  name: jobs\n  namespace: vision\n",
		},
		"argo-cd-queues-a-2/kustomization.yaml": {"kind: Component\n", `name: a\.b` + "\n", "Prune=false"},
	} {
		for _, part := range parts {
			if !strings.Contains(texts[path], part) {
				t.Errorf("%s lacks %q:\n%s", path, part, texts[path])
			}
		}
	}
}

// TestSteps: a page has only the steps that are left.
func TestSteps(t *testing.T) {
	for want, objects := range map[string][]*exports.Object{
		"":                                     nil,
		"1. Set the platform's label 2. Build": {object("Cohort", "", "all", nil)},
		"1. Make each tool keep its objects 2. Check that each tool keeps them " +
			"3. Remove the objects from their sources 4. Remove the tools' labels and annotations " +
			"5. Set the platform's label 6. Build": {
			object("Cohort", "", "all", argo("queues")),
		},
	} {
		files, err := Files("research", objects, "", "")
		if err != nil {
			t.Fatal(err)
		}
		var titles []string
		for line := range strings.Lines(string(files[0].Content)) {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				titles = append(titles, strings.TrimSpace(title))
			}
		}
		if got := strings.Join(titles, " "); got != want {
			t.Errorf("%d objects have the steps %q, want %q", len(objects), got, want)
		}
	}
}

// BenchmarkFiles renders the folder for many objects: the time grows with their number alone.
func BenchmarkFiles(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		objects := make([]*exports.Object, n)
		for i := range objects {
			objects[i] = object("ClusterQueue", "", fmt.Sprintf("q%d", i), argo(fmt.Sprintf("a%d", i%100)))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Files("research", objects, "", ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
