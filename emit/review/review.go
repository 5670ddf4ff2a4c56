// Package review tells what a change of a blueprint means.
//
// Two states of a platform go in, each a plan with the folder that was rendered
// from it. What changed comes out twice: in the platform's own words, from the
// plans (Summary), and object by object, from the folders (Objects), with what
// Terraform must replace (Replacements). A printer for each format writes a
// Review; all of them say what left the configuration and what must be replaced
// when it is applied, and nothing that only Google Cloud knows.
package review

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// State is one side of a comparison.
type State struct {
	// Label is how the side is called: a revision, a folder, "the blueprint".
	Label string
	// Plan is nil where only a folder is known, as of one on disk: a comparison
	// with it has no summary, and replacements do not say what hangs on them.
	Plan *ir.Platform
	// Tree is the folder, sorted by path.
	Tree emit.Tree
}

// Review is what changed from one state to another. Its slices are nil where
// there is nothing to say.
type Review struct {
	// Platform is the name of the later state's plan, or of the earlier's; ""
	// where neither is known.
	Platform      string
	Before, After string // the states' labels

	// Replacements are the Terraform resources that must be replaced when the
	// change is applied: clusters first, then reservations, buckets and node
	// pools, then the others; each by address.
	Replacements []Replacement
	// Summary is in the platform's own words, by topic.
	Summary []Line
	// Objects are by file, then by kind and name.
	Objects []Object
	// Formatting counts the files that differ, and whose objects do not: in
	// comments, order or layout.
	Formatting int
}

// Same tells whether nothing but formatting changed.
func (r *Review) Same() bool {
	return len(r.Replacements)+len(r.Summary)+len(r.Objects) == 0
}

// Compare compares two states. An error means that a folder holds a file that
// cannot be read as what its name says.
func Compare(before, after State) (*Review, error) {
	objects, formatting, err := compareTrees(before.Tree, after.Tree)
	if err != nil {
		return nil, err
	}
	r := &Review{Before: before.Label, After: after.Label, Objects: objects, Formatting: formatting}
	for _, plan := range []*ir.Platform{before.Plan, after.Plan} {
		if plan != nil {
			r.Platform = plan.Name
		}
	}
	if before.Plan != nil && after.Plan != nil {
		r.Summary = summarise(before.Plan, after.Plan)
	}
	r.Replacements, err = replacements(before, after)
	return r, err
}

// Op is what happened to something.
type Op string

// What can happen.
const (
	Added   Op = "added"
	Removed Op = "removed" // from the configuration
	Changed Op = "changed"
)

// Object is one that changed: a Terraform block, a Kubernetes object, a build
// step, a dashboard, or a file of another kind as a whole.
type Object struct {
	File string // in the folder
	Line int    // of the object in the later state's file, or in the earlier's where it was removed; from 1
	Kind string // such as "resource google_container_node_pool", "ClusterQueue", "step", "dashboard", "file"
	Name string // "NAMESPACE/NAME" in a namespace
	Op   Op
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

// Replacement is a Terraform resource, or some instances of it, that cannot be
// changed in place.
type Replacement struct {
	Address string // such as google_container_node_pool.slices["slices-1"]
	File    string
	Line    int
	// Because are the arguments that force it: by path, with their values, or,
	// where the argument refers to another resource that is replaced, that
	// resource's address in Because[i].To.
	Because []Field
	// Nodes is the most that a pool can have, Workloads are those of the teams
	// that run there, "TEAM/NAME", sorted. Of a cluster they are of all pools.
	Nodes     int
	Workloads []string
}

// Topic is what a line of the summary is about.
type Topic string

// Topics, in the order of a summary.
const (
	TopicCluster    Topic = "cluster"     // versions, networks, monitoring, delivery
	TopicCapacity   Topic = "capacity"    // nodes and accelerators there are
	TopicTeams      Topic = "teams"       // teams, cohorts and who belongs to them
	TopicQueues     Topic = "queues"      // which queues there are, and for whom
	TopicQuota      Topic = "quota"       // what a queue has of a capacity
	TopicPriority   Topic = "priority"    // classes, and who preempts whom
	TopicAccess     Topic = "access"      // who may submit, and who reaches the cluster
	TopicWorkloads  Topic = "workloads"   // jobs of the teams
	TopicCloudQuota Topic = "cloud quota" // quota that Google Cloud has to grant
)

var topics = []Topic{TopicCluster, TopicCapacity, TopicTeams, TopicQueues, TopicQuota, TopicPriority, TopicAccess, TopicWorkloads, TopicCloudQuota}

// before tells whether a topic stands before another.
func (t Topic) before(other Topic) bool {
	return slices.Index(topics, t) < slices.Index(topics, other)
}

// Line is one line of the summary.
type Line struct {
	Topic   Topic
	Op      Op
	Subject string // such as `team "vision"`
	// What of the subject changed, such as "nominal quota of l4-spot in batch";
	// "" for the subject as a whole.
	What string
	// From and To are values with their units; "" where Op says all, or for no
	// value.
	From, To string
	// Note adds what one has to know to judge the change, such as what the
	// cohort now guarantees and what there is. Or "".
	Note string
}
