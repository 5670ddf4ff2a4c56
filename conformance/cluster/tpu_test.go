package cluster_test

import (
	"fmt"
	"strconv"
	"strings"
)

// tpuTraining performs the folder's demonstration, then runs every JobSet to its end.
// Two slices hold either one multislice JobSet or two JobSets of one slice.
func tpuTraining(f *folder) {
	f.add(f.pools()...)
	slices := map[string]int{"slices-0": 4, "slices-1": 4}
	for _, phase := range []string{"single-slice", "multislice", "tensorboard"} {
		f.perform(phase)
	}
	f.alone()
	f.cleanUp()
	const research, training = "--namespace=tpu-research", "--namespace=tpu-training"

	f.submit("tpu-training", "multislice")
	f.running(slices)
	f.alone()
	f.submit("tpu-research", "multislice") // waits for the quota of the first
	f.queues("-train", count{1, 1})
	f.succeed(training, "^multislice-", f.completed(training, "^multislice$", 1))
	f.queues("-train", count{0, 1})
	f.running(slices)
	f.alone()

	// First a node is drained, which does not count as a failure. Then a host fails
	// once, which the JobSet tolerates, and once more.
	node := f.pods("tpu-research")[0].Spec.NodeName
	f.kubectl("drain", "--delete-emptydir-data", node)
	f.kubectl("uncordon", node)
	f.restarted("tpu-research", 1, 0)
	f.running(slices)
	f.alone()
	f.fail("tpu-research")
	f.restarted("tpu-research", 2, 1)
	f.running(slices)
	f.fail("tpu-research")
	f.eventually(func() string {
		if w := f.workload("tpu-research", "multislice"); w.condition("Finished").Reason != "Failed" {
			return fmt.Sprint(w, w.Status.Conditions)
		}
		return ""
	})
	f.queues("-train", count{0, 0})
	f.kubectl("delete", "jobsets", "--all", research)

	// The job that logs to TensorBoard has one more pod, which is stopped at the end.
	f.submit("tpu-training", "tensorboard")
	f.running(map[string]int{"slices-0": 4, "slices-1": 4, "cpu": 1})
	f.succeed(training, "^tensorboard-slice-", f.completed(training, "^tensorboard$", 1))
	f.running(map[string]int{})

	f.submit("tpu-research", "single-slice")
	f.submit("tpu-training", "single-slice")
	f.running(slices)
	f.alone()
	const all = "--all-namespaces"
	f.succeed(all, "^single-slice-", f.completed(all, "^single-slice$", 2))
	f.queues("-train", count{0, 0})
	f.clear()
}

// pods returns the running pods of a namespace.
func (f *folder) pods(namespace string) []object {
	f.Helper()
	found := f.get("pods", "--namespace="+namespace, "--field-selector=status.phase=Running")
	if len(found) == 0 {
		f.Fatalf("no pod runs in %s", namespace)
	}
	return found
}

// fail lets a pod of a namespace fail.
func (f *folder) fail(namespace string) {
	f.Helper()
	f.kubectl("annotate", "pods", f.pods(namespace)[0].Metadata.Name, "--namespace="+namespace, "plane/ends=Failed")
}

// restarted waits until the namespace's JobSet has restarted the given number of times,
// the given number of restarts count as failures, and no Job or pod is left of the time
// before the last restart.
func (f *folder) restarted(namespace string, restarts, counted int) {
	f.Helper()
	f.eventually(func() string {
		var late strings.Builder
		for _, o := range f.get("jobsets,jobs,pods", "--namespace="+namespace) {
			switch {
			case o.Kind != "JobSet":
				if attempt := o.Metadata.Labels[attemptLabel]; attempt != strconv.Itoa(restarts) {
					fmt.Fprintf(&late, "%s is of attempt %s\n", o, attempt)
				}
			case o.Status.Restarts != restarts || o.Status.RestartsCounted != counted:
				fmt.Fprintf(&late, "%s: %d restarts, of which %d count, want %d, %d\n", o, o.Status.Restarts,
					o.Status.RestartsCounted, restarts, counted)
			}
		}
		return late.String()
	})
}

// attemptLabel is a label of the Jobs and pods of a JobSet: how often it had restarted when
// they were created.
const attemptLabel = "jobset.sigs.k8s.io/restart-attempt"

// alone checks that each node pool runs pods of only one Job: the hosts of a pool
// are one slice.
func (f *folder) alone() {
	f.Helper()
	objects := f.get("nodes,pods", "--all-namespaces")
	pools := nodePools(objects)
	jobs := map[string]string{} // by node pool
	for _, o := range objects {
		if o.Kind != "Pod" || o.Status.Phase != "Running" {
			continue
		}
		pool, job := pools[o.Spec.NodeName], o.Metadata.Namespace+"/"+o.Metadata.Labels[jobLabel]
		if jobs[pool] != "" && jobs[pool] != job {
			f.Errorf("node pool %s has pods of %s and of %s", pool, jobs[pool], job)
		}
		jobs[pool] = job
	}
}
