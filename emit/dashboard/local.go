package dashboard

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// Files that a Grafana on somebody's own machine reads when it starts, and the
// environment variable from which it takes the token of this person. Grafana replaces
// $NAME in these files (Grafana documentation: "Provision Grafana").
const (
	provisioning    = "dashboards/provisioning/"
	boardsDirectory = "/var/lib/grafana/dashboards"
	tokenReference  = "$TOKEN"
)

// provisionedSources is a file of Grafana with data sources.
type provisionedSources struct {
	APIVersion  int                 `json:"apiVersion"`
	Datasources []provisionedSource `json:"datasources"`
}

type provisionedSource struct {
	Name           string            `json:"name"`
	Type           string            `json:"type"`
	Access         string            `json:"access"`
	URL            string            `json:"url"`
	IsDefault      bool              `json:"isDefault"`
	JSONData       map[string]string `json:"jsonData"`
	SecureJSONData map[string]string `json:"secureJsonData"`
}

// provisionedBoards is a file of Grafana that names a directory of dashboards.
type provisionedBoards struct {
	APIVersion int                `json:"apiVersion"`
	Providers  []provisionedFiles `json:"providers"`
}

type provisionedFiles struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	Options map[string]string `json:"options"`
}

// localGrafana returns the files with which a Grafana on somebody's own machine shows
// the boards. The data source is Managed Service for Prometheus (Google Cloud
// documentation: "Query using Grafana"), read with the token of this person.
func localGrafana(p *ir.Platform) ([]emit.File, error) {
	sources := provisionedSources{APIVersion: 1, Datasources: []provisionedSource{{
		Name: p.Name, Type: "prometheus", Access: "proxy", IsDefault: true,
		URL:            "https://monitoring.googleapis.com/v1/projects/" + p.Project + "/location/global/prometheus/",
		JSONData:       map[string]string{"httpMethod": "GET", "httpHeaderName1": "Authorization"},
		SecureJSONData: map[string]string{"httpHeaderValue1": "Bearer " + tokenReference},
	}}}
	boards := provisionedBoards{APIVersion: 1, Providers: []provisionedFiles{{
		Name: p.Name, Type: "file", Options: map[string]string{"path": boardsDirectory},
	}}}
	var files []emit.File
	for _, f := range []struct {
		path    string
		content any
	}{{"dashboards/boards.yaml", &boards}, {"datasources/metrics.yaml", &sources}} {
		content, err := kubeyaml.Marshal(f.content)
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: provisioning + f.path, Content: content})
	}
	return files, nil
}
