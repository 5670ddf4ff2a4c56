package kueue

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestTierOfNamedQueue checks that the policy looks up a name that the blueprint gives,
// and that it derives every other tier from the name.
func TestTierOfNamedQueue(t *testing.T) {
	p := &ir.Platform{Teams: []ir.Team{{
		Name: "vision", Namespace: "eyes",
		Queues: []ir.Queue{{Tier: "batch", LocalQueue: "lq-vision-batch"}},
	}}}
	derived := TierOfQueue(p)
	if strings.Contains(derived, "batch") {
		t.Errorf("no queue has a name of its own, but the expression is %s", derived)
	}
	p.Teams[0].Queues[0].LocalQueue = "default"
	if got := TierOfQueue(p); !strings.Contains(got, "'eyes/default': 'batch'") || !strings.Contains(got, derived) {
		t.Errorf("the expression is %s", got)
	}
}
