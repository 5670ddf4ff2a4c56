package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// bucketPurpose describes the purpose of the platform's own bucket.
func bucketPurpose(p *ir.Platform) markup {
	if p.Delivery.InfrastructureManager {
		return "the bucket of the builds' sources"
	}
	return "the versioned bucket of the Terraform state"
}

// explainTerraform shows how to run Terraform by hand.
func explainTerraform(d *document, p *ir.Platform) {
	if !p.Delivery.InfrastructureManager {
		d.Para("Create the network, the cluster, its node pools, the identities, the dashboards and the alerts:")
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
	d.Para("Infrastructure Manager runs Terraform ", escapeText(ir.InfrastructureManagerTerraform),
		" and keeps the state. It creates the network, the cluster, its node pools, the identities, the dashboards "+
			"and ",
		"the alerts. If there is already a deployment, a preview shows what would change. The exported preview is a "+
			"plan ",
		"in JSON:")
	d.Code("sh",
		shellCommand("gcloud", "infra-manager", "previews", "create", preview, "--deployment="+p.Deployment(),
			account, source, inputs),
		shellCommand("gcloud", "infra-manager", "previews", "export", preview),
		shellCommand("gcloud", "infra-manager", "previews", "delete", preview, "--quiet"))
	d.Para("Create or change the deployment:")
	d.Code("sh", shellCommand("gcloud", "infra-manager", "deployments", "apply", p.Deployment(), account, version,
		source, inputs))
}

// explainSubstitutions explains the substitutions of a build.
func explainSubstitutions(d *document, p *ir.Platform) {
	d.Heading(2, substitutionsHeading)
	others := markup("The builds' substitutions")
	if !p.Delivery.InfrastructureManager {
		others = "The other substitutions of both builds"
		d.Para("Optional: keep the state in a bucket of your own, which the build's account may administer. First run ",
			codeSpan("./create-platform.sh --prepare"), ". Then run this command instead of ",
			codeSpan("./create-platform.sh"),
			", with the bucket and a prefix. Destroy the platform by the same command with ",
			fileLink("cloudbuild/destroy.yaml"), ":")
		d.Code("sh", shellCommand("gcloud", "builds", "submit", ".", "--project="+p.Project,
			"--region="+p.Delivery.Region, "--config=cloudbuild/provision.yaml",
			"--gcs-source-staging-dir=gs://"+p.Delivery.StateBucket+"/"+p.SourcePrefix(),
			"--substitutions=_TF_STATE_BUCKET=BUCKET,_TF_STATE_PREFIX=PREFIX"))
	}
	d.Para(others,
		", such as `_CLUSTER_NAME` and `_REGION`, hold the values for which this folder was compiled. If you ",
		"change one, the build stops before it changes anything, and names the field of the blueprint.")
}

// tensorBoard explains how jobs learn the name of the TensorBoard.
func tensorBoard(d *document, p *ir.Platform) {
	if p.Monitoring.TensorBoard == "" || len(p.Teams) == 0 {
		return
	}
	d.Para("Google Cloud gives the TensorBoard a number as its name, so the name is not in this folder. Jobs read the ",
		"name from a ConfigMap in the namespace of their team. Look up the name, and write it into the ConfigMap of "+
			"each namespace:")
	apply := " | kubectl apply --server-side --force-conflicts --field-manager=batchwright -f -"
	write := func(namespace string) string {
		return shellCommand("kubectl", "create", "configmap", ir.TensorBoardConfig) + " -n " + namespace +
			" --from-literal=" + ir.TensorBoardKey + `="$NAME" --dry-run=client -o yaml` + apply
	}
	lines := []string{"NAME=$(" + shellCommand("gcloud", "ai", "tensorboards", "list", "--project="+p.Project,
		"--region="+p.Monitoring.TensorBoard,
		"--filter=displayName="+strconv.Quote(p.Cluster.Name), "--format=value(name)") + ")"}
	if len(p.Teams) > fewTeams {
		lines = append(lines, "NAMESPACE="+words.ShellArgument(p.Teams[0].Namespace), write(`"$NAMESPACE"`))
	} else {
		for _, t := range p.Teams {
			lines = append(lines, write(words.ShellArgument(t.Namespace)))
		}
	}
	d.Code("sh", lines...)
}
