package importer

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// fieldRow says what becomes of a field of one kind of object. The code of the design
// reports a field whose status is "", because it depends on the values. A new word of
// the grammar changes the row of its field.
type fieldRow struct {
	kind, field string
	status      Status
	becomes     string
	consequence string
}

// fieldRows returns the table of the fields of all kinds. The field of an object of
// Kueue is below spec; the fields of other kinds are at the top. A field with the value
// that the API sets by default (defaults.go) is not reported.
func fieldRows() []fieldRow {
	return []fieldRow{
		{kind: "ClusterQueue", field: "resourceGroups"},
		{kind: "ClusterQueue", field: "cohortName"},
		{kind: "ClusterQueue", field: "queueingStrategy"},
		{kind: "ClusterQueue", field: "namespaceSelector"},
		{kind: "ClusterQueue", field: "preemption"},
		{kind: "ClusterQueue", field: "admissionChecksStrategy"},
		{
			kind: "ClusterQueue", field: "flavorFungibility", status: NoPart,
			consequence: "the compiled queue takes a flavor in which it can borrow, and tries the next flavor before " +
				"it " +
				"preempts",
		},
		{
			kind: "ClusterQueue", field: "stopPolicy", status: NoPart,
			consequence: "the compiled queue admits jobs: stop it again with kubectl, if it must stay stopped",
		},
		{
			kind: "ClusterQueue", field: "fairSharing", status: NoPart,
			consequence: "all queues get equal shares of what is idle",
		},
		{
			kind: "ClusterQueue", field: "admissionScope", status: NoPart,
			consequence: "the order of admission ignores the past use of the LocalQueues",
		},
		{
			kind: "ClusterQueue", field: "concurrentAdmissionPolicy", status: NoPart,
			consequence: "a job stays in the flavor in which it was admitted",
		},
		{kind: "LocalQueue", field: "clusterQueue"},
		{
			kind: "LocalQueue", field: "stopPolicy", status: NoPart,
			consequence: "the compiled queue admits jobs: stop it again with kubectl, if it must stay stopped",
		},
		{
			kind: "LocalQueue", field: "fairSharing", status: NoPart,
			consequence: "all LocalQueues of the ClusterQueue have the same weight",
		},
		{kind: "ResourceFlavor", field: "nodeLabels"},
		{
			kind: "ResourceFlavor", field: "nodeTaints", status: Approximated, becomes: "capacity",
			consequence: "the compiled flavor has the taints of the nodes that batchwright makes",
		},
		{
			kind: "ResourceFlavor", field: "tolerations", status: Approximated, becomes: "capacity",
			consequence: "the compiled flavor tolerates only the taints of the nodes that batchwright makes",
		},
		{
			kind: "ResourceFlavor", field: "topologyName", status: NoPart,
			consequence: "Kueue places pods without regard to blocks and racks",
		},
		{kind: "Cohort", field: "parentName"},
		{
			kind: "Cohort", field: "resourceGroups", status: NoPart,
			consequence: "the queues of the cohort lose the quota that the cohort itself has",
		},
		{
			kind: "Cohort", field: "fairSharing", status: NoPart,
			consequence: "all cohorts get equal shares of what is idle",
		},
		{
			kind: "Topology", field: "levels", status: NoPart,
			consequence: "Kueue places pods without regard to blocks and racks",
		},
		{kind: "AdmissionCheck", field: "controllerName"},
		{kind: "AdmissionCheck", field: "parameters"},
		{kind: "ProvisioningRequestConfig", field: "provisioningClassName"},
		{
			kind: "ProvisioningRequestConfig", field: "parameters", status: Approximated, becomes: "capacity",
			consequence: "the parameters follow from the capacity",
		},
		{
			kind: "ProvisioningRequestConfig", field: "managedResources", status: Approximated, becomes: "capacity",
			consequence: "the resources follow from the machine of the capacity",
		},
		{
			kind: "ProvisioningRequestConfig", field: "retryStrategy", status: Approximated, becomes: "capacity",
			consequence: "the number of retries is the same; the first is after one minute, and each later one after " +
				"twice the time, at most 30 minutes",
		},
		{
			kind: "ProvisioningRequestConfig", field: "podSetUpdates", status: Approximated, becomes: "capacity",
			consequence: "the compiled object keeps pods on the nodes that were started for them",
		},
		{
			kind: "ProvisioningRequestConfig", field: "podSetMergePolicy", status: NoPart,
			consequence: "each podset of a job gets a PodTemplate of its own",
		},
		{kind: "WorkloadPriorityClass", field: "value"},
		{kind: "WorkloadPriorityClass", field: "description"},
		{kind: "PriorityClass", field: "value"},
		{kind: "PriorityClass", field: "globalDefault"},
		{kind: "PriorityClass", field: "description"},
		{kind: "PriorityClass", field: "preemptionPolicy"},
	}
}

