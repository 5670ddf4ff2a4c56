package guide

import (
	"go.yaml.in/yaml/v2"

	"github.com/batchwright/batchwright/compiler/ir"
)

// expandedBlueprint is the blueprint that Cluster Toolkit's gcluster stores in a
// deploy folder (its pkg/config, type Blueprint). `gcluster deploy` rejects unknown
// fields, and runs Terraform in the folder of every group. The printer keeps the order of
// the fields of these types, so the fields stand in the order of their names.
type expandedBlueprint struct {
	BlueprintName    string            `yaml:"blueprint_name"`
	DeploymentGroups []deploymentGroup `yaml:"deployment_groups"`
	Vars             map[string]string `yaml:"vars"`
}

// deploymentGroup is a Terraform root: the folder with the name of the group.
type deploymentGroup struct {
	Group   string          `yaml:"group"`
	Modules []toolkitModule `yaml:"modules"`
}

// toolkitModule is a Terraform module of a group. Every group needs at least one
// module. gcluster reads the module's kind and never opens its source.
type toolkitModule struct {
	ID     string `yaml:"id"`
	Kind   string `yaml:"kind"`
	Source string `yaml:"source"`
}

// ghpcArtifact returns the artefact that makes gcluster accept the platform's folder
// as one of its own deploy folders.
func ghpcArtifact(p *ir.Platform) ([]byte, error) {
	module := "network"
	if !p.OwnsCluster() {
		module = "cluster"
	}
	return yaml.Marshal(expandedBlueprint{
		BlueprintName: p.Name,
		Vars: map[string]string{
			"deployment_name": p.Name,
			"project_id":      p.Project,
			"region":          p.Region,
		},
		DeploymentGroups: []deploymentGroup{{
			Group: "terraform",
			Modules: []toolkitModule{
				{ID: module, Kind: "terraform", Source: "./terraform/modules/" + module},
				{ID: "platform", Kind: "terraform", Source: "./terraform"}, // the root itself
			},
		}},
	})
}
