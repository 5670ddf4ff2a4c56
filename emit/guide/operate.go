package guide

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// podsReadyTimeout says ir.PodsReadyMinutes in words.
func podsReadyTimeout() markup { return markup(strconv.Itoa(ir.PodsReadyMinutes) + " minutes") }

// build says how the platform is built.
func build(d *document, p *ir.Platform) {
	d.Heading(2, "Build it")
	groups(d, p)
	d.Para("One command, with the Google Cloud CLI signed in to project ", code(p.Project),
		". It enables the services the platform needs, ",
		"makes the service accounts of ", accountOwners(p), ", ", holds(p), " (",
		code(p.Delivery.StateBucket), ") and the repository of the teams' images (", code(p.Delivery.Repository),
		"), and submits ",
		file("cloudbuild/provision.yaml"), ", which does the rest. It stops at the first error and can be run again "+
			"at any time, also to apply a change.")
	d.Code("sh", "./create-platform.sh")
	interrupted(d, p)
	if v := p.Cluster.MinVersion; v != "" {
		d.Para("A new cluster starts with GKE ", text(v), ", and release channel ", text(p.Cluster.ReleaseChannel),
			" upgrades it from there. A higher `minVersion` upgrades the control plane of a standing cluster at the "+
				"next build; ",
			"a lower one changes nothing.")
	}
	demanded(d, p)
	logged(d, p)
	upgrades(d, p)
	buildRights(d, p)
	substitutions(d, p)
	if kept := schedulerOf(p).kept; kept != "" {
		d.Para(kept)
	}
	if !p.Cluster.DNSEndpoint {
		d.Para("The control plane cannot be reached from outside its network: give both scripts a private worker "+
			"pool inside it, `--worker-pool=POOL`, ",
			"and run `kubectl` inside it too.")
	}

	d.Heading(3, "Step by step")
	tools := "Terraform 1.9 or later, which finds its credentials after `gcloud auth application-default login`, " +
		schedulerOf(p).tools + ","
	if p.Delivery.InfrastructureManager {
		tools = schedulerOf(p).tools
	}
	d.Para("The same by hand, from this folder. It takes ", tools,
		" and `kubectl` with `gke-gcloud-auth-plugin`. Prepare the project: all of the above but the build.")
	d.Code("sh", "./create-platform.sh --prepare")
	infrastructure(d, p)
	actAs(d, p)
	d.Para("Let `kubectl` speak to the cluster:")
	d.Code("sh", credentials(p))
	const jobset = "deployment/jobset-controller-manager"
	// The field managers are those of the build, so that either may follow the
	// other.
	schedulerOf(p).install(d, p)
	d.Para("Install JobSet, and wait until it runs:")
	d.Code("sh",
		download(p.Versions.JobSetManifest(), "jobset-release.yaml"),
		ifIntact("jobset-release.yaml", p.Versions.SHA256.JobSet,
			"kubectl apply --server-side --force-conflicts --field-manager=jobset-release -f - <jobset-release.yaml"),
		"rm jobset-release.yaml",
		command("kubectl", "rollout", "status", "-n", ir.JobSetNamespace, jobset))
	if slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return !c.BuiltIn }) {
		moved, does := schedulerOf(p).moved, markup("this")
		if moved != "" {
			does = "both"
		}
		d.Para("Where a tier's priority or preemption has changed, first delete its PriorityClass, for it cannot be "+
			"changed: `kubectl delete priorityclasses ", class(p), "`. ",
			"Pods that exist keep the priority they have. ", moved, "The build does ", does, " by itself.")
	}
	d.Para(schedulerOf(p).apply)
	d.Code("sh", "kubectl apply --server-side --force-conflicts --field-manager=batchwright -k kubernetes")
	tensorBoard(d, p)
	if p.Monitoring.Grafana {
		d.Para("Put the dashboards where a Grafana of the cluster looks for them, in namespace ", code(p.Monitoring.GrafanaNamespace), ":")
		d.Code("sh",
			command("kubectl", "create", "namespace", p.Monitoring.GrafanaNamespace, "--dry-run=client", "-o", "yaml")+
				" | kubectl apply --server-side --field-manager=batchwright -f -",
			"kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards")
	}
	gcluster(d, p)
}

// interrupted says what becomes of a build that did not end.
func interrupted(d *document, p *ir.Platform) {
	m := markup("A build waits until the older builds of the platform have ended, and repairs what one that was " +
		"cancelled has left behind. ")
	if p.Delivery.InfrastructureManager {
		m += "What Infrastructure Manager has begun goes on when the build is cancelled, and the next build waits " +
			"for it."
	} else {
		m += "If its log names somebody else who holds the lock of the Terraform state, and nobody works on it any " +
			"more, run the command that the log prints after it: the command removes the lock."
	}
	d.Para(m)
}

