package cluster_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// toolkitPage says what becomes of `gcluster job submit` on the batch platform. The answers are
// in rows of tables, in backticks.
const toolkitPage = "../../docs/cluster-toolkit.md"

// hostNetworkRow is the row of which the JobSet is accepted, and the pods are not.
const hostNetworkRow = "`hostNetwork: true`"

// gclusterWrites returns the JobSet that `gcluster job submit --name=hello --num-nodes=2
// --compute-type=g2-standard-24 --queue=lq-team-a-lp` writes.
//
// Source: Cluster Toolkit, commit 0080951e, pkg/orchestrator/gke: templates/jobset.tmpl,
// gke_job_orchestrator.go, manifest_generator.go, scheduling.go and resource_resolver.go.
func gclusterWrites() fields {
	const workload = "gcluster.google.com/workload"
	pod := fields{
		"hostNetwork": true, "dnsPolicy": "ClusterFirstWithHostNet",
		"terminationGracePeriodSeconds": 30, "priorityClassName": "medium", "restartPolicy": "Never",
		"containers": []any{fields{
			"name": "workload-container", "image": "busybox:1.37", "command": []string{"/bin/bash", "-c", "hostname"},
			"resources": fields{"limits": fields{"nvidia.com/gpu": "2"}},
		}},
		"nodeSelector": fields{"cloud.google.com/gke-accelerator": "nvidia-l4"},
		"affinity": fields{"nodeAffinity": fields{required: fields{"nodeSelectorTerms": []any{fields{
			"matchExpressions": []any{fields{
				"key": "cloud.google.com/gke-nodepool", "operator": "NotIn", "values": []string{"default-pool"},
			}},
		}}}}},
	}
	return fields{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
		"metadata": fields{
			"name": "hello", "namespace": "team-a",
			"labels":      fields{workload: "hello", "kueue.x-k8s.io/queue-name": "lq-team-a-lp"},
			"annotations": fields{"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"},
		},
		"spec": fields{
			"ttlSecondsAfterFinished": 3600,
			"failurePolicy": fields{"maxRestarts": 1, "rules": []any{
				fields{"action": "FailJobSet", "onJobFailureReasons": []string{"PodFailurePolicy"}},
			}},
			"replicatedJobs": []any{fields{"name": "main-job", "replicas": 1, "template": fields{"spec": fields{
				"parallelism": 2, "completions": 2, "backoffLimit": 0,
				"template": fields{"metadata": fields{"labels": fields{workload: "hello"}}, "spec": pod},
			}}}},
		},
	}
}

// correction changes what gcluster writes, as a row of toolkitPage says.
type correction struct {
	row    string
	change func(set, pod fields)
}

// corrections are the changes after which the platform admits the JobSet.
func corrections() []correction {
	return []correction{
		{"`priorityClassName: medium`", func(_, pod fields) { pod["priorityClassName"] = "lp" }},
		{
			"the annotation `exclusive-topology`",
			func(set, _ fields) { delete(set["metadata"].(fields), "annotations") },
		},
		{
			"no requests of `cpu` and `memory`",
			func(_, pod fields) { request(pod, fields{"cpu": "2", "memory": "10Gi"}) },
		},
		{"`nvidia.com/gpu` in limits only", func(_, pod fields) { request(pod, fields{"nvidia.com/gpu": "2"}) }},
		{hostNetworkRow, func(_, pod fields) {
			delete(pod, "hostNetwork")
			delete(pod, "dnsPolicy")
		}},
	}
}

// request adds requests to the container of a pod.
func request(pod, requests fields) {
	resources := pod["containers"].([]any)[0].(fields)["resources"].(fields)
	all, ok := resources["requests"].(fields)
	if !ok {
		all = fields{}
		resources["requests"] = all
	}
	for name, amount := range requests {
		all[name] = amount
	}
}

// corrected returns what gcluster writes with all corrections except one.
func corrected(except string) fields {
	set := gclusterWrites()
	job := set["spec"].(fields)["replicatedJobs"].([]any)[0].(fields)["template"].(fields)["spec"].(fields)
	for _, c := range corrections() {
		if c.row != except {
			c.change(set, job["template"].(fields)["spec"].(fields))
		}
	}
	return set
}

