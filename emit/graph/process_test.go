package graph

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestProcess checks the steps of a job and the nodes on which it runs.
func TestProcess(t *testing.T) {
	gpus := ir.Capacity{Machine: ir.Machine{Resource: ir.GPU}, Option: ir.OnDemand}
	queued := ir.Capacity{Machine: gpus.Machine, Option: ir.QueuedFlexStart}
	slices := ir.Capacity{Machine: ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Hosts: 4}}, Option: ir.OnDemand}
	plain := ir.Capacity{Option: ir.OnDemand}
	for name, test := range map[string]struct {
		plan ir.Platform
		want []string // arrows
	}{
		"GPUs": {ir.Platform{Scheduler: ir.Kueue, Capacities: []ir.Capacity{gpus, plain}},
			[]string{"submit --> local", "local --> cluster", "cluster --> scheduler", "scheduler --> accelerators",
				"scheduler --> others", "accelerators & others --> logs"}},
		"requests": {ir.Platform{Scheduler: ir.Kueue, Capacities: []ir.Capacity{queued}},
			[]string{"submit --> local", "local --> cluster", "cluster --> request", "request --> scheduler",
				"scheduler --> accelerators", "accelerators --> logs"}},
		"some requests": {ir.Platform{Scheduler: ir.Kueue, Capacities: []ir.Capacity{queued, slices},
			Teams: []ir.Team{{Bucket: "b"}}, Monitoring: ir.Monitoring{TensorBoard: "us-central1"}},
			[]string{"submit --> local", "local --> cluster", "cluster --> request", "request & cluster --> scheduler",
				"scheduler --> slices", "scheduler --> accelerators", "slices & accelerators --> logs",
				"slices & accelerators --> bucket", "slices & accelerators --> tensorboard"}},
		"KAI Scheduler": {ir.Platform{Scheduler: ir.KAI, Capacities: []ir.Capacity{gpus}},
			[]string{"submit --> queue", "queue --> scheduler", "scheduler --> accelerators", "accelerators --> logs"}},
		"no capacities": {ir.Platform{Scheduler: ir.Kueue},
			[]string{"submit --> local", "local --> cluster", "cluster --> scheduler"}},
	} {
		var got []string
		for _, line := range Process(&test.plan) {
			if strings.Contains(line, " --> ") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}
