package compiler

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

func lowerWorkloads(b *schema.Blueprint, p *ir.Platform) []ir.Workload {
	capacities := map[string]*ir.Capacity{}
	for i := range p.Capacities {
		capacities[p.Capacities[i].Name] = &p.Capacities[i]
	}
	byTeam := map[string][]string{} // "" has those of every team
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
		for _, name := range sorted(slices.Concat(byTeam[""], byTeam[team.Name])) {
			in := b.Workloads[name]
			queue := slices.IndexFunc(team.Queues, func(q ir.Queue) bool { return q.Tier == in.Tier })
			if queue < 0 {
				continue
			}
			w := lowerWorkload(in, name, team, &team.Queues[queue], capacities)
			for n := 1; n <= in.Copies; n++ {
				out = append(out, copyOf(w, n, in.Copies, &team.Queues[queue], capacities))
			}
		}
	}
	return out
}

// spotGrace is how long pods on Spot nodes may take to end, in seconds: GKE
// documents less than 30 from the notice to the end of the machine.
const spotGrace = 25

// lowerWorkload resolves what all copies of a workload have in common.
func lowerWorkload(in schema.Workload, name string, team *ir.Team, q *ir.Queue, capacities map[string]*ir.Capacity) ir.Workload {
	w := ir.Workload{
		Template:      name,
		Kind:          ir.Kind(in.Kind),
		Team:          team.Name,
		Namespace:     team.Namespace,
		KubeAccount:   team.KubeAccount,
		Queue:         q.LocalQueue,
		PriorityClass: in.Tier,
		Pods:          value(in.Pods, 1),
		Requests: []ir.Amount{
			{Resource: ir.CPU, Quantity: vcpus(in.PerPod.CPU)},
			{Resource: ir.Memory, Quantity: resource.MustParse(in.PerPod.Memory)}, // the schema admits only what parses
		},
		Image:         in.Image,
		Command:       in.Command,
		Env:           keyValues(in.Env),
		Files:         keyValues(in.Files),
		Retries:       in.Retries,
		MaxRunSeconds: value(in.MaxRunSeconds, 0),
	}
	if n := in.PerPod.Accelerators; n > 0 {
		w.Requests = append(w.Requests, ir.Amount{Resource: acceleratorOf(q, capacities), Quantity: count(n)})
	}
	for _, f := range q.Flavors {
		if c := capacities[f.Flavor]; c.Sliced() {
			w.Slices = in.Slices
			w.Pods = value(in.Pods, in.Slices*c.Machine.Slice.Hosts)
			break // all of them are alike, or the rules refuse
		}
	}
	// A claim is for all of a node's networks, so that no other pod could share
	// the node.
	w.Networks = len(q.Flavors) > 0 && !slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool {
		c := capacities[f.Flavor]
		return !c.HasAcceleratorNetworks() || c.Machine.AcceleratorCount != in.PerPod.Accelerators
	})
	if len(w.Files) > 0 {
		w.ConfigMap = name + "-files"
	}
	if in.Rendezvous != nil {
		w.Port = in.Rendezvous.Port
	}
	w.NodeSelector, w.Tolerations = reach(q, capacities)
	for _, f := range q.Flavors {
		c := capacities[f.Flavor]
		if c.Option == ir.Spot {
			w.GraceSeconds = spotGrace
		}
		if c.Flex != nil && (w.MaxRunSeconds == 0 || c.Flex.MaxRunSeconds < w.MaxRunSeconds) {
			w.MaxRunSeconds = c.Flex.MaxRunSeconds
		}
		w.Queued = w.Queued || c.Queued()
	}
	return w
}

// acceleratorOf returns the resource of a queue's accelerators; GPUs where its
// nodes have none, which the rules refuse.
func acceleratorOf(q *ir.Queue, capacities map[string]*ir.Capacity) string {
	for _, f := range q.Flavors {
		if res := capacities[f.Flavor].Machine.Resource; res != "" {
			return res
		}
	}
	return ir.GPU
}

// reach returns how pods of a queue get to all of its capacities: the labels
// that the nodes of all of them have, and the taints that those of any have.
// Kueue adds the labels of the flavor it chooses.
func reach(q *ir.Queue, capacities map[string]*ir.Capacity) (selector []ir.KeyValue, tolerations []ir.Taint) {
	for i, f := range q.Flavors {
		c := capacities[f.Flavor]
		if i == 0 {
			selector = slices.Clone(c.NodeLabels)
		} else {
			selector = slices.DeleteFunc(selector, func(l ir.KeyValue) bool { return !slices.Contains(c.NodeLabels, l) })
		}
		for _, t := range c.NodeTaints {
			if !slices.Contains(tolerations, t) {
				tolerations = append(tolerations, t)
			}
		}
	}
	sortTaints(tolerations)
	return selector, tolerations
}

// copyOf names one copy of a workload, and gives it a placement group of its
// own where its nodes are to stand together.
func copyOf(w ir.Workload, n, copies int, q *ir.Queue, capacities map[string]*ir.Capacity) ir.Workload {
	w.Name = w.Template
	if copies > 1 {
		w.Name += "-" + strconv.Itoa(n)
	}
	if slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool {
		return capacities[f.Flavor].AutoProvisioned && capacities[f.Flavor].Compact
	}) {
		// Auto-provisioning uses it as the name of a node pool.
		w.PlacementGroup = w.Team + "-" + strconv.Itoa(n) + "-" + w.Template
		w.NodeSelector = append(slices.Clone(w.NodeSelector), ir.KeyValue{Key: ir.LabelPlacementGroup, Value: w.PlacementGroup})
		slices.SortFunc(w.NodeSelector, func(a, b ir.KeyValue) int { return strings.Compare(a.Key, b.Key) })
		w.Tolerations = append(slices.Clone(w.Tolerations), ir.Taint{Key: ir.LabelPlacementGroup, Value: w.PlacementGroup, Effect: noSchedule})
		sortTaints(w.Tolerations)
	}
	return w
}

func sortTaints(taints []ir.Taint) {
	slices.SortFunc(taints, func(a, b ir.Taint) int {
		return strings.Compare(a.Key+"\x00"+a.Value, b.Key+"\x00"+b.Value)
	})
}
