package terraform

import "github.com/batchwright/batchwright/compiler/ir"

func providers(b *body, _ *ir.Platform) {
	google := b.block("provider", "google")
	google.setExpr("project", "var.project_id")
	google.setExpr("region", "var.region")
	google.note("The provider sets these labels on all resources that have labels, so that cost reports",
		"can distinguish platforms.")
	google.setTokens("default_labels", object([]entry{
		{"managed-by", literal("batchwright")},
		{"platform", reference("var", "cluster_name")},
	}))
}
