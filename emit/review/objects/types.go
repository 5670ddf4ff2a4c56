package objects

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/emit/review/delta"
)

// Object is a changed object: a Terraform block, a Kubernetes object, a build step,
// a dashboard, or a whole file of another kind.
type Object struct {
	File string   `json:"file"` // relative to the folder
	Line int      `json:"line"` // from 1: in the later file, or in the earlier file if the object was removed
	Kind string   `json:"kind"` // such as "resource google_container_node_pool", "ClusterQueue", "step", "file"
	Name string   `json:"name"` // "NAMESPACE/NAME" in a namespace
	Op   delta.Op `json:"op"`
	// Fields are the changed fields of a changed object, sorted by path.
	Fields []Field `json:"fields"`
	// Note says what follows from the change, if more follows than the fields show.
	Note string `json:"note,omitempty"`
	// Origin says where the change comes from. Compare leaves it FromBlueprint.
	Origin Origin `json:"origin,omitempty"`
}

// Origin says where a change of a folder comes from.
type Origin string

// The origins.
const (
	FromBlueprint Origin = ""            // the blueprint, or it is not known
	FromTool      Origin = "batchwright" // another version of batchwright, or an old folder
	FromEdit      Origin = "edit"        // the folder was edited by hand
)

// Field is one changed value of an object.
type Field struct {
	// Path is the field's path in the notation of the format. An element of a list
	// is identified by the key that the API defines, as in
	// "spec.resourceGroups[0].flavors[l4-spot].resources[cpu].nominalQuota".
	Path string `json:"path"`
	// From and To are the values on one line, shortened if they are long; "" if the
	// field is absent.
	From string `json:"from"`
	To   string `json:"to"`
}

// Replacement is a Terraform resource, or an instance of it, that cannot be changed
// in place, or that holds nodes or data and left the configuration.
type Replacement struct {
	Address string `json:"address"` // such as google_container_node_pool.slices["slices-1"]
	File    string `json:"file"`
	Line    int    `json:"line"`
	// Because lists the arguments that force the replacement, with their paths and
	// values. If an argument refers to another resource that is replaced,
	// Because[i].To is the address of that resource. For a resource that left the
	// configuration Because is empty, and File and Line are those of the earlier
	// state.
	Because []Field `json:"because"`
	// Nodes is the largest number of nodes that a pool can have, and Workloads are
	// the teams' workloads that run there, "TEAM/NAME", sorted. For a cluster they
	// cover all pools.
	Nodes     int      `json:"nodes"`
	Workloads []string `json:"workloads"`
	// Hardware is the hardware class of a node pool's nodes in the blueprint; "" for other
	// resources and for the system's pool.
	Hardware string `json:"hardware"`
	// Fixed reports whether a node pool always has Nodes nodes.
	Fixed bool `json:"fixed"`
	// Guard is the condition, in the earlier state, under which Terraform or Google
	// Cloud refuses to destroy the resource, such as "while deletion protection is
	// on"; "" if none is known.
	Guard string `json:"guard"`
	// Order says how several builds make the change that one build cannot make; "" if one
	// build can.
	Order string `json:"order"`
	// Origin says where the change comes from. EffectsOf leaves it FromBlueprint.
	Origin Origin `json:"origin,omitempty"`
}

// Noun returns the word for the type of a resource with nodes or data, such as "node pool"; "" for
// other resources.
func (r Replacement) Noun() string {
	kind := kindOf(r.Address)
	if !slices.Contains(grave, kind) {
		return ""
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(kind, "google_"), "_")
	return strings.ReplaceAll(name, "_", " ")
}

// Name returns the address without the type, such as slices["slices-1"].
func (r Replacement) Name() string {
	_, name, _ := strings.Cut(r.Address, kindOf(r.Address)+".")
	return name
}

// IsCluster reports whether the resource is a cluster.
func (r Replacement) IsCluster() bool { return kindOf(r.Address) == "google_container_cluster" }