// upgrades says which upgrades GKE holds back.
func upgrades(d *document, p *ir.Platform) {
	var held []markup
	for _, e := range p.Cluster.Maintenance.Exclusions {
		held = append(held, "exclusion "+code(e.Name)+": "+text(e.Scope)+" from "+text(e.Start)+" to "+text(e.End))
	}
	for _, c := range p.Capacities {
		if c.KeepsVersion {
			held = append(held, "nodes of "+code(c.Name)+": their version stays until its support ends")
		}
	}
	if held == nil {
		return
	}
	m := p.Cluster.Maintenance
	d.Para("GKE upgrades the cluster and its nodes in the window on ", text(strings.Join(m.Days, ", ")),
		" from ", text(m.Start), " UTC, except:")
	d.List(held...)
}

// kueueInstall says how Kueue is installed by hand.
func kueueInstall(d *document, p *ir.Platform) {
	const kueue = "deployment/kueue-controller-manager"
	d.Para("Install Kueue and, after it, the platform's configuration of Kueue. The release brings a configuration "+
		"of its own, so keep the order and leave ",
		"nothing out when you repeat this; Kueue reads its configuration only when it starts. ",
		file("kubernetes/"+ir.KueueWebhooks+"/"),
		" lets Kueue's webhooks see the teams' namespaces alone: as the release has them, nobody in the cluster "+
			"could create a pod while Kueue is down.")
	d.Code("sh",
		"mkdir -p kueue-release",
		download(p.Versions.KueueManifest(), "kueue-release/manifests.yaml"),
		command("printf", "resources: [manifests.yaml]\\ncomponents: [../kubernetes/"+ir.KueueWebhooks+"]\\n")+" "+
			">kueue-release/kustomization.yaml",
		ifIntact("kueue-release/manifests.yaml", p.Versions.SHA256.Kueue,
			"kubectl kustomize kueue-release | kubectl apply --server-side --force-conflicts "+
				"--field-manager=kueue-release -f -"),
		"rm -r kueue-release",
		"kubectl apply --server-side --force-conflicts --field-manager=kueue-release -f "+
			"kubernetes/system/kueue-configuration.yaml",
		command("kubectl", "rollout", "restart", "-n", ir.KueueNamespace, kueue),
		command("kubectl", "rollout", "status", "-n", ir.KueueNamespace, kueue))
}

// download returns the command that downloads a release's manifest to a file.
func download(manifest, file string) string {
	return command("curl", "--fail", "--location", "--output", file, manifest)
}

// ifIntact returns a command that runs only if a file has a SHA-256, or without a
// SHA-256 the command alone.
func ifIntact(file, sha256, run string) string {
	if sha256 == "" {
		return run
	}
	return command("echo", sha256+"  "+file) + " | sha256sum --check && " + run
}

// groups names the Google groups that must be there.
func groups(d *document, p *ir.Platform) {
	if !p.HasGroups() {
		return
	}
	var names []string
	seen := map[string]bool{"": true} // several teams may share one
	for _, t := range p.Teams {
		if !seen[t.Group] {
			seen[t.Group] = true
			names = append(names, t.Group)
		}
	}
	items := []markup{"the group " + code(p.Cluster.SecurityGroup) + ", of which the teams' groups are members"}
	if len(names) > fewTeams {
		items = append(items, "the teams' groups, which "+file("terraform/terraform.tfvars")+" names: "+some(names))
	} else {
		for _, name := range names {
			items = append(items, "the group "+code(name))
		}
	}
	d.Para("These groups must exist first: Google Cloud refuses to grant a role to a Google group that does not " +
		"exist, and ignores a RoleBinding of one.")
	d.List(items...)
}

// credentials is the command that lets kubectl speak to the cluster.
func credentials(p *ir.Platform) string {
	words := []string{"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, "--region=" + p.Region,
		"--project=" + p.Project}
	if p.Cluster.DNSEndpoint {
		words = append(words, "--dns-endpoint")
	}
	return command(words...)
}

