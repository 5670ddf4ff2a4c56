// Package gitops renders the objects with which a GitOps tool applies the platform's
// Kubernetes objects from a Git repository, and installs Kueue and the controllers of jobs.
// A plan goes in; the folder gitops/ comes out. Without a tool there is no such folder.
//
// The objects have no Go types, because the Go modules of the tools contain their
// controllers, with most of Kubernetes. conformance/gitops checks those of Argo CD and Flux
// against their CRDs.
package gitops

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// folder is the path of the objects in the deploy folder. kubernetesFolder and
// dashboardsFolder are the paths of the kustomizations that a tool applies.
const (
	folder           = "gitops"
	kubernetesFolder = "kubernetes"
	dashboardsFolder = "dashboards"
)

// ownPart is the name of the part with the administrator's own manifests.
const ownPart = "own"

// checkedKinds are the kinds of Kueue's objects whose health a tool checks.
var checkedKinds = []string{"AdmissionCheck", "ClusterQueue", "LocalQueue"}

// Files returns the folder gitops/, or nothing without a GitOps tool.
func Files(p *ir.Platform) ([]emit.File, error) {
	manifests := ir.ChooseGitOps(p.Delivery.GitOps.Tool, argoCD, flux, configSync)
	if manifests == nil {
		return nil, nil
	}
	all, err := manifests(p)
	if err != nil {
		return nil, err
	}
	return kubeyaml.Files(folder, all...)
}

// chart is a Helm chart in an OCI registry, with the name and namespace of its release.
type chart struct {
	address, version, release, namespace string
	sha256                               string          // of the chart in its registry, "" if it is unknown
	values                               kubeyaml.Fields // nil for the chart's own
	secret                               string          // that the software itself fills in, "" for none
}

// digest returns the digest of the chart in its registry, "" if it is unknown.
func (c chart) digest() string {
	if c.sha256 == "" {
		return ""
	}
	return "sha256:" + c.sha256
}

// charts returns the charts that the tool installs, in their order. There is none if
// somebody else installs Kueue and the controllers of jobs.
func charts(p *ir.Platform) ([]chart, error) {
	var out []chart
	if p.InstallsKueue() {
		c, err := kueueChart(p)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, c := range p.InstalledControllers() {
		out = append(out, chart{c.Chart, c.Version, c.Field, c.Namespace, c.ChartSHA256, nil, c.Secret})
	}
	return out, nil
}

// kueueChart returns Kueue's chart. With any release name other than "kueue", the names
// of its objects would not be those in the platform's policies and monitoring (Kueue
// 0.19: charts/kueue/templates/_helpers.tpl). The chart writes the configuration into
// the ConfigMap that the controller reads, restarts the controller if it has changed,
// and limits the webhooks to the namespaces of the managed jobs.
func kueueChart(p *ir.Platform) (chart, error) {
	text, err := kueue.Configuration(p)
	return chart{
		ir.KueueChart, p.Versions.Kueue, "kueue", ir.KueueNamespace, p.Versions.SHA256.KueueChart,
		kubeyaml.Fields{"managerConfig": kubeyaml.Fields{"controllerManagerConfigYaml": string(text)}}, "",
	}, err
}
