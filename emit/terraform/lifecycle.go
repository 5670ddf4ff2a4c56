package terraform

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// ignoredArgument is an argument of a node pool whose changes Terraform ignores.
type ignoredArgument struct {
	path constant
	note constant // the reason, as a comment in the folder
	of   func(ir.Capacity) bool
}

// ignoredArguments are the arguments that GKE fills in or does not return, and the
// arguments that have an effect only at creation. The provider computes none of
// them: without ignore_changes, the next plan would replace the pool, or change it
// at every apply. Each row names its source.
var ignoredArguments = []ignoredArgument{
	// hashicorp/terraform-provider-google,
	// website/docs/r/container_node_pool.html.markdown: initial_node_count.
	{"initial_node_count", "initial_node_count applies only at creation: a later change would replace the pool.",
		isAutoscaled},
	// GKE sets threads_per_core to 1 on ct6e machines; other TPU machines are alike.
	// https://github.com/GoogleCloudPlatform/cloud-foundation-fabric/pull/3972
	{"node_config[0].advanced_machine_features",
		"GKE sets threads_per_core on TPU machines. Terraform must not treat this as a change.",
		ir.Capacity.HasTPUs},
	// https://github.com/GoogleCloudPlatform/magic-modules/pull/17643
	// https://github.com/GoogleCloudPlatform/cluster-toolkit/pull/5691
	// https://github.com/GoogleCloudPlatform/cluster-toolkit/pull/6302
	{"placement_policy[0].type", "GKE may return the name of the placement policy without its type.",
		func(c ir.Capacity) bool {
			return (c.Machine.PlacementTopology != "" || c.Sliced() || c.Compact) && !c.Keeps(ir.KeepPlacementPolicy)
		}},
	// Seen on TPU7x: https://github.com/vllm-project/ci-infra/pull/547
	{"placement_policy[0].tpu_topology", "GKE fills in the topology of the placement policy.",
		func(c ir.Capacity) bool {
			return c.Machine.PlacementTopology != "" && c.HasTPUs() && !c.Keeps(ir.KeepPlacementPolicy)
		}},
	// GKE fills in an empty block for third-generation machines without local SSDs.
	// https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/2465
	// https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/pull/2474
	{"node_config[0].ephemeral_storage_local_ssd_config", "GKE fills in a local SSD count of zero.",
		func(c ir.Capacity) bool { return c.SSDs() == 0 && c.Machine.CountsNoSSDs }},
	// The blueprint names these settings: the nodes of a pool that was taken over keep them.
	keptArgument(ir.KeepServiceAccount, "The nodes keep their service account."),
	keptArgument(ir.KeepOAuthScopes, "The nodes keep their access scopes."),
	keptArgument(ir.KeepShieldedInstanceConfig, "The nodes keep their settings of Shielded VMs."),
	keptArgument(ir.KeepReservationAffinity, "The nodes keep their reservation affinity."),
	keptArgument(ir.KeepBootDiskKmsKey, "The boot disks keep their key."),
	keptArgument(ir.KeepPlacementPolicy, "The nodes keep their placement policy."),
}

// keptArgument returns the row of an argument that a takeover can keep.
func keptArgument(setting ir.KeptSetting, note constant) ignoredArgument {
	path := constant(strings.Replace(setting.Argument(), "node_config.", "node_config[0].", 1))
	return ignoredArgument{path, note, func(c ir.Capacity) bool { return c.Keeps(setting) }}
}

// trigger is a reference to an argument whose change replaces a pool.
type trigger struct {
	name constant
	note []constant // the reason, as a comment in the folder
}

// writeLifecycle writes the changes of a pool that Terraform ignores. It also makes a
// change of a trigger replace the pool, although the provider would not. Terraform never
// replaces or destroys a pool that is taken over.
func writeLifecycle(np *body, c ir.Capacity, triggers ...trigger) {
	var ignored []string
	var notes []constant
	for _, a := range ignoredArguments {
		if a.of(c) {
			ignored, notes = append(ignored, string(a.path)), append(notes, a.note)
		}
	}
	if len(ignored)+len(triggers) == 0 && c.TakeOver == nil {
		return
	}
	block := np.block("lifecycle")
	if len(ignored) > 0 {
		block.note(notes...)
		block.setExpr("ignore_changes", constant("["+strings.Join(ignored, ", ")+"]"))
	}
	if len(triggers) > 0 {
		var names []string
		for _, t := range triggers {
			names = append(names, string(t.name))
			if len(t.note) > 0 {
				block.note(t.note...)
			}
		}
		list := "[" + strings.Join(names, ", ") + "]"
		if len(names) > 2 {
			list = "[\n" + strings.Join(names, ",\n") + ",\n]"
		}
		block.setExpr("replace_triggered_by", constant(list))
	}
	if c.TakeOver != nil {
		preventDestroy(block, "The pool was taken over: Terraform refuses a plan that would replace it.")
	}
}
