package cluster_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// count holds the numbers of workloads in a ClusterQueue.
type count struct{ Pending, Admitted int }

// queues waits until the ClusterQueues whose names end in suffix have the counts, and
// Kueue has seen the last change of these queues.
func (f *folder) queues(suffix string, want count) {
	f.Helper()
	f.eventually(func() string {
		var other strings.Builder
		found := 0
		for _, o := range f.get("clusterqueues") {
			if !strings.HasSuffix(o.Metadata.Name, suffix) {
				continue
			}
			found++
			if !o.seen() {
				fmt.Fprintf(&other, "%s: Kueue has not seen generation %d: %v\n", o.Metadata.Name,
					o.Metadata.Generation, o.Status.Conditions)
			}
			if got := (count{o.Status.PendingWorkloads, o.Status.AdmittedWorkloads}); got != want {
				fmt.Fprintf(&other, "%s: %d pending, %d admitted, want %d, %d\n", o.Metadata.Name, got.Pending,
					got.Admitted, want.Pending, want.Admitted)
			}
		}
		if found == 0 {
			return "no ClusterQueue " + suffix
		}
		return other.String()
	})
}

// running waits until each node pool runs the given number of the jobs' pods, no pod of a
// job is about to end, and every DaemonSet of the folder runs on all of its nodes.
func (f *folder) running(want map[string]int) {
	f.Helper()
	f.eventually(func() string {
		objects := f.get("nodes,pods,daemonsets", "--all-namespaces")
		pools := nodePools(objects)
		got := map[string]int{}
		late, pending := "", ""
		for _, o := range objects {
			switch {
			case o.Kind == "Pod" && o.Status.Phase == "Running" && o.Metadata.Labels[jobLabel] != "":
				got[pools[o.Spec.NodeName]]++
				if o.Metadata.Deletion != "" {
					late += fmt.Sprintf("%s is deleted, and runs\n", o)
				}
			case o.Kind == "Pod" && o.Status.Phase == "Pending":
				pending += fmt.Sprintf("%s is pending: %v\n", o, o.Status.Conditions)
			case o.Kind == "DaemonSet" && (o.Status.Desired == 0 || o.Status.Ready != o.Status.Desired):
				late += fmt.Sprintf("%s: %d pods of %d\n", o, o.Status.Ready, o.Status.Desired)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			late += "running pods by node pool:\n" + diff + pending
		}
		return late
	})
}

// emptied waits until no job or object of a job remains.
func (f *folder) emptied() {
	f.Helper()
	f.eventually(func() string {
		var left strings.Builder
		for _, o := range f.get("workloads,pods,jobs", "--all-namespaces") {
			if o.Kind != "Pod" || o.Metadata.Labels[jobLabel] != "" {
				fmt.Fprintln(&left, o, "is left")
			}
		}
		return left.String()
	})
}

// succeed lets the pods of the Jobs whose names match succeed as soon as they run,
// until a state is reached. scope holds the arguments of kubectl that select the
// namespaces.
func (f *folder) succeed(scope, jobs string, wrong func() string) {
	f.Helper()
	match := regexp.MustCompile(jobs)
	f.eventually(func() string {
		var running []string
		for _, o := range f.get("pods", scope, "--field-selector=status.phase=Running") {
			if job := o.Metadata.Labels[jobLabel]; match.MatchString(job) && !slices.Contains(running, job) {
				running = append(running, job)
			}
		}
		if len(running) > 0 {
			f.kubectl("annotate", "pods", scope, "--overwrite",
				"--selector="+jobLabel+" in ("+strings.Join(running, ",")+")", "plane/ends=Succeeded")
		}
		return wrong()
	})
}

// completed returns what is wrong, or "" if the given number of Jobs or JobSets
// with matching names are complete and Kueue's Workloads say that they succeeded.
func (f *folder) completed(scope, names string, want int) func() string {
	match := regexp.MustCompile(names)
	return func() string {
		f.Helper()
		jobs, workloads := 0, 0
		for _, o := range f.get("jobs,jobsets,workloads", scope) {
			switch {
			case o.Kind == "Workload" && match.MatchString(o.owner()) && o.is("Finished") &&
				o.condition("Finished").Reason == "Succeeded":
				workloads++
			case o.owner() == "" && match.MatchString(o.Metadata.Name) && (o.is("Complete") || o.is("Completed")):
				jobs++
			}
		}
		if jobs != want || workloads != want {
			return fmt.Sprintf("%s: %d are complete, %d workloads have succeeded, want %d", names, jobs, workloads,
				want)
		}
		return ""
	}
}

// workload returns Kueue's Workload of a Job or JobSet, and waits until it exists.
func (f *folder) workload(team, job string) object {
	f.Helper()
	var found object
	f.eventually(func() string {
		workloads := f.get("workloads", "--namespace="+team)
		i := slices.IndexFunc(workloads, func(o object) bool { return o.owner() == job })
		if i < 0 {
			return fmt.Sprintf("%s of %s has no workload", job, team)
		}
		found = workloads[i]
		return ""
	})
	return found
}

// clear deletes all jobs, and waits until nothing of them remains.
func (f *folder) clear() {
	f.Helper()
	for _, team := range f.teams() {
		for _, o := range f.get("jobsets,jobs", "--namespace="+team) {
			if o.owner() != "" || o.Metadata.Deletion != "" {
				continue
			}
			kind := strings.ToLower(o.Kind) + "s"
			if err := f.plane.Delete(f.ctx, f.submits(team), kind, team, o.Metadata.Name); err != nil {
				f.Fatal(err)
			}
		}
	}
	f.emptied()
}

// jobLabel is a label of the pods of a Job.
const jobLabel = "batch.kubernetes.io/job-name"

// nodePools returns the node pool of each node among the objects.
func nodePools(objects []object) map[string]string {
	pools := map[string]string{}
	for _, o := range objects {
		if o.Kind == "Node" {
			pools[o.Metadata.Name] = o.Metadata.Labels["cloud.google.com/gke-nodepool"]
		}
	}
	return pools
}

// autoPools returns nodes as GKE creates them for pods that wait: two nodes for
// each of the given number of jobs in compact placement of each team.
func (f *folder) autoPools(jobs int) []pool {
	var pools []pool
	for _, team := range f.teams() {
		for i := range jobs {
			pools = append(pools, autoPool(fmt.Sprintf("%s-%d-compact", team, i+1)))
		}
	}
	return pools
}

// autoPool returns the two nodes that GKE creates for a placement group.
func autoPool(group string) pool {
	return pool{
		name: "auto-" + group, nodes: 2, machine: "a2-highgpu-1g", accelerator: 1,
		labels: map[string]string{
			"cloud.google.com/gke-nodepool":        "auto",
			"cloud.google.com/gke-accelerator":     "nvidia-tesla-a100",
			"cloud.google.com/gke-spot":            "true",
			"cloud.google.com/machine-family":      "a2",
			"cloud.google.com/gke-placement-group": group,
		},
		taints: []taint{
			{"nvidia.com/gpu", "present", "NoSchedule"},
			{"cloud.google.com/gke-spot", "true", "NoSchedule"},
			{"cloud.google.com/gke-placement-group", group, "NoSchedule"},
		},
	}
}

// submitAll submits all teams' workloads of the given names at once.
func (f *folder) submitAll(files string, names ...string) {
	f.Helper()
	args := []string{"apply", "--server-side"}
	for _, team := range f.teams() {
		dir := filepath.Join(f.dir, "workloads", team)
		args = append(args, "-f", filepath.Join(dir, files+"-files.yaml"))
		for _, name := range names {
			args = append(args, "-f", filepath.Join(dir, name+".yaml"))
		}
	}
	f.kubectl(args...)
}

// batchPlatform performs the folder's own demonstration, and lets all jobs run to
// their end. The expected numbers are in the folder, and TestPhases in golden compares
// them with the reference.
func batchPlatform(f *folder) {
	f.add(append(f.pools(), f.autoPools(4)...)...)
	f.refused("team-a", "low-priority-1", func(text []byte) []byte {
		return bytes.ReplaceAll(text, []byte("namespace: team-a"), []byte("namespace: team-b"))
	}, "forbidden")

	f.part("demonstration", (*folder).phases)
	if f.Failed() { // each part would wait for what did not come about
		f.FailNow()
	}
	f.part("borrowing", (*folder).borrowing)
	// The attempts come after all that counts workloads, because Kueue counts from its start,
	// including refused ones.
	f.part("attempts", (*folder).escapes)
	f.part("unblocked", (*folder).unblocked)
	f.part("uncounted", (*folder).uncounted)
	f.part("honest jobs", (*folder).honest)
	f.part("examples", (*folder).examples)
	f.part("gcluster job submit", (*folder).gclusterSubmits)
	f.part("waits", (*folder).waits)
	f.part("outage", (*folder).outage)
}

// borrowing checks that a team that is alone in its cohort gets only the quota that it may
// borrow: two jobs by its own quota, and one on the part of l4-ondemand that another team
// leaves idle.
func (f *folder) borrowing() {
	f.Helper()
	defer f.clear()
	for i := range 4 {
		f.submit("team-a", fmt.Sprintf("high-priority-%d", i+1))
	}
	f.queues("-team-a-hp", count{1, 3})
	f.lent()
}

// example is a manifest in USING.md.
var example = regexp.MustCompile("(?ms)^```yaml\n(apiVersion: .*?)^```$")

// examples submits each complete job of USING.md as a member of its team. All its pods must run.
func (f *folder) examples() {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "USING.md"))
	if err != nil {
		f.Fatal(err)
	}
	all := example.FindAllSubmatch(text, -1)
	if len(all) < 3 {
		f.Errorf("USING.md has %d examples, want one for each tier", len(all))
	}
	f.add(autoPool("my-job"))
	for i, m := range all {
		const team = "team-a"
		file := filepath.Join(f.TempDir(), "my-job.yaml")
		if err := os.WriteFile(file, m[1], 0o600); err != nil {
			f.Fatal(err)
		}
		f.kubectl(append([]string{"apply", "--server-side", "-n", team, "-f", file}, f.member(team)...)...)
		f.allRun(team, fmt.Sprintf("example %d of USING.md", i+1))
	}
}

