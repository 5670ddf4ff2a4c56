// Package options holds a platform for each way of obtaining machines.
package options

import (
	"fmt"
	"strings"
)

// Option is a platform of one team with one way of obtaining machines, or with
// several ways that are tried one after the other.
type Option struct {
	row
	scheduler string // "" is Kueue
}

// row is an option in the tables below.
type row struct {
	Name string
	machines
	capacities []string // without their hardware; each begins with its consumption
}

// machines are the hardware of an option, and what uses it.
type machines struct {
	hardware string
	zones    string // of one region
	quota    string // of each capacity
	workload string
}

const (
	zoneA    = `"us-central1-a"`
	zoneB    = `"us-central1-b"`
	zoneC    = `"us-central1-c"`
	zoneF    = `"us-east5-b"` // has TPUs by flex-start
	twoZones = zoneA + ", " + zoneB

	four      = `accelerators: 4`
	sixteen   = `accelerators: 16`
	thirtyTwo = `accelerators: 32`

	onTwo       = `pods: 2, perPod: {accelerators: 2, cpu: 2, memory: "10Gi"}`
	onHost      = `pods: 2, perPod: {accelerators: 8, cpu: 2, memory: "10Gi"}`
	onSlice     = `kind: "JobSet", perPod: {accelerators: 4, cpu: 2, memory: "10Gi"}`
	onEight     = `perPod: {accelerators: 8, cpu: 2, memory: "10Gi"}`
	onTwoEights = `kind: "JobSet", pods: 2, ` + onEight
)

var (
	l4     = machines{`machine: "g2-standard-24"`, twoZones, four, onTwo}
	l4SSDs = machines{`machine: "g2-standard-24", localSSDs: 2`, twoZones, four, onTwo}
	h100   = machines{`machine: "a3-highgpu-8g"`, zoneA, sixteen, onEight}
	c3     = machines{`machine: "c3-standard-22-lssd"`, twoZones, `cpus: 20`, `perPod: {cpu: 2, memory: "10Gi"}`}
	h200   = machines{`machine: "a3-ultragpu-8g"`, zoneB, sixteen, onEight}
	h4d    = machines{
		`machine: "h4d-highmem-192-lssd"`, twoZones, `cpus: 200`, `pods: 2, perPod: {cpu: 90, memory: "200Gi"}`,
	}
	l4OneZone = machines{`machine: "g2-standard-24"`, zoneA, four, onTwo}
	t4        = machines{
		`machine: "n1-standard-8", gpus: {type: "nvidia-tesla-t4", count: 2}, localSSDs: 1`, twoZones, four, onTwo,
	}
	t4Small = machines{
		`machine: "n1-standard-4", gpus: {type: "nvidia-tesla-t4", count: 4}`, twoZones, four,
		`perPod: {accelerators: 2, cpu: 1, memory: "4Gi"}`,
	}
	a4x = machines{
		`machine: "a4x-highgpu-4g"`, zoneA, `accelerators: 72`,
		`kind: "JobSet", pods: 2, perPod: {accelerators: 4, cpu: 2, memory: "10Gi"}`,
	}
	h100Direct      = machines{`machine: "a3-highgpu-8g", gpuDirect: true`, zoneA, sixteen, onTwoEights}
	h100MegaDirect  = machines{`machine: "a3-megagpu-8g", gpuDirect: true`, zoneA, sixteen, onTwoEights}
	h200Direct      = machines{`machine: "a3-ultragpu-8g", gpuDirect: true`, zoneB, sixteen, onTwoEights}
	b200Direct      = machines{`machine: "a4-highgpu-8g", gpuDirect: true`, zoneB, sixteen, onTwoEights}
	tpuHost         = machines{`machine: "ct6e-standard-8t", topology: "2x4"`, zoneA, sixteen, onHost}
	tpuHostTwoZones = machines{`machine: "ct6e-standard-8t", topology: "2x4"`, twoZones, sixteen, onHost}
	tpuHostFlex     = machines{`machine: "ct6e-standard-8t", topology: "2x4"`, zoneF, sixteen, onHost}
	tpuSlice        = machines{`machine: "ct6e-standard-4t", topology: "4x4"`, zoneA, thirtyTwo, onSlice}
	tpuSliceOne     = machines{`machine: "ct6e-standard-4t", topology: "4x4"`, zoneA, sixteen, onSlice}
	tpuSlicePair    = machines{
		`machine: "ct6e-standard-4t", topology: "4x4"`, zoneA, thirtyTwo, `slices: 2, ` + onSlice,
	}
	tpuSliceFlex = machines{`machine: "ct6e-standard-4t", topology: "4x4"`, zoneF, thirtyTwo, onSlice}
	tpuLink      = machines{`machine: "tpu7x-standard-4t", topology: "2x2x2"`, zoneC, sixteen, onSlice}
	l4JobSet     = machines{`machine: "g2-standard-24"`, twoZones, four, `kind: "JobSet", ` + onTwo}
	l4First      = machines{`machine: "g2-standard-24"`, twoZones, four, `capacity: ["some-1"], ` + onTwo}
)

