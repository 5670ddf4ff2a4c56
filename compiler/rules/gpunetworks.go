package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the networks between GPUs of different nodes.

func gpuNetworkRules() []Rule {
	return []Rule{
		rule("E0710", "GPUDirect is unavailable for the machine", on("hardware.*", noGPUDirect), resolved),
		rule("E0711", "GPUDirect is unavailable for node pools that GKE creates",
			onMachines(createdWithoutNetworks), resolved),
		rule("E0712", "RDMA network in more than one zone", oneRDMAZone, resolved),
		rule("E0713", "GPUDirect without multi-networking", multiNetworkingOff, resolved, newCluster),
		rule("W0714", "pods cannot use the GPU networks of their nodes",
			func(r *report) { unconnectedPods(r); partialNodes(r) }, resolved),
		rule("E1016", "NVLink between nodes is not set up", onEach(capacities, noComputeDomains), resolved, acceptable),
	}
}

func noGPUDirect(r *report, hardware fieldPath, h schema.Hardware) {
	m, known := catalog.Usable(h.Machine)
	if !h.GPUDirect || !known || m.Networks.Direct != "" {
		return
	}
	what := "no network between its GPUs and the GPUs of other nodes"
	if m.Accelerator == "" || m.HasTPUs() {
		what = "no GPUs"
	}
	r.add(hardware.at("gpuDirect"), say("GPUDirect is unavailable for %s, which has %s", h.Machine, what),
		help("remove gpuDirect, or choose one of %s", quoteNames(directMachines())))
}

// directMachines returns the machine types with which GPUDirect can be requested.
func directMachines() []string {
	var out []string
	for _, m := range catalog.All() {
		if m.Withheld == "" && m.Networks.Direct != "" && !m.Networks.Unverified {
			out = append(out, m.Type)
		}
	}
	return out
}

// createdWithoutNetworks reports additional networks for nodes that GKE creates:
// node auto-provisioning and ComputeClasses do not support them. Source: GKE
// documentation, "Maximize GPU network bandwidth in Standard mode clusters", which
// creates the pools with the networks.
func createdWithoutNetworks(r *report, c ir.Capacity, _ catalog.Machine) {
	// autoProvisioned reports such machines
	if len(c.Networks) == 0 || c.OwnsPools() ||
		c.AutoProvisioned && !c.Option.Facts().HasAutoProvisioning() {
		return
	}
	field := creatorField(c)
	r.add(at("capacity", c.Name, field), "node pools that GKE creates do not have the networks for GPUDirect",
		see(at("hardware", c.Hardware, "gpuDirect"), "the hardware uses GPUDirect"),
		help("remove %s, or use hardware without gpuDirect", field))
}

// oneRDMAZone reports RDMA capacities in several zones: the network's profile names
// one zone, and the platform has one such network.
func oneRDMAZone(r *report) {
	first := "" // the first capacity, whose zone all others must have
	var zone []string
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if c.GPUDirect != ir.RDMA || len(c.Networks) == 0 {
			return
		}
		path := at("capacity", c.Name, "zones")
		add := r.add
		if !r.Written(path...) {
			path, add = at("capacity", c.Name), r.addKey
		}
		switch {
		case len(c.Zones) > 1:
			add(path, say("capacity %q is in %s, but an RDMA network is in one zone", c.Name,
				words.Count(len(c.Zones), "zone")),
				help("choose one of the zones: zones: [%q]", likeliestZone(c.Zones, m.Zones())))
		case first == "":
			first, zone = c.Name, c.Zones
		case !slices.Equal(c.Zones, zone):
			add(path, say("capacity %q is in %s, but the RDMA network is in %s", c.Name, c.Zones[0], zone[0]),
				see(at("capacity", first), "this capacity determines the zone of the network"),
				help("choose one zone for both, or define a platform for each zone"))
		}
	})
}

// likeliestZone returns the first zone that is also among known, or otherwise the
// first zone.
func likeliestZone(zones, known []string) string {
	if i := slices.IndexFunc(zones, func(z string) bool { return slices.Contains(known, z) }); i >= 0 {
		return zones[i]
	}
	return zones[0]
}

