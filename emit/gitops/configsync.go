package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// configSync returns the objects for Config Sync: a RootSync for each of Kueue, the controllers
// of jobs, the platform and the dashboards, as far as the platform has them. RootSyncs do not wait
// for each other. Until the kinds and webhooks of Kueue are there, the RootSync of the
// platform reports errors, and tries again.
//
// Controllers are installed from the manifests of their releases: see
// ir.GitOpsFacts.Charts. Kustomize downloads them, which needs a shell (Config Sync:
// rootsync-crd.yaml, enableShellInRendering).
func configSync(p *ir.Platform) ([]kubeyaml.Manifest, error) {
	var manifests, releases []kubeyaml.Manifest
	if p.InstallsKueue() {
		release, err := kueueRelease(p)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, kubeyaml.Manifest{Name: "kueue.yaml", Objects: []any{releaseSync(p, "kueue")}})
		releases = append(releases, release...)
	}
	for _, c := range p.InstalledControllers() {
		manifests = append(manifests, kubeyaml.Manifest{
			Name: c.Field + ".yaml", Objects: []any{releaseSync(p, c.Field)},
		})
		release := kubeyaml.ListFiles(c.ManifestURL())
		release.Name = c.Field + "/" + release.Name
		releases = append(releases, release)
	}
	platform := newRootSync(p, "platform", kubernetesFolder)
	platform.Spec["override"] = kubeyaml.Fields{"namespaceStrategy": explicitNamespaces}
	manifests = append(manifests, kubeyaml.Manifest{Name: "platform.yaml", Objects: []any{platform}})
	if p.Monitoring.Grafana {
		manifests = append(manifests, kubeyaml.Manifest{
			Name: "dashboards.yaml", Objects: []any{newRootSync(p, dashboardsFolder, dashboardsFolder)},
		})
	}
	if p.OwnFiles() != nil {
		manifests = append(manifests, kubeyaml.Manifest{
			Name: "own.yaml", Objects: []any{newRootSync(p, ownPart, ir.OwnFolder)},
		})
	}
	manifests = append(manifests, kubeyaml.ListFiles(kubeyaml.Names(manifests)...))
	return append(manifests, releases...), nil
}

// explicitNamespaces keeps a RootSync from creating namespaces that its folder does not
// have. Otherwise the RootSync of the platform, which has objects in the namespaces of the
// controllers, would create and own these namespaces if it comes first, and the
// RootSyncs of the releases could not apply theirs (Config Sync: error KNV1060).
const explicitNamespaces = "explicit"

// kueueRelease returns the kustomization that installs Kueue, with the platform's
// configuration. The controller reads its configuration only when it starts. The digest
// in the pod template restarts it if the configuration has changed, and only then.
func kueueRelease(p *ir.Platform) ([]kubeyaml.Manifest, error) {
	configMap, err := kueue.ConfigMap(p)
	if err != nil {
		return nil, err
	}
	text, err := kubeyaml.Marshal(configMap)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(text)
	restart, err := kubeyaml.Marshal(kubeyaml.Fields{
		"apiVersion": appsv1.SchemeGroupVersion.String(), "kind": "Deployment",
		"metadata": kubeyaml.Fields{"name": "kueue-controller-manager", "namespace": ir.KueueNamespace},
		"spec": kubeyaml.Fields{"template": kubeyaml.Fields{"metadata": kubeyaml.Fields{
			"annotations": map[string]string{"batchwright/configuration": hex.EncodeToString(digest[:])},
		}}},
	})
	if err != nil {
		return nil, err
	}
	const configuration = "configuration.yaml"
	return []kubeyaml.Manifest{
		{Name: "kueue/" + configuration, Objects: []any{configMap}},
		{Name: "kueue/" + kubeyaml.KustomizationFile, Objects: []any{kubeyaml.Fields{
			"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
			"resources":  []string{p.Versions.KueueManifest()},
			"components": []string{"../../" + kubernetesFolder + "/" + ir.KueueWebhooks},
			"patches":    []map[string]string{{"path": configuration}, {"patch": string(restart)}},
		}}},
	}, nil
}

// releaseSync returns the RootSync of a release.
func releaseSync(p *ir.Platform, name string) *kubeyaml.Object {
	r := newRootSync(p, name, path.Join(folder, name))
	r.Spec["override"] = kubeyaml.Fields{"namespaceStrategy": explicitNamespaces, "enableShellInRendering": true}
	return r
}

// newRootSync returns the RootSync of a part of the platform, which is a folder. If
// somebody deletes the RootSync, its objects stay. Source: Config Sync 1.22,
// manifests/rootsync-crd.yaml.
func newRootSync(p *ir.Platform, part, dir string) *kubeyaml.Object {
	g := p.Delivery.GitOps
	git := kubeyaml.Fields{"repo": g.Repository, "branch": g.Branch, "dir": g.Folder(dir), "auth": "none"}
	if g.Secret != "" {
		git["secretRef"], git["auth"] = kubeyaml.Fields{"name": g.Secret}, "token"
		if strings.HasPrefix(g.Repository, "ssh://") {
			git["auth"] = "ssh"
		}
	}
	return kubeyaml.NewObject("configsync.gke.io/v1beta1", "RootSync",
		kubeyaml.Meta(p.Name, g.Tool.Facts().Namespace, p.Name+"-"+part),
		kubeyaml.Fields{"sourceType": "git", "sourceFormat": "unstructured", "git": git})
}
