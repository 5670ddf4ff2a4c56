package cluster_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// flex is a job for nodes of Dynamic Workload Scheduler, with the request that it
// makes.
type flex struct {
	team, name, pool string
	pods             int
	seconds          string
}

type provisioningRequest struct {
	Metadata struct {
		Name            string
		OwnerReferences []struct{ Name string }
	}
	Spec struct {
		ProvisioningClassName string
		Parameters            map[string]string
		PodSets               []struct{ Count int }
	}
}

func batchPlatformDWS(f *folder) {
	// The other jobs are the same as in the batch platform. One copy of each runs here
	// beside the flex-start jobs; two of the high-priority job run, because it can use
	// two capacities.
	f.add(slices.DeleteFunc(append(f.pools(), f.autoPools(1)...), func(p pool) bool {
		return strings.HasSuffix(p.name, "-dws")
	})...)
	f.submitAll("high-priority", "high-priority-1", "high-priority-2")
	f.queues("-hp", count{0, 2})
	f.submitAll("low-priority", "low-priority-1")
	f.submitAll("compact", "compact-1")
	f.submitAll("jobset", "jobset-1")
	f.provision("dws-cluster-queue", map[string]int{
		"l4-reserved": 4, // as in the batch platform
		"l4-ondemand": 8,
		"l4-spot":     16,
		"auto":        8,
	},
		tunings...)
	f.flexStart(tunings...)
}

// tunings are the jobs of the batch platform's shared queue.
var tunings = []flex{
	{"team-a", "finetune-gemma-2b", "a100-dws", 1, "14400"},
	{"team-b", "finetune-gemma-7b", "h100-dws", 1, "14400"},
}

// flexStart performs the phases that the folder adds to the demonstration of the
// batch platform. While the script waits, the test plays Dynamic Workload Scheduler
// with the nodes that provision has created.
func (f *folder) flexStart(jobs ...flex) {
	f.Helper()
	// The jobs that the phase before leaves.
	f.submitAll("compact", "compact-1", "compact-2", "compact-3", "compact-4")
	f.submitAll("jobset", "jobset-1", "jobset-2", "jobset-3", "jobset-4")
	type result struct {
		out string
		err error
	}
	performed := make(chan result, 1)
	go func() {
		out, err := f.demonstrate(scriptWaits(), "flex-start")
		performed <- result{out, err}
	}()
	for _, j := range jobs {
		f.eventually(func() string { // first the script deletes the JobSets
			if !slices.ContainsFunc(f.get("workloads", "--namespace="+j.team), func(o object) bool {
				return o.owner() == j.name
			}) {
				return fmt.Sprintf("%s of %s is not submitted", j.name, j.team)
			}
			return ""
		})
		f.answer(j, 1, j.resize(), "Accepted", "Provisioned")
	}
	if r := <-performed; r.err != nil || !strings.Contains(r.out, "Phase flex-start is as expected.") {
		f.Fatalf("phase flex-start: %v\n%s", r.err, r.out)
	}
	f.queues("dws-cluster-queue", count{0, len(jobs)})
	f.toTheEnd("fine-tuned", len(jobs))
	f.queues("dws-cluster-queue", count{0, 0})
	f.cleanUp()
}

func a3UltraFlex(f *folder) {
	f.provision("cq-dws", map[string]int{},
		flex{"research", "sample", "a3-ultra", 1, "600"},
		flex{"products", "all-gather", "a3-ultra", 2, "1200"}, // a JobSet of two nodes
		flex{"products", "sample", "a3-ultra", 1, "600"},
		flex{"research", "all-gather", "a3-ultra", 2, "1200"})
}

// provision plays Dynamic Workload Scheduler for the jobs of a ClusterQueue. The requests of the first
// two jobs fail once. Each job requests nodes for its number of pods and seconds,
// waits, and runs only on the nodes that are created for it, while other pods run.
// At the end the nodes of the first job are removed, as if their time was over:
// Kueue must deactivate the job, as the guide says.
func (f *folder) provision(queue string, running map[string]int, jobs ...flex) {
	f.Helper()
	f.retrySoon()
	for _, j := range jobs {
		f.submit(j.team, j.name)
	}
	f.answer(jobs[0], 1, "", "Accepted", "Failed")
	f.answer(jobs[1], 1, "", "Accepted", "BookingExpired")
	want := maps.Clone(running)
	attempt := func(i int) int {
		if i < 2 {
			return 2
		}
		return 1
	}
	var nodes []pool
	for i, j := range jobs {
		f.request(j, attempt(i))
		w := f.workload(j.team, j.name)
		if !w.is("QuotaReserved") || w.is("Admitted") {
			f.Errorf("before there are nodes, %s is %v", w, w.Status.Conditions)
		}
		if found := f.podsOf(j); len(found) > 0 {
			f.Errorf("before there are nodes, there are %v", found)
		}
		var evictions []eviction
		if i < 2 {
			evictions = []eviction{{Reason: "AdmissionCheck", Count: 1}}
		}
		if diff := cmp.Diff(evictions, w.Status.SchedulingStats.Evictions); diff != "" {
			f.Errorf("%s was evicted (-want +got):\n%s", w, diff)
		}
		p := f.pool(j.pool)
		p.nodes = j.pods
		p.labels[resizeLabel] = j.resize()
		nodes = append(nodes, p)
		want[j.pool] += j.pods
	}
	if len(running) > 0 {
		f.running(running)
	}
	f.add(nodes...)
	for i, j := range jobs {
		f.answer(j, attempt(i), j.resize(), "Accepted", "Provisioned")
	}
	for _, j := range jobs {
		f.eventually(func() string {
			if got := len(f.podsOf(j)); got != j.pods {
				return fmt.Sprintf("%s of %s has %d pods, want %d", j.name, j.team, got, j.pods)
			}
			return ""
		})
		if w := f.workload(j.team, j.name); !w.is("Admitted") {
			f.Errorf("with nodes, %s is %v", w, w.Status.Conditions)
		}
		for _, o := range f.podsOf(j) {
			if got := o.Spec.NodeSelector[resizeLabel]; got != j.resize() {
				f.Errorf("%s selects the nodes of %q, want %q", o, got, j.resize())
			}
		}
	}
	f.running(want)

	first := jobs[0]
	f.answer(first, 2, first.resize(), "Accepted", "Provisioned", "CapacityRevoked")
	if want[first.pool] -= first.pods; want[first.pool] == 0 {
		delete(want, first.pool)
	}
	f.running(want)
	if w := f.workload(first.team, first.name); w.Spec.Active == nil || *w.Spec.Active ||
		w.condition("Evicted").Reason != "DeactivatedDueToAdmissionCheck" ||
		!strings.Contains(w.condition("Evicted").Message, "The workload is deactivated") { // USING.md explains it
		f.Errorf("with its nodes taken back, %s is %v", w, w.Status.Conditions)
	}
	f.queues(queue, count{0, len(jobs) - 1})
	f.clear()
}

