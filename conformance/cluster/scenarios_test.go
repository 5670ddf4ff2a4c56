package cluster_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// count is of workloads in a ClusterQueue.
type count struct{ Pending, Admitted int }

// queues waits until the ClusterQueues whose names end so have these counts.
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
			if got := (count{o.Status.PendingWorkloads, o.Status.AdmittedWorkloads}); got != want {
				fmt.Fprintf(&other, "%s: %d pending, %d admitted, want %d, %d\n", o.Metadata.Name, got.Pending, got.Admitted, want.Pending, want.Admitted)
			}
		}
		if found == 0 {
			return "no ClusterQueue " + suffix
		}
		return other.String()
	})
}

// running waits until so many of the jobs' pods run on the nodes of each node
// pool, and every DaemonSet of the folder on all nodes it is for.
func (f *folder) running(want map[string]int) {
	f.Helper()
	f.eventually(func() string {
		objects := f.get("nodes,pods,daemonsets", "--all-namespaces")
		pools := nodePools(objects)
		got := map[string]int{}
		late := ""
		for _, o := range objects {
			switch {
			case o.Kind == "Pod" && o.Status.Phase == "Running" && o.Metadata.Labels[jobLabel] != "":
				got[pools[o.Spec.NodeName]]++
			case o.Kind == "DaemonSet" && (o.Status.Desired == 0 || o.Status.Ready != o.Status.Desired):
				late += fmt.Sprintf("%s: %d pods of %d\n", o, o.Status.Ready, o.Status.Desired)
			}
		}
		return late + cmp.Diff(want, got)
	})
}

// emptied waits until no job has left anything.
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

// jobLabel is on the pods of a Job.
const jobLabel = "batch.kubernetes.io/job-name"

// nodePools maps the nodes among the objects to their node pools.
func nodePools(objects []object) map[string]string {
	pools := map[string]string{}
	for _, o := range objects {
		if o.Kind == "Node" {
			pools[o.Metadata.Name] = o.Metadata.Labels["cloud.google.com/gke-nodepool"]
		}
	}
	return pools
}

// batchPlatform submits the reference's jobs stage by stage. The counts are the
// reference's own where it states them, with the queues settled.
func batchPlatform(f *folder) {
	for _, p := range f.pools() {
		f.add(p)
	}
	// GKE makes auto-provisioned nodes for the pods that wait: here two for each
	// team's first job, in its placement group.
	for _, team := range f.teams() {
		group := team + "-1-compact"
		f.add(pool{
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
		})
	}

	const label = "    kueue.x-k8s.io/queue-name: lq-team-a-lp\n"
	f.refused("team-a", "low-priority-1", func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(label), nil) },
		"must name a queue of namespace team-a")
	f.refused("team-a", "low-priority-1", func(text []byte) []byte {
		return bytes.ReplaceAll(text, []byte(label), []byte(strings.ReplaceAll(label, "team-a", "team-b")))
	}, "must name a queue of namespace team-a")
	f.refused("team-a", "low-priority-1", func(text []byte) []byte {
		return bytes.ReplaceAll(text, []byte("namespace: team-a"), []byte("namespace: team-b"))
	}, "forbidden")

	monitor := f.monitored()
	defer monitor.Stop()
	f.failed("team-a", "jobset-1")

	// The teams take turns: one that is first with all its jobs would borrow
	// what another is about to ask for, and jobs of one priority take nothing
	// back from each other.
	submit := func(name string) {
		for i := 1; i <= 4; i++ {
			args := []string{"apply", "--server-side"}
			for _, team := range f.teams() {
				dir := filepath.Join(f.dir, "workloads", team)
				args = append(args, "-f", filepath.Join(dir, name+"-files.yaml"), "-f", filepath.Join(dir, fmt.Sprintf("%s-%d.yaml", name, i)))
			}
			f.kubectl(args...)
		}
	}
	submit("low-priority")
	f.queues("-lp", count{0, 4})
	monitor.shows(batchPlatformLow)

	submit("high-priority")
	f.queues("-hp", count{2, 2})
	f.queues("-lp", count{1, 3}) // one a team has made room on the reservation

	submit("compact")
	f.queues("-compact", count{3, 1})
	f.running(map[string]int{
		"l4-reserved": 4, // 8 GPUs for 16 that are guaranteed: E0602, accepted
		"l4-ondemand": 8,
		"l4-spot":     24,
		"auto":        8,
	})
	monitor.shows(batchPlatformFull)
	monitor.answered(batchPlatformAbsent, batchPlatformFiring)

	f.kubectl("delete", "jobs", "--all", "--all-namespaces", "--wait=false")
	f.emptied()
	for _, tier := range []string{"-lp", "-hp", "-compact"} {
		f.queues(tier, count{0, 0})
	}
}

