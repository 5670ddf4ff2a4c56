package ir_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// amountsOf returns amounts of cpu, memory and GPUs; "" omits one.
func amountsOf(cpu, memory, gpus string) []ir.Amount {
	var out []ir.Amount
	for _, a := range []struct{ name, quantity string }{{ir.CPU, cpu}, {ir.Memory, memory}, {ir.GPU, gpus}} {
		if a.quantity != "" {
			out = append(out, ir.Amount{Resource: a.name, Quantity: resource.MustParse(a.quantity)})
		}
	}
	return out
}

func TestPodsPerNode(t *testing.T) {
	node := ir.Capacity{PerNode: amountsOf("23850m", "86Gi", "8")}
	for _, test := range []struct {
		name     string
		requests []ir.Amount
		taken    []ir.Amount
		pods     int
		copyOf   int // number of pods of a copy
		nodes    int
	}{
		{"GPUs leave a rest", amountsOf("1", "1Gi", "3"), nil, 2, 5, 3},
		{"cpu is scarce", amountsOf("13", "1Gi", "1"), nil, 1, 4, 4},
		{"memory is scarce", amountsOf("1", "60Gi", "1"), nil, 1, 4, 4},
		{"all fit one node", amountsOf("1", "1Gi", "2"), nil, 4, 4, 1},
		{"other pods take cpu", amountsOf("11900m", "1Gi", "1"), amountsOf("500m", "", ""), 1, 2, 2},
		{"without other pods", amountsOf("11900m", "1Gi", "1"), nil, 2, 2, 1},
		{"too large", amountsOf("24", "1Gi", "1"), nil, 0, 2, 0},
		{"a resource that the node lacks", []ir.Amount{{Resource: ir.TPU, Quantity: resource.MustParse("1")}}, nil,
			0, 1, 0},
		{"more is taken than there is", amountsOf("1", "1Gi", "1"), amountsOf("", "90Gi", ""), 0, 1, 0},
		{"more than an int64 holds", amountsOf("1", "9000Pi", "1"), nil, 0, 1, 0},
		{"tiny pods", amountsOf("1m", "1Ki", ""), nil, 110, 111, 2},
	} {
		pods := node.PodsPerNode(test.requests, test.taken...)
		if pods != test.pods {
			t.Errorf("%s: %d pods, want %d", test.name, pods, test.pods)
		}
		if nodes := (ir.Workload{Pods: test.copyOf}).NodesPerCopy(pods); nodes != test.nodes {
			t.Errorf("%s: %d nodes, want %d", test.name, nodes, test.nodes)
		}
	}
	if pods := (ir.Capacity{}).PodsPerNode(amountsOf("1", "1Gi", "")); pods != 0 {
		t.Errorf("an unknown machine holds %d pods", pods)
	}
}

// The memory of a large quota has more thousandths than an int64 holds.
func TestTimesWithinLargeQuota(t *testing.T) {
	if n := ir.TimesWithin(amountsOf("", "20Pi", ""), amountsOf("", "12Pi", "")); n != 1 {
		t.Errorf("20Pi contain 12Pi %d times", n)
	}
	if n := ir.TimesWithin(amountsOf("", "20Pi", ""), amountsOf("", "1Ti", "")); n != 20<<10 {
		t.Errorf("20Pi contain 1Ti %d times", n)
	}
}

func TestNodesTogether(t *testing.T) {
	node := ir.Capacity{PerNode: amountsOf("8", "32Gi", "")}
	single := func(cpus ...string) [][]ir.Amount {
		var out [][]ir.Amount
		for _, cpu := range cpus {
			out = append(out, amountsOf(cpu, "1Gi", ""))
		}
		return out
	}
	for _, test := range []struct {
		name    string
		pods    int
		cpu     string
		singles [][]ir.Amount
		taken   []ir.Amount
		nodes   int
	}{
		{"only equal pods", 3, "4", nil, nil, 2},
		{"only single pods", 0, "4", single("4.5", "4.5", "4.5"), nil, 3},
		{"a single pod beside an equal pod", 2, "5", single("3"), nil, 2},
		{"a single pod needs its own node", 2, "5", single("4"), nil, 3},
		{"first fit by size needs four nodes", 0, "1", single("4", "4", "3", "3", "3", "2", "2", "3"), nil, 3},
		{"single pods share a node", 2, "5", single("1", "1", "7"), nil, 3},
		{"other pods take cpu", 2, "5", single("3"), amountsOf("100m", "", ""), 3},
		{"an equal pod is too large", 1, "9", single("1"), nil, 0},
		{"a single pod is too large", 1, "1", single("8"), amountsOf("1m", "", ""), 0},
		{"too many to divide", 2, "8", single("8", "8", "8", "8", "8", "8", "8", "8", "8"), nil, 2},
	} {
		nodes := node.NodesTogether(test.pods, amountsOf(test.cpu, "1Gi", ""), test.singles, test.taken...)
		if nodes != test.nodes {
			t.Errorf("%s: %d nodes, want %d", test.name, nodes, test.nodes)
		}
	}
}
