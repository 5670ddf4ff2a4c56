package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler/exports"
)

// schema is a part of the schema of a CRD.
type schema struct {
	Type                 string
	Default              any
	Properties           map[string]schema
	Items                *schema
	AdditionalProperties *schema
	ListType             string                  `json:"x-kubernetes-list-type"`
	MapType              string                  `json:"x-kubernetes-map-type"`
	ListKeys             []string                `json:"x-kubernetes-list-map-keys"`
	Rules                []struct{ Rule string } `json:"x-kubernetes-validations"`
}

// comparedKinds are the kinds of Kueue whose tables must be complete.
var comparedKinds = []string{
	"AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ProvisioningRequestConfig", "ResourceFlavor", "Topology",
	"WorkloadPriorityClass",
}

// kueueSchemas returns the schemas of v1beta2 by kind.
func kueueSchemas(t *testing.T) map[string]schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "config/components/crd/bases/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]schema{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema schema }
				}
			}
		}
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			if v.Name == "v1beta2" && slices.Contains(comparedKinds, crd.Spec.Names.Kind) {
				out[crd.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
			}
		}
	}
	if len(out) != len(comparedKinds) {
		t.Fatalf("found the kinds %v", slices.Sorted(maps.Keys(out)))
	}
	return out
}

// each yields a schema and all schemas below it, with their paths.
func (s schema) each(path string, yield func(path string, s schema)) {
	yield(path, s)
	for name, p := range s.Properties {
		if path != "" || name != "status" {
			p.each(joinPath(path, name), yield)
		}
	}
	if s.Items != nil {
		s.Items.each(path, func(p string, below schema) {
			if p != path || below.Type == "object" && len(below.Properties) > 0 {
				yield(p, below)
			}
		})
	}
}

// TestTablesOfKueue: the tables of lists, maps, defaults and immutable fields agree with
// the CRDs.
func TestTablesOfKueue(t *testing.T) {
	for kind, s := range kueueSchemas(t) {
		lists, maps := map[string]string{}, []string{}
		s.each("", func(path string, s schema) {
			switch {
			case s.MapType == "atomic":
				maps = append(maps, path)
			case s.Type == "array" && s.ListType == "set":
				lists[path] = ""
			case s.Type == "array" && s.ListType == "map" && !strings.Contains(path, "resourceGroups."):
				lists[path] = s.ListKeys[0]
			}
			for _, r := range s.Rules {
				if strings.Contains(r.Rule, "oldSelf") && !slices.ContainsFunc(immutables, func(i immutable) bool {
					return i.kind == kind && (i.field == path || path == "spec" && i.when != "")
				}) {
					t.Errorf("%s: %s is immutable: %s", kind, path, r.Rule)
				}
			}
		})
		if got := mergedLists[kind]; len(got)+len(lists) > 0 && !reflect.DeepEqual(got, lists) {
			t.Errorf("%s: the merged lists are %v, want %v", kind, got, lists)
		}
		if got := atomicMaps[kind]; len(got)+len(maps) > 0 && !slices.Equal(got, maps) {
			t.Errorf("%s: the atomic maps are %v, want %v", kind, got, maps)
		}
	}
}

// TestDefaultsOfKueue: the importer sets the defaults of the CRDs.
func TestDefaultsOfKueue(t *testing.T) {
	for kind, s := range kueueSchemas(t) {
		if kind == "WorkloadPriorityClass" { // it has no spec
			continue
		}
		var set func(fields map[string]any, s schema)
		set = func(fields map[string]any, s schema) {
			for name, p := range s.Properties {
				if fields[name] == nil && p.Default != nil {
					fields[name] = deepCopy(p.Default)
				}
				if below, ok := fields[name].(map[string]any); ok {
					set(below, p)
				}
			}
		}
		for _, spec := range []map[string]any{
			{}, {"fairSharing": map[string]any{}},
			{"preemption": map[string]any{"borrowWithinCohort": map[string]any{}}},
		} {
			got, want := map[string]any{"spec": deepCopy(spec)}, map[string]any{"spec": deepCopy(spec)}
			exports.SetDefaults(kind, got)
			set(want["spec"].(map[string]any), s.Properties["spec"])
			if canonical(t, got) != canonical(t, want) {
				t.Errorf("%s: got %s, want %s", kind, canonical(t, got), canonical(t, want))
			}
		}
	}
}

// canonical returns a value as JSON with all numbers as texts.
func canonical(t *testing.T, v any) string {
	t.Helper()
	var text func(v any) any
	text = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for name, below := range v {
				out[name] = text(below)
			}
			return out
		case string, nil:
			return v
		}
		return fmt.Sprint(v)
	}
	content, err := json.Marshal(text(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestNamesOfBuild holds the names of the build in the tables and notes: a golden build has
// the steps, applies as the field manager, and sets the annotation.
func TestNamesOfBuild(t *testing.T) {
	build, err := os.ReadFile("../../../golden/batch-platform/cloudbuild/provision.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"--field-manager=" + buildManager + " ", `"annotations":{"` + drained + `":"true"}`, "\n  id: retire\n",
	}
	for _, i := range immutables {
		if i.step != "" {
			want = append(want, "\n  id: "+i.step+"\n")
		}
	}
	for _, text := range want {
		if !strings.Contains(string(build), text) {
			t.Errorf("the build has no %q", text)
		}
	}
}
