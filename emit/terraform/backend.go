package terraform

import "github.com/batchwright/batchwright/compiler/ir"

// backend says where the state is. Infrastructure Manager, which keeps it itself,
// takes no root that says so.
func backend(b *body, p *ir.Platform) {
	if p.Delivery.InfrastructureManager {
		return
	}
	gcs := b.block("terraform").block("backend", "gcs")
	gcs.setString("bucket", p.Delivery.StateBucket)
	gcs.setString("prefix", p.Delivery.StatePrefix)
}
