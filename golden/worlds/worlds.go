// Package worlds makes random sets of Kueue's objects, imports them, and compares them with the objects
// that the imported blueprint compiles to. Its test compares 50 sets. A test in rehearse/admission
// compares 1,000, and lets Kueue's own validation judge both sides: that requires Kueue's code, which
// this module does not depend on.
package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/emit/kubernetes"
)

const separator = "\n---\n"

// Random returns a random world: YAML documents with objects of Kueue that Kueue accepts, and that use
// the fields that import supports. A seed always gives the same world.
func Random(seed uint64) ([]byte, error) {
	var out [][]byte
	for _, o := range newWorld(seed).objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return bytes.Join(out, []byte(separator)), nil
}

// Recompile imports files, and returns the objects of Kubernetes that the imported blueprint compiles
// to, as YAML documents. Errors among the findings are an error.
func Recompile(ctx context.Context, files ...exports.File) ([]byte, error) {
	imported, err := importer.Import(files, importer.Options{})
	if err != nil {
		return nil, err
	}
	if imported.Findings.HasErrors() {
		return nil, fmt.Errorf("import:\n%s", printFindings(&imported.Findings))
	}
	compiled, err := compiler.Compile(ctx, compiler.Input{
		Paths: []string{"platform.cue"}, Files: fstest.MapFS{"platform.cue": {Data: imported.Blueprint}},
	})
	if err != nil {
		return nil, err
	}
	if compiled.Plan == nil {
		return nil, fmt.Errorf("the imported blueprint does not compile:\n%s\n%s", imported.Blueprint,
			printFindings(&compiled.Findings))
	}
	emitted, err := kubernetes.Files(compiled.Plan)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, f := range emitted {
		out = append(out, f.Content)
	}
	return bytes.Join(out, []byte(separator)), nil
}

func printFindings(list *diag.List) string {
	var out bytes.Buffer
	diag.WriteText(&out, list, diag.TextOptions{})
	return out.String()
}

// Compare returns the differences between the objects of Kueue in two texts, a line for each. Labels,
// annotations, and other ways to write an amount or an empty list are no difference.
func Compare(was, is []byte) ([]string, error) {
	before, err := decode(was)
	if err != nil {
		return nil, err
	}
	after, err := decode(is)
	if err != nil {
		return nil, err
	}
	var differences differences
	cmp.Equal(before, after, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "Labels", "Annotations"),
		cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }), cmp.Reporter(&differences))
	slices.Sort(differences.lines)
	return differences.lines, nil
}

// decode returns the objects of Kueue in YAML documents, by kind, namespace and name.
func decode(text []byte) (map[string]any, error) {
	out := map[string]any{}
	for doc := range bytes.SplitSeq(text, []byte(separator)) {
		text, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, doc)
		}
		var head metav1.PartialObjectMetadata
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, doc)
		}
		object := map[string]any{
			"ClusterQueue": new(v1beta2.ClusterQueue), "LocalQueue": new(v1beta2.LocalQueue),
			"ResourceFlavor": new(v1beta2.ResourceFlavor), "Cohort": new(v1beta2.Cohort),
			"Topology": new(v1beta2.Topology), "WorkloadPriorityClass": new(v1beta2.WorkloadPriorityClass),
		}[head.Kind]
		if object == nil {
			continue
		}
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(object); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, doc)
		}
		if c, ok := object.(*v1beta2.Cohort); ok {
			sortGroups(c.Spec.ResourceGroups)
		}
		out[strings.Join([]string{head.Kind, head.Namespace, head.Name}, " ")] = object
	}
	return out, nil
}

// differences collects what cmp finds. Its lines are stable, unlike the output of cmp.Diff.
type differences struct {
	path  cmp.Path
	lines []string
}

func (d *differences) PushStep(step cmp.PathStep) { d.path = append(d.path, step) }

func (d *differences) PopStep() { d.path = d.path[:len(d.path)-1] }

func (d *differences) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	var place strings.Builder
	for _, step := range d.path {
		switch step := step.(type) {
		case cmp.MapIndex:
			fmt.Fprintf(&place, "[%s]", step.Key())
		case cmp.StructField:
			place.WriteString("." + step.Name())
		case cmp.SliceIndex:
			was, is := step.SplitKeys()
			fmt.Fprintf(&place, "[%d]", max(was, is))
		}
	}
	was, is := d.path.Last().Values()
	d.lines = append(d.lines, fmt.Sprintf("%s: %s -> %s", &place, printValue(was), printValue(is)))
}

// printValue prints a value as JSON.
func printValue(v reflect.Value) string {
	if !v.IsValid() {
		return "absent"
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return err.Error()
	}
	return string(text)
}
