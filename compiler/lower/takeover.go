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

// takeOverPools resolves the takeover of a capacity's node pools, nil for none.
func takeOverPools(t *schema.PoolTakeOver) *ir.TakeOver {
	if t == nil {
		return nil
	}
	out := &ir.TakeOver{From: valueOr(t.From, "")}
	for _, setting := range sortedUnique(t.Keep) {
		out.Keep = append(out.Keep, ir.KeptSetting(setting))
	}
	return out
}
