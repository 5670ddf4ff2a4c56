// Package options holds a platform for each way of obtaining machines.
package options

import (
	"fmt"
	"slices"
	"strings"
)

// Option is a platform of one team with one way of obtaining machines, or with
// several ways that are tried one after the other.
type Option struct {
	Name       string
	hardware   string   // "" is two L4
	zones      string   // of one region; "" is two of us-central1
	capacities []string // without their hardware
	quota      string   // of each capacity; "" is 4 accelerators
	workload   string   // "" is a Job of two pods on two accelerators each
	scheduler  string   // "" is Kueue
}

const (
	tpuHost  = `machine: "ct6e-standard-8t", topology: "2x4"`
	tpuSlice = `machine: "ct6e-standard-4t", topology: "4x4"`
	tpuLink  = `machine: "tpu7x-standard-4t", topology: "2x2x2"`
	a4x      = `machine: "a4x-highgpu-4g"`
	h100     = `machine: "a3-highgpu-8g"`
	h100Mega = `machine: "a3-megagpu-8g"`
	b200     = `machine: "a4-highgpu-8g"`
	h200     = `machine: "a3-ultragpu-8g"`

	zoneA = `"us-central1-a"`
	zoneB = `"us-central1-b"`
	zoneC = `"us-central1-c"`
	zoneF = `"us-east5-b"` // has TPUs by flex-start

	onHost      = `pods: 2, perPod: {accelerators: 8, cpu: 2, memory: "10Gi"}`
	onSlice     = `kind: "JobSet", perPod: {accelerators: 4, cpu: 2, memory: "10Gi"}`
	onEight     = `perPod: {accelerators: 8, cpu: 2, memory: "10Gi"}`
	onTwoEights = `kind: "JobSet", pods: 2, ` + onEight
	onA4X       = `kind: "JobSet", pods: 2, perPod: {accelerators: 4, cpu: 2, memory: "10Gi"}`
)