// gclusterSubmits makes the requests of `gcluster job submit`, and compares the answers with
// toolkitPage: those by which it checks the cluster, and the JobSet with each single mistake.
// Without mistakes, the JobSet must run.
func (f *folder) gclusterSubmits() {
	f.Helper()
	text, err := os.ReadFile(toolkitPage)
	if err != nil {
		f.Fatal(err)
	}
	// holds checks that the error of a request is the answer in its row of the page.
	holds := func(row string, err error) {
		f.Helper()
		_, answer, found := strings.Cut(string(text), "\n| "+row+" | refused: `")
		answer, _, _ = strings.Cut(answer, "`")
		switch {
		case !found:
			f.Errorf("%s has no refused row %q", toolkitPage, row)
		case err == nil:
			f.Errorf("%s: not refused", row)
		case !strings.Contains(strings.Join(strings.Fields(err.Error()), " "), answer):
			f.Errorf("%s: refused with another message than %q:\n%v", row, answer, err)
		}
	}
	for row, args := range map[string]string{
		"`kubectl get namespace default`": "get namespace default",
		"`kubectl get priorityclass`":     "get priorityclass medium",
		"JobSets of all namespaces":       "get jobsets --all-namespaces",
	} {
		_, err := f.try(attempt{args: strings.Fields(args)})
		holds(row, err)
	}
	holds("the PriorityClass `medium`, as the default", f.plane.Submit(f.ctx, plane.Member{}, fields{
		"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": fields{"name": "medium"},
		"value": 500, "globalDefault": true,
	}, true))

	for _, c := range corrections() {
		wrong := corrected(c.row)
		if c.row != hostNetworkRow {
			holds(c.row, f.plane.Submit(f.ctx, f.submits("team-a"), wrong, true))
			continue
		}
		f.make(wrong)
		f.eventually(func() string {
			if events := f.events(); !strings.Contains(events, "host namespaces (hostNetwork=true)") {
				return "no pod is refused: " + events
			}
			return ""
		})
		f.clear()
	}
	f.make(corrected(""))
	f.eventually(func() string {
		if w := f.workloadsOf("team-a", "hello"); len(w) != 1 || !w[0].is("Admitted") {
			return fmt.Sprintf("not admitted: %v", w)
		}
		return ""
	})
	f.runs("hello-main-job-0", 2)
	f.clear()
	f.unmanaged()
}

// unmanaged checks that the JobSet in the namespace default gets neither quota nor nodes.
func (f *folder) unmanaged() {
	f.Helper()
	set := corrected("`hostNetwork: true`")
	set["metadata"].(fields)["namespace"] = "default"
	job := set["spec"].(fields)["replicatedJobs"].([]any)[0].(fields)["template"].(fields)["spec"].(fields)
	pod := job["template"].(fields)["spec"].(fields)
	// GKE adds this toleration to every pod that requests GPUs.
	pod["tolerations"] = []any{fields{"key": "nvidia.com/gpu", "operator": "Exists"}}
	if err := f.plane.Submit(f.ctx, plane.Member{}, set, false); err != nil {
		f.Fatal(err)
	}
	f.eventually(func() string {
		waits := 0
		pods := f.get("pods", "--namespace=default")
		for _, o := range pods {
			if strings.Contains(o.condition("PodScheduled").Message, "untolerated taint") {
				waits++
			}
		}
		if waits != 2 {
			return fmt.Sprintf("%d of the pods wait because of taints, want 2: %v", waits, pods)
		}
		return ""
	})
	if w := f.workloadsOf("default", "hello"); len(w) > 0 {
		f.Errorf("Kueue handles a JobSet in the namespace default: %v", w)
	}
	if err := f.plane.Delete(f.ctx, plane.Member{}, "jobsets", "default", "hello"); err != nil {
		f.Fatal(err)
	}
	f.eventually(func() string {
		if left := f.get("pods", "--namespace=default"); len(left) > 0 {
			return fmt.Sprintf("left: %v", left)
		}
		return ""
	})
}
