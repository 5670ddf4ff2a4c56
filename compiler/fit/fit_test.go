package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
)

// amounts returns amounts of cpu and memory, and of GPUs if there are any.
func amounts(cpu, memory string, gpus int64) []ir.Amount {
	out := []ir.Amount{
		{Resource: ir.CPU, Quantity: resource.MustParse(cpu)},
		{Resource: ir.Memory, Quantity: resource.MustParse(memory)},
	}
	if gpus > 0 {
		out = append(out, ir.Amount{Resource: ir.GPU, Quantity: *resource.NewQuantity(gpus, resource.DecimalSI)})
	}
	return out
}

// gpuNodes returns a capacity of nodes with 8 GPUs that scales up to a number of nodes.
func gpuNodes(name string, nodes int) ir.Capacity {
	return ir.Capacity{
		Name: name, MaxNodes: nodes, PerNode: amounts("80", "800Gi", 8), SystemPods: amounts("1", "2Gi", 0),
		Machine: ir.Machine{
			Type: "a3", Accelerator: "nvidia-h100-80gb", AcceleratorCount: 8, Resource: ir.GPU, VCPUs: 80,
			MemoryGiB: 800,
		},
	}
}

// cpuNodes returns a capacity of nodes with 8 vCPUs that scales up to a number of nodes.
func cpuNodes(name string, nodes int) ir.Capacity {
	return ir.Capacity{
		Name: name, MaxNodes: nodes, PerNode: amounts("8", "32Gi", 0), SystemPods: amounts("1", "2Gi", 0),
		Machine: ir.Machine{Type: "n2", VCPUs: 8, MemoryGiB: 32},
	}
}

// quota returns a queue's quota on a capacity: an equal share of a node for each unit.
func quota(c ir.Capacity, units, borrow int64) ir.FlavorQuota {
	out, whole := ir.FlavorQuota{Flavor: c.Name}, ir.AmountOf(c.PerNode, c.CountedIn())
	for _, a := range c.PerNode {
		of := func(units int64) resource.Quantity {
			q := divide(a.Quantity, whole.Value())
			q.Mul(units)
			return q
		}
		q := ir.ResourceQuota{Resource: a.Resource, Nominal: of(units)}
		if borrow > 0 {
			limit := of(borrow)
			q.Borrowing = &limit
		}
		out.Quotas = append(out.Quotas, q)
	}
	return out
}

// platform returns a platform with Kueue, of which each team has one queue in the tier
// "batch" and in one cohort, by the quotas of the teams a, b and so on. Each team submits
// the workload, on all capacities.
func platform(w ir.Workload, capacities []ir.Capacity, quotas ...[]ir.FlavorQuota) *Platform {
	p := &ir.Platform{
		Scheduler: ir.Kueue, Capacities: capacities, Cohorts: []ir.Cohort{{Name: "all"}}, Zones: []string{"z"},
	}
	w.Template, w.Queue = "train", "queue"
	for _, c := range capacities {
		w.Capacities = append(w.Capacities, c.Name)
	}
	submissions := Submissions{}
	for i, flavors := range quotas {
		w.Team = string(rune('a' + i))
		p.Teams = append(p.Teams, ir.Team{Name: w.Team, Queues: []ir.Queue{{
			ClusterQueue: "cq-" + w.Team, LocalQueue: "queue", Tier: "batch", Cohort: "all", Flavors: flavors,
		}}})
		p.Workloads = append(p.Workloads, w)
	}
	for i := range p.Workloads {
		t := &p.Teams[i]
		submissions["train"] = append(submissions["train"], Submission{
			Workload: &p.Workloads[i], Team: t, Queue: &t.Queues[0], Tier: w.Capacities,
		})
	}
	return New(p, func() Submissions { return submissions })
}

func pods(n int, requests []ir.Amount) ir.Workload {
	return ir.Workload{Kind: ir.Job, Pods: n, Requests: requests}
}

