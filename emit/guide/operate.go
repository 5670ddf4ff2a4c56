package guide

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// podsReadyTimeout returns ir.PodsReadyMinutes with its unit.
func podsReadyTimeout() markup { return markup(strconv.Itoa(ir.PodsReadyMinutes) + " minutes") }

// explainBuild explains how to build the platform.
func explainBuild(d *document, p *ir.Platform) {
	d.Heading(2, "Build it")
	listGroups(d, p)
	d.Para("Run one command, with the Google Cloud CLI signed in to project ", codeSpan(p.Project),
		". The command enables the services that the platform needs. It creates the service accounts of ",
		accountOwners(p),
		", ", bucketPurpose(p), " (", codeSpan(p.Delivery.StateBucket), ") and the repository of the teams' images (",
		codeSpan(p.Delivery.Repository), "). Then it submits ", fileLink("cloudbuild/provision.yaml"),
		", which builds the rest. ",
		"The command stops at the first error. You can run it again at any time, also to apply a change.")
	d.Code("sh", "./create-platform.sh")
	explainInterrupted(d, p)
	if v := p.Cluster.MinVersion; v != "" {
		d.Para("A new cluster starts with GKE ", escapeText(v), ", and release channel ",
			escapeText(p.Cluster.ReleaseChannel),
			" upgrades it from this version. If you raise `minVersion`, the next build upgrades the control plane of "+
				"an ",
			"existing cluster. If you lower it, nothing changes.")
	}
	explainDemanded(d, p)
	explainLogging(d, p)
	listUpgrades(d, p)
	buildRights(d, p)
	explainSubstitutions(d, p)
	if kept := schedulerOf(p).kept; kept != "" {
		d.Para(kept)
	}
	if !p.Cluster.DNSEndpoint {
		d.Para(
			"The control plane is reachable only from inside its network. Give both scripts a private worker pool in ",
			"this network, `--worker-pool=POOL`, and run `kubectl` in this network too.")
	}

	d.Heading(3, "Step by step")
	tools := schedulerOf(p).tools + " and `kubectl` with `gke-gcloud-auth-plugin`. "
	if !p.Delivery.InfrastructureManager {
		tools = "Terraform 1.9 or later, " + tools +
			"`gcloud auth application-default login` gives Terraform its credentials. "
	}
	d.Para("These commands do the same by hand. Run them in this folder. You need ", tools,
		"First prepare the project. This command does everything above except the build:")
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
	explainGcluster(d, p)
}

// explainInterrupted explains what happens after a cancelled build.
func explainInterrupted(d *document, p *ir.Platform) {
	m := markup("A build waits until all older builds of the platform have ended, and repairs what a cancelled build " +
		"has left behind. ")
	if p.Delivery.InfrastructureManager {
		m += "Infrastructure Manager goes on when its build is cancelled, and the next build waits for it."
	} else {
		m += "If the build's log says that somebody else holds the lock of the Terraform state, make sure that " +
			"nobody works on the state. Then run the command that the log prints: it removes the lock."
	}
	d.Para(m)
}

