package terraform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The errors of the APIs.
var (
	// GKE's answer, word for word.
	//
	// Source: terraform-google-modules/terraform-google-kubernetes-engine, issue 1493.
	errPublicNodes = errors.New("googleapi: Error 400: EnablePrivateNodes must be enabled for private clusters with " +
		"valid masterIpv4Cidr., badRequest")
	// Source: AI-Hypercomputer/xpk, issue 476; Compute Engine documentation, "Consume
	// reservations": an instance matches the reservation in its placement policy, too.
	errOtherPlacement = errors.New(
		"the instance has to specify the same resource policy as the reservation")
	// Source: Compute Engine documentation, "Consume reservations": a specific reservation
	// is for one machine type.
	errOtherMachine = errors.New("the machine type does not match the reservation")
	// Source: Compute Engine documentation, "Troubleshoot reservation updates".
	errInUse = errors.New(
		"the resize instance count cannot be lower than the in use count for a specific reservation")
	// Source: Compute Engine documentation, "Delete reservations".
	errConsumed = errors.New(
		"you can only delete a specifically targeted reservation if no Compute Engine instances consume it")
	// Source: Compute Engine documentation, "Consume reservations": an instance that needs a
	// specific reservation cannot start if that has no machine left.
	errFull = errors.New("the reservation has no machine left")
	// Source: Compute Engine API, resourceInUseByAnotherResource.
	errUsed = errors.New("googleapi: Error 400: The resource is already being used by another resource, " +
		"resourceInUseByAnotherResource")
	// Source: hashicorp/terraform-provider-google, issues 2570 and 7474.
	errRange = errors.New("googleapi: Error 400: Existing secondary range cannot be modified")
	// Source: Google Cloud APIs, "Errors", ALREADY_EXISTS.
	errExists = errors.New("googleapi: Error 409: Already Exists, alreadyExists")
)

// nodePoolRequest is the part of the NodePool request to GKE that the rules read.
//
// Source: expandNodePool and expandNodeNetworkConfig of the provider's
// resource_container_node_pool.go.
type nodePoolRequest struct {
	name, cluster, machine string
	// enablePrivateNodes is nil if the request leaves it out. The provider sends
	// it, set or not, for every pool that has a network_config block.
	enablePrivateNodes *bool
	compact            bool     // GKE gives the pool a placement policy of its own
	reservations       []string // names or paths
	zones              []string
	nodes              int // in all zones, at least
}

func newNodePoolRequest(arguments map[string]any) nodePoolRequest {
	var r nodePoolRequest
	r.name, _ = arguments["name"].(string)
	r.cluster, _ = arguments["cluster"].(string)
	r.machine = machineType(arguments)
	if network := block(arguments, "network_config"); network != nil {
		private, _ := network["enable_private_nodes"].(bool)
		r.enablePrivateNodes = &private
	}
	placement := block(arguments, "placement_policy")
	r.compact = placement != nil && placement["tpu_topology"] == nil && placement["policy_name"] == nil
	r.reservations = texts(block(block(arguments, "node_config"), "reservation_affinity")["values"])
	r.zones = texts(arguments["node_locations"])
	each, fixed := arguments["node_count"].(float64)
	scaling := block(arguments, "autoscaling")
	least, _ := scaling["total_min_node_count"].(float64)
	if fixed && scaling == nil {
		least = each * float64(max(1, len(r.zones)))
	}
	r.nodes = int(least)
	return r
}

// reject returns the error of an API that rejects a new or changed resource. The caller
// holds the lock.
func (c *cloud) reject(kind, id string, arguments map[string]any) error {
	switch kind {
	case "google_container_node_pool":
		request := newNodePoolRequest(arguments)
		c.pools = append(c.pools, request)
		return c.rejectPool(request, id)
	case "google_compute_reservation":
		if name, _ := arguments["name"].(string); c.inUse(name, "") > reserved(arguments) {
			return fmt.Errorf("%s: %w", name, errInUse)
		}
	case "google_compute_subnetwork":
		return c.rejectRanges(arguments)
	}
	return nil
}

// rejectRanges returns the error of Compute Engine about a subnet whose secondary ranges a
// cluster uses, and that gets other ones.
func (c *cloud) rejectRanges(subnet map[string]any) error {
	name, _ := subnet["name"].(string)
	now := secondaryRanges(subnet)
	for cluster := range c.all("google_container_cluster") {
		if used, _ := cluster["subnetwork"].(string); lastElement(used) != name {
			continue
		}
		for of, cidr := range secondaryRanges(c.named("google_compute_subnetwork", name)) {
			if now[of] != cidr {
				return fmt.Errorf("%w: %s., invalid", errRange, cidr)
			}
		}
	}
	return nil
}

// secondaryRanges returns the addresses of a subnet's secondary ranges by name.
func secondaryRanges(subnet map[string]any) map[any]any {
	out := map[any]any{}
	all, _ := subnet["secondary_ip_range"].([]any)
	for _, r := range all {
		if r, ok := r.(map[string]any); ok {
			out[r["range_name"]] = r["ip_cidr_range"]
		}
	}
	return out
}