// TestAdmission checks copies against quota, with what the queue can borrow, and against
// nodes, which quota does not know.
func TestAdmission(t *testing.T) {
	c := gpuNodes("h100", 4)
	for _, tt := range []struct {
		name          string
		pods          int
		gpus          int64
		borrow        int64
		nodes         int
		admitted, run bool
	}{
		{name: "within the guarantee", pods: 2, gpus: 8, nodes: 4, admitted: true, run: true},
		{name: "one pod more than the guarantee", pods: 3, gpus: 8, nodes: 4},
		{name: "with all that may be borrowed", pods: 3, gpus: 8, borrow: 8, nodes: 4, admitted: true, run: true},
		{name: "beyond the borrowing limit", pods: 4, gpus: 8, borrow: 8, nodes: 4},
		{name: "beyond what the other team lends", pods: 5, gpus: 8, borrow: 80, nodes: 4},
		{name: "quota of more nodes than there are", pods: 2, gpus: 5, nodes: 1, admitted: true},
		{name: "two pods of 4 GPUs share a node", pods: 2, gpus: 4, nodes: 1, admitted: true, run: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c.MaxNodes, c.Overcommit = tt.nodes, "intended"
			p := platform(pods(tt.pods, amounts("10", "10Gi", tt.gpus)), []ir.Capacity{c},
				[]ir.FlavorQuota{quota(c, 16, tt.borrow)}, []ir.FlavorQuota{quota(c, 16, 0)})
			s := p.Submissions()["train"][0]
			if short, ok := p.CanAdmit(s); ok != tt.admitted || ok == (len(short) > 0) {
				t.Errorf("admitted %v, want %v: %q", ok, tt.admitted, short)
			}
			on := p.Nodes(s, Nothing)
			if (len(on) > 0) != tt.admitted {
				t.Errorf("nodes %v, admitted %v", on, tt.admitted)
			}
			if got := p.CanRun(s, on); got != tt.run {
				t.Errorf("runs %v, want %v: %+v", got, tt.run, on)
			}
		})
	}
}

// TestWaiting checks that a copy waits for an emptied capacity, and that a spoilt quota says
// nothing about nodes.
func TestWaiting(t *testing.T) {
	c := gpuNodes("h100", 0)
	c.Static = true
	p := platform(pods(9, amounts("1", "1Gi", 8)), []ir.Capacity{c}, []ir.FlavorQuota{quota(c, 0, 0)})
	s := p.Submissions()["train"][0]
	if _, ok := p.CanAdmit(s); !ok {
		t.Error("an emptied capacity refuses a copy")
	}
	p.Named["h100"] = gpuNodes("h100", 1)
	if _, ok := p.CanAdmit(s); ok {
		t.Error("an empty quota admits a copy")
	}
	s.Spoilt = true
	if on := p.Nodes(s, Nothing); on != nil {
		t.Errorf("nodes for a spoilt quota: %v", on)
	}
}

// TestLimits checks the number of nodes within a limit of the cluster: the system pool and
// the standing nodes count, and a TPU slice starts as a whole.
func TestLimits(t *testing.T) {
	c := cpuNodes("n2", 10)
	c.MinNodes = 1
	p := platform(pods(5, amounts("6", "1Gi", 0)), []ir.Capacity{c}, []ir.FlavorQuota{quota(c, 80, 0)})
	p.SystemPool = ir.SystemPool{Machine: "e2-standard-4", NodesPerZone: 1, VCPUs: 4, MemoryGiB: 16}
	p.AutoProvisioning.Create = true
	p.AutoProvisioning.Limits = []ir.ResourceLimit{{Type: ir.CPU, Max: 40}, {Type: ir.Memory, Max: 1000}}
	s := p.Submissions()["train"][0]
	on := p.Limited(p.Nodes(s, Nothing))
	// 4 vCPUs of the system pool and 8 of the standing node leave 28: 3 more nodes.
	if len(on) != 1 || on[0].Most != 4 || on[0].Needed != 5 || on[0].Limit == nil || p.CanRun(s, on) {
		t.Fatalf("%+v", on)
	}
	if need := on[0].Limit.Need(on[0]); need != 44 {
		t.Errorf("a limit of %v lets the copy run, want 44", need)
	}
	c.MinNodes = 0
	p.Capacities[0] = c
	if need := p.SmallestLimit(ir.CPU); need != (LimitNeed{"n2", 12}) {
		t.Errorf("the first node needs %+v", need)
	}
}