// part runs a part of a scenario, unless -test.run leaves it out. If it fails, the parts after
// it run too.
func (f *folder) part(name string, play func(*folder)) {
	whole := f.T
	defer func() { f.T = whole }()
	f.Run(name, func(t *testing.T) {
		f.T = t
		play(f)
	})
}

// batchPlatformArgoCD performs the first phase of the batch platform's demonstration with
// the charts of Kueue and JobSet, compares the dashboards with it, and takes Kueue away. The
// build has no steps that could repair Kueue. The other phases do not depend on who has
// applied the folder: batchPlatform performs them.
func batchPlatformArgoCD(f *folder) {
	f.add(append(f.pools(), f.autoPools(4)...)...)
	monitor := f.monitored()
	f.perform("low-priority")
	monitor.shows(batchPlatformLow)
	monitor.Stop()
	f.cleanUp()
	submit := f.withoutKueue()
	if err := f.plane.StartKueue(f.ctx); err != nil {
		f.Fatal(err)
	}
	f.kubectl(submit...)
}

// phases performs the phases of the batch platform's demonstration, and compares the
// dashboards and alerts with their numbers.
func (f *folder) phases() {
	f.Helper()
	monitor := f.monitored()
	defer monitor.Stop()
	f.failed("team-a", "jobset-1")

	f.refusedPhase("compact", "the job low-priority-1 in namespace team-a of an earlier phase does not exist")
	f.perform("low-priority")
	monitor.shows(batchPlatformLow)
	borrowers := f.borrowers("l4-reserved")
	f.refusedPhase("jobset", "the job low-priority-1 in namespace team-b exists already")

	f.perform("high-priority")
	f.reclaimed(borrowers)
	f.refusedPhase("low-priority", "the job high-priority-1 in namespace team-a exists already")

	f.perform("compact")
	if out := f.perform("compact"); !strings.Contains(out, "leaves exist already") {
		f.Errorf("a phase is performed twice:\n%s", out)
	}
	monitor.shows(batchPlatformFull)
	monitor.answered(batchPlatformAbsent, batchPlatformFiring)

	f.priorities(map[string]string{ // as the reference has them
		"low-priority":  "lp 10 Never",
		"compact":       "compact 15 PreemptLowerPriority",
		"high-priority": "hp 20 PreemptLowerPriority",
	})

	const all = "--all-namespaces"
	f.succeed(all, "^high-priority-", f.completed(all, "^high-priority-", 16))
	if out := f.perform("return"); !strings.Contains(out, "have ended: 16") {
		f.Errorf("nothing is said of 16 jobs that have ended:\n%s", out)
	}
	f.running(map[string]int{"l4-reserved": 4, "l4-spot": 24, "auto": 8})

	f.perform("idle-teams")
	f.perform("to-spot")
	f.perform("jobset")
	f.priorities(map[string]string{"jobset": "lp 10 Never", "compact": "compact 15 PreemptLowerPriority"})
	f.toTheEnd("to-the-end", 64)
	for _, tier := range []string{"-lp", "-hp", "-compact"} {
		f.queues(tier, count{0, 0})
	}
	f.cleanUp()
}

