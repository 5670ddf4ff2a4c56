package gitops

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// The objects below belong to source-controller 1.9, kustomize-controller 1.9 and
// helm-controller 1.6 of Flux.

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
	if p.OwnFiles() != nil {
		tops = append(tops, fluxKustomize(p, ownPart, ir.OwnFolder, "platform"))
	}
	top := []kubeyaml.Manifest{
		{Name: "source.yaml", Objects: []any{fluxSource(p)}},
		{Name: "platform.yaml", Objects: tops},
	}
	manifests := append(top, kubeyaml.ListFiles(kubeyaml.Names(top)...))
	if len(system) == 0 {
		return manifests, nil
	}
	for _, m := range append(system, kubeyaml.ListFiles(kubeyaml.Names(system)...)) {
		manifests = append(manifests, kubeyaml.Manifest{Name: systemFolder + "/" + m.Name, Objects: m.Objects})
	}
	return manifests, nil
}

// fluxObject returns an object in Flux's namespace.
func fluxObject(p *ir.Platform, apiVersion, kind, name string, spec kubeyaml.Fields) *kubeyaml.Object {
	return kubeyaml.NewObject(apiVersion, kind,
		kubeyaml.Meta(p.Name, p.Delivery.GitOps.Tool.Facts().Namespace, name), spec)
}

func fluxSource(p *ir.Platform) any {
	g := p.Delivery.GitOps
	spec := kubeyaml.Fields{
		"interval": retryInterval, "url": g.Repository, "ref": kubeyaml.Fields{"branch": g.Branch},
	}
	if g.Secret != "" {
		spec["secretRef"] = kubeyaml.Fields{"name": g.Secret}
	}
	return fluxObject(p, "source.toolkit.fluxcd.io/v1", "GitRepository", p.Name, spec)
}

// fluxKustomize returns the Kustomization that applies a folder after others. If
// somebody deletes the Kustomization, its objects stay.
func fluxKustomize(p *ir.Platform, part, path string, after ...string) *kubeyaml.Object {
	spec := kubeyaml.Fields{
		"interval": lookInterval, "retryInterval": retryInterval, "timeout": waitTimeout,
		"sourceRef": kubeyaml.Fields{"kind": "GitRepository", "name": p.Name},
		"path":      "./" + p.Delivery.GitOps.Folder(path), "prune": true, "deletionPolicy": "Orphan", "wait": true,
	}
	var dependsOn []kubeyaml.Fields
	for _, name := range after {
		dependsOn = append(dependsOn, kubeyaml.Fields{"name": p.Name + "-" + name})
	}
	if dependsOn != nil {
		spec["dependsOn"] = dependsOn
	}
	return fluxObject(p, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", p.Name+"-"+part, spec)
}

// fluxPlatform returns the Kustomization of the platform, which comes after others. Flux knows nothing about
// Kueue's objects: without the checks it takes them for ready as soon as they exist.
func fluxPlatform(p *ir.Platform, after []string) any {
	const active = "has(status.conditions) && status.conditions.exists(c, c.type == 'Active' && " +
		"(c.status == 'True' || c.reason == 'Stopped'))"
	var checks []kubeyaml.Fields
	for _, kind := range checkedKinds {
		checks = append(checks, kubeyaml.Fields{
			"apiVersion": kueue.APIVersion, "kind": kind, "current": active, "inProgress": "!(" + active + ")",
		})
	}
	k := fluxKustomize(p, "platform", kubernetesFolder, after...)
	k.Spec["healthCheckExprs"] = checks
	return k
}

// fluxChart returns the objects that install a chart. If an installation fails, Flux
// tries again. It never uninstalls: with Kueue's chart all queues and workloads would
// go.
func fluxChart(p *ir.Platform, c chart) []any {
	name := p.Name + "-" + c.release
	retries := kubeyaml.Fields{"name": "RetryOnFailure", "retryInterval": retryInterval}
	release := kubeyaml.Fields{
		"interval": lookInterval, "releaseName": c.release, "targetNamespace": c.namespace,
		"chartRef": kubeyaml.Fields{"kind": "OCIRepository", "name": name},
		// CRDs can be in the folder of the chart that Helm itself never upgrades.
		"install":        kubeyaml.Fields{"crds": "CreateReplace", "createNamespace": true, "strategy": retries},
		"upgrade":        kubeyaml.Fields{"crds": "CreateReplace", "strategy": retries},
		"driftDetection": kubeyaml.Fields{"mode": "enabled"},
	}
	if c.values != nil {
		release["values"] = c.values
	}
	if c.secret != "" {
		patches := []map[string]string{{"patch": emptySecret(c)}}
		release["postRenderers"] = []kubeyaml.Fields{{"kustomize": kubeyaml.Fields{"patches": patches}}}
	}
	// Flux pulls the digest if there is one, and then does not read the tag.
	ref := kubeyaml.Fields{"tag": c.version}
	if c.sha256 != "" {
		ref["digest"] = c.digest()
	}
	return []any{
		fluxObject(p, "source.toolkit.fluxcd.io/v1", "OCIRepository", name, kubeyaml.Fields{
			"interval": lookInterval, "url": c.address, "ref": ref, "layerSelector": kubeyaml.Fields{
				"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy",
			},
		}),
		fluxObject(p, "helm.toolkit.fluxcd.io/v2", "HelmRelease", name, release),
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
