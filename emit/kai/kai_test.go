package kai

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// gpuQuota is a queue's quota of GPUs on a capacity, beside cpu.
func gpuQuota(nominal int64, borrowing *resource.Quantity, all bool) ir.FlavorQuota {
	return ir.FlavorQuota{Flavor: "h100", Quotas: []ir.ResourceQuota{
		{Resource: ir.CPU, Nominal: resource.MustParse("100")},
		{
			Resource: ir.GPU, Nominal: *resource.NewQuantity(nominal, resource.DecimalSI), Borrowing: borrowing,
			BorrowsAll: all,
		},
	}}
}

func TestShare(t *testing.T) {
	waiting := gpuQuota(4, nil, false)
	waiting.Waiting = true
	four := resource.MustParse("4")
	for _, test := range []struct {
		name    string
		flavors []ir.FlavorQuota
		want    map[string]int64
	}{
		{"nothing", nil, share(0, 0, 1)},
		{"no cohort", []ir.FlavorQuota{gpuQuota(8, nil, false)}, share(8, 8, 1)},
		{"some", []ir.FlavorQuota{gpuQuota(8, &four, false)}, share(8, 12, 1)},
		{"all", []ir.FlavorQuota{gpuQuota(8, nil, true)}, share(8, -1, 1)},
		{"capacities together", []ir.FlavorQuota{gpuQuota(8, &four, false), gpuQuota(2, nil, false)}, share(10, 14, 1)},
		{"all of one of them", []ir.FlavorQuota{gpuQuota(8, nil, true), gpuQuota(2, &four, false)}, share(10, -1, 1)},
		{"a reservation that has not begun", []ir.FlavorQuota{gpuQuota(8, nil, false), waiting}, share(8, 8, 1)},
	} {
		if got := gpuShare(ir.Queue{Flavors: test.flavors}, 1); !maps.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestQueues(t *testing.T) {
	queue := func(n int64) []ir.Queue {
		return []ir.Queue{{LocalQueue: "vision", Flavors: []ir.FlavorQuota{gpuQuota(n, nil, true)}}}
	}
	p := &ir.Platform{
		Name: "demo",
		Cohorts: []ir.Cohort{
			{Name: "research", Priority: 200, Weight: 1},
			{Name: "nobody", Priority: 100, Weight: 2, Quota: new(4)},
		},
		Teams: []ir.Team{
			{Name: "vision", Namespace: "ns", Cohort: "research", Priority: 150, Weight: 3, Queues: queue(8)},
			{Name: "speech", Cohort: "research", Queues: queue(3)},
			{Name: "alone", Queues: queue(5)},
			{Name: "idle", Cohort: "research"},
		},
	}
	manifests := Queues(p)
	if len(manifests) != 1 || manifests[0].Name != "cohorts.yaml" {
		t.Fatalf("manifests %v", manifests)
	}
	got, err := kubeyaml.Marshal(append(manifests[0].Objects, Team(p, p.Teams[0])...)...)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: research
spec:
  priority: 200
  resources:
    cpu:
      limit: -1
      overQuotaWeight: 1
      quota: -1
    gpu:
      limit: -1
      overQuotaWeight: 1
      quota: 11
    memory:
      limit: -1
      overQuotaWeight: 1
      quota: -1
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: nobody
spec:
  priority: 100
  resources:
    cpu:
      limit: -1
      overQuotaWeight: 1
      quota: -1
    gpu:
      limit: -1
      overQuotaWeight: 2
      quota: 4
    memory:
      limit: -1
      overQuotaWeight: 1
      quota: -1
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
    team: vision
  name: vision
spec:
  parentQueue: research
  priority: 150
  resources:
    cpu:
      limit: -1
      overQuotaWeight: 1
      quota: -1
    gpu:
      limit: -1
      overQuotaWeight: 3
      quota: 8
    memory:
      limit: -1
      overQuotaWeight: 1
      quota: -1
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	if got := Team(p, p.Teams[3]); got != nil {
		t.Errorf("a team without quota has queues: %v", got)
	}
}
