package kubeyaml_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// FuzzMarshal: a reader gets back the object that was printed, whatever its
// keys and values are, and the documents after it.
func FuzzMarshal(f *testing.F) {
	for i, s := range hostile.Texts() {
		f.Add(s, hostile.Texts()[(i+1)%len(hostile.Texts())])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		// The printer does not quote a merge key; no name of a plan has a "<".
		hostile.Want(t, key, "<<")
		hostile.Want(t, value, "<<")
		object := &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Name: value, Annotations: map[string]string{key: value, "b": key}},
			Data: map[string]string{
				key: value, "metadata": "", "a": value + "\n", "z": " " + value, value: "\n" + key,
				"tabs": value + "\n\t" + key + "\n",
			},
		}
		content, err := kubeyaml.Marshal(object, object)
		if err != nil {
			t.Fatal(err)
		}
		again, err := kubeyaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if want := string(again) + "---\n" + string(again); string(content) != want {
			t.Fatalf("two documents are not one twice:\n%s", content)
		}
		if n := bytes.Count(content, []byte("\n---\n")); n != 1 {
			t.Errorf("%d lines end a document", n)
		}
		got := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(again, got); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		if d := cmp.Diff(object, got); d != "" {
			t.Errorf("another object came back:\n%s\n%s", d, again)
		}
	})
}