// TestCrowded checks that auxiliary pods need room beside the pods of their workload.
func TestCrowded(t *testing.T) {
	for nodes, want := range map[int]bool{2: true, 3: false} {
		c := cpuNodes("n2", nodes)
		w := pods(2, amounts("7", "1Gi", 0))
		w.Auxiliaries = []ir.Auxiliary{{Name: "db", Capacity: "n2", Requests: amounts("2", "1Gi", 0)}}
		p := platform(w, []ir.Capacity{c}, []ir.FlavorQuota{quota(c, 100, 0)})
		s := p.Submissions()["train"][0]
		crowded, found := p.Crowded(s, p.Nodes(s, Nothing), Nothing)
		if found != want || found && crowded.Needed != 3 {
			t.Errorf("%d nodes: crowded %v, %+v", nodes, found, crowded)
		}
	}
}

// TestShares checks the cpu and memory that pods can request: their part of a node beside
// GKE's own pods, or of a smaller quota.
func TestShares(t *testing.T) {
	c := gpuNodes("h100", 4)
	for cpu, want := range map[string][2]int64{"80": {9800, 99}, "40": {5000, 99}} {
		f := quota(c, 8, 0)
		f.Quotas[0].Nominal = resource.MustParse(cpu)
		p := platform(pods(1, amounts("1", "1Gi", 1)), []ir.Capacity{c}, []ir.FlavorQuota{f})
		most := p.PerPod(p.Submissions()["train"], c, 8)
		if got := [2]int64{most[0].Quantity.MilliValue(), most[1].Quantity.Value() >> 30}; got != want {
			t.Errorf("quota of %s vCPUs for 8 GPUs: %v, want %v", cpu, got, want)
		}
	}
	if got, enough := platform(pods(1, amounts("1", "1Gi", 3)), []ir.Capacity{c},
		[]ir.FlavorQuota{quota(c, 32, 0)}).EvenGPUs(nil, c); !enough || !cmp.Equal(got, []int{1, 2, 4, 8}) {
		t.Errorf("even numbers of 8 GPUs: %v %v", got, enough)
	}
}

// TestPools checks the number that divides what all jobs use: 6 of 8 guaranteed GPUs are of
// use to pods of 2, and all are to pods of 4 in a cohort with another team.
func TestPools(t *testing.T) {
	c := gpuNodes("h100", 4)
	for _, tt := range []struct {
		gpus       int64
		guarantees []int64
		remainder  int64
	}{
		{2, []int64{7}, 2}, {2, []int64{8}, 0}, {4, []int64{6, 6}, 0}, {4, []int64{6, 5}, 4}, {3, []int64{7}, 0},
		{1, []int64{7}, 0},
	} {
		var quotas [][]ir.FlavorQuota
		for _, n := range tt.guarantees {
			quotas = append(quotas, []ir.FlavorQuota{quota(c, n, 0)})
		}
		pools := platform(pods(1, amounts("1", "1Gi", tt.gpus)), []ir.Capacity{c}, quotas...).Pools()
		if len(pools) != 1 || pools[0].RemainderStep() != tt.remainder || pools[0].Jobless() {
			t.Errorf("%+v: %+v", tt, pools)
		}
	}
}

