package terraform

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// answer is an argument that the provider reads back otherwise than it was sent, because
// an API rewrites it, fills it in or leaves it out.
type answer struct {
	kind, path string
	// read returns what the provider reads. number is another one for each answer.
	read func(c *cloud, arguments map[string]any, v tftypes.Value, number int) tftypes.Value
	// same reports whether the provider takes a configured value for the one that it has
	// read. If it is nil, the provider compares the values, and plans a change.
	same func(configured, read string) bool
	// computed reports whether the provider keeps blocks that it has read if the
	// configuration has none.
	computed bool
}

// answers are the arguments that differ. In the provider's schema, the others that an API
// fills in are computed, and read back as they were planned.
//
// Some arguments have no row although others of their kind are URLs, because they read back
// as they were sent. Compute Engine answers with the names of a reservation's machine type and
// accelerator, and with the URL of a region, of which the provider keeps the name:
// compute/resource_compute_subnetwork.go, flattenComputeSubnetworkRegion, and
// compute/resource_compute_router.go, flattenComputeRouterRegion.
//
// Recorded answers are from GoogleCloudPlatform/k8s-config-connector,
// pkg/test/resourcefixture/testdata/basic/**/_http.log.
var answers = []answer{
	// Compute Engine answers with URLs.
	// Recorded: computereservation/fullreservation. The provider stores the URL:
	// compute/resource_compute_reservation.go, flattenComputeReservationZone.
	{kind: "google_compute_reservation", path: "zone", read: asURL(zones), same: sameName},
	// Recorded: computesubnetwork, computerouter, computenetworkbasic.
	{kind: "google_compute_subnetwork", path: "network", read: asURL(networks), same: sameName},
	{kind: "google_compute_router", path: "network", read: asURL(networks), same: sameName},
	{kind: "google_compute_network", path: "network_profile", read: asURL(""), same: sameName},
	// The provider's resource_compute_firewall.go: CompareSelfLinkOrResourceName.
	{kind: "google_compute_firewall", path: "network", read: asURL(networks), same: sameName},

	// GKE returns the cluster's network twice. The provider reads the path in networkConfig.
	// Recorded: every cluster.
	{kind: "google_container_cluster", path: "network", read: asPath, same: sameName},
	{kind: "google_container_cluster", path: "subnetwork", read: asPath, same: sameName},
	// GKE returns components of metrics in an order of its own, which differs between calls.
	// hashicorp/terraform-provider-google, issues 27247 and 28688; cluster-toolkit issue
	// 6331; crossplane-contrib/provider-upjet-gcp, pull request 1024.
	{kind: "google_container_cluster", path: "monitoring_config.enable_components", read: shuffle},
	// GKE answers with settings of auto-provisioned pools for every cluster.
	// Recorded: every cluster.
	{
		kind: "google_container_cluster", path: "node_pool_auto_config", computed: true,
		read: func(_ *cloud, _ map[string]any, v tftypes.Value, _ int) tftypes.Value { return addBlock(v, nil) },
	},

	// The provider reads the average size of a pool's instance groups, also if the autoscaler
	// sizes them: container/resource_container_node_pool.go, flattenNodePool. These pools have
	// the nodes with which they began, unless a test says how many the autoscaler has started.
	{kind: "google_container_node_pool", path: "node_count",
		read: func(c *cloud, pool map[string]any, v tftypes.Value, _ int) tftypes.Value {
			if block(pool, "autoscaling") == nil {
				return v
			}
			return tftypes.NewValue(tftypes.Number, c.scaledTo(pool))
		}},
	// GoogleCloudPlatform/cloud-foundation-fabric, pull request 3972.
	{kind: "google_container_node_pool", path: "node_config.advanced_machine_features",
		read: func(_ *cloud, pool map[string]any, v tftypes.Value, _ int) tftypes.Value {
			if machine := machineType(pool); strings.HasPrefix(machine, "ct") || strings.HasPrefix(machine, "tpu") {
				return addBlock(v, map[string]int64{"threads_per_core": 1})
			}
			return v
		}},
	// terraform-google-modules/terraform-google-kubernetes-engine, issue 2465 and pull
	// request 2474, for c3 and c4.
	{kind: "google_container_node_pool", path: "node_config.ephemeral_storage_local_ssd_config",
		read: func(_ *cloud, pool map[string]any, v tftypes.Value, _ int) tftypes.Value {
			family, _, _ := strings.Cut(machineType(pool), "-")
			if slices.Contains([]string{"c3", "c4", "g4", "h4d"}, family) {
				return addBlock(v, map[string]int64{"local_ssd_count": 0})
			}
			return v
		}},
	// GoogleCloudPlatform/magic-modules, pull request 17643; cluster-toolkit, pull request
	// 6302.
	{kind: "google_container_node_pool", path: "placement_policy.type",
		read: func(_ *cloud, _ map[string]any, _ tftypes.Value, _ int) tftypes.Value {
			return tftypes.NewValue(tftypes.String, "")
		}},
	// vllm-project/ci-infra, pull request 547.
	{kind: "google_container_node_pool", path: "placement_policy.tpu_topology",
		read: func(c *cloud, pool map[string]any, v tftypes.Value, _ int) tftypes.Value {
			policy := c.named("google_compute_resource_policy", policyOf(pool))
			topology, _ := block(policy, "workload_policy")["accelerator_topology"].(string)
			if strings.HasPrefix(machineType(pool), "tpu") && topology != "" {
				return tftypes.NewValue(tftypes.String, topology)
			}
			return v
		}},

	// Cloud Storage writes locations in capitals, and so does the provider:
	// storage/resource_storage_bucket.go, StateFunc of location.
	{
		kind: "google_storage_bucket", path: "location", same: strings.EqualFold,
		read: func(_ *cloud, _ map[string]any, v tftypes.Value, _ int) tftypes.Value {
			return onText(v, strings.ToUpper)
		},
	},
	// The provider's iam_storage_bucket.go: the name of a bucket in a policy is b/NAME.
	{
		kind: "google_storage_bucket_iam_policy", path: "bucket", same: sameName,
		read: func(_ *cloud, _ map[string]any, v tftypes.Value, _ int) tftypes.Value {
			return onText(v, func(name string) string { return "b/" + lastElement(name) })
		},
	},

	// The API leaves out fields that have their default.
	// Protocol buffers documentation, "ProtoJSON format", of the v1 API of Cloud Monitoring
	// dashboards.
	{kind: "google_monitoring_dashboard", path: "dashboard_json",
		read: func(_ *cloud, _ map[string]any, v tftypes.Value, _ int) tftypes.Value {
			return onText(v, func(text string) string { return defaultField.ReplaceAllString(text, "{}") })
		}},
}

