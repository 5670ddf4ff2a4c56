package ir

import (
	"fmt"
	"path"
	"slices"
)

// GitOpsTool is the software that applies the folder's Kubernetes objects from a Git
// repository.
type GitOpsTool string

// The GitOps tools.
const (
	ArgoCD     GitOpsTool = "argocd"
	Flux       GitOpsTool = "flux"
	ConfigSync GitOpsTool = "configsync"
)

// GitOpsTools returns all GitOps tools, in the order of the parameters of ChooseGitOps.
func GitOpsTools() []GitOpsTool { return []GitOpsTool{ArgoCD, Flux, ConfigSync} }

// Check returns an error if the tool is unknown. Having no tool is no error.
func (t GitOpsTool) Check() error {
	if t != "" && !slices.Contains(GitOpsTools(), t) {
		return fmt.Errorf("unknown GitOps tool %q", t)
	}
	return nil
}

// GitOpsFacts are the properties of a GitOps tool that matter to code that all tools
// share.
type GitOpsFacts struct {
	// Name is the name as written in a sentence.
	Name string
	// Namespace is the namespace of the tool's own objects. For Argo CD it is the usual
	// one; the objects do not name it, because an administrator may choose another.
	Namespace string
	// Charts reports whether the tool installs Kueue and JobSet from their charts.
	// Otherwise it installs the manifests of their releases. Config Sync refuses the
	// chart of Kueue 0.19, whose webhook configurations name a namespace although they
	// have none (Config Sync: error KNV1052). The chart of JobSet 0.12 has a Secret with
	// empty certificates, which JobSet fills in and Config Sync would empty again.
	Charts bool
	// Elsewhere reports whether the tool can run in a cluster other than the platform's,
	// and then knows the platform's cluster by a name.
	Elsewhere bool
	// NamesSecret reports whether the tool's objects name the Secret with the
	// credentials for the repository.
	NamesSecret bool
	// Manager is the name under which the tool owns the fields that it applies. Source:
	// Argo CD 3.5, common/common.go; Flux's kustomize-controller, main.go; Config Sync,
	// pkg/api/configsync/register.go.
	Manager string
	// Replaces reports whether the tool replaces an object if the API refuses to change
	// it and the object's annotations allow it.
	Replaces bool
}

// Facts returns the facts of a tool, which are all zero without a tool.
func (t GitOpsTool) Facts() GitOpsFacts {
	return ChooseGitOps(t,
		GitOpsFacts{Name: "Argo CD", Namespace: "argocd", Charts: true, Elsewhere: true,
			Manager: "argocd-controller", Replaces: true},
		GitOpsFacts{Name: "Flux", Namespace: "flux-system", Charts: true, NamesSecret: true,
			Manager: "kustomize-controller", Replaces: true},
		GitOpsFacts{Name: "Config Sync", Namespace: "config-management-system", NamesSecret: true,
			Manager: "configsync.gke.io"})
}

// ChooseGitOps returns the argument that belongs to the tool, and the zero value
// without a tool. Check finds an unknown tool first. No other code distinguishes tools.
// Each tool has a parameter of its own, so a new tool stops the build at every call that
// lacks an argument for it.
func ChooseGitOps[T any](t GitOpsTool, argoCD, flux, configSync T) T {
	switch t {
	case ArgoCD:
		return argoCD
	case Flux:
		return flux
	case ConfigSync:
		return configSync
	}
	var none T
	return none
}

// GitOps says which tool applies the Kubernetes objects, and from where.
type GitOps struct {
	Tool       GitOpsTool // "" if the build applies the objects
	Repository string     // address
	Branch     string
	Path       string // of the deploy folder in the repository, "." for the root
	Secret     string // with the credentials, "" for none
	// Destination is the name of the platform's cluster in Argo CD, "" if Argo CD runs
	// in that cluster.
	Destination string
}

// On reports whether a GitOps tool applies the objects.
func (g GitOps) On() bool { return g.Tool != "" }

// Folder returns the path in the repository of a folder below the deploy folder.
func (g GitOps) Folder(name string) string { return path.Join(g.Path, name) }

// KueueChart is the address of Kueue's chart, from the chart's README.md.
const KueueChart = "oci://registry.k8s.io/kueue/charts/kueue"

// FromCharts reports whether Kueue and JobSet are installed from their charts. Otherwise
// they are installed from the manifests of their releases.
func (p *Platform) FromCharts() bool { return p.Delivery.GitOps.Tool.Facts().Charts }

// JobSetController returns the name of JobSet's Deployment, as the platform installs it.
func (p *Platform) JobSetController() string { return p.ControllerOf(JobSet).Deployment }
