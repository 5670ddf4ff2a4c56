package terraform

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// fill returns the values that an API returns for arguments, by path. GKE and Cloud
// Monitoring fill in fields that nobody set, and leave out some fields that were
// set. In the provider's schema each of these fields is required, or optional and
// not computed. The next plan therefore shows a difference unless the configuration
// prevents it. The caller holds the lock.
func (c *cloud) fill(kind, path string, arguments map[string]any, v tftypes.Value) tftypes.Value {
	switch kind + "." + path {
	// Source: GoogleCloudPlatform/cloud-foundation-fabric, pull request 3972.
	case "google_container_node_pool.node_config.advanced_machine_features":
		if machine := machineType(arguments); strings.HasPrefix(machine, "ct") || strings.HasPrefix(machine, "tpu") {
			return oneBlock(v, "threads_per_core", 1)
		}

	// Source: terraform-google-modules/terraform-google-kubernetes-engine, issue 2465
	// and pull request 2474, for c3 and c4.
	case "google_container_node_pool.node_config.ephemeral_storage_local_ssd_config":
		family, _, _ := strings.Cut(machineType(arguments), "-")
		if slices.Contains([]string{"c3", "c4", "g4", "h4d"}, family) {
			return oneBlock(v, "local_ssd_count", 0)
		}

	// Source: GoogleCloudPlatform/magic-modules, pull request 17643.
	case "google_container_node_pool.placement_policy.type":
		if policyOf(arguments) != "" {
			return tftypes.NewValue(tftypes.String, "")
		}
	// Source: vllm-project/ci-infra, pull request 547.
	case "google_container_node_pool.placement_policy.tpu_topology":
		policy := c.resources["google_compute_resource_policy"][policyOf(arguments)]
		topology, _ := block(policy, "workload_policy")["accelerator_topology"].(string)
		if strings.HasPrefix(machineType(arguments), "tpu") && topology != "" {
			return tftypes.NewValue(tftypes.String, topology)
		}

	// Without node auto-provisioning GKE keeps no settings for auto-provisioned pools.
	//
	// Source: provider documentation, google_container_cluster:
	// node_pool_auto_config is of auto-provisioned pools.
	case "google_container_cluster.node_pool_auto_config":
		if enabled, _ := block(arguments, "cluster_autoscaling")["enabled"].(bool); !enabled {
			return tftypes.NewValue(v.Type(), []tftypes.Value{})
		}

	// The API leaves out fields that have their default.
	//
	// Source: protocol buffers documentation, "ProtoJSON format", of the v1 API of
	// Cloud Monitoring dashboards.
	case "google_monitoring_dashboard.dashboard_json":
		var text string
		if v.As(&text) == nil {
			return tftypes.NewValue(tftypes.String, defaultField.ReplaceAllString(text, "{}"))
		}
	}
	return v
}

var defaultField = regexp.MustCompile(`\{\s*"collapsed":\s*false\s*\}`)

func machineType(pool map[string]any) string {
	machine, _ := block(pool, "node_config")["machine_type"].(string)
	return machine
}

func policyOf(pool map[string]any) string {
	name, _ := block(pool, "placement_policy")["policy_name"].(string)
	return name
}

// oneBlock returns a list of blocks with one block, which sets one argument, if the
// list is empty.
func oneBlock(list tftypes.Value, name string, value int64) tftypes.Value {
	var blocks []tftypes.Value
	kind, ok := list.Type().(tftypes.List)
	if !ok || list.As(&blocks) != nil || len(blocks) > 0 {
		return list
	}
	object, ok := kind.ElementType.(tftypes.Object)
	if !ok {
		return list
	}
	arguments := map[string]tftypes.Value{}
	for argument, kind := range object.AttributeTypes {
		arguments[argument] = tftypes.NewValue(kind, nil)
	}
	arguments[name] = tftypes.NewValue(tftypes.Number, value)
	return tftypes.NewValue(list.Type(), []tftypes.Value{tftypes.NewValue(object, arguments)})
}