func multiNetworkingOff(r *report) {
	on := r.Blueprint.Cluster.MultiNetworking
	if on == nil || *on {
		return
	}
	for _, c := range r.Plan.Capacities {
		if len(c.Networks) > 0 {
			r.add(at("cluster", "multiNetworking"),
				say("multi-networking is off, but nodes of capacity %q have additional networks", c.Name),
				see(at("hardware", c.Hardware, "gpuDirect"), "gpuDirect needs these networks"),
				help("remove multiNetworking: its default is on if a capacity needs it"))
			return
		}
	}
}

// unconnectedPods reports a workload whose capacities have different networks. A pod
// names its interfaces before the scheduler chooses one of the capacities.
func unconnectedPods(r *report) {
	for _, w := range r.Plan.Workloads {
		in := r.Blueprint.Workloads[w.Template]
		if w.Pods < 2 || len(w.Interfaces) > 0 || in.HostNetwork {
			continue
		}
		connected, other := "", ""
		for _, name := range w.Capacities {
			c := r.fit.Named[name]
			if len(c.Networks) > 0 && c.Machine.AcceleratorCount == in.PerPod.Accelerators {
				connected = name
			}
		}
		for _, name := range w.Capacities {
			if c := r.fit.Named[name]; connected != "" &&
				(c.GPUDirect != r.fit.Named[connected].GPUDirect ||
					c.Machine.AcceleratorCount != in.PerPod.Accelerators) {
				other = name
			}
		}
		if other == "" {
			continue
		}
		path := at("workloads", w.Template, "tier")
		if r.Written("workloads", w.Template, "capacity") {
			path = at("workloads", w.Template, "capacity")
		}
		r.add(path, say("pods of workload %q can run on %q, so they get no interfaces in the networks of %q",
			w.Template, other, connected), see(at("capacity", other), "these nodes do not have the networks"),
			help("choose one capacity: capacity: [%q]", connected))
	}
}

// partialNodes reports workloads whose pods exchange data and request a part of the
// GPUs of a node with GPU networks. Only a pod with all GPUs of its node gets the
// networks, because each network belongs to GPUs of the node. Source: GKE
// documentation, "Maximize GPU network bandwidth in Standard mode clusters".
func partialNodes(r *report) {
	for _, w := range r.Plan.Workloads {
		in := r.Blueprint.Workloads[w.Template]
		gpus, count := in.PerPod.Accelerators, 0
		for i, name := range w.Capacities {
			c := r.fit.Named[name]
			if n := c.Machine.AcceleratorCount; i == 0 && (len(c.Networks) > 0 || c.HasAcceleratorNetworks()) {
				count = n
			} else if n != count || len(c.Networks) == 0 && !c.HasAcceleratorNetworks() {
				count = 0
			}
		}
		if w.Pods < 2 || gpus == 0 || gpus >= count || in.HostNetwork || !exchangesData(in) {
			continue
		}
		cure := fmt.Sprintf("request all %d GPUs of a node for each pod", count)
		if total := w.Pods * gpus; total%count == 0 {
			cure = fmt.Sprintf("write pods: %d and perPod: accelerators: %d", total/count, count)
		}
		path := at("workloads", w.Template, "perPod", "accelerators")
		r.add(path, say("pods of workload %q request %d of the %d GPUs of a node, so they exchange data over TCP and "+
			"one network interface", w.Template, gpus, count),
			see(at("capacity", w.Capacities[0]), "only pods with all GPUs of a node get its GPU networks"),
			helpOrAccept("if TCP is fast enough", "%s", cure))
	}
}

// noComputeDomains reports GPUs that share memory over NVLink across nodes. They
// need an IMEX domain, which NVIDIA's DRA driver creates for each ComputeDomain, and
// the folder contains neither the driver nor the domain. Capacities that are
// rejected for another reason are left to linkedNodes and the other rules. Source:
// Google's Cluster Toolkit, example gke-a4x.
func noComputeDomains(r *report, c ir.Capacity) {
	linked := c.Machine.LinkedNodes
	if linked == 0 || !c.OwnsPools() || !c.Static || c.MaxNodes < 2 || c.MaxNodes > linked {
		return
	}
	r.addKey(at("capacity", c.Name), say("GPUs of different nodes of capacity %q cannot use NVLink: the folder "+
		"installs neither NVIDIA's DRA driver nor a ComputeDomain", c.Name),
		help("install the driver and give each job a ComputeDomain (batchwright explain E1016 shows how), then "+
			"add %s", r.accepting(at("capacity", c.Name))))
}
