package kubeyaml

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/emit/hostile"
)

// everyKind is a struct with what objects can consist of, apart from the Kubernetes
// types.
type everyKind struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta           `json:"metadata"`
	Text            string                      `json:"text"`
	Omitted         string                      `json:"omitted,omitempty"`
	Number          int32                       `json:"number"`
	Float           float64                     `json:"float,omitempty"`
	Unsigned        uint8                       `json:"unsigned,omitempty"`
	Truth           *bool                       `json:"truth"`
	Strings         []string                    `json:"strings"`
	Lists           [][]string                  `json:"lists,omitempty"`
	Bytes           []byte                      `json:"bytes,omitempty"`
	Map             map[string]string           `json:"map"`
	Deep            map[string]map[string]any   `json:"deep,omitempty"`
	Structs         []corev1.EnvVar             `json:"structs,omitempty"`
	Pointers        []*corev1.EnvVar            `json:"pointers,omitempty"`
	Spec            corev1.EmptyDirVolumeSource `json:"spec"`
	Status          string                      `json:"status"`
	Quantity        resource.Quantity           `json:"quantity"`
	Limits          corev1.ResourceList         `json:"limits,omitempty"`
	Port            intstr.IntOrString          `json:"port"`
	Duration        *metav1.Duration            `json:"duration,omitempty"`
	Time            metav1.Time                 `json:"time,omitzero"`
	Least           *resource.Quantity          `json:"least,omitzero"`
	Plain           int
	Hidden          string `json:"-"`
}

// FuzzPrinter holds the printer against the libraries: whatever an object holds, the
// printer prints what they print, or gives up.
func FuzzPrinter(f *testing.F) {
	texts := hostile.Texts()
	for i, s := range texts {
		f.Add(s, texts[(i+1)%len(texts)], i)
	}
	for i, s := range []string{
		"20", "020", "4Gi", "4GI", "500m", "a b", "a:b", "a: b", "a #b", "a#b", "Yes", "yEs", "null", "x\n",
		"x\ny", "x\n\ty",
		"x\n\n", "/x", "lq-a=low, lq-b=high " + strings.Repeat("word ", 30) + "end", strings.Repeat("a", 130), "a  b",
		"team-2", "team-10", "team-010", "team-1x", "a.b/c", "a/b.c", "99999999999999999999", "1e3", "2x4", "a'\"b",
		"--a", "---a", "--1", "-a", "-inf", "$(A)", "(a)", "_a", ":80",
	} {
		f.Add(s, texts[i%len(texts)], i)
		f.Add(texts[i%len(texts)], s, -i)
	}
	f.Fuzz(func(t *testing.T, a, b string, n int) {
		if haveCircle(a, b, "team-2", "team-10", "k", "spec", "nil") {
			t.Skip("the libraries print such keys in any order")
		}
		object := newEveryKind(a, b, n)
		holdPrinter(t, object)
		object.Float, object.Unsigned = float64(n)/3, uint8(n)
		object.Bytes, object.Lists = []byte(a), [][]string{{a}, nil}
		object.Duration = &metav1.Duration{Duration: 30 * time.Second}
		holdPrinter(t, object)
	})
}

// haveCircle reports whether compareKeys does not order the keys.
func haveCircle(keys ...string) bool {
	for _, a := range keys {
		for _, b := range keys {
			for _, c := range keys {
				if compareKeys(a, b) < 0 && compareKeys(b, c) < 0 && compareKeys(a, c) >= 0 {
					return true
				}
			}
		}
	}
	return false
}

// TestPrinterCircle: keys without an order are printed alike every time.
func TestPrinterCircle(t *testing.T) {
	if !haveCircle("n1x", "n2", "n10") {
		t.Fatal("the keys have an order")
	}
	printed := map[string]bool{}
	for range 100 {
		p := &printer{}
		if !p.tryObject(&corev1.ConfigMap{Data: map[string]string{"n1x": "a", "n2": "b", "n10": "c", "k": "d"}}) {
			t.Fatal("the printer gives up")
		}
		printed[string(p.out)] = true
	}
	if len(printed) != 1 {
		t.Errorf("%d outputs, want 1", len(printed))
	}
}

// newEveryKind returns an object with two texts and a number. The bits of the number
// decide which kinds of values the object holds.
func newEveryKind(a, b string, n int) *everyKind {
	truth := n%2 == 0
	object := &everyKind{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Every"}, Metadata: metav1.ObjectMeta{Name: a},
		Text: b, Omitted: a, Number: int32(n), Truth: &truth, Strings: []string{a, b, ""}, Plain: n,
		Map:     map[string]string{a: b, b: a, "team-2": a, "team-10": b, "k": "x " + a},
		Structs: []corev1.EnvVar{{Name: a, Value: b}, {}, {Name: "x " + b}},
		Port:    intstr.FromString(b),
	}
	object.Quantity = *resource.NewMilliQuantity(int64(n), resource.DecimalSI)
	variant := func(bit uint) bool { return n>>bit&1 == 1 }
	if variant(1) {
		object.Strings, object.Map, object.Truth = nil, nil, nil
	}
	if variant(2) {
		object.Deep = map[string]map[string]any{
			a: {"spec": map[string]any{}, b: []any{a, nil, map[string]any{"metadata": map[string]any{}}}},
			b: {}, "nil": nil,
		}
	}
	if variant(3) {
		object.Limits = corev1.ResourceList{
			"cpu": resource.MustParse("2000m"), corev1.ResourceName(a): object.Quantity,
		}
		object.Port = intstr.FromInt32(int32(n))
		object.Least = &resource.Quantity{}
		object.Pointers = []*corev1.EnvVar{nil, {Name: a}}
		object.Spec.Medium = corev1.StorageMedium(a)
	}
	if variant(4) {
		object.Strings, object.Map = []string{}, map[string]string{}
		object.Metadata = metav1.ObjectMeta{}
	}
	return object
}

