package terraform

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// cloud is the part of Google Cloud that answers the double. It remembers every
// resource that was applied, and refuses what an API refuses beyond the schema of
// the provider.
type cloud struct {
	sync.Mutex
	resources map[string]map[string]map[string]any // by type and name
	pools     []nodePoolRequest                    // every pool that was asked for
	// standing holds the values with which unsent arguments were created, by the
	// type and name of the resource and by path.
	standing map[[2]string]map[string]tftypes.Value
	// kept holds the states of the resources that can be imported, by type and ID.
	kept map[[2]string]tftypes.Value
	// differs changes the arguments of imported resources, by ID and path: somebody else
	// made them.
	differs map[[2]string]func(tftypes.Value) tftypes.Value
	// unreadable is the type of data sources that cannot be read, or "".
	unreadable string
	policies   policies // of buckets and projects
	slow       []string // types of resources whose deletion takes a while
}

// unsent lists, by type, the arguments that the provider does not send to an
// existing resource, although it does not replace the resource either. Only the
// updates of node pools and of resource policies were read for this table. Other
// types, such as the cluster, can have such arguments too.
//
// Source: hashicorp/terraform-provider-google, resource_container_node_pool.go: the
// schema of placement_policy, and nodePoolUpdate;
// resource_compute_resource_policy.go: the update of a renamed policy asks for the
// new name, which does not exist.
var unsent = map[string][]string{
	"google_compute_resource_policy": {"name"},
	"google_container_node_pool":     {"placement_policy.type", "placement_policy.tpu_topology"},
}

// apply creates a resource, or changes the prior one, like the API. If the API
// refuses the request, apply returns the API's error.
func (c *cloud) apply(kind string, prior, state tftypes.Value) error {
	arguments, ok := plain(state).(map[string]any)
	if !ok {
		return fmt.Errorf("%s: a resource is an object", kind)
	}
	c.Lock()
	defer c.Unlock()
	if err := c.refuse(kind, arguments); err != nil {
		return err
	}
	if c.resources == nil {
		c.resources = map[string]map[string]map[string]any{}
	}
	if c.resources[kind] == nil {
		c.resources[kind] = map[string]map[string]any{}
	}
	name, _ := arguments["name"].(string)
	c.resources[kind][name] = arguments
	if c.standing == nil {
		c.standing = map[[2]string]map[string]tftypes.Value{}
	}
	if key := [2]string{kind, name}; prior.IsNull() || c.standing[key] == nil {
		c.standing[key] = map[string]tftypes.Value{}
		from := prior
		if prior.IsNull() {
			from = state
		}
		_ = tftypes.Walk(from, func(path *tftypes.AttributePath, v tftypes.Value) (bool, error) {
			if at := dotted(path); slices.Contains(unsent[kind], at) {
				c.standing[key][at] = v
			}
			return true, nil
		})
	}
	return nil
}

// remove deletes a resource.
func (c *cloud) remove(kind string, prior tftypes.Value) error {
	c.Lock()
	slow := slices.Contains(c.slow, kind)
	c.Unlock()
	if slow {
		time.Sleep(time.Second)
	}
	return c.setPolicies(kind, prior, tftypes.NewValue(prior.Type(), nil))
}

// read returns a resource as the API returns it: with the values of the existing
// resource, and with the fields that the API fills in.
func (c *cloud) read(kind string, state tftypes.Value) (tftypes.Value, error) {
	arguments, _ := plain(state).(map[string]any)
	name, _ := arguments["name"].(string)
	c.Lock()
	defer c.Unlock()
	return tftypes.Transform(state, func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if _, named := path.LastStep().(tftypes.AttributeName); !named {
			return v, nil // a block of a list, or an element
		}
		at := dotted(path)
		if was, ok := c.standing[[2]string{kind, name}][at]; ok {
			v = was
		}
		return c.fill(kind, at, arguments, v), nil
	})
}

// dotted returns the names of a path, as in "placement_policy.type".
func dotted(path *tftypes.AttributePath) string {
	var names []string
	for _, step := range path.Steps() {
		if name, ok := step.(tftypes.AttributeName); ok {
			names = append(names, string(name))
		}
	}
	return strings.Join(names, ".")
}