// listUpgrades lists the upgrades that GKE holds back.
func listUpgrades(d *document, p *ir.Platform) {
	var held []markup
	for _, e := range p.Cluster.Maintenance.Exclusions {
		held = append(held,
			"exclusion "+codeSpan(e.Name)+": "+escapeText(e.Scope)+" from "+escapeText(e.Start)+" to "+
				escapeText(e.End))
	}
	for _, c := range p.Capacities {
		if c.KeepsVersion {
			held = append(held, "nodes of "+codeSpan(c.Name)+": their version stays until its support ends")
		}
	}
	if held == nil {
		return
	}
	m := p.Cluster.Maintenance
	d.Para("GKE upgrades the cluster and its nodes in the window on ", escapeText(strings.Join(m.Days, ", ")),
		" from ", escapeText(m.Start), " UTC, except:")
	d.List(held...)
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

// listGroups lists the Google groups that must exist before the build.
func listGroups(d *document, p *ir.Platform) {
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
	items := []markup{"the group " + codeSpan(p.Cluster.SecurityGroup) + ", of which the teams' groups are members"}
	if len(names) > fewTeams {
		items = append(items,
			"the teams' groups, which "+fileLink("terraform/terraform.tfvars")+" names: "+firstNames(names))
	} else {
		for _, name := range names {
			items = append(items, "the group "+codeSpan(name))
		}
	}
	d.Para("These groups must exist first. Google Cloud does not grant a role to a Google group that does not exist, " +
		"and ignores a RoleBinding of such a group:")
	d.List(items...)
}

// credentialsCommand returns the command that connects kubectl to the cluster.
func credentialsCommand(p *ir.Platform) string {
	words := []string{"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, "--region=" + p.Region,
		"--project=" + p.Project}
	if p.Cluster.DNSEndpoint {
		words = append(words, "--dns-endpoint")
	}
	return shellCommand(words...)
}

// explainSubmit explains how a developer submits a job.
func explainSubmit(d *document, p *ir.Platform) {
	d.Heading(2, "Submit a job")
	who := markup("")
	if p.HasGroups() {
		who = " You must be a member of your team's Google group, and this group must be a member of " +
			codeSpan(p.Cluster.SecurityGroup) + "."
	}
	d.Para("You need `kubectl` with `gke-gcloud-auth-plugin`.", who, " Get credentials once:")
	d.Code("sh", credentialsCommand(p))
	if len(p.Workloads) > 0 {
		w := p.Workloads[0]
		folder := path.Join("workloads", w.Team)
		one := []string{"kubectl", "apply", "--server-side"}
		if w.ConfigMap != "" {
			one = append(one, "-f", path.Join(folder, w.ConfigMap+".yaml"))
		}
		one = append(one, "-f", path.Join(folder, w.Name+".yaml"))
		d.Para("Then submit your team's workloads: all of them, or one by name with the files that it mounts.")
		d.Code("sh", shellCommand("kubectl", "apply", "--server-side", "-k", folder), shellCommand(one...))
		d.Para("Before you submit a Job again, delete it: run `kubectl delete` with the same `-k` or `-f` arguments.")
		listWorkloads(d, p)
		explainHostNetwork(d, p)
		explainSecrets(d, p)
	}
	if i := slices.IndexFunc(p.Teams, func(t ir.Team) bool { return len(t.Queues) > 0 }); i >= 0 {
		schedulerOf(p).byHand(d, p, p.Teams[i])
	}
}

// kueueByHand explains what a job of a team needs that is not in the blueprint.
func kueueByHand(d *document, p *ir.Platform, t ir.Team) {
	grouped := placementGroups(p)
	// The example is of a tier without placement groups if possible, and then of the
	// default tier.
	rank := func(q ir.Queue) int {
		n := 0
		if !slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool { return slices.Contains(grouped, f.Flavor) }) {
			n += 2
		}
		isDefault := func(c ir.PriorityClass) bool { return c.Default && c.Tier == q.Tier }
		if slices.ContainsFunc(p.PriorityClasses, isDefault) {
			n++
		}
		return n
	}
	q := slices.MaxFunc(t.Queues, func(a, b ir.Queue) int { return cmp.Compare(rank(a), rank(b)) })
	d.Para("Any other Job or JobSet of ", codeSpan(t.Name), " in tier ", codeSpan(q.Tier), " needs these settings:")
	d.List(
		"on the object, the label "+codeSpan(p.QueueLabel()+": "+q.LocalQueue)+"; a job without a queue of its team "+
			"is refused",
		"in its pods, "+explainPriorities(q)+"; a PriorityClass of another tier is refused",
		"in its containers, requests for these resources: "+codeList(q.Resources),
		actsAs(t))
	explainQueued(d, p)
	slicesByHand(d, p)
	d.Para(
		"Do not set `suspend`, node selectors or tolerations: Kueue starts the job when quota is free, and sends its ",
		"pods to the capacity that it has chosen.", explainChoice(p))
	if len(grouped) > 0 {
		example := markup("")
		if i := slices.IndexFunc(p.Workloads, func(w ir.Workload) bool { return w.PlacementGroup != "" }); i >= 0 {
			w := p.Workloads[i]
			example = ", as in " + fileLink(path.Join("workloads", w.Team, w.Name+".yaml"))
		}
		d.Para("On auto-provisioned nodes that are close together (", codeList(grouped),
			") each job has its own placement ",
			"group, which its pods select and tolerate by the key ", codeSpan(ir.LabelPlacementGroup), example, ".")
	}
	d.Para("If the pods of a job are not all ready ", podsReadyTimeout(),
		" after its admission, for example because no ",
		"nodes are available, Kueue evicts the job and queues it again.")
	listForbidden(d)
}

