package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// credentialsCommand returns the command that connects kubectl to the cluster.
func credentialsCommand(p *ir.Platform) string {
	words := []string{"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, "--region=" + p.Region,
		"--project=" + p.Project}
	if p.Cluster.DNSEndpoint {
		words = append(words, "--dns-endpoint")
	}
	return shellCommand(words...)
}

// explainSteps explains how to build the platform by hand.
func explainSteps(d *document, p *ir.Platform) {
	d.Heading(2, stepsHeading)
	tools := schedulerOf(p).tools + " and `kubectl` with `gke-gcloud-auth-plugin`. "
	if p.Delivery.InfrastructureManager {
		tools += "Infrastructure Manager runs Terraform as the build's account. You need `roles/config.admin`, and " +
			"`roles/container.admin` for `kubectl`."
	} else {
		tools = "Terraform 1.9 or later, " + tools + "`gcloud auth application-default login` gives Terraform its " +
			"credentials. Terraform and `kubectl` act as you, so you also need the " +
			"" + linkHere(buildRightsHeading) + "."
	}
	d.Para("These commands do the same as the build. Run them in this folder. You need ", tools)
	d.Para("First prepare the project. This command does everything that `./create-platform.sh` does except the build:")
	d.Code("sh", "./create-platform.sh --prepare")
	explainTerraform(d, p)
	actAs(d, p)
	d.Para("Connect `kubectl` to the cluster:")
	d.Code("sh", credentialsCommand(p))
	const jobset = "deployment/jobset-controller-manager"
	// The commands have the field managers of the build, so that the commands and the
	// build can follow each other.
	schedulerOf(p).install(d, p)
	d.Para("Install JobSet, and wait until it runs:")
	d.Code("sh",
		downloadCommand(p.Versions.JobSetManifest(), "jobset-release.yaml"),
		ifIntact("jobset-release.yaml", p.Versions.SHA256.JobSet,
			"kubectl apply --server-side --force-conflicts --field-manager=jobset-release -f - <jobset-release.yaml"),
		"rm jobset-release.yaml",
		shellCommand("kubectl", "rollout", "status", "-n", ir.JobSetNamespace, jobset))
	if slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return !c.BuiltIn }) {
		moved, does := schedulerOf(p).moved, markup("this")
		if moved != "" {
			does = "both"
		}
		d.Para(
			"If a tier's priority or preemption has changed, first delete its PriorityClass, because it is immutable: ",
			"`kubectl delete priorityclasses ", classPlaceholder(p), "`. Existing pods keep their priority. ", moved,
			"The build does ", does, " automatically.")
	}
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

// kueueInstall shows how to install Kueue by hand.
func kueueInstall(d *document, p *ir.Platform) {
	const kueue = "deployment/kueue-controller-manager"
	d.Para("Install Kueue, then the platform's configuration of Kueue. The release overwrites this configuration with ",
		"its own, and Kueue reads the configuration only when it starts: always run all commands, in this order. ",
		fileLink("kubernetes/"+ir.KueueWebhooks+"/"),
		" limits Kueue's webhooks to the teams' namespaces. With the webhooks of ",
		"the release, nobody in the cluster could create a pod while Kueue is down.")
	d.Code("sh",
		"mkdir -p kueue-release",
		downloadCommand(p.Versions.KueueManifest(), "kueue-release/manifests.yaml"),
		shellCommand("printf", "resources: [manifests.yaml]\\ncomponents: [../kubernetes/"+ir.KueueWebhooks+"]\\n")+" "+
			">kueue-release/kustomization.yaml",
		ifIntact("kueue-release/manifests.yaml", p.Versions.SHA256.Kueue,
			"kubectl kustomize kueue-release | kubectl apply --server-side --force-conflicts "+
				"--field-manager=kueue-release -f -"),
		"rm -r kueue-release",
		"kubectl apply --server-side --force-conflicts --field-manager=kueue-release -f "+
			"kubernetes/system/kueue-configuration.yaml",
		shellCommand("kubectl", "rollout", "restart", "-n", ir.KueueNamespace, kueue),
		shellCommand("kubectl", "rollout", "status", "-n", ir.KueueNamespace, kueue))
}

// downloadCommand returns the command that downloads a release's manifest to a file.
func downloadCommand(manifest, file string) string {
	return shellCommand("curl", "--fail", "--location", "--output", file, manifest)
}

// ifIntact returns a command that runs only if a file has the given SHA-256. If none
// is given, it returns the command alone.
func ifIntact(file, sha256, run string) string {
	if sha256 == "" {
		return run
	}
	return shellCommand("echo", sha256+"  "+file) + " | sha256sum --check && " + run
}
