package terraform

import (
	"testing"
)

// TestPrivateNodes holds that every request for a pool asks for private nodes.
func TestPrivateNodes(t *testing.T) {
	for _, form := range []string{"a3-ultra-flex", "batch-platform"} {
		t.Run(form, func(t *testing.T) {
			r := open(t, form)
			r.prepare(t)
			pools := r.create(t).kinds()["google_container_node_pool"]
			if len(r.cloud.pools) != pools {
				t.Fatalf("%d requests for %d pools", len(r.cloud.pools), pools)
			}
			for _, pool := range r.cloud.pools {
				if private := pool.enablePrivateNodes; private == nil || !*private {
					t.Errorf("the request for %s does not contain enablePrivateNodes: true", pool.name)
				}
			}
		})
	}
}
