package terraform

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// cloud is the part of Google Cloud that answers the double. It remembers every
// resource that was applied, as the provider reads it, and rejects what an API rejects
// beyond the schema of the provider.
type cloud struct {
	sync.Mutex
	// stored holds the resources that exist, by type and ID.
	stored map[[2]string]tftypes.Value
	made   map[string]int     // how often a resource of this ID was created
	scaled map[string]float64 // nodes in each zone that the autoscaler has started, by pool
	reads  int                // number of answers: no two have a list in the same order
	pools  []nodePoolRequest  // every pool that was asked for
	// differs changes the arguments of imported resources, by ID and path: somebody else
	// made them.
	differs map[[2]string]func(tftypes.Value) tftypes.Value
	// unreadable is the type of data sources that cannot be read, or "".
	unreadable string
	policies   policies // of buckets and projects
	slow       []string // types of resources whose deletion takes a while
	failing    int      // every nth request fails; 0 for none
	cut        int      // all requests after so many fail; 0 for none
	requests   int      // that create, change or delete a resource
}

// errUnavailable is an error after which a request can be sent again.
//
// Source: Google Cloud APIs, "Errors", UNAVAILABLE.
var errUnavailable = errors.New("googleapi: Error 503: The service is currently unavailable., backendError")

// unavailable returns the error of a request that fails by chance, nil for most requests.
func (c *cloud) unavailable() error {
	c.Lock()
	defer c.Unlock()
	c.requests++
	if c.failing > 0 && c.requests%c.failing == 0 || c.cut > 0 && c.requests > c.cut {
		return errUnavailable
	}
	return nil
}

// fail makes every nth request fail from now on; 0 stops it.
func (c *cloud) fail(nth int) {
	c.Lock()
	defer c.Unlock()
	c.failing, c.requests = nth, 0
}

// cutOff makes every request fail from now on, after so many; 0 stops it.
func (c *cloud) cutOff(after int) {
	c.Lock()
	defer c.Unlock()
	c.cut, c.requests = after, 0
}

// defaultProject is the project of every platform that is tested.
const defaultProject = "my-project"

// identities are the IDs of resources, as the provider composes them from arguments, by
// type. The IDs of other types are assigned by an API.
//
// Source: hashicorp/terraform-provider-google, "Import" in the documentation of each
// resource.
var identities = map[string]string{
	"google_compute_firewall":          "projects/{project}/global/firewalls/{name}",
	"google_compute_network":           "projects/{project}/global/networks/{name}",
	"google_compute_reservation":       "projects/{project}/zones/{zone}/reservations/{name}",
	"google_compute_resource_policy":   "projects/{project}/regions/{region}/resourcePolicies/{name}",
	"google_compute_router":            "projects/{project}/regions/{region}/routers/{name}",
	"google_compute_router_nat":        "{project}/{region}/{router}/{name}",
	"google_compute_subnetwork":        "projects/{project}/regions/{region}/subnetworks/{name}",
	"google_container_cluster":         "projects/{project}/locations/{location}/clusters/{name}",
	"google_container_node_pool":       "projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}",
	"google_storage_bucket":            "{name}",
	"google_storage_bucket_iam_policy": "b/{bucket}",
}

var identityPart = regexp.MustCompile(`\{\w+\}`)

// identity returns the ID of a resource, or "" if an API assigns it.
func identity(kind string, arguments map[string]any) string {
	return identityPart.ReplaceAllStringFunc(identities[kind], func(part string) string {
		value, _ := arguments[strings.Trim(part, "{}")].(string)
		if part == "{project}" && value == "" {
			return defaultProject
		}
		return lastElement(value)
	})
}

// selfLink returns the URL of a resource from its ID.
func selfLink(kind, id string) string {
	switch {
	case strings.HasPrefix(kind, "google_compute_"):
		return computeURL + id
	case strings.HasPrefix(kind, "google_container_"):
		return "https://container.googleapis.com/v1/" + id
	}
	return "https://www.googleapis.com/storage/v1/b/" + id
}

// lastElement returns the name in a name, path or URL.
func lastElement(path string) string { return path[strings.LastIndex(path, "/")+1:] }

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

// written are the types whose creation sets what every bucket has: nothing refuses one that
// exists.
//
// Source: Cloud Storage documentation, "Buckets: setIamPolicy".
var written = []string{"google_storage_bucket_iam_policy"}

