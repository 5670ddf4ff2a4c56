package rules

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/manifest"
	"github.com/batchwright/batchwright/compiler/trace"
)

// Rules on the administrator's own manifests: they must be Kubernetes objects that Kubernetes
// accepts, and must not change the platform's objects.

func manifestRules() []Rule {
	return []Rule{
		rule("E0940", "manifest is not a list of Kubernetes objects", manifestTexts),
		rule("E0941", "manifest holds the data of a Secret", secretManifests),
		rule("E0942", "object of a manifest belongs to the platform", platformObjects),
		rule("E0943", "object of a manifest has no namespace", objectsWithoutNamespace),
		rule("W0944", "manifest object acts on the whole cluster", powerfulObjects),
		rule("W0945", "DaemonSet runs on no node of a capacity", daemonSets),
		rule("W0946", "nothing creates the namespace of an object", unknownNamespaces),
	}
}

// ownObject is an object of a manifest and its place.
type ownObject struct {
	manifest.Object
	at textPlace
}

// String returns the kind and the name of the object.
func (o ownObject) String() string { return fmt.Sprintf("%s %q", o.Kind, o.Name) }

// report reports a finding at the line of a top-level field of the object.
func (o ownObject) report(r *report, field, message string, options ...option) {
	o.at.addTo(r, trace.Span(o.At(field)), message, options...)
}

// eachManifest yields the text of every manifest, by name, and its place.
func (r *report) eachManifest() iter.Seq2[textPlace, string] {
	return func(yield func(textPlace, string) bool) {
		for _, name := range sortedKeys(r.Blueprint.Delivery.Manifests) {
			path, text := at("delivery", "manifests", name), r.Blueprint.Delivery.Manifests[name]
			if !yield(textPlace{path, r.Embedded(text, path...)}, text) {
				return
			}
		}
	}
}

// ownObjects yields the objects of the manifests, in the order of the files.
func ownObjects(r *report) iter.Seq[ownObject] {
	return func(yield func(ownObject) bool) {
		for place, text := range r.eachManifest() {
			objects, _ := manifest.Read(text)
			for _, o := range objects {
				if !yield(ownObject{o, place}) {
					return
				}
			}
		}
	}
}

