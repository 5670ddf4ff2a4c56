package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// credentialsCommand returns the command that connects kubectl to the cluster.
func credentialsCommand(p *ir.Platform) string {
	location := "--region=" + p.Cluster.Location
	if !p.OwnsCluster() { // its control plane can be in a zone
		location = "--location=" + p.Cluster.Location
	}
	command := []string{"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, location,
		"--project=" + p.Project}
	if p.Cluster.DNSEndpoint {
		command = append(command, "--dns-endpoint")
	}
	return shellCommand(command...)
}

// explainSteps explains how to build the platform by hand.
func explainSteps(d *document, p *ir.Platform) {
	d.Heading(2, stepsHeading)
	tools := words.And(neededPrograms(p)) + ". "
	if p.Delivery.InfrastructureManager {
		tools += "Infrastructure Manager runs Terraform as the build's account. You need `roles/config.admin`, and " +
			"`roles/container.admin` for `kubectl`."
	} else {
		tools += "`gcloud auth application-default login` gives Terraform its credentials. Terraform and " +
			"`kubectl` act as you, so you also need the " + linkHere(buildRightsHeading) + "."
	}
	d.Para("These commands do the same as the build. Run them in this folder. You need ", tools)
	d.Para("First prepare the project. This command does everything that `./create-platform.sh` does except the build:")
	d.Code("sh", "./create-platform.sh --prepare")
	explainTerraform(d, p)
	actAs(d, p)
	d.Para("Connect `kubectl` to the cluster:")
	d.Code("sh", credentialsCommand(p))
	if p.Delivery.GitOps.On() {
		explainSyncedSteps(d, p)
		return
	}
	// The commands have the field managers of the build, so that the commands and the
	// build can follow each other.
	schedulerOf(p).install(d, p)
	if p.InstallsJobSet() {
		d.Para("Install JobSet, and wait until it runs:")
		d.Code("sh", append(jobSetCommands(p),
			shellCommand("kubectl", "rollout", "status", "-n", ir.JobSetNamespace,
				"deployment/"+p.JobSetController()))...)
	}
	if slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return !c.BuiltIn }) {
		moved, does := markup(""), markup("this")
		if of := schedulerOf(p).moved; of != nil {
			moved, does = of(p), "both"
		}
		d.Para(
			"If a tier's priority or preemption has changed, first delete its PriorityClass, because it is immutable: ",
			"`kubectl delete priorityclasses ", classPlaceholder(p), "`. Existing pods keep their priority. ", moved,
			"The build does ", does, " automatically.")
	}
	compareByHand(d, p)
	d.Para(schedulerOf(p).apply)
	d.Code("sh", "kubectl apply --server-side --force-conflicts --field-manager=batchwright -k kubernetes")
	tensorBoard(d, p)
	if p.Monitoring.Grafana {
		d.Para("Put the dashboards into namespace ", codeSpan(p.Monitoring.GrafanaNamespace),
			", where a Grafana in the cluster looks for them:")
		d.Code("sh",
			shellCommand("kubectl", "create", "namespace", p.Monitoring.GrafanaNamespace, "--dry-run=client", "-o",
				"yaml")+
				" | kubectl apply --server-side --field-manager=batchwright -f -",
			"kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards")
	}
}

// compareByHand shows how to find objects of others that have names of the folder, as the
// step cluster of the build does.
func compareByHand(d *document, p *ir.Platform) {
	if p.OwnsCluster() {
		return
	}
	d.Para("The step `cluster` of the build does not run here, and the commands below overwrite objects of others. ",
		"First list the objects of this folder that exist already. An object without the label ",
		codeSpan(ir.LabelPartOf+": "+p.Name), " belongs to others: see ", linkTo(readmePage, othersHeading), ".")
	d.Code("sh", listExisting...)
}

// listExisting are the commands that list the objects of the folder that exist already.
var listExisting = []string{
	"kubectl get -k kubernetes --ignore-not-found --show-labels",
	"kubectl get -k dashboards --ignore-not-found --show-labels",
}

// neededPrograms returns the programs for the commands of explainSteps. With a GitOps
// tool, nobody installs the scheduler by hand.
func neededPrograms(p *ir.Platform) (programs []markup) {
	if !p.Delivery.InfrastructureManager {
		programs = append(programs, "Terraform 1.9 or later")
	}
	if tools := schedulerOf(p).tools; tools != "" && !p.Delivery.GitOps.On() {
		programs = append(programs, tools)
	}
	return append(programs, "`kubectl` with `gke-gcloud-auth-plugin`")
}

