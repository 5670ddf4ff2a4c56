package rules

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on networks that others own.

func existingNetworkRules() []Rule {
	return []Rule{
		rule("E0717", "field of a new network with an existing network", rangesOfNewNetworks),
		rule("E0718", "existing networks of GPUs are missing or repeated",
			func(r *report) { missingGPUNetworks(r); repeatedGPUNetworks(r) }, resolved),
		rule("E0719", "control plane has two addresses", twoControlPlanes),
		rule("E0720", "nodes cannot pull images from public registries", unreachableRegistries, acceptable),
		rule("E0722", "copies of images are unavailable with a GitOps tool", copiesForGitOps),
		rule("E0724", "pods and Services have the same range", sharedRange),
	}
}

// rangesOfNewNetworks reports the fields of a new network that have no effect with an
// existing one.
func rangesOfNewNetworks(r *report) {
	if r.Blueprint.Network.Existing == nil {
		return
	}
	for _, field := range []string{"name", "subnet", "nodes", "pods", "services", "controlPlane", "gvnic", "rdma",
		"tcpx"} {
		if !r.Written("network", field) {
			continue
		}
		var cure string
		switch field {
		case "name", "subnet":
			cure = "remove it: network.existing names the network and the subnet"
		case "nodes", "pods", "services":
			cure = "write it as network.existing.ranges." + field
		case "controlPlane":
			cure = "write a range as network.existing.controlPlane; without one, the control plane has its address " +
				"in the subnet"
		default:
			cure = "remove it, and name the subnets that exist in network.existing." + field
		}
		r.add(at("network", field), say("network.%s is for a new network, but the network exists", field),
			see(at("network", "existing"), "the existing network"), advise(cure))
	}
}

// neededNetworks is a kind of existing GPU networks.
type neededNetworks struct {
	field         string // below network.existing
	given, needed int    // in the blueprint, and by the nodes
	what          string // names one of them
	example       string
	transports    []ir.GPUDirect // of the nodes that need them
}

// listNeededNetworks returns all kinds of existing GPU networks.
func (r *report) listNeededNetworks() []neededNetworks {
	e := r.Blueprint.Network.Existing
	most := map[ir.GPUDirect]int{}
	for _, c := range r.Plan.Capacities {
		most[c.GPUDirect] = max(most[c.GPUDirect], len(c.Networks))
	}
	gvnic, rdma := 0, 0
	if e.GVNIC != nil {
		gvnic = 1
	}
	if e.RDMA != nil {
		rdma = len(e.RDMA.Subnets)
	}
	return []neededNetworks{
		{
			"tcpx", len(e.TCPX), max(most[ir.TCPX], most[ir.TCPXO]), "network",
			`[{network: "tcpx-1", subnet: "tcpx-1"}, ...]`, []ir.GPUDirect{ir.TCPX, ir.TCPXO},
		},
		{
			"gvnic", gvnic, min(most[ir.RDMA], 1), "network", `{network: "gvnic", subnet: "gvnic"}`,
			[]ir.GPUDirect{ir.RDMA},
		},
		{
			"rdma", rdma, max(most[ir.RDMA]-1, 0), "subnet", `{network: "rdma", subnets: ["rdma-0", ...]}`,
			[]ir.GPUDirect{ir.RDMA},
		},
	}
}

// missingGPUNetworks reports hardware whose networks the blueprint does not name. All
// interfaces of a node must be in networks of one project, so the platform cannot create
// these networks beside an existing one. Source: GKE documentation, "Set up multi-network
// support for Pods", limitations of Shared VPC.
func missingGPUNetworks(r *report) {
	if r.Blueprint.Network.Existing == nil {
		return
	}
	for _, n := range r.listNeededNetworks() {
		if n.given >= n.needed {
			continue
		}
		path := at("network", "existing", n.field)
		if n.given == 0 {
			path = at("network", "existing")
		}
		i := slices.IndexFunc(r.Plan.Capacities, func(c ir.Capacity) bool {
			return len(c.Networks) > 0 && slices.Contains(n.transports, c.GPUDirect)
		})
		r.add(path, say("nodes need %s in network.existing.%s, but the blueprint names %d",
			words.Count(n.needed, n.what), n.field, n.given),
			see(at("hardware", r.Plan.Capacities[i].Hardware), "nodes of this hardware need them"),
			help("add %s: %s with the names that the owners of the network give you", n.field, n.example))
	}
}

