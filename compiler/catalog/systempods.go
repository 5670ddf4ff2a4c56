package catalog

import _ "embed"

// Google does not publish what GKE's own pods request, so the rows of GKE's pods
// were read from two clusters and from public manifests. The clusters agree on the
// pods that both list: fluentbit-gke, gke-metadata-server and ip-masq-agent. The
// requests change with the version of GKE and grow with the cluster. A row without
// memory is a pod whose memory no source names. Findings that depend on these rows
// must therefore be warnings. The requests of the schedulers and of the controllers of
// jobs are from their releases.
//
//go:embed systempods.jsonl
var systemPods string

// The places of system pods. The other places are the name of a scheduler and the
// resource of an accelerator.
const (
	// onEveryNode are pods that GKE starts on every node.
	onEveryNode = "node"
	// OnSystemPool are pods of GKE that need a node without the taints of the
	// teams' nodes.
	OnSystemPool = "system"
	// OnCluster are pods that the platform installs in every cluster.
	OnCluster = "cluster"
	// onFilestore and onGCSFuse are pods of CSI drivers, on every node.
	onFilestore = "filestore"
	onGCSFuse   = "gcsFuse"
)

// SystemPod is a pod of GKE, or of the software that the platform installs, with
// its requests.
type SystemPod struct {
	On        string `json:"on"`
	Pod       string `json:"pod"`
	MilliCPU  int64  `json:"milliCPU"`
	MemoryMiB int64  `json:"memoryMiB,omitzero"`
	Source    string `json:"source"`
}

// SystemPods returns the pods of the given places, in the order of the places. A
// pool without accelerators has the accelerator "", which has no pods.
func SystemPods(places ...string) []SystemPod {
	var out []SystemPod
	for _, place := range places {
		out = append(out, decodeRows[SystemPod](findRows(systemPods, "on", place))...)
	}
	return out
}

// NodePlaces returns the places of the pods that GKE starts on every node with the given
// resource of accelerators, "" for none.
func NodePlaces(accelerator string, filestore, gcsFuse bool) []string {
	places := []string{onEveryNode, accelerator}
	if filestore {
		places = append(places, onFilestore)
	}
	if gcsFuse {
		places = append(places, onGCSFuse)
	}
	return places
}

// SumRequests returns the sum of the requests of system pods.
func SumRequests(pods []SystemPod) (milliCPU, memoryMiB int64) {
	for _, p := range pods {
		milliCPU += p.MilliCPU
		memoryMiB += p.MemoryMiB
	}
	return milliCPU, memoryMiB
}
