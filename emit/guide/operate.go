package guide

import (
	"cmp"
	"path"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// build says how the platform is built.
func build(d *document, p *ir.Platform) {
	d.Heading(2, "Build it")
	d.Para("One command, with the Google Cloud CLI signed in to project ", code(p.Project), ". It enables the services the platform needs, ",
		"makes the service account of the build (", code(p.Delivery.Account.Email(p.Project)), "), the bucket of the Terraform state (",
		code(p.Delivery.StateBucket), ") and the repository of the teams' images (", code(p.Delivery.Repository), "), and submits ",
		file("cloudbuild/provision.yaml"), ", which does the rest. It stops at the first error and can be run again at any time, also to apply a change.")
	d.Code("sh", "./create-platform.sh")
	if !p.Cluster.DNSEndpoint {
		d.Para("The control plane cannot be reached from outside its network: give both scripts a private worker pool inside it, `--worker-pool=POOL`, ",
			"and run `kubectl` inside it too.")
	}

	d.Heading(3, "Step by step")
	d.Para("The same by hand, from this folder. Prepare the project: all of the above but the build.")
	d.Code("sh", "./create-platform.sh --prepare")
	d.Para("Make the network, the cluster, its node pools, the identities, the dashboards and the alerts:")
	d.Code("sh",
		"terraform -chdir=terraform init",
		"terraform -chdir=terraform plan -out=platform.tfplan",
		"terraform -chdir=terraform apply platform.tfplan")
	d.Para("Let `kubectl` speak to the cluster:")
	d.Code("sh", credentials(p))
	// The field managers are those of the build, so that either may follow the
	// other.
	d.Para("Install Kueue and JobSet, and wait until they run:")
	d.Code("sh",
		command("kubectl", "apply", "--server-side", "--force-conflicts", "--field-manager=kueue-release", "-f", release("kueue", p.Versions.Kueue)),
		command("kubectl", "apply", "--server-side", "--force-conflicts", "--field-manager=jobset-release", "-f", release("jobset", p.Versions.JobSet)),
		"kubectl rollout status -n kueue-system deployment/kueue-controller-manager",
		"kubectl rollout status -n jobset-system deployment/jobset-controller-manager")
	d.Para("Give Kueue its configuration, which it reads when it starts:")
	d.Code("sh",
		"kubectl apply --server-side --force-conflicts --field-manager=kueue-release -f kubernetes/system/kueue-configuration.yaml",
		"kubectl rollout restart -n kueue-system deployment/kueue-controller-manager",
		"kubectl rollout status -n kueue-system deployment/kueue-controller-manager")
	d.Para("Make the flavors, the cohorts and the teams with their queues:")
	d.Code("sh", "kubectl apply --server-side --force-conflicts --field-manager=batchwright -k kubernetes")
	if p.Monitoring.Grafana {
		d.Para("Put the dashboards where a Grafana of the cluster looks for them, in namespace ", code(p.Monitoring.GrafanaNamespace), ":")
		d.Code("sh", "kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards")
	}
}

// credentials is the command that lets kubectl speak to the cluster.
func credentials(p *ir.Platform) string {
	words := []string{"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, "--region=" + p.Region, "--project=" + p.Project}
	if p.Cluster.DNSEndpoint {
		words = append(words, "--dns-endpoint")
	}
	return command(words...)
}

// release is the address of the manifests of a release of Kueue or JobSet.
func release(project, version string) string {
	return "https://github.com/kubernetes-sigs/" + project + "/releases/download/v" + version + "/manifests.yaml"
}

// submit says how a developer gets a job to run.
func submit(d *document, p *ir.Platform) {
	d.Heading(2, "Submit a job")
	d.Para("Get credentials once:")
	d.Code("sh", credentials(p))
	if len(p.Workloads) > 0 {
		w := p.Workloads[0]
		folder := path.Join("workloads", w.Team)
		d.Para("Then submit what the blueprint has for your team: all of it, or one by its name.")
		d.Code("sh",
			command("kubectl", "apply", "-k", folder),
			command("kubectl", "apply", "-f", path.Join(folder, w.Name+".yaml")))
		d.Para("A Job that has run is deleted before it is submitted anew: `kubectl delete` with the same arguments.")
		workloads(d, p)
	}
	if i := slices.IndexFunc(p.Teams, func(t ir.Team) bool { return len(t.Queues) > 0 }); i >= 0 {
		q := p.Teams[i].Queues[0]
		d.Para("Any other Job or JobSet names its LocalQueue in the label ", code("kueue.x-k8s.io/queue-name: "+q.LocalQueue),
			" and its tier in ", code("priorityClassName: "+q.Tier), ", requests cpu, memory and accelerators, and runs as its team's service account, such as ",
			code(p.Teams[i].KubeAccount), ". A team's namespace refuses jobs without a queue.")
	}
}

// workloads shows what the templates of the blueprint submit, by name.
func workloads(d *document, p *ir.Platform) {
	type template struct {
		ir.Workload
		objects int
	}
	var templates []template
	for _, w := range p.Workloads {
		i, found := slices.BinarySearchFunc(templates, w.Template, func(t template, name string) int { return cmp.Compare(t.Template, name) })
		if !found {
			templates = slices.Insert(templates, i, template{w, 0})
		}
		templates[i].objects++
	}
	var rows [][]markup
	for _, t := range templates {
		var requests []string
		for _, a := range t.Requests {
			requests = append(requests, a.Quantity.String()+" "+a.Resource)
		}
		rows = append(rows, []markup{
			code(t.Template), text(string(t.Kind)), code(t.PriorityClass), digits(t.objects), digits(t.Pods), codes(requests), code(t.Image),
		})
	}
	d.Table([]markup{"Workload", "Kind", "Tier", "In all teams", "Pods", "Each pod requests", "Image"}, rows)
}

// look says how to see what goes on.
func look(d *document, p *ir.Platform) {
	d.Heading(2, "Look at it")
	rows := [][]markup{
		{code("kubectl get clusterqueues"), "every queue: workloads pending and admitted"},
		{code("kubectl get resourceflavors"), "the capacities, as Kueue knows them"},
		{code("kubectl get nodes -L cloud.google.com/gke-nodepool"), "the nodes that exist now, by node pool"},
	}
	if len(p.Teams) > 0 {
		ns := p.Teams[0].Namespace
		rows = append(rows,
			[]markup{code(command("kubectl", "get", "localqueues", "-n", ns)), "a team's queues"},
			[]markup{code(command("kubectl", "get", "workloads", "-n", ns)), "a team's jobs, and in which queue they wait or run"},
			[]markup{code(command("kubectl", "describe", "workloads", "-n", ns)), "why a job waits"},
		)
	}
	d.Table([]markup{"Command", "Shows"}, rows)
	d.Para("Dashboards for the administrator and for the teams are in ", console("Cloud Monitoring", "monitoring/dashboards", p.Project), ", from ",
		file("dashboards/cloud-monitoring/"), ".", grafana(p))
	var alerts [][]markup
	for _, a := range p.Monitoring.Alerts {
		alerts = append(alerts, []markup{code(a.Name), text(a.Severity), text(a.Summary)})
	}
	if len(alerts) > 0 {
		d.Para("These alerts are policies of Cloud Monitoring; ", file("dashboards/alert-rules.yaml"), " has them for a Prometheus server.")
	}
	d.Table([]markup{"Alert", "Severity", "Says"}, alerts)
}

func grafana(p *ir.Platform) markup {
	if !p.Monitoring.Grafana {
		return ""
	}
	return " The same for Grafana, in namespace " + code(p.Monitoring.GrafanaNamespace) + ", are in " + file("dashboards/grafana/") + "."
}

// undo says how the platform is taken down, and what is left.
func undo(d *document, p *ir.Platform) {
	d.Heading(2, "Undo it")
	d.Code("sh", "./destroy-platform.sh")
	d.Para("It asks first, then submits ", file("cloudbuild/destroy.yaml"), ": the queues stop, the teams' namespaces go with all jobs in them, ",
		"the cluster's deletion protection is switched off, and what Terraform made is deleted.", buckets(p), " What stays:")
	d.List(
		"the bucket of the Terraform state, "+code(p.Delivery.StateBucket)+", with all its versions",
		"the repository of images, "+code(p.Delivery.Repository),
		"the service account of the build, "+code(p.Delivery.Account.Email(p.Project))+", and the enabled services",
		"logs and metrics, until their retention ends")
	d.Para("The script prints the commands that remove the rest.")
}

// buckets says what becomes of the teams' buckets.
func buckets(p *ir.Platform) markup {
	if !slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Bucket != "" }) {
		return ""
	}
	return " It stops at a team's bucket that still holds objects: empty the bucket, or keep it, by taking it out of the state with `terraform state rm`."
}
