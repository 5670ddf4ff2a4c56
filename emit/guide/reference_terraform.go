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

// initCommand returns the command that initializes Terraform without a change of the lock
// file.
func initCommand(p *ir.Platform) string {
	if len(p.Versions.SHA256.GoogleProvider) > 0 {
		return "terraform -chdir=terraform init -lockfile=readonly"
	}
	return "terraform -chdir=terraform init"
}

// explainTerraform shows how to run Terraform by hand.
func explainTerraform(d *document, p *ir.Platform) {
	if !p.Delivery.InfrastructureManager {
		d.Para("Create ", createdByTerraform(p), ":")
		d.Code("sh",
			initCommand(p),
			"terraform -chdir=terraform plan -out=platform.tfplan",
			"terraform -chdir=terraform apply platform.tfplan")
		return
	}
	account := "--service-account=projects/" + p.Project + "/serviceAccounts/" + p.Delivery.Account.Email(p.Project)
	const source, inputs = "--local-source=terraform", "--inputs-file=terraform/terraform.tfvars"
	version := "--tf-version-constraint==" + ir.InfrastructureManagerTerraform
	preview := "projects/" + p.Project + "/locations/" + p.Delivery.Region + "/previews/" + p.Name
	d.Para("Infrastructure Manager runs Terraform ", escapeText(ir.InfrastructureManagerTerraform),
		" and keeps the state. It creates ", createdByTerraform(p), ". If there is already a deployment, a preview ",
		"shows what would change. The exported preview is a plan in JSON:")
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
	if !p.Delivery.InfrastructureManager {
		d.Para("To keep the Terraform state in a bucket of your own, set `delivery.stateBucket` in the blueprint, ",
			"and compile. If the blueprint cannot have the bucket or the prefix, use the substitutions.")
		d.Warning("Use the same substitutions for every later build, and to destroy the platform. ",
			"`./create-platform.sh` and `./destroy-platform.sh` use the bucket of the blueprint: they would begin ",
			"with an empty state.")
		d.Para("First prepare the project, and let the build's account administer the bucket:")
		d.Code("sh", "./create-platform.sh --prepare",
			shellCommand("gcloud", "storage", "buckets", "add-iam-policy-binding", "gs://BUCKET",
				"--member=serviceAccount:"+p.Delivery.Account.Email(p.Project), "--role=roles/storage.admin",
				unconditional))
		d.Para("Then run this command instead of ", codeSpan("./create-platform.sh"),
			". Replace ", codeSpan("BUCKET"), " and ", codeSpan("PREFIX"), ":")
		d.Code("sh", shellCommand("gcloud", "builds", "submit", ".", "--project="+p.Project,
			"--region="+p.Delivery.Region, "--config=cloudbuild/provision.yaml",
			"--gcs-source-staging-dir=gs://"+p.Delivery.StateBucket+"/"+p.SourcePrefix(),
			"--substitutions="+ir.StateBucketSubstitution+"=BUCKET,"+ir.StatePrefixSubstitution+"=PREFIX"))
		d.Para("To destroy the platform, run the same command with ", codeSpan("--config=cloudbuild/destroy.yaml"), ".")
		if len(p.OwnAccounts()) > 0 {
			d.Para("This command does not let the teams' jobs act as the teams' Google service accounts. ",
				"After the build, run the commands that ", codeSpan("./create-platform.sh --prepare"),
				" has printed for this (", linkHere(stepsHeading), " has them too).")
		}
	}
	d.Para("Both builds take these substitutions. The folder is compiled for the accepted values. If you submit a "+
		"build with another value, it stops before it changes anything, and names the field of the blueprint. To ",
		"change a value, set the field, compile, and submit the build again. A version may begin with ",
		codeSpan("v"), ".")
	var rows [][]markup
	if !p.Delivery.InfrastructureManager {
		rows = append(rows,
			[]markup{codeSpan(ir.StateBucketSubstitution), "any bucket",
				codeSpan("delivery.stateBucket") + " has the default"},
			[]markup{codeSpan(ir.StatePrefixSubstitution), "any prefix", "none"})
	}
	for _, s := range p.BuildSettings() {
		accepted := markup("none")
		if len(s.Values) > 0 {
			accepted = firstNames(s.Values)
		}
		rows = append(rows, []markup{codeSpan(s.Substitution), accepted, codeSpan(s.Field)})
	}
	d.Table([]markup{"Substitution", "Accepted values", "Field of the blueprint"}, rows)
	if p.AnyCapacity(ir.Capacity.HasTPUs) {
		d.Para("The names are the names of Google's guide ",
			"[Running TPU training workloads on GKE](https://googlecloudplatform.github.io/",
			"applied-ai-engineering-samples/ai-infrastructure/tpu-training-on-gke/). ", namedLikePlatform(p),
			"`_ARTIFACT_REPOSITORY_BUCKET_NAME` is a bucket of a team: ",
			"it is named after the project, the platform and the team.")
		// Source: env_setup/build.sh and terraform/variables.tf of the guide, in which no
		// account has a role of Cloud Trace.
		d.Para("The guide also enables Cloud Trace, but nothing in it writes traces. This folder does not enable it. ",
			"If your programs write traces, run the command, and give the team `roles/cloudtrace.agent` with ",
			"`teams.TEAM.roles` in the blueprint:")
		d.Code("sh", shellCommand("gcloud", "services", "enable", "cloudtrace.googleapis.com", "--project="+p.Project))
	}
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
		"--filter=displayName="+strconv.Quote(p.Name), "--format=value(name)") + ")"}
	if len(p.Teams) > fewTeams {
		lines = append(lines, "NAMESPACE="+words.ShellArgument(p.Teams[0].Namespace), write(`"$NAMESPACE"`))
	} else {
		for _, t := range p.Teams {
			lines = append(lines, write(words.ShellArgument(t.Namespace)))
		}
	}
	d.Code("sh", lines...)
}

// namedLikePlatform says what has the name of the platform.
func namedLikePlatform(p *ir.Platform) markup {
	switch {
	case !p.OwnsCluster():
		return ""
	case p.Network.Existing != nil:
		return "The cluster has the name of the platform. "
	}
	return "The network, the subnet and the cluster all have the name of the platform. "
}
