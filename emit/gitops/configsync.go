package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// The types below are the emitted part of configsync.gke.io/v1beta1. Source: Config
// Sync 1.22, manifests/rootsync-crd.yaml.

type rootSync struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              rootSyncSpec `json:"spec"`
}

type rootSyncSpec struct {
	SourceType   string      `json:"sourceType"`
	SourceFormat string      `json:"sourceFormat"`
	Git          rootSyncGit `json:"git"`
	Override     *override   `json:"override,omitempty"`
}

type rootSyncGit struct {
	Repo      string    `json:"repo"`
	Branch    string    `json:"branch"`
	Dir       string    `json:"dir"`
	Auth      string    `json:"auth"`
	SecretRef *objectID `json:"secretRef,omitempty"`
}

type override struct {
	NamespaceStrategy      string `json:"namespaceStrategy,omitempty"`
	EnableShellInRendering bool   `json:"enableShellInRendering,omitempty"`
}

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
		releases = append(releases, kubeyaml.Manifest{Name: c.Field + "/" + kustomization, Objects: []any{
			kubeyaml.NewKustomization([]string{c.ManifestURL()}),
		}})
	}
	platform := newRootSync(p, "platform", kubernetesFolder)
	platform.Spec.Override = &override{NamespaceStrategy: explicitNamespaces}
	manifests = append(manifests, kubeyaml.Manifest{Name: "platform.yaml", Objects: []any{platform}})
	if p.Monitoring.Grafana {
		manifests = append(manifests, kubeyaml.Manifest{
			Name: "dashboards.yaml", Objects: []any{newRootSync(p, dashboardsFolder, dashboardsFolder)},
		})
	}
	manifests = append(manifests, kubeyaml.Manifest{Name: kustomization, Objects: []any{listFiles(manifests)}})
	return append(manifests, releases...), nil
}

// explicitNamespaces keeps a RootSync from creating namespaces that its folder does not
// have. Otherwise the RootSync of the platform, which has objects in the namespaces of the
// controllers, would create and own these namespaces if it comes first, and the
// RootSyncs of the releases could not apply theirs (Config Sync: error KNV1060).
const explicitNamespaces = "explicit"

// releaseKustomization is a kustomization of a release and its changes.
type releaseKustomization struct {
	kubeyaml.Kustomization `json:",inline"`
	Components             []string       `json:"components"`
	Patches                []releasePatch `json:"patches"`
}

// releasePatch is a strategic merge patch, either as text or in a file.
type releasePatch struct {
	Path  string `json:"path,omitempty"`
	Patch string `json:"patch,omitempty"`
}

// deploymentAnnotations is the part of a Deployment that restarts its pods if an
// annotation has changed.
type deploymentAnnotations struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        objectName `json:"metadata"`
	Spec            struct {
		Template struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"template"`
	} `json:"spec"`
}

type objectName struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

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
	restart := &deploymentAnnotations{
		TypeMeta: kubeyaml.Kind(appsv1.SchemeGroupVersion, "Deployment"),
		Metadata: objectName{"kueue-controller-manager", ir.KueueNamespace},
	}
	restart.Spec.Template.Metadata.Annotations = map[string]string{
		"batchwright/configuration": hex.EncodeToString(digest[:]),
	}
	patch, err := kubeyaml.Marshal(restart)
	if err != nil {
		return nil, err
	}
	const configuration = "configuration.yaml"
	return []kubeyaml.Manifest{
		{Name: "kueue/" + configuration, Objects: []any{configMap}},
		{Name: "kueue/" + kustomization, Objects: []any{&releaseKustomization{
			Kustomization: *kubeyaml.NewKustomization([]string{p.Versions.KueueManifest()}),
			Components:    []string{"../../" + kubernetesFolder + "/" + ir.KueueWebhooks},
			Patches:       []releasePatch{{Path: configuration}, {Patch: string(patch)}},
		}}},
	}, nil
}

// releaseSync returns the RootSync of a release.
func releaseSync(p *ir.Platform, name string) *rootSync {
	r := newRootSync(p, name, path.Join(folder, name))
	r.Spec.Override = &override{NamespaceStrategy: explicitNamespaces, EnableShellInRendering: true}
	return r
}

// newRootSync returns the RootSync of a part of the platform, which is a folder. If
// somebody deletes the RootSync, its objects stay.
func newRootSync(p *ir.Platform, part, dir string) *rootSync {
	g := p.Delivery.GitOps
	r := &rootSync{
		TypeMeta:   metav1.TypeMeta{APIVersion: "configsync.gke.io/v1beta1", Kind: "RootSync"},
		ObjectMeta: kubeyaml.Meta(p.Name, g.Tool.Facts().Namespace, p.Name+"-"+part),
		Spec: rootSyncSpec{
			SourceType: "git", SourceFormat: "unstructured",
			Git: rootSyncGit{Repo: g.Repository, Branch: g.Branch, Dir: g.Folder(dir), Auth: "none"},
		},
	}
	if g.Secret != "" {
		r.Spec.Git.SecretRef = &objectID{Name: g.Secret}
		r.Spec.Git.Auth = "token"
		if strings.HasPrefix(g.Repository, "ssh://") {
			r.Spec.Git.Auth = "ssh"
		}
	}
	return r
}