// podsOf returns the pods of a job.
func (f *folder) podsOf(j flex) []object {
	f.Helper()
	return slices.DeleteFunc(f.get("pods", "--namespace="+j.team, "--selector="+jobLabel), func(o object) bool {
		return !strings.HasPrefix(o.Metadata.Labels[jobLabel], j.name)
	})
}

// resizeLabel identifies the nodes that were created for one request. Source: GKE
// documentation, flex-start with queued provisioning.
const resizeLabel = "autoscaling.gke.io/provisioning-request"

// resize returns the name that GKE would give to the resize of the job's node pool.
func (j flex) resize() string { return "resize-" + j.team + "-" + j.name }

// retrySoon checks that the folder lets Kueue retry failed requests for a week. It then lets
// Kueue retry three times, and wait only a second.
// Source: Kueue, apis/kueue/v1beta2/provisioningrequestconfig_types.go.
func (f *folder) retrySoon() {
	f.Helper()
	out := f.kubectl("get", "provisioningrequestconfigs", "-o", "json")
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct {
				RetryStrategy struct{ BackoffLimitCount, BackoffBaseSeconds, BackoffMaxSeconds int }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		f.Fatal(err)
	}
	for _, o := range list.Items {
		s := o.Spec.RetryStrategy
		if got, want := [...]int{s.BackoffLimitCount, s.BackoffBaseSeconds, s.BackoffMaxSeconds}, [...]int{
			340, 60, 1800,
		}; got != want {
			f.Errorf("%s retries %v, want %v", o.Metadata.Name, got, want)
		}
		f.kubectl("patch", "provisioningrequestconfigs", o.Metadata.Name, "--type=merge",
			`--patch={"spec":{"retryStrategy":{"backoffBaseSeconds":1,"backoffLimitCount":3}}}`)
	}
}

// request waits for the nth request of a job for nodes, and returns it. It compares
// the class, time and pods of the request with the job.
func (f *folder) request(j flex, attempt int) provisioningRequest {
	f.Helper()
	var request provisioningRequest
	f.eventually(func() string {
		owner := f.workload(j.team, j.name).Metadata.Name
		found, err := f.plane.List(f.ctx, "provisioningrequests", "--namespace="+j.team)
		if err != nil {
			return err.Error()
		}
		requests := make([]provisioningRequest, len(found))
		for i, o := range found {
			if err := json.Unmarshal(o.JSON, &requests[i]); err != nil {
				return err.Error()
			}
		}
		i := slices.IndexFunc(requests, func(r provisioningRequest) bool {
			return r.Metadata.OwnerReferences[0].Name == owner &&
				strings.HasSuffix(r.Metadata.Name, fmt.Sprintf("-%d", attempt))
		})
		if i < 0 {
			return fmt.Sprintf("%s of %s has no ProvisioningRequest %d", j.name, j.team, attempt)
		}
		request = requests[i]
		return ""
	})
	if got := request.Spec.ProvisioningClassName; got != "queued-provisioning.gke.io" {
		f.Errorf("the class of %s is %q", request.Metadata.Name, got)
	}
	if got := request.Spec.Parameters["maxRunDurationSeconds"]; got != j.seconds {
		f.Errorf("%s is for %s seconds, want %s", request.Metadata.Name, got, j.seconds)
	}
	if len(request.Spec.PodSets) != 1 || request.Spec.PodSets[0].Count != j.pods {
		f.Errorf("%s is for %v, want %d pods", request.Metadata.Name, request.Spec.PodSets, j.pods)
	}
	return request
}

// answer sets conditions of a job's request, as GKE would. If resize is not empty,
// it also sets the name of the resize.
func (f *folder) answer(j flex, attempt int, resize string, conditions ...string) {
	f.Helper()
	request := f.request(j, attempt)
	status := map[string]any{}
	var hold []any
	for _, c := range conditions {
		hold = append(hold, map[string]any{
			"type": c, "status": "True", "reason": c, "message": "played by the test",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		})
	}
	status["conditions"] = hold
	if resize != "" {
		status["provisioningClassDetails"] = map[string]string{"ResizeRequestName": resize}
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		f.Fatal(err)
	}
	f.kubectl("patch", "provisioningrequests", request.Metadata.Name, "--namespace="+j.team, "--subresource=status",
		"--type=merge", "--patch="+string(patch))
}
