package summary

import (
	"encoding/json"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// addDemonstration adds the facts about the demonstration. A change of it concerns no
// job, quota or node, so one line without details tells it. The names of teams, queues
// and capacities follow from other facts.
func (s *sheet) addDemonstration(top subject) {
	all := s.plan.Demonstration
	top.has("demonstration", fact{form: opaque, value: phaseText(withoutNames(all))})
	top.has("teams and queues of the demonstration",
		fact{form: opaque, value: phaseText(all), follows: []string{anything}})
}

// withoutNames returns the phases without the teams that take part, and without the
// capacities on which they expect no pods.
func withoutNames(phases []ir.Phase) []ir.Phase {
	out := slices.Clone(phases)
	for i := range out {
		phase := &out[i]
		phase.Teams = nil
		phase.Pods = slices.DeleteFunc(slices.Clone(phase.Pods), func(c ir.CapacityCount) bool { return c.Count == 0 })
	}
	return out
}

// phaseText returns phases as a text in which every difference shows.
func phaseText(phases []ir.Phase) string {
	text, err := json.Marshal(phases)
	if err != nil {
		panic(err) // phases consist of texts and numbers
	}
	return string(text)
}
