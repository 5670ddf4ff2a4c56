// Package gke holds what is known of the arguments of clusters and node pools, a row for
// each: its field in the blueprint, its path in Terraform, its key in what gcloud prints,
// whether GKE fills it in, and what a change does to the nodes. The importer, the reviews
// and the checks of the emitter read the rows. Package gke also knows which arguments of
// the other Terraform resources cannot change in place.
package gke

import (
	"net/netip"
	"slices"
	"strings"
)

// Types of resources that have rows.
const (
	Cluster  = "google_container_cluster"
	NodePool = "google_container_node_pool"
)

// MaxPods is the default of the most pods on a node.
const MaxPods = 110

// Flags are facts about an argument.
type Flags int

// The facts.
const (
	// Block is a block of arguments, whose row precedes their rows.
	Block Flags = 1 << iota
	// Computed arguments and blocks keep their value if the configuration does not set them.
	Computed
	// Names are paths of resources, of which only the last element counts.
	Names
	// AnyCase texts are equal in upper and lower case.
	AnyCase
	// IfPrinted arguments are unknown if gcloud does not print them. Of the others, a missing
	// key is false, 0 or empty.
	IfPrinted
	// Replaces is an argument that the provider cannot change in place: it destroys the
	// resource and creates another. A block can neither be added nor removed in place.
	Replaces
	// Triggered arguments neither reach an existing resource nor replace it: the provider's
	// update omits them, so that every plan shows the change and no apply makes it. Terraform
	// replaces the resource if its replace_triggered_by says so.
	//
	// Source: hashicorp/terraform-provider-google, nodePoolUpdate in
	// resource_container_node_pool.go, and the update of resource_compute_resource_policy.go,
	// which asks for a policy of the new name.
	Triggered
	// Recreates is an argument of which a change makes GKE recreate the nodes of a pool, as
	// an upgrade does.
	//
	// Source: GKE documentation, "Node upgrade strategies", changes that recreate nodes.
	Recreates
	// Foreign arguments are never set by a platform.
	Foreign
	// Uncompared arguments identify the resource, apply only at its creation, or have no place
	// in a platform: a resource that runs is not compared with them.
	Uncompared
	// Approximated arguments become a field of the blueprint, or a part of the platform, that
	// differs from them.
	Approximated
)

// Argument is an argument or a block of a cluster or a node pool.
type Argument struct {
	// Path is the path in Terraform, as in "node_config.spot"; "" if Terraform has no such
	// argument.
	Path string
	Flags
	// Key is the path in gcloud's JSON with dots, below the key of the block around it. If it
	// is "", the key is the last name of Path in camel case.
	Key string
	// Toolkit is the input of Cluster Toolkit's module gke-node-pool, "" if it has none.
	Toolkit string
	// Field is the field of the blueprint: "HW" stands for the hardware, "CAP" for the
	// capacity. It is "" if the blueprint has none.
	Field string
	// Instead says what the nodes of a platform have if they cannot have the setting of a
	// node pool that is imported.
	Instead string
	// Unset are values that say nothing, in addition to empty ones.
	Unset []any
	// Convert returns the argument for a value of gcloud, nil for none. If it is nil, the
	// argument is the value.
	Convert func(v any) any
	// Kept reports whether a block of this key, which only runs, stays; nil for none.
	Kept func(key string) bool
}

// Is reports whether all of some facts hold.
func (f Flags) Is(facts Flags) bool { return f&facts == facts }

// Arguments returns the rows of clusters or of node pools, each block before the arguments
// in it. It returns nil for other types.
func Arguments(kind string) []Argument {
	switch kind {
	case Cluster:
		return clusterArguments
	case NodePool:
		return nodePoolArguments
	}
	return nil
}

// NodePoolArgument returns the row of a path in Terraform.
func NodePoolArgument(path string) Argument {
	return nodePoolArguments[slices.IndexFunc(nodePoolArguments, func(a Argument) bool { return a.Path == path })]
}

// Keys returns the path of the argument's key in gcloud's JSON, below the key of the block
// around it.
func (a Argument) Keys() []string {
	if a.Key != "" {
		return strings.Split(a.Key, ".")
	}
	parts := strings.Split(a.Path[strings.LastIndexByte(a.Path, '.')+1:], "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return []string{strings.Join(parts, "")}
}

// KeyPath returns the path of an argument's key in gcloud's JSON with dots, below the
// resource.
func KeyPath(kind string, a Argument) string {
	keys := a.Keys()
	for block, inside := cutLast(a.Path); inside; block, inside = cutLast(block) {
		i := slices.IndexFunc(Arguments(kind), func(b Argument) bool { return b.Path == block })
		keys = append(Arguments(kind)[i].Keys(), keys...)
	}
	return strings.Join(keys, ".")
}

// cutLast returns a path without its last name, and reports whether it had another one.
func cutLast(path string) (string, bool) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], i > 0
}