// toTheEnd performs a phase in which all jobs run to their end, and ends the pods of the jobs
// when they run.
func (f *folder) toTheEnd(phase string, jobs int) {
	f.Helper()
	type result struct {
		out string
		err error
	}
	performed := make(chan result, 1)
	go func() {
		out, err := f.demonstrate("--wait=1800", phase)
		performed <- result{out, err}
	}()
	const all = "--all-namespaces"
	f.eventually(func() string {
		if n := len(f.get("jobs", all)); n < jobs { // the script deletes and submits first
			return fmt.Sprintf("%d jobs of %d", n, jobs)
		}
		return ""
	})
	f.succeed(all, "", f.completed(all, "", jobs))
	r := <-performed
	if r.err != nil || !strings.Contains(r.out, "Phase "+phase+" is as expected.") {
		f.Fatalf("phase %s: %v\n%s", phase, r.err, r.out)
	}
	f.Log(r.out)
}

// lent checks how a guarantee comes back that jobs of the same priority borrow. One
// job of team-a runs on the guarantee of team-b. With the policy of the reference,
// LowerPriority, a job of team-b waits for its end. With the default of the grammar,
// toReclaim "Any", the job evicts it.
func (f *folder) lent() {
	f.Helper()
	const queue = "cq-team-b-hp"
	policy := func(name string) {
		f.kubectl("patch", "clusterqueue", queue, "--type=merge",
			`--patch={"spec":{"preemption":{"reclaimWithinCohort":"`+name+`"}}}`)
	}
	f.submit("team-b", "high-priority-1") // has the guarantee on the reservation
	f.queues(queue, count{0, 1})
	f.submit("team-b", "high-priority-2")
	f.eventually(func() string {
		// Kueue writes this after an attempt. If it evicted a job, it would write that
		// the preemption is pending.
		c := f.workload("team-b", "high-priority-2").condition("QuotaReserved")
		if !strings.Contains(c.Message, "insufficient unused quota") || strings.Contains(c.Message, "preemption of") {
			return "team-b's second job waits because: " + c.Message
		}
		return ""
	})
	f.queues(queue, count{1, 1})
	f.queues("-team-a-hp", count{1, 3})

	policy("Any")
	f.queues(queue, count{0, 2})
	f.queues("-team-a-hp", count{2, 2})
	policy("LowerPriority")
}

