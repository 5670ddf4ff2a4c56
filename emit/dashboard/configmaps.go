package dashboard

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// sidecarLabel is the label of ConfigMaps that the dashboard sidecar of Grafana's
// Helm chart loads. It is the default of the chart's sidecar.dashboards.label.
const sidecarLabel = "grafana_dashboard"

// grafanaFiles returns the boards for Grafana and a kustomization that wraps each
// board in a ConfigMap. The ConfigMaps go to Grafana's namespace, which does not
// belong to the platform. The kustomization must not list the namespace: otherwise
// deleting the dashboards would delete Grafana.
func grafanaFiles(p *ir.Platform, boards []monitoring.Board) ([]emit.File, error) {
	labels := kubeyaml.Labels(p.Name)
	labels[sidecarLabel] = "1"
	var files []emit.File
	var configMaps []kubeyaml.Fields
	for _, b := range boards {
		content, err := boardJSON(newGrafanaBoard(p, b, boards))
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: "dashboards/grafana/" + b.File + ".json", Content: content})
		// The sidecar writes all files of all ConfigMaps to one folder, so the keys
		// must differ between platforms.
		name := p.Name + "-" + b.File
		configMaps = append(configMaps, kubeyaml.Fields{
			"name": name + "-dashboard", "files": []string{name + ".json=grafana/" + b.File + ".json"},
		})
	}
	manifests, err := kubeyaml.Files("dashboards", append(localGrafana(p), kubeyaml.Manifest{
		Name: kubeyaml.KustomizationFile, Objects: []any{kubeyaml.Fields{
			"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
			"namespace":          p.Monitoring.GrafanaNamespace,
			"generatorOptions":   kubeyaml.Fields{"disableNameSuffixHash": true, "labels": labels},
			"configMapGenerator": configMaps,
		}},
	})...)
	return append(files, manifests...), err
}