// tableFields reports the fields of an object whose fate does not depend on the design.
func tableFields(o *object) []FieldReport {
	var out []FieldReport
	fields, _ := o.raw["spec"].(map[string]any)
	if o.kind == "PriorityClass" || o.kind == "WorkloadPriorityClass" {
		fields = o.raw
	}
	if o.kind == "ClusterQueue" && o.version == "v1beta1" {
		fields = maps.Clone(fields)
		upgradeFungibility(fields)
	}
	for _, row := range fieldRows() {
		value, set := fields[row.field]
		if row.kind != o.kind || !set || row.status == "" || value == nil ||
			isUnset(value, defaultBelow(row.kind, row.field)) {
			continue
		}
		out = append(out,
			FieldReport{Field: row.field, Status: row.status, Becomes: row.becomes, Consequence: row.consequence})
	}
	return out
}

// isUnset reports whether a value says only what the API sets by default. An object may
// omit some of its fields.
func isUnset(value, unset any) bool {
	fields, ok := value.(map[string]any)
	defaults, isMap := unset.(map[string]any)
	if !ok || !isMap {
		number, isNumber := value.(json.Number)
		return reflect.DeepEqual(value, unset) || isNumber && string(number) == unset
	}
	for key, v := range fields {
		if d, known := defaults[key]; !known || !isUnset(v, d) {
			return false
		}
	}
	return true
}

// upgrade changes the fields of v1beta1 to those of v1beta2. Source: Kueue 0.19,
// apis/kueue/v1beta1, the files *_conversion.go.
func upgrade(kind string, object map[string]any) {
	old, _ := object["spec"].(map[string]any)
	spec := maps.Clone(old)
	switch kind {
	case "ClusterQueue":
		rename(spec, "cohort", "cohortName")
		if names, ok := spec["admissionChecks"].([]any); ok {
			var checks []any
			for _, name := range names {
				checks = append(checks, map[string]any{"name": name})
			}
			delete(spec, "admissionChecks")
			if _, both := spec["admissionChecksStrategy"]; !both {
				spec["admissionChecksStrategy"] = map[string]any{"admissionChecks": checks}
			}
		}
		upgradeFungibility(spec)
	case "AdmissionCheck":
		delete(spec, "retryDelayMinutes")
	}
	if spec != nil {
		object["spec"] = spec
	}
}

// upgradeFungibility replaces the deprecated values of flavorFungibility.
func upgradeFungibility(spec map[string]any) {
	fungibility, ok := spec["flavorFungibility"].(map[string]any)
	if !ok {
		return
	}
	fungibility = maps.Clone(fungibility)
	for field, old := range map[string]string{"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"} {
		if fungibility[field] == old {
			fungibility[field] = "MayStopSearch"
		}
	}
	spec["flavorFungibility"] = fungibility
}

func rename(fields map[string]any, from, to string) {
	if value, ok := fields[from]; ok {
		delete(fields, from)
		fields[to] = value
	}
}

// decodeStrictly decodes JSON into an object of Kueue and returns the paths of the
// fields that the object does not have.
func decodeStrictly(text []byte, into any) (unknown []string, err error) {
	strict, err := kjson.UnmarshalStrict(text, into)
	if err != nil {
		return nil, err
	}
	for _, e := range strict {
		unknown = append(unknown, strings.Trim(strings.TrimPrefix(e.Error(), "unknown field "), `"`))
	}
	slices.Sort(unknown)
	return unknown, nil
}
