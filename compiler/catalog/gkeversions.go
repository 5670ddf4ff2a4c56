package catalog

import (
	"strconv"
	"strings"
)

// Channel holds what the release notes said of a GKE release channel on the date
// that channels states. Versions only rise: by now the channel's default version is
// Default or a later one.
type Channel struct {
	Name string
	// Default is the version that a cluster is created with if it names none.
	Default string
	// Oldest and Newest are the minor versions that a cluster can be created with.
	Oldest, Newest string
}

// channels are ordered from the latest versions to the oldest. Source: GKE
// release notes, "Current versions", summer of 2026, and the notes of each
// channel up to 23 September 2026.
var channels = []Channel{
	{Name: "RAPID", Default: "1.36.4-gke.1391000", Oldest: "1.33", Newest: "1.36"},
	{Name: "REGULAR", Default: "1.35.8-gke.1036000", Oldest: "1.33", Newest: "1.36"},
	{Name: "STABLE", Default: "1.34.8-gke.1000000", Oldest: "1.33", Newest: "1.35"},
	{Name: "EXTENDED", Default: "1.35.6-gke.1127000", Oldest: "1.30", Newest: "1.36"},
}

// LookupChannel returns the release channel of that name.
func LookupChannel(name string) (Channel, bool) {
	for _, c := range channels {
		if c.Name == name {
			return c, true
		}
	}
	return Channel{}, false
}

// The GKE versions that features came with.
const (
	// Source: GKE documentation, "About GPU and TPU provisioning with
	// flex-start"; of two versions that it states for GPUs this is the later.
	FlexStartFrom = "1.33.0-gke.1712000"

	// Before, GKE answers "Flex start node pools don't support TPUs with queued
	// provisioning." Sources: AI-Hypercomputer/xpk, pull request 900, and
	// GoogleCloudPlatform/cluster-toolkit, pull request 5218.
	QueuedTPUsFrom = "1.35.0"

	// AnyReservationOnlyFrom is of reservation affinity "any, then fail", of node
	// pools and of ComputeClasses. Source: GKE release notes, June 2026.
	AnyReservationOnlyFrom = "1.36.0-gke.3204000"

	// AcceleratorNetworksFrom is of GKE's managed DRANET. The API
	// resource.k8s.io/v1, by which pods claim the networks, came with Kubernetes
	// 1.34. Sources: Google's Cluster Toolkit, module gke-node-pool; Kubernetes
	// changelog, 1.34.
	AcceleratorNetworksFrom = "1.34.1-gke.1829001"
)

// Metrics is a component of GKE whose metrics Cloud Monitoring can collect.
type Metrics struct {
	Component string // as monitoring_config.enable_components names it
	// From is the lowest GKE version that has the component, "" if all have it
	// that a blueprint can ask for.
	From string
}

// MetricsComponents returns the components that the dashboards and alerts read,
// by name. GKE refuses a component that its version does not have.
//
// Sources: GKE documentation, "Collect and view kube state metrics" (1.27.2; of
// JobSets 1.32.1), "Collect and view cAdvisor/Kubelet metrics" (1.29.3), "Collect
// and view DCGM metrics" (1.30.1) and "Collect and view control plane metrics".
func MetricsComponents() []Metrics {
	return []Metrics{
		{"APISERVER", ""},
		{"CADVISOR", ""},
		{"CONTROLLER_MANAGER", ""},
		{"DAEMONSET", ""},
		{"DCGM", ""},
		{"DEPLOYMENT", ""},
		{"HPA", ""},
		{"JOBSET", "1.32.1-gke.1357001"},
		{"KUBELET", ""},
		{"POD", ""},
		{"SCHEDULER", ""},
		{"STATEFULSET", ""},
		{"STORAGE", ""},
		{"SYSTEM_COMPONENTS", ""},
	}
}

// OlderGKE reports whether GKE version a is older than b. Versions are such as
// 1.33, 1.33.5 and 1.33.5-gke.1308000; a part that is left out may be any.
func OlderGKE(a, b string) bool {
	x, y := gkeParts(a), gkeParts(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// SameMinorGKE returns the version among from that has the same minor version as
// a GKE version. from are in order, one for each minor version that has a feature
// from a patch on. If the version is older than all of them, the first is
// returned; if it is newer, "".
func SameMinorGKE(version string, from []string) string {
	for _, f := range from {
		if x, y := gkeParts(version), gkeParts(f); x[1] <= y[1] {
			return f
		}
	}
	return ""
}

// MinorGKE returns the minor version of a GKE version, such as "1.33".
func MinorGKE(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func gkeParts(version string) []int {
	var out []int
	for _, part := range strings.Split(strings.Replace(version, "-gke.", ".", 1), ".") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}
