package guide

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// exampleName is the name of the job that the page shows as an example.
const exampleName = "my-job"

// object is an object of Kubernetes, or a part of one. The printer sorts its keys.
type object = map[string]any

// ownJob is a job that is not in the blueprint: its team, its queue, and the capacity
// whose nodes it fits. The scheduler adds what it needs.
type ownJob struct {
	team        ir.Team
	queue       ir.Queue
	capacity    ir.Capacity
	annotations object
	pod         object // fields of the pods
}

// newExample returns the example for the team of the page, or nil if the team has no
// quota.
func newExample(p *ir.Platform) (_ *exampleJob, err error) {
	t := homeTeam(p)
	if len(t.Queues) == 0 {
		return nil, nil
	}
	q := exampleQueue(p, t)
	c, found := exampleCapacity(p, q)
	if !found {
		return nil, nil
	}
	job := ownJob{team: t, queue: q, capacity: c, annotations: object{}, pod: object{}}
	schedulerOf(p).example(&job)
	out := &exampleJob{ownJob: job}
	if out.lines, err = yamlLines(job.manifest(p)); err == nil && t.Bucket != "" {
		out.mounts, err = yamlLines(bucketVolumes())
	}
	return out, err
}

// exampleJob is an ownJob with its manifest, and with the volumes of its team's bucket if
// the team has one.
type exampleJob struct {
	ownJob
	lines, mounts []string
}

