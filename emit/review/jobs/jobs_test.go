package jobs_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/losses"
	"github.com/batchwright/batchwright/emit/review/jobs"
)

// small is the platform before each change: two teams lend each other quota.
const small = `package platform

name:    "small"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a", "us-central1-b"]
cluster: maintenance: {days: ["SA", "SU"], start: "03:00", hours: 6}

hardware: l4: machine: "g2-standard-24"
capacity: spot: {hardware: "l4", consumption: spot: {}, maxNodes: 16}
capacity: demand: {hardware: "l4", consumption: onDemand: {}, nodes: 8}

tiers: batch: {priorities: {low: 10, high: 20}, default: true, capacity: ["spot", "demand"]}
tiers: batch: {queueing: "BestEffortFIFO", preempts: toReclaim: "Never"}
tiers: urgent: {priority: 50, capacity: ["demand"], preempts: toReclaim: "LowerPriority"}

cohorts: {research: {}, products: {}}
teams: vision: {
	cohort: "research"
	members: ["user:vera@example.com"]
	quota: batch: {spot: {accelerators: 8, borrow: 4}, demand: {accelerators: 2, borrow: 2}}
	quota: urgent: demand: accelerators: 4
}
teams: speech: {
	cohort: "research"
	members: ["user:sam@example.com"]
	quota: batch: {spot: {accelerators: 8, borrow: 4}, demand: {accelerators: 2, borrow: 2}}
	quota: urgent: demand: accelerators: 4
}
teams: apps: {
	cohort: "products"
	members: ["user:anna@example.com"]
	quota: batch: spot: accelerators: 8
}
`

// kai is the same with KAI Scheduler.
const kai = `package platform

name:      "small"
project:   "my-project"
region:    "us-central1"
zones: ["us-central1-a"]
scheduler: "kai"

hardware: l4: machine: "g2-standard-24"
capacity: spot: {hardware: "l4", consumption: spot: {}, maxNodes: 16}
tiers: gpu: {priorities: {low: 10, high: 20}, capacity: ["spot"]}
cohorts: {research: priority: 100, products: priority: 50}
teams: [string]: quota: gpu: spot: {accelerators: 8, borrow: 8}
teams: vision: {cohort: "research", members: ["user:vera@example.com"]}
teams: speech: {cohort: "research", members: ["user:sam@example.com"]}
`

// argoCD lets Argo CD apply the objects in the cluster.
var argoCD = []string{"cluster: maintenance", "delivery: {gitops: \"argocd\", source: repository: " +
	"\"https://github.com/example/platforms\"}\ncluster: maintenance"}

