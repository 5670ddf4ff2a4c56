package kubernetes

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// Annotations of Argo CD: the wave in which an object is synced, and options of the
// object. Source: Argo CD 3.5, docs/user-guide/sync-waves.md, sync-options.md and
// compare-options.md.
const (
	argoWave    = "argocd.argoproj.io/sync-wave"
	argoOptions = "argocd.argoproj.io/sync-options"
	argoCompare = "argocd.argoproj.io/compare-options"
)

// Annotations of Flux: whether an object that is not in the source is deleted, and
// whether an object is recreated if its change is refused. Source: Flux's
// kustomize-controller, docs/spec/v1/kustomizations.md.
const (
	fluxPrune = "kustomize.toolkit.fluxcd.io/prune"
	fluxForce = "kustomize.toolkit.fluxcd.io/force"
)

// Annotations of Config Sync: what happens to an object that is not in the source, and
// the objects that come before an object. Source: Config Sync documentation, "Prevent
// the deletion of objects", "Declare resource dependencies".
const (
	configSyncDeletion  = "client.lifecycle.config.k8s.io/deletion"
	configSyncDependsOn = "config.kubernetes.io/depends-on"
)

// gitOpsAnnotator returns a function that adds the annotations that the platform's
// GitOps tool reads to objects. Without a tool it changes nothing.
func gitOpsAnnotator(p *ir.Platform) func(objects []any) {
	configSync := func(object any, stays bool) map[string]string { return configSyncAnnotations(p, object, stays) }
	annotations := ir.ChooseGitOps(p.Delivery.GitOps.Tool, argoAnnotations, fluxAnnotations, configSync)
	if annotations == nil {
		return func([]any) {}
	}
	namespaces := map[string]bool{}
	for _, t := range p.OwnTeams() {
		namespaces[t.Namespace] = true
	}
	return func(objects []any) {
		for _, o := range objects {
			object, ok := o.(metav1.Object)
			if !ok { // a kustomization
				continue
			}
			_, adopted := object.GetLabels()[ir.LabelExisting] // the tool must not delete it
			added := annotations(o, adopted || staysWithTeam(o, namespaces))
			if len(added) == 0 {
				continue
			}
			all := maps.Clone(object.GetAnnotations())
			if all == nil {
				all = map[string]string{}
			}
			maps.Copy(all, added)
			object.SetAnnotations(all)
		}
	}
}

// staysWithTeam reports whether an object stays in the cluster when a team leaves the
// folder: the team's namespace, and the parts of it that running jobs need. With the
// namespace, everything in it would go. Without the service account, jobs would lose
// their rights in Google Cloud, and without the network policy, other teams could reach
// them. Both go with the namespace, and no other change removes one from the folder.
// namespaces are the namespaces of the teams.
func staysWithTeam(object any, namespaces map[string]bool) bool {
	switch o := object.(type) {
	case *corev1.Namespace, *networkingv1.NetworkPolicy:
		return true
	case *corev1.ServiceAccount:
		return namespaces[o.Namespace]
	}
	return false
}

// isReplaced reports whether Kubernetes refuses to change a field that a blueprint can
// change: the value of a PriorityClass, and the ClusterQueue of a LocalQueue. The tool
// then deletes the object and creates it again. In between, pending jobs wait, running
// jobs continue, and pods keep their priority.
func isReplaced(object any) bool {
	_, class := object.(*schedulingv1.PriorityClass)
	return class || kueue.IsReplaced(object)
}

// argoAnnotations returns the annotations for Argo CD.
//
// The charts of controllers are in wave 0, and all objects of the platform except
// namespaces in wave 1. Argo CD begins a wave when the objects of the one before are
// healthy, so the controllers run before their objects come. It does not wait for the
// objects of the last wave: a queue that is not active holds up no later change. It
// also prunes them all at once. With several waves of objects, a queue that waits for
// its jobs to end would block every other change until then.
//
// "kubectl apply --force" replaces an object only if its change is refused, and cannot
// be combined with server-side apply.
//
// Without IgnoreExtraneous, an object that stays would keep the Application out of sync.
func argoAnnotations(object any, stays bool) map[string]string {
	annotations := map[string]string{argoWave: "1"}
	if _, ok := object.(*corev1.Namespace); ok {
		delete(annotations, argoWave)
	}
	switch {
	case stays:
		annotations[argoOptions], annotations[argoCompare] = "Prune=false,Delete=false", "IgnoreExtraneous"
	case isReplaced(object):
		annotations[argoOptions] = "Force=true,ServerSideApply=false"
	}
	return annotations
}

// fluxAnnotations returns the annotations for Flux. Flux replaces an object with
// fluxForce also if the object is invalid, so no other kind has the annotation: a wrong
// ClusterQueue would first be deleted and then refused.
func fluxAnnotations(object any, stays bool) map[string]string {
	if stays {
		return map[string]string{fluxPrune: "disabled"}
	}
	if isReplaced(object) {
		return map[string]string{fluxForce: "enabled"}
	}
	return nil
}

// configSyncAnnotations returns the annotations for Config Sync. It applies an object
// after the objects that it depends on, and deletes the object before them.
func configSyncAnnotations(p *ir.Platform, object any, stays bool) map[string]string {
	if stays {
		return map[string]string{configSyncDeletion: "detach"}
	}
	after := kueue.DependsOn(p, object)
	if len(after) == 0 {
		return nil
	}
	return map[string]string{configSyncDependsOn: strings.Join(after, ",")}
}

// systemNamespaces returns the namespaces of the charts that the GitOps tool installs,
// unless it creates them when it installs the charts. Argo CD creates only one namespace
// for each Application.
func systemNamespaces(p *ir.Platform) []any {
	if !ir.ChooseGitOps(p.Delivery.GitOps.Tool, true, false, false) {
		return nil
	}
	var names []string
	if p.InstallsKueue() {
		names = append(names, ir.KueueNamespace)
	}
	for _, c := range p.InstalledControllers() {
		names = append(names, c.Namespace)
	}
	var objects []any
	for _, name := range names {
		objects = append(objects, &corev1.Namespace{
			TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "Namespace"),
			ObjectMeta: kubeyaml.Meta(p.Name, "", name),
		})
	}
	return objects
}