// yamlLines returns the lines of an object in YAML.
func yamlLines(o object) ([]string, error) {
	text, err := yaml.Marshal(o)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// exampleQueue returns the queue of the example: of a tier without placement groups if
// possible, and then of the default tier.
func exampleQueue(p *ir.Platform, t ir.Team) ir.Queue {
	grouped := placementGroups(p)
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
	return slices.MaxFunc(t.Queues, func(a, b ir.Queue) int { return cmp.Compare(rank(a), rank(b)) })
}

// exampleCapacity returns the first capacity of a queue whose reservation has begun, or
// else the first capacity. It ignores the size of the quota, so that the example stays
// the same when a capacity is switched off for a while.
func exampleCapacity(p *ir.Platform, q ir.Queue) (_ ir.Capacity, found bool) {
	for _, waiting := range []bool{false, true} {
		for _, f := range q.Flavors {
			i := slices.IndexFunc(p.Capacities, func(c ir.Capacity) bool { return c.Name == f.Flavor })
			if i >= 0 && (waiting || !f.Waiting) {
				return p.Capacities[i], true
			}
		}
	}
	return ir.Capacity{}, false
}

// manifest returns the job: a Job with one pod, or on TPU slices a JobSet with a pod on
// each node of a slice.
func (j ownJob) manifest(p *ir.Platform) object {
	metadata := object{"name": exampleName, "labels": object{p.QueueLabel(): j.queue.LocalQueue}}
	if len(j.annotations) > 0 {
		metadata["annotations"] = j.annotations
	}
	if !j.capacity.Sliced() {
		return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": j.spec(1)}
	}
	slice := object{
		"metadata": object{"annotations": object{exclusiveTopology: ir.LabelNodePool}},
		"spec":     j.spec(j.capacity.Machine.Slice.Hosts),
	}
	return object{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata,
		"spec": object{"replicatedJobs": []any{object{"name": "slice", "replicas": 1, "template": slice}}},
	}
}

// exclusiveTopology is the annotation that gives each Job of a JobSet a node pool of
// its own (JobSet: api/jobset/v1alpha2).
const exclusiveTopology = "alpha.jobset.sigs.k8s.io/exclusive-topology"

// spec returns the spec of a Job with numbered pods.
func (j ownJob) spec(pods int) object {
	requests := object{ir.CPU: "1", ir.Memory: "1Gi"}
	resources := object{"requests": requests}
	if name := j.capacity.Machine.Resource; slices.Contains(j.queue.Resources, name) {
		number := 1
		if name == ir.TPU { // a pod has all chips of its node
			number = j.capacity.Machine.AcceleratorCount
		}
		requests[name], resources["limits"] = number, object{name: number}
	}
	pod := object{
		"restartPolicy": "Never", "serviceAccountName": j.team.KubeAccount, "priorityClassName": j.queue.Classes[0],
		"containers": []any{object{
			"name": "worker", "image": "busybox:1.37", "command": []string{"sh", "-c", "hostname; sleep 60; echo done"},
			"resources": resources,
		}},
	}
	for field, value := range j.pod {
		pod[field] = value
	}
	return object{
		"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0,
		"template": object{"spec": pod},
	}
}

// explainOwnJob shows a complete job, and explains the settings that it needs.
func explainOwnJob(d *document, p *ir.Platform, example *exampleJob) {
	if example == nil {
		return
	}
	d.Heading(2, ownHeading)
	t, q := example.team, example.queue
	d.Para("You can submit any Job or JobSet, not only the workloads of the blueprint. This is a complete job of ",
		codeSpan(t.Name), " in tier ", codeSpan(q.Tier), ". Save it as `my-job.yaml`. For another team, change the ",
		"queue and the service account (", linkHere(yourTeamHeading), "):")
	d.Code("yaml", example.lines...)
	job := exampleName
	if example.capacity.Sliced() {
		job += "-slice-0"
	}
	d.Para("Submit the job:")
	d.Code("sh", `kubectl apply --server-side -n "$NAMESPACE" -f my-job.yaml`)
	d.Para("When the job runs (", linkHere(resultsHeading), "), read its log:")
	d.Code("sh", logsCommand(namespaceVariable, job))
	d.Para("When the job has ended, delete it:")
	d.Code("sh", `kubectl delete -n "$NAMESPACE" -f my-job.yaml`)
	d.Para("To have Kubernetes delete finished jobs, set `ttlSecondsAfterFinished` in the `spec` of the Job or ",
		"JobSet, for example to `3600` for one hour.")
	d.Para("Each job in this tier requires these settings:")
	schedulerOf(p).settings(d, p, example.ownJob)
	explainPlacement(d, p)
	explainRetries(d, p, example)
	explainImage(d, p)
	explainMount(d, example)
}

// explainPlacement explains how a job spreads its pods.
func explainPlacement(d *document, p *ir.Platform) {
	d.Para("`affinity` and `topologySpreadConstraints` of the pods can keep pods of your team together or apart: on ",
		"nodes (`topologyKey: kubernetes.io/hostname`), in zones (`topology.kubernetes.io/zone`) or in node pools (`"+
			ir.LabelNodePool+"`). The policies refuse terms that match pods of other teams, because such terms can ",
		"block those pods. On capacities that scale, pods that cannot share a node with each other must request at ",
		"least half of it.")
	if p.AnyCapacity(ir.Capacity.HasAccelerators) {
		d.Para("To get one pod for each node, request all accelerators of the node.")
	}
}

// explainRetries explains that the example has no retries. Source: Kubernetes
// documentation, "Jobs", and JobSet 0.12, api/jobset/v1alpha2.
func explainRetries(d *document, p *ir.Platform, example *exampleJob) {
	kind, field, free := ir.Job, markup("`backoffLimit` is the number of retries"),
		markup("`podFailurePolicy`")
	if example.capacity.Sliced() {
		kind, field = ir.JobSet, "`failurePolicy.maxRestarts` of a JobSet is the number of retries"
		free = "`failurePolicy` and `podFailurePolicy`"
	}
	copied := markup("")
	if i := slices.IndexFunc(p.Workloads, func(w ir.Workload) bool { return w.Kind == kind }); i >= 0 {
		w := p.Workloads[i]
		copied = " For retries, copy " + free + " from " + fileLink(path.Join("workloads", w.Team, w.Name+".yaml")) +
			": a lost node is no failure there."
	}
	d.Para(field, ". The example has none: it fails as soon as one pod fails, also if the pod loses its node.", copied)
}

// explainImage explains where the images of jobs can be. The nodes may read the
// repositories of the project.
func explainImage(d *document, p *ir.Platform) {
	policy := markup("")
	if p.Security.BinaryAuthorization {
		policy = ", if the project's Binary Authorization policy admits it"
	}
	d.Para("The image can be in the platform's repository, ", codeSpan(p.ImageRepository()), ", or in a public one",
		policy, ". ", linkHere(imageHeading), " explains how to push an image into the platform's repository.")
}

// explainMount explains how pods mount the bucket of their team, and how people copy
// files into it and out of it. Source: GKE documentation, "Access Cloud Storage buckets
// with the Cloud Storage FUSE CSI driver".
func explainMount(d *document, example *exampleJob) {
	if example.mounts == nil {
		return
	}
	d.Para("Programs use your team's bucket through the API of Cloud Storage. To mount folders of the bucket instead, ",
		"set the annotation `gke-gcsfuse/volumes: \"true\"` on the pods, give the pods these volumes, with the bucket ",
		"of your team for BUCKET (", linkHere(yourTeamHeading), "), and mount the volumes with `volumeMounts`. GKE ",
		"then adds a container to each pod, so leave it some cpu and memory of the node:")
	d.Code("yaml", example.mounts...)
	d.Para("Volume `training` is for reading: the node caches its files, which must not change while the job runs. ",
		"Volume `checkpoints` is for writing, and programs may rename its folders.")
	d.Para("With these commands you copy a directory into the bucket before the job, and the checkpoints out of the ",
		"bucket after it. You need `roles/storage.objectUser` on the bucket: ask an administrator (",
		linkTo(referencePage, rightsHeading), "). Set the bucket of your team, and the directory:")
	d.Code("sh",
		"BUCKET="+words.ShellArgument(example.team.Bucket),
		"DATA=my-data",
		`gcloud storage cp --recursive "$DATA" "gs://$BUCKET/training/"`,
		`gcloud storage cp --recursive "gs://$BUCKET/checkpoints" .`)
}

// bucketVolumes returns the volumes of a team's bucket: one for training data, one for
// checkpoints. Source for the options: Google's Cluster Toolkit, examples/gke-a3-ultragpu,
// modules gcs-training and gcs-checkpointing; checkpoints do without the cache of
// metadata, because pods of other nodes write them.
func bucketVolumes() object {
	volume := func(name, options string) object {
		const cache = "implicit-dirs,file-cache:max-size-mb:-1,file-cache:cache-file-for-range-read:true,"
		return object{"name": name, "csi": object{
			"driver": "gcsfuse.csi.storage.gke.io", "readOnly": name == "training",
			"volumeAttributes": object{
				"bucketName": "BUCKET", "mountOptions": "only-dir=" + name + "," + cache + options,
			},
		}}
	}
	return object{"volumes": []any{
		volume("training", "metadata-cache:ttl-secs:-1"),
		volume("checkpoints", "file-cache:enable-parallel-downloads:true,rename-dir-limit=200000"),
	}}
}

// accountSetting explains which field of a pod gives it the rights of its team.
func accountSetting(t ir.Team) markup {
	rights := markup(" to have the team's rights in Google Cloud")
	if t.Account != nil {
		rights = " to act as the team's Google service account"
	}
	return "in its pods, " + codeSpan("serviceAccountName: "+t.KubeAccount) + rights
}

// kueueExample completes the example for Kueue.
func kueueExample(j *ownJob) {
	if j.capacity.Queued() {
		j.annotations[ir.AnnotationMaxRun] = "600"
	}
	if j.capacity.AutoProvisioned && j.capacity.Compact {
		j.pod["nodeSelector"] = object{ir.LabelPlacementGroup: exampleName}
		j.pod["tolerations"] = []any{object{"key": ir.LabelPlacementGroup, "operator": "Equal", "value": exampleName,
			"effect": "NoSchedule"}}
	}
}

// kueueSettings explains what a job needs that is not in the blueprint.
func kueueSettings(d *document, p *ir.Platform, j ownJob) {
	d.List(
		"on the Job or JobSet, the label "+codeSpan(p.QueueLabel()+": "+j.queue.LocalQueue),
		"in its pods, "+explainPriorities(j.queue),
		"in its containers, "+explainRequests(j.queue.Resources),
		accountSetting(j.team))
	explainQueued(d, p)
	slicesByHand(d, p)
	d.Para(
		"Do not set `suspend`, node selectors or tolerations: Kueue starts the job when quota is free, and sends its ",
		"pods to the capacity that it has chosen.", explainChoice(p))
	if grouped := placementGroups(p); len(grouped) > 0 {
		as := markup("")
		if i := slices.IndexFunc(p.Workloads, func(w ir.Workload) bool { return w.PlacementGroup != "" }); i >= 0 {
			w := p.Workloads[i]
			as = ", as in " + fileLink(path.Join("workloads", w.Team, w.Name+".yaml"))
		}
		d.Para("On auto-provisioned nodes that are close together (", codeList(grouped),
			") each job has its own placement ",
			"group, which its pods select and tolerate by the key ", codeSpan(ir.LabelPlacementGroup), as, ".")
	}
	pointToNetworks(d, p)
}

// pointToNetworks refers to the networks between GPUs, if there are any.
func pointToNetworks(d *document, p *ir.Platform) {
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect != "" }) {
		d.Para("Pods that exchange data over the networks of their GPUs need more: see ",
			linkTo(referencePage, networksHeading), ".")
	}
}

