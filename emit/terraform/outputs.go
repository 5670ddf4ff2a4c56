package terraform

import "github.com/batchwright/batchwright/compiler/ir"

// writeOutput writes an output of the root or of a module.
func writeOutput(b *body, name, description string, value constant) {
	o := b.block("output", name)
	o.setString("description", description)
	o.setExpr("value", value)
}

func writeOutputs(b *body, p *ir.Platform) {
	writeOutput(b, "cluster_name", "Name of the cluster.", clusterName(p))
	writeOutput(b, "cluster_location", "Region of the control plane.", clusterLocation(p))
	flag := constant("--region")
	if p.OwnsCluster() {
		writeOutput(b, "cluster_endpoint", "DNS name of the control plane.",
			"google_container_cluster.main.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint")
	} else {
		flag = "--location"
	}
	credentials := `"gcloud container clusters get-credentials ${` + clusterName(p) + `} ` + flag + ` ${` +
		clusterLocation(p) + `} --project ${var.project_id}`
	if p.Cluster.DNSEndpoint {
		credentials += " --dns-endpoint"
	}
	credentials += `"`
	writeOutput(b, "get_credentials", "Command that points kubectl at the cluster.", credentials)
	if p.OwnsCluster() {
		writeOutput(b, "network", "Name of the VPC.", "module.network.name")
	}
	writeOutput(b, "node_service_account", "Service account of the nodes.", "var.node_account")
	writeOutput(b, "workload_pool", "Workload Identity pool of the cluster.",
		workloadPool(p))
	if len(p.OwnTeams()) > 0 {
		writeOutput(b, "team_principals", "IAM principal of each team's jobs. Grant roles to this member.",
			"local.team_members")
	}
	if p.HasBuckets() {
		writeOutput(b, "team_buckets", "Bucket of each team that has one.",
			"{ for name, bucket in google_storage_bucket.team : name => bucket.url }")
	}
	if p.Monitoring.TensorBoard != "" {
		writeOutput(b, "tensorboard", "Resource name of the TensorBoard.", "google_vertex_ai_tensorboard.main.name")
	}
}
