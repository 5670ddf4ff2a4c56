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
	return Section{Name: "nodes", Title: "Nodes", Folded: true, Panels: []Panel{
		newPanel("Nodes", "", Number, count, single(`count(`+nodes+`)`)),
		newPanel("Ready nodes", "", Number, count, single(`sum(`+ready+`)`)),
		newPanel("Requested CPU", "The share of the nodes' allocatable CPU that containers request.", Gauge, share,
			single(requestedShare("cpu_request_cores", "cpu_allocatable_cores"))),
		newPanel("Requested memory",
			"The share of the nodes' allocatable memory that containers request.", Gauge, share,
			single(requestedShare("memory_request_bytes", "memory_allocatable_bytes"))),
		newPanel("Nodes by node pool", "", Stack, count,
			nodesBy(`count`, nodes, "node_pool", ir.LabelNodePool).largest()),
		newPanel("Nodes by capacity",
			"The capacities of the blueprint. The nodes of the system pool have none.", Stack, count,
			nodesBy(`count`, nodes, "capacity", ir.LabelCapacity)),
		newPanel("Nodes not ready by node pool", "A new node is not ready while it starts.", Lines, count,
			nodesBy(`sum`, notReady, "node_pool", ir.LabelNodePool).largest()),
		newPanel("Nodes under pressure",
			"The kubelet evicts pods of a node that has too little disk space, memory or process IDs.", Lines, count,
			grouped("sum", pressure, "condition")),
	}}
}

// notReadyPanel returns the number of nodes that cannot run pods.
func notReadyPanel() Panel {
	return newPanel("Nodes not ready", "A new node is not ready while it starts.", Number, count,
		single(`sum(`+notReady+`)`)).warns(anyIsWarning)
}

// requestedShare returns an expression for the share of the nodes' resources that
// containers request.
func requestedShare(requested, allocatable string) string {
	return `sum(kubernetes_io:container_` + requested + `{monitored_resource="k8s_container",@system})` +
		` / sum(kubernetes_io:node_` + allocatable + `{monitored_resource="k8s_node",@system})`
}

// nodesBy returns a query that aggregates series of nodes by a label of the nodes. The series
// of the result have the label's value in a label with a readable name, and "none" if the
// nodes do not have the label.
func nodesBy(aggregation, series, name, label string) Query {
	metadata := `metadata_user_` + label
	replaced := `label_replace(` + aggregation + ` by ("` + metadata + `") (` + series + `), "` + name +
		`", "none", "", "")`
	return grouped("sum", `label_replace(`+replaced+`, "`+name+`", "$1", "`+metadata+`", "(.+)")`, name)
}
