package summary

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Kinds of subjects, as a reader calls one of them.
const (
	kindPlatform    = "platform"
	kindCluster     = "cluster"
	kindSystemPool  = "system node pool"
	kindRelease     = "release" // its name alone
	kindNetwork     = "network"
	kindGPUNetwork  = "GPU network"
	kindAutoscaling = "node auto-provisioning"
	kindMonitoring  = "monitoring"
	kindAlert       = "alert"
	kindDelivery    = "delivery"
	kindAccount     = "service account of " // its name tells of what
	kindCustomRole  = "custom role"
	kindCapacity    = "capacity"
	kindCheck       = "AdmissionCheck"
	kindCohort      = "cohort"
	kindTeam        = "team"
	kindTier        = "tier"
	kindClass       = "PriorityClass"
	kindWorkload    = "workload"
	kindCloudQuota  = "Google Cloud quota"
)

// kinds are in the order in which their lines stand in a topic.
var kinds = []string{
	kindPlatform, kindCluster, kindSystemPool, kindRelease, kindNetwork, kindGPUNetwork, kindMonitoring, kindAlert,
	kindDelivery,
	kindCapacity, kindAutoscaling, kindCheck, kindCohort, kindTeam, kindTier, kindClass, kindWorkload, kindAccount,
	kindCustomRole, kindCloudQuota,
}

// folded are the kinds of which a platform has many.
var folded = []string{
	kindGPUNetwork, kindAlert, kindCapacity, kindCheck, kindCohort, kindTeam, kindTier, kindClass, kindWorkload,
}

// named are the kinds whose description tells two of them apart.
var named = []string{kindCapacity, kindTeam, kindClass}

// called names a subject.
func called(kind, name string) string {
	switch {
	case name == "":
		return kind
	case kind == kindRelease:
		return name
	case kind == kindAccount, kind == kindCloudQuota:
		return strings.TrimSuffix(kind, " ") + " " + name
	}
	return kind + " " + quote(name)
}

// none stands for a value that is not there.
const none = "none"

// listed is how many names a line has at most.
const listed = 8

// names lists names, of many the first. One name too many is listed as well:
// "and 1 more" would be as long.
func names(all []string) string {
	if len(all) == listed+1 {
		return words.First(all, listed+1)
	}
	return words.First(all, listed)
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

func quote(s string) string { return strconv.Quote(s) }

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// amounts writes what a pod asks for, accelerators first.
func amounts(all []ir.Amount) string {
	var parts []string
	for _, a := range slices.Backward(all) {
		parts = append(parts, ir.PrintAmount(a.Resource, a.Quantity))
	}
	return strings.Join(parts, ", ")
}

// duration writes seconds in the largest unit that is whole.
func duration(seconds int) string {
	for _, u := range []struct {
		seconds int
		noun    string
	}{{24 * 3600, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds != 0 && seconds%u.seconds == 0 {
			return words.Count(seconds/u.seconds, u.noun)
		}
	}
	return words.Count(seconds, "second")
}

// excerpt is the beginning of a long text, in one line.
func excerpt(s string) string {
	const most = 80
	return words.Truncate(strings.Join(strings.Fields(s), " "), most)
}
