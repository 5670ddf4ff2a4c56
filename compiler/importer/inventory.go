package importer

import (
	"slices"

	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/exports"
)

// object is an object of the exports with what becomes of its fields.
type object struct {
	*exports.Object
	fields []FieldReport
}

// typed is an object of Kueue with its own Go type.
type typed[T any] struct {
	*object
	value *T
}

// module is a module of a blueprint of Cluster Toolkit.
type module struct {
	*object
	module   *exports.Module
	settings map[string]any // with the values of variables
}

// inventory holds everything that the files contain.
type inventory struct {
	objects        []*object // all, in the order of the files
	flavors        []typed[v1beta2.ResourceFlavor]
	clusterQueues  []typed[v1beta2.ClusterQueue]
	localQueues    []typed[v1beta2.LocalQueue]
	cohorts        []typed[v1beta2.Cohort]
	topologies     []typed[v1beta2.Topology]
	checks         []typed[v1beta2.AdmissionCheck]
	requestConfigs []typed[v1beta2.ProvisioningRequestConfig]

	priorityClasses, workloadClasses, namespaces []*object
	controllers                                  map[string]*object // Deployments by name
	configuration                                *object            // ConfigMap of Kueue, nil if there is none
	cluster                                      *object            // nil if there is none
	pools                                        []*pool
	toolkits, deployments                        []*object // blueprints and deployment files of Cluster Toolkit
	modules                                      []*module
}

// newInventory returns what an export contains.
func newInventory(export exports.Export) *inventory {
	inv := &inventory{controllers: map[string]*object{}}
	for _, exported := range export.All {
		o := &object{Object: exported}
		for _, u := range o.Unknown {
			o.none(u.Field, "", "the API version has no such field: %s", u.Consequence)
		}
		inv.objects = append(inv.objects, o)
		if o.Ignored {
			continue
		}
		switch o.Kind {
		case "PriorityClass":
			inv.priorityClasses = append(inv.priorityClasses, o)
		case "WorkloadPriorityClass":
			inv.workloadClasses = append(inv.workloadClasses, o)
		case "Namespace":
			inv.namespaces = append(inv.namespaces, o)
		case "Deployment":
			inv.controllers[o.Name] = o
		case "ConfigMap":
			inv.configuration = o
		case exports.KindCluster:
			inv.cluster = o
		case exports.KindNodePool:
			inv.pools = append(inv.pools, readPool(o))
		case exports.KindToolkit:
			inv.toolkits = append(inv.toolkits, o)
		case exports.KindDeployment:
			inv.deployments = append(inv.deployments, o)
		case exports.KindModule: // after all others
			m := &module{object: o, module: export.Modules[len(inv.modules)]}
			m.settings = m.module.Settings(moduleInputs(m.module.Source))
			inv.modules = append(inv.modules, m)
			if m.module.Source == exports.ModulePool {
				inv.pools = append(inv.pools, inv.readModulePool(m))
			}
		}
	}
	inv.flavors = typedOf[v1beta2.ResourceFlavor](inv.objects)
	inv.clusterQueues = typedOf[v1beta2.ClusterQueue](inv.objects)
	inv.localQueues = typedOf[v1beta2.LocalQueue](inv.objects)
	inv.cohorts = typedOf[v1beta2.Cohort](inv.objects)
	inv.topologies = typedOf[v1beta2.Topology](inv.objects)
	inv.checks = typedOf[v1beta2.AdmissionCheck](inv.objects)
	inv.requestConfigs = typedOf[v1beta2.ProvisioningRequestConfig](inv.objects)
	return inv
}

// typedOf returns the objects of a Go type.
func typedOf[T any](objects []*object) []typed[T] {
	var out []typed[T]
	for _, o := range objects {
		if value, ok := o.Value.(*T); ok {
			out = append(out, typed[T]{o, value})
		}
	}
	return out
}

// usedModule returns the module of a source that another module uses, nil if there is
// none.
func (inv *inventory) usedModule(m *module, source string) *module {
	for _, other := range inv.modules {
		if other.module.Source == source && other.module.Blueprint == m.module.Blueprint &&
			slices.Contains(m.module.Uses, other.Name) {
			return other
		}
	}
	return nil
}
