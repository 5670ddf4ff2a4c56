package catalog

import (
	"cmp"
	"strings"
	"testing"
)

func TestSystemPodRows(t *testing.T) {
	for _, p := range readFile(t, "systempods.jsonl", systemPods, func(a, b SystemPod) int {
		return cmp.Or(cmp.Compare(a.On, b.On), cmp.Compare(a.Pod, b.Pod))
	}) {
		if p.On == "" || p.Pod == "" || p.MilliCPU <= 0 || p.MemoryMiB < 0 || !strings.HasPrefix(p.Source, "https://") {
			t.Errorf("implausible: %+v", p)
		}
	}
}

func TestSystemPods(t *testing.T) {
	every := SystemPods(onEveryNode)
	if len(every) < 5 {
		t.Errorf("%d pods on every node", len(every))
	}
	if got := SystemPods(onEveryNode, ""); len(got) != len(every) {
		t.Errorf("a node without accelerators has %d pods, not %d", len(got), len(every))
	}
	gpu := SystemPods(onEveryNode, "nvidia.com/gpu")
	if len(gpu) <= len(every) {
		t.Error("a node with GPUs has no pods of its own")
	}
	less, _ := SumRequests(every)
	if more, memory := SumRequests(gpu); more <= less || memory <= 0 {
		t.Errorf("GPUs: %dm and %d MiB, without: %dm", more, memory, less)
	}
}