// kueueOptions holds all ways of obtaining machines for jobs that Kueue admits.
var kueueOptions = []Option{
	{Name: "on demand", capacities: []string{`consumption: onDemand: {}, maxNodes: 4`}},
	{Name: "on demand, static", capacities: []string{`consumption: onDemand: {}, nodes: 4`}},
	{
		Name:       "on demand, compact",
		capacities: []string{`consumption: onDemand: {}, maxNodes: 4, placement: "compact", zones: ["us-central1-a"]`},
	},
	{Name: "spot", capacities: []string{`consumption: spot: {}, maxNodes: 4`}},

	{
		Name: "reservation",
		capacities: []string{
			`consumption: reservation: name: "ours", nodes: 4, zones: ["us-central1-a", "us-central1-b"]`,
		},
	},
	{
		Name:       "reservation, scaling",
		capacities: []string{`consumption: reservation: name: "ours", maxNodes: 4, zones: ["us-central1-a"]`},
	},
	{
		Name: "reservation, created",
		capacities: []string{
			`consumption: reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
		},
	},
	{Name: "reservation, created, local SSDs", hardware: `machine: "g2-standard-24", localSSDs: 2`,
		capacities: []string{
			`consumption: reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
		}},
	{Name: "reservation, created, the machine's local SSDs", hardware: h100, zones: zoneA, quota: `accelerators: 16`,
		workload:   onEight,
		capacities: []string{`consumption: reservation: {name: "ours", create: true}, nodes: 4`}},
	{Name: "reservation, created, without accelerators", hardware: `machine: "c3-standard-22-lssd"`, quota: `cpus: 20`,
		workload: `perPod: {cpu: 2, memory: "10Gi"}`,
		capacities: []string{
			`consumption: reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
		}},
	{
		Name: "reservation, shared",
		capacities: []string{
			`consumption: reservation: {name: "theirs", project: "other-project"}, nodes: 4, zones: ["us-central1-b"]`,
		},
	},
	{Name: "reservation, block", hardware: h200, zones: zoneB, quota: `accelerators: 16`, workload: onEight,
		capacities: []string{`consumption: reservation: {name: "ours", block: "block-1"}, nodes: 2`}},
	{Name: "reservation, shared, sub-block", hardware: h200, zones: zoneB, quota: `accelerators: 16`, workload: onEight,
		capacities: []string{
			`consumption: reservation: {name: "theirs", project: "other-project", block: "block-1", ` +
				`subBlock: "sub-1"}, nodes: 2`,
		}},
	{
		Name: "reservation, not begun",
		capacities: []string{
			`consumption: reservation: {name: "ours", active: false}, nodes: 4, zones: ["us-central1-a"]`,
		},
	},
	{
		Name: "reservation, not begun, scaling",
		capacities: []string{
			`consumption: reservation: {name: "ours", active: false}, maxNodes: 4, zones: ["us-central1-a"]`,
		},
	},
	{
		Name: "reservation, future",
		capacities: []string{
			`consumption: reservation: {name: "ours", kind: "future", active: false}, nodes: 4, ` +
				`zones: ["us-central1-a"]`,
		},
	},
	{Name: "reservation, calendar", hardware: h200, zones: zoneB, quota: `accelerators: 16`, workload: onEight,
		capacities: []string{`consumption: reservation: {name: "ours", kind: "calendar", days: 30}, nodes: 2`}},
	{Name: "any reservation", capacities: []string{`consumption: anyReservation: {}, maxNodes: 4`}},
	{
		Name: "any reservation or nothing",
		capacities: []string{
			`consumption: anyReservation: otherwise: "none", nodes: 4, accept: W1010: "the cluster runs 1.36"`,
		},
	},

	{Name: "flex-start", capacities: []string{`consumption: flexStart: {}, maxNodes: 4`}},
	{Name: "flex-start, compact", hardware: h200, zones: zoneB, quota: `accelerators: 16`, workload: onEight,
		capacities: []string{`consumption: flexStart: {}, maxNodes: 4, placement: "compact"`}},
	{
		Name:       "flex-start, queued",
		capacities: []string{`consumption: flexStart: {queued: true, maxRunSeconds: 3600}, maxNodes: 4`},
	},

	{Name: "flex-start, queued, without accelerators", hardware: `machine: "h4d-highmem-192-lssd"`, quota: `cpus: 200`,
		workload:   `pods: 2, perPod: {cpu: 90, memory: "200Gi"}`,
		capacities: []string{`consumption: flexStart: queued: true, maxNodes: 4, accept: W0402: "tried"`}},

	{Name: "auto-provisioned", capacities: []string{`consumption: onDemand: {}, autoProvisioned: true, maxNodes: 4`}},
	{Name: "auto-provisioned, spot", capacities: []string{`consumption: spot: {}, autoProvisioned: true, maxNodes: 4`}},
	{
		Name:       "auto-provisioned, close",
		capacities: []string{`consumption: spot: {}, autoProvisioned: true, placement: "compact", maxNodes: 4`},
	},

	{Name: "ComputeClass", capacities: []string{`consumption: onDemand: {}, computeClass: true, maxNodes: 4`}},
	{Name: "ComputeClass, spot", capacities: []string{`consumption: spot: {}, computeClass: true, maxNodes: 4`}},
	{
		Name: "ComputeClass, reservation", zones: zoneA,
		capacities: []string{
			`consumption: reservation: name: "ours", computeClass: true, maxNodes: 4, zones: ["us-central1-a"]`,
		},
	},
	{
		Name:       "ComputeClass, any reservation",
		capacities: []string{`consumption: anyReservation: {}, computeClass: true, maxNodes: 4`},
	},
	{Name: "ComputeClass, reservation, the machine's local SSDs", hardware: h200, zones: zoneB,
		quota: `accelerators: 16`, workload: onEight,
		capacities: []string{
			`consumption: reservation: {name: "ours", block: "block-1"}, computeClass: true, maxNodes: 4`,
		}},
	{
		Name:       "ComputeClass, flex-start",
		capacities: []string{`consumption: flexStart: {}, computeClass: true, maxNodes: 4`},
	},

	{
		Name: "local SSDs", hardware: `machine: "g2-standard-24", localSSDs: 2`,
		capacities: []string{`consumption: spot: {}, maxNodes: 4`},
	},
	{Name: "attached GPUs",
		hardware:   `machine: "n1-standard-8", gpus: {type: "nvidia-tesla-t4", count: 2}, localSSDs: 1`,
		capacities: []string{`consumption: onDemand: {}, maxNodes: 4`}},
	{Name: "attached GPUs, less than a vCPU each",
		hardware:   `machine: "n1-standard-4", gpus: {type: "nvidia-tesla-t4", count: 4}`,
		workload:   `perPod: {accelerators: 2, cpu: 1, memory: "4Gi"}`,
		capacities: []string{`consumption: spot: {}, maxNodes: 4`}},
	{Name: "attached GPUs, reservation, created",
		hardware: `machine: "n1-standard-8", gpus: {type: "nvidia-tesla-t4", count: 2}, localSSDs: 1`,
		capacities: []string{
			`consumption: reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
		}},
	{Name: "A4X, reservation", hardware: a4x, zones: zoneA, quota: `accelerators: 72`, workload: onA4X,
		capacities: []string{`consumption: reservation: {name: "ours", block: "block-1", subBlock: ` +
			`"sub-1"}, nodes: 18, ` +
			`accept: E1016: "the driver is installed"`}},

	{Name: "TCPX", hardware: h100 + `, gpuDirect: true`, zones: zoneA, quota: `accelerators: 16`, workload: onTwoEights,
		capacities: []string{`consumption: spot: {}, maxNodes: 4`}},
	{Name: "TCPXO", hardware: h100Mega + `, gpuDirect: true`, zones: zoneA, quota: `accelerators: 16`,
		workload:   onTwoEights,
		capacities: []string{`consumption: onDemand: {}, maxNodes: 4, placement: "compact"`}},
	{Name: "RDMA", hardware: h200 + `, gpuDirect: true`, zones: zoneB, quota: `accelerators: 16`, workload: onTwoEights,
		capacities: []string{`consumption: flexStart: queued: true, maxNodes: 4`}},
	{Name: "RDMA, reservation, block", hardware: b200 + `, gpuDirect: true`, zones: zoneB, quota: `accelerators: 16`,
		workload:   onTwoEights,
		capacities: []string{`consumption: reservation: {name: "ours", block: "block-1"}, nodes: 2`}},
	{Name: "RDMA, bursting", hardware: h200 + `, gpuDirect: true`, zones: zoneB, quota: `accelerators: 16`,
		workload: onTwoEights,
		capacities: []string{
			`consumption: reservation: {name: "ours"}, nodes: 2`, `consumption: spot: {}, maxNodes: 4`,
		}},

	{Name: "TPU hosts, static", hardware: tpuHost, zones: zoneA, quota: `accelerators: 16`, workload: onHost,
		capacities: []string{`consumption: onDemand: {}, slices: 2`}},
	{Name: "TPU hosts, scaling", hardware: tpuHost, zones: zoneA, quota: `accelerators: 16`, workload: onHost,
		capacities: []string{`consumption: spot: {}, maxSlices: 4`}},
	{Name: "TPU hosts, static, in two zones", hardware: tpuHost, quota: `accelerators: 16`, workload: onHost,
		capacities: []string{`consumption: onDemand: {}, slices: 2`}},
	{Name: "TPU hosts, scaling, in two zones", hardware: tpuHost, quota: `accelerators: 16`, workload: onHost,
		capacities: []string{`consumption: spot: {}, maxSlices: 4`}},
	{Name: "TPU hosts, queued", hardware: tpuHost, zones: zoneF, quota: `accelerators: 16`, workload: onHost,
		capacities: []string{`consumption: flexStart: queued: true, maxSlices: 4`}},
	{Name: "TPU slices, static", hardware: tpuSlice, zones: zoneA, quota: `accelerators: 32`, workload: onSlice,
		capacities: []string{`consumption: onDemand: {}, slices: 3`}},
	{Name: "TPU slices, none", hardware: tpuSlice, zones: zoneA, quota: `accelerators: 16`, workload: onSlice,
		capacities: []string{`consumption: onDemand: {}, slices: 0, accept: E0602: "slices come later"`}},
	{Name: "TPU slices, scaling", hardware: tpuSlice, zones: zoneA, quota: `accelerators: 32`,
		workload:   `slices: 2, ` + onSlice,
		capacities: []string{`consumption: spot: {}, maxSlices: 12`}},
	{Name: "TPU slices, flex-start", hardware: tpuSlice, zones: zoneF, quota: `accelerators: 32`, workload: onSlice,
		capacities: []string{`consumption: flexStart: {}, maxSlices: 2`}},
	{Name: "TPU slices, queued", hardware: tpuSlice, zones: zoneF, quota: `accelerators: 32`, workload: onSlice,
		capacities: []string{`consumption: flexStart: queued: true, maxSlices: 2`}},
	{Name: "TPU slices, reservation", hardware: tpuSlice, zones: zoneA, quota: `accelerators: 32`, workload: onSlice,
		capacities: []string{`consumption: reservation: name: "ours", slices: 2`}},
	{Name: "TPU slices, calendar, not begun", hardware: tpuLink, zones: zoneC, quota: `accelerators: 16`,
		workload:   onSlice,
		capacities: []string{`consumption: reservation: {name: "ours", kind: "calendar", active: false}, slices: 2`}},
	{Name: "TPU slices, linked by a policy", hardware: tpuLink, zones: zoneC, quota: `accelerators: 16`,
		workload:   onSlice,
		capacities: []string{`consumption: spot: {}, maxSlices: 2`}},

	{Name: "bursting", capacities: []string{
		`consumption: reservation: name: "ours", nodes: 2, zones: ["us-central1-a"]`,
		`consumption: onDemand: {}, maxNodes: 4`,
		`consumption: flexStart: queued: true, maxNodes: 4`,
	}},
	{Name: "bursting, spot", capacities: []string{
		`consumption: anyReservation: otherwise: "none", maxNodes: 4, accept: W1010: "the cluster runs 1.36"`,
		`consumption: spot: {}, maxNodes: 4`,
		`consumption: flexStart: queued: true, maxNodes: 4`,
	}},
	{Name: "bursting, TPU slices", hardware: tpuSlice, zones: zoneF, quota: `accelerators: 32`, workload: onSlice,
		capacities: []string{
			`consumption: reservation: name: "ours", slices: 2`,
			`consumption: spot: {}, maxSlices: 2`,
			`consumption: flexStart: queued: true, maxSlices: 2`,
		}},
}

