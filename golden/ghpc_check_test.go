package golden_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"sigs.k8s.io/yaml"
)

// ghpcArtefact is the file by which gcluster recognises its own folders.
const ghpcArtefact = ".ghpc/artifacts/expanded_blueprint.yaml"

// ghpcBlueprint has exactly the keys that gcluster v1.95 decodes.
type ghpcBlueprint struct {
	BlueprintName            string         `json:"blueprint_name"`
	GhpcVersion              string         `json:"ghpc_version"`
	Validators               []any          `json:"validators"`
	ValidationLevel          int            `json:"validation_level"`
	Vars                     map[string]any `json:"vars"`
	DeploymentGroups         []ghpcGroup    `json:"deployment_groups"`
	TerraformBackendDefaults any            `json:"terraform_backend_defaults"`
	TerraformProviders       map[string]any `json:"terraform_providers"`
	ToolkitModulesURL        string         `json:"toolkit_modules_url"`
	ToolkitModulesVersion    string         `json:"toolkit_modules_version"`
}

type ghpcGroup struct {
	Group              string         `json:"group"`
	TerraformBackend   any            `json:"terraform_backend"`
	TerraformProviders map[string]any `json:"terraform_providers"`
	Modules            []ghpcModule   `json:"modules"`
}

type ghpcModule struct {
	Source   string         `json:"source"`
	Kind     string         `json:"kind"`
	ID       string         `json:"id"`
	Use      []string       `json:"use"`
	Outputs  []any          `json:"outputs"`
	Settings map[string]any `json:"settings"`
}

var (
	ghpcLabel     = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{1,63}$`)
	ghpcGroupName = regexp.MustCompile(`^\w(-*\w)*$`)
)

// checkGhpc checks the requirements of `gcluster deploy` for a deploy folder. The
// artefact decodes strictly. Every group has a name that gcluster accepts, a folder
// of that name with Terraform in it, and modules of kind terraform with unique
// names, which are in the folder. No value is one of gcluster's expressions. The
// file to which gcluster points at the end exists.
//
// checkGhpc also requires that every group calls a module: gcluster first tries
// `terraform init -backend=false -get=false`, and initializes the backend only if
// that fails, as it does if a module has never been fetched. Source: Cluster
// Toolkit, pkg/shell/terraform.go, needsInit.
func checkGhpc(folder fs.FS) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(ghpcArtefact+": "+format, args...)) }

	content, err := fs.ReadFile(folder, ghpcArtefact)
	if err != nil {
		return []error{err}
	}
	var b ghpcBlueprint
	if err := yaml.UnmarshalStrict(content, &b); err != nil {
		fail("%w", err)
		return errs
	}
	if !ghpcLabel.MatchString(b.BlueprintName) {
		fail("blueprint_name %q is no label value", b.BlueprintName)
	}
	if name, _ := b.Vars["deployment_name"].(string); !ghpcLabel.MatchString(name) {
		fail("deployment_name %q is no label value", name)
	}
	for _, key := range slices.Sorted(maps.Keys(b.Vars)) {
		if s, _ := b.Vars[key].(string); strings.Contains(s, "$(") || strings.Contains(s, "((") {
			fail("%s is an expression: %q", key, s)
		}
	}
	if _, err := fs.Stat(folder, "instructions.txt"); err != nil {
		errs = append(errs, err)
	}
	if len(b.DeploymentGroups) == 0 {
		fail("no group")
	}
	seen := map[string]bool{}
	for _, g := range b.DeploymentGroups {
		if !ghpcGroupName.MatchString(g.Group) || g.Group == "_modules" {
			fail("gcluster does not take the group name %q", g.Group)
			continue
		}
		if seen[g.Group] {
			fail("group %s stands twice", g.Group)
		}
		seen[g.Group] = true
		found, err := fs.Glob(folder, path.Join(g.Group, "*.tf"))
		if err != nil || len(found) == 0 {
			fail("group %s has no folder with Terraform", g.Group)
		} else if !slices.ContainsFunc(found, func(name string) bool { return callsModule(folder, name) }) {
			fail("group %s calls no module: gcluster would not initialize its backend", g.Group)
		}
		if len(g.Modules) == 0 {
			fail("group %s has no module", g.Group)
		}
		for _, m := range g.Modules {
			if m.ID == "" || seen["module "+m.ID] {
				fail("module %q of group %s has no name of its own", m.ID, g.Group)
			}
			seen["module "+m.ID] = true
			if m.Kind != "terraform" {
				fail("module %s is of kind %q, want terraform", m.ID, m.Kind)
			}
			found, err := fs.Glob(folder, path.Join(m.Source, "*.tf"))
			if m.Source == "" || err != nil || len(found) == 0 {
				fail("module %s: there is no Terraform in its source %q", m.ID, m.Source)
			}
		}
	}
	return errs
}

// callsModule reports whether a Terraform file has a module block.
func callsModule(folder fs.FS, name string) bool {
	source, err := fs.ReadFile(folder, name)
	if err != nil {
		return false
	}
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	if diags.HasErrors() {
		return false
	}
	blocks := file.Body.(*hclsyntax.Body).Blocks
	return slices.ContainsFunc(blocks, func(b *hclsyntax.Block) bool { return b.Type == "module" })
}

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