// manifestTexts reports documents that are no objects, and objects that two documents have.
func manifestTexts(r *report) {
	for place, text := range r.eachManifest() {
		if name := place.path.last(); name == "kustomization.yaml" {
			r.addKey(place.path, "the folder itself has a kustomization.yaml, which lists your manifests",
				help("rename the file"))
		}
		_, problems := manifest.Read(text)
		for _, p := range problems {
			place.addTo(r, trace.Span(p.Span), p.Message, advise(p.Help))
		}
	}
	first := map[ir.OwnObject]ownObject{}
	for o := range ownObjects(r) {
		id := ir.OwnObject{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		if other, twice := first[id]; twice {
			o.report(r, "kind", say("%s is in %s already", o, other.at.path.last()), help("remove one of them"))
			continue
		}
		first[id] = o
	}
}

// secretManifests reports Secrets with data: everybody who can read the repository or the folder
// can read them.
func secretManifests(r *report) {
	for o := range ownObjects(r) {
		if field := secretData(o.Object); field != "" {
			o.report(
				r,
				field,
				say("%s holds its %s in the manifest, which is in the repository and in the folder", o, field),
				help(
					"remove %s, and let a program such as External Secrets or the Secret Manager add-on "+
						"fill the Secret%s",
					field,
					revokeSecret,
				),
				hideSecret(),
			)
		}
	}
}

// secretData returns the field with the data of a Secret, "" if it is no Secret or has none.
func secretData(o manifest.Object) string {
	if o.Group != "" || o.Kind != "Secret" {
		return ""
	}
	for _, field := range []string{"data", "stringData"} {
		if data, _ := o.Fields[field].(map[string]any); len(data) > 0 {
			return field
		}
	}
	return ""
}

// platformObjects reports objects that the platform writes itself, or that change what it
// decides.
func platformObjects(r *report) {
	for o := range ownObjects(r) {
		if owner, cure := ownerOfObject(r.Plan, o.Object); owner != "" {
			o.report(r, "kind", say("%s belongs to %s", o, owner), advise(cure))
		}
	}
}

// ownerOfObject returns who decides about an object, "" if the administrator does, and what to do
// instead.
func ownerOfObject(p *ir.Platform, o manifest.Object) (owner, cure string) {
	facts := p.Scheduler.Facts()
	isGroup := func(group string) bool { return o.Group == group || strings.HasSuffix(o.Group, "."+group) }
	isDefinition := func(group string) bool {
		return o.Kind == "CustomResourceDefinition" && strings.HasSuffix(o.Name, "."+group)
	}
	const remove = "remove the object"
	groups := slices.Clone(facts.Groups)
	if slices.ContainsFunc(groups, isGroup) {
		return "the platform, which writes all objects of " + facts.Name + " itself",
			remove + ": teams, tiers, cohorts and capacities of the blueprint decide about queues and quota"
	}
	for _, c := range p.Controllers() {
		groups = append(groups, kinds.Of(c.Kind).Group)
	}
	if slices.ContainsFunc(groups, isDefinition) {
		return "the software that the platform installs", remove
	}
	if owner, cure = ownerOfNamespace(p, o); owner != "" {
		return owner, cure
	}
	if isReserved(p, o) {
		return "the platform, which has an object with this name", "choose another name"
	}
	if o.Group == "scheduling.k8s.io" && o.Fields["globalDefault"] == true {
		return "the platform, because it is the class of all pods without a class",
			`remove globalDefault, or set default: true in a tier`
	}
	return "", ""
}

// ownerOfNamespace returns the owner of an object because of its namespace.
func ownerOfNamespace(p *ir.Platform, o manifest.Object) (owner, cure string) {
	namespace := o.Namespace
	if o.Group == "" && o.Kind == "Namespace" {
		namespace = o.Name
		if slices.Contains([]string{"default", "kube-node-lease", "kube-public", "kube-system"}, namespace) {
			return "Kubernetes", "remove the object"
		}
	}
	software := slices.Clone(p.Scheduler.Facts().Namespaces)
	for _, c := range p.Controllers() {
		software = append(software, c.Namespace)
	}
	if namespace != "" && slices.Contains(software, namespace) {
		return "the software in namespace " + namespace, "move the object to another namespace"
	}
	for _, t := range p.Teams {
		if t.Namespace != namespace {
			continue
		}
		switch {
		case o.Namespace == "":
			return fmt.Sprintf(
					"team %q",
					t.Name,
				), fmt.Sprintf(
					"remove the object: the platform creates the namespace; for "+
						"labels of the namespace, write teams: %q: labels",
					t.Name,
				)
		case slices.Contains([]string{"LimitRange", "NetworkPolicy", "ResourceQuota", "RoleBinding"}, o.Kind),
			o.Kind == "ServiceAccount" && o.Name == t.KubeAccount,
			o.Kind == "ConfigMap" && o.Name == ir.TensorBoardConfig && p.Monitoring.TensorBoard != "":
			return fmt.Sprintf(
					"team %q: the platform decides about rights and limits in namespace %s",
					t.Name,
					t.Namespace,
				),
				fmt.Sprintf(
					"move the object to another namespace, or change teams: %q",
					t.Name,
				)
		}
	}
	return "", ""
}

// plainNames are the names of cluster-scoped objects of the platform that are not named after a
// part of the blueprint.
var plainNames = map[string][]string{
	"ClusterRole":               {"job-submitter"},
	"ValidatingAdmissionPolicy": policyNames, "ValidatingAdmissionPolicyBinding": policyNames,
}

var policyNames = []string{
	"jobs-are-queued", "jobs-stay-in-bounds", "jobs-block-nobody", "jobs-end-with-their-pods", "jobs-fit-nodes",
	"pods-keep-off-the-node", "services-are-headless",
}

// isReserved reports whether the platform can have an object of this kind and name.
func isReserved(p *ir.Platform, o manifest.Object) bool {
	for _, name := range plainNames[o.Kind] {
		if o.Name == p.ClusterScopedName(name) {
			return true
		}
	}
	isPart := o.Name == p.Name || strings.HasPrefix(o.Name, p.Name+"-")
	switch o.Kind {
	case "PriorityClass":
		return slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Name == o.Name })
	case "ComputeClass":
		return p.AnyCapacity(func(c ir.Capacity) bool { return c.Name == o.Name })
	case "ClusterRole", "ClusterRoleBinding":
		return strings.HasSuffix(o.Name, "-metrics-collector")
	case "Network", "GKENetworkParamSet":
		return slices.ContainsFunc(p.Network.GPUs, func(n ir.GPUNetwork) bool {
			return slices.ContainsFunc(n.Subnets, func(s ir.GPUSubnet) bool { return s.Network == o.Name })
		})
	case "DaemonSet":
		return o.Namespace == "kube-system" && strings.HasPrefix(o.Name, "nccl-")
	case "ConfigMap":
		return p.Monitoring.Grafana && o.Namespace == p.Monitoring.GrafanaNamespace && isPart &&
			strings.HasSuffix(o.Name, "-dashboard")
	}
	tools := []string{"argoproj.io", "toolkit.fluxcd.io", "configsync.gke.io"}
	return isPart && p.Delivery.GitOps.On() && slices.ContainsFunc(tools, func(group string) bool {
		return strings.HasSuffix(o.Group, group)
	})
}

// objectsWithoutNamespace reports objects that would be in the namespace "default".
func objectsWithoutNamespace(r *report) {
	for o := range ownObjects(r) {
		if o.NeedsNamespace() && o.Namespace == "" {
			o.report(r, "metadata", say("%s has no namespace", o),
				help(`add namespace to its metadata; without one it would be in the namespace "default"`))
		}
	}
}

