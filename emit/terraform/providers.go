package terraform

import "github.com/batchwright/batchwright/compiler/ir"

func writeProviders(b *body, _ *ir.Platform) {
	google := b.block("provider", "google")
	google.setExpr("project", "var.project_id")
	google.setExpr("region", "var.region")
	google.note("The provider sets these labels on all resources that have labels, so that cost reports",
		"can distinguish platforms.")
	google.setTokens("default_labels", objectTokens([]entry{
		{"managed-by", stringTokens("batchwright")},
		{"platform", traversalTokens("var", "cluster_name")},
	}))
}
