package ir_test

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

func TestAddressesOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"google_container_node_pool.a", "google_container_node_pool.a", true},
		{"google_container_node_pool.a", "google_container_node_pool.b", false},
		{"google_container_node_pool.a", `google_container_node_pool.a["x.y"]`, true},
		{`google_container_node_pool.a["x"]`, `google_container_node_pool.a["y"]`, false},
		{"google_container_node_pool.a[0]", "google_container_node_pool.a[0]", true},
		{"module.m.google_container_node_pool.a", "google_container_node_pool.a", false},
		{`module.m["x"].google_container_node_pool.a`, "module.m.google_container_node_pool.a[1]", true},
		{`module.m["x"].google_container_node_pool.a`, `module.m["y"].google_container_node_pool.a`, false},
	} {
		if got, back := ir.AddressesOverlap(test.a, test.b), ir.AddressesOverlap(test.b, test.a); got != test.want ||
			back != got {
			t.Errorf("%s and %s: %v, and %v in the other order, want %v", test.a, test.b, got, back, test.want)
		}
	}
}
