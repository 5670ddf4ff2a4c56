package terraform

import "github.com/batchwright/batchwright/compiler/ir"

// writeOutput writes an output of the root or of a module.
func writeOutput(b *body, name, description string, value constant) {
	o := b.block("output", name)
	o.setString("description", description)
	o.setExpr("value", value)
}

func writeOutputs(b *body, p *ir.Platform) {
	writeOutput(b, "cluster_name", "Name of the cluster.", "google_container_cluster.main.name")
	writeOutput(b, "cluster_location", "Region of the control plane.", "google_container_cluster.main.location")
	writeOutput(b, "cluster_endpoint", "DNS name of the control plane.",
		"google_container_cluster.main.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint")
	credentials := constant(`"gcloud container clusters get-credentials ${google_container_cluster.main.name} ` +
		`--region ${google_container_cluster.main.location} --project ${var.project_id}"`)
	if p.Cluster.DNSEndpoint {
		credentials = `"gcloud container clusters get-credentials ${google_container_cluster.main.name} --region ` +
			`${google_container_cluster.main.location} --project ${var.project_id} --dns-endpoint"`
	}
	writeOutput(b, "get_credentials", "Command that points kubectl at the cluster.", credentials)
	writeOutput(b, "network", "Name of the VPC.", "module.network.name")
	writeOutput(b, "node_service_account", "Service account of the nodes.", "var.node_account")
	writeOutput(b, "workload_pool", "Workload Identity pool of the cluster.",
		"google_container_cluster.main.workload_identity_config[0].workload_pool")
	if len(p.Teams) > 0 {
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