// kueueInstall shows how to install Kueue by hand.
func kueueInstall(d *document, p *ir.Platform) {
	if !p.InstallsKueue() {
		return
	}
	const kueue = "deployment/kueue-controller-manager"
	d.Para("Install Kueue, then the platform's configuration of Kueue. The release overwrites this configuration with ",
		"its own, and Kueue reads the configuration only when it starts: always run all commands, in this order. ",
		fileLink("kubernetes/"+ir.KueueWebhooks+"/"),
		" limits Kueue's webhooks to the teams' namespaces. With the webhooks of ",
		"the release, nobody in the cluster could create a pod while Kueue is down.")
	d.Code("sh",
		"mkdir -p kueue-release",
		downloadCommand(p, p.Versions.KueueRelease(), "kueue-release/manifests.yaml"),
		shellCommand("printf", "resources: [manifests.yaml]\\ncomponents: [../kubernetes/"+ir.KueueWebhooks+"]\\n"+
			renamedImage(p, p.Versions.KueueRelease()))+" >kueue-release/kustomization.yaml",
		ifIntact("kueue-release/manifests.yaml", p.Versions.SHA256.Kueue,
			"kubectl kustomize kueue-release | kubectl apply --server-side --force-conflicts "+
				"--field-manager=kueue-release -f -"),
		"rm -r kueue-release",
		"kubectl apply --server-side --force-conflicts --field-manager=kueue-release -f "+
			"kubernetes/system/kueue-configuration.yaml",
		shellCommand("kubectl", "rollout", "restart", "-n", ir.KueueNamespace, kueue),
		shellCommand("kubectl", "rollout", "status", "-n", ir.KueueNamespace, kueue))
}

// downloadTool returns the program that downloads the manifests of Kueue and JobSet, if
// the platform installs one of them.
func downloadTool(p *ir.Platform) markup {
	if !p.InstallsKueue() && !p.InstallsJobSet() {
		return ""
	}
	return "`curl`"
}

// jobSetCommands returns the commands that install JobSet. If the nodes pull its image
// from a mirror, Kustomize renames the image first.
func jobSetCommands(p *ir.Platform) []string {
	const apply = "kubectl apply --server-side --force-conflicts --field-manager=jobset-release -f -"
	release := p.Versions.JobSetRelease()
	if p.Images.Mirror == "" {
		return []string{
			downloadCommand(p, release, "jobset-release.yaml"),
			ifIntact("jobset-release.yaml", release.SHA256, apply+" <jobset-release.yaml"),
			"rm jobset-release.yaml",
		}
	}
	return []string{
		"mkdir -p jobset-release",
		downloadCommand(p, release, "jobset-release/manifests.yaml"),
		shellCommand("printf", "resources: [manifests.yaml]\\n"+renamedImage(p, release)) +
			" >jobset-release/kustomization.yaml",
		ifIntact("jobset-release/manifests.yaml", release.SHA256, "kubectl kustomize jobset-release | "+apply),
		"rm -r jobset-release",
	}
}

// renamedImage returns the lines of a Kustomization that replace the image of a release by
// its copy, as an argument of printf. It returns "" without a mirror.
func renamedImage(p *ir.Platform, release ir.Release) string {
	if p.Images.Mirror == "" {
		return ""
	}
	return `images: [{name: ` + release.Image + `, newName: ` + p.Images.Copy(release.Image) + `}]\n`
}

// downloadCommand returns the command that downloads the manifest of a release to a file.
func downloadCommand(p *ir.Platform, release ir.Release, file string) string {
	if p.Images.Manifests != "" {
		return shellCommand("gcloud", "storage", "cp", p.Images.Source(release), file, "--project="+p.Project)
	}
	return shellCommand("curl", "--fail", "--location", "--output", file, release.Manifest)
}

// ifIntact returns a command that runs only if a file has the given SHA-256. If none
// is given, it returns the command alone.
func ifIntact(file, sha256, run string) string {
	if sha256 == "" {
		return run
	}
	return shellCommand("echo", sha256+"  "+file) + " | sha256sum --check && " + run
}