// Replacement is an argument of a resource that the provider cannot change in place.
type Replacement struct {
	Path string // as in Argument; it may name a block
	// Computed arguments keep their value if the configuration no longer sets them: unsetting
	// one replaces nothing.
	Computed  bool
	Triggered bool // see the flag
	// Forces reports whether a change from one value to another replaces the resource. If it
	// is nil, every change does.
	Forces func(from, to string) bool
}

// Replacements returns the arguments of a type of resource that the provider cannot change
// in place, among the arguments that a platform sets. A review reads them to list the
// resources that a change replaces. It returns nil for a type that no platform has.
func Replacements(kind string) []Replacement {
	if Arguments(kind) == nil {
		return otherReplacements[kind]
	}
	return replacementsWith(kind, func(f Flags) bool { return !f.Is(Foreign) })
}

// ForeignReplacements returns the arguments that no platform sets, and that replace a
// resource that was made elsewhere: the resource has the argument, and the configuration
// does not. It returns nil for a type that is never taken over. Arguments in a block of the
// list are omitted.
func ForeignReplacements(kind string) []Replacement {
	return replacementsWith(kind, func(f Flags) bool { return f.Is(Foreign) })
}

// replacementsWith returns the rows of a type that replace the resource and have some facts.
func replacementsWith(kind string, is func(Flags) bool) []Replacement {
	var out []Replacement
	for _, a := range Arguments(kind) {
		if (a.Is(Replaces) || a.Is(Triggered)) && is(a.Flags) {
			out = append(out, Replacement{
				Path: a.Path, Computed: a.Is(Computed) && !a.Is(Block), Triggered: a.Is(Triggered),
			})
		}
	}
	return out
}

// otherReplacements holds the replacing arguments of the other types of resources.
//
// Source: the schema of the provider hashicorp/google 7.45.0, ForceNew.
var otherReplacements = map[string][]Replacement{
	"google_compute_firewall": {{Path: "name"}, {Path: "direction", Computed: true}},
	"google_compute_network":  replacing("auto_create_subnetworks", "name", "network_profile"),
	"google_compute_reservation": replacing(
		"name", "zone", "specific_reservation_required",
		"specific_reservation.instance_properties",
		"specific_reservation.instance_properties.machine_type",
		"specific_reservation.instance_properties.guest_accelerators",
		"specific_reservation.instance_properties.guest_accelerators.accelerator_type",
		"specific_reservation.instance_properties.guest_accelerators.accelerator_count",
		"specific_reservation.instance_properties.local_ssds",
		"specific_reservation.instance_properties.local_ssds.interface",
		"specific_reservation.instance_properties.local_ssds.disk_size_gb",
	),
	"google_compute_resource_policy": {
		{Path: "workload_policy.type"}, {Path: "workload_policy.accelerator_topology"},
		{Path: "region", Computed: true}, {Path: "name", Triggered: true},
	},
	"google_compute_router":     {{Path: "name"}, {Path: "network"}, {Path: "region", Computed: true}},
	"google_compute_router_nat": {{Path: "name"}, {Path: "router"}, {Path: "region", Computed: true}},
	"google_compute_subnetwork": {
		{Path: "name"}, {Path: "network"}, {Path: "region", Computed: true},
		// The range can grow in place.
		// Source: the provider's own code, resource_compute_subnetwork.go.
		{
			Path: "ip_cidr_range", Computed: true,
			Forces: func(from, to string) bool { return !coversRange(to, from) },
		},
	},
	"google_project_iam_binding": replacing("project", "role", "condition", "condition.title", "condition.expression"),
	"google_project_iam_member": replacing(
		"project", "role", "member", "condition", "condition.title", "condition.expression",
	),
	"google_storage_bucket":            replacing("name", "location"),
	"google_storage_bucket_iam_policy": replacing("bucket"),
	"google_storage_bucket_iam_member": replacing("bucket", "role", "member"),
	"google_vertex_ai_tensorboard":     {{Path: "region", Computed: true}},
}

// replacing returns arguments of which every change replaces the resource.
func replacing(paths ...string) []Replacement {
	out := make([]Replacement, len(paths))
	for i, p := range paths {
		out[i].Path = p
	}
	return out
}

// coversRange reports whether the address range outer contains the address range
// inner. It returns false if either is not an address range.
func coversRange(outer, inner string) bool {
	o, err := netip.ParsePrefix(outer)
	if err != nil {
		return false
	}
	i, err := netip.ParsePrefix(inner)
	return err == nil && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}