// changes are changes of a platform, with their effects in short.
var changes = []struct {
	name      string
	blueprint string   // small if empty
	given     []string // replacements in the blueprint before the change
	edits     []string // replacements that are the change
	lost      []losses.Loss
	want      []string
}{
	{
		name: "nothing",
	},
	{
		name:  "labels and taints of nodes",
		given: []string{"maxNodes: 16", `maxNodes: 16, nodeLabels: pool: "a"`},
		edits: []string{
			`nodeLabels: pool: "a"`, `nodeTaints: [{key: "team", effect: "NoExecute"}, {key: "other"}]`,
		},
		want: []string{
			`capacity "spot": new taint team=:NoExecute | jobs of apps, speech, vision | stop, -, -`,
			`capacity "spot": its nodes lose labels | jobs of apps, speech, vision | -, never start, never start`,
		},
	},
	{
		name: "a team leaves",
		edits: []string{
			"teams: apps: {\n\tcohort: \"products\"\n\tmembers: [\"user:anna@example.com\"]\n\tquota: batch: " +
				"spot: accelerators: 8\n}\n",
			"",
		},
		want: []string{
			"the team leaves the platform | jobs of apps | stop, never start, never start",
		},
	},
	{
		name: "a tier leaves",
		edits: []string{
			`tiers: urgent: {priority: 50, capacity: ["demand"], preempts: toReclaim: "LowerPriority"}`,
			"",
			"	quota: urgent: demand: accelerators: 4\n",
			"",
		},
		want: []string{
			"tier urgent leaves the platform | jobs of speech, vision in tier urgent | stop, never start, is " +
				"rejected",
			"what other queues lend tier batch of demand: 10 -> 2 GPUs | jobs of speech, vision in tier batch | " +
				"run on, wait, wait",
		},
	},
	{
		name: "a team loses a tier",
		edits: []string{
			"user:sam@example.com\"]\n\tquota: batch: {spot: {accelerators: 8, borrow: 4}, demand: " +
				"{accelerators: 2, borrow: 2}}\n\tquota: urgent: demand: accelerators: 4\n",
			"user:sam@example.com\"]\n\tquota: batch: {spot: {accelerators: 8, borrow: 4}, demand: " +
				"{accelerators: 2, borrow: 2}}\n",
		},
		want: []string{
			"no queue in tier urgent any more | jobs of speech in tier urgent | stop, never start, is rejected",
			"what other queues lend tier batch of demand: 10 -> 6 GPUs | jobs of speech, vision in tier batch | " +
				"may stop, wait, wait",
		},
	},
	{
		name:  "namespace",
		edits: []string{"teams: apps: {", "teams: apps: {\n\tnamespace: \"shop\""},
		want: []string{
			"the team's namespace changes | jobs of apps | run on, never start, never start",
		},
	},
	{
		name: "namespace of a queue for labels that it has",
		given: []string{"teams: apps: {", "teams: apps: {\n\tlabels: stage: \"live\"", "queueing: \"BestEffortFIFO\"",
			"queueing: \"BestEffortFIFO\", namespaces: [{label: \"stage\", notIn: [\"test\"]}]"},
		edits: []string{"teams: apps: {", "teams: apps: {\n\tnamespace: \"shop\""},
		want: []string{
			"the team's namespace changes | jobs of apps | run on, -, start elsewhere",
		},
	},
	{
		name: "fewer namespaces by a condition",
		given: []string{"queueing: \"BestEffortFIFO\"",
			"queueing: \"BestEffortFIFO\", namespaces: [{label: \"stage\", notIn: [\"test\"]}]"},
		edits: []string{"[\"test\"]}]", "[\"test\"]}, {label: \"frozen\", exists: false}]"},
		want: []string{
			"fewer namespaces may use the queue of tier batch | jobs of apps, speech, vision in tier batch | run on, " +
				"never start, never start",
		},
	},
	{
		name: "namespace of a queue for all",
		edits: []string{
			"queueing: \"BestEffortFIFO\"",
			"queueing: \"BestEffortFIFO\", namespaces: \"all\"",
			"teams: apps: {",
			"teams: apps: {\n\tnamespace: \"shop\"",
		},
		want: []string{
			"the team's namespace changes | jobs of apps | run on, -, start elsewhere",
		},
	},
	{
		name:  "ClusterQueue",
		edits: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: clusterQueue: \"big\""},
		want: []string{
			"another name of the ClusterQueue of tier batch | jobs of apps in tier batch | stop, wait, -",
		},
	},
	{
		name:  "LocalQueue",
		edits: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: localQueue: \"big\""},
		want: []string{
			"another name of the LocalQueue of tier batch | jobs of apps in tier batch | -, -, is rejected",
		},
	},
	{
		name: "ClusterQueue and LocalQueue",
		edits: []string{
			"teams: apps: {",
			"teams: apps: {\n\tqueues: batch: {localQueue: \"big\", clusterQueue: \"big\"}",
		},
		want: []string{
			"another name of the ClusterQueue of tier batch | jobs of apps in tier batch | stop, never " +
				"start, is rejected",
		},
	},
	{
		name:  "stop",
		edits: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: stop: \"Hold\""},
		want: []string{
			"stop of the queue of tier batch: None -> Hold | jobs of apps in tier batch | run on, wait, wait",
		},
	},
	{
		name:  "stop of a LocalQueue",
		given: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: localQueues: {day: {}, night: {}}"},
		edits: []string{"night: {}", "night: stop: \"Hold\""},
		want: []string{
			"stop of LocalQueue night: None -> Hold | jobs of apps in tier batch | run on, wait, wait",
		},
	},
	{
		name:  "another LocalQueue",
		given: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: localQueues: {day: {}, night: {}}"},
		edits: []string{"night: {}", "noon: {}"},
		want: []string{
			"another name of the LocalQueue of tier batch | jobs of apps in tier batch | -, -, is rejected",
		},
	},
	{
		name:  "AdmissionCheck",
		edits: []string{`queueing: "BestEffortFIFO"`, `queueing: "BestEffortFIFO", admissionChecks: budget: "all"`},
		want: []string{
			"AdmissionCheck budget of tier batch | jobs of apps, speech, vision in tier batch | -, wait, wait",
		},
	},
	{
		name: "no AdmissionCheck",
		given: []string{
			`queueing: "BestEffortFIFO"`, `queueing: "BestEffortFIFO", admissionChecks: budget: ["demand"]`,
		},
		edits: []string{`, admissionChecks: budget: ["demand"]`, ""},
		want: []string{
			"no AdmissionCheck budget of tier batch | jobs of speech, vision in tier batch | -, may start, may start",
		},
	},
	{
		name:  "drain",
		given: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: stop: \"Hold\""},
		edits: []string{"\"Hold\"", "\"HoldAndDrain\""},
		want: []string{
			"stop of the queue of tier batch: Hold -> HoldAndDrain | jobs of apps in tier batch | stop, wait, wait",
		},
	},
	{
		name:  "start again",
		given: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: stop: \"Hold\""},
		edits: []string{"\tqueues: batch: stop: \"Hold\"", ""},
		want: []string{
			"stop of the queue of tier batch: Hold -> None | jobs of apps in tier batch | -, may start, may start",
		},
	},
	{
		name:  "queueing",
		edits: []string{"BestEffortFIFO", "StrictFIFO"},
		want: []string{
			"queueing of tier batch: BestEffortFIFO -> StrictFIFO | jobs of apps, speech, vision in tier " +
				"batch | -, wait, wait",
		},
	},
	{
		name: "overtaking",
		given: []string{
			`queueing: "BestEffortFIFO", preempts: toReclaim: "Never"`, `queueing: "StrictFIFO"`,
		},
		edits: []string{`queueing: "StrictFIFO"`, `queueing: "BestEffortFIFO"`},
		want: []string{
			"queueing of tier batch: StrictFIFO -> BestEffortFIFO | jobs of speech, vision in tier batch | may " +
				"stop, may start, may start",
			"queueing of tier batch: StrictFIFO -> BestEffortFIFO | jobs of apps in tier batch | -, may start, " +
				"may start",
		},
	},
	{
		name: "next capacity",
		edits: []string{
			`queueing: "BestEffortFIFO"`, `queueing: "BestEffortFIFO", nextCapacity: beforeBorrowing: true`,
		},
		want: []string{
			"nextCapacity of tier batch | jobs of speech, vision in tier batch | -, start elsewhere, start elsewhere",
		},
	},
	{
		name:  "order of capacities",
		edits: []string{`capacity: ["spot", "demand"]`, `capacity: ["demand", "spot"]`},
		want: []string{
			"order of capacities in tier batch | jobs of speech, vision in tier batch | -, start elsewhere, " +
				"start elsewhere",
		},
	},
	{
		name:  "grace period",
		edits: []string{"queueing: \"BestEffortFIFO\"", "queueing: \"BestEffortFIFO\", maxGraceSeconds: 60"},
		want: []string{
			"longest grace period in tier batch: 120 -> 60 seconds | jobs of apps, speech, vision in tier " +
				"batch | -, -, is rejected",
		},
	},
	{
		name:  "lower quota",
		edits: []string{"demand: accelerators: 4\n", "demand: accelerators: 2\n"},
		want: []string{
			"largest job of tier urgent: 4 -> 2 GPUs | jobs of speech, vision in tier urgent | run on, never " +
				"start, is rejected",
			"what other queues lend tier batch of demand: 10 -> 6 GPUs | jobs of speech, vision in tier batch | " +
				"may stop, wait, wait",
			"quota of demand in tier urgent: 4 -> 2 GPUs | jobs of speech, vision in tier urgent | run on, " +
				"wait, wait",
		},
	},
	{
		name:  "higher quota",
		edits: []string{"batch: spot: accelerators: 8", "batch: spot: accelerators: 12"},
		want: []string{
			"quota of spot in tier batch: 8 -> 12 GPUs | jobs of apps in tier batch | -, may start, may start",
		},
	},
	{
		name:  "borrowing limit",
		edits: []string{"{accelerators: 8, borrow: 4}", "{accelerators: 8, borrow: 2}"},
		want: []string{
			"largest job of tier batch: 12 -> 10 GPUs | jobs of speech, vision in tier batch | run on, never " +
				"start, is rejected",
			"borrowing limit of spot in tier batch: 4 -> 2 GPUs | jobs of speech, vision in tier batch " +
				"| run on, wait, wait",
		},
	},
	{
		name:  "no borrowing",
		edits: []string{"{accelerators: 8, borrow: 4}", "accelerators: 8"},
		want: []string{
			"largest job of tier batch: 12 -> 8 GPUs | jobs of speech, vision in tier batch | run on, never " +
				"start, is rejected",
			"borrowing limit of spot in tier batch: 4 GPUs -> none | jobs of speech, vision in tier batch | " +
				"run on, wait, wait",
		},
	},
	{
		name:  "lending limit",
		edits: []string{"{accelerators: 8, borrow: 4}", "{accelerators: 8, borrow: 4, lend: 2}"},
		want: []string{
			"largest job of tier batch: 12 -> 10 GPUs | jobs of speech, vision in tier batch | run on, never " +
				"start, is rejected",
			"what tier batch can borrow of spot: 4 -> 2 GPUs | jobs of speech, vision in tier " +
				"batch | run on, wait, wait",
		},
	},
	{
		name: "a team moves",
		edits: []string{
			"\tcohort: \"research\"\n\tmembers: [\"user:sam",
			"\tcohort: \"products\"\n\tmembers: [\"user:sam",
		},
		want: []string{
			"largest job of tier batch: 12 -> 8 GPUs | jobs of vision in tier batch | run on, never start, " +
				"is rejected",
			"cohort: research -> products | jobs of speech | may stop, wait, wait",
			"what other queues lend tier batch of demand: 10 -> 4 GPUs | jobs of vision in tier batch | may stop, " +
				"wait, wait",
			"what tier batch can borrow of spot: 4 -> 0 GPUs | jobs of vision in tier batch | run " +
				"on, wait, wait",
		},
	},
	{
		name: "parent of a cohort",
		given: []string{
			"products: {}",
			"products: parent: \"research\"",
			"batch: spot: accelerators: 8",
			"batch: spot: {accelerators: 8, borrow: 4}",
		},
		edits: []string{"products: parent: \"research\"", "products: {}"},
		want: []string{
			"largest job of tier batch: 12 -> 8 GPUs | jobs of apps in tier batch | run on, never start, is " +
				"rejected",
			"cohort products: another parent | jobs of apps | run on, wait, wait",
			"what other queues lend tier batch of spot: 16 -> 8 GPUs | jobs of speech, vision in tier batch | " +
				"run on, wait, wait",
		},
	},
	{
		name:  "reclaiming",
		edits: []string{`preempts: toReclaim: "Never"`, `preempts: toReclaim: "Any"`},
		want: []string{
			"preemption of tier batch: toReclaim Never -> Any | jobs of speech, vision in tier batch | may " +
				"stop, may start, may start",
		},
	},
	{
		name:  "no reclaiming",
		edits: []string{`, preempts: toReclaim: "LowerPriority"`, `, preempts: toReclaim: "Never"`},
		want: []string{
			"preemption of tier urgent: toReclaim LowerPriority -> Never | jobs of speech, vision in tier " +
				"urgent | -, wait, wait",
		},
	},
	{
		name: "preemption in a queue of two classes",
		edits: []string{
			`preempts: toReclaim: "Never"`,
			`preempts: {toReclaim: "Never", inQueue: "LowerPriority"}`,
		},
		want: []string{
			"preemption of tier batch: inQueue Never -> LowerPriority | jobs of apps, speech, vision in tier " +
				"batch | may stop, may start, may start",
			`pods of PriorityClass "high" may evict others | jobs of apps, speech, vision in tier batch | ` +
				`may stop, -, -`,
		},
	},
	{
		name: "preemption in a queue of one class",
		edits: []string{
			`preempts: toReclaim: "LowerPriority"`,
			`preempts: {toReclaim: "LowerPriority", inQueue: "LowerPriority"}`,
		},
		want: []string{
			`pods of PriorityClass "urgent" may evict others | jobs of speech, vision in tier batch | may ` +
				`stop, -, -`,
		},
	},
	{
		name: "preemption of newer jobs",
		edits: []string{
			`preempts: toReclaim: "LowerPriority"`,
			`preempts: {toReclaim: "LowerPriority", inQueue: "LowerOrNewerEqualPriority"}`,
		},
		want: []string{
			"preemption of tier urgent: inQueue Never -> LowerOrNewerEqualPriority | jobs of speech, vision " +
				"in tier urgent | may stop, may start, may start",
			`pods of PriorityClass "urgent" may evict others | jobs of speech, vision in tier batch | may ` +
				`stop, -, -`,
		},
	},
	{
		name: "preemption for borrowing",
		given: []string{
			"quota: urgent: demand: accelerators: 4",
			"quota: urgent: demand: {accelerators: 4, borrow: 4}",
		},
		edits: []string{
			`preempts: toReclaim: "LowerPriority"`,
			`preempts: {toReclaim: "LowerPriority", toBorrow: "LowerPriority"}`,
		},
		want: []string{
			"preemption of tier urgent: toBorrow Never -> LowerPriority | jobs of speech, vision in tier " +
				"batch | may stop, -, -",
			"preemption of tier urgent: toBorrow Never -> LowerPriority | jobs of speech, vision in tier " +
				"urgent | -, may start, may start",
		},
	},
	{
		name: "higher limit on evictions to borrow",
		given: []string{
			`capacity: ["demand"], preempts: toReclaim: "LowerPriority"`,
			`capacity: ["demand"], preempts: {toReclaim: "LowerPriority", toBorrow: "LowerPriority", toBorrowUpTo: 5}`,
			"quota: urgent: demand: accelerators: 4", "quota: urgent: demand: {accelerators: 4, borrow: 2}",
		},
		edits: []string{"toBorrowUpTo: 5", "toBorrowUpTo: 10"},
		want: []string{
			"preemption of tier urgent: toBorrowUpTo 5 -> 10 | jobs of speech, vision in tier batch | may stop, -, -",
			"preemption of tier urgent: toBorrowUpTo 5 -> 10 | jobs of speech, vision in tier urgent | -, may start, " +
				"may start",
		},
	},
	{
		name:  "higher priority",
		edits: []string{"high: 20", "high: 30"},
		want: []string{
			`value of PriorityClass "high": 20 -> 30 | jobs of apps, speech, vision in tier batch | run on, ` +
				`wait, may start`,
		},
	},
	{
		name:  "lower priority",
		edits: []string{"high: 20", "high: 15"},
		want: []string{
			`value of PriorityClass "high": 20 -> 15 | jobs of apps, speech, vision in tier batch | run on, ` +
				`may start, wait`,
		},
	},
	{
		name:  "a priority above others",
		edits: []string{"priority: 50", "priority: 60"},
		want: []string{
			`value of PriorityClass "urgent": 50 -> 60 | jobs of speech, vision in tier urgent | run on, ` +
				`wait, may start`,
		},
	},
	{
		name:  "smaller nodes",
		given: []string{`"g2-standard-24"`, `"g2-standard-48"`},
		edits: []string{`"g2-standard-48"`, `"g2-standard-24"`},
		lost: []losses.Loss{
			{Capacity: "spot", Pool: "spot", Why: losses.Replaced},
			{Capacity: "demand", Pool: "demand", Why: losses.Replaced},
		},
		want: []string{
			`capacity "demand": its nodes are replaced | jobs of speech, vision | stop, wait, wait`,
			`capacity "spot": its nodes are replaced | jobs of apps, speech, vision | stop, wait, wait`,
			"largest node of tier batch: 4 -> 2 GPUs | jobs of apps, speech, vision in tier batch | -, never start, " +
				"is rejected",
			"largest node of tier urgent: 4 -> 2 GPUs | jobs of speech, vision in tier urgent | -, never start, " +
				"is rejected",
		},
	},
	{
		name:  "a guarantee that a queue reclaims",
		given: []string{`capacity: ["demand"], preempts: toReclaim: "LowerPriority"`, `capacity: ["demand"]`},
		edits: []string{"urgent: demand: accelerators: 4", "urgent: demand: accelerators: 5"},
		want: []string{
			"higher guarantee of demand in tier urgent | jobs of speech, vision in tier batch | may stop, -, -",
			"quota of demand in tier urgent: 4 -> 5 GPUs | jobs of speech, vision in tier urgent | -, may start, " +
				"may start",
		},
	},
	{
		name:  "guarantees beyond the nodes",
		given: []string{"maxNodes: 16}", `maxNodes: 16, accept: E0602: "bought later"}`},
		edits: []string{"maxNodes: 16", "maxNodes: 8"},
		want: []string{
			`capacity "spot": quota without nodes: 0 -> 8 GPUs | jobs of apps, speech, vision | ` +
				"-, wait, wait",
		},
	},
	{
		name: "system nodes",
		edits: []string{
			"cluster: maintenance", "cluster: systemPool: machine: \"e2-standard-8\"\ncluster: maintenance",
		},
		want: []string{
			"GKE recreates the nodes of the system node pool, one after the other | jobs of apps, speech, vision | " +
				"run on, wait, wait",
		},
	},
	{
		name: "nodes without accelerators",
		edits: []string{
			`hardware: l4: machine: "g2-standard-24"`,
			"hardware: {l4: machine: \"g2-standard-24\", cpu: machine: \"n2-standard-16\"}\n" +
				"capacity: cpu: {hardware: \"cpu\", consumption: onDemand: {}, maxNodes: 2}\n" +
				"teams: apps: quota: batch: cpu: cpus: 8",
			`capacity: ["spot", "demand"]`, `capacity: ["spot", "demand", "cpu"]`,
		},
		want: []string{
			"nodes without accelerators come to tier batch | jobs of apps in tier batch | -, -, is rejected",
			"new quota of cpu in tier batch | jobs of apps in tier batch | -, may start, may start",
		},
	},
	{
		name:  "JobSet",
		edits: []string{"cluster: maintenance", "versions: jobset: \"0.13.0\"\ncluster: maintenance"},
		want:  []string{"JobSet: 0.12.0 -> 0.13.0 | jobs of apps, speech, vision | run on, wait, wait"},
	},
	{
		name:  "a release with a defect",
		given: []string{"cluster: maintenance", "versions: kueue: \"0.19.6\"\ncluster: maintenance"},
		edits: []string{"versions: kueue: \"0.19.6\"\n", ""},
		want: []string{
			"the release has the known defect kueue-15093 | jobs of apps, speech, vision | -, -, is rejected",
			"the release has the known defect kueue-16132 | jobs of apps, speech, vision | -, -, is rejected",
			"Kueue: 0.19.6 -> 0.19.2 | jobs of apps, speech, vision | run on, wait, wait",
		},
	},
	{
		name:  "a priority that overtakes others",
		given: []string{"priority: 50", "priority: 15"},
		edits: []string{"priority: 15", "priority: 50"},
		want: []string{
			`value of PriorityClass "urgent": 15 -> 50 | jobs of speech, vision in tier batch | may stop, -, -`,
			`value of PriorityClass "urgent": 15 -> 50 | jobs of speech, vision in tier urgent | run on, ` +
				`wait, may start`,
		},
	},
	{
		name:  "a class leaves",
		edits: []string{"low: 10, high: 20", "low: 10"},
		want: []string{
			`PriorityClass "high" leaves the platform | jobs of apps, speech, vision in tier batch | run on, ` +
				`never start, is rejected`,
		},
	},
	{
		name:  "another default",
		edits: []string{"default: true, capacity", "capacity", "priority: 50, ", "priority: 50, default: true, "},
		want: []string{
			"default PriorityClass: low -> urgent | jobs of apps, speech, vision in tier batch | -, -, is rejected",
		},
	},
	{
		name:  "members",
		edits: []string{"user:anna@example.com", "user:bert@example.com"},
		want: []string{
			"people lose access to the team | jobs of apps | run on, -, is rejected",
		},
	},
	{
		name:  "roles",
		given: []string{"teams: apps: {", "teams: apps: {\n\troles: [\"roles/bigquery.user\"]"},
		edits: []string{"\troles: [\"roles/bigquery.user\"]", ""},
		want: []string{
			"roles that the jobs lose: roles/bigquery.user | jobs of apps | may stop, may stop, may stop",
		},
	},
	{
		name:  "bucket",
		given: []string{"teams: apps: {", "teams: apps: {\n\tbucket: true"},
		edits: []string{"\tbucket: true", ""},
		want: []string{
			"the team loses its bucket | jobs of apps | may stop, may stop, is rejected",
		},
	},
	{
		name:  "what jobs may use",
		given: []string{"teams: apps: {", "teams: apps: {\n\tallow: [\"nfs\"]"},
		edits: []string{"\tallow: [\"nfs\"]", ""},
		want: []string{
			"jobs may no longer use nfs | jobs of apps | -, -, is rejected",
		},
	},
	{
		name:  "fewer namespaces",
		given: []string{"queueing: \"BestEffortFIFO\"", "queueing: \"BestEffortFIFO\", namespaces: \"all\""},
		edits: []string{", namespaces: \"all\"", ""},
		want: []string{
			"fewer namespaces may use the queue of tier batch | jobs of apps, speech, vision in tier batch | " +
				"run on, never start, never start",
		},
	},
	{
		name: "sharing",
		edits: []string{
			"queueing: \"BestEffortFIFO\"",
			"queueing: \"BestEffortFIFO\", shared: quota: {spot: accelerators: 24, demand: accelerators: 4}",
			"\tquota: batch: {spot: {accelerators: 8, borrow: 4}, demand: {accelerators: 2, borrow: 2}}\n",
			"",
			"\tquota: batch: spot: accelerators: 8\n",
			"",
		},
		want: []string{
			"the teams begin to share the queue of tier batch | jobs of apps, speech, vision in tier batch | " +
				"stop, wait, -",
		},
	},
	{
		name: "another team shares",
		given: []string{
			"queueing: \"BestEffortFIFO\"",
			"queueing: \"BestEffortFIFO\", shared: {teams: [\"vision\", \"speech\"], quota: {spot: " +
				"accelerators: 24, demand: accelerators: 4}}",
			"\tquota: batch: {spot: {accelerators: 8, borrow: 4}, demand: {accelerators: 2, borrow: 2}}\n",
			"",
			"\tquota: batch: spot: accelerators: 8\n",
			"\tquota: urgent: demand: accelerators: 2\n",
		},
		edits: []string{"shared: {teams: [\"vision\", \"speech\"], ", "shared: {"},
		want: []string{
			"more teams share the queue of tier batch: apps | jobs of speech, vision in tier batch | -, wait, wait",
		},
	},
	{
		name:  "fewer Jobs",
		edits: []string{"teams: apps: {", "teams: apps: {\n\tmaxJobs: 100"},
		want: []string{
			"most Jobs of the team: 5000 -> 100 | jobs of apps | -, -, is rejected",
		},
	},
	{
		name: "a capacity leaves",
		edits: []string{
			"capacity: demand: {hardware: \"l4\", consumption: onDemand: {}, nodes: 8}\n",
			"",
			`capacity: ["spot", "demand"]`,
			`capacity: ["spot"]`,
			`capacity: ["demand"]`,
			`capacity: ["spot"]`,
			", demand: {accelerators: 2, borrow: 2}}",
			"}",
			"urgent: demand:",
			"urgent: spot:",
		},
		lost: []losses.Loss{{Capacity: "demand", Pool: "demand", Why: losses.Removed}},
		want: []string{
			`capacity "demand" leaves the platform | jobs of speech, vision | stop, wait, is rejected`,
			"higher guarantee of spot in tier urgent | jobs of speech, vision in tier batch | may stop, -, -",
			"new quota of spot in tier urgent | jobs of speech, vision in tier urgent | -, may start, may start",
		},
	},
	{
		name: "other nodes with the same labels",
		lost: []losses.Loss{{Capacity: "spot", Pool: "spot", Why: losses.Replaced}},
		want: []string{
			`capacity "spot": its nodes are replaced | jobs of apps, speech, vision | stop, wait, wait`,
		},
	},
	{
		name:  "other labels",
		edits: []string{"onDemand: {}, nodes: 8", "flexStart: {}, maxNodes: 8"},
		lost:  []losses.Loss{{Capacity: "demand", Pool: "demand", Why: losses.Replaced}},
		want: []string{
			`capacity "demand": its nodes are replaced | jobs of speech, vision | stop, wait, is rejected`,
			`capacity "demand": longest run of a node: no limit -> 7 days | jobs of speech, vision | -, may ` +
				`stop, may stop`,
		},
	},
	{
		name: "a zone",
		lost: []losses.Loss{{Capacity: "spot", Pool: "spot", Why: losses.Zone, Zone: "us-central1-b"}},
		want: []string{
			`capacity "spot": its nodes in us-central1-b are deleted | jobs of apps, speech, vision | stop, ` +
				`wait, wait`,
		},
	},
	{
		name:  "fewer nodes",
		edits: []string{"nodes: 8", "nodes: 6"},
		lost:  []losses.Loss{{Capacity: "demand", Pool: "demand", Why: losses.Fewer, Nodes: 3}},
		want: []string{
			`capacity "demand": 2 of 8 nodes are deleted | jobs of speech, vision | stop, wait, wait`,
		},
	},
	{
		name: "a capacity that nobody knows",
		lost: []losses.Loss{{Capacity: "old", Pool: "old", Why: losses.Removed}},
		want: []string{
			`capacity "old" leaves the platform | jobs on capacity "old" | stop, -, -`,
		},
	},
	{
		name: "system node pool",
		lost: []losses.Loss{{Capacity: "system", Pool: "system", Why: losses.Replaced}},
		want: []string{
			"the system node pool loses nodes | jobs of apps, speech, vision | run on, wait, wait",
		},
	},
	{
		name:  "boot disk",
		edits: []string{`l4: machine: "g2-standard-24"`, `l4: {machine: "g2-standard-24", disk: sizeGiB: 300}`},
		want: []string{
			`capacity "demand": GKE recreates its nodes, one after the other | jobs of speech, vision | stop, -, -`,
			`capacity "spot": GKE recreates its nodes, one after the other | jobs of apps, speech, vision | ` +
				`stop, -, -`,
		},
	},
	{
		name:  "Kueue",
		edits: []string{"cluster: maintenance", "versions: kueue: \"0.19.3\"\ncluster: maintenance"},
		want: []string{
			"Kueue: 0.19.2 -> 0.19.3 | jobs of apps, speech, vision | run on, wait, wait",
		},
	},
	{
		name:  "release channel",
		edits: []string{"cluster: maintenance", "cluster: releaseChannel: \"STABLE\"\ncluster: maintenance"},
		want: []string{
			"release channel: REGULAR -> STABLE | jobs of apps, speech, vision | may stop, -, -",
		},
	},
	{
		name:  "another platform",
		edits: []string{`"small"`, `"large"`},
	},
	{
		name: "Argo CD: a team leaves", given: argoCD,
		edits: []string{
			"teams: apps: {\n\tcohort: \"products\"\n\tmembers: [\"user:anna@example.com\"]\n" +
				"\tquota: batch: spot: accelerators: 8\n}\n",
			"",
		},
		want: []string{"the team leaves the platform | jobs of apps | run on, never start, is rejected"},
	},
	{
		name: "Argo CD: namespace", given: argoCD,
		edits: []string{"teams: apps: {", "teams: apps: {\n\tnamespace: \"shop\""},
		want:  []string{"the team's namespace changes | jobs of apps | run on, never start, is rejected"},
	},
	{
		name: "Argo CD: ClusterQueue", given: argoCD,
		edits: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: clusterQueue: \"big\""},
		want: []string{
			"another name of the ClusterQueue of tier batch | jobs of apps in tier batch | run on, wait, -",
		},
	},
	{
		name: "Argo CD: LocalQueue", given: argoCD,
		edits: []string{"teams: apps: {", "teams: apps: {\n\tqueues: batch: localQueue: \"big\""},
		want: []string{
			"another name of the LocalQueue of tier batch | jobs of apps in tier batch | -, never start, is rejected",
		},
	},
	{
		name: "KAI: guarantee", blueprint: kai,
		edits: []string{"{accelerators: 8, borrow: 8}", "{accelerators: 4, borrow: 12}"},
		want: []string{
			"guarantee of the team: 8 -> 4 GPUs | jobs of speech, vision | may stop, wait, wait",
		},
	},
	{
		name: "KAI: limit", blueprint: kai,
		edits: []string{"borrow: 8", "borrow: 4"},
		want: []string{
			"limit of the team: 16 -> 12 GPUs | jobs of speech, vision | run on, wait, wait",
		},
	},
	{
		name: "KAI: cohort", blueprint: kai,
		edits: []string{`speech: {cohort: "research"`, `speech: {cohort: "products"`},
		want: []string{
			"cohort: research -> products | jobs of speech | may stop, wait, wait",
		},
	},
	{
		name: "KAI: priority of a cohort", blueprint: kai,
		edits: []string{"research: priority: 100", "research: priority: 20"},
		want: []string{
			"priority of cohort research: 100 -> 20 | jobs of speech, vision | may stop, wait, wait",
		},
	},
	{
		name: "KAI: priority", blueprint: kai,
		edits: []string{"high: 20", "high: 30"},
		want: []string{
			`value of PriorityClass "high": 20 -> 30 | jobs of speech, vision in tier gpu | may stop, wait, ` +
				`may start`,
		},
	},
	{
		name: "KAI: weights", blueprint: kai,
		given: []string{"research: priority: 100", "research: weight: 3", `vision: {`, "vision: {weight: 2, "},
		edits: []string{"research: weight: 3", "research: weight: 2", `vision: {weight: 2`, "vision: {weight: 4"},
		want: []string{
			"weight of cohort research: 3 -> 2 | jobs of speech, vision | may stop, wait, wait",
			"weight of the team's queue: 2 -> 4 | jobs of vision | -, may start, may start",
		},
	},
	{
		name: "KAI: quota of a cohort", blueprint: kai,
		edits: []string{"research: priority: 100", "research: quota: 20"},
		want: []string{
			"guarantee of cohort research: 16 -> 20 GPUs | jobs of speech, vision | -, may start, may start",
		},
	},
	{
		name: "KAI: less quota of a cohort", blueprint: kai,
		given: []string{"research: priority: 100", "research: quota: 24"},
		edits: []string{"quota: 24", "quota: 20"},
		want: []string{
			"guarantee of cohort research: 24 -> 20 GPUs | jobs of speech, vision | may stop, wait, wait",
		},
	},
	{
		name: "KAI: a team leaves", blueprint: kai,
		edits: []string{"teams: speech: {cohort: \"research\", members: [\"user:sam@example.com\"]}\n", ""},
		want: []string{
			"the team leaves the platform | jobs of speech | may stop, never start, never start",
		},
	},
	{
		name: "KAI: namespace", blueprint: kai,
		edits: []string{`speech: {`, `speech: {namespace: "sound", `},
		want: []string{
			"the team's namespace changes | jobs of speech | run on, -, start elsewhere",
		},
	},
	{
		name: "KAI: other labels", blueprint: kai,
		edits: []string{"spot: {}", "onDemand: {}"},
		lost:  []losses.Loss{{Capacity: "spot", Pool: "spot", Why: losses.Replaced}},
		want: []string{
			`capacity "spot": its nodes are replaced | jobs of speech, vision | stop, never start, is rejected`,
		},
	},
	{
		name: "KAI: a zone", blueprint: kai,
		lost: []losses.Loss{{Capacity: "spot", Pool: "spot", Why: losses.Zone, Zone: "us-central1-b"}},
		want: []string{
			`capacity "spot": its nodes in us-central1-b are deleted | jobs of speech, vision | may stop, ` +
				`wait, wait`,
		},
	},
}

