package objects

import "github.com/batchwright/batchwright/emit/review/delta"

// Object is one that changed: a Terraform block, a Kubernetes object, a build
// step, a dashboard, or a file of another kind as a whole.
type Object struct {
	File string // in the folder
	Line int    // of the object in the later state's file, or in the earlier's where it was removed; from 1
	Kind string // such as "resource google_container_node_pool", "ClusterQueue", "step", "dashboard", "file"
	Name string // "NAMESPACE/NAME" in a namespace
	Op   delta.Op
	// Fields are those of a changed object, by path.
	Fields []Field
}

// Field is one value of an object.
type Field struct {
	// Path is as in the format: elements of lists stand by the key that the API
	// gives them, as in "spec.resourceGroups[0].flavors[l4-spot].resources[cpu].nominalQuota".
	Path string
	// From and To are in one line, shortened where they are long; "" where the
	// field is not there.
	From, To string
}

// Replacement is a Terraform resource, or an instance of it, that cannot be
// changed in place, or that holds nodes or data and left the configuration.
type Replacement struct {
	Address string // such as google_container_node_pool.slices["slices-1"]
	File    string
	Line    int
	// Because are the arguments that force it: by path, with their values, or,
	// where the argument refers to another resource that is replaced, that
	// resource's address in Because[i].To. Of what left there are none, and File
	// and Line are the earlier state's.
	Because []Field
	// Nodes is the most that a pool can have, Workloads are those of the teams
	// that run there, "TEAM/NAME", sorted. Of a cluster they are of all pools.
	Nodes     int
	Workloads []string
	// Guard is what Terraform or Google Cloud refuse to destroy it for, as it was,
	// such as "while deletion protection is on"; "" for nothing known.
	Guard string
}