// repeatedGPUNetworks reports networks and subnets that are named twice. Each interface
// of a machine is in another network, except the interfaces in the subnets of an RDMA
// network. Source: VPC documentation, "Multiple network interfaces" and "RDMA network
// profiles".
func repeatedGPUNetworks(r *report) {
	e := r.Blueprint.Network.Existing
	if e == nil {
		return
	}
	seen := map[string]bool{"network " + e.Network: true, "subnet " + e.Subnet: true}
	check := func(kind, name string, path fieldPath) {
		if key := kind + " " + name; seen[key] {
			r.add(path, say("%s %q is named twice, but each interface of a node needs its own", kind, name),
				help("name another %s", kind))
		} else {
			seen[key] = true
		}
	}
	if e.GVNIC != nil {
		check("network", e.GVNIC.Network, at("network", "existing", "gvnic", "network"))
		check("subnet", e.GVNIC.Subnet, at("network", "existing", "gvnic", "subnet"))
	}
	if e.RDMA != nil {
		check("network", e.RDMA.Network, at("network", "existing", "rdma", "network"))
		for i, s := range e.RDMA.Subnets {
			check("subnet", s, at("network", "existing", "rdma", "subnets", diag.Index(i)))
		}
	}
	for i, s := range e.TCPX {
		check("network", s.Network, at("network", "existing", "tcpx", diag.Index(i), "network"))
		check("subnet", s.Subnet, at("network", "existing", "tcpx", diag.Index(i), "subnet"))
	}
}

// sharedRange reports a secondary range for pods and Services. GKE demands two. Source: GKE
// documentation, "VPC-native clusters".
func sharedRange(r *report) {
	if e := r.Blueprint.Network.Existing; e != nil && e.Pods == e.Services {
		r.add(at("network", "existing", "services"),
			say("pods and Services have the same secondary range, %q, but each needs its own", e.Services),
			see(at("network", "existing", "pods"), "the range of the pods"),
			help("name another secondary range of subnet %q", e.Subnet))
	}
}

// twoControlPlanes reports a range of the control plane beside a subnet for it. GKE
// accepts only one of them. Source: Terraform provider documentation,
// google_container_cluster, private_cluster_config.
func twoControlPlanes(r *report) {
	if e := r.Plan.Network.Existing; e != nil && e.ControlPlaneSubnet != "" && r.Plan.Network.ControlPlane != "" {
		r.add(at("network", "existing", "controlPlane"),
			say("the control plane has the range %s, and also a subnet", r.Plan.Network.ControlPlane),
			see(at("network", "existing", "controlPlaneSubnet"), "the subnet"),
			help("remove controlPlane or controlPlaneSubnet"))
	}
}

// unreachableRegistries reports nodes that can reach neither the public registries nor
// a mirror. Private Google Access reaches Artifact Registry, but not registry.k8s.io and
// ghcr.io, which have the images of the schedulers and of the controllers of
// jobs. Source: VPC documentation, "Private Google Access".
func unreachableRegistries(r *report) {
	var installed []string
	if r.Plan.InstallsScheduler() {
		installed = append(installed, r.Plan.Scheduler.Facts().Name)
	}
	for _, c := range r.Plan.InstalledControllers() {
		installed = append(installed, c.Name)
	}
	if e := r.Plan.Network.Existing; e != nil && !e.NAT && r.Plan.Images.Mirror == "" && installed != nil {
		r.add(at("network", "existing", "nat"),
			say("without NAT, nodes cannot pull the images of %s from public registries", words.And(installed)),
			help(`copy the images into a registry that the nodes can reach, and write images: mirror: "REGISTRY"; `+
				"if the network has another way to these registries, add %s",
				r.accepting(at("network", "existing", "nat"))))
	}
}

// copiesForGitOps reports copies of images and manifests for a platform that a GitOps tool
// installs. The tool installs controllers from their public charts or releases.
func copiesForGitOps(r *report) {
	if r.Blueprint.Delivery.GitOps == nil {
		return
	}
	for _, given := range []struct {
		field string
		set   bool
	}{{"mirror", r.Plan.Images.Mirror != ""}, {"manifests", r.Plan.Images.Manifests != ""}} {
		if given.set {
			r.add(at("images", given.field),
				say("a GitOps tool installs %s from their public charts and releases, not from copies",
					words.And(kinds.WithControllers("Kueue"))), see(at("delivery", "gitops"), "the GitOps tool"),
				help("remove %s, or remove gitops: the build then installs them from the copies", given.field))
		}
	}
}
