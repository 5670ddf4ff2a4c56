package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// Channel holds the versions that the release notes state for a GKE release channel.
// Versions only rise: today the channel's default version is Default
// or later.
type Channel struct {
	Name string
	// Default is the version of a new cluster that names no version.
	Default string
	// Oldest and Newest are the lowest and the highest minor version that a new
	// cluster can have.
	Oldest, Newest string
}

// The days on which the GKE release notes were read: the notes of each channel for the
// defaults, and "Current versions" for the minor versions.
const (
	defaultsDate = "2026-09-23"
	MinorsDate   = "2026-11-25"
)

// channels are ordered from the latest versions to the oldest. Source: GKE release notes,
// of defaultsDate and MinorsDate.
var channels = []Channel{
	{Name: "RAPID", Default: "1.36.4-gke.1391000", Oldest: "1.34", Newest: "1.37"},
	{Name: "REGULAR", Default: "1.35.8-gke.1036000", Oldest: "1.34", Newest: "1.37"},
	{Name: "STABLE", Default: "1.34.8-gke.1000000", Oldest: "1.34", Newest: "1.36"},
	{Name: "EXTENDED", Default: "1.35.6-gke.1127000", Oldest: "1.32", Newest: "1.37"},
}

// LookupChannel returns the release channel of the given name, and reports whether
// there is one.
func LookupChannel(name string) (Channel, bool) {
	for _, c := range channels {
		if c.Name == name {
			return c, true
		}
	}
	return Channel{}, false
}

// NewestGKE returns the newest minor version that any channel is known to have.
func NewestGKE() string {
	newest := channels[0].Newest
	for _, c := range channels {
		if OlderGKE(newest, c.Newest) {
			newest = c.Newest
		}
	}
	return newest
}

// BeyondGKE returns the number of minor versions by which a version is newer than
// NewestGKE, and reports whether no channel can have the version for more than three
// years after MinorsDate. Kubernetes has three minor versions a year, and GKE
// follows it. The program does not read the clock, so it cannot tell which of the
// nearer versions exist. Source: Kubernetes documentation, "Kubernetes Release
// Cycle".
func BeyondGKE(version string) (ahead int, beyond bool) {
	const most = 9
	ahead = gkeParts(version)[1] - gkeParts(NewestGKE())[1]
	return ahead, ahead > most
}

// AcceleratorNetworksFrom is the lowest version with GKE's managed DRANET. The
// API resource.k8s.io/v1, through which pods claim the networks, came with
// Kubernetes 1.34. Sources: Google's Cluster Toolkit, module gke-node-pool;
// Kubernetes changelog, 1.34.
const AcceleratorNetworksFrom = "1.34.1-gke.1829001"

// Metrics is a component of GKE whose metrics Cloud Monitoring can collect.
type Metrics struct {
	Component string // as monitoring_config.enable_components names it
	// From is the lowest GKE version that has the component, "" if every version
	// that a blueprint can name has it.
	From string
}

// MetricsComponents returns the components whose metrics the dashboards and alerts
// read, sorted by name. GKE rejects a component that its version does not have.
//
// Sources: GKE documentation, "Collect and view kube state metrics" (1.27.2; for
// the kinds of jobs see compiler/kinds), "Collect and view cAdvisor/Kubelet metrics" (1.29.3), "Collect
// and view DCGM metrics" (1.30.1) and "Collect and view control plane metrics".
func MetricsComponents() []Metrics {
	all := []Metrics{
		{"APISERVER", ""},
		{"CADVISOR", ""},
		{"CONTROLLER_MANAGER", ""},
		{"DAEMONSET", ""},
		{"DCGM", ""},
		{"DEPLOYMENT", ""},
		{"HPA", ""},
		{"KUBELET", ""},
		{"POD", ""},
		{"SCHEDULER", ""},
		{"STATEFULSET", ""},
		{"STORAGE", ""},
		{"SYSTEM_COMPONENTS", ""},
	}
	for _, c := range kinds.Controllers() {
		if c.Component != "" {
			all = append(all, Metrics{c.Component, c.Metrics})
		}
	}
	slices.SortFunc(all, func(a, b Metrics) int { return strings.Compare(a.Component, b.Component) })
	return all
}

// OlderGKE reports whether GKE version a is older than b. A version has the form
// 1.33, 1.33.5 or 1.33.5-gke.1308000; a missing part matches any value.
func OlderGKE(a, b string) bool {
	x, y := gkeParts(a), gkeParts(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// SameMinorGKE returns the element of from that has the same minor version as the
// given GKE version. from is in ascending order and has one patch version, the first
// with some feature, for each minor version. If the version is older than all
// elements, SameMinorGKE returns the first; if it is newer, "".
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
