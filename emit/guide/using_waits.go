package guide

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// explainWaiting explains how to find out why a job waits.
func explainWaiting(d *document, p *ir.Platform) {
	d.Heading(2, waitsHeading)
	schedulerOf(p).waits(d, p)
}

// kueueWaits explains why a job waits in a queue of Kueue. Source for the messages:
// Kueue 0.19, pkg/scheduler/flavorassigner and pkg/controller/core. A test looks them
// up in Kueue's code.
func kueueWaits(d *document, p *ir.Platform) {
	kind, name, queue := ir.Job, exampleName, ""
	if t := homeTeam(p); len(p.Workloads) > 0 {
		kind, name, queue = p.Workloads[0].Kind, p.Workloads[0].Name, p.Workloads[0].Queue
	} else if len(t.Queues) > 0 {
		queue = t.Queues[0].LocalQueue
	}
	d.Para("Kueue makes an object of kind Workload for each job. The first command lists your team's queues, and the ",
		"second its Workloads: RESERVED IN names the queue that has the quota for a job. The third command describes ",
		"the Workloads whose names begin with ", codeSpan(workloadPrefix(kind, name)),
		"; read the messages under Conditions and Events. The name of a Workload begins with `job-` and the name of ",
		"the Job, or with `jobset-` and the name of the JobSet:")
	d.Code("sh",
		`kubectl get localqueues -n "$NAMESPACE"`,
		`kubectl get workloads -n "$NAMESPACE"`,
		`kubectl describe workloads --show-events=true -n "$NAMESPACE" `+
			words.ShellArgument(workloadPrefix(kind, name)))
	tooMuch := markup("an administrator has reduced the quota of the queue below the requests of the job")
	if p.AnyCapacity(ir.Capacity.SlicesOff) {
		tooMuch += ", or the job needs TPU slices, and there are none now"
	}
	var rows [][]markup
	if slices.ContainsFunc(p.Teams, func(t ir.Team) bool {
		return slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return q.Strategy == ir.StrictFIFO })
	}) {
		rows = append(rows, []markup{"no message about quota, only `Not all pods are ready or succeeded`",
			"a job before yours does not fit yet, and the queue starts its jobs strictly in their order",
			"wait; the last command of this section lists the jobs in their order"})
	}
	rows = append(rows, [][]markup{
		{"`insufficient unused quota`", "other jobs use the quota", "wait; the job starts when enough of them have " +
			"ended, or when it may evict them (" + linkHere(promisesHeading) + ")"},
		{"`maximum capacity`", tooMuch, "delete the job, which can hold up its queue, and submit a smaller one, or " +
			"choose another tier (" + linkTo(referencePage, queuesHeading) + ")"},
		{"`doesn't match node affinity`", "the job's `nodeSelector` excludes this capacity. The message has one " +
			"part for each capacity", "read the other parts. If all parts say this, remove the `nodeSelector`"},
		{"`is stopped`, `is inactive`", "an administrator has stopped the queue", "ask the administrator"},
		{"`doesn't exist`", "an administrator has removed the queue", "delete the job, and submit it to another " +
			"queue (" + linkHere(yourTeamHeading) + ")"},
		{"`Preempted to accommodate a workload`", "the job had started, and a job with more right to the quota " +
			"needed it (" + linkHere(promisesHeading) + ")", "wait; Kueue has queued the job again"},
		{"`Exceeded the PodsReady timeout`", unreadyCause(p), "wait; Kueue has queued the job again"},
		{"`Admitted` under Conditions, and pods with STATUS Pending", "the pods wait for nodes",
			"wait; `kubectl describe pods -n \"$NAMESPACE\"` says which nodes they need"},
	}...)
	if p.OthersRunKueue() {
		rows = append(rows, []markup{"`unavailable in ClusterQueue`", "the pods request a resource of which the " +
			"queue has no quota, such as `ephemeral-storage`", "remove the request"})
	}
	if p.AnyCapacity(ir.Capacity.Queued) {
		rows = append(rows, []markup{"in the list of Workloads, RESERVED IN names a queue and ADMITTED is not True",
			"the job has its quota, but is not admitted yet: it waits until all of its nodes are available at once, " +
				"which can take hours",
			"wait; the messages under Admission Checks say more"})
		rows = append(rows, []markup{"`The workload is deactivated`",
			"all requests for the nodes have failed, or the time for the nodes is over",
			"delete the job and submit it again"})
	}
	rows = append(rows, secretsMissing(p)...)
	d.Table([]markup{"You see", "Cause", "What to do"}, rows)
	if queue == "" {
		return
	}
	d.Para("To see how many jobs are ahead of yours, ask Kueue for the jobs that wait in a queue. ",
		"`positionInLocalQueue` counts the jobs of your team, and `positionInClusterQueue` all jobs that wait for the ",
		"same quota. Both begin with 0. Set the name of your queue:")
	d.Code("sh",
		"QUEUE="+words.ShellArgument(queue),
		`kubectl get --raw "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/$NAMESPACE/localqueues/$QUEUE/`+
			`pendingworkloads"`)
}

