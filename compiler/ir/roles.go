package ir

import "strconv"

// ClusterCondition returns the IAM condition, in CEL, that restricts a role to one
// cluster. For a permission on a cluster, GKE gives IAM the name of that cluster
// (IAM documentation: "Resource attributes for IAM Conditions"). GKE checks some
// permissions on the project, such as creating a cluster, listing clusters and
// reading an operation: the condition does not restrict these.
func ClusterCondition(project, region, cluster string) string {
	name := "projects/" + project + "/locations/" + region + "/clusters/" + cluster
	return `resource.type != "container.googleapis.com/Cluster" || resource.name == ` + strconv.Quote(name) +
		` || resource.name.startsWith(` + strconv.Quote(name+"/") + `)`
}

// MemberRole is the role on the cluster of Cluster.SecurityGroup, whose members are
// the teams' groups, and of each account in Team.Members. Its holder can find the cluster and reach its control plane,
// and nothing else: container.clusters.get, list and connect, which the DNS endpoint
// demands (IAM documentation: "Google Kubernetes Engine roles and permissions").
// RBAC decides what its holder may do in the cluster.
const MemberRole = "roles/container.clusterViewer"
