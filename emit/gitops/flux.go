package gitops

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// The types below are the emitted part of Flux's APIs source.toolkit.fluxcd.io/v1,
// kustomize.toolkit.fluxcd.io/v1 and helm.toolkit.fluxcd.io/v2. Source: Flux's
// source-controller 1.9, kustomize-controller 1.9 and helm-controller 1.6.

type fluxObject[Spec any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec `json:"spec"`
}

type gitRepository struct {
	Interval  string    `json:"interval"`
	URL       string    `json:"url"`
	Ref       gitBranch `json:"ref"`
	SecretRef *objectID `json:"secretRef,omitempty"`
}

type gitBranch struct {
	Branch string `json:"branch"`
}

// objectID names another object in the same namespace.
type objectID struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name"`
}

type ociRepository struct {
	Interval      string        `json:"interval"`
	URL           string        `json:"url"`
	Ref           ociTag        `json:"ref"`
	LayerSelector layerSelector `json:"layerSelector"`
}

// ociTag names a chart in its registry. Flux pulls the digest if there is one, and then
// does not read the tag.
type ociTag struct {
	Tag    string `json:"tag"`
	Digest string `json:"digest,omitempty"`
}

type layerSelector struct {
	MediaType string `json:"mediaType"`
	Operation string `json:"operation"`
}

type fluxKustomization struct {
	Interval         string        `json:"interval"`
	RetryInterval    string        `json:"retryInterval"`
	Timeout          string        `json:"timeout"`
	SourceRef        objectID      `json:"sourceRef"`
	Path             string        `json:"path"`
	Prune            bool          `json:"prune"`
	DeletionPolicy   string        `json:"deletionPolicy"`
	Wait             bool          `json:"wait"`
	DependsOn        []objectID    `json:"dependsOn,omitempty"`
	HealthCheckExprs []healthCheck `json:"healthCheckExprs,omitempty"`
}

type healthCheck struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Current    string `json:"current"`
	InProgress string `json:"inProgress"`
}

type helmRelease struct {
	Interval        string         `json:"interval"`
	ReleaseName     string         `json:"releaseName"`
	TargetNamespace string         `json:"targetNamespace"`
	ChartRef        objectID       `json:"chartRef"`
	Install         helmAction     `json:"install"`
	Upgrade         helmAction     `json:"upgrade"`
	DriftDetection  driftDetection `json:"driftDetection"`
	Values          *chartValues   `json:"values,omitempty"`
	PostRenderers   []postRenderer `json:"postRenderers,omitempty"`
}

type helmAction struct {
	CRDs            string       `json:"crds"`
	CreateNamespace bool         `json:"createNamespace,omitempty"`
	Strategy        helmStrategy `json:"strategy"`
}

type helmStrategy struct {
	Name          string `json:"name"`
	RetryInterval string `json:"retryInterval"`
}

type driftDetection struct {
	Mode string `json:"mode"`
}

type postRenderer struct {
	Kustomize kubeyaml.Patches `json:"kustomize"`
}

// Intervals after which Flux looks at a source again, tries again what has failed, and
// gives up waiting. A GPU node and its driver take some minutes.
const (
	lookInterval  = "10m"
	retryInterval = "1m"
	waitTimeout   = "10m"
)

// systemFolder is the folder of the objects that install the controllers.
const systemFolder = "system"

// flux returns the objects for Flux. Whoever administers Flux applies the kustomization
// gitops/. It brings three Kustomizations: the system, which installs the controllers
// and makes Grafana's namespace, and after it the platform and the dashboards. A
// Kustomization cannot depend on a HelmRelease, so the HelmReleases are objects of the
// system. There is no system if it would be empty.
func flux(p *ir.Platform) ([]kubeyaml.Manifest, error) {
	installed, err := charts(p)
	if err != nil {
		return nil, err
	}
	var system []kubeyaml.Manifest
	for _, c := range installed {
		system = append(system, kubeyaml.Manifest{Name: c.release + ".yaml", Objects: fluxChart(p, c)})
	}
	if p.Monitoring.Grafana {
		system = append(system, kubeyaml.Manifest{Name: "grafana.yaml", Objects: []any{grafanaNamespace(p)}})
	}
	var tops []any
	var after []string
	if len(system) > 0 {
		tops = append(tops, fluxKustomize(p, systemFolder, folder+"/"+systemFolder))
		after = append(after, systemFolder)
	}
	tops = append(tops, fluxPlatform(p, after))
	if p.Monitoring.Grafana {
		tops = append(tops, fluxKustomize(p, dashboardsFolder, dashboardsFolder, after...))
	}
	top := []kubeyaml.Manifest{
		{Name: "source.yaml", Objects: []any{fluxSource(p)}},
		{Name: "platform.yaml", Objects: tops},
	}
	manifests := append(top, kubeyaml.Manifest{Name: kustomization, Objects: []any{listFiles(top)}})
	if len(system) == 0 {
		return manifests, nil
	}
	for _, m := range append(system, kubeyaml.Manifest{Name: kustomization, Objects: []any{listFiles(system)}}) {
		manifests = append(manifests, kubeyaml.Manifest{Name: systemFolder + "/" + m.Name, Objects: m.Objects})
	}
	return manifests, nil
}