// explainPriorities explains which PriorityClass the jobs of a queue name.
func explainPriorities(q ir.Queue) markup {
	var names []string
	for _, c := range q.Classes {
		names = append(names, "priorityClassName: "+c)
	}
	if len(names) < 2 {
		return codeList(names)
	}
	return "one of " + codeList(names) + " (the last has the highest priority)"
}

// explainChoice explains how a job chooses a capacity, if some queue leads to node
// pools of several machine types. Queues with nodes that GKE creates by itself do
// not count: their flavors lack the label of node pools, so Kueue could choose these
// nodes.
func explainChoice(p *ir.Platform) markup {
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
				return " Only a job that needs one certain capacity of its tier sets a node selector, with the node " +
					"labels of this capacity in " + fileLink("kubernetes/resource-flavors.yaml") +
					". Kueue then skips the other capacities."
			}
		}
	}
	return ""
}

// classPlaceholder returns the placeholder of a PriorityClass in commands.
func classPlaceholder(p *ir.Platform) markup {
	if manyClasses(p) {
		return "CLASS"
	}
	return "TIER"
}

// explainQueued explains what a job needs if all its nodes start at once. Source for
// the times of the retries: Kueue v1beta2 API, ProvisioningRequestRetryStrategy. The
// platform uses its defaults.
func explainQueued(d *document, p *ir.Platform) {
	var names []string
	for _, c := range p.Capacities {
		if c.Queued() {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		d.Para("In a queue that has ", codeList(names), " the object also needs the annotation ",
			codeSpan(ir.AnnotationMaxRun),
			". Its value is the number of seconds for which the job needs the nodes, as a string. All nodes start at "+
				"once, ",
			"and the job has them alone, even if its pods do not fill them. When the time is over, the nodes are "+
				"removed, and ",
			"Kueue deactivates a job that still runs. If no nodes are available, Kueue tries again after one, two and "+
				"four ",
			"more minutes. If the last try fails, it deactivates the job.")
	}
}

// slicesByHand explains what a job on TPU slices needs.
func slicesByHand(d *document, p *ir.Platform) {
	var shapes []string
	for _, c := range p.Capacities {
		if c.Sliced() {
			shapes = append(shapes, string(
				codeSpan(c.Name)+": "+countNoun(c.Machine.Slice.Hosts, "pod")+" of "+
					countNoun(c.Machine.AcceleratorCount, "chip")))
		}
	}
	if shapes == nil {
		return
	}
	d.Para("On TPU slices the object is a JobSet with the annotation `alpha.jobset.sigs.k8s.io/exclusive-topology: "+
		ir.LabelNodePool+"`. It has one Job for each slice, and each Job has one pod for each node of the slice. "+
		"Each pod ",
		"requests all chips of its node (", markup(strings.Join(shapes, "; ")), ").")
}

// placementGroups names the capacities whose jobs must name a placement group, in
// which auto-provisioning places their nodes.
func placementGroups(p *ir.Platform) []string {
	var names []string
	for _, c := range p.Capacities {
		if c.AutoProvisioned && c.Compact {
			names = append(names, c.Name)
		}
	}
	return names
}

// listWorkloads lists the workload templates of the blueprint, by name.
func listWorkloads(d *document, p *ir.Platform) {
	type template struct {
		ir.Workload
		objects int
	}
	var templates []template
	for _, w := range p.Workloads {
		i, found := slices.BinarySearchFunc(templates, w.Template,
			func(t template, name string) int { return cmp.Compare(t.Template, name) })
		if !found {
			templates = slices.Insert(templates, i, template{w, 0})
		}
		templates[i].objects++
	}
	tier := map[string]markup{} // by PriorityClass
	for _, c := range p.PriorityClasses {
		tier[c.Name] = codeSpan(c.Tier)
		if c.Name != c.Tier {
			tier[c.Name] += ": " + codeSpan(c.Name)
		}
	}
	var rows [][]markup
	for _, t := range templates {
		var requests []string
		for _, a := range t.Requests {
			requests = append(requests, ir.PrintQuantity(a.Resource, a.Quantity)+" "+a.Resource)
		}
		rows = append(rows, []markup{
			codeSpan(t.Template), escapeText(string(t.Kind)), tier[t.PriorityClass], codeList(t.Capacities),
			formatNumber(t.objects), formatNumber(t.Pods), codeList(requests), codeSpan(t.Image),
		})
	}
	d.Table([]markup{"Workload", "Kind", "Tier", "Can run on", "In all teams", "Pods", "Each pod requests", "Image"},
		rows)
}

// showRunning shows commands, dashboards and alerts for the running platform.
func showRunning(d *document, p *ir.Platform) {
	d.Heading(2, "Look at it")
	d.Table([]markup{"Who", "Command", "Shows"}, schedulerOf(p).look(p))
	d.Para("Dashboards for the administrator and for the teams are in ", consoleLink("Cloud Monitoring",
		"monitoring/dashboards", p.Project), ". Their files are in ", fileLink(p.CloudDashboards()+"/"), ".",
		grafanaFolder(p))
	if p.Monitoring.TensorBoard != "" {
		d.Para("The TensorBoard data of jobs is in ", consoleLink("Vertex AI", "vertex-ai/experiments/experiments",
			p.Project),
			", region ", codeSpan(p.Monitoring.TensorBoard), ". Every team can read and write the data of all teams.")
	}
	d.Para("These alerts are policies of Cloud Monitoring; ", fileLink("dashboards/alert-rules.yaml"),
		" has the same alerts for a Prometheus server.")
	var alerts [][]markup
	for _, a := range monitoring.Alerts(p) {
		alerts = append(alerts, []markup{codeSpan(a.Name), escapeText(a.Severity), escapeText(a.Summary)})
	}
	d.Table([]markup{"Alert", "Severity", "Says"}, alerts)
}

// kueueLook returns the commands that show queues and jobs.
func kueueLook(p *ir.Platform) [][]markup {
	const admin, team = "administrators", "the team"
	rows := [][]markup{
		{admin, codeSpan("kubectl get clusterqueues -o wide"), "every queue, with its pending and admitted workloads"},
		{admin, codeSpan("kubectl get resourceflavors"), "the capacities, as Kueue knows them"},
		{admin, codeSpan("kubectl get nodes -L " + ir.LabelNodePool), "the nodes that exist now, by node pool"},
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		rows = append(rows, []markup{admin, codeSpan("kubectl describe computeclasses"),
			"the ComputeClasses, and whether GKE accepts them"})
	}
	if len(p.Teams) > 0 {
		ns := p.Teams[0].Namespace
		rows = append(rows,
			[]markup{team, codeSpan(shellCommand("kubectl", "get", "localqueues", "-n", ns)), "a team's queues"},
			[]markup{team, codeSpan(shellCommand("kubectl", "get", "workloads", "-n", ns)),
				"a team's jobs, and the queue in which each waits or runs"},
			[]markup{team, codeSpan(shellCommand("kubectl", "describe", "workloads", "-n", ns)), "why a job waits"},
		)
	}
	return rows
}

// grafanaFolder names the folder of the dashboards for Grafana.
func grafanaFolder(p *ir.Platform) markup {
	if !p.Monitoring.Grafana {
		return ""
	}
	return " The same dashboards for Grafana, in namespace " + codeSpan(p.Monitoring.GrafanaNamespace) + ", are in " +
		fileLink("dashboards/grafana/") + "."
}

// explainRemoval explains how to remove a team or a capacity. It is needed because
// the build applies the folder without pruning.
func explainRemoval(d *document, p *ir.Platform) {
	if len(p.Teams) > 0 {
		schedulerOf(p).remove(d, p)
	}
}

// kueueRemove explains how to remove a team, a tier or a capacity.
func kueueRemove(d *document, p *ir.Platform) {
	d.Heading(2, "Remove a team, a tier or a capacity")
	d.Para(
		"Delete the team, tier or capacity from the blueprint and compile: this removes its files, and every mention ",
		"of it in other files. For a removed team, the next build revokes the team's roles and deletes ",
		"its bucket. For a removed capacity, it deletes the node pool.")
	d.Para(
		"Before the build deletes nodes, its step ", codeSpan("retire"), " stops the ClusterQueues that this folder ",
		"no longer has, and the jobs on a capacity that is removed or gets another machine type. The jobs have ",
		"their grace period to save their work. They keep their place in their queue, and start again on a capacity ",
		"that they may use; a job that may use no other waits until somebody deletes it. The step waits until the ",
		"jobs have stopped, and prints the commands that delete the queues.")
	d.Para(
		"The build deletes no Kubernetes object of the removed team, tier or capacity.", explainBuckets(p))
	shared := markup("")
	if len(p.SharedQueues) > 0 {
		shared = " (for teams that share it, one ClusterQueue, " + codeSpan(ir.ClusterQueuePrefix+"TIER") + ")"
	}
	d.Para("After the build an administrator deletes the objects that remain, in this order. Choose the commands that ",
		"apply. A removed team leaves its namespace, with everything in it, and its queues. A removed tier leaves its "+
			"PriorityClass and the two queues of every ",
		"team", shared,
		". A removed capacity leaves its flavor; the flavor's deletion waits until no queue uses it.")
	d.Code("sh",
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete localqueues -n NAMESPACE "+ir.LocalQueuePrefix+"TEAM-TIER",
		"kubectl delete clusterqueues "+ir.ClusterQueuePrefix+"TEAM-TIER...",
		"kubectl delete cohorts COHORT",
		"kubectl delete priorityclasses "+string(classPlaceholder(p)),
		"kubectl delete resourceflavors CAPACITY")
}

// explainDestroy explains how to destroy the platform, and lists what remains.
func explainDestroy(d *document, p *ir.Platform) {
	d.Heading(2, "Undo it")
	d.Code("sh", "./destroy-platform.sh")
	cluster := markup("switches off the cluster's deletion protection, and deletes the resources of Terraform")
	if p.Delivery.InfrastructureManager {
		cluster = "and deletes the resources of Terraform, including a cluster with deletion protection"
	}
	d.Para("The script asks for confirmation. Then it submits ", fileLink("cloudbuild/destroy.yaml"), ", which ",
		schedulerOf(p).stops, "deletes the teams' namespaces with all jobs in them, ", cluster, ".", explainBuckets(p),
		" These remain:")
	d.List(
		bucketPurpose(p)+", "+codeSpan(p.Delivery.StateBucket)+", with everything in it",
		"the repository of images, "+codeSpan(p.Delivery.Repository),
		"the service accounts of "+accountOwners(p)+"; only the build's still has roles",
		"the enabled services",
		"logs and metrics, until their retention ends")
	d.Para("The script prints the commands that remove the rest.")
	gclusterDestroy(d, p)
}

// explainBuckets explains how to delete or keep the teams' buckets.
func explainBuckets(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	empty := markup(" The build stops at a team's bucket that still holds objects. Empty the bucket, including old " +
		"versions: `gcloud storage rm --recursive --all-versions \"gs://BUCKET/**\"`.")
	if p.Delivery.InfrastructureManager {
		return empty
	}
	return empty + " To keep the bucket instead, remove it from the Terraform state: " +
		"`terraform state rm 'google_storage_bucket.team[\"TEAM\"]'`."
}
