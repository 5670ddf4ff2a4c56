package folders_test

import (
	"testing"

	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// policy is a platform whose tiers decide all that they can decide about their queues.
const policy = `package platform

name:    "policy"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]

labels: campus: "north"
hardware: l4: machine: "g2-standard-24"
capacity: {
	spot: {hardware: "l4", consumption: spot: {}, maxNodes: 8}
	demand: {hardware: "l4", consumption: onDemand: {}, maxNodes: 8}
}
cohorts: research: {}
tiers: {
	batch: {
		priority: 10, default: true, capacity: ["spot", "demand"]
		namespaces: [{label: "campus", in: ["north"]}, {label: "frozen", exists: false}]
		nextCapacity: {beforeBorrowing: true, prefer: "evict"}
	}
	urgent: {
		workloadPriorities: {normal: 20, high: 30}
		capacity: ["demand"]
		preempts: {toBorrow: "LowerPriority", toBorrowUpTo: 15}
	}
	theirs: {priorities: others: existing: 40, capacity: ["demand"]}
}
teams: [string]: {
	cohort: "research"
	quota: batch: {spot: {accelerators: 4, borrow: 2}, demand: borrow: 2}
	quota: urgent: demand: {accelerators: 2, borrow: 2}
	quota: theirs: demand: accelerators: 2
}
teams: {
	vision: queues: {batch: localQueues: {daily: {}, nightly: stop: "Hold"}, urgent: stop: "None"}
	speech: {}
}
workloads: tune: {
	tier:     "urgent"
	priority: "high"
	perPod: {accelerators: 1, cpu: 2, memory: "8Gi"}
	image: "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"
	command: ["python", "-m", "tune"]
}
`

// TestPolicy compiles a platform with all that tiers decide about their queues.
func TestPolicy(t *testing.T) {
	checkFolder(t, fixture.FS(compile.Text(t, policy)))
}
