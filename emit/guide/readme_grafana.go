package guide

import (
	"path"

	"github.com/batchwright/batchwright/compiler/ir"
)

// grafanaImage is the Grafana that shows the dashboards on somebody's own machine.
const grafanaImage = "grafana/grafana:12.2.0"

// explainGrafana explains how to see the dashboards in Grafana. Sources: Google Cloud
// documentation, "Query using Grafana" (a token lives for an hour, so that a Grafana in
// the cluster needs a program that renews it); Grafana documentation, "Run Grafana
// Docker image" and "Configure anonymous access".
func explainGrafana(d *document, p *ir.Platform) {
	if !p.Monitoring.Grafana {
		return
	}
	d.Para("The same dashboards for Grafana are in ", fileLink("dashboards/grafana/"), ". The build installs no ",
		"Grafana: it would be a second entrance to the metrics, with users and passwords of its own, and a program ",
		"would have to renew its access to Cloud Monitoring every hour. To see the dashboards in Grafana, run one on ",
		"your own machine, in this folder. It needs Docker 23 or later, and reads the metrics as you: ",
		codeSpan("roles/monitoring.viewer"), " in the project is enough.")
	d.Code("sh",
		`export TOKEN="$(gcloud auth print-access-token)"`,
		`docker run --rm --name=grafana --publish=127.0.0.1:3000:3000 --env=TOKEN `+
			`--env=GF_AUTH_ANONYMOUS_ENABLED=true --env=GF_AUTH_DISABLE_LOGIN_FORM=true `+
			shellCommand("--volume=./dashboards/provisioning:/etc/grafana/provisioning:ro",
				"--volume=./dashboards/grafana:/var/lib/grafana/dashboards:ro", grafanaImage))
	d.Para("Open `http://127.0.0.1:3000/dashboards`, which lists the dashboards by the names above. There is no ",
		"login: only your machine reaches this Grafana, and its visitors can only look. After an hour the token ",
		"ends, and the charts are empty: stop Grafana with Ctrl-C, and run both commands again.")
	writer := markup("the build")
	if p.Delivery.GitOps.On() {
		writer = toolName(p)
	}
	d.Para("If the cluster has a Grafana of yours, it finds the dashboards in namespace ",
		codeSpan(p.Monitoring.GrafanaNamespace), ": "+writer+" puts them there as ConfigMaps with the label ",
		"`grafana_dashboard`, which the sidecar of Grafana's Helm chart loads. Give it a data source as in ",
		"[Query using Grafana](https://cloud.google.com/stackdriver/docs/managed-prometheus/query). ",
		fileLink(path.Join("dashboards", "provisioning")+"/"), " is only for the Grafana on your machine.")
}
