package dashboard

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// Files that a Grafana on somebody's own machine reads when it starts, and the
// environment variable from which it takes the token of this person. Grafana replaces
// $NAME in these files (Grafana documentation: "Provision Grafana").
const (
	provisioning    = "provisioning/"
	boardsDirectory = "/var/lib/grafana/dashboards"
	tokenReference  = "$TOKEN"
)

// localGrafana returns the files with which a Grafana on somebody's own machine shows
// the boards. The data source is Managed Service for Prometheus (Google Cloud
// documentation: "Query using Grafana"), read with the token of this person.
func localGrafana(p *ir.Platform) []kubeyaml.Manifest {
	source := kubeyaml.Fields{
		"name": p.Name, "type": "prometheus", "access": "proxy", "isDefault": true,
		"url":            "https://monitoring.googleapis.com/v1/projects/" + p.Project + "/location/global/prometheus/",
		"jsonData":       map[string]string{"httpMethod": "GET", "httpHeaderName1": "Authorization"},
		"secureJsonData": map[string]string{"httpHeaderValue1": "Bearer " + tokenReference},
	}
	boards := kubeyaml.Fields{
		"name": p.Name, "type": "file", "options": map[string]string{"path": boardsDirectory},
	}
	return []kubeyaml.Manifest{
		{Name: provisioning + "dashboards/boards.yaml", Objects: []any{
			kubeyaml.Fields{"apiVersion": 1, "providers": []kubeyaml.Fields{boards}},
		}},
		{Name: provisioning + "datasources/metrics.yaml", Objects: []any{
			kubeyaml.Fields{"apiVersion": 1, "datasources": []kubeyaml.Fields{source}},
		}},
	}
}
