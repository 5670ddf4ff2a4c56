package gitops

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// The types below are the emitted part of argoproj.io/v1alpha1. Source: Argo CD 3.5,
// manifests/crds.

type application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              applicationSpec `json:"spec"`
}

type applicationSpec struct {
	Project           string             `json:"project"`
	Destination       destination        `json:"destination"`
	Source            *source            `json:"source,omitempty"`
	Sources           []source           `json:"sources,omitempty"`
	SyncPolicy        syncPolicy         `json:"syncPolicy"`
	IgnoreDifferences []ignoreDifference `json:"ignoreDifferences,omitempty"`
}

// destination is a cluster, by its name in Argo CD or by its address.
type destination struct {
	Name      string `json:"name,omitempty"`
	Server    string `json:"server,omitempty"`
	Namespace string `json:"namespace"`
}

type source struct {
	RepoURL        string      `json:"repoURL"`
	Path           string      `json:"path"`
	TargetRevision string      `json:"targetRevision"`
	Helm           *helmSource `json:"helm,omitempty"`
}

type helmSource struct {
	ReleaseName  string       `json:"releaseName"`
	Namespace    string       `json:"namespace"`
	ValuesObject *chartValues `json:"valuesObject,omitempty"`
}

type syncPolicy struct {
	Automated   automated `json:"automated"`
	SyncOptions []string  `json:"syncOptions"`
	Retry       retry     `json:"retry"`
}

type automated struct {
	Prune    bool `json:"prune"`
	SelfHeal bool `json:"selfHeal"`
}

type retry struct {
	Limit   int     `json:"limit"`
	Refresh bool    `json:"refresh"`
	Backoff backoff `json:"backoff"`
}

type backoff struct {
	Duration    string `json:"duration"`
	Factor      int    `json:"factor"`
	MaxDuration string `json:"maxDuration"`
}

type ignoreDifference struct {
	Kind         string   `json:"kind"`
	Namespace    string   `json:"namespace"`
	Name         string   `json:"name"`
	JSONPointers []string `json:"jsonPointers"`
}

// argoCD returns the objects for Argo CD: a project that may use only the sources,
// namespaces and kinds of the platform, an Application for the platform, and one for
// the dashboards. The objects do not name Argo CD's namespace.
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
	manifests = append(manifests, kubeyaml.Manifest{Name: kustomization, Objects: []any{listFiles(manifests)}})
	return append(manifests, kubeyaml.Manifest{Name: healthFile, Objects: []any{argoHealth()}}), nil
}

// listFiles returns a kustomization that lists manifests.
func listFiles(manifests []kubeyaml.Manifest) *kubeyaml.Kustomization {
	var names []string
	for _, m := range manifests {
		names = append(names, m.Name)
	}
	return kubeyaml.NewKustomization(names)
}

func newApplication(p *ir.Platform, name, namespace string) *application {
	return &application{
		TypeMeta:   argoKind("Application"),
		ObjectMeta: kubeyaml.Meta(p.Name, "", name),
		Spec: applicationSpec{
			Project: p.Name, Destination: argoDestination(p, namespace),
			SyncPolicy: syncPolicy{
				Automated: automated{Prune: true, SelfHeal: true},
				// The CRDs of Kueue are larger than the annotation of a client-side apply.
				SyncOptions: []string{"ServerSideApply=true", "FailOnSharedResource=true"},
				// A webhook does not answer until it has its certificate, which comes
				// after its Deployment is healthy. Each retry reads the branch again.
				Retry: retry{Limit: 10, Refresh: true, Backoff: backoff{
					Duration: "10s", Factor: 2, MaxDuration: "5m",
				}},
			},
		},
	}
}

func argoPlatform(p *ir.Platform, installed []chart) *application {
	a := newApplication(p, p.Name, argoNamespace(p))
	// A server-side diff asks the API server, which refuses the changed value of a
	// PriorityClass. Argo CD would then neither compare nor sync anything.
	a.Annotations = map[string]string{"argocd.argoproj.io/compare-options": "ServerSideDiff=false"}
	for _, c := range installed {
		a.Spec.Sources = append(a.Spec.Sources, argoChart(c))
	}
	a.Spec.Sources = append(a.Spec.Sources, argoFolder(p, kubernetesFolder))
	for _, c := range installed {
		if c.secret != "" {
			a.Spec.IgnoreDifferences = append(a.Spec.IgnoreDifferences, ignoreDifference{
				Kind: "Secret", Namespace: c.namespace, Name: c.secret, JSONPointers: []string{"/data"},
			})
		}
	}
	if a.Spec.IgnoreDifferences != nil {
		a.Spec.SyncPolicy.SyncOptions = append(a.Spec.SyncPolicy.SyncOptions, "RespectIgnoreDifferences=true")
	}
	return a
}

// argoDashboards returns the Application of the dashboards. Argo CD creates Grafana's
// namespace if it is missing, and never deletes it.
func argoDashboards(p *ir.Platform) *application {
	a := newApplication(p, p.Name+"-"+dashboardsFolder, p.Monitoring.GrafanaNamespace)
	folder := argoFolder(p, dashboardsFolder)
	a.Spec.Source = &folder
	a.Spec.SyncPolicy.SyncOptions = append(a.Spec.SyncPolicy.SyncOptions, "CreateNamespace=true")
	return a
}

// argoChart returns the source of a chart. A revision is a tag or a digest of the registry
// (Argo CD 3.5: docs/user-guide/oci.md).
func argoChart(c chart) source {
	return source{
		RepoURL: c.address, Path: ".", TargetRevision: cmp.Or(c.digest(), c.version),
		Helm: &helmSource{ReleaseName: c.release, Namespace: c.namespace, ValuesObject: c.values},
	}
}

func argoFolder(p *ir.Platform, name string) source {
	g := p.Delivery.GitOps
	return source{RepoURL: g.Repository, Path: g.Folder(name), TargetRevision: g.Branch}
}

// ownCluster is the address of the cluster that Argo CD itself runs in.
const ownCluster = "https://kubernetes.default.svc"

func argoDestination(p *ir.Platform, namespace string) destination {
	if name := p.Delivery.GitOps.Destination; name != "" {
		return destination{Name: name, Namespace: namespace}
	}
	return destination{Server: ownCluster, Namespace: namespace}
}

func argoKind(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: "argoproj.io/v1alpha1", Kind: kind}
}
