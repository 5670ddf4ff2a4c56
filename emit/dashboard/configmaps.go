package dashboard

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// sidecarLabel is the label of ConfigMaps that the dashboard sidecar of Grafana's
// Helm chart loads. It is the default of the chart's sidecar.dashboards.label.
const sidecarLabel = "grafana_dashboard"

// kustomization is a kustomization.yaml that generates ConfigMaps from files, so
// that the files stay readable.
type kustomization struct {
	metav1.TypeMeta    `json:",inline"`
	Namespace          string               `json:"namespace"`
	GeneratorOptions   generatorOptions     `json:"generatorOptions"`
	ConfigMapGenerator []configMapGenerator `json:"configMapGenerator"`
}

type generatorOptions struct {
	DisableNameSuffixHash bool              `json:"disableNameSuffixHash"`
	Labels                map[string]string `json:"labels"`
}

type configMapGenerator struct {
	Name  string   `json:"name"`
	Files []string `json:"files"` // KEY=PATH
}

// grafanaFiles returns the boards for Grafana and a kustomization that wraps each
// board in a ConfigMap. The ConfigMaps go to Grafana's namespace, which does not
// belong to the platform. The kustomization must not list the namespace: otherwise
// deleting the dashboards would delete Grafana.
func grafanaFiles(p *ir.Platform, boards []monitoring.Board) ([]emit.File, error) {
	labels := kubeyaml.Labels(p.Name)
	labels[sidecarLabel] = "1"
	k := &kustomization{
		TypeMeta:         metav1.TypeMeta{APIVersion: "kustomize.config.k8s.io/v1beta1", Kind: "Kustomization"},
		Namespace:        p.Monitoring.GrafanaNamespace,
		GeneratorOptions: generatorOptions{DisableNameSuffixHash: true, Labels: labels},
	}
	var files []emit.File
	for _, b := range boards {
		content, err := boardJSON(newGrafanaBoard(p, b, boards))
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: "dashboards/grafana/" + b.File + ".json", Content: content})
		// The sidecar writes all files of all ConfigMaps to one folder, so the keys
		// must differ between platforms.
		name := p.Name + "-" + b.File
		k.ConfigMapGenerator = append(k.ConfigMapGenerator, configMapGenerator{
			Name:  name + "-dashboard",
			Files: []string{name + ".json=grafana/" + b.File + ".json"},
		})
	}
	content, err := kubeyaml.Marshal(k)
	if err != nil {
		return nil, err
	}
	files = append(files, emit.File{Path: "dashboards/kustomization.yaml", Content: content})
	local, err := localGrafana(p)
	if err != nil {
		return nil, err
	}
	return append(files, local...), nil
}
