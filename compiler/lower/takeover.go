package lower

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// takeOverCluster resolves the takeover of a cluster, nil for none.
func takeOverCluster(t *schema.ClusterTakeOver) *ir.TakeOver {
	if t == nil {
		return nil
	}
	return &ir.TakeOver{From: valueOr(t.From, "")}
}

// takeOverPools resolves the takeover of a capacity's node pools, nil for none, and the
// settings of their nodes that stay.
func takeOverPools(t *schema.PoolTakeOver) (out *ir.TakeOver, kept []ir.KeptSetting) {
	if t == nil {
		return nil, nil
	}
	for _, setting := range sortedUnique(t.Keep) {
		kept = append(kept, ir.KeptSetting(setting))
	}
	return &ir.TakeOver{From: valueOr(t.From, "")}, kept
}