func TestOf(t *testing.T) {
	for _, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			blueprint := test.blueprint
			if blueprint == "" {
				blueprint = small
			}
			before := replaceAll(t, blueprint, test.given)
			after := replaceAll(t, before, test.edits)
			got := shorts(t, jobs.Of(compile(t, before), compile(t, after), test.lost))
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSentences checks what a reviewer reads of some effects.
func TestSentences(t *testing.T) {
	before := compile(t, small)
	for _, test := range []struct {
		name  string
		edits []string
		lost  []losses.Loss
		want  string
	}{
		{
			name: "namespace", edits: []string{"teams: apps: {", "teams: apps: {\n\tnamespace: \"shop\""},
			want: "the team's namespace changes: jobs of apps: running jobs continue in the old namespace. If " +
				"Kueue evicts them, they do not start again; waiting jobs never start: delete them in the old " +
				"namespace, and submit them to the new one; new jobs submitted to the old namespace never start: " +
				"submit them to the new one",
		},
		{
			name: "quota", edits: []string{"demand: accelerators: 4\n", "demand: {accelerators: 3, borrow: 1}\n"},
			want: "quota of demand in tier urgent: 4 -> 3 GPUs: jobs of speech, vision in tier urgent: running jobs " +
				"beyond 3 GPUs continue. If Kueue evicts them, they wait for quota; waiting and new jobs beyond 3 " +
				"GPUs start only on quota that other queues do not use",
		},
		{
			name: "nodes", lost: []losses.Loss{{Capacity: "spot", Pool: "spot", Why: losses.Replaced}},
			want: `capacity "spot": its nodes are replaced: jobs of apps, speech, vision: running jobs stop before ` +
				"the nodes are replaced, and wait in their queues again; waiting and new jobs cannot start on this " +
				"capacity until the build ends",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			effects := jobs.Of(before, compile(t, replaceAll(t, small, test.edits)), test.lost)
			if !slices.ContainsFunc(effects, func(e jobs.Effect) bool { return e.String() == test.want }) {
				t.Errorf("got\n%v\nwant\n%s", effects, test.want)
			}
		})
	}
}