// powerfulObjects reports objects that give rights to the whole cluster, or that decide about
// the pods of all teams.
func powerfulObjects(r *report) {
	for o := range ownObjects(r) {
		field, effect := powerOf(o.Object)
		if effect != "" {
			o.report(r, field, say("%s %s", o, effect), helpOrAccept("if this is intended", "give fewer rights or a "+
				"narrower selector"))
		}
	}
}

// powerOf returns what an object does to the whole cluster, "" for nothing unusual, and the field
// that decides it.
func powerOf(o manifest.Object) (field, effect string) {
	switch o.Kind {
	case "ClusterRoleBinding":
		if manifest.Text(o.Fields, "roleRef", "name") == "cluster-admin" {
			return "roleRef", "gives all rights in the cluster"
		}
		for _, s := range manifest.Elements(o.Fields, "subjects") {
			name := manifest.Text(s, "name")
			if slices.Contains([]string{"system:authenticated", "system:unauthenticated", "system:anonymous"}, name) {
				return "subjects", "gives rights to everybody: " + name
			}
		}
	case "ClusterRole":
		for _, rule := range manifest.Elements(o.Fields, "rules") {
			verbs := manifest.Texts(rule, "verbs")
			if slices.Contains(verbs, "*") && slices.Contains(manifest.Texts(rule, "resources"), "*") {
				return "rules", "allows everything"
			}
			for _, verb := range []string{"escalate", "bind", "impersonate"} {
				if slices.Contains(verbs, verb) {
					return "rules", "allows its holders to get all rights: verb " + verb
				}
			}
		}
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		for _, w := range manifest.Elements(o.Fields, "webhooks") {
			if manifest.Text(w, "failurePolicy") != "Ignore" && manifest.Field(w, "namespaceSelector") == nil {
				return "webhooks", "stops all changes that it sees, also of the teams' jobs, while its service is down"
			}
		}
	case "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding":
		if manifest.Field(o.Fields, "spec", "matchResources", "namespaceSelector") == nil {
			return "spec", "decides about the objects of all namespaces, also about the teams' jobs"
		}
	}
	return "", ""
}

// daemonSets reports DaemonSets that tolerate the taints of no capacity: their pods run only on
// the nodes of the system pool.
func daemonSets(r *report) {
	for o := range ownObjects(r) {
		pod := []string{"spec", "template", "spec"}
		if o.Kind != "DaemonSet" || manifest.Field(o.Fields, append(pod, "nodeSelector")...) != nil ||
			manifest.Field(o.Fields, append(pod, "affinity")...) != nil {
			continue
		}
		tolerations := manifest.Elements(o.Fields, append(pod, "tolerations")...)
		tolerates := func(c ir.Capacity) bool { return toleratesAll(tolerations, c.NodeTaints) }
		if len(r.Plan.Capacities) > 0 && !r.Plan.AnyCapacity(tolerates) {
			o.report(r, "spec", say("%s runs on no node of a capacity, because it does not tolerate their taints", o),
				helpOrAccept("if it is only for other nodes", "add tolerations: [{operator: Exists}] to its pods"))
		}
	}
}

// toleratesAll reports whether a pod tolerates all taints that keep pods away.
func toleratesAll(tolerations []map[string]any, taints []ir.Taint) bool {
	return !slices.ContainsFunc(taints, func(t ir.Taint) bool {
		return t.Effect != "PreferNoSchedule" && !slices.ContainsFunc(tolerations, func(o map[string]any) bool {
			key, value, effect := manifest.Text(o, "key"), manifest.Text(o, "value"), manifest.Text(o, "effect")
			exists := manifest.Text(o, "operator") == "Exists"
			return (key == t.Key || key == "" && exists) && (exists || value == t.Value) &&
				(effect == "" || effect == t.Effect)
		})
	})
}

// unknownNamespaces reports namespaces of objects that neither the platform nor a manifest
// creates. A cluster that others own can have more namespaces.
func unknownNamespaces(r *report) {
	if !r.Plan.OwnsCluster() {
		return
	}
	known := map[string]bool{"default": true, r.Plan.Monitoring.GrafanaNamespace: r.Plan.Monitoring.Grafana}
	for _, t := range r.Plan.Teams {
		known[t.Namespace] = true
	}
	for o := range ownObjects(r) {
		if o.Group == "" && o.Kind == "Namespace" {
			known[o.Name] = true
		}
	}
	for o := range ownObjects(r) {
		ofGKE := slices.ContainsFunc([]string{"kube-", "gke-", "gmp-"}, func(prefix string) bool {
			return strings.HasPrefix(o.Namespace, prefix)
		})
		owner, _ := ownerOfObject(r.Plan, o.Object)
		if o.Namespace == "" || known[o.Namespace] || ofGKE || owner != "" {
			continue
		}
		known[o.Namespace] = true
		o.report(r, "metadata", say("no manifest creates the namespace %s of %s", quoteNames([]string{o.Namespace}), o),
			helpOrAccept("if something else creates it", "add a Namespace %q to your manifests", o.Namespace))
	}
}
