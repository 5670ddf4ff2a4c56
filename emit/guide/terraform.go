package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// holds says what the platform's own bucket is for.
func holds(p *ir.Platform) markup {
	if p.Delivery.InfrastructureManager {
		return "the bucket of the builds' sources"
	}
	return "the versioned bucket of the Terraform state"
}

// infrastructure says how Terraform is run by hand.
func infrastructure(d *document, p *ir.Platform) {
	if !p.Delivery.InfrastructureManager {
		d.Para("Make the network, the cluster, its node pools, the identities, the dashboards and the alerts:")
		d.Code("sh",
			"terraform -chdir=terraform init",
			"terraform -chdir=terraform plan -out=platform.tfplan",
			"terraform -chdir=terraform apply platform.tfplan")
		return
	}
	account := "--service-account=projects/" + p.Project + "/serviceAccounts/" + p.Delivery.Account.Email(p.Project)
	const source, inputs = "--local-source=terraform", "--inputs-file=terraform/terraform.tfvars"
	version := "--tf-version-constraint==" + ir.InfrastructureManagerTerraform
	preview := "projects/" + p.Project + "/locations/" + p.Delivery.Region + "/previews/" + p.Name
	d.Para("Infrastructure Manager makes the network, the cluster, its node pools, the identities, the dashboards "+
		"and the alerts, with Terraform ",
		text(ir.InfrastructureManagerTerraform), ", and keeps the state. Once there is a deployment, a preview says "+
			"what it would change; exported, it is a plan in JSON:")
	d.Code("sh",
		command("gcloud", "infra-manager", "previews", "create", preview, "--deployment="+p.Deployment(), account, source, inputs),
		command("gcloud", "infra-manager", "previews", "export", preview),
		command("gcloud", "infra-manager", "previews", "delete", preview, "--quiet"))
	d.Para("Let it make, or change, everything:")
	d.Code("sh", command("gcloud", "infra-manager", "deployments", "apply", p.Deployment(), account, version, source, inputs))
}

// substitutions says what a build can be given.
func substitutions(d *document, p *ir.Platform) {
	others := markup("The builds' substitutions")
	if !p.Delivery.InfrastructureManager {
		others = "Their other substitutions"
		d.Para("The state can be in another bucket, which the build's account may administer. Prepare the project as "+
			"below, then give the bucket to this build and, when the time comes, to ",
			file("cloudbuild/destroy.yaml"), ":")
		d.Code("sh", command("gcloud", "builds", "submit", ".", "--project="+p.Project, "--region="+p.Delivery.Region,
			"--config=cloudbuild/provision.yaml",
			"--gcs-source-staging-dir=gs://"+p.Delivery.StateBucket+"/"+p.SourcePrefix(),
			"--substitutions=_TF_STATE_BUCKET=BUCKET,_TF_STATE_PREFIX=PREFIX"))
	}
	d.Para(others, ", such as `_CLUSTER_NAME` and `_REGION`, say what this folder was compiled for: with another "+
		"value a build stops ",
		"before it changes anything, and names the field of the blueprint.")
}

// tensorBoard says how jobs get to know the TensorBoard.
func tensorBoard(d *document, p *ir.Platform) {
	if p.Monitoring.TensorBoard == "" || len(p.Teams) == 0 {
		return
	}
	d.Para("Google Cloud numbers the TensorBoard, so that its name is not in this folder. Jobs take it from a "+
		"ConfigMap in their team's namespace. Look it up, ",
		"and write it into each:")
	apply := " | kubectl apply --server-side --force-conflicts --field-manager=batchwright -f -"
	write := func(namespace string) string {
		return command("kubectl", "create", "configmap", ir.TensorBoardConfig, "-n", namespace) + " --from-literal=" +
			ir.TensorBoardKey + "=NAME --dry-run=client -o yaml" + apply
	}
	lines := []string{command("gcloud", "ai", "tensorboards", "list", "--project="+p.Project,
		"--region="+p.Monitoring.TensorBoard,
		"--filter=displayName="+strconv.Quote(p.Cluster.Name), "--format=value(name)")}
	for _, t := range p.Teams {
		if len(p.Teams) > fewTeams {
			lines = append(lines, write("NAMESPACE"))
			break
		}
		lines = append(lines, write(t.Namespace))
	}
	d.Code("sh", lines...)
}

// beside says what is peculiar to workloads on the network of their nodes, and
// to those with pods beside their own.
func beside(d *document, p *ir.Platform) {
	var hosts, accompanied []string
	for _, w := range p.Workloads {
		if w.HostNetwork {
			hosts = with(hosts, w.Template)
		}
		if w.Auxiliaries != nil {
			accompanied = with(accompanied, w.Template)
		}
	}
	if hosts != nil {
		d.Para("Pods of ", codes(hosts), " have the network of their nodes. To Google Cloud they are the nodes, ", code(p.NodeAccount.Email(p.Project)),
			", and not their team: they can neither read nor write its bucket.")
	}
	if accompanied != nil {
		d.Para("Beside the pods of ", codes(accompanied), " others run. They are admitted with them, are stopped "+
			"when those have succeeded, and get half a minute to end.")
	}
}
