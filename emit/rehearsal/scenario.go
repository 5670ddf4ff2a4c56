// Package rehearsal defines a rehearsal: a Scenario goes into the engine, and a History
// comes out. OfDemonstration builds the Scenario of a platform's demonstration, and
// Differences compares the History with what the demonstration expects.
//
// An engine is a program of its own, because it contains a scheduler: batchwright-rehearse
// contains Kueue, and batchwright-rehearse-kai contains KAI Scheduler. Both types travel as
// JSON. A time is a number of whole seconds from the start of the
// rehearsal.
package rehearsal

import (
	"encoding/json"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Scenario is all that the engine needs to know.
type Scenario struct {
	Name      string    `json:"name"`      // of the rehearsal
	Scheduler Scheduler `json:"scheduler"` // that the platform installs
	Until     int64     `json:"until"`     // end of the rehearsal
	// Objects are the platform's objects in the cluster: the scheduler's configuration and
	// queues, flavors, PriorityClasses and Namespaces.
	Objects   []json.RawMessage `json:"objects"`
	Templates []Template        `json:"templates"`
	Jobs      []Job             `json:"jobs"`  // by time of submission, then in the order of submission
	Pools     []Pool            `json:"pools"` // by name
	// Limits bound the nodes of all pools together. A limit that the most nodes of all pools
	// keep is omitted.
	Limits []Limit `json:"limits,omitempty"`
	Holds  []Hold  `json:"holds,omitempty"`
	// Changes are the changes of Objects, by time. A scenario with changes has no holds. Only
	// the engine of Kueue plays changes.
	Changes []Change `json:"changes,omitempty"`
	// Looks are the times at which the engine records the State, ascending. A look sees
	// everything that has happened at its time.
	Looks []int64 `json:"looks,omitempty"`
	// ReversedTies makes the later of two jobs that were submitted in one second the
	// earlier one. The scheduler breaks such ties by chance.
	ReversedTies bool `json:"reversedTies,omitempty"`
}

// Limit bounds what all nodes together have of a resource: GKE's node auto-provisioning
// creates no node beyond it, in any pool.
type Limit struct {
	Resource string  `json:"resource"` // a key of Pool.Machine
	Most     float64 `json:"most"`
}

// Hold is a period in which ClusterQueues are stopped. If several are in force for a
// ClusterQueue, Drain wins.
type Hold struct {
	ClusterQueues []string `json:"queues"`
	From          int64    `json:"from"`
	To            int64    `json:"to,omitempty"` // 0 means until the end
	// Drain reports whether the jobs that have quota are evicted.
	Drain bool `json:"drain,omitempty"`
}

// Change is a change of the platform while its jobs run: the scheduler sees the new objects
// at one moment. What a job requests stays as its Template says.
type Change struct {
	At int64 `json:"at"`
	// Objects are all objects of the platform from then on. The platform's other objects are
	// deleted, and the jobs of a Namespace with it. The scheduler's configuration, which it
	// reads when it starts, must be the same as before.
	Objects []json.RawMessage `json:"objects"`
}

// Scheduler is a release of a scheduler.
type Scheduler struct {
	Name    ir.Scheduler `json:"name"`
	Version string       `json:"version"` // such as "0.19.2"
}

// Title returns the name and the release as a sentence says them, such as "Kueue 0.19.2".
func (s Scheduler) Title() string {
	name := string(s.Name)
	if slices.Contains(ir.Schedulers(), s.Name) {
		name = s.Name.Facts().Name
	}
	return name + " " + s.Version
}

// Decider says which release decided, such as "Kueue 0.19.2", and if the platform installs
// another one, also that: "KAI Scheduler 0.12.0 in place of 0.17.0".
func Decider(s *Scenario, h *History) string {
	decided, installed := h.Scheduler, s.Scheduler
	if decided.Version == installed.Version {
		return decided.Title()
	}
	return decided.Title() + " in place of " + installed.Version
}

// Template is a job that is submitted many times.
type Template struct {
	Name string `json:"name"` // of the workload in the blueprint
	Team string `json:"team"`
	Tier string `json:"tier"`
	// Namespace is the namespace of the jobs.
	Namespace string `json:"namespace"`
	// Accelerators is the number of GPUs or TPU chips that all pods of a job request
	// together, 0 for none.
	Accelerators int `json:"accelerators,omitempty"`
	// MilliCPU is the number of thousandths of vCPUs, as Accelerators.
	MilliCPU int `json:"milliCPU,omitempty"`
	// Pods is the number of pods, without additional pods.
	Pods int `json:"pods"`
	// PodAccelerators are the accelerators that a pod requests, by the pod set that the
	// scheduler makes of the pods. A pod set without accelerators is omitted.
	PodAccelerators map[string]int `json:"podAccelerators,omitempty"`
	// PodMilliCPU are the thousandths of vCPUs that a pod requests, as PodAccelerators.
	PodMilliCPU map[string]int `json:"podMilliCPU,omitempty"`
	// Capacities are the capacities that the jobs can run on.
	Capacities []string        `json:"capacities"`
	Object     json.RawMessage `json:"object"` // manifest of the job
}

// Job is one submission of a template.
type Job struct {
	Name     string `json:"name"` // of the object, unique in its namespace
	Template int    `json:"template"`
	At       int64  `json:"at"`
	// Runs is the time from the start of all pods to their end. 0 means that the job
	// runs until it is deleted.
	Runs int64 `json:"runs,omitempty"`
	// PodRuns are the times that the pods run if they are independent of each other: each
	// from its own start to its own end. Runs is 0 then, and the job ends with its last pod.
	PodRuns []int64 `json:"podRuns,omitempty"`
	// Deleted is the time at which somebody deletes the job. 0 means never.
	Deleted int64 `json:"deleted,omitempty"`
	// Checkpoint is the time between two checkpoints. A job that is evicted goes on
	// from its last checkpoint. 0 means that it starts again.
	Checkpoint int64 `json:"checkpoint,omitempty"`
}

// Pool is the nodes of a capacity.
type Pool struct {
	Name string `json:"name"` // of the capacity and of its ResourceFlavor
	// PerNode are the amounts that a node has for the pods of jobs, by resource, as
	// Kubernetes writes quantities.
	PerNode map[string]string `json:"perNode"`
	// Machine is what a node counts for each of the scenario's limits, by resource.
	Machine map[string]float64 `json:"machine,omitempty"`
	Min     int                `json:"min"` // nodes that always exist
	Max     int                `json:"max"` // most nodes at a time
	// Together is the number of nodes that GKE creates and deletes together, such as
	// the hosts of a TPU slice. 1 for most pools.
	Together int `json:"together"`
	// Startup is the time from the moment at which a pod needs a node until pods start
	// on the new node.
	Startup int64 `json:"startup"`
	// Idle is the time after which a node without pods is deleted.
	Idle int64 `json:"idle"`
	// Labels and Taints are those of each node. Only the engine of KAI Scheduler reads them.
	Labels map[string]string `json:"labels,omitempty"`
	Taints []Taint           `json:"taints,omitempty"`
	// Available bounds the nodes in periods that do not overlap, by time.
	Available []Availability `json:"available,omitempty"`
	// Cordoned are the times at which the number of cordoned nodes changes, ascending: the
	// last nodes keep their pods, and start no others. Only the engine of KAI Scheduler
	// plays it.
	Cordoned []Count `json:"cordoned,omitempty"`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"` // as Kubernetes writes it
}

// Availability bounds a pool from one time to another.
type Availability struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // 0 means until the end
	Max  int   `json:"max"`
	// Keeps reports whether nodes that exist stay. If not, the last nodes of the pool
	// are taken away, with their pods.
	Keeps bool `json:"keeps,omitempty"`
}
