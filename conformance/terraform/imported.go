package terraform

import (
	"fmt"
	"slices"
	"strings"

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

// resourceID returns the ID of a resource by the ID with which the provider imports it.
//
// Source: hashicorp/terraform-provider-google, website/docs/r/container_cluster and
// container_node_pool, "Import".
func resourceID(kind, imported string) string {
	if parts := strings.Split(imported, "/"); kind == "google_container_node_pool" && len(parts) == 4 {
		return fmt.Sprintf("projects/%s/locations/%s/clusters/%s/nodePools/%s", parts[0], parts[1], parts[2], parts[3])
	}
	return imported
}

// find returns the state with which a resource is imported, and whether it exists. What
// somebody else has made of the resource is true from then on.
func (c *cloud) find(kind, id string) (tftypes.Value, bool) {
	c.Lock()
	defer c.Unlock()
	key := [2]string{kind, resourceID(kind, id)}
	v, found := c.stored[key]
	if !found {
		return v, false
	}
	c.stored[key] = walkArguments(v, func(path string, v tftypes.Value) tftypes.Value {
		if change := c.differs[[2]string{id, path}]; change != nil {
			return change(v)
		} else if kind == "google_container_cluster" && path == "initial_node_count" {
			return tftypes.NewValue(tftypes.Number, firstNodes)
		}
		return v
	})
	return walkArguments(c.stored[key], func(path string, v tftypes.Value) tftypes.Value {
		if slices.Contains(unread[kind], path) {
			return tftypes.NewValue(v.Type(), nil)
		}
		return v
	}), true
}
