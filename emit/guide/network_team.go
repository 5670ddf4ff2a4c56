package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// networkTeamPage is the page for the owners of an existing network. It repeats
// network-team/main.tf as tables, for a ticket.
const networkTeamPage = "network-team/README.md"

// networkTeamFile returns the page for the owners of the network.
func networkTeamFile(p *ir.Platform) []byte {
	return newPage(p, askNetworkOwners, listRanges, listFirewallRules, listBindings, listEgress, applyTeamFile).Bytes()
}

// askNetworkOwners says what the platform asks of the owners of the network.
func askNetworkOwners(d *document, p *ir.Platform) {
	e := p.Network.Existing
	d.Heading(1, "Request to the owners of "+codeSpan(p.Network.Name))
	d.Para("The batch platform ", codeSpan(p.Name), " of project ", codeSpan(p.Project), " uses the VPC network ",
		codeSpan(p.Network.Name), " of project ", codeSpan(e.Project), " in region ", codeSpan(p.Region),
		". It creates and changes nothing in the network. This page lists what the platform needs there. The file ",
		"[`main.tf`](main.tf) beside it does everything except the subnets and their ranges.")
	items := []markup{
		"The subnets exist, with Private Google Access in " + codeSpan(p.Network.Subnet) + ".",
	}
	if !p.OwnsCluster() {
		items = append(items, "The cluster "+codeSpan(p.Cluster.Name)+" is in the network. It belongs to others, and "+
			"has its ranges, rules and rights already.")
	}
	if p.SharesVPC() {
		items = append(items, codeSpan(e.Project)+" is a host project of Shared VPC, and "+codeSpan(p.Project)+
			" is attached to it as a service project.",
			"The services `compute.googleapis.com` and `container.googleapis.com` are enabled in "+codeSpan(e.Project)+
				".")
	}
	if p.Security.FlowLogs {
		items = append(items, "Subnet "+codeSpan(p.Network.Subnet)+" has VPC flow logs.")
	}
	if e.NAT {
		items = append(items, "Nodes and pods can reach the internet, for example through Cloud NAT for the primary "+
			"range and the pods' range of "+codeSpan(p.Network.Subnet)+": they pull public images.")
	}
	d.List(items...)
}

// listRanges lists the subnets and their ranges with the smallest sizes that suffice.
func listRanges(d *document, p *ir.Platform) {
	e := p.Network.Existing
	d.Heading(2, "Subnets and ranges")
	if !p.OwnsCluster() {
		rangesForNodes(d, p)
		return
	}
	largest := countNoun(p.MaxNodes(), "node")
	if surge := p.SurgeNodes(); surge > 0 {
		largest += " and during upgrades " + formatNumber(surge) + " more"
	}
	d.Para("At its largest, the platform has ", largest, ". Each range must have at least the size in the table. ",
		"A larger range leaves room for growth: the ranges of a cluster cannot be changed.")
	known := func(cidr string) markup {
		if cidr == "" {
			return ""
		}
		return codeSpan(cidr)
	}
	subnet := codeSpan(p.Network.Name) + ", subnet " + codeSpan(p.Network.Subnet)
	rows := [][]markup{
		{subnet + ", primary range", "nodes, one address each", prefixSize(e.NodePrefix), known(p.Network.Nodes)},
		{subnet + ", range " + codeSpan(e.PodRange), "pods, a /24 for each node", prefixSize(e.PodPrefix),
			known(p.Network.Pods)},
		{subnet + ", range " + codeSpan(e.ServiceRange), "Services", prefixSize(e.ServicePrefix),
			known(p.Network.Services)},
	}
	if p.Network.ControlPlane != "" {
		rows = append(rows, []markup{"no subnet: a free range of the network", "control plane", "/28",
			known(p.Network.ControlPlane)})
	}
	if e.ControlPlaneSubnet != "" {
		rows = append(rows, []markup{codeSpan(p.Network.Name) + ", subnet " + codeSpan(e.ControlPlaneSubnet),
			"private address of the control plane", prefixSize(ir.SmallestSubnet), ""})
	}
	for _, row := range gpuSubnets(p) {
		rows = append(rows, append(row, ""))
	}
	d.Table([]markup{"Network and range", "For", "At least", "In the blueprint"}, rows)
	explainGPUNetworks(d, p)
}

