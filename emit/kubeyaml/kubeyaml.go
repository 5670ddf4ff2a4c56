// Package kubeyaml prints Kubernetes objects as YAML, in the same form for every manifest of
// the deploy folder. Typed objects go in, and Fields where no light module has the types; bytes
// and files come out.
//
// It is a separate package because several emitters print Kubernetes objects and
// emitters do not import each other.
package kubeyaml

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Marshal prints one or more objects in the given order, each as one YAML document.
// Every object is a pointer to a struct with JSON tags, such as a typed API object, or Fields.
//
// The output is that of sigs.k8s.io/yaml without the fields that only the Go types
// add: the status and empty structs. Keys are sorted, and quantities are in
// canonical form.
func Marshal(objects ...any) ([]byte, error) {
	p := printers.Get().(*printer)
	defer printers.Put(p)
	p.out = p.out[:0]
	for i, object := range objects {
		if i > 0 {
			p.out = append(p.out, "---\n"...)
		}
		if fields, ok := object.(Fields); ok {
			object = &fields
		}
		start := len(p.out)
		if p.tryObject(object) {
			continue
		}
		document, err := printByLibrary(object)
		if err != nil {
			return nil, err
		}
		p.out = append(p.out[:start], document...)
	}
	return bytes.Clone(p.out), nil
}

// printByLibrary prints any object. The converter and the printer of the libraries do
// the same as sigs.k8s.io/yaml.Marshal, without the JSON text in between, which takes
// more time than both.
func printByLibrary(object any) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("kubeyaml: converting %T: %w", object, err)
	}
	if _, plain := object.(*Fields); !plain {
		delete(fields, "status")
	}
	dropEmpty(fields)
	document, err := printReadably(fields)
	if err != nil {
		return nil, fmt.Errorf("kubeyaml: printing %T: %w", object, err)
	}
	return document, nil
}

// dropEmpty removes every empty metadata and spec below value, and the empty
// interface matcher of a GKE Network. In their APIs these are structs, not pointers,
// so that an empty one never differs from a missing one. Other empty objects, such
// as emptyDir, have a meaning and stay.
func dropEmpty(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			dropEmpty(child)
			if fields, ok := child.(map[string]any); ok && len(fields) == 0 && isDroppable(key) {
				delete(value, key)
			}
		}
	case []any:
		for _, child := range value {
			dropEmpty(child)
		}
	}
}

// isDroppable reports whether dropEmpty removes a field with this name.
func isDroppable(name string) bool {
	return name == "metadata" || name == "spec" || name == "nodeInterfaceMatcher"
}

// printReadably prints fields as YAML. A text of several lines becomes a block scalar,
// which shows it as it is. The printer takes tabs, which many scripts have, for
// characters that cannot be printed, and would put the text on one line with escapes.
// So a character that occurs nowhere in the fields replaces the tabs while it prints.
func printReadably(fields map[string]any) ([]byte, error) {
	tabs, used := false, map[rune]bool{}
	eachText(fields, func(text string) string {
		tabs = tabs || isTabbedBlock(text)
		for _, r := range text {
			if r >= firstPrivate {
				used[r] = true
			}
		}
		return text
	})
	if !tabs {
		return yaml.Marshal(inOrder(fields))
	}
	placeholder := firstPrivate
	for used[placeholder] {
		placeholder++
	}
	eachText(fields, func(text string) string {
		if isTabbedBlock(text) {
			return strings.ReplaceAll(text, "\t", string(placeholder))
		}
		return text
	})
	document, err := yaml.Marshal(inOrder(fields))
	return bytes.ReplaceAll(document, []byte(string(placeholder)), []byte("\t")), err
}

// inOrder returns a value whose maps have their keys in the order of sortKeys. The
// library would order them in the same way, but from an order that differs between runs.
func inOrder(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(yaml.MapSlice, 0, len(value))
		for _, key := range sortKeys(slices.Collect(maps.Keys(value))) {
			out = append(out, yaml.MapItem{Key: key, Value: inOrder(value[key])})
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = inOrder(element)
		}
		return out
	}
	return value
}

// firstPrivate and lastPrivate are the characters that Unicode leaves to private use.
const firstPrivate, lastPrivate = '\uE000', '\uF8FF'

// isTabbedBlock reports whether a text can be a block scalar with tabs: it has several
// lines, and every other character can be printed. A tab at the start would count as
// the indentation of the block, which YAML forbids. The printer quotes a text with a
// space at the end of a line, because editors and hooks remove such spaces.
func isTabbedBlock(text string) bool {
	if !strings.Contains(text, "\n") || !strings.Contains(text, "\t") || strings.HasSuffix(text, " ") ||
		strings.Contains(text, " \n") || strings.HasPrefix(strings.TrimLeft(text, " \n"), "\t") {
		return false
	}
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		ascii := r == '\n' || r == '\t' || ' ' <= r && r <= '~'
		return !ascii && (!unicode.IsPrint(r) || r > lastPrivate)
	})
}

