package guide

import (
	"cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// takeOverPage is the page about the resources that the platform takes over: for whoever
// builds the platform, and for the former owners.
const takeOverPage = "takeover/README.md"

// Headings of the page.
const (
	compareHeading   markup = "1. Compare"
	letGoHeading     markup = "2. Let go"
	importHeading    markup = "3. Build"
	differsHeading   markup = "What must be equal"
	importedHeading  markup = "What the import changes"
	twoStatesHeading markup = "Two states with one resource"
)

// takeOverFile returns the page about taking over.
func takeOverFile(p *ir.Platform) []byte {
	return newPage(p, listTakenOver, explainCompare, explainLetGo, explainImport, listReplacing, listImported,
		explainTwoStates).Bytes()
}

// takenOver names what the platform takes over.
func takenOver(p *ir.Platform) markup {
	pools := p.TakenOverPools()
	noun := markup("the node pools ")
	if len(pools) == 1 {
		noun = "the node pool "
	}
	noun += firstNames(pools)
	cluster := "the cluster " + codeSpan(p.Cluster.Name)
	switch {
	case len(pools) == 0:
		return cluster
	case p.Cluster.TakeOver == nil:
		return noun
	}
	return cluster + " and " + noun
}

// listTakenOver says what the platform takes over, and from which configurations.
func listTakenOver(d *document, p *ir.Platform) {
	d.Heading(1, "Taking over for "+codeSpan(p.Name))
	d.Para("The batch platform ", codeSpan(p.Name), " of project ", codeSpan(p.Project), " takes over ", takenOver(p),
		". They exist already, and what runs there goes on. The next build imports them into the platform's Terraform ",
		"state. From then on, the platform owns them. Do the steps below in their order.")
	var rows [][]markup
	add := func(what markup, t *ir.TakeOver, settings []ir.KeptSetting) {
		kept := make([]string, len(settings))
		for i, setting := range settings {
			kept[i] = string(setting)
		}
		rows = append(rows, []markup{what, orElse(t.From, "not named"), cmp.Or(codeList(kept), "nothing")})
	}
	if t := p.Cluster.TakeOver; t != nil {
		add("cluster "+codeSpan(p.Cluster.Name), t, nil)
	}
	for _, c := range p.TakenOverCapacities() {
		noun := markup("node pool ")
		if len(c.Pools()) > 1 {
			noun = "node pools "
		}
		add(noun+firstNames(c.Pools()), c.TakeOver, c.Kept)
	}
	d.Table([]markup{"Resource", "In the Terraform configuration of its former owner", "Keeps"}, rows)
}

// explainCompare explains how to see what would be replaced.
func explainCompare(d *document, p *ir.Platform) {
	d.Heading(2, compareHeading)
	d.Para("Terraform imports a resource as it is, and then makes it equal to the platform's configuration. If a ",
		"difference cannot be made in place, Terraform would destroy the resource, with everything that runs on it, ",
		"and create another. Therefore compare first. Run these commands in the directory of the blueprint, the ",
		"second with the paths and options of the last compile:")
	d.Code("sh",
		shellCommand("gcloud", "container", "clusters", "describe", p.Cluster.Name, "--location="+p.Cluster.Location,
			"--project="+p.Project, "--format=json")+" >cluster.json",
		"batchwright diff --live cluster.json")
	d.Para("The second command says what the build would change, and what it would replace. Change the blueprint ",
		"until it replaces nothing. ", linkHere(differsHeading), " lists the arguments that matter.")
}

// explainLetGo explains what the former owners do.
func explainLetGo(d *document, p *ir.Platform) {
	d.Heading(2, letGoHeading)
	if !p.HasFormerConfiguration() {
		d.Para("The blueprint names no Terraform configuration of a former owner: there is nothing to do. If one has ",
			"the resource after all, write its address as `takeOver: from:`, and compile.")
		return
	}
	d.Para("Terraform must never have one resource in two states: see ", linkHere(twoStatesHeading), ". So each ",
		"former owner makes these changes to their configuration, in one commit:")
	d.List(
		"Remove the resource. If a module makes it, remove its entry from the inputs of the module.",
		"Add the blocks of [`removed.tf`](removed.tf) for the resource to the root of the configuration. They need "+
			"Terraform 1.7 or later.",
	)
	d.Para("Then they plan and apply. The plan must say that the resource \"will no longer be managed by Terraform, ",
		"but will not be destroyed\", and it must destroy nothing. Afterwards they can remove the blocks again.")
	d.Para("If Terraform says \"Removed resource still exists\", the configuration still declares the resource, for ",
		"example because a module makes several node pools of one resource. Then write the address with its key, as ",
		"`terraform state list` of that configuration prints it, into the blueprint, and compile.")
	d.Para("With an older Terraform, and for a configuration that cannot have such blocks, use this command instead ",
		"of the blocks, with each address, before anybody plans or applies the configuration without the resource:")
	d.Code("sh", "terraform state rm ADDRESS")
	d.Para("If a configuration has a node pool as a block `node_pool` in its `google_container_cluster`, add ",
		"`lifecycle { ignore_changes = [node_pool] }` to the cluster before you remove the block: otherwise Terraform ",
		"may replace the cluster.")
}

// explainImport explains the build that imports.
func explainImport(d *document, p *ir.Platform) {
	d.Heading(2, importHeading)
	step := markup("`terraform-plan`")
	if p.Delivery.InfrastructureManager {
		step = "`infrastructure`"
	}
	d.Para("Run this command in the deploy folder:")
	d.Code("sh", "./create-platform.sh")
	d.Para("The step ", step, " of the build plans the imports. If a resource does not exist, the build stops there. ",
		"It also stops if the plan would replace a resource that is taken over: \"Instance cannot be destroyed\", ",
		"says Terraform, because these resources have `prevent_destroy`. Nothing is changed then. Return to ",
		linkHere(compareHeading), ".")
	if p.Delivery.InfrastructureManager {
		d.Para("Infrastructure Manager runs Terraform ", escapeText(ir.InfrastructureManagerTerraform), ", which ",
			"knows the blocks in `terraform/imports.tf`. If the cluster would be replaced, this version may say ",
			"instead: \"Cannot import to non-existent resource address\".")
	}
	d.Para("After the build, the blocks in `terraform/imports.tf` do nothing. You can leave them, or remove ",
		"`takeOver` from the blueprint and compile: the blocks and `prevent_destroy` go, and this folder with them. ",
		"Without `prevent_destroy`, a later change of the blueprint can replace the resource, as with every other ",
		"resource; `batchwright diff` says so. `./destroy-platform.sh` refuses to run while `takeOver` is in the "+
			"blueprint.")
	if p.AnyCapacity(func(c ir.Capacity) bool { return len(c.Kept) > 0 }) {
		d.Para("A node pool that keeps a setting is replaced by the first build after `takeOver` is gone. Leave ",
			"`takeOver` in the blueprint until its nodes may go.")
	}
}

// listReplacing lists the arguments that must have the platform's value. A test compares
// the list with the arguments that the provider cannot change in place.
func listReplacing(d *document, p *ir.Platform) {
	d.Heading(2, differsHeading)
	d.Para("If one of these arguments differs, Terraform refuses the plan, unless the blueprint keeps it. The values ",
		"are in `terraform/node_pools.tf` and `terraform/cluster.tf`.")
	if len(p.TakenOverPools()) > 0 {
		listReplacingOfPools(d, p)
	}
	if p.Cluster.TakeOver != nil {
		d.Table([]markup{"Argument of the cluster", "In the platform"}, [][]markup{
			{"`location`", codeSpan(p.Cluster.Location) + ": a cluster in a zone cannot be taken over"},
			{"`network`, `subnetwork`", codeSpan(p.Network.Name) + ", " + codeSpan(p.Network.Subnet)},
			{"`ip_allocation_policy`", codeSpan(p.Network.Existing.PodRange) + ", " +
				codeSpan(p.Network.Existing.ServiceRange)},
			{"`private_cluster_config.master_ipv4_cidr_block`", orElse(p.Network.ControlPlane, "none")},
			{"`private_cluster_config.private_endpoint_subnetwork`",
				orElse(p.Network.Existing.ControlPlaneSubnet, "none")},
			{"`networking_mode`, `datapath_provider`", "`VPC_NATIVE`, `ADVANCED_DATAPATH`"},
			{"`master_auth.client_certificate_config`", "no client certificate"},
			{"`cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key`",
				"with auto-provisioning: the same key as above"},
		})
	}
}

// listReplacingOfPools lists the arguments of node pools.
func listReplacingOfPools(d *document, p *ir.Platform) {
	key := markup("none: Google manages the key")
	if p.Security.KMSKey != "" {
		key = codeSpan(p.Security.KMSKey)
	}
	keep := func(setting ir.KeptSetting) markup { return codeSpan(string(setting)) }
	d.Table([]markup{"Argument of a node pool", "In the platform", "Can be kept as"}, [][]markup{
		{"`node_config.service_account`", codeSpan(p.NodeAccount.Email(p.Project)), keep(ir.KeepServiceAccount)},
		{"`node_config.oauth_scopes`", codeSpan("https://www.googleapis.com/auth/cloud-platform") + " alone",
			keep(ir.KeepOAuthScopes)},
		{"`node_config.shielded_instance_config`", "secure boot and integrity monitoring are on",
			keep(ir.KeepShieldedInstanceConfig)},
		{"`node_config.reservation_affinity`", "the block is there, with the type that the `consumption` of the " +
			"capacity needs", keep(ir.KeepReservationAffinity)},
		{"`node_config.boot_disk_kms_key`", key, keep(ir.KeepBootDiskKmsKey)},
		{"the other arguments of the `consumption`", "what `terraform/node_pools.tf` has", "no"},
		{"`node_config.guest_accelerator`", "type, number and driver version of the GPUs", "no"},
		{"`node_config.ephemeral_storage_local_ssd_config`", "number of local SSDs", "no"},
		{"`placement_policy`", "whether there is one, and its `policy_name`", "no"},
		{"`network_config.additional_node_network_configs`, `network_config.accelerator_network_profile`",
			"networks between GPUs", "no"},
	})
	d.Para("A kept setting stays as it is: write it in the blueprint, such as ",
		codeSpan(`takeOver: keep: ["serviceAccount"]`), ". If nodes keep the service account of somebody else, its ",
		"owner must let the build act as it, so that the build can change the pool:")
	d.Code("sh", shellCommand("gcloud", "iam", "service-accounts", "add-iam-policy-binding", "ADDRESS",
		"--member=serviceAccount:"+p.Delivery.Account.Email(p.Project), "--role=roles/iam.serviceAccountUser",
		unconditional))
}

// listImported lists what a build changes after an import, and what it leaves alone.
// Source: hashicorp/terraform-provider-google, resource_container_cluster.go.
func listImported(d *document, p *ir.Platform) {
	d.Heading(2, importedHeading)
	items := []markup{
		"The build makes all other arguments equal to the platform's, in place: labels, taints, sizes, upgrades. " +
			"Pods that do not tolerate the taints stay on their nodes, but no more of them start there. A change of " +
			"the machine type, the disk or the image type makes GKE recreate the nodes of a pool.",
	}
	if p.Cluster.TakeOver != nil {
		version := markup("")
		if p.Cluster.MinVersion != "" {
			version = " The plan always shows `min_master_version`, which the provider does not read from the cluster."
		}
		items = append(items,
			"The build installs "+schedulerName(p)+" and JobSet with the platform's configuration. If the cluster has "+
				"them already, their version and configuration change.",
			"Terraform ignores `initial_node_count`, `node_config` and `remove_default_node_pool` of the cluster. So "+
				"a node pool "+codeSpan("default-pool")+" stays, and so do all other node pools that this page does "+
				"not list. The platform does not manage them: delete them by hand if nobody needs them."+version,
			"The build creates the node pool "+codeSpan(p.SystemPool.Name)+" for GKE's own pods and the scheduler. "+
				"The cluster must not have a node pool of this name yet.",
			"To destroy the platform later means to destroy the cluster, with everything that it held before.")
	}
	if len(p.TakenOverPools()) > 0 {
		items = append(items, "Terraform ignores the `initial_node_count` of a node pool that scales.")
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.TakeOver != nil && c.Sliced() }) {
		items = append(items, "The provider changes no `placement_policy` of a node pool, and does not replace the "+
			"pool for it either. If the topology of the slices differs, every plan shows the change, and no build "+
			"makes it: correct `topology` in the blueprint.")
	}
	d.List(items...)
}