// rangesForNodes lists how many addresses the nodes of the platform take from the ranges of
// a cluster that others own, and the subnets of GPU nodes. Source: GKE documentation,
// "VPC-native clusters": a /24 of pods for a node with the default of 110 pods.
func rangesForNodes(d *document, p *ir.Platform) {
	d.Para("At its largest, the platform adds ", countNoun(p.MaxNodes(), "node"), " to the cluster. The ranges of the ",
		"cluster must have free addresses for them:")
	subnet := codeSpan(p.Network.Name) + ", subnet " + codeSpan(p.Network.Subnet)
	rows := [][]markup{
		{subnet + ", primary range", "nodes", "one address for each node"},
		{subnet + ", range " + codeSpan(p.Network.Existing.PodRange), "pods", "a /24 for each node, or the size " +
			"that the cluster gives its nodes"},
	}
	d.Table([]markup{"Network and range", "For", "At least"}, append(rows, gpuSubnets(p)...))
	explainGPUNetworks(d, p)
}

// gpuSubnets lists the subnets of GPU nodes: where they are, for what, and their size.
func gpuSubnets(p *ir.Platform) (rows [][]markup) {
	for _, n := range p.Network.GPUs {
		for _, s := range n.Subnets {
			what := markup("one network device of each GPU node")
			if s.RDMA {
				what = "one RDMA device of each GPU node; network profile " + codeSpan(n.Profile)
			}
			rows = append(rows, []markup{codeSpan(n.Name) + ", subnet " + codeSpan(s.Name), what,
				prefixSize(p.Network.Existing.GPUPrefix)})
		}
	}
	return rows
}

// explainGPUNetworks says what the networks of GPU nodes must be like.
func explainGPUNetworks(d *document, p *ir.Platform) {
	if len(p.Network.GPUs) > 0 {
		d.Para("The networks of GPU nodes carry packets of ", formatNumber(p.Network.GPUs[0].MTU), " bytes: set this ",
			"MTU. All networks must be in project ", codeSpan(p.Network.Existing.Project), ": all interfaces of a ",
			"node belong to one project.")
	}
}

// prefixSize returns the size of a range.
func prefixSize(prefix int) markup { return markup("/" + strconv.Itoa(prefix)) }

// listFirewallRules lists the ingress rules.
func listFirewallRules(d *document, p *ir.Platform) {
	var rows [][]markup
	if p.OwnsCluster() {
		ports := ir.Choose[markup](p.Scheduler, "TCP 8082, 9443", "TCP 9443")
		rows = append(rows, []markup{codeSpan(p.Network.Name), "ingress", controlPlaneRange(p), ports,
			"the control plane calls webhooks and the APIs that they serve"})
	}
	for _, n := range networksWithRules(p) {
		rows = append(rows, []markup{codeSpan(n.Name), "ingress", subnetRanges(n), "TCP, UDP, ICMP, all ports",
			"GPU nodes reach each other"})
	}
	if rows == nil {
		return
	}
	d.Heading(2, "Firewall rules")
	logs := markup("")
	if p.Security.FirewallLogs {
		logs = " Each rule logs the connections that it allows."
	}
	d.Para("Each rule has these targets: machines with the service account ",
		codeSpan(p.NodeAccount.Email(p.Project)), ".", logs, " GKE makes further rules for the cluster itself.")
	d.Table([]markup{"Network", "Direction", "Source", "Protocol and ports", "Why"}, rows)
}

// networksWithRules returns the networks of GPU nodes that support firewall rules: all
// except the RDMA networks.
func networksWithRules(p *ir.Platform) (out []ir.GPUNetwork) {
	for _, n := range p.Network.GPUs {
		if n.Profile == "" {
			out = append(out, n)
		}
	}
	return out
}

