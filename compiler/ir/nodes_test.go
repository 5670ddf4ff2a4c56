package ir_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// hostOfSlice is one of four hosts of a TPU slice.
var hostOfSlice = ir.Machine{
	Accelerator: "tpu-v6e-slice", AcceleratorCount: 4, Resource: ir.TPU,
	Slice: &ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4},
}

func nodeChips(n string) []ir.Amount {
	return []ir.Amount{{Resource: ir.TPU, Quantity: resource.MustParse(n)}}
}

func nodeAmounts(gpu, cpu, memory string) []ir.Amount {
	return []ir.Amount{
		{Resource: ir.CPU, Quantity: resource.MustParse(cpu)},
		{Resource: ir.Memory, Quantity: resource.MustParse(memory)},
		{Resource: ir.GPU, Quantity: resource.MustParse(gpu)},
	}
}

// TestCountNodes counts nodes by the quotas of each capacity.
func TestCountNodes(t *testing.T) {
	tests := []struct {
		name string
		c    ir.Capacity
		want ir.NodeCount
	}{
		{
			"nothing guaranteed",
			ir.Capacity{
				Option:   ir.OnDemand,
				MaxNodes: 5, PerNode: nodeAmounts("2", "22", "80Gi"), Guaranteed: nodeAmounts("0", "0", "0"),
			}, ir.NodeCount{Standing: 0, Reached: 0, Ceiling: 5},
		},
		{
			"part of a node",
			ir.Capacity{
				Option:   ir.OnDemand,
				MaxNodes: 5, PerNode: nodeAmounts("2", "22", "80Gi"), Guaranteed: nodeAmounts("3", "3", "3Gi"),
			}, ir.NodeCount{Standing: 0, Reached: 2, Ceiling: 5},
		},
		{
			"cpu is scarcest",
			ir.Capacity{
				Option:   ir.OnDemand,
				MaxNodes: 5, PerNode: nodeAmounts("2", "3900m", "80Gi"),
				Guaranteed: nodeAmounts("2", "7801m", "3Gi"),
			}, ir.NodeCount{Standing: 0, Reached: 3, Ceiling: 5},
		},
		{
			"overcommitted",
			ir.Capacity{
				Option:   ir.OnDemand,
				MaxNodes: 5, PerNode: nodeAmounts("2", "22", "80Gi"), Guaranteed: nodeAmounts("100", "3", "3Gi"),
			}, ir.NodeCount{Standing: 0, Reached: 5, Ceiling: 5},
		},
		{
			"minimum",
			ir.Capacity{
				Option:   ir.OnDemand,
				MinNodes: 3, MaxNodes: 5, PerNode: nodeAmounts("2", "22", "80Gi"),
				Guaranteed: nodeAmounts("2", "3", "3Gi"),
			}, ir.NodeCount{Standing: 3, Reached: 1, Ceiling: 5},
		},
		{
			"created reservation",
			ir.Capacity{Option: ir.Reservation, MaxNodes: 5, Reservation: &ir.ReservationUse{Create: true}},
			ir.NodeCount{Standing: 5, Reached: 0, Ceiling: 5},
		},
		{
			"existing reservation", ir.Capacity{Option: ir.Reservation, MaxNodes: 5, Reservation: &ir.ReservationUse{}},
			ir.NodeCount{Standing: 5, Reached: 0, Ceiling: 5},
		},
		{
			"another project's reservation",
			ir.Capacity{Option: ir.Reservation, MaxNodes: 5, Reservation: &ir.ReservationUse{Owner: "theirs"}},
			ir.NodeCount{Standing: 0, Reached: 0, Ceiling: 5},
		},
		{
			"no quantities", ir.Capacity{Option: ir.OnDemand, MaxNodes: 5},
			ir.NodeCount{Standing: 0, Reached: 0, Ceiling: 5},
		},
		{
			"any reservation",
			ir.Capacity{MaxNodes: 5, Option: ir.AnyReservationOnly},
			ir.NodeCount{Standing: 0, Reached: 0, Ceiling: 5},
		},
		{
			"reservation that has not begun",
			ir.Capacity{
				Option: ir.Reservation,
				Static: true, MinNodes: 5, MaxNodes: 5, Waiting: true, Reservation: &ir.ReservationUse{},
				PerNode: nodeAmounts("2", "22", "80Gi"), Guaranteed: nodeAmounts("3", "3", "3Gi"),
			}, ir.NodeCount{Standing: 0, Reached: 2, Ceiling: 5},
		},
		{
			"part of a TPU slice",
			ir.Capacity{
				Option:   ir.OnDemand,
				MaxNodes: 8, Slices: 2, Machine: hostOfSlice, PerNode: nodeChips("4"),
				Guaranteed: nodeChips("20"),
			}, ir.NodeCount{Standing: 0, Reached: 8, Ceiling: 8},
		},
		{
			"TPU slices, overcommitted",
			ir.Capacity{
				Option:   ir.OnDemand,
				MaxNodes: 8, Slices: 2, Machine: hostOfSlice, PerNode: nodeChips("4"), Guaranteed: nodeChips("64"),
			}, ir.NodeCount{Standing: 0, Reached: 8, Ceiling: 8},
		},
		{
			"standing TPU slices",
			ir.Capacity{
				Option: ir.OnDemand,
				Static: true, MaxNodes: 8, Slices: 2, Machine: hostOfSlice, PerNode: nodeChips("4"),
				Guaranteed: nodeChips("4"),
			}, ir.NodeCount{Standing: 8, Reached: 4, Ceiling: 8},
		},
	}
	for _, tt := range tests {
		p := &ir.Platform{Scheduler: ir.Kueue, Capacities: []ir.Capacity{tt.c}}
		if got := p.CountNodes()[0]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestCountNodesWithKAI counts nodes for a scheduler that lends idle GPUs of all
// capacities: only the limits of all teams together bound them.
func TestCountNodesWithKAI(t *testing.T) {
	eight := ir.Machine{Resource: ir.GPU, AcceleratorCount: 8}
	team := func(nominal string, borrow *resource.Quantity, all bool) ir.Team {
		return ir.Team{Queues: []ir.Queue{{Flavors: []ir.FlavorQuota{{Flavor: "h100", Quotas: []ir.ResourceQuota{
			{Resource: ir.GPU, Nominal: resource.MustParse(nominal), Borrowing: borrow, BorrowsAll: all},
		}}}}}}
	}
	ten := resource.MustParse("10")
	for _, test := range []struct {
		name    string
		teams   []ir.Team
		reached int
	}{
		{"no teams", nil, 8},
		{"limits below the nodes", []ir.Team{team("16", nil, false), team("8", nil, false)}, 3},
		{"part of a node", []ir.Team{team("16", &ten, false)}, 4},
		{"limits above the nodes", []ir.Team{team("80", nil, false)}, 8},
		{"a team without a limit", []ir.Team{team("8", nil, false), team("0", nil, true)}, 8},
	} {
		p := &ir.Platform{Scheduler: ir.KAI, Teams: test.teams, Capacities: []ir.Capacity{
			{Name: "h100", Option: ir.OnDemand, Machine: eight, MinNodes: 1, MaxNodes: 8},
		}}
		want := ir.NodeCount{Standing: 1, Reached: test.reached, Ceiling: 8}
		if got := p.CountNodes()[0]; got != want {
			t.Errorf("%s: %+v, want %+v", test.name, got, want)
		}
	}
}