// submit says how a developer gets a job to run.
func submit(d *document, p *ir.Platform) {
	d.Heading(2, "Submit a job")
	who := markup("")
	if p.HasGroups() {
		who = ", as a member of your team's Google group, which must itself be a member of " +
			code(p.Cluster.SecurityGroup)
	}
	d.Para("Get credentials once", who, "; it takes `kubectl` with `gke-gcloud-auth-plugin`:")
	d.Code("sh", credentials(p))
	if len(p.Workloads) > 0 {
		w := p.Workloads[0]
		folder := path.Join("workloads", w.Team)
		one := []string{"kubectl", "apply", "--server-side"}
		if w.ConfigMap != "" {
			one = append(one, "-f", path.Join(folder, w.ConfigMap+".yaml"))
		}
		one = append(one, "-f", path.Join(folder, w.Name+".yaml"))
		d.Para("Then submit what the blueprint has for your team: all of it, or one by its name, with the files it " +
			"mounts.")
		d.Code("sh", command("kubectl", "apply", "--server-side", "-k", folder), command(one...))
		d.Para("A Job that has run is deleted before it is submitted anew: `kubectl delete` with the same arguments.")
		workloads(d, p)
		beside(d, p)
		secrets(d, p)
	}
	if i := slices.IndexFunc(p.Teams, func(t ir.Team) bool { return len(t.Queues) > 0 }); i >= 0 {
		schedulerOf(p).byHand(d, p, p.Teams[i])
	}
}

// kueueByHand says what a job of a team needs that is not of the blueprint.
func kueueByHand(d *document, p *ir.Platform, t ir.Team) {
	grouped := placementGroups(p)
	// Of the default tier if possible, but rather not of one with more to it.
	rank := func(q ir.Queue) int {
		n := 0
		if !slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool { return slices.Contains(grouped, f.Flavor) }) {
			n += 2
		}
		if slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Default && c.Tier == q.Tier }) {
			n++
		}
		return n
	}
	q := slices.MaxFunc(t.Queues, func(a, b ir.Queue) int { return cmp.Compare(rank(a), rank(b)) })
	d.Para("Any other Job or JobSet needs a queue, and what belongs to it. In tier ", code(q.Tier), " of ", code(t.Name), " "+
		"that is:")
	d.List(
		"on the object, the label "+code(p.QueueLabel()+": "+q.LocalQueue)+"; without a queue of its team a job "+
			"is refused",
		"in its pods, "+priorities(q)+"; another tier's is refused",
		"in its containers, requests of what quota is counted in: "+codes(q.Resources),
		actsAs(t))
	queued(d, p)
	slicesByHand(d, p)
	d.Para("Leave out `suspend`, node selectors and tolerations: Kueue starts the job when quota is free, and sends "+
		"its pods to the capacity it chose.", chosen(p))
	if len(grouped) > 0 {
		example := markup("")
		if i := slices.IndexFunc(p.Workloads, func(w ir.Workload) bool { return w.PlacementGroup != "" }); i >= 0 {
			w := p.Workloads[i]
			example = ", as in " + file(path.Join("workloads", w.Team, w.Name+".yaml"))
		}
		d.Para("On nodes auto-provisioned close together (", codes(grouped),
			") each job besides selects and tolerates a placement group of its own, by the key ",
			code(ir.LabelPlacementGroup), example, ".")
	}
	d.Para("A job whose pods are not all ready ", podsReadyTimeout(),
		" after its admission, as when nodes never come, is evicted and queued again.")
	cannot(d)
}

// priorities says which PriorityClass the jobs of a queue name.
func priorities(q ir.Queue) markup {
	var names []string
	for _, c := range q.Classes {
		names = append(names, "priorityClassName: "+c)
	}
	if len(names) < 2 {
		return codes(names)
	}
	return "one of " + codes(names) + ", of which the last is served first"
}

// chosen says how a job chooses, where a queue leads to node pools of several
// machine types. Kueue could send it to what GKE provisions by itself, whose
// flavors lack the label of node pools.
func chosen(p *ir.Platform) markup {
	capacities := map[string]ir.Capacity{}
	for _, c := range p.Capacities {
		capacities[c.Name] = c
	}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			pools, several := true, false
			for _, f := range q.Flavors {
				c := capacities[f.Flavor]
				pools = pools && !c.AutoProvisioned && !c.ComputeClass
				several = several || c.Machine.Type != capacities[q.Flavors[0].Flavor].Machine.Type
			}
			if pools && several {
				return " A job that is made for one capacity of its tier selects that one's nodes, by the node " +
					"labels that it has in " + file("kubernetes/resource-flavors.yaml") + ": Kueue then passes over " +
					"the others."
			}
		}
	}
	return ""
}

// class is what stands for a PriorityClass in commands.
func class(p *ir.Platform) markup {
	if manyClasses(p) {
		return "CLASS"
	}
	return "TIER"
}