// subnetRanges names the ranges of all subnets of a network of GPU nodes.
func subnetRanges(n ir.GPUNetwork) markup {
	var names []string
	for _, s := range n.Subnets {
		names = append(names, s.Name)
	}
	return "the primary range of subnet " + codeList(names)
}

// controlPlaneRange says from which addresses the control plane calls the nodes.
func controlPlaneRange(p *ir.Platform) markup {
	switch e := p.Network.Existing; {
	case p.Network.ControlPlane != "":
		return codeSpan(p.Network.ControlPlane)
	case e.ControlPlaneSubnet != "":
		return "the range of subnet " + codeSpan(e.ControlPlaneSubnet)
	}
	return "the primary range of subnet " + codeSpan(p.Network.Subnet)
}

// listBindings lists the IAM bindings in the host project.
func listBindings(d *document, p *ir.Platform) {
	if !p.SharesVPC() {
		return
	}
	host := codeSpan(p.Network.Existing.Project)
	d.Heading(2, "IAM bindings")
	if p.OwnsCluster() || len(p.Network.GPUs) > 0 {
		d.Para("NUMBER is the number of project ", codeSpan(p.Project), ". This command prints it:")
		d.Code("sh", shellCommand("gcloud", "projects", "describe", p.Project, "--format=value(projectNumber)"))
	}
	use := codeSpan("roles/compute.networkUser") + " on each subnet below"
	if !p.OwnsCluster() {
		bindForNodes(d, p, use)
		return
	}
	d.Table([]markup{"Member", "Role", "Why"}, [][]markup{
		{codeSpan("serviceAccount:" + p.Delivery.Account.Email(p.Project)), use, "the build of the platform creates " +
			"the cluster and its node pools"},
		{codeSpan("serviceAccount:NUMBER@cloudservices.gserviceaccount.com"), use, "Compute Engine creates the nodes"},
		{codeSpan("serviceAccount:service-NUMBER@container-engine-robot.iam.gserviceaccount.com"), use,
			"GKE creates the cluster"},
		{codeSpan("serviceAccount:service-NUMBER@container-engine-robot.iam.gserviceaccount.com"),
			codeSpan("roles/container.hostServiceAgentUser") + " on project " + host,
			"GKE makes the firewall rules of the cluster"},
	})
	nameSubnets(d, p)
	d.Para("These accounts exist after `./create-platform.sh --prepare`.")
}

// bindForNodes lists the IAM bindings in the host project for node pools in a cluster that
// others own. Google's agents may use the subnet of the cluster already.
func bindForNodes(d *document, p *ir.Platform, use markup) {
	rows := [][]markup{{codeSpan("serviceAccount:" + p.Delivery.Account.Email(p.Project)), use,
		"the build of the platform creates node pools"}}
	if len(p.Network.GPUs) > 0 {
		agents := codeSpan("roles/compute.networkUser") + " on each subnet of GPU nodes"
		rows = append(rows,
			[]markup{codeSpan("serviceAccount:NUMBER@cloudservices.gserviceaccount.com"), agents,
				"Compute Engine creates the nodes"},
			[]markup{codeSpan("serviceAccount:service-NUMBER@container-engine-robot.iam.gserviceaccount.com"), agents,
				"GKE creates the node pools"})
	}
	d.Table([]markup{"Member", "Role", "Why"}, rows)
	nameSubnets(d, p)
	d.Para("The account of the build exists after `./create-platform.sh --prepare`.")
}

// nameSubnets names the subnets of the bindings.
func nameSubnets(d *document, p *ir.Platform) {
	d.Para("The subnets in region ", codeSpan(p.Region), ": ", codeList(p.UsedSubnets()), ".")
}

