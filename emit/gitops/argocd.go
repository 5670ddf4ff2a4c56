package gitops

import (
	"cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// argoCD returns the objects for Argo CD: a project that may use only the sources,
// namespaces and kinds of the platform, an Application for the platform, one for
// the dashboards, and one for the administrator's own manifests. The objects do not name Argo CD's namespace.
//
// The charts and the platform are sources of one Application. Waves order the
// objects of one Application; between Applications Argo CD keeps no order unless its
// administrator adds a health check for Applications.
func argoCD(p *ir.Platform) ([]kubeyaml.Manifest, error) {
	installed, err := charts(p)
	if err != nil {
		return nil, err
	}
	manifests := []kubeyaml.Manifest{
		{Name: "project.yaml", Objects: []any{argoProject(p, installed)}},
		{Name: "platform.yaml", Objects: []any{argoPlatform(p, installed)}},
	}
	if p.Monitoring.Grafana {
		manifests = append(manifests, kubeyaml.Manifest{
			Name: "dashboards.yaml", Objects: []any{argoDashboards(p)},
		})
	}
	if p.OwnFiles() != nil {
		manifests = append(manifests, kubeyaml.Manifest{Name: "own.yaml", Objects: []any{argoOwn(p)}})
	}
	return append(manifests, kubeyaml.ListFiles(kubeyaml.Names(manifests)...),
		kubeyaml.Manifest{Name: healthFile, Objects: []any{argoHealth()}}), nil
}

// argoObject returns an object of Argo CD. Source: Argo CD 3.5, manifests/crds.
func argoObject(p *ir.Platform, kind, name string, spec kubeyaml.Fields) *kubeyaml.Object {
	return kubeyaml.NewObject("argoproj.io/v1alpha1", kind, kubeyaml.Meta(p.Name, "", name), spec)
}

// newApplication returns an Application with options of its own.
func newApplication(p *ir.Platform, name, namespace string, options ...string) *kubeyaml.Object {
	return argoObject(p, "Application", name, kubeyaml.Fields{
		"project": p.Name, "destination": argoDestination(p, namespace),
		"syncPolicy": kubeyaml.Fields{
			"automated": kubeyaml.Fields{"prune": true, "selfHeal": true},
			// The CRDs of Kueue are larger than the annotation of a client-side apply.
			"syncOptions": append([]string{"ServerSideApply=true", "FailOnSharedResource=true"}, options...),
			// A webhook does not answer until it has its certificate, which comes
			// after its Deployment is healthy. Each retry reads the branch again.
			"retry": kubeyaml.Fields{"limit": 10, "refresh": true, "backoff": kubeyaml.Fields{
				"duration": "10s", "factor": 2, "maxDuration": "5m",
			}},
		},
	})
}

func argoPlatform(p *ir.Platform, installed []chart) *kubeyaml.Object {
	var sources, ignored []kubeyaml.Fields
	var options []string
	for _, c := range installed {
		sources = append(sources, argoChart(c))
		if c.secret != "" {
			options = []string{"RespectIgnoreDifferences=true"}
			ignored = append(ignored, kubeyaml.Fields{
				"kind": "Secret", "namespace": c.namespace, "name": c.secret, "jsonPointers": []string{"/data"},
			})
		}
	}
	a := newApplication(p, p.Name, argoNamespace(p), options...)
	a.Spec["sources"] = append(sources, argoFolder(p, kubernetesFolder))
	if ignored != nil {
		a.Spec["ignoreDifferences"] = ignored
	}
	// A server-side diff asks the API server, which refuses the changed value of a
	// PriorityClass. Argo CD would then neither compare nor sync anything.
	a.Annotations = map[string]string{"argocd.argoproj.io/compare-options": "ServerSideDiff=false"}
	return a
}

// argoDashboards returns the Application of the dashboards. Argo CD creates Grafana's
// namespace if it is missing, and never deletes it.
func argoDashboards(p *ir.Platform) *kubeyaml.Object {
	a := newApplication(p, p.Name+"-"+dashboardsFolder, p.Monitoring.GrafanaNamespace, "CreateNamespace=true")
	a.Spec["source"] = argoFolder(p, dashboardsFolder)
	return a
}

// argoOwn returns the Application of the administrator's own manifests. It tries again until
// the kinds and namespaces of the platform are there.
func argoOwn(p *ir.Platform) *kubeyaml.Object {
	a := newApplication(p, p.Name+"-"+ownPart, argoNamespace(p))
	a.Spec["source"] = argoFolder(p, ir.OwnFolder)
	return a
}

// argoChart returns the source of a chart. A revision is a tag or a digest of the registry
// (Argo CD 3.5: docs/user-guide/oci.md).
func argoChart(c chart) kubeyaml.Fields {
	helm := kubeyaml.Fields{"releaseName": c.release, "namespace": c.namespace}
	if c.values != nil {
		helm["valuesObject"] = c.values
	}
	return kubeyaml.Fields{
		"repoURL": c.address, "path": ".", "targetRevision": cmp.Or(c.digest(), c.version), "helm": helm,
	}
}

func argoFolder(p *ir.Platform, name string) kubeyaml.Fields {
	g := p.Delivery.GitOps
	return kubeyaml.Fields{"repoURL": g.Repository, "path": g.Folder(name), "targetRevision": g.Branch}
}

// ownCluster is the address of the cluster that Argo CD itself runs in.
const ownCluster = "https://kubernetes.default.svc"

// argoDestination returns a namespace of a cluster, which Argo CD knows by its name or by its
// address.
func argoDestination(p *ir.Platform, namespace string) kubeyaml.Fields {
	if name := p.Delivery.GitOps.Destination; name != "" {
		return kubeyaml.Fields{"name": name, "namespace": namespace}
	}
	return kubeyaml.Fields{"server": ownCluster, "namespace": namespace}
}
