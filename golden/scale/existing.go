package scale

import (
	"bytes"
	"fmt"
	"os"
)

// Existing are the numbers of existing queues that benchmarks run with.
var Existing = []int{1000, 4000}

// WriteExport writes an export of a cluster as kubectl prints it, in JSON: a flavor, and for
// each of a number of teams a Namespace, a ClusterQueue and a LocalQueue with names that
// import keeps. Ten ClusterQueues share a cohort.
func WriteExport(name string, queues int) error {
	var b bytes.Buffer
	b.WriteString(`{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "l4"},
 "spec": {"nodeLabels": {"cloud.google.com/gke-accelerator": "nvidia-l4"}}}`)
	for i := range queues {
		fmt.Fprintf(&b, `,
{"apiVersion": "v1", "kind": "Namespace",
 "metadata": {"name": "n%05[1]d", "uid": "n-%05[1]d", "resourceVersion": "1",
  "creationTimestamp": "2025-01-01T00:00:00Z", "labels": {"kubernetes.io/metadata.name": "n%05[1]d"}},
 "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}},
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
 "metadata": {"name": "q%05[1]d", "uid": "q-%05[1]d", "resourceVersion": "1",
  "creationTimestamp": "2025-01-01T00:00:00Z", "generation": 1},
 "spec": {"cohortName": "cohort-%04[2]d", "queueingStrategy": "BestEffortFIFO", "stopPolicy": "None",
  "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "n%05[1]d"}},
  "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
  "preemption": {"borrowWithinCohort": {"policy": "Never"}, "reclaimWithinCohort": "Any",
   "withinClusterQueue": "LowerPriority"},
  "resourceGroups": [{"coveredResources": ["cpu", "memory", "nvidia.com/gpu"], "flavors": [
   {"name": "l4", "resources": [{"name": "cpu", "nominalQuota": "%[3]d"}, {"name": "memory", "nominalQuota": "64Gi"},
   {"name": "nvidia.com/gpu", "nominalQuota": "%[4]d"}]}]}]},
 "status": {"pendingWorkloads": 0, "conditions": [{"type": "Active", "status": "True", "reason": "Ready",
  "message": "Can admit new workloads", "lastTransitionTime": "2025-01-01T00:00:00Z"}]}},
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
 "metadata": {"name": "q%05[1]d", "namespace": "n%05[1]d", "uid": "l-%05[1]d", "resourceVersion": "1",
  "creationTimestamp": "2025-01-01T00:00:00Z", "generation": 1},
 "spec": {"clusterQueue": "q%05[1]d", "stopPolicy": "None"}, "status": {"pendingWorkloads": 0}}`,
			i, i/10, 8+i%5, 1+i%4)
	}
	b.WriteString("\n]}\n")
	return os.WriteFile(name, b.Bytes(), 0o644)
}