// TestOfLosses checks the effects if only the later plan is known.
func TestOfLosses(t *testing.T) {
	got := shorts(t, jobs.OfLosses(compile(t, small), []losses.Loss{
		{Capacity: "demand", Pool: "demand", Why: losses.Fewer, Nodes: 1},
		{Capacity: "spot", Pool: "spot-0", Why: losses.Removed}, // one of several pools
		{Capacity: "old", Pool: "old", Why: losses.Removed},
	}))
	want := []string{
		`capacity "spot": some of its nodes are deleted | jobs of apps, speech, vision | stop, wait, wait`,
		`capacity "demand": some of its nodes are deleted | jobs of speech, vision | stop, wait, wait`,
		`capacity "old" leaves the platform | jobs on capacity "old" | stop, -, -`,
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	if all := []jobs.Effect{jobs.OfCluster(false)}; shorts(t, all)[0] !=
		"the cluster is replaced | jobs of all teams | stop, never start, -" {
		t.Errorf("another cluster: %s", all[0])
	}
}

// TestOthersQueues: a queue that ran before the platform stays when its team leaves, and its jobs go on.
func TestOthersQueues(t *testing.T) {
	const adopted = `package platform

name:    "small"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]
cluster: existing: {name: "prod", version: "1.34", kueue: version: "0.19.2"}
capacity: pool: {consumption: existing: {}, flavor: nodeLabels: pool: "a"}
tiers: batch: capacity: ["pool"]
teams: [string]: {
	quota: batch: pool: resources: {cpu: 8, memory: "32Gi", pods: 20}
	accept: W0439: "they run like this"
}
teams: vision: {namespace: {existing: "vision"}, queues: batch: clusterQueue: "vision"}
teams: speech: {namespace: {existing: "speech"}, queues: batch: clusterQueue: "speech"}
`
	before := compile(t, adopted)
	without := compile(t, replaceAll(t, adopted, []string{
		`teams: speech: {namespace: {existing: "speech"}, queues: batch: clusterQueue: "speech"}`, "",
	}))
	renamed := compile(t, replaceAll(t, adopted, []string{`clusterQueue: "speech"`, `clusterQueue: "speech-2"`}))
	for want, after := range map[string]*ir.Platform{
		"the team leaves the platform | jobs of speech | run on, run on, run on":                          without,
		"another name of the ClusterQueue of tier batch | jobs of speech in tier batch | run on, wait, -": renamed,
	} {
		if diff := gocmp.Diff([]string{want}, shorts(t, jobs.Of(before, after, nil))); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
	}
}

// TestAnyPlans checks that every change between the repository's blueprints has complete
// effects, also if they are the same platform.
func TestAnyPlans(t *testing.T) {
	dir, err := filepath.Abs("../../../blueprints")
	if err != nil {
		t.Fatal(err)
	}
	var plans []*ir.Platform
	for _, paths := range [][]string{
		{"batch-platform"}, {"batch-platform", "batch-platform-dws"}, {"a3-ultra-flex"}, {"kai-departments"},
		{"tpu-training"}, {"existing"},
	} {
		res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: paths})
		if err != nil || res.Plan == nil {
			t.Fatalf("%v: %v, %v", paths, err, res.Findings)
		}
		res.Plan.Name, res.Plan.Project, res.Plan.Region = "p", "my-project", "us-central1"
		plans = append(plans, res.Plan)
	}
	for i, before := range plans {
		for j, after := range plans {
			effects := jobs.Of(before, after, nil)
			if i == j && len(effects) > 0 {
				t.Errorf("plan %d to itself: %d effects", i, len(effects))
			}
			shorts(t, effects)
			for _, e := range effects {
				if !slices.IsSorted(e.Teams) || e.Worst() == jobs.Unchanged || strings.Contains(e.String(), "\n") ||
					strings.Contains(e.String(), "  ") {
					t.Errorf("plan %d to plan %d: %s", i, j, e)
				}
			}
		}
	}
}

