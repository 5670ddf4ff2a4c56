package terraform

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

func writeProviders(b *body, p *ir.Platform) {
	google := b.block("provider", "google")
	google.setExpr("project", "var.project_id")
	google.setExpr("region", "var.region")
	google.note("The provider sets these labels on all resources that have labels, so that cost reports",
		"can distinguish platforms.")
	labels := objectTokens([]entry{
		{ir.CloudLabelManagedBy, stringTokens("batchwright")},
		{ir.CloudLabelPlatform, hclwrite.TokensForIdentifier(string(platformName(p)))},
	})
	if len(p.Labels) > 0 {
		google.note("Node pools repeat var.labels in resource_labels, because the provider gives them no default",
			"labels.")
		labels = hclwrite.TokensForFunctionCall("merge", traversalTokens("var", "labels"), labels)
	}
	google.setTokens("default_labels", labels)
}
