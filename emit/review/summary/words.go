package summary

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
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

// names lists names, of many the first.
func names(all []string) string {
	if rest := len(all) - listed; rest > 1 {
		return strings.Join(all[:listed], ", ") + " and " + strconv.Itoa(rest) + " more"
	}
	return strings.Join(all, ", ")
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

// number counts things, with their plural.
func number(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ty"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// amount writes a quantity with its unit.
func amount(resourceName string, q resource.Quantity) string {
	n := decimal(q)
	switch resourceName {
	case ir.Memory:
		return q.String() + " of memory"
	case ir.CPU, ir.GPU, ir.TPU:
		return plural(n, unit(resourceName))
	}
	return n + " " + resourceName
}

// decimal writes a quantity as Kubernetes does not: 16000 for 16k, 1.5 for 1500m.
func decimal(q resource.Quantity) string {
	return strconv.FormatFloat(float64(q.MilliValue())/1000, 'f', -1, 64)
}

// unit is how one of a resource is called.
func unit(resourceName string) string {
	switch resourceName {
	case ir.CPU:
		return "CPU"
	case ir.GPU:
		return "GPU"
	case ir.TPU:
		return "TPU chip"
	}
	return resourceName
}

func plural(n, noun string) string {
	if n == "1" {
		return n + " " + noun
	}
	return n + " " + noun + "s"
}

// amounts writes what a pod asks for, accelerators first.
func amounts(all []ir.Amount) string {
	var words []string
	for _, a := range slices.Backward(all) {
		words = append(words, amount(a.Resource, a.Quantity))
	}
	return strings.Join(words, ", ")
}

// duration writes seconds in the largest unit that is whole.
func duration(seconds int) string {
	for _, u := range []struct {
		seconds int
		noun    string
	}{{24 * 3600, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds != 0 && seconds%u.seconds == 0 {
			return number(seconds/u.seconds, u.noun)
		}
	}
	return number(seconds, "second")
}

// excerpt is the beginning of a long text, in one line.
func excerpt(s string) string {
	const most = 80
	words := []rune(strings.Join(strings.Fields(s), " "))
	if len(words) <= most {
		return string(words)
	}
	return string(words[:most-1]) + "…"
}
