package exports

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/diag"
)

// kueueTypes make values of the Go types of Kueue's objects, by kind.
var kueueTypes = map[string]func() any{
	"AdmissionCheck":            func() any { return new(v1beta2.AdmissionCheck) },
	"ClusterQueue":              func() any { return new(v1beta2.ClusterQueue) },
	"Cohort":                    func() any { return new(v1beta2.Cohort) },
	"LocalQueue":                func() any { return new(v1beta2.LocalQueue) },
	"ProvisioningRequestConfig": func() any { return new(v1beta2.ProvisioningRequestConfig) },
	"ResourceFlavor":            func() any { return new(v1beta2.ResourceFlavor) },
	"Topology":                  func() any { return new(v1beta2.Topology) },
	"WorkloadPriorityClass":     func() any { return new(v1beta2.WorkloadPriorityClass) },
}

// decodeKueue decodes an object of Kueue, and reports fields that its API version does not
// have.
func (r *reader) decodeKueue(o *Object) {
	if o.Group != KueueGroup || kueueTypes[o.Kind] == nil {
		return
	}
	if o.Version == "v1beta1" {
		upgrade(o.Kind, o.Fields)
	}
	object := maps.Clone(o.Fields)
	object["metadata"] = map[string]any{"name": o.Name, "namespace": o.Namespace}
	object["apiVersion"] = v1beta2.SchemeGroupVersion.String()
	text, err := json.Marshal(object)
	if err != nil {
		r.add(codeSyntax, o.Place(), err.Error(), exportAgain)
		return
	}
	o.Value = kueueTypes[o.Kind]()
	unknown, err := kjson.UnmarshalStrict(text, o.Value)
	if err != nil {
		span, message := o.Place(), shortError(err)
		if n := badQuantity(o.node); n != nil {
			span, message = o.doc.span(n), fmt.Sprintf("%q is not a quantity, such as 8 or 96Gi", n.Value)
		}
		r.add(codeSyntax, span, fmt.Sprintf("%s cannot be read: %s", o.Title(), message),
			"correct the value, or "+exportAgain)
		return
	}
	var paths []string
	for _, e := range unknown {
		paths = append(paths, strings.Trim(strings.TrimPrefix(e.Error(), "unknown field "), `"`))
	}
	slices.Sort(paths)
	for _, path := range paths {
		r.reportUnknown(o, path)
	}
}

// badQuantity returns the first amount below a node that is none, nil if all are.
func badQuantity(n *yaml.Node) *yaml.Node {
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && below.Kind == yaml.ScalarNode &&
			slices.Contains([]string{"nominalQuota", "borrowingLimit", "lendingLimit"}, n.Content[i-1].Value) {
			if _, err := resource.ParseQuantity(below.Value); err != nil {
				return below
			}
		}
		if found := badQuantity(below); found != nil {
			return found
		}
	}
	return nil
}

// shortError returns the text of an error of the JSON decoder without the name of the
// Go type.
func shortError(err error) string {
	if mistake := new(json.UnmarshalTypeError); errors.As(err, &mistake) {
		return fmt.Sprintf("field %s cannot hold a %s", mistake.Field, mistake.Value)
	}
	return regexp.MustCompile(`Go struct field \w+\.`).ReplaceAllString(err.Error(), "field ")
}

// reportUnknown reports a field that the API version of an object does not have.
func (r *reader) reportUnknown(o *Object, path string) {
	consequence, help := "Kueue drops the field, or refuses the object", "correct the field's name, or remove it"
	if o.Kind == "ClusterQueue" && path == "spec.admissionChecks" {
		consequence = "jobs start without these checks, because Kueue drops the field of v1beta1"
		help = "write admissionChecksStrategy instead, if the checks are intended"
	}
	r.findings.Add(diag.Finding{
		Code: codeField, Severity: diag.Warning, Span: o.doc.span(fieldKey(o.node, path)), Help: help,
		Message: fmt.Sprintf("%s: version %s has no field %s; %s", o.Title(), o.Version, path, consequence),
	})
	o.Unknown = append(o.Unknown, Unknown{strings.TrimPrefix(path, "spec."), consequence})
}

