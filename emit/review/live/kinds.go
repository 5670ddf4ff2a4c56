package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Kinds that the package distinguishes.
const (
	kindClusterQueue   = "ClusterQueue"
	kindLocalQueue     = "LocalQueue"
	kindNamespace      = "Namespace"
	kindPriorityClass  = "PriorityClass"
	kindResourceFlavor = "ResourceFlavor"
)

// atomicMaps are the maps that an apply replaces as a whole, by kind.
//
// Source: the markers mapType and structType in sigs.k8s.io/kueue/apis and k8s.io/api.
var atomicMaps = map[string][]string{
	kindClusterQueue:                   {"spec.namespaceSelector"},
	kindResourceFlavor:                 {"spec.nodeLabels"},
	"NetworkPolicy":                    {"spec.podSelector"},
	"RoleBinding":                      {"roleRef"},
	"ClusterRoleBinding":               {"roleRef"},
	"DaemonSet":                        {"spec.selector"},
	"ValidatingAdmissionPolicy":        {"spec.matchConstraints"},
	"ValidatingAdmissionPolicyBinding": {"spec.matchResources", "spec.paramRef"},
}

// isAtomic reports whether an apply replaces the map at a path as a whole.
func isAtomic(kind, path string) bool {
	return slices.ContainsFunc(atomicMaps[kind], func(atomic string) bool {
		return path == atomic || strings.HasPrefix(path, atomic+".")
	})
}

// filledIn are the fields in atomic maps that the API fills in.
//
// Source: k8s.io/kubernetes 1.36, pkg/apis/admissionregistration/v1/defaults.go.
var filledIn = []string{
	"matchPolicy", "namespaceSelector", "objectSelector", "parameterNotFoundAction", "scope",
}

// mergedLists are the lists that an apply merges, by kind and path, with the key of their
// items; "" for sets of scalars. An apply replaces every other list. The names under ""
// hold for the pods and the policies of all kinds.
//
// Source: the markers listType and patchMergeKey in sigs.k8s.io/kueue/apis and k8s.io/api.
var mergedLists = map[string]map[string]string{
	kindClusterQueue: {
		"spec.admissionChecksStrategy.admissionChecks":           "name",
		"spec.admissionChecksStrategy.admissionChecks.onFlavors": "",
	},
	"ProvisioningRequestConfig": {
		"spec.managedResources":           "",
		"spec.podSetUpdates.nodeSelector": "key",
	},
	"": {
		"containers": "name", "initContainers": "name", "volumes": "name", "env": "name",
		"volumeMounts": "mountPath", "imagePullSecrets": "name", "secrets": "name", "matchConditions": "name",
		"variables": "name",
	},
}

// mergeKey returns the key of the items of a list, and reports whether an apply merges
// the list.
func mergeKey(kind, path string) (key string, isMerged bool) {
	if key, isMerged = mergedLists[kind][path]; isMerged {
		return key, true
	}
	key, isMerged = mergedLists[""][path[strings.LastIndexByte(path, '.')+1:]]
	return key, isMerged
}

// immutable is a field that the API does not change in place.
type immutable struct {
	kind, field string
	// when is a field of the running object with which the rule holds, "" if it always
	// holds.
	when string
	// step is the step of the build that deletes an object of the platform if the field
	// changes, "" for none. A GitOps tool that can replace objects replaces these kinds.
	step string
}

// immutables are the fields that the API does not change in place.
//
// Source: Kueue 0.19, config/components/crd/bases and pkg/webhooks; Kubernetes 1.36,
// pkg/apis/scheduling/validation, pkg/apis/rbac/validation, pkg/apis/apps/validation,
// pkg/apis/core/validation.
var immutables = []immutable{
	{kind: kindLocalQueue, field: "spec.clusterQueue", step: "local-queues"},
	{kind: kindPriorityClass, field: "value", step: "priorities"},
	{kind: kindPriorityClass, field: "preemptionPolicy", step: "priorities"},
	{kind: "AdmissionCheck", field: "spec.controllerName"},
	{kind: "Topology", field: "spec.levels"},
	{kind: kindResourceFlavor, field: "spec.nodeLabels", when: "spec.topologyName"},
	{kind: kindResourceFlavor, field: "spec.tolerations", when: "spec.topologyName"},
	{kind: kindResourceFlavor, field: "spec.topologyName", when: "spec.topologyName"},
	{kind: kindClusterQueue, field: "spec.concurrentAdmissionPolicy"},
	{kind: "RoleBinding", field: "roleRef"},
	{kind: "ClusterRoleBinding", field: "roleRef"},
	{kind: "DaemonSet", field: "spec.selector"},
	{kind: "ResourceQuota", field: "spec.scopes"},
}

// fieldAt returns the value at a path with dots; nil if there is none.
func fieldAt(o *exports.Object, path string) any {
	return exports.At(o.Fields, strings.Split(path, ".")...)
}

// buildManager is the field manager of the build's step "manifests".
const buildManager = "batchwright"

// manager returns the name under which the folder's objects are applied.
func manager(p *ir.Platform) string {
	return cmp.Or(p.Delivery.GitOps.Tool.Facts().Manager, buildManager)
}

// labelOf returns a label of an object, "" if it has none.
func labelOf(o *exports.Object, key string) string {
	text, _ := exports.At(o.Fields, "metadata", "labels", key).(string)
	return text
}
