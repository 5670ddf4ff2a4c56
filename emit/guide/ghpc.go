package guide

import (
	"go.yaml.in/yaml/v2"

	"github.com/batchwright/batchwright/compiler/ir"
)

// ghpcArtifact returns the artefact that makes Cluster Toolkit's gcluster accept the
// platform's folder as one of its own deploy folders: the expanded blueprint (type
// Blueprint of its pkg/config). `gcluster deploy` rejects unknown fields, and runs
// Terraform in the folder of every group. Each group needs at least one module. gcluster
// reads the module's kind and never opens its source.
func ghpcArtifact(p *ir.Platform) ([]byte, error) {
	name := "network"
	if !p.OwnsCluster() {
		name = "cluster"
	}
	module := func(id, source string) object { return object{"id": id, "kind": "terraform", "source": source} }
	groups := []object{{
		"group": "terraform",
		"modules": []object{
			module(name, "./terraform/modules/"+name),
			module("platform", "./terraform"), // the root itself
		},
	}}
	if p.ToolkitApplies() {
		groups = append(groups, object{"group": ir.ToolkitGroup, "modules": []object{
			module("release", "./"+ir.ToolkitGroup+"/modules/release"),
			module("manifests", "./"+ir.ToolkitGroup),
		}})
	}
	return yaml.Marshal(object{
		"blueprint_name":    p.Name,
		"vars":              object{"deployment_name": p.Name, "project_id": p.Project, "region": p.Region},
		"deployment_groups": groups,
	})
}

// Owner identifies the platform to which a deploy folder belongs.
type Owner struct {
	Name    string `yaml:"deployment_name"`
	Project string `yaml:"project_id"`
}

// ReadOwner reads it from the content of emit.IdentityPath. The error says that the content has
// another form.
func ReadOwner(artefact []byte) (Owner, error) {
	var blueprint struct {
		Vars Owner `yaml:"vars"`
	}
	err := yaml.Unmarshal(artefact, &blueprint)
	return blueprint.Vars, err
}
