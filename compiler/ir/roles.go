package ir

import "strconv"

// ClusterCondition returns the IAM condition, in CEL, under which a role reaches no
// cluster except one. GKE names the cluster that it checks a permission for (IAM
// documentation: "Resource attributes for IAM Conditions"). It checks some
// permissions on the project, such as creating a cluster, listing clusters and
// reading an operation: the condition leaves these open.
func ClusterCondition(project, region, cluster string) string {
	name := "projects/" + project + "/locations/" + region + "/clusters/" + cluster
	return `resource.type != "container.googleapis.com/Cluster" || resource.name == ` + strconv.Quote(name) +
		` || resource.name.startsWith(` + strconv.Quote(name+"/") + `)`
}

// MemberRole is the role of Cluster.SecurityGroup, of which the teams' groups are
// members, on the cluster. It finds the cluster and reaches its control plane, no
// more: container.clusters.get, list and connect, which the DNS endpoint demands
// (IAM documentation: "Google Kubernetes Engine roles and permissions"). RBAC
// decides what is allowed in the cluster.
const MemberRole = "roles/container.clusterViewer"
