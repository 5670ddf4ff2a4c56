package lower

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

func lowerWorkloads(b *schema.Blueprint, p *ir.Platform) []ir.Workload {
	capacities := p.NamedCapacities()
	byTeam := map[string][]string{} // the key "" holds the workloads of every team
	for name, in := range b.Workloads {
		if len(in.Teams) == 0 {
			byTeam[""] = append(byTeam[""], name)
		}
		for _, t := range in.Teams {
			byTeam[t] = append(byTeam[t], name)
		}
	}
	var out []ir.Workload
	for i := range p.Teams {
		team := &p.Teams[i]
		if team.InExisting {
			continue
		}
		for _, name := range sortedUnique(slices.Concat(byTeam[""], byTeam[team.Name])) {
			in := b.Workloads[name]
			queue := slices.IndexFunc(team.Queues, func(q ir.Queue) bool { return q.Tier == in.Tier })
			if queue < 0 {
				continue
			}
			all := queueCapacities(&team.Queues[queue], capacities)
			on := usableCapacities(p, in, all)
			w := lowerWorkload(p, in, name, team, &team.Queues[queue], on)
			w.NodeSelector = nodeSelector(p, on, all)
			w.Auxiliaries = lowerAuxiliaries(p, in.Auxiliary, capacities, all)
			for n := 1; n <= in.Copies; n++ {
				out = append(out, copyOf(w, n, in.Copies, on))
			}
		}
	}
	return out
}

// queueCapacities returns the capacities of a queue, in the queue's order.
func queueCapacities(q *ir.Queue, capacities map[string]*ir.Capacity) []*ir.Capacity {
	all := make([]*ir.Capacity, len(q.Flavors))
	for i, f := range q.Flavors {
		all[i] = capacities[f.Flavor]
	}
	return all
}

// usableCapacities returns which capacities of a queue a workload can run on, in the
// queue's order: the capacities that it names; otherwise, if it asks for
// accelerators, the capacities that have accelerators; otherwise those without, if they
// hold its pods; otherwise all.
func usableCapacities(p *ir.Platform, in schema.Workload, all []*ir.Capacity) []*ir.Capacity {
	var named, accelerated []*ir.Capacity
	for _, c := range all {
		if slices.Contains(in.Capacity, c.Name) {
			named = append(named, c)
		}
		if c.HasAccelerators() {
			accelerated = append(accelerated, c)
		}
	}
	switch {
	case named != nil:
		return named
	case in.PerPod.Accelerators > 0 && accelerated != nil:
		return accelerated
	case in.PerPod.Accelerators == 0 && accelerated != nil && p.Scheduler.Facts().QuotaPerCapacity:
		return capacitiesApart(p, podRequests(in.PerPod.CPU, in.PerPod.Memory), all)
	}
	return all
}

// capacitiesApart returns the capacities for pods without accelerators: those without
// accelerators that hold such a pod, and to which labels direct it. If there are none, it
// returns all.
func capacitiesApart(p *ir.Platform, requests []ir.Amount, all []*ir.Capacity) []*ir.Capacity {
	tier := make([]ir.Capacity, len(all))
	for i, c := range all {
		tier[i] = *c
	}
	found := ir.Apart(tier, requests)
	apart := slices.DeleteFunc(slices.Clone(all), func(c *ir.Capacity) bool {
		return !slices.ContainsFunc(found, func(f ir.Capacity) bool { return f.Name == c.Name })
	})
	if len(apart) == 0 {
		return all
	}
	selector := nodeSelector(p, apart, all)
	for _, c := range tier {
		if c.HasAccelerators() && !slices.ContainsFunc(selector, c.Excludes) {
			return apart[:1] // the others have no labels in common
		}
	}
	return apart
}

// prioritiesOf returns the names of the PriorityClass and the WorkloadPriorityClass of a workload.
func prioritiesOf(in schema.Workload, q *ir.Queue) (class, workloadPriority string) {
	named := valueOr(in.Priority, "")
	switch {
	case len(q.Classes) > 0 && (named == "" || slices.Contains(q.Classes, named)):
		return cmp.Or(named, q.Classes[0]), ""
	case named == "" && len(q.WorkloadPriorities) > 0:
		return "", q.WorkloadPriorities[0].Name
	case !slices.ContainsFunc(q.WorkloadPriorities, func(p ir.WorkloadPriority) bool { return p.Name == named }):
		return named, "" // a rule reports the name
	case len(q.Classes) > 0:
		return q.Classes[0], named
	}
	return "", named
}

