package exports

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Module is a module of a blueprint of Cluster Toolkit.
type Module struct {
	*Object
	Source    string   // the last part of its source, such as "gke-cluster"
	Uses      []string // the ids of other modules
	Blueprint *Object
}

// Modules that make clusters and node pools, or name a cluster.
const (
	ModuleCluster = "gke-cluster"
	ModulePool    = "gke-node-pool"
	ModuleOwned   = "pre-existing-gke-cluster"
)

// isDeployment reports whether a document is a deployment file of Cluster Toolkit, which
// gives values to the variables of a blueprint.
func isDeployment(root *yaml.Node) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !slices.Contains([]string{
			"vars", "terraform_backend_defaults", "terraform_providers", "validators", "validation_level",
		}, root.Content[i].Value) {
			return false
		}
	}
	return child(root, "vars") != nil
}

// readModules adds the modules of the blueprints of Cluster Toolkit, now that the values of
// all variables are known. A deployment file replaces the variables of a blueprint.
func (r *reader) readModules() {
	if len(r.export.Toolkits) == 0 {
		for _, o := range r.export.Deployments {
			r.add(codeNothing, o.Place(), "the file gives values to a blueprint of Cluster Toolkit, but the blueprint "+
				"is not among the files", "give the blueprint, too: the file with deployment_groups")
		}
	}
	for _, o := range r.export.Toolkits {
		vars := map[string]any{}
		own, _ := o.Fields["vars"].(map[string]any)
		maps.Copy(vars, own)
		for _, deployment := range r.export.Deployments {
			values, _ := deployment.Fields["vars"].(map[string]any)
			for name, value := range values {
				if value != nil {
					vars[name] = value
				}
			}
		}
		o.Fields["vars"] = vars
		before := len(r.export.Modules)
		for _, group := range contentOf(child(o.node, "deployment_groups")) {
			for _, n := range contentOf(child(group, "modules")) {
				r.readModule(o, n)
			}
		}
		if !slices.ContainsFunc(r.export.Modules[before:], func(m *Module) bool {
			return slices.Contains([]string{ModuleCluster, ModulePool, ModuleOwned}, m.Source)
		}) {
			r.add(codeNothing, o.Place(), "the blueprint has neither a GKE cluster nor a node pool",
				"give a blueprint with the modules gke-cluster and gke-node-pool")
		}
	}
}

// readModule adds a module of a blueprint.
func (r *reader) readModule(blueprint *Object, n *yaml.Node) {
	o := &Object{Kind: KindModule, Name: scalar(n, "id"), doc: blueprint.doc, node: n}
	if o.Name == "" || !r.addObject(new([]*Object), o) {
		return
	}
	source, _, _ := strings.Cut(Text(o.Fields, "source"), "?")
	r.export.Modules = append(r.export.Modules, &Module{
		Object: o, Source: source[strings.LastIndexByte(source, '/')+1:], Uses: Texts(o.Fields, "use"),
		Blueprint: blueprint,
	})
}

// Settings returns the settings of a module, in which references to variables are replaced
// by their values. The toolkit passes variables to inputs of the same name that are not set.
func (m *Module) Settings(inputs []string) map[string]any {
	out := map[string]any{}
	settings, _ := m.Fields["settings"].(map[string]any)
	for name, value := range settings {
		if value = m.resolve(value); value != nil {
			out[name] = value
		}
	}
	for _, name := range inputs {
		if value := m.resolve(At(m.Blueprint.Fields, "vars", name)); value != nil && out[name] == nil {
			out[name] = value
		}
	}
	return out
}

// variable matches a reference to a variable of a blueprint of Cluster Toolkit.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\(vars\.([A-Za-z0-9_-]+)\)|\(\(\s*var\.([A-Za-z0-9_-]+)\s*\)\)`)
})

// maxResolved is the most values of a setting after its variables have their values.
const maxResolved = 100_000

// resolve replaces references to variables of the blueprint by their values.
func (m *Module) resolve(v any) any {
	left := maxResolved
	vars, _ := m.Blueprint.Fields["vars"].(map[string]any)
	return resolveVars(v, vars, &left, 0)
}

// resolveVars replaces references to variables by their values. A reference that is the
// whole text becomes the value, nil if the variable has none. Other expressions stay.
func resolveVars(v any, vars map[string]any, left *int, depth int) any {
	if *left--; *left < 0 || depth > 20 {
		return nil
	}
	switch v := v.(type) {
	case string:
		if m := variable().FindStringSubmatch(v); m != nil && m[0] == v {
			value, ok := vars[m[1]+m[2]]
			if !ok {
				return v
			}
			return resolveVars(value, vars, left, depth+1)
		}
		return variable().ReplaceAllStringFunc(v, func(reference string) string {
			m := variable().FindStringSubmatch(reference)
			if text := Text(vars, m[1]+m[2]); text != "" && len(text) < 200 && !strings.Contains(text, "$(") {
				return text
			}
			return reference
		})
	case []any:
		out := []any{}
		for _, item := range v {
			if item = resolveVars(item, vars, left, depth+1); item != nil {
				out = append(out, item)
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			if value := resolveVars(v[key], vars, left, depth+1); value != nil {
				out[key] = value
			}
		}
		return out
	}
	return v
}