// kaiOptions holds ways of obtaining machines for jobs that KAI Scheduler starts.
var kaiOptions = []Option{
	{Name: "KAI", capacities: []string{`consumption: onDemand: {}, nodes: 4`}},
	{Name: "KAI, JobSet", workload: `kind: "JobSet", pods: 2, perPod: {accelerators: 2, cpu: 2, memory: "10Gi"}`,
		capacities: []string{`consumption: reservation: name: "ours", nodes: 4, zones: ["us-central1-a"]`}},
	{
		Name: "KAI, not begun",
		capacities: []string{
			`consumption: reservation: {name: "ours", active: false}, nodes: 4, zones: ["us-central1-a"]`,
		},
	},
	{Name: "KAI, scaling", capacities: []string{`consumption: spot: {}, maxNodes: 4, accept: W1009: "tried"`}},
	{Name: "KAI, flex-start", capacities: []string{`consumption: flexStart: {}, maxNodes: 4, accept: W1009: "tried"`}},
	{Name: "KAI, one of two",
		workload:   `capacity: ["some-1"], pods: 2, perPod: {accelerators: 2, cpu: 2, memory: "10Gi"}`,
		capacities: []string{`consumption: onDemand: {}, nodes: 4`, `consumption: spot: {}, nodes: 4`}},
	{Name: "KAI, TCPX", hardware: h100 + `, gpuDirect: true`, zones: zoneA, quota: `accelerators: 16`,
		workload:   onTwoEights,
		capacities: []string{`consumption: reservation: name: "ours", nodes: 2`}},
}