// lowerWorkload resolves the parts that all copies of a workload have in common,
// except its auxiliary pods and its node selector. on holds the capacities that it can run on.
func lowerWorkload(p *ir.Platform, in schema.Workload, name string, team *ir.Team, q *ir.Queue,
	on []*ir.Capacity) ir.Workload {
	w := ir.Workload{
		Template:      name,
		Kind:          ir.Kind(in.Kind),
		Team:          team.Name,
		Namespace:     team.Namespace,
		KubeAccount:   team.KubeAccount,
		Queue:         q.LocalQueue,
		Pods:          valueOr(in.Pods, 1),
		Requests:      podRequests(in.PerPod.CPU, in.PerPod.Memory),
		Image:         in.Image,
		Command:       in.Command,
		Env:           ir.OrderVariables(in.Env),
		Bucket:        team.Bucket,
		TensorBoard:   p.Monitoring.TensorBoard != "",
		Files:         keyValues(in.Files),
		Retries:       in.Retries,
		Shows:         valueOr(in.Shows, ""),
		ExampleLog:    valueOr(in.ExampleLog, ""),
		HostNetwork:   in.HostNetwork,
		MaxRunSeconds: valueOr(in.MaxRunSeconds, 0),
		UsualSeconds:  int(schema.Seconds(valueOr(in.UsuallyRuns, ""))),
		KeepSeconds:   valueOr(in.KeepSeconds, 0),
	}
	w.PriorityClass, w.WorkloadPriority = prioritiesOf(in, q)
	for env, from := range byName(in.SecretEnv) {
		w.SecretEnv = append(w.SecretEnv,
			ir.SecretEnv{Name: env, Secret: from.Secret, Key: from.Key, Notes: from.Notes})
	}
	if n := in.PerPod.Accelerators; n > 0 {
		w.Requests = append(w.Requests, ir.Amount{Resource: acceleratorOf(on), Quantity: wholeQuantity(n)})
	}
	for _, c := range on {
		w.Capacities = append(w.Capacities, c.Name)
	}
	for _, c := range on {
		if c.Sliced() {
			w.Slices = in.Slices
			w.Pods = valueOr(in.Pods, in.Slices*c.Machine.Slice.Hosts)
			break // all slices are alike, or the rules reject the workload
		}
	}
	connectGPUs(p, &w, in, on)
	if len(w.Files) > 0 {
		w.ConfigMap = name + "-files"
	}
	if in.Rendezvous != nil {
		w.Port = in.Rendezvous.Port
	}
	w.Tolerations = nodeTolerations(on)
	for _, c := range on {
		w.GraceSeconds = lowerBound(w.GraceSeconds, c.Option.Facts().GraceSeconds)
		w.MaxRunSeconds = lowerBound(w.MaxRunSeconds, c.MaxRunSeconds)
	}
	w.Queueing = schedulerLabels(p, w, on)
	return w
}