// local lists, by type, the arguments that only Terraform's state holds: a read keeps them.
//
// Source: hashicorp/terraform-provider-google: the read functions of these resources set
// none of them.
var local = map[string][]string{
	"google_container_cluster": {"deletion_protection", "min_master_version", "remove_default_node_pool"},
	"google_storage_bucket":    {"force_destroy"},
}

// apply creates a resource, or changes the prior one, like the API, and returns what the
// provider then reads. If the API rejects the request, apply returns the API's error.
func (c *cloud) apply(kind string, prior, planned tftypes.Value) (tftypes.Value, error) {
	arguments, ok := plain(planned).(map[string]any)
	if !ok {
		return planned, fmt.Errorf("%s: a resource is an object", kind)
	}
	c.Lock()
	defer c.Unlock()
	id, _ := arguments["id"].(string)
	was, exists := c.stored[[2]string{kind, id}]
	if exists && prior.IsNull() && !slices.Contains(written, kind) {
		return planned, fmt.Errorf("%s: %w", id, errExists)
	}
	if err := c.reject(kind, id, arguments); err != nil {
		return planned, err
	}
	if c.stored == nil {
		c.stored, c.made = map[[2]string]tftypes.Value{}, map[string]int{}
	}
	if prior.IsNull() {
		c.made[id]++
	} else if exists {
		planned = keepArguments(planned, was, unsent[kind])
	}
	c.stored[[2]string{kind, id}] = planned
	return c.answer(kind, planned), nil
}

// keepArguments returns a resource with arguments of another one.
func keepArguments(resource, from tftypes.Value, paths []string) tftypes.Value {
	kept := map[string]tftypes.Value{}
	walkArguments(from, func(path string, v tftypes.Value) tftypes.Value {
		if slices.Contains(paths, path) {
			kept[path] = v
		}
		return v
	})
	return walkArguments(resource, func(path string, v tftypes.Value) tftypes.Value {
		if was, ok := kept[path]; ok {
			return was
		}
		return v
	})
}

// left returns the resources and the grants that exist, in no order.
func (c *cloud) left() (out []string) {
	c.Lock()
	defer c.Unlock()
	for key := range c.stored {
		out = append(out, key[0]+" "+key[1])
	}
	for g := range c.policies {
		out = append(out, fmt.Sprintf("%s for %s on %s", g.role, g.member, g.on))
	}
	return out
}

// keep removes all resources outside Terraform, except those that a function wants.
func (c *cloud) keep(wants func(kind, id string) bool) {
	c.Lock()
	defer c.Unlock()
	maps.DeleteFunc(c.stored, func(key [2]string, _ tftypes.Value) bool { return !wants(key[0], key[1]) })
}

// snapshot returns a function that brings the resources of this moment back.
func (c *cloud) snapshot() (restore func()) {
	c.Lock()
	defer c.Unlock()
	stored, grants := maps.Clone(c.stored), maps.Clone(c.policies)
	return func() {
		c.Lock()
		defer c.Unlock()
		c.stored, c.policies = maps.Clone(stored), maps.Clone(grants)
	}
}

// poolNodes are the nodes of a pool.
type poolNodes struct {
	id    string
	made  int // how often a pool of this ID was created
	zones []string
	fixed bool    // the autoscaler does not size the pool
	each  float64 // in each zone
}

// nodes returns the nodes of all pools, by name.
func (c *cloud) nodes() map[string]poolNodes {
	c.Lock()
	defer c.Unlock()
	out := map[string]poolNodes{}
	for pool := range c.all("google_container_node_pool") {
		name, _ := pool["name"].(string)
		id, _ := pool["id"].(string)
		each, _ := pool["node_count"].(float64)
		fixed := block(pool, "autoscaling") == nil
		if !fixed {
			each = c.scaledTo(pool)
		}
		out[name] = poolNodes{id, c.made[id], texts(pool["node_locations"]), fixed, each}
	}
	return out
}

// scale gives an autoscaled pool so many nodes in each zone. With 0, it has those again with
// which it began.
func (c *cloud) scale(pool string, each float64) {
	c.Lock()
	defer c.Unlock()
	c.scaled = map[string]float64{pool: each}
}

// scaledTo returns how many nodes an autoscaled pool has in each zone. The caller holds the
// lock.
func (c *cloud) scaledTo(pool map[string]any) float64 {
	name, _ := pool["name"].(string)
	if each := c.scaled[name]; each > 0 {
		return each
	}
	first, _ := pool["initial_node_count"].(float64)
	return first
}

