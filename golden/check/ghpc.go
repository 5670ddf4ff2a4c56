package check

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

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
	calls, err := readBlocks(folder, name, "module")
	return err == nil && len(calls) > 0
}
