package live

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
)

// owner says what an apply does with a field that the manifest does not have: whether it may
// remove the field or a field below it, and whether it removes the field, if nothing below it
// stays. path is the path of the field with dots, and at its path in sets of managed fields.
type owner func(path string, at []string) (touches, removes bool)

// anyOwner removes what any of some owners removes.
func anyOwner(owners ...owner) owner {
	return func(path string, at []string) (touches, removes bool) {
		for _, o := range owners {
			t, r := o(path, at)
			touches, removes = touches || t, removes || r
		}
		return touches, removes
	}
}

// platformOwner is the owner for an object that an earlier folder of the platform made, if
// the export does not say who set which field. A field that a folder can have counts as
// set by the earlier folder.
func platformOwner(kind string) owner {
	return func(path string, _ []string) (touches, removes bool) {
		field, inSpec := strings.CutPrefix(path, "spec.")
		top, _, _ := strings.Cut(field, ".")
		removes = exports.Writable(kind, top) &&
			(inSpec || !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec"}, top))
		return removes || path == "spec", removes
	}
}

// managedFields is the set of fields of one manager, as the API writes it.
type managedFields map[string]any

// holds reports whether the manager owns a field, or a field below it.
func (m managedFields) holds(at []string) bool {
	for _, element := range at {
		below, ok := m[element]
		if !ok {
			return false
		}
		m, _ = below.(map[string]any)
	}
	return true
}

// fieldOwner is the owner for an object with managed fields.
func fieldOwner(ours, others []managedFields) owner {
	return func(_ string, at []string) (touches, removes bool) {
		holds := func(m managedFields) bool { return m.holds(at) }
		touches = slices.ContainsFunc(ours, holds)
		return touches, touches && !slices.ContainsFunc(others, holds)
	}
}

// itemElement returns the element of a set of managed fields for an item of a list.
func itemElement(key, value string) string {
	text, _ := json.Marshal(map[string]string{key: value})
	return "k:" + string(text)
}

// appliedFields returns the fields of a manifest as a set of managed fields. A list counts
// as a whole.
func appliedFields(manifest map[string]any) managedFields {
	out := managedFields{}
	for name, value := range manifest {
		fields, _ := value.(map[string]any)
		out["f:"+name] = map[string]any(appliedFields(fields))
	}
	return out
}

// lastApplied is the annotation in which "kubectl apply" keeps the manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ownerOf returns the owner of a running object for the manager that applies the folder.
// isOurs reports whether an earlier folder made the object.
//
// The manager of a client-side "kubectl apply" counts as the applying one: kubectl and
// the GitOps tools move its fields to the server-side manager, and then remove the fields
// that the manifest does not have. Source: k8s.io/kubectl 0.36, pkg/cmd/apply/apply.go,
// migrateToSSAIfNecessary.
func ownerOf(o *exports.Object, manager string, isOurs bool) owner {
	if entries := exports.List(o.Fields, "metadata", "managedFields"); len(entries) > 0 {
		return fieldOwnerOf(entries, manager)
	}
	var owners []owner
	if text := exports.Text(o.Fields, "metadata", "annotations", lastApplied); text != "" {
		var manifest map[string]any
		if json.Unmarshal([]byte(text), &manifest) == nil {
			owners = append(owners, fieldOwner([]managedFields{appliedFields(manifest)}, nil))
		}
	}
	if isOurs && isExact(o) {
		owners = append(owners, platformOwner(o.Kind))
	}
	return anyOwner(owners...)
}

// fieldOwnerOf returns the owner for the entries of an object's managed fields.
func fieldOwnerOf(entries []any, manager string) owner {
	var ours, others []managedFields
	for _, e := range entries {
		fields, _ := exports.At(e, "fieldsV1").(map[string]any)
		set, operation := managedFields(fields), exports.Text(e, "operation")
		clientSide := operation == "Update" && set.holds([]string{"f:metadata", "f:annotations", "f:" + lastApplied})
		switch {
		case exports.Text(e, "subresource") != "":
		case clientSide, operation == "Apply" && exports.Text(e, "manager") == manager:
			ours = append(ours, set)
		default:
			others = append(others, set)
		}
	}
	return fieldOwner(ours, others)
}