// TestPrinterKnows: the printer itself prints every kind of value that it should know.
func TestPrinterKnows(t *testing.T) {
	for n := range 32 {
		if !holdPrinter(t, newEveryKind("team-a", "one text", n)) {
			t.Errorf("%d: the printer gives up", n)
		}
	}
}

// holdPrinter checks that the printer prints an object as the libraries do, or gives
// up. It returns whether it printed the object.
func holdPrinter(t *testing.T, object any) bool {
	t.Helper()
	p := &printer{}
	ok := p.tryObject(object)
	if !ok {
		return false
	}
	want, err := printByLibrary(object)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(want), string(p.out)); d != "" {
		t.Errorf("the printer differs (-libraries +printer):\n%s", d)
	}
	return true
}

// TestPrinter holds the printer against the libraries with objects of a folder, which
// it must print itself.
func TestPrinter(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "team-a"}}
	lending := resource.MustParse("1500m")
	for _, object := range []any{
		&Fields{
			"kind": "Configuration", "spec": Fields{}, "port": 8443, "gates": map[string]bool{"A": true},
			"lists": []Fields{{"name": "a", "selector": selector}, {"n10": 1, "n2": int64(2)}}, "none": nil,
		},
		NewObject("v1", "Custom", metav1.ObjectMeta{Name: "a"}, Fields{"limit": -1, "names": []string{"a", "b"}}),
		&corev1.Namespace{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: Labels("gke-batch"), Annotations: map[string]string{
				"queues": strings.Repeat("lq-team-a-high=high, ", 12) + "lq-team-a-low=low",
			}},
		},
		&v1beta2.ClusterQueue{
			TypeMeta:   metav1.TypeMeta{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "ClusterQueue"},
			ObjectMeta: metav1.ObjectMeta{Name: "cq"},
			Spec: v1beta2.ClusterQueueSpec{NamespaceSelector: selector, ResourceGroups: []v1beta2.ResourceGroup{{
				CoveredResources: []corev1.ResourceName{"cpu", "memory"},
				Flavors: []v1beta2.FlavorQuotas{{Name: "l4", Resources: []v1beta2.ResourceQuota{
					{Name: "cpu", NominalQuota: resource.MustParse("20"), LendingLimit: &lending},
					{Name: "memory", NominalQuota: resource.MustParse("1024Mi")},
				}}},
			}}},
		},
		&corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			Data: map[string]string{
				"run.sh": "#!/bin/sh\nif true; then\n\techo \"$1\"\nfi\n", "ports": "http, https",
				"rule": "!(a in ['b']): " + strings.Repeat("word ", 30) + "end",
				"wait": "30s", "set": "True", "flag": "--nodes=$(NODES)",
			},
		},
		&Kustomization{Resources: []string{"a.yaml", "b"}},
	} {
		if !holdPrinter(t, object) {
			t.Errorf("the printer gives up:\n%v", object)
		}
	}
}

// TestPrinterGivesUp: everything that the printer does not know goes to the libraries.
func TestPrinterGivesUp(t *testing.T) {
	for _, object := range []any{
		"text", corev1.Pod{}, (*corev1.Pod)(nil), &struct{}{},
		&struct{ Float float64 }{0.5}, &struct{ Bytes []byte }{[]byte("x")},
		&struct{ Lists [][]string }{[][]string{{}}},
		&struct{ hidden int }{1}, &struct{ *metav1.TypeMeta }{}, &corev1.ConfigMap{Data: map[string]string{"a": "é"}},
		&corev1.ConfigMap{Data: map[string]string{"no": ""}}, &corev1.ConfigMap{Data: map[string]string{"a": "0x1F"}},
	} {
		p := &printer{}
		if p.tryObject(object) {
			t.Errorf("%#v: the printer prints %q", object, p.out)
		}
	}
}

// TestSortKeys holds the order of every two keys against the library, which sorts more
// than two keys with circles differently in every run.
func TestSortKeys(t *testing.T) {
	keys := []string{
		"a", "b", "A", "team-2", "team-10", "team-010", "team-02", "team-1x", "n1x", "n2", "n10", "a.b/c", "a/b.c",
		"a-b",
		"a_b", "a0", "a00", "a1", "a10", "a100b", "a100", "0", "10", "9", "-", "x-1", "x-01", "x1y2", "x1y10", "z",
	}
	for _, a := range keys {
		for _, b := range keys {
			if a == b {
				continue
			}
			printed, err := yaml.Marshal(map[string]string{a: "", b: ""})
			if err != nil {
				t.Fatal(err)
			}
			first := sortKeys([]string{a, b})[0]
			var want yaml.MapSlice
			if err := yaml.Unmarshal(printed, &want); err != nil || fmt.Sprint(want[0].Key) != first {
				t.Errorf("of %q and %q, the library prints %v first, %v", a, b, want[0].Key, err)
			}
		}
	}
}
