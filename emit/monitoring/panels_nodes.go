package monitoring

import "github.com/batchwright/batchwright/compiler/ir"

// The metrics of nodes are GKE's system metrics. The metric status_condition has a
// series for each condition and status of a node, which is 1 if the node is in it.
// It needs GKE 1.32.1-gke.1357001 or later. Source: GKE documentation, GKE system
// metrics, and Monitor the health of TPU nodes and node pools.
const (
	nodes     = `kubernetes_io:node_cpu_total_cores{monitored_resource="k8s_node",@system}`
	condition = `kubernetes_io:node_status_condition{monitored_resource="k8s_node",@system,condition`
	ready     = condition + `="Ready",status="True"}`
	notReady  = condition + `="Ready",status!="True"}`
	pressure  = condition + `=~"(Disk|Memory|PID)Pressure",status="True"}`
)

// nodeSection returns the administrator's section on nodes. GKE has no metric of
// cordoned nodes.
func nodeSection() Section {
	return Section{Title: "Nodes", Folded: true, Panels: []Panel{
		{
			Title: "Nodes",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `count(` + nodes + `)`}},
		},
		{
			Title: "Ready nodes",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(` + ready + `)`}},
		},
		{
			Title: "Requested CPU",
			Note:  "The share of the nodes' allocatable CPU that containers request.",
			Shape: Gauge, Unit: share,
			Queries: []Query{{expr: requestedShare("cpu_request_cores", "cpu_allocatable_cores")}},
		},
		{
			Title: "Requested memory",
			Note:  "The share of the nodes' allocatable memory that containers request.",
			Shape: Gauge, Unit: share,
			Queries: []Query{{expr: requestedShare("memory_request_bytes", "memory_allocatable_bytes")}},
		},
		{
			Title: "Nodes by node pool",
			Shape: Stack, Unit: count,
			Queries: largestOf("node_pool", nodesBy("node_pool", ir.LabelNodePool, "none")),
		},
		{
			Title: "Nodes by capacity",
			Note:  "The capacities of the blueprint. The nodes of the system pool have none.",
			Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"capacity"}, expr: nodesBy("capacity", ir.LabelCapacity, "none")}},
		},
		{
			Title: "Nodes not ready by node pool",
			Note:  "A new node is not ready while it starts.",
			Shape: Lines, Unit: count,
			Queries: []Query{{
				By:   []string{"node_pool"},
				expr: topOf(groupNodes(`sum`, notReady, "node_pool", ir.LabelNodePool, "none")),
			}},
		},
		{
			Title: "Nodes under pressure",
			Note:  "The kubelet evicts pods of a node that has too little disk space, memory or process IDs.",
			Shape: Lines, Unit: count,
			Queries: []Query{{By: []string{"condition"}, expr: `sum by (condition) (` + pressure + `)`}},
		},
	}}
}

// notReadyPanel returns the number of nodes that cannot run pods.
func notReadyPanel() Panel {
	return Panel{
		Title: "Nodes not ready",
		Note:  "A new node is not ready while it starts.",
		Shape: Number, Unit: count, Thresholds: anyIsWarning,
		Queries: []Query{{expr: `sum(` + notReady + `)`}},
	}
}

// requestedShare returns an expression for the share of the nodes' resources that
// containers request.
func requestedShare(requested, allocatable string) string {
	return `sum(kubernetes_io:container_` + requested + `{monitored_resource="k8s_container",@system})` +
		` / sum(kubernetes_io:node_` + allocatable + `{monitored_resource="k8s_node",@system})`
}

// nodesBy returns an expression for the number of nodes by a label of the nodes.
func nodesBy(name, label, without string) string {
	return groupNodes(`count`, nodes, name, label, without)
}

// groupNodes returns an expression that aggregates series of nodes by a label of the
// nodes. The series of the result have the label's value in a label with a readable
// name, and the text without if the nodes do not have the label.
func groupNodes(aggregation, series, name, label, without string) string {
	metadata := `metadata_user_` + label
	replaced := `label_replace(` + aggregation + ` by ("` + metadata + `") (` + series + `), "` + name + `", "` +
		without + `", "", "")`
	return `sum by (` + name + `) (label_replace(` + replaced + `, "` + name + `", "$1", "` + metadata + `", "(.+)"))`
}
