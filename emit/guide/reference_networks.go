package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// gpuNetworks lists the networks between the GPUs of different nodes, and explains
// which pods use them.
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
	d.Heading(2, networksHeading)
	if connected != nil {
		d.Para("Nodes of ", codeList(connected), " have a network for each of their network devices, in addition to "+
			"the ", "network of the cluster. Over these networks the GPUs of different nodes exchange data without "+
			"passing "+
			"through the ",
			"CPUs. Pods request a network by the name of its `Network` object in ",
			fileLink("kubernetes/networks.yaml"), ". ",
			fileLink("terraform/gpu_networks.tf"), gpuNetworkFile(p))
		var rows [][]markup
		for _, n := range p.Network.GPUs {
			for _, s := range n.Subnets {
				kind := markup("gVNIC")
				if s.RDMA {
					kind = "RDMA, bound to " + codeSpan(n.Profile)
				}
				ranges := codeSpan(s.Range)
				if s.Range == "" {
					ranges = "not in the blueprint"
				}
				rows = append(rows,
					[]markup{codeSpan(s.Network), codeSpan(n.Name), codeSpan(s.Name), ranges, kind,
						formatNumber(n.MTU)})
			}
		}
		d.Table([]markup{"Network", "VPC network", "Subnet", "Range", "Kind", "MTU"}, rows)
		if p.Network.MTU > 0 {
			d.Para("The network of the cluster also carries packets of ", formatNumber(p.Network.MTU), " bytes, if ",
				"the platform created it with GPU networks. Nodes read the size when they start, and nodes with ",
				"different ",
				"sizes lose packets. Therefore Terraform leaves the size of an existing network unchanged. To change ",
				"it yourself, scale all node pools to zero nodes, run ",
				codeSpan(shellCommand("gcloud", "compute", "networks", "update", p.Network.Name,
					"--project="+p.Project, "--mtu="+string(formatNumber(p.Network.MTU)))),
				", and scale the pools up again.")
		}
	}
	if claimed != nil {
		d.Para("GKE itself attaches such networks to the nodes of ", codeList(claimed), ", and pods claim them.")
	}
	d.Para("A pod gets these networks if its workload in the blueprint has several pods and each of them requests all ",
		"GPUs of a node. The pod then has the network interfaces, in the order of the devices, and the libraries, to ",
		"which `LD_LIBRARY_PATH` leads. The command of the pod must do the rest:")
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
		d.Para("If you write such a job by hand, copy the annotations, volumes and mounts of ",
			fileLink("workloads/"+w.Team+"/"+w.Name+".yaml"), ".")
	}
}

// gpuNetworkFile ends the sentence about the Terraform file of the networks.
func gpuNetworkFile(p *ir.Platform) markup {
	if p.Network.Existing != nil {
		return " names the VPC networks, which belong to others."
	}
	return " sets the address ranges."
}

// nodeAccess names the parts of their nodes to which some pods have access that the
// baseline standard forbids, and reports whether there are any.
func nodeAccess(p *ir.Platform) (what []markup, some bool) {
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect != "" }) {
		what = append(what, "the libraries of GPUDirect, read-only")
	}
	if slices.ContainsFunc(p.Workloads, func(w ir.Workload) bool { return w.HostNetwork }) {
		what = append(what, "the network of the node")
	}
	return what, len(what) > 0
}

// podSecurity names the Pod Security Standards of the teams' namespaces, and the
// policy that protects the nodes from pods in namespaces without a standard.
func podSecurity(d *document, p *ir.Platform) {
	if len(p.Teams) > 0 {
		d.Para("The teams' namespaces enforce the `baseline` Pod Security Standard. Pods that do not meet the ",
			"`restricted` standard are admitted without a warning. The audit log names the settings that they lack, ",
			"such as `runAsNonRoot`, in the annotation `pod-security.kubernetes.io/audit-violations`.")
	}
	what, some := nodeAccess(p)
	if !some {
		return
	}
	d.Para("Some pods need access to their nodes that the baseline standard forbids: ", words.And(what),
		". The namespaces of teams that submit such pods, or that have quota on nodes with GPUDirect, enforce no ",
		"standard. In these namespaces the policy ", codeSpan(p.ClusterScopedName("pods-keep-off-the-node")),
		" refuses everything else that the standard forbids.")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect == ir.TCPX || c.GPUDirect == ir.TCPXO }) {
		d.Para(
			"The daemon that runs beside pods with GPUDirect-TCPX or TCPXO also changes kernel settings of its node: ",
			"whoever may submit such pods could take over the node.")
	}
}
