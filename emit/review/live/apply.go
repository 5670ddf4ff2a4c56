package live

import (
	"reflect"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
)

// application is the server-side apply of one manifest.
type application struct {
	kind string
	// exact reports whether the tables know every default and list of the kind. In other
	// kinds the API may have filled in fields of the items of a list.
	exact bool
	owned owner
}

// apply returns the object that runs after a server-side apply of a manifest. It changes
// neither of them.
func apply(running, manifest *exports.Object, o owner) map[string]any {
	a := application{kind: running.Kind, exact: isExact(running), owned: o}
	after := a.mergeFields("", running.Fields, manifest.Fields, nil)
	exports.SetDefaults(running.Kind, after)
	return after
}

// isExact reports whether the tables know every default and list of an object.
func isExact(o *exports.Object) bool {
	return o.Group == exports.KueueGroup || o.Kind == kindPriorityClass
}

// merge returns the value at a path after the apply. at is the path of the value in sets
// of managed fields.
func (a application) merge(path string, running, manifest any, at []string) any {
	switch manifest := manifest.(type) {
	case map[string]any:
		fields, ok := running.(map[string]any)
		if !ok || a.exact && isAtomic(a.kind, path) {
			return deepCopy(manifest)
		}
		return a.mergeFields(path, fields, manifest, at)
	case []any:
		list, ok := running.([]any)
		key, isMerged := mergeKey(a.kind, path)
		switch {
		case !ok || !isMerged && a.exact:
			return deepCopy(manifest)
		case !isMerged:
			return a.fillItems(path, list, manifest)
		case key == "":
			return mergeSet(list, manifest)
		}
		return a.mergeItems(path, key, list, manifest, at)
	}
	return manifest
}

// mergeFields merges the fields of a map. Fields that only the running object has stay,
// unless the map is replaced as a whole, or the applying manager owns them.
func (a application) mergeFields(path string, running, manifest map[string]any, at []string) map[string]any {
	atomic := isAtomic(a.kind, path)
	out := make(map[string]any, len(running)+len(manifest))
	for name, value := range running {
		below, element := joinPath(path, name), append(at[:len(at):len(at)], "f:"+name)
		if wanted := manifest[name]; wanted != nil {
			out[name] = a.merge(below, value, wanted, element)
		} else if atomic && !slices.Contains(filledIn, name) {
			continue
		} else if kept := a.keep(below, value, element); kept != nil {
			out[name] = kept
		}
	}
	for name, value := range manifest {
		if _, ok := running[name]; !ok && value != nil {
			out[name] = deepCopy(value)
		}
	}
	return out
}

// keep returns what the apply keeps of a value that the manifest does not have; nil if it
// removes the value.
func (a application) keep(path string, value any, at []string) any {
	touches, removes := a.owned(path, at)
	fields, ok := value.(map[string]any)
	switch {
	case !touches:
		return value
	case (!ok || isAtomic(a.kind, path)) && removes:
		return nil
	case !ok || isAtomic(a.kind, path):
		return value
	}
	out := map[string]any{}
	for name, v := range fields {
		if kept := a.keep(joinPath(path, name), v, append(at[:len(at):len(at)], "f:"+name)); kept != nil {
			out[name] = kept
		}
	}
	if len(out) == 0 && removes {
		return nil
	}
	return out
}

// mergeItems merges a list whose items have a key.
func (a application) mergeItems(path, key string, running, manifest []any, at []string) any {
	keyOf := func(item any) string { return exports.Text(item, key) }
	wanted := map[string]any{}
	for _, item := range manifest {
		wanted[keyOf(item)] = item
	}
	out := []any{}
	for _, item := range running {
		name := keyOf(item)
		element := append(at[:len(at):len(at)], itemElement(key, name))
		if want, ok := wanted[name]; ok {
			out = append(out, a.merge(path, item, want, element))
			delete(wanted, name)
		} else if _, removes := a.owned(path, element); !removes {
			out = append(out, item)
		}
	}
	for _, item := range manifest {
		if _, isNew := wanted[keyOf(item)]; isNew {
			out = append(out, deepCopy(item))
		}
	}
	return out
}

// mergeSet merges a list that is a set of scalars.
func mergeSet(running, manifest []any) any {
	out := slices.Clone(running)
	for _, item := range manifest {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// mostItems is the largest list whose items fillItems matches with each other.
const mostItems = 200

// fillItems returns the items of a manifest's list, which replaces the running list. Each
// keeps the fields that the API has filled in: fields that only the running item has.
func (a application) fillItems(path string, running, manifest []any) any {
	out := make([]any, len(manifest))
	used := make([]bool, len(running))
	for i, item := range manifest {
		match := -1
		for j := range running {
			if len(running) <= mostItems && !used[j] &&
				reflect.DeepEqual(a.merge(path, running[j], item, nil), running[j]) {
				match = j
				break
			}
		}
		if match < 0 && i < len(running) && !used[i] {
			match = i
		}
		if match < 0 {
			out[i] = deepCopy(item)
			continue
		}
		used[match] = true
		out[i] = a.merge(path, running[match], item, nil)
	}
	return out
}

func joinPath(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = deepCopy(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = deepCopy(value)
		}
		return out
	}
	return v
}
