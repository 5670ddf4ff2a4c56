package gitops

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// argoProject returns the project of the platform's Applications. They may read only
// the platform's sources, and write only its namespaces and kinds of objects.
func argoProject(p *ir.Platform, installed []chart) *kubeyaml.Object {
	sources := []string{p.Delivery.GitOps.Repository}
	for _, c := range installed {
		sources = append(sources, c.address)
	}
	var destinations []kubeyaml.Fields
	for _, namespace := range argoNamespaces(p) {
		destinations = append(destinations, argoDestination(p, namespace))
	}
	return argoObject(p, "AppProject", p.Name, kubeyaml.Fields{
		"description": "The batch platform " + p.Name + ".", "sourceRepos": sources, "destinations": destinations,
		"clusterResourceWhitelist": clusterKinds(p), "namespaceResourceWhitelist": namespacedKinds(p),
	})
}

// argoNamespaces returns the namespaces of the objects, sorted. Kueue's chart has a
// RoleBinding in kube-system, and the installers of GPUDirect are there.
func argoNamespaces(p *ir.Platform) []string {
	namespaces := []string{argoNamespace(p)}
	for _, c := range p.InstalledControllers() {
		namespaces = append(namespaces, c.Namespace)
	}
	if p.InstallsKueue() || installsOnNodes(p) {
		namespaces = append(namespaces, metav1.NamespaceSystem)
	}
	for _, t := range monitoring.Targets(p) {
		namespaces = append(namespaces, t.Namespace)
	}
	if p.Monitoring.Grafana {
		namespaces = append(namespaces, p.Monitoring.GrafanaNamespace)
	}
	for _, t := range p.Teams {
		namespaces = append(namespaces, t.Namespace)
	}
	for _, o := range p.OwnObjects() {
		if o.Namespace != "" {
			namespaces = append(namespaces, o.Namespace)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// argoNamespace returns the namespace of the platform's Application. The project must
// allow it. Every object that needs a namespace names its own.
func argoNamespace(p *ir.Platform) string {
	switch {
	case p.InstallsKueue():
		return ir.KueueNamespace
	case len(p.Teams) > 0:
		return p.Teams[0].Namespace
	}
	return metav1.NamespaceDefault
}

// kind is a kind of objects, and whether the platform has such objects. A nil condition
// means that every platform has some.
type kind struct {
	group, name string
	in          func(*ir.Platform) bool
}

// ownKinds adds to the kinds of the platform's objects those of the administrator's, with or
// without a namespace.
func ownKinds(p *ir.Platform, namespaced bool, kinds []kind) []kind {
	for _, o := range p.OwnObjects() {
		if (o.Namespace != "") == namespaced {
			kinds = append(kinds, kind{o.Group, o.Kind, nil})
		}
	}
	return kinds
}

// clusterKinds returns the kinds of objects without a namespace: those of the two
// charts, and those of the folder kubernetes/.
func clusterKinds(p *ir.Platform) []kubeyaml.Fields {
	const kueue, admission = "kueue.x-k8s.io", "admissionregistration.k8s.io"
	class := func(c ir.Capacity) bool { return c.ComputeClass }
	return kindsOf(p, ownKinds(p, false, []kind{
		{"", "Namespace", nil},
		{"apiextensions.k8s.io", "CustomResourceDefinition", installsAny},
		{"apiregistration.k8s.io", "APIService", (*ir.Platform).InstallsKueue},
		{"rbac.authorization.k8s.io", "ClusterRole", nil},
		{"rbac.authorization.k8s.io", "ClusterRoleBinding", installsOrScrapes},
		{admission, "MutatingWebhookConfiguration", installsAny},
		{admission, "ValidatingWebhookConfiguration", installsAny},
		{admission, "ValidatingAdmissionPolicy", nil},
		{admission, "ValidatingAdmissionPolicyBinding", nil},
		{"scheduling.k8s.io", "PriorityClass", nil},
		{kueue, "WorkloadPriorityClass", func(p *ir.Platform) bool { return p.WorkloadPriorities != nil }},
		{kueue, "ResourceFlavor", nil},
		{kueue, "Topology", func(p *ir.Platform) bool { return len(p.Topologies) > 0 }},
		{kueue, "ClusterQueue", nil},
		{kueue, "Cohort", func(p *ir.Platform) bool { return len(p.Cohorts) > 0 }},
		{kueue, "AdmissionCheck", hasChecks},
		{kueue, "ProvisioningRequestConfig", hasChecks},
		{"cloud.google.com", "ComputeClass", func(p *ir.Platform) bool { return p.AnyCapacity(class) }},
		{"networking.gke.io", "Network", hasNetworks},
		{"networking.gke.io", "GKENetworkParamSet", hasNetworks},
	}))
}

// namespacedKinds returns the kinds of objects with a namespace.
func namespacedKinds(p *ir.Platform) []kubeyaml.Fields {
	return kindsOf(p, ownKinds(p, true, []kind{
		{"", "ConfigMap", func(p *ir.Platform) bool { return installsAny(p) || p.Monitoring.Grafana }},
		{"", "Secret", installsOrScrapes},
		{"", "Service", installsAny},
		{"", "ServiceAccount", nil},
		{"apps", "Deployment", installsAny},
		{"apps", "DaemonSet", installsOnNodes},
		{"rbac.authorization.k8s.io", "Role", installsOrScrapes},
		{"rbac.authorization.k8s.io", "RoleBinding", nil},
		{"monitoring.googleapis.com", "PodMonitoring", scrapes},
		{"", "ResourceQuota", nil},
		{"networking.k8s.io", "NetworkPolicy", nil},
		{"kueue.x-k8s.io", "LocalQueue", nil},
	}))
}

// installsAny reports whether a chart is among the sources.
func installsAny(p *ir.Platform) bool { return p.InstallsKueue() || p.InstalledControllers() != nil }

// scrapes reports whether the platform has objects for the metrics of controllers.
func scrapes(p *ir.Platform) bool { return len(monitoring.Targets(p)) > 0 }

func installsOrScrapes(p *ir.Platform) bool { return installsAny(p) || scrapes(p) }

// installsOnNodes reports whether installers of GPUDirect run on nodes.
func installsOnNodes(p *ir.Platform) bool {
	return p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect != "" })
}

func hasChecks(p *ir.Platform) bool { return len(p.AdmissionChecks) > 0 }

func hasNetworks(p *ir.Platform) bool { return len(p.Network.GPUs) > 0 }

func kindsOf(p *ir.Platform, kinds []kind) []kubeyaml.Fields {
	var out []kubeyaml.Fields
	added := map[[2]string]bool{}
	for _, k := range kinds {
		if key := [2]string{k.group, k.name}; !added[key] && (k.in == nil || k.in(p)) {
			added[key] = true
			out = append(out, kubeyaml.Fields{"group": k.group, "kind": k.name})
		}
	}
	return out
}