const (
	computeURL = "https://www.googleapis.com/compute/v1/"
	networks   = "projects/" + defaultProject + "/global/networks/"
	zones      = "projects/" + defaultProject + "/zones/"
)

var defaultField = regexp.MustCompile(`\{\s*"collapsed":\s*false\s*\}`)

// answersOf returns the rows of a type by path.
func answersOf(kind string) map[string]answer {
	out := map[string]answer{}
	for _, a := range answers {
		if a.kind == kind {
			out[a.path] = a
		}
	}
	return out
}

// answer returns what the provider reads of a resource. The caller holds the lock.
func (c *cloud) answer(kind string, resource tftypes.Value) tftypes.Value {
	rows := answersOf(kind)
	arguments, _ := plain(resource).(map[string]any)
	c.reads++
	return walkArguments(resource, func(path string, v tftypes.Value) tftypes.Value {
		if row, ok := rows[path]; ok {
			return row.read(c, arguments, v, c.reads)
		}
		return v
	})
}

// settle returns a planned resource in which the values that were read stand for
// configured values that the provider takes for the same.
func settle(kind string, prior, planned tftypes.Value) tftypes.Value {
	rows := answersOf(kind)
	if prior.IsNull() || len(rows) == 0 {
		return planned
	}
	was := map[string]tftypes.Value{}
	walkArguments(prior, func(path string, v tftypes.Value) tftypes.Value {
		if _, ok := rows[path]; ok {
			was[path] = v
		}
		return v
	})
	return walkArguments(planned, func(path string, v tftypes.Value) tftypes.Value {
		old, ok := was[path]
		row := rows[path]
		var configured, read string
		switch {
		case !ok:
		case row.same != nil && textOf(v, &configured) && textOf(old, &read) && row.same(configured, read):
			return old
		case row.computed && blocks(&v) == 0:
			return old
		}
		return v
	})
}

// textOf reports whether a value is a text, which it stores.
func textOf(v tftypes.Value, text *string) bool {
	return v.IsKnown() && !v.IsNull() && v.As(text) == nil
}

// onText returns a text changed, and any other value as it is.
func onText(v tftypes.Value, change func(string) string) tftypes.Value {
	var text string
	if !textOf(v, &text) {
		return v
	}
	return tftypes.NewValue(tftypes.String, change(text))
}

// asURL returns a read function that makes URLs of names, in a collection, and of paths.
func asURL(collection string) func(*cloud, map[string]any, tftypes.Value, int) tftypes.Value {
	return func(_ *cloud, _ map[string]any, v tftypes.Value, _ int) tftypes.Value {
		return onText(v, func(text string) string {
			switch {
			case strings.HasPrefix(text, "https://"):
				return text
			case strings.Contains(text, "/"):
				return computeURL + text
			}
			return computeURL + collection + text
		})
	}
}

// asPath makes a path of a URL.
func asPath(_ *cloud, _ map[string]any, v tftypes.Value, _ int) tftypes.Value {
	return onText(v, func(text string) string { return strings.TrimPrefix(text, computeURL) })
}

// sameName reports whether two names, paths or URLs end in the same name, as the
// provider's CompareSelfLinkOrResourceName does.
func sameName(configured, read string) bool { return lastElement(configured) == lastElement(read) }

// shuffle returns a list in another order for each number, and never in its own, unless it
// has fewer than two elements.
func shuffle(_ *cloud, _ map[string]any, list tftypes.Value, number int) tftypes.Value {
	var elements []tftypes.Value
	if !list.IsKnown() || list.IsNull() || list.As(&elements) != nil || len(elements) < 2 {
		return list
	}
	first := 1 + number%(len(elements)-1)
	return tftypes.NewValue(list.Type(), slices.Concat(elements[first:], elements[:first]))
}

func machineType(pool map[string]any) string {
	machine, _ := block(pool, "node_config")["machine_type"].(string)
	return machine
}

func policyOf(pool map[string]any) string {
	name, _ := block(pool, "placement_policy")["policy_name"].(string)
	return name
}

// addBlock returns a list of blocks with one block, which sets numbers, if the list is
// empty.
func addBlock(list tftypes.Value, numbers map[string]int64) tftypes.Value {
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
		if list, ok := kind.(tftypes.List); ok {
			arguments[argument] = tftypes.NewValue(list, []tftypes.Value{})
		}
	}
	for name, value := range numbers {
		arguments[name] = tftypes.NewValue(tftypes.Number, value)
	}
	return tftypes.NewValue(list.Type(), []tftypes.Value{tftypes.NewValue(object, arguments)})
}