// eachText replaces every text below value with what f returns for it. It also calls f
// for the keys of maps, which it does not replace.
func eachText(value any, f func(string) string) any {
	switch value := value.(type) {
	case string:
		return f(value)
	case map[string]any:
		for key, child := range value {
			f(key)
			value[key] = eachText(child, f)
		}
	case []any:
		for i, child := range value {
			value[i] = eachText(child, f)
		}
	}
	return value
}

// Labels returns a new map with the labels that every object of a platform has.
func Labels(platform string) map[string]string {
	return map[string]string{ir.LabelManagedBy: ir.ManagedBy, ir.LabelPartOf: platform}
}

// Meta returns the metadata of an object of a platform. Its labels are a new map, to
// which the caller may add. The namespace is "" for a cluster-scoped object.
func Meta(platform, namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: Labels(platform)}
}

// Kind returns the type metadata of an object.
func Kind(group schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: group.String(), Kind: kind}
}

// TeamNamespaces returns a selector of the namespaces of a platform's teams.
func TeamNamespaces(platform string) *metav1.LabelSelector {
	return &metav1.LabelSelector{
		MatchLabels: map[string]string{ir.LabelPartOf: platform},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: ir.LabelTeam, Operator: metav1.LabelSelectorOpExists},
		},
	}
}

// Fields are the fields of an object, or of a part of it, for which there is no published Go
// type. Marshal sorts them by their names.
type Fields = map[string]any

// Object is an object of a kind that has no published Go type.
type Object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              Fields `json:"spec"`
}

// NewObject returns an object of a kind that has no published Go type.
func NewObject(apiVersion, kind string, meta metav1.ObjectMeta, spec Fields) *Object {
	return &Object{metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}, meta, spec}
}

// Manifest is a file of objects. Its name is a path, relative to the path of the
// kustomization that lists it. A manifest without objects produces no file.
type Manifest struct {
	Name    string
	Objects []any
}

// Files returns the files of the manifests below a folder, in their order.
func Files(folder string, manifests ...Manifest) ([]emit.File, error) {
	files := make([]emit.File, 0, len(manifests))
	for _, m := range manifests {
		if len(m.Objects) == 0 {
			continue
		}
		content, err := Marshal(m.Objects...)
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: path.Join(folder, m.Name), Content: content})
	}
	return files, nil
}

// Names returns the names of the manifests that have objects.
func Names(manifests []Manifest) []string {
	var names []string
	for _, m := range manifests {
		if len(m.Objects) > 0 {
			names = append(names, m.Name)
		}
	}
	return names
}

// Tolerations returns a toleration for each taint, or nil without taints. Kueue
// compares tolerations as they are written: if a pod's tolerations differ in
// spelling from the flavor's, Kueue adds the flavor's. Therefore every field is
// written out.
func Tolerations(taints []ir.Taint) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range taints {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
		})
	}
	return out
}

// KustomizationFile is the name of the file that lists the files of its folder.
const KustomizationFile = "kustomization.yaml"

// Kustomization is a kustomization.yaml that lists resources.
type Kustomization struct {
	metav1.TypeMeta `json:",inline"`
	Resources       []string `json:"resources"`
}

// NewKustomization returns a kustomization of resources. Resources are files and
// folders, relative to the kustomization. Kustomize sorts their objects: namespaces
// come first, and what an object refers to, such as a ServiceAccount or a ConfigMap,
// comes before it. An order in the kustomization itself would make every
// "kubectl apply -k" print a warning, because kubectl asks for this order too.
func NewKustomization(resources []string) *Kustomization {
	return &Kustomization{
		TypeMeta:  metav1.TypeMeta{APIVersion: "kustomize.config.k8s.io/v1beta1", Kind: "Kustomization"},
		Resources: resources,
	}
}

// ListFiles returns the file that lists files and folders beside it.
func ListFiles(names ...string) Manifest {
	return Manifest{Name: KustomizationFile, Objects: []any{NewKustomization(names)}}
}

// Canonical returns an amount in the form that Kubernetes itself prints, for example
// "1k" for "1000".
func Canonical(amount resource.Quantity) resource.Quantity {
	format := amount.Format
	amount = amount.DeepCopy()
	// Arithmetic drops the original text that a parsed quantity caches, and the
	// format of a zero.
	amount.Add(resource.Quantity{})
	amount.Format = format
	return amount
}