// refuse returns the error of an API that refuses a resource.
func (c *cloud) refuse(kind string, arguments map[string]any) error {
	switch kind {
	case "google_container_node_pool":
		request := newNodePoolRequest(arguments)
		c.pools = append(c.pools, request)
		cluster := c.resources["google_container_cluster"][request.cluster]
		private, _ := block(cluster, "private_cluster_config")["enable_private_nodes"].(bool)
		if err := request.refuse(private); err != nil {
			return err
		}
		for _, name := range request.reservations {
			// The provider creates every reservation without a placement policy.
			if _, made := c.resources["google_compute_reservation"][name]; made && request.compact {
				return fmt.Errorf("%s: %w", name, errOtherPlacement)
			}
		}
	}
	return nil
}

// errOtherPlacement says why the nodes of a compact pool cannot consume a
// reservation: the nodes have a placement policy, and the reservation has none or
// another.
//
// Source: Compute Engine documentation, "Consume reservations": the properties of
// an instance, among them its compact placement policy, match the reservation's.
var errOtherPlacement = errors.New(
	"the reservation has no placement policy, so it does not match instances that have one")

// nodePoolRequest is the part of the NodePool request to GKE that the rules read.
//
// Source: expandNodePool and expandNodeNetworkConfig of the provider's
// resource_container_node_pool.go.
type nodePoolRequest struct {
	name, cluster string
	// enablePrivateNodes is nil if the request leaves it out. The provider sends
	// it, set or not, for every pool that has a network_config block.
	enablePrivateNodes *bool
	compact            bool
	reservations       []string // names or paths
}

func newNodePoolRequest(arguments map[string]any) nodePoolRequest {
	var r nodePoolRequest
	r.name, _ = arguments["name"].(string)
	r.cluster, _ = arguments["cluster"].(string)
	if network := block(arguments, "network_config"); network != nil {
		private, _ := network["enable_private_nodes"].(bool)
		r.enablePrivateNodes = &private
	}
	r.compact = block(arguments, "placement_policy")["type"] == "COMPACT"
	affinity := block(block(arguments, "node_config"), "reservation_affinity")
	values, _ := affinity["values"].([]any)
	for _, v := range values {
		name, _ := v.(string)
		r.reservations = append(r.reservations, name)
	}
	return r
}

// errPublicNodes is GKE's answer, word for word.
//
// Source: terraform-google-modules/terraform-google-kubernetes-engine, issue 1493.
var errPublicNodes = errors.New("googleapi: Error 400: EnablePrivateNodes must be enabled for private clusters with " +
	"valid masterIpv4Cidr., badRequest")

// refuse returns GKE's error for a pool that it refuses in a cluster.
func (r nodePoolRequest) refuse(privateCluster bool) error {
	if privateCluster && r.enablePrivateNodes != nil && !*r.enablePrivateNodes {
		return fmt.Errorf("error creating NodePool %s: %w", r.name, errPublicNodes)
	}
	return nil
}

// block returns the arguments of the only block of a name, and nil if there is
// none.
func block(arguments map[string]any, name string) map[string]any {
	list, _ := arguments[name].([]any)
	if len(list) != 1 {
		return nil
	}
	out, _ := list[0].(map[string]any)
	return out
}

// plain returns a value of Terraform as Go's nil, bool, string, float64, []any or
// map[string]any. An unknown value is nil: the provider sends nothing for it.
func plain(v tftypes.Value) any {
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	var (
		text    string
		flag    bool
		number  big.Float
		list    []tftypes.Value
		entries map[string]tftypes.Value
	)
	switch {
	case v.As(&number) == nil:
		out, _ := number.Float64()
		return out
	case v.As(&text) == nil:
		return text
	case v.As(&flag) == nil:
		return flag
	case v.As(&list) == nil:
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = plain(e)
		}
		return out
	case v.As(&entries) == nil:
		out := map[string]any{}
		for name, e := range entries {
			out[name] = plain(e)
		}
		return out
	}
	return nil
}