// set changes a number of a resource outside Terraform, as gcloud does. It does nothing if
// no resource of the type has the name.
func (c *cloud) set(kind, name, argument string, number float64) {
	c.Lock()
	defer c.Unlock()
	for key, v := range c.stored {
		arguments, _ := plain(v).(map[string]any)
		if key[0] == kind && arguments["name"] == name {
			c.stored[key] = walkArguments(v, func(path string, v tftypes.Value) tftypes.Value {
				if path == argument {
					return tftypes.NewValue(tftypes.Number, number)
				}
				return v
			})
		}
	}
}

// walkArguments returns a resource in which every argument and every list of blocks is
// changed, the innermost first.
func walkArguments(resource tftypes.Value, change func(path string, v tftypes.Value) tftypes.Value) tftypes.Value {
	out, err := tftypes.Transform(resource, func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if _, named := path.LastStep().(tftypes.AttributeName); !named {
			return v, nil // the resource, a block of a list, or an element
		}
		return change(dotted(path), v), nil
	})
	if err != nil { // a change to another type
		panic(err)
	}
	return out
}

// remove deletes a resource.
func (c *cloud) remove(kind string, prior tftypes.Value) error {
	arguments, _ := plain(prior).(map[string]any)
	id, _ := arguments["id"].(string)
	c.Lock()
	slow, err := slices.Contains(c.slow, kind), c.rejectDelete(kind, id)
	if err == nil {
		delete(c.stored, [2]string{kind, id})
	}
	if err == nil && kind == "google_container_cluster" { // with its pools
		maps.DeleteFunc(c.stored, func(key [2]string, _ tftypes.Value) bool {
			return key[0] == "google_container_node_pool" && strings.HasPrefix(key[1], id+"/")
		})
	}
	c.Unlock()
	if err != nil {
		return err
	}
	if slow {
		time.Sleep(time.Second)
	}
	return c.setPolicies(kind, prior, tftypes.NewValue(prior.Type(), nil))
}

// read returns a resource as the provider reads it, and null if it does not exist.
func (c *cloud) read(kind string, state tftypes.Value) tftypes.Value {
	arguments, _ := plain(state).(map[string]any)
	id, _ := arguments["id"].(string)
	c.Lock()
	defer c.Unlock()
	v, exists := c.stored[[2]string{kind, id}]
	if !exists {
		return tftypes.NewValue(state.Type(), nil)
	}
	return keepArguments(c.answer(kind, v), state, local[kind])
}

// named returns the arguments of the resource of a type that has a name, and nil if there
// is none. The caller holds the lock.
func (c *cloud) named(kind, name string) map[string]any {
	for arguments := range c.all(kind) {
		if arguments["name"] == lastElement(name) {
			return arguments
		}
	}
	return nil
}

// all yields the arguments of the resources of a type. The caller holds the lock.
func (c *cloud) all(kind string) func(yield func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		for key, v := range c.stored {
			if arguments, _ := plain(v).(map[string]any); key[0] == kind && !yield(arguments) {
				return
			}
		}
	}
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

// texts returns the texts of a list or set.
func texts(list any) (out []string) {
	values, _ := list.([]any)
	for _, v := range values {
		text, _ := v.(string)
		out = append(out, text)
	}
	return out
}

// plain returns a value of Terraform as Go's nil, bool, string, float64, []any or
// map[string]any. An unknown value is nil: the provider sends nothing for it.
func plain(v tftypes.Value) any {
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	// An attempt with As and the wrong type takes long: it writes both types into an error.
	switch kind := v.Type(); {
	case kind.Is(tftypes.Number):
		number := as[big.Float](v)
		out, _ := number.Float64()
		return out
	case kind.Is(tftypes.String):
		return as[string](v)
	case kind.Is(tftypes.Bool):
		return as[bool](v)
	case kind.Is(tftypes.Object{}), kind.Is(tftypes.Map{}):
		out := map[string]any{}
		for name, e := range as[map[string]tftypes.Value](v) {
			out[name] = plain(e)
		}
		return out
	}
	list := as[[]tftypes.Value](v) // or a set
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = plain(e)
	}
	return out
}

// as returns a known value as T, which must fit the value's type.
func as[T any](v tftypes.Value) (out T) {
	if err := v.As(&out); err != nil {
		panic(err)
	}
	return out
}
