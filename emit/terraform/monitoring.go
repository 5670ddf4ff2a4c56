package terraform

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

func monitoringResources(b *body, p *ir.Platform) {
	dashboard := b.resource("google_monitoring_dashboard", "main")
	var boards []hclwrite.Tokens
	for _, board := range monitoring.EmptyBoards(p) {
		boards = append(boards, stringTokens(board.File))
	}
	dashboard.setTokens("for_each", hclwrite.TokensForFunctionCall("toset", tupleTokens(boards...)))
	path := constant(`file("${path.module}/../dashboards/cloud-monitoring/${each.key}.json")`)
	if p.Delivery.InfrastructureManager {
		path = `file("${path.module}/dashboards/${each.key}.json")`
	}
	dashboard.setExpr("dashboard_json", path)

	if p.Monitoring.TensorBoard != "" {
		b.note("The build finds the TensorBoard by its display name, because Google Cloud assigns the",
			"ID.")
		board := b.resource("google_vertex_ai_tensorboard", "main")
		board.setExpr("display_name", platformName(p))
		board.setExpr("region", "var.tensorboard_region")
	}
	alertPolicies(b, platformName(p), monitoring.Alerts(p))
}

// alertPolicies writes a policy for each alert. platform is an expression for the name of
// the platform.
func alertPolicies(b *body, platform constant, alerts []monitoring.Alert) {
	entries := make([]entry, len(alerts))
	for i, a := range alerts {
		entries[i] = entry{a.Name, objectTokens([]entry{
			{"group", stringTokens(a.Group)},
			{"severity", stringTokens(strings.ToUpper(a.Severity))},
			{"duration", stringTokens(strconv.Itoa(a.For) + "s")},
			{"query", stringTokens(a.Expr)},
			{"summary", stringTokens(labelVariables(a.Summary))},
			{"action", stringTokens(labelVariables(a.Action))},
		})}
	}
	b.block("locals").setTokens("alerts", objectTokens(entries))

	policy := b.resource("google_monitoring_alert_policy", "main")
	policy.setExpr("for_each", "local.alerts")
	policy.setExpr("display_name", `"${each.key} (${`+platform+`})"`)
	policy.setString("combiner", "OR")
	policy.setExpr("severity", "each.value.severity")
	policy.setExpr("notification_channels", "var.notification_channels")

	condition := policy.block("conditions")
	condition.setExpr("display_name", "each.key")
	query := condition.block("condition_prometheus_query_language")
	query.setExpr("query", "each.value.query")
	query.setExpr("duration", "each.value.duration")
	query.setString("evaluation_interval", "60s")
	query.setExpr("rule_group", "each.value.group")
	query.setExpr("alert_rule", "each.key")
	query.note("At the first apply the metrics do not exist yet, so their validation would fail.")
	query.setBool("disable_metric_validation", true)

	documentation := policy.block("documentation")
	documentation.setString("mime_type", "text/markdown")
	documentation.setExpr("content", `"${each.value.summary}\n\n${each.value.action}"`)
	policy.note("Cloud Monitoring closes an incident after seven days without data.")
	policy.block("alert_strategy").setString("auto_close", "604800s")
}

var labelMark = regexp.MustCompile(`\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}`)

// labelVariables replaces "{{label}}" by Cloud Monitoring's variable for the value
// of the label (Cloud Monitoring documentation: "Using variables in alert
// documentation").
func labelVariables(s string) string {
	return labelMark.ReplaceAllString(s, "$${metric_or_resource.label.$1}")
}
