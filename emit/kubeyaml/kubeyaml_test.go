package kubeyaml_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/emit/kubeyaml"
)

func TestMarshal(t *testing.T) {
	namespace := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: kubeyaml.Labels("gke-batch")},
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "worker",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					"memory": resource.MustParse("1024Mi"),
					"cpu":    resource.MustParse("2000m"),
				}},
			}},
			Volumes: []corev1.Volume{
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
	queue := &v1beta2.ClusterQueue{
		TypeMeta: metav1.TypeMeta{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "ClusterQueue"},
		Spec:     v1beta2.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}},
	}
	got, err := kubeyaml.Marshal(namespace, pod, queue)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: v1
kind: Namespace
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: gke-batch
  name: team-a
---
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: worker
    resources:
      requests:
        cpu: "2"
        memory: 1Gi
  volumes:
  - emptyDir: {}
    name: scratch
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
spec:
  namespaceSelector: {}
`
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("Marshal (-want +got):\n%s", diff)
	}
}

// TestMarshalPrintsAsTheKubernetesLibraryDoes holds strings that look like
// another type, or like syntax, against sigs.k8s.io/yaml.
func TestMarshalPrintsAsTheKubernetesLibraryDoes(t *testing.T) {
	values := []string{
		"", " ", "~", "null", "yes", "no", "on", "true", "True", "0", "012", "0x1F", "0o17", "0b1", "1_000", "1e3",
		"1.0", ".5",
		".inf", "1:30", "2001-12-14", "- a", "? a", "a: b", "a #b", "#a", "&a", "*a", "!a", "%a", "@a", "`a", "{a}",
		"[a]", "|", ">",
		"---", "...", "=", "<<", "'", "\"", "\\", "a\nb", "a\nb\n", "\n", " a\n b\n", "a\n\n", "a\tb", "\ta", "a\r\n",
		"a ", "\u00e9",
		"\u2028", "\ufeff", "\x07", "${x}", "$(x)", "%{x}", strings.Repeat("long ", 60), "../a",
	}
	configMap := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{},
	}
	configMap.Name = "strings"
	for i, value := range values {
		configMap.Data[fmt.Sprintf("key-%02d", i)] = value
	}
	got, err := kubeyaml.Marshal(configMap)
	if err != nil {
		t.Fatal(err)
	}
	want, err := yaml.Marshal(configMap)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("Marshal (-sigs.k8s.io/yaml +got):\n%s", diff)
	}
	var back corev1.ConfigMap
	if err := yaml.UnmarshalStrict(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(configMap, &back); diff != "" {
		t.Errorf("read back (-printed +read):\n%s", diff)
	}
}

// TestMarshalKeepsNextLine holds the one character that sigs.k8s.io/yaml reads
// as a space on its way through JSON.
func TestMarshalKeepsNextLine(t *testing.T) {
	configMap := &corev1.ConfigMap{Data: map[string]string{"key": "a\u0085b"}}
	text, err := kubeyaml.Marshal(configMap)
	if err != nil {
		t.Fatal(err)
	}
	var back corev1.ConfigMap
	if err := yaml.UnmarshalStrict(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(configMap, &back); diff != "" {
		t.Errorf("read back (-printed +read):\n%s", diff)
	}
}

func TestMarshalRefuses(t *testing.T) {
	if _, err := kubeyaml.Marshal("not a struct"); err == nil {
		t.Error("Marshal of a string: no error")
	}
}

func TestCanonical(t *testing.T) {
	for written, want := range map[string]string{
		"0": "0", "0Gi": "0", "1000": "1k", "2000m": "2", "500m": "500m", "1024Mi": "1Gi", "60Gi": "60Gi",
		"1.5Gi": "1536Mi", "4": "4",
	} {
		amount := resource.MustParse(written)
		canonical := kubeyaml.Canonical(amount)
		if got := canonical.String(); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", written, got, want)
		}
		if amount.Cmp(canonical) != 0 {
			t.Errorf("Canonical(%q) = %q: another amount", written, canonical.String())
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	queue := &v1beta2.ClusterQueue{
		TypeMeta:   metav1.TypeMeta{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "ClusterQueue"},
		ObjectMeta: metav1.ObjectMeta{Name: "cq", Labels: kubeyaml.Labels("gke-batch")},
	}
	for _, flavor := range []string{"a", "b"} {
		quotas := v1beta2.FlavorQuotas{Name: v1beta2.ResourceFlavorReference(flavor)}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
			quotas.Resources = append(quotas.Resources,
				v1beta2.ResourceQuota{Name: name, NominalQuota: resource.MustParse("4")})
		}
		queue.Spec.ResourceGroups = []v1beta2.ResourceGroup{{Flavors: append([]v1beta2.FlavorQuotas{quotas}, quotas)}}
	}
	b.Run("kubeyaml", func(b *testing.B) {
		for b.Loop() {
			if _, err := kubeyaml.Marshal(queue); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sigs.k8s.io", func(b *testing.B) {
		for b.Loop() {
			if _, err := yaml.Marshal(queue); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestMarshalShowsTabs checks that texts with tabs are block scalars where YAML allows
// it, and that a reader gets back every text.
func TestMarshalShowsTabs(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string // want is "" if the text is quoted
	}{
		"a script":             {"if true; then\n\techo\t1\nfi\n", "|\n    if true; then\n    \techo\t1\n    fi\n"},
		"no last line end":     {"a\n\tb", "|-\n    a\n    \tb\n"},
		"empty lines":          {"a\n\n\tb\n\n\n", "|+\n    a\n\n    \tb\n\n\n"},
		"a tab ends a line":    {"a\t\nb\n", "|\n    a\t\n    b\n"},
		"only a tab in a line": {"a\n\t\nb\n", "|\n    a\n    \t\n    b\n"},
		"spaces at the start":  {"  a\n\tb\n", "|2\n      a\n    \tb\n"},
		"letters":              {"é\n\t日本\n", "|\n    é\n    \t日本\n"},
		"private characters":   {"\ue000\n\tb\n", ""},
		"a tab at the start":   {"\ta\nb\n", ""},
		"a tab after lines":    {"\n\n\ta\nb\n", ""},
		"a tab after spaces":   {"  \ta\nb\n", ""},
		"a space ends a line":  {"a \n\tb\n", ""},
		"a space at the end":   {"a\n\tb ", ""},
		"an escape":            {"a\n\t\x1b[1m\n", ""},
		"a carriage return":    {"a\r\n\tb\r\n", ""},
		"a line separator":     {"a\n\tb\u2028c\n", ""},
		"a byte order mark":    {"a\n\t\ufeffb\n", ""},
		"beyond 16 bits":       {"a\n\t\U0001f600\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			configMap := &corev1.ConfigMap{Data: map[string]string{"a": c.text, "b": "\ue000\n"}}
			got, err := kubeyaml.Marshal(configMap)
			if err != nil {
				t.Fatal(err)
			}
			if want := "data:\n  a: " + cmp.Or(c.want, `"`); !strings.HasPrefix(string(got), want) {
				t.Errorf("want the start\n%s\ngot\n%s", want, got)
			}
			var back corev1.ConfigMap
			if err := yaml.UnmarshalStrict(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(configMap, &back); diff != "" {
				t.Errorf("read back (-printed +read):\n%s", diff)
			}
		})
	}
}