// TestManyTeams checks that teams with the same effects share them.
func TestManyTeams(t *testing.T) {
	before, after := manyTeams(t, 1000)
	effects := jobs.Of(before, after, []losses.Loss{{Capacity: "spot", Pool: "spot", Why: losses.Replaced}})
	for _, e := range effects {
		if len(e.Teams) != 1000 || !slices.IsSorted(e.Teams) {
			t.Errorf("%s: %d teams, sorted: %t", e.Cause, len(e.Teams), slices.IsSorted(e.Teams))
		}
	}
	if len(effects) != 4 { // nodes, quota, largest job, priority
		t.Errorf("got %d effects: %q", len(effects), shorts(t, effects))
	}
}

// BenchmarkOf compares two platforms of 10,000 teams, each of which has less quota.
func BenchmarkOf(b *testing.B) {
	before, after := manyTeams(b, 10_000)
	for b.Loop() {
		if len(jobs.Of(before, after, nil)) == 0 {
			b.Fatal("nothing is said")
		}
	}
}

// manyTeams returns two plans with a number of teams, each of which has less quota in the
// second.
func manyTeams(t testing.TB, teams int) (before, after *ir.Platform) {
	t.Helper()
	grow := func(edits ...string) *ir.Platform {
		p := compile(t, replaceAll(t, small, edits))
		like := p.Teams[slices.IndexFunc(p.Teams, func(t ir.Team) bool { return t.Name == "apps" })]
		p.Teams = nil
		for i := range teams {
			team := like
			team.Name = fmt.Sprintf("team-%05d", i)
			team.Queues = slices.Clone(team.Queues)
			team.Queues[0].ClusterQueue = "cq-" + team.Name
			p.Teams = append(p.Teams, team)
		}
		return p
	}
	return grow(), grow("batch: spot: accelerators: 8", "batch: spot: accelerators: 4", "high: 20", "high: 30")
}

