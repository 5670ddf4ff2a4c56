package exports

import "testing"

// TestApplier: the marks of the tools name what applies an object, and whether it would delete it.
func TestApplier(t *testing.T) {
	type marks = map[string]any
	for _, tt := range []struct {
		name                string
		labels, annotations marks
		manager             string
		want, keeping       string
		keeps               bool
	}{
		{"no marks", marks{"app.kubernetes.io/managed-by": "Helm"}, marks{"team": "a"}, "", "", "", false},
		{
			"a label that Kustomize sets, too", marks{"app.kubernetes.io/instance": "queues"}, nil, "kubectl",
			"", "", false,
		},
		{
			"Argo CD", nil, marks{
				"argocd.argoproj.io/tracking-id":  "queues:kueue.x-k8s.io/ClusterQueue:/q",
				"argocd.argoproj.io/sync-options": "ServerSideApply=true, Prune=confirm",
			}, "", "Argo CD Application queues", "ServerSideApply=true,Prune=false", false,
		},
		{
			"Argo CD with a label", marks{"app.kubernetes.io/instance": "queues"},
			marks{"argocd.argoproj.io/sync-options": "Validate=false, Prune=false"},
			"argocd-controller", "Argo CD Application queues", "Validate=false,Prune=false", true,
		},
		{
			"Flux", marks{"kustomize.toolkit.fluxcd.io/name": "teams", "kustomize.toolkit.fluxcd.io/namespace": "flux"},
			nil, "", "Flux Kustomization flux/teams", "disabled", false,
		},
		{
			"a release of Flux",
			marks{"helm.toolkit.fluxcd.io/name": "queues", "helm.toolkit.fluxcd.io/namespace": "flux"},
			marks{helmName: "queues", helmNamespace: "kueue", helmKeep: "keep"},
			"", "Flux HelmRelease flux/queues", "keep", true,
		},
		{
			"Helm", marks{"app.kubernetes.io/instance": "queues"}, marks{helmName: "queues", helmNamespace: "kueue"},
			"", "Helm release kueue/queues", "keep", false,
		},
		{
			"the first RootSync", nil,
			marks{"configmanagement.gke.io/managed": "enabled", "configsync.gke.io/manager": ":root"},
			"", "Config Sync RootSync root-sync", "detach", false,
		},
		{
			"a RepoSync", nil, marks{
				"configmanagement.gke.io/managed": "enabled", "configsync.gke.io/manager": "vision_jobs",
				"client.lifecycle.config.k8s.io/deletion": "detach",
			}, "", "Config Sync RepoSync vision/jobs", "detach", true,
		},
		{
			"Config Sync lets go", nil, marks{"configmanagement.gke.io/managed": "disabled"}, "", "", "", false,
		},
	} {
		o := &Object{Fields: marks{"metadata": marks{
			"labels": tt.labels, "annotations": tt.annotations, "managedFields": []any{marks{"manager": tt.manager}},
		}}}
		by, ok := o.Applier()
		if ok != (tt.want != "") {
			t.Errorf("%s: %v, %t", tt.name, by, ok)
		}
		if !ok {
			continue
		}
		if got := by.String(); got != tt.want || by.Tool.Keeps(o) != tt.keeps || by.Tool.KeepingValue(o) != tt.keeping {
			t.Errorf("%s: %s keeps it: %t, with %q", tt.name, got, by.Tool.Keeps(o), by.Tool.KeepingValue(o))
		}
	}
}