// unreadyCause says why Kueue evicts a job whose pods are not ready.
func unreadyCause(p *ir.Platform) markup {
	after, within := podsReadyTimeout()+" after Kueue had admitted the job", " within "+recoveryTimeout()
	if p.OthersRunKueue() {
		after, within = "in the time that Kueue's configuration gives them", " in time"
	}
	return "the pods were not all ready " + after + ", for example because no nodes were available; or a running job " +
		"lost a pod, and no other pod replaced it" + within
}

// workloadPrefix returns the beginning of the name of a job's Workload. Source: Kueue
// 0.19, pkg/controller/jobframework/workload_names.go.
func workloadPrefix(kind ir.Kind, name string) string {
	return strings.ToLower(string(kind)) + "-" + name
}

// secretsMissing returns the row about missing Secrets, if workloads need any.
func secretsMissing(p *ir.Platform) [][]markup {
	if !slices.ContainsFunc(p.Workloads, func(w ir.Workload) bool { return len(w.SecretEnv) > 0 }) {
		return nil
	}
	return [][]markup{{"pods: STATUS `CreateContainerConfigError`", "a Secret of the workload does not exist",
		"ask an administrator to create it (" + linkTo(readmePage, secretsHeading) + ")"}}
}

// kaiWaits explains why a job waits with KAI Scheduler. Source for the messages: KAI
// Scheduler, pkg/scheduler/api/unschedule_info.go, pkg/scheduler/api/common_info and
// pkg/scheduler/cache/cluster_info. A test of conformance/kai looks them up.
func kaiWaits(d *document, p *ir.Platform) {
	d.Para("KAI Scheduler makes a PodGroup of each job. The first command lists them, and the second says why a job ",
		"waits: read the messages under Conditions and Events. The third command shows the nodes on which pods run:")
	d.Code("sh",
		`kubectl get podgroups.scheduling.run.ai -n "$NAMESPACE"`,
		`kubectl describe podgroups.scheduling.run.ai -n "$NAMESPACE"`,
		`kubectl get pods -n "$NAMESPACE" -o wide`)
	rows := [][]markup{
		{"`no nodes with enough resources were found`", "no single node has enough free GPUs, cpu and memory for a pod",
			"wait, or request less for each pod; KAI Scheduler may also evict or move jobs for yours (" +
				linkHere(promisesHeading) + ")"},
		{"`quota has reached the allowable limit of GPUs`", "the job would exceed the maximum of its team, or of its " +
			"cohort", "wait for your own jobs, or request less (" + linkTo(referencePage, queuesHeading) + ")"},
		{"`Non-preemptible workload is over quota`", "a PriorityClass that is never evicted cannot exceed the " +
			"guarantee of its team", "use a PriorityClass that can be evicted"},
		{"no message, and no event of `kai-scheduler`", "the label `" + ir.LabelKAIQueue + "` names a queue that " +
			"does not exist, which KAI Scheduler ignores, or a queue of a cohort, in which no job starts",
			"set the label to the name of your team's queue"},
		{"events of `default-scheduler`", "the pods do not name KAI Scheduler", "set `schedulerName: " +
			ir.KAISchedulerName + "` in the pods"},
	}
	rows = append(rows, secretsMissing(p)...)
	d.Table([]markup{"You see", "Cause", "What to do"}, rows)
}