// explainTwoStates says what happens if two configurations have one resource.
func explainTwoStates(d *document, _ *ir.Platform) {
	d.Heading(2, twoStatesHeading)
	d.Para("Terraform does not notice that another state has the same resource. Each apply of either configuration ",
		"undoes the changes of the other. And if the former owner removes the resource without the blocks, or ",
		"destroys the configuration, Terraform deletes the resource with all jobs on it, although the platform owns ",
		"it. `prevent_destroy` protects only against the platform's own plans. Between the two applies, the resource ",
		"is in no state, which does no harm.")
}

// explainTakeOver refers to the page about taking over before the first build.
func explainTakeOver(d *document, p *ir.Platform) {
	if !p.TakesOver() {
		return
	}
	d.Para("The platform takes over ", takenOver(p), ", which exist already: the next build imports them. ",
		"First follow ", fileLink(takeOverPage), ". It says how to see what would be replaced, and what the former ",
		"owners must do.")
}

// explainDestroyTakenOver says that nothing that is taken over can be destroyed.
func explainDestroyTakenOver(d *document, p *ir.Platform) {
	if !p.TakesOver() {
		return
	}
	d.Para("The platform has taken over ", takenOver(p), ". As long as the blueprint says so, Terraform refuses to ",
		"destroy them (`prevent_destroy`), and the command below refuses to run. To destroy them, remove `takeOver` ",
		"from the blueprint, compile, and run `./create-platform.sh`. After this build, the command works. It ",
		"destroys also what they held before the platform took them over.")
}
