package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// gpuNetworks shows the networks over which GPUs of different nodes reach each
// other, and who takes part in them.
func gpuNetworks(d *document, p *ir.Platform) {
	var connected, claimed []string
	for _, c := range p.Capacities {
		switch {
		case len(c.Networks) > 0:
			connected = append(connected, c.Name)
		case c.GPUDirect != "":
			claimed = append(claimed, c.Name)
		}
	}
	if connected == nil && claimed == nil {
		return
	}
	d.Heading(2, "Networks between GPUs")
	if connected != nil {
		d.Para("Nodes of ", codes(connected), " have a network for each of their devices, besides the cluster's own, "+
			"so that GPUs of different nodes reach ",
			"each other past the CPUs. In the cluster each network has the name by which pods ask for it, and is the "+
				"`Network` of that name in ",
			file("kubernetes/networks.yaml"), ". The ranges are cut in ", file("terraform/gpu_networks.tf"), ".")
		var rows [][]markup
		for _, n := range p.Network.GPUs {
			for _, s := range n.Subnets {
				kind := markup("gVNIC")
				if s.RDMA {
					kind = "RDMA, bound to " + code(n.Profile)
				}
				rows = append(rows, []markup{code(s.Network), code(n.Name), code(s.Name), code(s.Range), kind, digits(n.MTU)})
			}
		}
		d.Table([]markup{"Network", "VPC network", "Subnet", "Range", "Kind", "MTU"}, rows)
	}
	if claimed != nil {
		d.Para("To nodes of ", codes(claimed), " GKE attaches such networks by itself, and pods claim them.")
	}
	d.Para("A pod gets them if its workload in the blueprint has several pods and each takes all GPUs of a node: its "+
		"interfaces, in the order of the ",
		"devices, and the libraries it takes, to which `LD_LIBRARY_PATH` leads. The rest is up to its command:")
	var items []markup
	for _, way := range []struct {
		kind ir.GPUDirect
		what markup
	}{
		{ir.RDMA, "with GPUDirect RDMA, `source /usr/local/gib/scripts/set_nccl_env.sh` before NCCL starts"},
		{ir.TCPX, "with GPUDirect-TCPX, set NCCL's variables as GKE documents them; the daemon's socket is in `/tmp`"},
		{ir.TCPXO, "with GPUDirect-TCPXO, `NCCL_LIB_DIR=/usr/local/nvidia/lib64 source " +
			"/usr/local/nvidia/lib64/nccl-env-profile.sh` before NCCL starts"},
	} {
		if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect == way.kind }) {
			items = append(items, way.what)
		}
	}
	d.List(items...)
	if i := slices.IndexFunc(p.Workloads, func(w ir.Workload) bool { return w.GPUDirect != "" }); i >= 0 {
		w := p.Workloads[i]
		d.Para("A job by hand takes the annotations, volumes and mounts of one such, ",
			file("workloads/"+w.Team+"/"+w.Name+".yaml"), ".")
	}
}

// podSecurity names the Pod Security Standards of the teams' namespaces, and what
// keeps pods off their nodes if no standard does.
func podSecurity(d *document, p *ir.Platform) {
	if len(p.Teams) > 0 {
		d.Para("The teams' namespaces enforce the `baseline` Pod Security Standard. They warn by the `restricted` "+
			"standard: kubectl prints ",
			"what a pod lacks of it, such as `runAsNonRoot`, and the pod is admitted.")
	}
	direct := p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect != "" })
	hosts := slices.ContainsFunc(p.Workloads, func(w ir.Workload) bool { return w.HostNetwork })
	if !direct && !hosts {
		return
	}
	what := []markup{}
	if direct {
		what = append(what, "the libraries of GPUDirect, read-only")
	}
	if hosts {
		what = append(what, "the network of the node")
	}
	d.Para("Some pods need of their nodes what the baseline standard keeps from all: ", words.And(what),
		". The namespaces of teams that submit such pods, or have ",
		"quota on nodes with GPUDirect, enforce no standard. In its place the policy `pods-keep-off-the-node` "+
			"refuses there whatever else the standard would.")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect == ir.TCPX || c.GPUDirect == ir.TCPXO }) {
		d.Para("The daemon beside pods with GPUDirect-TCPX or TCPXO besides tunes the kernel of its node: who may " +
			"submit such pods could have the node.")
	}
}