// borrowers returns the job of each team to which Kueue has given quota of a flavor. It
// must be the team's oldest job: Kueue has admitted that first.
func (f *folder) borrowers(flavor string) map[string]string {
	f.Helper()
	workloads := f.get("workloads", "--all-namespaces")
	// The times are texts of one length and time zone. A slow Kueue creates several Workloads
	// within a second, and admits them in any order.
	oldest := map[string]string{}
	for _, o := range workloads {
		if team := o.Metadata.Namespace; oldest[team] == "" || o.Metadata.Created < oldest[team] {
			oldest[team] = o.Metadata.Created
		}
	}
	found := map[string]string{}
	for _, o := range workloads {
		if !slices.ContainsFunc(o.Status.Admission.PodSetAssignments, func(a assignment) bool {
			return slices.Contains(slices.Collect(maps.Values(a.Flavors)), flavor)
		}) {
			continue
		}
		team := o.Metadata.Namespace
		if found[team] != "" || o.Metadata.Created != oldest[team] {
			f.Errorf("%s of %s has quota of %s, want only the oldest job", o.owner(), team, flavor)
		}
		found[team] = o.owner()
	}
	if len(found) != len(f.teams()) {
		f.Errorf("quota of %s has one job of each team in %v, want all teams", flavor, found)
	}
	return found
}

