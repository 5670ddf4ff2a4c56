package terraform

import "github.com/batchwright/batchwright/compiler/ir"

func backend(b *body, p *ir.Platform) {
	gcs := b.block("terraform").block("backend", "gcs")
	gcs.text("bucket", p.Delivery.StateBucket)
	gcs.text("prefix", p.Delivery.StatePrefix)
}
