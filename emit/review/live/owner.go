package live

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
)

// owner says which fields an apply removes because the manifest no longer has them. path
// is the path of a field with dots, and at its path in sets of managed fields.
type owner interface {
	// touches reports whether the apply may remove the field or a field below it.
	touches(path string, at []string) bool
	// removes reports whether the apply removes the field, if nothing below it stays.
	removes(path string, at []string) bool
}

// anyOwner removes what any of its owners removes.
type anyOwner []owner

func (a anyOwner) touches(path string, at []string) bool {
	return slices.ContainsFunc(a, func(o owner) bool { return o.touches(path, at) })
}

func (a anyOwner) removes(path string, at []string) bool {
	return slices.ContainsFunc(a, func(o owner) bool { return o.removes(path, at) })
}

// platformOwner is the owner for an object that an earlier folder of the platform made, if
// the export does not say who set which field. A field that a folder can have counts as
// set by the earlier folder.
type platformOwner struct{ kind string }

func (p platformOwner) touches(path string, at []string) bool {
	return path == "spec" || p.removes(path, at)
}

func (p platformOwner) removes(path string, _ []string) bool {
	field, inSpec := strings.CutPrefix(path, "spec.")
	top, _, _ := strings.Cut(field, ".")
	switch {
	case inSpec:
		return exports.Writable(p.kind, top)
	case slices.Contains([]string{"apiVersion", "kind", "metadata", "spec"}, top):
		return false
	}
	return exports.Writable(p.kind, top)
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
type fieldOwner struct{ ours, others []managedFields }

func (f fieldOwner) touches(_ string, at []string) bool {
	return slices.ContainsFunc(f.ours, func(m managedFields) bool { return m.holds(at) })
}

func (f fieldOwner) removes(path string, at []string) bool {
	return f.touches(path, at) && !slices.ContainsFunc(f.others, func(m managedFields) bool { return m.holds(at) })
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
	metadata, _ := o.Fields["metadata"].(map[string]any)
	if entries, _ := metadata["managedFields"].([]any); len(entries) > 0 {
		return fieldOwnerOf(entries, manager)
	}
	var out anyOwner
	annotations, _ := metadata["annotations"].(map[string]any)
	if text, _ := annotations[lastApplied].(string); text != "" {
		var manifest map[string]any
		if json.Unmarshal([]byte(text), &manifest) == nil {
			out = append(out, fieldOwner{ours: []managedFields{appliedFields(manifest)}})
		}
	}
	if isOurs && isExact(o) {
		out = append(out, platformOwner{o.Kind})
	}
	return out
}

// fieldOwnerOf returns the owner for the entries of an object's managed fields.
func fieldOwnerOf(entries []any, manager string) owner {
	var f fieldOwner
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		set := managedFields(fields)
		clientSide := entry["operation"] == "Update" &&
			set.holds([]string{"f:metadata", "f:annotations", "f:" + lastApplied})
		subresource, _ := entry["subresource"].(string)
		switch {
		case subresource != "":
		case clientSide, entry["manager"] == manager && entry["operation"] == "Apply":
			f.ours = append(f.ours, set)
		default:
			f.others = append(f.others, set)
		}
	}
	return f
}