// listEgress lists the flows that a network with denied egress must allow.
func listEgress(d *document, p *ir.Platform) {
	d.Heading(2, "If the network denies egress")
	d.Para("GKE makes only ingress rules. If a rule of the networks denies egress by default, allow these flows for ",
		"machines with the service account ", codeSpan(p.NodeAccount.Email(p.Project)), ", with a higher priority ",
		"than the rule that denies: `main.tf` gives them the priority 1000. Rules of firewall policies apply before ",
		"rules of networks: if a policy denies egress, allow the flows there. The metadata server and the DNS of a ",
		"VPC network, `169.254.169.254`, need no rule.")
	rows := [][]markup{
		{"the primary range and the pods' range of " + codeSpan(p.Network.Subnet), "all",
			"nodes and pods reach each other"},
	}
	control := controlPlaneRange(p)
	if p.Network.ControlPlane != "" || p.Network.Existing.ControlPlaneSubnet != "" {
		rows = append(rows, []markup{control, "all", "nodes reach the control plane"})
	} else {
		rows[0][2] = "nodes and pods reach each other and the control plane"
	}
	rows = append(rows, []markup{codeSpan("199.36.153.4/30") + ", " + codeSpan("199.36.153.8/30"), "TCP 443",
		"nodes reach Google APIs; the DNS of the network must lead " + codeSpan("*.googleapis.com") + ", " +
			codeSpan("*.gcr.io") + " and " + codeSpan("*.pkg.dev") + " to these addresses, and a route must lead the " +
			"addresses to the default internet gateway"})
	for _, n := range networksWithRules(p) {
		rows = append(rows, []markup{"in " + codeSpan(n.Name) + ", " + subnetRanges(n), "TCP, UDP, ICMP, all ports",
			"GPU nodes reach each other"})
	}
	if p.Network.Existing.NAT {
		rows = append(rows, []markup{"the internet", "TCP 443", "nodes pull images from public registries; not " +
			"needed with `images.mirror` in the blueprint. `main.tf` does not allow it"})
	}
	d.Table([]markup{"Destination", "Protocol and ports", "Why"}, rows)
}

// applyTeamFile shows how to apply main.tf.
func applyTeamFile(d *document, p *ir.Platform) {
	d.Heading(2, "Apply it")
	d.Para("`main.tf` is a Terraform root of its own. Copy it to your own configuration, or run it here, with a state ",
		"that you keep. If the network denies egress, also write `-var=egress_is_denied=true`. The names of the ",
		"firewall rules begin with ", codeSpan(p.Name), "; if the network has rules of these names, write ",
		"`-var=rule_prefix=NAME`.")
	apply := []string{"terraform", "apply"}
	if p.SharesVPC() {
		apply = append(apply, "-var=platform_number=NUMBER")
	}
	d.Code("sh", "terraform init", shellCommand(apply...))
	d.Para("When the platform is destroyed, run `terraform destroy` in the same way. Nothing else of the platform is ",
		"in the network.")
	if p.SharesVPC() && (p.OwnsCluster() || len(p.Network.GPUs) > 0) {
		d.Para("The bindings of Google's agents serve all clusters of project ", codeSpan(p.Project), ". If another ",
			"of its clusters uses a subnet, first let go of its bindings with `terraform state rm`.")
	}
}

// explainExistingNetwork refers to what the owners of the network must do before the
// first build.
func explainExistingNetwork(d *document, p *ir.Platform) {
	e := p.Network.Existing
	if e == nil {
		return
	}
	d.Para("The network ", codeSpan(p.Network.Name), " of project ", codeSpan(e.Project), " belongs to others. The ",
		"platform changes nothing in it. Run `./create-platform.sh --prepare`, which creates the accounts that need ",
		"rights there, and give ", fileLink(networkTeamPage), " to the owners of the network: it lists the ranges, ",
		"the firewall rules and the rights that the platform needs. The step `network` of the build compares the ",
		"subnets, their ranges and the rights to use them with what the platform needs, and reports all differences ",
		"before anything is built. It does not see firewall rules.")
}
