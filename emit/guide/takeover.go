package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// takeOverPage is the page about the resources that the platform takes over: for whoever
// builds the platform, and for the former owners.
const takeOverPage = "takeover/README.md"

// TakenOver names what the platform takes over.
func (v view) TakenOver() markup {
	pools := v.TakenOverPools()
	noun := markup("the node pools ")
	if len(pools) == 1 {
		noun = "the node pool "
	}
	noun += firstNames(pools)
	cluster := "the cluster " + codeSpan(v.Cluster.Name)
	switch {
	case len(pools) == 0:
		return cluster
	case v.Cluster.TakeOver == nil:
		return noun
	}
	return cluster + " and " + noun
}

// KeepsSettings reports whether a node pool that is taken over keeps a setting.
func (v view) KeepsSettings() bool {
	return v.AnyCapacity(func(c ir.Capacity) bool { return len(c.Kept) > 0 })
}

// TakesOverSlices reports whether a node pool of TPU slices is taken over.
func (v view) TakesOverSlices() bool {
	return v.AnyCapacity(func(c ir.Capacity) bool { return c.TakeOver != nil && c.Sliced() })
}

// keptNames returns the names of settings in the blueprint.
func keptNames(settings []ir.KeptSetting) []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = string(s)
	}
	return names
}
