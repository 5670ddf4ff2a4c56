package summary

import (
	"cmp"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// addTakeOver adds the fact that a cluster, or the node pools of a capacity, existed
// before the platform.
func addTakeOver(s subject, t *ir.TakeOver) {
	const what = "takeover"
	if t == nil {
		s.is(what, none, "Terraform does not refuse to replace or destroy it")
		return
	}
	s.is(what, cmp.Or(withPrefix("from ", t.From), "from no Terraform configuration"),
		"the next build imports it, and Terraform refuses to replace or destroy it")
}

// keptSettings returns the settings that a takeover keeps, in words.
func keptSettings(kept []ir.KeptSetting) string {
	var names []string
	for _, setting := range kept {
		names = append(names, string(setting))
	}
	return cmp.Or(strings.Join(names, ", "), none)
}