// lowerBound returns the lower of two bounds; 0 stands for none.
func lowerBound(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// lowerAuxiliaries resolves a workload's auxiliary pods. all holds the capacities of
// the workload's queue. It omits pods on a capacity
// that does not exist.
func lowerAuxiliaries(p *ir.Platform, pods map[string]schema.Auxiliary, capacities map[string]*ir.Capacity,
	all []*ir.Capacity) []ir.Auxiliary {
	var out []ir.Auxiliary
	for name, in := range byName(pods) {
		c := capacities[in.Capacity]
		if c == nil {
			continue
		}
		a := ir.Auxiliary{
			Name: name, Capacity: c.Name, Requests: podRequests(in.CPU, in.Memory), Image: in.Image,
			Command: in.Command, Env: ir.OrderVariables(in.Env),
		}
		on := []*ir.Capacity{c}
		a.NodeSelector, a.Tolerations = nodeSelector(p, on, all), nodeTolerations(on)
		a.GraceSeconds = c.Option.Facts().GraceSeconds
		out = append(out, a)
	}
	return out
}

// podRequests returns amounts of cpu and memory. The schema has already checked that
// they parse.
func podRequests(cpu float64, memory string) []ir.Amount {
	return []ir.Amount{
		{Resource: ir.CPU, Quantity: vcpuAmount(cpu)}, {Resource: ir.Memory, Quantity: resource.MustParse(memory)},
	}
}

// connectGPUs gives pods that have a node to themselves the node's networks between
// GPUs, if there is another pod to reach. Pods with the host network already see all
// networks of the node.
func connectGPUs(p *ir.Platform, w *ir.Workload, in schema.Workload, on []*ir.Capacity) {
	whole := len(on) > 0 &&
		!slices.ContainsFunc(on, func(c *ir.Capacity) bool {
			return c.Machine.AcceleratorCount != in.PerPod.Accelerators
		})
	if !whole {
		return
	}
	w.Networks = !slices.ContainsFunc(on, func(c *ir.Capacity) bool { return !c.HasAcceleratorNetworks() })
	if w.Pods > 1 && !in.HostNetwork {
		w.GPUDirect = sameGPUDirect(on)
		if daemon := w.GPUDirect.Daemon(); daemon != "" {
			w.DaemonImage = p.Images.Copy(daemon)
		}
	}
	if w.GPUDirect != "" {
		w.Interfaces = podInterfaces(on[0].Networks)
	}
}

// acceleratorOf returns the resource of the capacities' accelerators. If their nodes
// have none, which the rules reject, it returns GPUs.
func acceleratorOf(on []*ir.Capacity) string {
	for _, c := range on {
		if c.Machine.Resource != "" {
			return c.Machine.Resource
		}
	}
	return ir.GPU
}

// nodeSelector returns the labels by which pods reach every one of the capacities in
// on, and no other capacity of their queue, which has all. Kueue adds the labels of
// the flavor that it chooses, so the pods need only the labels that distinguish the
// capacities in on from the others: a job that waits can still start when the machine
// type of its capacity changes. Pods need every label that the nodes in on have in
// common if nothing adds labels to them, and on TPUs, where GKE reads the type and
// the topology from the pods.
func nodeSelector(p *ir.Platform, on, all []*ir.Capacity) []ir.KeyValue {
	var common []ir.KeyValue
	for i, c := range on {
		if i == 0 {
			common = slices.Clone(c.NodeLabels)
		}
		common = slices.DeleteFunc(common, func(l ir.KeyValue) bool { return !slices.Contains(c.NodeLabels, l) })
	}
	if p.Scheduler.Facts().MatchesAllLabels || acceleratorOf(on) == ir.TPU {
		return common
	}
	others := slices.DeleteFunc(slices.Clone(all), func(c *ir.Capacity) bool { return slices.Contains(on, c) })
	var selector []ir.KeyValue
	for _, l := range common {
		excluded := 0
		for _, c := range others {
			if c.Excludes(l) {
				excluded++
			}
		}
		if l.Key == ir.LabelCapacity && excluded == len(others) && excluded > 0 {
			return []ir.KeyValue{l}
		}
		if excluded > 0 {
			selector = append(selector, l)
		}
	}
	return selector
}

// nodeTolerations returns the taints that the nodes of any of the capacities have.
func nodeTolerations(on []*ir.Capacity) []ir.Taint {
	var tolerations []ir.Taint
	for _, c := range on {
		for _, t := range c.NodeTaints {
			if !slices.Contains(tolerations, t) {
				tolerations = append(tolerations, t)
			}
		}
	}
	sortTaints(tolerations)
	return tolerations
}

// copyOf returns one copy of a workload with its name, and with its own placement
// group if its nodes must be close together.
func copyOf(w ir.Workload, n, copies int, on []*ir.Capacity) ir.Workload {
	w.Name = w.Template
	if copies > 1 {
		w.Name += "-" + strconv.Itoa(n)
	}
	if slices.ContainsFunc(on, func(c *ir.Capacity) bool { return c.AutoProvisioned && c.Compact }) {
		// Auto-provisioning uses the group as the name of a node pool.
		w.PlacementGroup = w.Team + "-" + strconv.Itoa(n) + "-" + w.Template
		w.NodeSelector = append(slices.Clone(w.NodeSelector),
			ir.KeyValue{Key: ir.LabelPlacementGroup, Value: w.PlacementGroup})
		slices.SortFunc(w.NodeSelector, func(a, b ir.KeyValue) int { return strings.Compare(a.Key, b.Key) })
		w.Tolerations = append(slices.Clone(w.Tolerations),
			ir.Taint{Key: ir.LabelPlacementGroup, Value: w.PlacementGroup, Effect: noSchedule})
		sortTaints(w.Tolerations)
	}
	return w
}

func sortTaints(taints []ir.Taint) {
	slices.SortFunc(taints, func(a, b ir.Taint) int {
		return strings.Compare(a.Key+"\x00"+a.Value, b.Key+"\x00"+b.Value)
	})
}
