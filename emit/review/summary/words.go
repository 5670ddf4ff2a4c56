package summary

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// The kinds of subjects, as a reader calls one of them.
const (
	kindPlatform    = "platform"
	kindCluster     = "cluster"
	kindSystemPool  = "system node pool"
	kindRelease     = "release" // printed as the name alone
	kindNetwork     = "network"
	kindGPUNetwork  = "GPU network"
	kindAutoscaling = "node auto-provisioning"
	kindMonitoring  = "monitoring"
	kindAlert       = "alert"
	kindBoard       = "dashboard"
	kindDelivery    = "delivery"
	kindAccount     = "service account of " // the name says of what
	kindCustomRole  = "custom role"
	kindCapacity    = "capacity"
	kindTopology    = "topology"
	kindCohort      = "cohort"
	kindTeam        = "team"
	kindTier        = "tier"
	kindClass       = "PriorityClass"

	kindWorkloadClass = "WorkloadPriorityClass"
	kindWorkload      = "workload"
	kindCloudQuota    = "Google Cloud quota"
)

// kinds lists the kinds in the order of their lines in a topic.
var kinds = []string{
	kindPlatform, kindCluster, kindSystemPool, kindRelease, kindNetwork, kindGPUNetwork, kindMonitoring, kindBoard,
	kindAlert, kindDelivery,
	kindCapacity, kindAutoscaling, kindCohort, kindTeam, kindTier, kindClass, kindWorkload, kindAccount,
	kindCustomRole, kindCloudQuota,
}

// folded lists the kinds of which a platform has many.
var folded = []string{
	kindGPUNetwork, kindAlert, kindCapacity, kindCohort, kindTeam, kindTier, kindClass, kindWorkload,
}

// named lists the kinds whose subjects can be told apart by their descriptions.
var named = []string{kindCapacity, kindTeam, kindClass}

// subjectName returns the name of a subject in a line.
func subjectName(kind, name string) string {
	switch {
	case name == "":
		return kind
	case kind == kindRelease:
		return name
	case kind == kindAccount, kind == kindCloudQuota:
		return strings.TrimSuffix(kind, " ") + " " + name
	}
	return kind + " " + quoteName(name)
}

// none is printed for a missing value.
const none = "none"

// listed is the largest number of names in a line.
const listed = 8

// shortNames returns a list of names, shortened to the first of them if there are
// many. A list that is one name too long is not shortened, because "and 1 more"
// would be as long.
func shortNames(all []string) string {
	if len(all) == listed+1 {
		return words.First(all, listed+1)
	}
	return words.First(all, listed)
}

func quoteName(s string) string { return strconv.Quote(s) }

func onOff(b bool) string { return choose(b, "on", "off") }

// choose returns yes if the condition is true, and no otherwise.
func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// amountsText returns the requests of a pod in words, accelerators first.
func amountsText(all []ir.Amount) string {
	var parts []string
	for _, a := range slices.Backward(all) {
		parts = append(parts, ir.PrintAmount(a.Resource, a.Quantity))
	}
	return strings.Join(parts, ", ")
}

// excerptLine returns the beginning of a long text, on one line.
func excerptLine(s string) string {
	const most = 80
	return words.Truncate(strings.Join(strings.Fields(s), " "), most)
}