// provision plays Dynamic Workload Scheduler for a job: it is asked for nodes
// for so many pods and so many seconds, the job waits, and runs on the nodes
// that come, and on no others. Nodes of earlier jobs are still there.
func (f *folder) provision(team, name, poolName string, pods int, seconds string) {
	f.Helper()
	f.submit(team, name)
	var request provisioningRequest
	f.eventually(func() string {
		out := f.kubectl("get", "provisioningrequests", "--namespace="+team, "-o", "json")
		var list struct{ Items []provisioningRequest }
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			return err.Error()
		}
		if len(list.Items) != 1 {
			return fmt.Sprintf("%d ProvisioningRequests", len(list.Items))
		}
		request = list.Items[0]
		return ""
	})
	if got := request.Spec.ProvisioningClassName; got != "queued-provisioning.gke.io" {
		f.Errorf("the class of the request is %q", got)
	}
	if got := request.Spec.Parameters["maxRunDurationSeconds"]; got != seconds {
		f.Errorf("the request is for %s seconds, want %s", got, seconds)
	}
	if len(request.Spec.PodSets) != 1 || request.Spec.PodSets[0].Count != pods {
		f.Errorf("the request is for %v, want %d pods", request.Spec.PodSets, pods)
	}
	workload := func() object {
		f.Helper()
		found := f.get("workloads", "--namespace="+team)
		if len(found) != 1 {
			f.Fatalf("%d workloads in %s", len(found), team)
		}
		return found[0]
	}
	if w := workload(); !w.is("QuotaReserved") || w.is("Admitted") {
		f.Errorf("before there are nodes, the workload is %v", w.Status.Conditions)
	}
	if found := f.get("pods", "--namespace="+team); len(found) != 0 {
		f.Errorf("before there are nodes, there are pods: %v", found)
	}

	p := f.pool(poolName)
	p.nodes = pods
	resize := "resize-" + name
	p.labels["autoscaling.gke.io/provisioning-request"] = resize
	f.add(p)
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": kind, "message": "played by the test", "lastTransitionTime": now}
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"conditions":               []any{condition("Accepted"), condition("Provisioned")},
		"provisioningClassDetails": map[string]string{"ResizeRequestName": resize},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.kubectl("patch", "provisioningrequests", request.Metadata.Name, "--namespace="+team, "--subresource=status", "--type=merge", "--patch="+string(patch))
	f.running(map[string]int{poolName: pods})
	if w := workload(); !w.is("Admitted") {
		f.Errorf("with nodes, the workload is %v", w.Status.Conditions)
	}
	f.kubectl(append([]string{"delete", "jobs,jobsets", "--all", "--namespace=" + team}, f.member(team)...)...)
	f.emptied()
}

type provisioningRequest struct {
	Metadata struct{ Name string }
	Spec     struct {
		ProvisioningClassName string
		Parameters            map[string]string
		PodSets               []struct{ Count int }
	}
}

func batchPlatformDWS(f *folder) {
	f.provision("team-a", "finetune-gemma-2b", "a100-dws", 1, "14400")
	f.provision("team-b", "finetune-gemma-7b", "h100-dws", 1, "14400")
}

func a3UltraFlex(f *folder) {
	f.provision("research", "sample", "a3-ultra", 1, "600")
	f.provision("products", "all-gather", "a3-ultra", 2, "3600") // a JobSet of two nodes
}

// tpuTraining runs one JobSet on both slices: each of its jobs has the hosts of
// one slice to itself.
func tpuTraining(f *folder) {
	for _, p := range f.pools() {
		f.add(p)
	}
	f.submit("tpu-training", "multislice")
	f.running(map[string]int{"slices-0": 4, "slices-1": 4})
	objects := f.get("nodes,pods", "--all-namespaces")
	pools := nodePools(objects)
	jobs := map[string]string{} // by node pool
	for _, o := range objects {
		if o.Kind != "Pod" {
			continue
		}
		pool, job := pools[o.Spec.NodeName], o.Metadata.Labels[jobLabel]
		if jobs[pool] != "" && jobs[pool] != job {
			f.Errorf("node pool %s has pods of %s and of %s", pool, jobs[pool], job)
		}
		jobs[pool] = job
	}
	f.kubectl("delete", "jobsets", "--all", "--namespace=tpu-training")
	f.emptied()
}
