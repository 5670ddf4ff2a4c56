package importer

import (
	"encoding/json"
	"slices"
	"strings"
)

// apiDefault is a value that the API sets in an object whose manifest omits the field.
type apiDefault struct {
	kind, path string // the path has dots
	value      any
}

// apiDefaults returns the defaults of the API, outer fields first. Like the API, a
// default is set only if the field around it exists.
//
// Source: Kueue 0.19, config/components/crd/bases; Kubernetes 1.36,
// pkg/apis/scheduling/v1/defaults.go.
func apiDefaults() []apiDefault {
	none := map[string]any{}
	return []apiDefault{
		{"ClusterQueue", "spec.queueingStrategy", "BestEffortFIFO"},
		{"ClusterQueue", "spec.flavorFungibility", none},
		{"ClusterQueue", "spec.flavorFungibility.whenCanBorrow", "MayStopSearch"},
		{"ClusterQueue", "spec.flavorFungibility.whenCanPreempt", "TryNextFlavor"},
		{"ClusterQueue", "spec.preemption", none},
		{"ClusterQueue", "spec.preemption.reclaimWithinCohort", "Never"},
		{"ClusterQueue", "spec.preemption.borrowWithinCohort", none},
		{"ClusterQueue", "spec.preemption.borrowWithinCohort.policy", "Never"},
		{"ClusterQueue", "spec.preemption.withinClusterQueue", "Never"},
		{"ClusterQueue", "spec.stopPolicy", "None"},
		{"ClusterQueue", "spec.fairSharing.weight", "1"},
		{"LocalQueue", "spec.stopPolicy", "None"},
		{"LocalQueue", "spec.fairSharing.weight", "1"},
		{"Cohort", "spec.fairSharing.weight", "1"},
		{"ProvisioningRequestConfig", "spec.retryStrategy", none},
		{"ProvisioningRequestConfig", "spec.retryStrategy.backoffBaseSeconds", json.Number("60")},
		{"ProvisioningRequestConfig", "spec.retryStrategy.backoffLimitCount", json.Number("3")},
		{"ProvisioningRequestConfig", "spec.retryStrategy.backoffMaxSeconds", json.Number("1800")},
		{"PriorityClass", "globalDefault", false},
		{"PriorityClass", "preemptionPolicy", "PreemptLowerPriority"},
	}
}

// defaultBelow returns the value that the API sets in a field of a row of fieldRows; nil
// if it sets none.
func defaultBelow(kind, field string) any {
	path := "spec." + field
	if !isKueueKind(kind) || kind == "WorkloadPriorityClass" {
		path = field
	}
	var out any
	for _, d := range apiDefaults() {
		if d.kind != kind || d.path != path && !strings.HasPrefix(d.path, path+".") {
			continue
		}
		value := d.value
		if fields, ok := value.(map[string]any); ok && len(fields) == 0 {
			value = map[string]any{}
		}
		if d.path == path {
			out = value
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		setBelow(out, strings.Split(strings.TrimPrefix(d.path, path+"."), "."), value)
	}
	return out
}

func isKueueKind(kind string) bool { return slices.Contains(readKinds()[kueueGroup], kind) }

// setBelow sets a field below a map if the maps around the field exist and the field does
// not.
func setBelow(v any, path []string, value any) {
	fields, ok := v.(map[string]any)
	switch {
	case !ok:
	case len(path) > 1:
		setBelow(fields[path[0]], path[1:], value)
	case fields[path[0]] == nil:
		fields[path[0]] = value
	}
}

// SetDefaults sets the fields of an object that its manifest omits and for which the API
// has a default. It changes fields and the maps in it.
func SetDefaults(kind string, fields map[string]any) {
	for _, d := range apiDefaults() {
		if d.kind != kind {
			continue
		}
		value := d.value
		if none, ok := value.(map[string]any); ok && len(none) == 0 {
			value = map[string]any{} // each object has its own
		}
		setBelow(fields, strings.Split(d.path, "."), value)
	}
}

// Writable reports whether a compiled object can have a field, which is below spec for an
// object of Kueue. It returns true for kinds that Import does not know.
func Writable(kind, field string) bool {
	for _, row := range fieldRows() {
		if row.kind == kind && row.field == field {
			return row.status != NoPart
		}
	}
	return true
}
