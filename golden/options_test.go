package golden_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEveryOption compiles a small platform with each way of obtaining
// machines, and holds the folder against the same checks as the goldens.
func TestEveryOption(t *testing.T) {
	for name, capacity := range map[string]string{
		"on demand":               `consumption: onDemand: {}, maxNodes: 4`,
		"on demand, static":       `consumption: onDemand: {}, nodes: 4`,
		"on demand, compact":      `consumption: onDemand: {}, maxNodes: 4, placement: "compact", zones: ["us-central1-a"]`,
		"spot":                    `consumption: spot: {}, maxNodes: 4`,
		"reservation":             `consumption: reservation: name: "ours", nodes: 4, zones: ["us-central1-a", "us-central1-b"]`,
		"reservation, created":    `consumption: reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
		"reservation, shared":     `consumption: reservation: {name: "theirs", project: "other-project"}, nodes: 4, zones: ["us-central1-b"]`,
		"flex-start":              `consumption: flexStart: {}, maxNodes: 4`,
		"flex-start, queued":      `consumption: flexStart: {queued: true, maxRunSeconds: 3600}, maxNodes: 4`,
		"auto-provisioned":        `consumption: onDemand: {}, autoProvisioned: true, maxNodes: 4`,
		"auto-provisioned, spot":  `consumption: spot: {}, autoProvisioned: true, maxNodes: 4`,
		"auto-provisioned, close": `consumption: spot: {}, autoProvisioned: true, placement: "compact", maxNodes: 4`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			blueprint := `package platform

name:    "options"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a", "us-central1-b"]

hardware: l4: machine: "g2-standard-24"
capacity: some: {hardware: "l4", ` + capacity + `}
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 4
workloads: train: {
	tier: "batch"
	pods: 2
	perPod: {accelerators: 2, cpu: 2, memory: "10Gi"}
	image: "pytorch/pytorch:2.8.0"
	rendezvous: {}
}
`
			if err := os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(blueprint), 0o644); err != nil {
				t.Fatal(err)
			}
			checkFolder(t, treeFS(compileFolder(t, dir)))
		})
	}
}
