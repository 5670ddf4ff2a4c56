package terraform

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// unread are the arguments that the provider does not read from the API when it imports a
// resource.
//
// Source: hashicorp/terraform-provider-google,
// website/docs/r/container_cluster.html.markdown, "Import".
var unread = map[string][]string{
	"google_container_cluster": {"min_master_version", "remove_default_node_pool"},
}

// firstNodes is the initial_node_count of every imported cluster. The API returns the
// number with which somebody created the cluster.
const firstNodes = 3

// importID returns the ID by which the provider imports a resource, or "" for a type that
// no folder imports.
//
// Source: hashicorp/terraform-provider-google, website/docs/r/container_cluster and
// container_node_pool, "Import".
func importID(kind string, arguments map[string]any, project string) string {
	text := func(name string) string {
		out, _ := arguments[name].(string)
		return out
	}
	switch kind {
	case "google_container_cluster":
		return fmt.Sprintf("projects/%s/locations/%s/clusters/%s", project, text("location"), text("name"))
	case "google_container_node_pool":
		return fmt.Sprintf("%s/%s/%s/%s", project, text("location"), text("cluster"), text("name"))
	}
	return ""
}

// importedProject is the project of every platform that is tested.
const importedProject = "my-project"

// keep remembers the state of a resource that can be imported.
func (c *cloud) keep(kind string, state *tfprotov5.DynamicValue, schema *tfprotov5.Schema) error {
	v, err := state.Unmarshal(schema.ValueType())
	if err != nil {
		return err
	}
	arguments, _ := plain(v).(map[string]any)
	id := importID(kind, arguments, importedProject)
	if id == "" {
		return nil
	}
	c.Lock()
	defer c.Unlock()
	if c.kept == nil {
		c.kept = map[[2]string]tftypes.Value{}
	}
	c.kept[[2]string{kind, id}] = v
	return nil
}

// find returns the state with which a resource is imported, and whether it exists.
func (c *cloud) find(kind, id string) (tftypes.Value, bool) {
	c.Lock()
	defer c.Unlock()
	v, found := c.kept[[2]string{kind, id}]
	if !found {
		return v, false
	}
	out, err := tftypes.Transform(v, func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if _, named := path.LastStep().(tftypes.AttributeName); !named {
			return v, nil // a block of a list, or an element
		}
		at := dotted(path)
		if change := c.differs[[2]string{id, at}]; change != nil {
			return change(v), nil
		}
		for _, name := range unread[kind] {
			if at == name {
				return tftypes.NewValue(v.Type(), nil), nil
			}
		}
		if kind == "google_container_cluster" && at == "initial_node_count" {
			return tftypes.NewValue(tftypes.Number, firstNodes), nil
		}
		return v, nil
	})
	return out, err == nil
}