// fluxMeta returns the metadata of an object in Flux's namespace.
func fluxMeta(p *ir.Platform, name string) metav1.ObjectMeta {
	return kubeyaml.Meta(p.Name, p.Delivery.GitOps.Tool.Facts().Namespace, name)
}

func fluxSource(p *ir.Platform) any {
	g := p.Delivery.GitOps
	repository := &fluxObject[gitRepository]{
		TypeMeta:   metav1.TypeMeta{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "GitRepository"},
		ObjectMeta: fluxMeta(p, p.Name),
		Spec:       gitRepository{Interval: retryInterval, URL: g.Repository, Ref: gitBranch{g.Branch}},
	}
	if g.Secret != "" {
		repository.Spec.SecretRef = &objectID{Name: g.Secret}
	}
	return repository
}

// fluxKustomize returns the Kustomization that applies a folder after others. If
// somebody deletes the Kustomization, its objects stay.
func fluxKustomize(p *ir.Platform, part, path string, after ...string) *fluxObject[fluxKustomization] {
	k := &fluxObject[fluxKustomization]{
		TypeMeta:   metav1.TypeMeta{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization"},
		ObjectMeta: fluxMeta(p, p.Name+"-"+part),
		Spec: fluxKustomization{
			Interval: lookInterval, RetryInterval: retryInterval, Timeout: waitTimeout,
			SourceRef: objectID{Kind: "GitRepository", Name: p.Name}, Path: "./" + p.Delivery.GitOps.Folder(path),
			Prune: true, DeletionPolicy: "Orphan", Wait: true,
		},
	}
	for _, name := range after {
		k.Spec.DependsOn = append(k.Spec.DependsOn, objectID{Name: p.Name + "-" + name})
	}
	return k
}

// fluxPlatform returns the Kustomization of the platform, which comes after others. Flux knows nothing about
// Kueue's objects: without the checks it takes them for ready as soon as they exist.
func fluxPlatform(p *ir.Platform, after []string) any {
	k := fluxKustomize(p, "platform", kubernetesFolder, after...)
	for _, kind := range []string{"AdmissionCheck", "ClusterQueue", "LocalQueue"} {
		const active = "has(status.conditions) && status.conditions.exists(c, c.type == 'Active' && " +
			"(c.status == 'True' || c.reason == 'Stopped'))"
		k.Spec.HealthCheckExprs = append(k.Spec.HealthCheckExprs, healthCheck{
			APIVersion: kueue.APIVersion, Kind: kind, Current: active, InProgress: "!(" + active + ")",
		})
	}
	return k
}

// fluxChart returns the objects that install a chart. If an installation fails, Flux
// tries again. It never uninstalls: with Kueue's chart all queues and workloads would
// go.
func fluxChart(p *ir.Platform, c chart) []any {
	name := p.Name + "-" + c.release
	retries := helmStrategy{Name: "RetryOnFailure", RetryInterval: retryInterval}
	release := &fluxObject[helmRelease]{
		TypeMeta:   metav1.TypeMeta{APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease"},
		ObjectMeta: fluxMeta(p, name),
		Spec: helmRelease{
			Interval: lookInterval, ReleaseName: c.release, TargetNamespace: c.namespace,
			ChartRef: objectID{Kind: "OCIRepository", Name: name},
			// CRDs can be in the folder of the chart that Helm itself never upgrades.
			Install:        helmAction{CRDs: "CreateReplace", CreateNamespace: true, Strategy: retries},
			Upgrade:        helmAction{CRDs: "CreateReplace", Strategy: retries},
			DriftDetection: driftDetection{Mode: "enabled"},
			Values:         c.values,
		},
	}
	if c.secret != "" {
		patches := kubeyaml.Patches{Patches: []kubeyaml.Patch{{Patch: emptySecret(c)}}}
		release.Spec.PostRenderers = []postRenderer{{patches}}
	}
	return []any{
		&fluxObject[ociRepository]{
			TypeMeta:   metav1.TypeMeta{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "OCIRepository"},
			ObjectMeta: fluxMeta(p, name),
			Spec: ociRepository{
				Interval: lookInterval, URL: c.address, Ref: ociTag{c.version, c.digest()},
				LayerSelector: layerSelector{
					MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Operation: "copy",
				},
			},
		},
		release,
	}
}

// emptySecret returns a patch that removes the data from the Secret of a chart.
func emptySecret(c chart) string {
	return `apiVersion: v1
kind: Secret
metadata:
  name: ` + c.secret + `
  namespace: ` + c.namespace + `
data: null
`
}

// grafanaNamespace returns Grafana's namespace. Flux creates it if it is missing, and
// then leaves it alone: it does not belong to the platform.
func grafanaNamespace(p *ir.Platform) any {
	n := &corev1.Namespace{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "Namespace"),
		ObjectMeta: metav1.ObjectMeta{Name: p.Monitoring.GrafanaNamespace},
	}
	n.Annotations = map[string]string{
		"kustomize.toolkit.fluxcd.io/prune": "disabled",
		"kustomize.toolkit.fluxcd.io/ssa":   "IfNotPresent",
	}
	return n
}
