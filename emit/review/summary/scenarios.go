package summary

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// addScenarios adds the facts about the demonstration and the rehearsals. A change of them
// concerns no job, quota or node, so a line without details tells it. The teams that take
// part, and the capacities without pods, follow from other facts.
func (s *sheet) addScenarios(top subject) {
	phases := slices.Clone(s.plan.Demonstration)
	for i := range phases {
		p := &phases[i]
		p.Teams = nil
		p.Pods = slices.DeleteFunc(slices.Clone(p.Pods), func(c ir.CapacityCount) bool { return c.Count == 0 })
	}
	top.has("demonstration", fact{form: opaque, value: jsonText(phases)})
	for _, r := range s.plan.Rehearsals {
		r.Arrivals = slices.Clone(r.Arrivals)
		for i := range r.Arrivals {
			r.Arrivals[i].Teams = nil
		}
		top.has("rehearsal "+strconv.Quote(r.Name), fact{form: opaque, value: jsonText(r)})
	}
}

// jsonText returns a value that consists of texts and numbers as a text in which every
// difference shows.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
