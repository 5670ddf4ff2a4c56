package exports

import (
	"cmp"
	"slices"
	"strings"
)

// Applier is who applies an object from a source of its own, and deletes the object when the
// source no longer has it: an Application of Argo CD, a Helm release and so on.
type Applier struct {
	Tool *Tool
	Name string // of the Application, release and so on, with its namespace if it has one
}

// String returns the applier in a list, such as "Argo CD Application queues".
func (a Applier) String() string { return a.Tool.Name + " " + a.Tool.Source + " " + a.Name }

// Tool is a program that applies objects.
type Tool struct {
	Name string
	// Source is the kind of the object or record that says what to apply.
	Source string
	// KeepKey and KeepValue are the annotation that keeps the tool from deleting an object. If the
	// object leaves the source, the tool then leaves it as it is.
	KeepKey, KeepValue string
	// Labels and Annotations are the keys by which the tool recognizes its objects, and that stay on
	// an object when it leaves the source. A tool that uses Helm has Helm's keys too.
	Labels, Annotations []string

	// name returns the name of the applier that marks an object, "" for none.
	name func(o *Object) string
}

// tools are the tools by their marks. A tool that uses another one comes before it.
//
// Sources: Argo CD 3.1, docs/user-guide/resource_tracking.md and sync-options.md; Flux 2.6,
// documentation of Kustomization, "Garbage collection", and kustomize-controller; Helm 3.18,
// pkg/action/validate.go and documentation, "Tell Helm Not To Uninstall a Resource"; Config Sync
// documentation, "Manage existing cluster objects" and "Prevent resource deletion", and
// kpt-config-sync, pkg/declared/scope.go.
var tools = []*Tool{
	{
		Name: "Argo CD", Source: "Application",
		KeepKey: "argocd.argoproj.io/sync-options", KeepValue: "Prune=false",
		Labels:      []string{"app.kubernetes.io/instance"},
		Annotations: []string{"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id"},
		name: func(o *Object) string {
			name, _, _ := strings.Cut(o.annotation("argocd.argoproj.io/tracking-id"), ":")
			if name == "" && o.setBy("argocd-controller") { // Argo CD 2 has only a label, which others set too
				name = o.label("app.kubernetes.io/instance")
			}
			return name
		},
	},
	{
		Name: "Flux", Source: "Kustomization",
		KeepKey: "kustomize.toolkit.fluxcd.io/prune", KeepValue: "disabled",
		Labels: []string{"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"},
		name: func(o *Object) string {
			return inNamespace(o.label("kustomize.toolkit.fluxcd.io/namespace"),
				o.label("kustomize.toolkit.fluxcd.io/name"))
		},
	},
	{
		Name: "Flux", Source: "HelmRelease", KeepKey: helmKeep, KeepValue: "keep",
		Labels:      []string{"helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"},
		Annotations: []string{helmName, helmNamespace},
		name: func(o *Object) string {
			return inNamespace(o.label("helm.toolkit.fluxcd.io/namespace"), o.label("helm.toolkit.fluxcd.io/name"))
		},
	},
	{
		Name: "Helm", Source: "release", KeepKey: helmKeep, KeepValue: "keep",
		Annotations: []string{helmName, helmNamespace},
		name:        func(o *Object) string { return inNamespace(o.annotation(helmNamespace), o.annotation(helmName)) },
	},
	configSync("RootSync", func(scope, name string) string {
		if scope != ":root" {
			return ""
		}
		return cmp.Or(name, "root-sync")
	}),
	configSync("RepoSync", func(scope, name string) string {
		if scope == ":root" {
			return ""
		}
		return inNamespace(scope, cmp.Or(name, "repo-sync"))
	}),
}

// The annotations of Helm.
const (
	helmName      = "meta.helm.sh/release-name"
	helmNamespace = "meta.helm.sh/release-namespace"
	helmKeep      = "helm.sh/resource-policy"
)

// configSync returns Config Sync with one of its two kinds, which removes its marks itself. name
// returns the name by the scope and the name in the annotation, "" for the other kind. An object
// without the annotation has the scope "".
func configSync(kind string, name func(scope, name string) string) *Tool {
	return &Tool{
		Name: "Config Sync", Source: kind,
		KeepKey: "client.lifecycle.config.k8s.io/deletion", KeepValue: "detach",
		name: func(o *Object) string {
			if o.annotation("configmanagement.gke.io/managed") != "enabled" {
				return ""
			}
			scope, n, _ := strings.Cut(o.annotation("configsync.gke.io/manager"), "_")
			return name(scope, n)
		},
	}
}

// inNamespace returns a name with its namespace, and "" for the name "".
func inNamespace(namespace, name string) string {
	if namespace == "" || name == "" {
		return name
	}
	return namespace + "/" + name
}

// Applier returns who applies the object, by the marks on it. Without marks, ok is false. Of a label
// alone, the managed fields must say that the tool has set it. The step "cluster" of a build looks
// for the same marks (emit/cloudbuild, cluster.sh).
func (o *Object) Applier() (a Applier, ok bool) {
	for _, t := range tools {
		if name := t.name(o); name != "" {
			return Applier{t, name}, true
		}
	}
	return Applier{}, false
}

func (o *Object) label(key string) string { return Text(o.Fields, "metadata", "labels", key) }

func (o *Object) annotation(key string) string { return Text(o.Fields, "metadata", "annotations", key) }

// setBy reports whether a field manager has set a field of the object.
func (o *Object) setBy(manager string) bool {
	return slices.ContainsFunc(List(o.Fields, "metadata", "managedFields"),
		func(entry any) bool { return Text(entry, "manager") == manager })
}

// Keeps reports whether the tool leaves an object as it is when its source no longer has it.
func (t *Tool) Keeps(o *Object) bool {
	return slices.Contains(options(o, t.KeepKey), t.KeepValue)
}

// KeepingValue returns the value of the annotation with which the tool keeps an object: options
// that the object has already stay.
func (t *Tool) KeepingValue(o *Object) string {
	if t.KeepKey != tools[0].KeepKey { // only Argo CD has a list there
		return t.KeepValue
	}
	others := slices.DeleteFunc(options(o, t.KeepKey), func(option string) bool {
		return option == "" || strings.HasPrefix(option, "Prune=")
	})
	return strings.Join(append(others, t.KeepValue), ",")
}

// options returns the items of an annotation.
func options(o *Object, key string) []string {
	items := strings.Split(o.annotation(key), ",")
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
	}
	return items
}