// TestUses checks the part of a node that the pods of all workloads leave idle.
func TestUses(t *testing.T) {
	c := gpuNodes("h100", 4)
	for _, tt := range []struct {
		gpus    int64
		cpu     string
		used    int
		divides bool
	}{{2, "10", 8, true}, {3, "10", 6, false}, {1, "11", 7, true}} {
		p := platform(pods(1, amounts(tt.cpu, "1Gi", tt.gpus)), []ir.Capacity{c}, []ir.FlavorQuota{quota(c, 32, 0)})
		use := p.GPUUses()["h100"]
		if use == nil || use.MostOn(c) != tt.used || use.Divides(8) != tt.divides {
			t.Errorf("%+v: %+v", tt, use)
		}
	}
	n := cpuNodes("n2", 4)
	p := platform(pods(3, amounts("5", "1Gi", 0)), []ir.Capacity{n}, []ir.FlavorQuota{quota(n, 32, 0)})
	use := p.CPUUses()["n2"]
	if use == nil || use.Unclear || use.Admitted() != 6 || len(p.UnknownJobs(p.CPUUses())) > 0 {
		t.Errorf("%+v", use)
	}
}

// TestTriedLate checks the order of two capacities with equal nodes, one of which is paid
// anyway.
func TestTriedLate(t *testing.T) {
	spot, standing := gpuNodes("spot", 4), gpuNodes("standing", 4)
	standing.Static = true
	for _, o := range ir.Options() {
		if !o.TakesReservations() && spot.Option == "" {
			spot.Option, standing.Option = o.Option, o.Option
		}
	}
	flavors := []ir.FlavorQuota{quota(spot, 8, 0), quota(standing, 8, 0)}
	w := pods(1, amounts("1", "1Gi", 1))
	p := platform(w, []ir.Capacity{spot, standing}, flavors)
	late := p.TriedLate(map[string][]string{"batch": {"spot", "standing"}})
	if len(late) != 1 || late[0].Name != "standing" || late[0].Before != "spot" || late[0].Index != 1 || late[0].Any {
		t.Errorf("%+v", late)
	}
	p = platform(w, []ir.Capacity{standing, spot}, []ir.FlavorQuota{flavors[1], flavors[0]})
	if late := p.TriedLate(map[string][]string{"batch": {"standing", "spot"}}); late != nil {
		t.Errorf("in the right order: %+v", late)
	}
}

// TestJobs checks the jobs of a demonstration: what was submitted and not deleted.
func TestJobs(t *testing.T) {
	c := gpuNodes("h100", 1)
	p := platform(pods(2, amounts("1", "1Gi", 4)), []ir.Capacity{c}, []ir.FlavorQuota{quota(c, 8, 0)},
		[]ir.FlavorQuota{quota(c, 8, 0)})
	j := p.NewJobs()
	if j.Submit("train", "a") || !j.Submit("train", "a") || j.Submit("train", "b") {
		t.Error("only the second jobs of a team already exist")
	}
	if d := cmp.Diff(map[string]int{"cq-a": 1, "cq-b": 1}, j.InQueues()); d != "" {
		t.Error(d)
	}
	if on, room := j.PodsOn("h100"), j.RoomOn("h100"); on != 4 || room != 2 {
		t.Errorf("%d pods, room for %d", on, room)
	}
	if !j.ShareNode([]string{"train", "train"}) || j.ShareNode([]string{"train", "train", "train"}) {
		t.Error("a node has room for two pods")
	}
	if n := j.Delete("train", "a"); n != 1 || j.Count("train", "a") != 0 || j.PodsOf("train") != 2 {
		t.Errorf("%d deleted, %d pods left", n, j.PodsOf("train"))
	}
}

// TestSystemPool checks that each pod needs its room on one node.
func TestSystemPool(t *testing.T) {
	pods := []catalog.SystemPod{{MilliCPU: 600, MemoryMiB: 100}, {MilliCPU: 600, MemoryMiB: 100}}
	if (PoolRoom{1, 1000, 1000}).Holds(pods) || !(PoolRoom{2, 1000, 1000}).Holds(pods) {
		t.Error("two pods of 600m need two nodes of one vCPU")
	}
	if (PoolRoom{2, 500, 5000}).Holds(pods) {
		t.Error("a pod of 600m fits a node of 500m")
	}
}