// rejectPool returns the error of GKE that rejects a node pool, or that cannot create its
// nodes.
func (c *cloud) rejectPool(r nodePoolRequest, id string) error {
	cluster := c.named("google_container_cluster", r.cluster)
	private, _ := block(cluster, "private_cluster_config")["enable_private_nodes"].(bool)
	if private && r.enablePrivateNodes != nil && !*r.enablePrivateNodes {
		return fmt.Errorf("error creating NodePool %s: %w", r.name, errPublicNodes)
	}
	for _, zone := range r.zones {
		if strings.Contains(zone, "/") {
			return fmt.Errorf("error creating NodePool %s: googleapi: Error 400: Invalid location %q", r.name, zone)
		}
	}
	for _, name := range r.reservations {
		made := c.named("google_compute_reservation", name)
		machine, _ := block(block(made, "specific_reservation"), "instance_properties")["machine_type"].(string)
		zone, _ := made["zone"].(string)
		switch {
		case made == nil: // of somebody else, for the machines of the first pool
			if c.otherMachine(r, name, id) {
				return fmt.Errorf("%s: %w", name, errOtherMachine)
			}
		// The provider creates every reservation without a placement policy.
		case r.compact:
			return fmt.Errorf("%s: %w", name, errOtherPlacement)
		case r.machine != machine:
			return fmt.Errorf("%s: %w", name, errOtherMachine)
		case r.nodes > 0 && !slices.Contains(r.zones, lastElement(zone)) || c.inUse(name, id)+r.nodes > reserved(made):
			return fmt.Errorf("%s: %w", name, errFull)
		}
	}
	return nil
}

// otherMachine reports whether another pool that consumes a reservation has another machine
// type.
func (c *cloud) otherMachine(r nodePoolRequest, reservation, id string) bool {
	for arguments := range c.all("google_container_node_pool") {
		if pool := newNodePoolRequest(arguments); arguments["id"] != id &&
			slices.Contains(pool.reservations, reservation) && pool.machine != r.machine {
			return true
		}
	}
	return false
}

// reserved returns the number of machines of a reservation.
func reserved(reservation map[string]any) int {
	count, _ := block(reservation, "specific_reservation")["count"].(float64)
	return int(count)
}

// inUse returns how many machines of a reservation the node pools use, except one pool.
func (c *cloud) inUse(reservation, exceptPool string) (n int) {
	for arguments := range c.all("google_container_node_pool") {
		if pool := newNodePoolRequest(arguments); arguments["id"] != exceptPool &&
			slices.ContainsFunc(pool.reservations, func(name string) bool { return lastElement(name) == reservation }) {
			n += pool.nodes
		}
	}
	return n
}

// users are the arguments that name another resource: its API rejects the deletion of a
// resource that such an argument names, and of a reservation while nodes consume it.
//
// Source: Compute Engine API, resourceInUseByAnotherResource; GKE API, a cluster is deleted
// with its node pools.
var users = map[string][][2]string{ // type of the resource, to type and argument of its users
	"google_compute_network": {
		{"google_compute_subnetwork", "network"}, {"google_compute_router", "network"},
		{"google_compute_firewall", "network"}, {"google_container_cluster", "network"},
	},
	"google_compute_subnetwork": {
		{"google_container_cluster", "subnetwork"},
		{"google_container_node_pool", "network_config.additional_node_network_configs.subnetwork"},
	},
	"google_compute_router":          {{"google_compute_router_nat", "router"}},
	"google_compute_reservation":     {{"google_container_node_pool", "node_config.reservation_affinity.values"}},
	"google_compute_resource_policy": {{"google_container_node_pool", "placement_policy.policy_name"}},
}

// values returns the texts of an argument in all blocks of its path: one, or a list.
func values(arguments map[string]any, path []string) (out []string) {
	if len(path) == 1 {
		if text, _ := arguments[path[0]].(string); text != "" {
			return []string{text}
		}
		return texts(arguments[path[0]])
	}
	blocks, _ := arguments[path[0]].([]any)
	for _, b := range blocks {
		if inner, _ := b.(map[string]any); inner != nil {
			out = append(out, values(inner, path[1:])...)
		}
	}
	return out
}

// rejectDelete returns the error of an API that keeps a resource. The caller holds the lock.
func (c *cloud) rejectDelete(kind, id string) error {
	name := lastElement(id)
	if kind == "google_compute_reservation" {
		if c.inUse(name, "") > 0 {
			return fmt.Errorf("%s: %w", name, errConsumed)
		}
		return nil // pools without nodes may name it
	}
	for _, user := range users[kind] {
		for arguments := range c.all(user[0]) {
			for _, used := range values(arguments, strings.Split(user[1], ".")) {
				if lastElement(used) == name {
					return fmt.Errorf("%s: %w", id, errUsed)
				}
			}
		}
	}
	return nil
}