// queued says what a job needs where all its nodes start at once. Source of when
// they are asked for again: Kueue v1beta2 API, ProvisioningRequestRetryStrategy,
// whose defaults the platform has.
func queued(d *document, p *ir.Platform) {
	var names []string
	for _, c := range p.Capacities {
		if c.Queued() {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		d.Para("In a queue that has ", codes(names), " the object also needs the annotation ", code(ir.AnnotationMaxRun), ": "+
			"for how many seconds, as a string, ",
			"it wants the nodes, which start all at once. They are the job's alone, even where its pods do not fill "+
				"them. When the time is over they go, ",
			"and Kueue deactivates a job that still runs. It asks again for nodes that cannot be had, after one, two "+
				"and four minutes, and then deactivates the job.")
	}
}

// slicesByHand says what a job needs that runs on TPU slices.
func slicesByHand(d *document, p *ir.Platform) {
	var shapes []string
	for _, c := range p.Capacities {
		if c.Sliced() {
			shapes = append(shapes, string(
				code(c.Name)+": "+countNoun(c.Machine.Slice.Hosts, "pod")+" of "+digits(c.Machine.AcceleratorCount)))
		}
	}
	if shapes == nil {
		return
	}
	d.Para("On TPU slices the object is a JobSet with the annotation `alpha.jobset.sigs.k8s.io/exclusive-topology: "+
		ir.LabelNodePool+"`: one Job for each slice, ",
		"and in it a pod for each of the slice's nodes, which requests all chips of the node (",
		markup(strings.Join(shapes, "; ")), ").")
}

// placementGroups names the capacities whose jobs name the group in which
// auto-provisioning places their nodes.
func placementGroups(p *ir.Platform) []string {
	var names []string
	for _, c := range p.Capacities {
		if c.AutoProvisioned && c.Compact {
			names = append(names, c.Name)
		}
	}
	return names
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
	tier := map[string]markup{} // by PriorityClass
	for _, c := range p.PriorityClasses {
		tier[c.Name] = code(c.Tier)
		if c.Name != c.Tier {
			tier[c.Name] += ": " + code(c.Name)
		}
	}
	var rows [][]markup
	for _, t := range templates {
		var requests []string
		for _, a := range t.Requests {
			requests = append(requests, ir.PrintQuantity(a.Resource, a.Quantity)+" "+a.Resource)
		}
		rows = append(rows, []markup{
			code(t.Template), text(string(t.Kind)), tier[t.PriorityClass], codes(t.Capacities), digits(t.objects), digits(t.Pods), codes(requests), code(t.Image),
		})
	}
	d.Table([]markup{"Workload", "Kind", "Tier", "Can run on", "In all teams", "Pods", "Each pod requests", "Image"}, rows)
}

// look says how to see what goes on.
func look(d *document, p *ir.Platform) {
	d.Heading(2, "Look at it")
	d.Table([]markup{"Who", "Command", "Shows"}, schedulerOf(p).look(p))
	d.Para("Dashboards for the administrator and for the teams are in ", console("Cloud Monitoring",
		"monitoring/dashboards", p.Project), ", from ",
		file(p.CloudDashboards()+"/"), ".", grafana(p))
	if p.Monitoring.TensorBoard != "" {
		d.Para("What jobs log for TensorBoard is in ", console("Vertex AI", "vertex-ai/experiments/experiments", p.Project), ", "+
			"region ", code(p.Monitoring.TensorBoard),
			". Every team can read and write all of it.")
	}
	var alerts [][]markup
	for _, a := range p.Monitoring.Alerts {
		alerts = append(alerts, []markup{code(a.Name), text(a.Severity), text(a.Summary)})
	}
	if len(alerts) > 0 {
		d.Para("These alerts are policies of Cloud Monitoring; ", file("dashboards/alert-rules.yaml"),
			" has them for a Prometheus server.")
	}
	d.Table([]markup{"Alert", "Severity", "Says"}, alerts)
}

// kueueLook are the commands by which queues and jobs are looked at.
func kueueLook(p *ir.Platform) [][]markup {
	const admin, team = "administrators", "the team"
	rows := [][]markup{
		{admin, code("kubectl get clusterqueues -o wide"), "every queue: workloads pending and admitted"},
		{admin, code("kubectl get resourceflavors"), "the capacities, as Kueue knows them"},
		{admin, code("kubectl get nodes -L " + ir.LabelNodePool), "the nodes that exist now, by node pool"},
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		rows = append(rows, []markup{admin, code("kubectl describe computeclasses"),
			"the ComputeClasses, and whether GKE takes them"})
	}
	if len(p.Teams) > 0 {
		ns := p.Teams[0].Namespace
		rows = append(rows,
			[]markup{team, code(command("kubectl", "get", "localqueues", "-n", ns)), "a team's queues"},
			[]markup{team, code(command("kubectl", "get", "workloads", "-n", ns)),
				"a team's jobs, and in which queue they wait or run"},
			[]markup{team, code(command("kubectl", "describe", "workloads", "-n", ns)), "why a job waits"},
		)
	}
	return rows
}

func grafana(p *ir.Platform) markup {
	if !p.Monitoring.Grafana {
		return ""
	}
	return " The same for Grafana, in namespace " + code(p.Monitoring.GrafanaNamespace) + ", are in " +
		file("dashboards/grafana/") + "."
}

// remove says how a team or a capacity is taken out: apply does not prune.
func remove(d *document, p *ir.Platform) {
	if len(p.Teams) > 0 {
		schedulerOf(p).remove(d, p)
	}
}

// kueueRemove says how a team, a tier or a capacity is taken out.
func kueueRemove(d *document, p *ir.Platform) {
	const patch = "kubectl patch clusterqueues QUEUE... --type=merge -p "
	d.Heading(2, "Remove a team, a tier or a capacity")
	d.Para("Take it out of the blueprint and compile: that removes its files, and what other files say of it. A "+
		"build deletes a dropped team's bucket ",
		"and revokes its roles, and deletes a dropped capacity's node pool with what runs on it. It stops the "+
			"ClusterQueues that this folder no longer has, ",
		"so that what runs in them is evicted, and prints how to delete them; it deletes nothing of what was dropped "+
			"in the cluster.", buckets(p))
	d.Para("Before the build drops a capacity, drain the queues that use it. The first command shows which they are, "+
		"and later that they are drained, when ",
		"they have 0 admitted:")
	d.Code("sh",
		command("kubectl", "get", "clusterqueues", "-o", "custom-columns=QUEUE:.metadata.name,ADMITTED:.status.admittedWorkloads,CAPACITIES:.spec.resourceGroups[*].flavors[*].name"),
		patch+words.ShellArgument(`{"spec":{"stopPolicy":"HoldAndDrain"}}`))
	d.Para("Then build, and let the queues that remain start again:")
	d.Code("sh",
		"./create-platform.sh",
		patch+words.ShellArgument(`{"spec":{"stopPolicy":"None"}}`))
	shared := markup("")
	if len(p.SharedQueues) > 0 {
		shared = ", or of teams that share it one ClusterQueue, " + code(ir.ClusterQueuePrefix+"TIER") + ","
	}
	d.Para("After the build an administrator deletes what is left, in this order and as far as it applies. A team "+
		"leaves its namespace, which goes with all ",
		"in it, and its queues; a tier leaves every team's two queues", shared,
		" and its PriorityClass; a capacity leaves its flavor, which goes when no queue has it.")
	d.Code("sh",
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete localqueues -n NAMESPACE "+ir.LocalQueuePrefix+"TEAM-TIER",
		"kubectl delete clusterqueues "+ir.ClusterQueuePrefix+"TEAM-TIER...",
		"kubectl delete cohorts COHORT",
		"kubectl delete priorityclasses "+string(class(p)),
		"kubectl delete resourceflavors CAPACITY")
}

// undo says how the platform is taken down, and what is left.
func undo(d *document, p *ir.Platform) {
	d.Heading(2, "Undo it")
	d.Code("sh", "./destroy-platform.sh")
	cluster := markup("the cluster's deletion protection is switched off")
	if p.Delivery.InfrastructureManager {
		cluster = "the cluster is deleted in spite of its deletion protection"
	}
	d.Para("It asks first, then submits ", file("cloudbuild/destroy.yaml"), ": ", schedulerOf(p).stops,
		"the teams' namespaces go with all jobs in them, ",
		cluster, ", and what Terraform made is deleted.", buckets(p), " What stays:")
	d.List(
		holds(p)+", "+code(p.Delivery.StateBucket)+", with all it holds",
		"the repository of images, "+code(p.Delivery.Repository),
		"the service accounts of "+accountOwners(p)+", of which only the build's has roles left",
		"the enabled services",
		"logs and metrics, until their retention ends")
	d.Para("The script prints the commands that remove the rest.")
	gclusterDestroy(d, p)
}

// buckets says what becomes of the teams' buckets.
func buckets(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	empty := markup(" Deletion stops at a team's bucket that still holds objects: empty the bucket, old versions " +
		"too, with `gcloud storage rm --recursive --all-versions \"gs://BUCKET/**\"`")
	if p.Delivery.InfrastructureManager {
		return empty + "."
	}
	return empty + ", or keep it, by taking it out of the state with `terraform state rm`."
}