// kaiExample completes the example for KAI Scheduler.
func kaiExample(j *ownJob) {
	selector, tolerations := object{}, []any{}
	for _, l := range j.capacity.NodeLabels {
		selector[l.Key] = l.Value
	}
	for _, taint := range j.capacity.NodeTaints {
		tolerations = append(tolerations, object{
			"key": taint.Key, "operator": "Equal", "value": taint.Value, "effect": taint.Effect,
		})
	}
	j.pod["schedulerName"], j.pod["nodeSelector"], j.pod["tolerations"] = ir.KAISchedulerName, selector, tolerations
}

// kaiSettings explains what a job needs that is not in the blueprint.
func kaiSettings(d *document, p *ir.Platform, j ownJob) {
	d.List(
		"on the Job or JobSet, the label "+codeSpan(ir.LabelKAIQueue+": "+j.queue.LocalQueue),
		"in its pods, "+codeSpan("schedulerName: "+ir.KAISchedulerName),
		"in its pods, "+explainPriorities(j.queue),
		"in its containers, "+explainRequests([]string{ir.CPU, ir.Memory, ir.GPU}),
		"on a Job whose pods must start together, the annotation "+codeSpan(ir.AnnotationKAIMembers)+" with the "+
			"number of these pods, as a string; the pods of a JobSet always start together",
		accountSetting(j.team),
		"in its pods, the node selector and the tolerations of its capacity, because KAI Scheduler adds none")
	var rows [][]markup
	for _, f := range j.queue.Flavors {
		i := slices.IndexFunc(p.Capacities, func(c ir.Capacity) bool { return c.Name == f.Flavor })
		if i < 0 {
			continue
		}
		var selector, tolerations []string
		for _, l := range p.Capacities[i].NodeLabels {
			selector = append(selector, l.Key+": "+l.Value)
		}
		for _, taint := range p.Capacities[i].NodeTaints {
			tolerations = append(tolerations, taint.Key+"="+taint.Value+":"+taint.Effect)
		}
		rows = append(rows, []markup{codeSpan(f.Flavor), codeList(selector), codeList(tolerations)})
	}
	d.Table([]markup{"Capacity", "Node selector", "Tolerations"}, rows)
	pointToNetworks(d, p)
}