// reclaimed checks that the job of each team that borrowed the reservation was evicted
// for a high-priority job of its cohort, and no other job. A high-priority job gets back
// its nominal quota from a queue of lower priority. Kueue calls this reclaiming within the
// cohort, because all jobs of one queue have the same priority. Source: Kueue,
// apis/kueue/v1beta2/workload_types.go, reasons of Preempted.
func (f *folder) reclaimed(borrowers map[string]string) {
	f.Helper()
	objects := f.get("jobs,workloads", "--all-namespaces")
	queue := map[string]string{} // by the UID of the job
	for _, o := range objects {
		if o.Kind == "Job" {
			queue[o.Metadata.UID] = o.Metadata.Labels["kueue.x-k8s.io/queue-name"]
		}
	}
	preemptor := regexp.MustCompile(`JobUID: ([^)]+)\)`)
	got := map[string]string{}
	for _, o := range objects {
		if o.Kind != "Workload" || !o.is("Evicted") && !o.is("Preempted") {
			continue
		}
		by := ""
		if found := preemptor.FindStringSubmatch(o.condition("Preempted").Message); found != nil {
			by = queue[found[1]]
			by = by[strings.LastIndex(by, "-")+1:]
		}
		got[o.Metadata.Namespace+" "+o.owner()] = o.condition("Evicted").Reason + " " +
			o.condition("Preempted").Reason + " " + by
	}
	want := map[string]string{}
	for team, job := range borrowers {
		want[team+" "+job] = "Preempted InCohortReclamation hp"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("evicted are (-want +got):\n%s", diff)
	}
}

// priorities checks the PriorityClass, its value and its preemption policy in all pods
// that have not succeeded. want holds them by the name of the workload.
func (f *folder) priorities(want map[string]string) {
	f.Helper()
	number := regexp.MustCompile(`-[0-9].*`)
	got := map[string]string{}
	for _, o := range f.get("pods", "--all-namespaces", "--selector="+jobLabel,
		"--field-selector=status.phase!=Succeeded") {
		name := number.ReplaceAllString(o.Metadata.Labels[jobLabel], "")
		priority := fmt.Sprint(o.Spec.PriorityClassName, " ", o.Spec.Priority, " ", o.Spec.PreemptionPolicy)
		if before, ok := got[name]; ok && before != priority {
			f.Errorf("%s has pods of %s and of %s", name, before, priority)
		}
		got[name] = priority
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("priorities (-want +got):\n%s", diff)
	}
}
