package terraform

import "github.com/batchwright/batchwright/compiler/ir"

// writeBackend writes the location of the state. With Infrastructure Manager it writes
// none: Infrastructure Manager keeps the state itself, and rejects a root that names
// a location.
func writeBackend(b *body, p *ir.Platform) {
	if p.Delivery.InfrastructureManager {
		return
	}
	gcs := b.block("terraform").block("backend", "gcs")
	gcs.setString("bucket", p.Delivery.StateBucket)
	gcs.setString("prefix", p.Delivery.StatePrefix)
}