// upgrade converts v1beta1 fields to v1beta2. Source: Kueue 0.19,
// apis/kueue/v1beta1, the files *_conversion.go.
func upgrade(kind string, object map[string]any) {
	spec, _ := object["spec"].(map[string]any)
	switch kind {
	case "ClusterQueue":
		if cohort, ok := spec["cohort"]; ok {
			delete(spec, "cohort")
			spec["cohortName"] = cohort
		}
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
		fungibility, _ := spec["flavorFungibility"].(map[string]any)
		for field, old := range map[string]string{"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"} {
			if fungibility[field] == old {
				fungibility[field] = "MayStopSearch"
			}
		}
	case "AdmissionCheck":
		delete(spec, "retryDelayMinutes")
	}
}

// apiDefaults are the values that the API sets in an object whose manifest omits the field,
// by kind, outer fields first. Like the API, a default is set only if the field around it
// exists; nil stands for an empty object.
//
// Source: Kueue 0.19, config/components/crd/bases; Kubernetes 1.36,
// pkg/apis/scheduling/v1/defaults.go.
var apiDefaults = map[string][]struct {
	path  string // with dots
	value any
}{
	"ClusterQueue": {
		{"spec.queueingStrategy", "BestEffortFIFO"},
		{"spec.flavorFungibility", nil},
		{"spec.flavorFungibility.whenCanBorrow", "MayStopSearch"},
		{"spec.flavorFungibility.whenCanPreempt", "TryNextFlavor"},
		{"spec.preemption", nil},
		{"spec.preemption.reclaimWithinCohort", "Never"},
		{"spec.preemption.borrowWithinCohort", nil},
		{"spec.preemption.borrowWithinCohort.policy", "Never"},
		{"spec.preemption.withinClusterQueue", "Never"},
		{"spec.stopPolicy", "None"},
		{"spec.fairSharing.weight", "1"},
	},
	"LocalQueue": {{"spec.stopPolicy", "None"}, {"spec.fairSharing.weight", "1"}},
	"Cohort":     {{"spec.fairSharing.weight", "1"}},
	"ProvisioningRequestConfig": {
		{"spec.retryStrategy", nil},
		{"spec.retryStrategy.backoffBaseSeconds", json.Number("60")},
		{"spec.retryStrategy.backoffLimitCount", json.Number("3")},
		{"spec.retryStrategy.backoffMaxSeconds", json.Number("1800")},
	},
	"PriorityClass": {{"globalDefault", false}, {"preemptionPolicy", "PreemptLowerPriority"}},
}

// SetDefaults sets the fields of an object that its manifest omits and for which the API
// has a default. It changes fields and the maps in it.
func SetDefaults(kind string, fields map[string]any) {
	for _, d := range apiDefaults[kind] {
		path := strings.Split(d.path, ".")
		last := len(path) - 1
		around, ok := At(fields, path[:last]...).(map[string]any)
		if !ok || around[path[last]] != nil {
			continue
		}
		if around[path[last]] = d.value; d.value == nil {
			around[path[last]] = map[string]any{}
		}
	}
}

// unwritten are the fields of Kueue's objects that no platform sets, below spec.
var unwritten = map[string][]string{
	"ClusterQueue": {
		"flavorFungibility", "stopPolicy", "fairSharing", "admissionScope", "concurrentAdmissionPolicy",
	},
	"LocalQueue":                {"stopPolicy", "fairSharing"},
	"ResourceFlavor":            {"topologyName"},
	"Cohort":                    {"resourceGroups", "fairSharing"},
	"Topology":                  {"levels"},
	"ProvisioningRequestConfig": {"podSetMergePolicy"},
}

// Writable reports whether a compiled object can have a field, which is below spec for an
// object of Kueue. It returns true for other kinds.
func Writable(kind, field string) bool { return !slices.Contains(unwritten[kind], field) }