// explainPriorities explains which PriorityClass the jobs of a queue name.
func explainPriorities(q ir.Queue) markup {
	if len(q.Classes) == 1 {
		return codeSpan("priorityClassName: " + q.Classes[0])
	}
	return "`priorityClassName` with one of these values: " + codeList(q.Classes) +
		" (the last has the highest priority)"
}

// explainRequests explains where containers ask for resources. Kubernetes requires a limit
// for accelerators, equal to the request. Source: Kubernetes documentation, "Schedule GPUs".
func explainRequests(resources []string) markup {
	m := "what they use: " + codeList(resources) + " in `resources.requests`"
	for _, r := range resources {
		if r == ir.GPU || r == ir.TPU {
			m += "; for " + codeSpan(r) + ", set the same value in `resources.limits`"
		}
	}
	return m
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

// explainQueued explains what a job needs if all its nodes start at once. Source for
// the wait: Compute Engine API, InstanceGroupManagerResizeRequest, states ACCEPTED and
// FAILED. Source for a request that fails: issue 5129 of Kueue. Source for the times of
// the retries: Kueue v1beta2 API, ProvisioningRequestRetryStrategy.
func explainQueued(d *document, p *ir.Platform) {
	var names, retries []string
	for _, c := range p.Capacities {
		if c.Queued() {
			names = append(names, c.Name)
		}
	}
	for _, c := range p.AdmissionChecks {
		retries = append(retries, string(codeSpan(c.Name))+": "+strconv.Itoa(c.Retries)+" retries")
	}
	if len(names) > 0 {
		d.Para("In a queue with quota for ", codeList(names), ", the Job or JobSet also requires the annotation ",
			codeSpan(ir.AnnotationMaxRun),
			". Its value is the number of seconds for which the job needs the nodes, in quotes: `\"3600\"` is one "+
				"hour. All nodes start at the same time, and no other job runs on them, even if the job's pods do not "+
				"fill them.")
		d.Warning("When the time has expired, GKE removes the nodes, and Kueue deactivates the job if it still runs.")
		d.Para("Google Cloud keeps the request for the nodes until all of them are available; this can take hours. ",
			"If the request fails, for example because the node pool has reached its maximum, Kueue repeats it after ",
			"1, 2, 4, 8 and 16 minutes, and then every ", markup(strconv.Itoa(ir.RetryMaxSeconds/60)),
			" minutes. If the last "+
				"request fails (", markup(strings.Join(retries, "; ")), "), Kueue deactivates the job.")
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
