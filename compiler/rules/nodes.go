package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on nodes that start and cannot do their work, and on more nodes than GKE
// starts.

func nodeRules() []Rule {
	return []Rule{
		rule("W0725", "nothing installs a GPU driver", onMachines(noDriver), resolved),
		rule("W0726", "more nodes in a zone than a node pool may have", nodesOfZone, resolved),
		rule("W0727", "boot disk is too small for GPU images", onMachines(smallDisks), resolved),
		rule("W0728", "workload on several GPU nodes without GPUDirect", onEach(workloads, unusedGPUDirect), resolved),
	}
}

// noDriver reports GPU nodes without a driver: GKE then advertises no GPUs, so no pod
// starts there. createdByClass and autoProvisioned report node pools that GKE
// creates. Source: GKE documentation, "Run GPUs in GKE Standard node pools".
func noDriver(r *report, c ir.Capacity, _ catalog.Machine) {
	if c.GPUDriver != "DISABLED" || !c.OwnsPools() {
		return
	}
	path := at("hardware", c.Hardware, "gpuDriver")
	r.add(path, say("nodes of capacity %q get no GPU driver from GKE, and the folder installs none", c.Name),
		see(at("capacity", c.Name), "the capacity"),
		helpOrAccept("if you install the driver yourself", "remove gpuDriver"))
}

// nodesOfZone reports a node pool that would be larger than the limit of GKE in one
// zone. Node pools that GKE creates can be several, and pools of TPU slices can be
// larger. Source: GKE documentation, "Quotas and limits", "Nodes per node pool zone".
func nodesOfZone(r *report) {
	const most = 1000
	r.eachCapacity(func(c ir.Capacity, _ catalog.Machine) {
		if !c.OwnsPools() || c.Sliced() || c.MaxNodes <= most*len(c.Zones) {
			return
		}
		field := "maxNodes"
		if c.Static {
			field = "nodes"
		}
		path := at("capacity", c.Name, field)
		cure := fmt.Sprintf("lower %s, or divide the nodes into several capacities; if GKE allows more, add %s", field,
			r.accepting(path))
		r.add(path, say("capacity %q can have %d nodes in %s, but GKE allows %d nodes of a node pool in a zone",
			c.Name, c.MaxNodes, words.Count(len(c.Zones), "zone"), most),
			label("want %d or less", most*len(c.Zones)), advise(cure))
	})
}

// imagesGiB is the space that a node needs for one large image of a deep-learning
// framework: nvcr.io/nvidia/pytorch:23.03-py3 takes about 20 GB. Source: d4l3k/
// torchdrive, pull request 4.
const imagesGiB = 20

// imageSpace returns the space of a boot disk for images and containers, in GiB. GKE
// reserves the least of half the disk, 6 GiB and 35 % of the disk, and 100 GiB, and
// evicts pods when a tenth of the disk is left. Source: GKE documentation, "Plan GKE
// Standard node sizes".
func imageSpace(diskGiB int) float64 {
	size := float64(diskGiB)
	return size - min(size/2, 6+0.35*size, 100) - size/10
}

// smallDisks reports a boot disk that somebody made smaller than the default, and
// that does not hold a large image. On nodes with local SSDs these hold the images.
func smallDisks(r *report, c ir.Capacity, _ catalog.Machine) {
	path := at("hardware", c.Hardware, "disk", "sizeGiB")
	space := imageSpace(c.DiskSizeGiB)
	if !c.HasGPUs() || c.SSDs() > 0 || space >= imagesGiB || !r.Written(path...) {
		return
	}
	enough := c.DiskSizeGiB
	for imageSpace(enough) < imagesGiB {
		enough++
	}
	r.add(path, say("the boot disk of %d GiB leaves %.0f GiB, but one image for GPUs can take %d GiB",
		c.DiskSizeGiB, space, imagesGiB), label("want %d or more", enough),
		helpOrAccept("if the images are small", "remove sizeGiB: the default is 100 GiB"))
}

// unusedGPUDirect reports hardware on which pods of whole nodes talk with each other
// over the first network interface, although the machines have networks between
// their GPUs. It reports only workloads whose pods exchange data, and hardware for
// which gpuDirect is the whole cure. Source:
// GKE documentation, "Maximize GPU network bandwidth in Standard mode clusters".
func unusedGPUDirect(r *report, w ir.Workload) {
	in := r.Blueprint.Workloads[w.Template]
	if w.Pods < 2 || !exchangesData(in) || in.HostNetwork || len(w.Capacities) == 0 {
		return
	}
	transport := ""
	for i, name := range w.Capacities {
		direct := availableGPUDirect(r, r.fit.Named[name], in.PerPod.Accelerators)
		if i == 0 {
			transport = direct
		}
		// unconnectedPods reports capacities of which only some have the networks
		if direct != transport || r.fit.Named[name].GPUDirect != "" {
			transport = ""
			break
		}
	}
	if transport == "" {
		return
	}
	for _, name := range w.Capacities {
		c := r.fit.Named[name]
		path, zone := at("hardware", c.Hardware), ""
		if transport == string(ir.RDMA) && len(c.Zones) > 1 {
			zone = " and one zone for the capacity"
		}
		r.addKey(path, say("GPUs of different %s nodes exchange data over TCP and one network interface, "+
			"because gpuDirect is not set", c.Machine.Type),
			see(at("workloads", w.Template), "this workload runs on %d nodes", w.Pods),
			helpOrAccept("if TCP is fast enough", "write hardware: %q: gpuDirect: true%s", c.Hardware, zone))
	}
}

// availableGPUDirect returns the transport that pods of a number of GPUs have on a
// capacity, or would have if its hardware set gpuDirect; "" for none.
func availableGPUDirect(r *report, c ir.Capacity, gpus int) string {
	m, known := findMachine(r.Blueprint.Hardware[c.Hardware])
	if !known || m.Networks.Unverified || c.HasAcceleratorNetworks() || !c.OwnsPools() || m.Count != gpus {
		return ""
	}
	return m.Networks.Direct
}