// kueueOptions holds all ways of obtaining machines for jobs that Kueue admits.
var kueueOptions = []row{
	{"on demand", l4, []string{`onDemand: {}, maxNodes: 4`}},
	{"on demand, static", l4, []string{`onDemand: {}, nodes: 4`}},
	{"on demand, compact", l4, []string{`onDemand: {}, maxNodes: 4, placement: "compact", zones: ["us-central1-a"]`}},
	{"on demand, labels and taints", l4, []string{
		`onDemand: {}, maxNodes: 4, autoRepair: false, nodeLabels: "example.com/pool": "a", ` +
			`nodeTaints: [{key: "example.com/team", value: "a"}, {key: "example.com/team", effect: "NoExecute"}]`,
	}},
	{"spot", l4, []string{`spot: {}, maxNodes: 4`}},

	{"reservation", l4, []string{`reservation: name: "ours", nodes: 4, zones: ["us-central1-a", "us-central1-b"]`}},
	{"reservation, scaling", l4, []string{`reservation: name: "ours", maxNodes: 4, zones: ["us-central1-a"]`}},
	{"reservation, created", l4, []string{
		`reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
	}},
	{"reservation, created, local SSDs", l4SSDs, []string{
		`reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
	}},
	{"reservation, created, the machine's local SSDs", h100, []string{
		`reservation: {name: "ours", create: true}, nodes: 4`,
	}},
	{"reservation, created, without accelerators", c3, []string{
		`reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
	}},
	{"reservation, shared", l4, []string{
		`reservation: {name: "theirs", project: "other-project"}, nodes: 4, zones: ["us-central1-b"]`,
	}},
	{"reservation, block", h200, []string{`reservation: {name: "ours", block: "block-1"}, nodes: 2`}},
	{"reservation, shared, sub-block", h200, []string{
		`reservation: {name: "theirs", project: "other-project", block: "block-1", subBlock: "sub-1"}, nodes: 2`,
	}},
	{"reservation, not begun", l4, []string{
		`reservation: {name: "ours", active: false}, nodes: 4, zones: ["us-central1-a"]`,
	}},
	{"reservation, not begun, scaling", l4, []string{
		`reservation: {name: "ours", active: false}, maxNodes: 4, zones: ["us-central1-a"]`,
	}},
	{"reservation, future", l4, []string{
		`reservation: {name: "ours", kind: "future", active: false}, nodes: 4, zones: ["us-central1-a"]`,
	}},
	{"reservation, calendar", h200, []string{`reservation: {name: "ours", kind: "calendar", days: 30}, nodes: 2`}},

	{"any reservation", l4, []string{`anyReservation: {}, maxNodes: 4`}},
	{"any reservation or nothing", l4, []string{
		`anyReservation: otherwise: "none", nodes: 4, accept: W1010: "the cluster runs 1.36"`,
	}},

	{"flex-start", l4, []string{`flexStart: {}, maxNodes: 4`}},
	{"flex-start, compact", h200, []string{`flexStart: {}, maxNodes: 4, placement: "compact"`}},
	{"flex-start, queued", l4, []string{`flexStart: {queued: true, maxRunSeconds: 3600}, maxNodes: 4`}},
	{"flex-start, queued, without accelerators", h4d, []string{
		`flexStart: queued: true, maxNodes: 4, accept: W0402: "tried"`,
	}},

	{"auto-provisioned", l4, []string{`onDemand: {}, autoProvisioned: true, maxNodes: 4`}},
	{"auto-provisioned, spot", l4, []string{`spot: {}, autoProvisioned: true, maxNodes: 4`}},
	{"auto-provisioned, close", l4, []string{`spot: {}, autoProvisioned: true, placement: "compact", maxNodes: 4`}},

	{"ComputeClass", l4, []string{`onDemand: {}, computeClass: true, maxNodes: 4`}},
	{"ComputeClass, spot", l4, []string{`spot: {}, computeClass: true, maxNodes: 4`}},
	{"ComputeClass, reservation", l4OneZone, []string{
		`reservation: name: "ours", computeClass: true, maxNodes: 4, zones: ["us-central1-a"]`,
	}},
	{"ComputeClass, any reservation", l4, []string{`anyReservation: {}, computeClass: true, maxNodes: 4`}},
	{"ComputeClass, reservation, the machine's local SSDs", h200, []string{
		`reservation: {name: "ours", block: "block-1"}, computeClass: true, maxNodes: 4`,
	}},
	{"ComputeClass, flex-start", l4, []string{`flexStart: {}, computeClass: true, maxNodes: 4`}},

	{"local SSDs", l4SSDs, []string{`spot: {}, maxNodes: 4`}},
	{"attached GPUs", t4, []string{`onDemand: {}, maxNodes: 4`}},
	{"attached GPUs, less than a vCPU each", t4Small, []string{`spot: {}, maxNodes: 4`}},
	{"attached GPUs, reservation, created", t4, []string{
		`reservation: {name: "ours", create: true}, nodes: 4, zones: ["us-central1-a"]`,
	}},
	{"A4X, reservation", a4x, []string{
		`reservation: {name: "ours", block: "block-1", subBlock: "sub-1"}, nodes: 18, ` +
			`accept: E1016: "the driver is installed"`,
	}},

	{"TCPX", h100Direct, []string{`spot: {}, maxNodes: 4`}},
	{"TCPXO", h100MegaDirect, []string{`onDemand: {}, maxNodes: 4, placement: "compact"`}},
	{"RDMA", h200Direct, []string{`flexStart: queued: true, maxNodes: 4`}},
	{"RDMA, reservation, block", b200Direct, []string{`reservation: {name: "ours", block: "block-1"}, nodes: 2`}},
	{"RDMA, bursting", h200Direct, []string{`reservation: {name: "ours"}, nodes: 2`, `spot: {}, maxNodes: 4`}},

	{"TPU hosts, static", tpuHost, []string{`onDemand: {}, slices: 2`}},
	{"TPU hosts, scaling", tpuHost, []string{`spot: {}, maxSlices: 4`}},
	{"TPU hosts, static, in two zones", tpuHostTwoZones, []string{`onDemand: {}, slices: 2`}},
	{"TPU hosts, scaling, in two zones", tpuHostTwoZones, []string{`spot: {}, maxSlices: 4`}},
	{"TPU hosts, queued", tpuHostFlex, []string{`flexStart: queued: true, maxSlices: 4`}},
	{"TPU slices, static", tpuSlice, []string{`onDemand: {}, slices: 3`}},
	{"TPU slices, none", tpuSliceOne, []string{`onDemand: {}, slices: 0, accept: E0602: "slices come later"`}},
	{"TPU slices, scaling", tpuSlicePair, []string{`spot: {}, maxSlices: 12`}},
	{"TPU slices, flex-start", tpuSliceFlex, []string{`flexStart: {}, maxSlices: 2`}},
	{"TPU slices, queued", tpuSliceFlex, []string{`flexStart: queued: true, maxSlices: 2`}},
	{"TPU slices, reservation", tpuSlice, []string{`reservation: name: "ours", slices: 2`}},
	{"TPU slices, calendar, not begun", tpuLink, []string{
		`reservation: {name: "ours", kind: "calendar", active: false}, slices: 2`,
	}},
	{"TPU slices, linked by a policy", tpuLink, []string{`spot: {}, maxSlices: 2`}},

	{"bursting", l4, []string{
		`reservation: name: "ours", nodes: 2, zones: ["us-central1-a"]`,
		`onDemand: {}, maxNodes: 4`,
		`flexStart: queued: true, maxNodes: 4`,
	}},
	{"bursting, spot", l4, []string{
		`anyReservation: otherwise: "none", maxNodes: 4, accept: W1010: "the cluster runs 1.36"`,
		`spot: {}, maxNodes: 4`,
		`flexStart: queued: true, maxNodes: 4`,
	}},
	{"bursting, TPU slices", tpuSliceFlex, []string{
		`reservation: name: "ours", slices: 2`,
		`spot: {}, maxSlices: 2`,
		`flexStart: queued: true, maxSlices: 2`,
	}},
}

// kaiOptions holds ways of obtaining machines for jobs that KAI Scheduler starts.
var kaiOptions = []row{
	{"KAI", l4, []string{`onDemand: {}, nodes: 4`}},
	{"KAI, taints", l4, []string{`onDemand: {}, nodes: 4, nodeTaints: [{key: "example.com/team", value: "a"}]`}},
	{"KAI, JobSet", l4JobSet, []string{`reservation: name: "ours", nodes: 4, zones: ["us-central1-a"]`}},
	{"KAI, not begun", l4, []string{`reservation: {name: "ours", active: false}, nodes: 4, zones: ["us-central1-a"]`}},
	{"KAI, scaling", l4, []string{`spot: {}, maxNodes: 4, accept: W1009: "tried"`}},
	{"KAI, flex-start", l4, []string{`flexStart: {}, maxNodes: 4, accept: W1009: "tried"`}},
	{"KAI, one of two", l4First, []string{`onDemand: {}, nodes: 4`, `spot: {}, nodes: 4`}},
	{"KAI, TCPX", h100Direct, []string{`reservation: name: "ours", nodes: 2`}},
}

// Blueprint returns the blueprint of the option's platform.
func (o Option) Blueprint() string {
	first, _, _ := strings.Cut(o.zones, ",")
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
`, region, o.zones, o.hardware, o.workload)
	var names []string
	for i, c := range o.capacities {
		name := fmt.Sprintf("some-%d", i)
		names = append(names, `"`+name+`"`)
		fmt.Fprintf(&b, "capacity: %q: {hardware: \"some\", consumption: %s}\n", name, c)
		fmt.Fprintf(&b, "teams: vision: quota: batch: %q: {%s}\n", name, o.quota)
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
	var all []Option
	for _, r := range kueueOptions {
		all = append(all, Option{row: r})
	}
	for _, r := range kaiOptions {
		all = append(all, Option{r, "kai"})
	}
	return all
}
