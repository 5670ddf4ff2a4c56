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