// Blueprint returns the blueprint of the option's platform.
func (o Option) Blueprint() string {
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	zones := or(o.zones, zoneA+", "+zoneB)
	first, _, _ := strings.Cut(zones, ",")
	region := first[:strings.LastIndexByte(first, '-')] + `"`
	var b strings.Builder
	fmt.Fprintf(&b, `package platform

name:    "options"
project: "my-project"
region:  %s
zones: [%s]

hardware: some: {%s}
tiers: batch: {priority: 10, default: true}
workloads: train: {tier: "batch", image: "pytorch/pytorch:2.8.0", rendezvous: {}, %s}
`, region, zones, or(o.hardware, `machine: "g2-standard-24"`),
		or(o.workload, `pods: 2, perPod: {accelerators: 2, cpu: 2, memory: "10Gi"}`))
	var names []string
	for i, c := range o.capacities {
		name := fmt.Sprintf("some-%d", i)
		names = append(names, `"`+name+`"`)
		fmt.Fprintf(&b, "capacity: %q: {hardware: \"some\", %s}\n", name, c)
		fmt.Fprintf(&b, "teams: vision: quota: batch: %q: {%s}\n", name, or(o.quota, "accelerators: 4"))
	}
	fmt.Fprintf(&b, "tiers: batch: capacity: [%s]\n", strings.Join(names, ", "))
	if o.scheduler != "" {
		fmt.Fprintf(&b, "scheduler: %q\n", o.scheduler)
		if len(o.capacities) > 1 {
			b.WriteString("tiers: batch: accept: W1004: \"tried\"\n")
		}
	}
	return b.String()
}

// All returns the options of both schedulers.
func All() []Option {
	all := slices.Clone(kueueOptions)
	for _, o := range kaiOptions {
		o.scheduler = "kai"
		all = append(all, o)
	}
	return all
}