// replaceAll replaces each text by the next one.
func replaceAll(t testing.TB, blueprint string, edits []string) string {
	t.Helper()
	for pair := range slices.Chunk(edits, 2) {
		if !strings.Contains(blueprint, pair[0]) {
			t.Fatalf("the blueprint lacks %q", pair[0])
		}
		blueprint = strings.ReplaceAll(blueprint, pair[0], pair[1])
	}
	return blueprint
}

// shorts returns effects as lines of cause, teams with the tier, and the kinds of the outcomes
// of running, waiting and new jobs.
func shorts(t *testing.T, all []jobs.Effect) []string {
	t.Helper()
	var out []string
	for _, e := range all {
		var kinds []string
		for _, o := range []jobs.Outcome{e.Running, e.Waiting, e.New} {
			if (o.Kind == jobs.Unchanged) != (o.Text == "") {
				t.Errorf("%s: kind %q has the text %q", e.Cause, o.Kind, o.Text)
			}
			kinds = append(kinds, cmp.Or(string(o.Kind), "-"))
		}
		out = append(out, e.Cause+" | "+e.Whose()+" | "+strings.Join(kinds, ", "))
	}
	return out
}

// compile returns the plan of a blueprint without errors.
func compile(t testing.TB, blueprint string) *ir.Platform {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(blueprint), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan == nil {
		t.Fatalf("does not compile: %v\n%s", res.Findings, blueprint)
	}
	return res.Plan
}
