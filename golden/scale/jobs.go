package scale

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Schedulers are those that WriteJobs knows.
var Schedulers = []string{"kueue", "kai"}

// WriteJobs makes a blueprint in a directory whose teams all submit jobs, to a
// scheduler. With Kueue they do so in a tier of their own, with a Secret and a pod
// beside the job's, and in one that they share, over GPUDirect; with KAI Scheduler
// in a queue of two capacities.
func WriteJobs(dir, scheduler string, teams int) error {
	var platform, quota string
	switch scheduler {
	case "kueue":
		platform = `hardware: {
	l4: {machine: "g2-standard-24"}
	h100: {machine: "a3-highgpu-8g", gpuDirect: true}
	cpu: {machine: "e2-standard-8"}
}
capacity: {
	l4: {hardware: "l4", consumption: onDemand: {}, nodes: 4, accept: E0602: "many teams"}
	h100: {hardware: "h100", consumption: onDemand: {}, nodes: 4}
	cpu: {hardware: "cpu", consumption: onDemand: {}, nodes: 4, accept: E0602: "many teams"}
}
tiers: {
	own: {priority: 10, default: true, capacity: ["l4", "cpu"]}
	together: {priority: 20, shared: {}, capacity: ["h100"]}
}
workloads: tune: {
	tier: "own", kind: "JobSet", image: "tune:1", pods: 2
	perPod: {accelerators: 1, cpu: 1, memory: "1Gi"}, rendezvous: {}
	secretEnv: TOKEN: {secret: "hub", key: "token"}
	auxiliary: watch: {capacity: "cpu", image: "watch:1", cpu: 1, memory: "1Gi"}
}
workloads: train: {tier: "together", image: "train:1", pods: 2, perPod: {accelerators: 8, cpu: 1, memory: "1Gi"}}
`
		quota = `own: {l4: accelerators: 2, cpu: cpus: 2}`
	case "kai":
		platform = `scheduler: "kai"
hardware: l4: machine: "g2-standard-24"
capacity: [string]: {hardware: "l4", nodes: 4, accept: E0602: "many teams"}
capacity: {ondemand: consumption: onDemand: {}, spot: consumption: spot: {}}
tiers: all: {priorities: {low: 50, high: 100}, capacity: ["ondemand", "spot"], accept: W1004: "many teams"}
workloads: train: {tier: "all", capacity: ["spot"], image: "train:1", perPod: {accelerators: 1, cpu: 1, memory: "1Gi"}}
`
		quota = `all: {ondemand: accelerators: 2, spot: accelerators: 2}`
	default:
		return fmt.Errorf("no such scheduler: %q", scheduler)
	}
	var b strings.Builder
	b.WriteString(`package platform

name: "jobs"
project: "my-project"
region: "us-central1"
zones: ["us-central1-a"]
cluster: securityGroup: "gke-security-groups@example.com"
`)
	b.WriteString(platform)
	for i := range teams {
		fmt.Fprintf(&b, "cohorts: \"cohort-%05d\": {}\n", i/2)
		fmt.Fprintf(&b,
			"teams: \"team-%05[1]d\": {cohort: \"cohort-%05[2]d\", group: \"team-%05[1]d@example.com\", quota: "+
				"%[3]s}\n", i, i/2, quota)
	}
	return os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(b.String()), 0o644)
}
