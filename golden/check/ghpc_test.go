package check

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCheckGhpc(t *testing.T) {
	const good = `blueprint_name: gke-batch
deployment_groups:
- group: terraform
  modules:
  - id: platform
    kind: terraform
    source: ./terraform
vars:
  deployment_name: gke-batch
  project_id: my-project
`
	tests := []struct {
		name, old, new string
		want           string // in an error; "" for none
	}{
		{name: "good"},
		{"unknown key", "vars:", "more: 1\nvars:", `unknown field "more"`},
		{"unknown key of a group", "  modules:", "  kind: terraform\n  modules:", `unknown field "kind"`},
		{"key stands twice", "vars:", "blueprint_name: x\nvars:", `"blueprint_name" already set`},
		{"no name", "blueprint_name: gke-batch", `blueprint_name: ""`, "is no label value"},
		{"no deployment name", "  deployment_name: gke-batch\n", "", "deployment_name"},
		{"expression", "project_id: my-project", "project_id: $(vars.x)", "is an expression"},
		{"no group", good[strings.Index(good, "- group"):strings.Index(good, "vars:")], "", "no group"},
		{"group of another folder", "group: terraform", "group: primary", "no folder with Terraform"},
		{"bad group", "group: terraform", "group: .ghpc", "does not take the group name"},
		{"no module", "  - id: platform\n    kind: terraform\n    source: ./terraform\n", "", "has no module"},
		{"other kind", "kind: terraform", "kind: packer", `kind "packer"`},
		{"no source", "    source: ./terraform\n", "", "no Terraform in its source"},
		{
			"source of nothing", "source: ./terraform", "source: ./terraform/modules/network",
			"no Terraform in its source",
		},
		{"no id", "id: platform", `id: ""`, "no name of its own"},
		{"no file", good, "", "blueprint_name"},
	}
	for _, tt := range tests {
		if !strings.Contains(good, tt.old) {
			t.Fatalf("%s: %q is not in the artefact", tt.name, tt.old)
		}
		folder := fstest.MapFS{
			ghpcArtefact:       {Data: []byte(strings.Replace(good, tt.old, tt.new, 1))},
			"instructions.txt": {Data: []byte("See README.md.\n")},
			"terraform/a.tf":   {Data: []byte("module \"network\" {\n  source = \"./network\"\n}\n")},
			"primary/readme":   {Data: []byte("no Terraform\n")},
			"kubernetes/x.tf":  {Data: []byte("\n")},
		}
		wantError(t, tt.name, checkGhpc(folder), tt.want)
	}
	alone := fstest.MapFS{
		ghpcArtefact:     {Data: []byte(good)},
		"terraform/a.tf": {Data: []byte("resource \"module\" \"network\" {\n}\n")},
	}
	wantError(t, "no module is called", checkGhpc(alone), "calls no module")
	wantError(t, "no instructions", checkGhpc(alone), "instructions.txt")
	wantError(t, "absent", checkGhpc(fstest.MapFS{}), "file does not exist")
}

// wantError checks that one of the errors contains want, or that there are none if
// want is "".
func wantError(t *testing.T, name string, errs []error, want string) {
	t.Helper()
	if want == "" {
		if len(errs) > 0 {
			t.Errorf("%s: %v, want no error", name, errs)
		}
		return
	}
	if !slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), want) }) {
		t.Errorf("%s: %v, want an error with %q", name, errs, want)
	}
}
