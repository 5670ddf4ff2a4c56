// Package kubeyaml prints typed Kubernetes objects as YAML, in the one form
// that every manifest of the deploy folder has. Objects go in, bytes come out.
//
// It stands by itself because several emitters print Kubernetes objects and
// emitters do not import each other.
package kubeyaml

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Marshal prints objects in the order given, one YAML document each; there is
// at least one. Every object is a pointer to a struct with JSON tags: a typed
// API object, or a small struct of a kind that has no published Go type.
//
// The output is what sigs.k8s.io/yaml prints, less what a typed struct adds to
// it and nobody wrote: the status, and empty structs. Keys are sorted,
// quantities canonical.
func Marshal(objects ...any) ([]byte, error) {
	var out bytes.Buffer
	for i, object := range objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		// The converter and the printer are the two halves of
		// sigs.k8s.io/yaml.Marshal without the JSON text between them, which
		// takes more time than both.
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("kubeyaml: converting %T: %w", object, err)
		}
		delete(fields, "status")
		dropEmpty(fields)
		document, err := yaml.Marshal(fields)
		if err != nil {
			return nil, fmt.Errorf("kubeyaml: printing %T: %w", object, err)
		}
		out.Write(document)
	}
	return out.Bytes(), nil
}

// dropEmpty removes every empty metadata and spec below value, and the interface
// matcher of a GKE Network. They are structs, not pointers, in their APIs, so
// that an empty one is never different from none. Other empty objects, such as
// emptyDir, do mean something.
func dropEmpty(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			dropEmpty(child)
			if fields, ok := child.(map[string]any); ok && len(fields) == 0 &&
				(key == "metadata" || key == "spec" || key == "nodeInterfaceMatcher") {
				delete(value, key)
			}
		}
	case []any:
		for _, child := range value {
			dropEmpty(child)
		}
	}
}

// Labels returns a new map of the labels that every object of a platform
// carries.
func Labels(platform string) map[string]string {
	return map[string]string{ir.LabelManagedBy: "batchwright", ir.LabelPartOf: platform}
}

// Meta returns the metadata of an object of a platform, with labels that are its
// own to add to. The namespace is "" for an object of the cluster.
func Meta(platform, namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: Labels(platform)}
}

// Kind returns the type of an object.
func Kind(group schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: group.String(), Kind: kind}
}

// TeamNamespaces selects the namespaces of a platform's teams.
func TeamNamespaces(platform string) *metav1.LabelSelector {
	return &metav1.LabelSelector{
		MatchLabels: map[string]string{ir.LabelPartOf: platform},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: ir.LabelTeam, Operator: metav1.LabelSelectorOpExists},
		},
	}
}

// Manifest is a file of objects. Its name is a path, relative to that of the
// kustomization which lists it. Without objects there is no file.
type Manifest struct {
	Name    string
	Objects []any
}

// Tolerations returns what accepts the taints, one by one; nil for none. Kueue
// adds a flavor's tolerations to pods that lack them as they are spelt there,
// so all are spelt here.
func Tolerations(taints []ir.Taint) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range taints {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
		})
	}
	return out
}

// Kustomization is a kustomization.yaml that lists resources.
type Kustomization struct {
	metav1.TypeMeta `json:",inline"`
	Resources       []string    `json:"resources"`
	SortOptions     SortOptions `json:"sortOptions"`
}

// SortOptions is how kustomize orders what it prints.
type SortOptions struct {
	Order string `json:"order"`
}

// NewKustomization returns a kustomization of resources: files and folders,
// relative to its own, in the order in which they are to be applied.
func NewKustomization(resources []string) *Kustomization {
	return &Kustomization{
		TypeMeta:    metav1.TypeMeta{APIVersion: "kustomize.config.k8s.io/v1beta1", Kind: "Kustomization"},
		Resources:   resources,
		SortOptions: SortOptions{Order: "fifo"},
	}
}

// Component is a kustomization.yaml that changes the resources of the
// kustomization which includes it.
type Component struct {
	metav1.TypeMeta `json:",inline"`
	Patches         []Patch       `json:"patches"`
	Replacements    []Replacement `json:"replacements"`
}

// Patch is a strategic merge patch, which names its object.
type Patch struct {
	Patch string `json:"patch"`
}

// Replacement copies a field of one object into fields of others.
type Replacement struct {
	Source  ReplacementSource   `json:"source"`
	Targets []ReplacementTarget `json:"targets"`
}

// ReplacementSource is the field that is copied.
type ReplacementSource struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	FieldPath string `json:"fieldPath"`
}

// ReplacementTarget is the fields that are replaced. They must exist.
type ReplacementTarget struct {
	Select     ObjectSelector `json:"select"`
	FieldPaths []string       `json:"fieldPaths"`
}

// ObjectSelector selects all objects of a kind.
type ObjectSelector struct {
	Kind string `json:"kind"`
}

// NewComponent returns a component that changes nothing.
func NewComponent() *Component {
	return &Component{TypeMeta: metav1.TypeMeta{APIVersion: "kustomize.config.k8s.io/v1alpha1", Kind: "Component"}}
}

// Canonical returns an amount in the one form that Kubernetes itself prints,
// whatever form it was written in: "1k" for "1000".
func Canonical(amount resource.Quantity) resource.Quantity {
	format := amount.Format
	amount = amount.DeepCopy()
	// Arithmetic drops the text that a parsed quantity remembers, and the
	// format of a zero.
	amount.Add(resource.Quantity{})
	amount.Format = format
	return amount
}
