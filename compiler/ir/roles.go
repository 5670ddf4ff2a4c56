package ir

// MemberRole is the role of a team's group on the project. It finds the cluster
// and reaches its control plane, no more: container.clusters.get, list and
// connect, which the DNS endpoint demands (IAM documentation: "Google Kubernetes
// Engine roles and permissions"). What is allowed in the cluster says RBAC.
const MemberRole = "roles/container.clusterViewer"
