package guide

import "sigs.k8s.io/yaml"

// expandedBlueprint is what Cluster Toolkit's gcluster keeps of a blueprint in
// a deploy folder (its pkg/config, type Blueprint): `gcluster deploy` decodes
// it strictly, and runs Terraform in the folder of every group.
type expandedBlueprint struct {
	BlueprintName    string            `json:"blueprint_name"`
	Vars             map[string]string `json:"vars"`
	DeploymentGroups []deploymentGroup `json:"deployment_groups"`
}

// deploymentGroup is a Terraform root: the folder of its name.
type deploymentGroup struct {
	Group   string          `json:"group"`
	Modules []toolkitModule `json:"modules"`
}

// toolkitModule is a Terraform module of a group. A group needs one of them;
// gcluster reads its kind and never opens its source.
type toolkitModule struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Source string `json:"source"`
}

// ghpc returns the artefact by which gcluster takes the deploy folder of a
// platform for one of its own.
func ghpc(name, project, region string) ([]byte, error) {
	return yaml.Marshal(expandedBlueprint{
		BlueprintName: name,
		Vars: map[string]string{
			"deployment_name": name,
			"project_id":      project,
			"region":          region,
		},
		DeploymentGroups: []deploymentGroup{{
			Group: "terraform",
			Modules: []toolkitModule{
				{ID: "network", Kind: "terraform", Source: "./terraform/modules/network"},
				{ID: "platform", Kind: "terraform", Source: "./terraform"}, // the root itself
			},
		}},
	})
}
