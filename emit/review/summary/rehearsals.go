package summary

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// addRehearsals adds the facts about the rehearsals. A change of them concerns no folder,
// but a reviewer sees that something else is expected. The teams follow from the rest of
// the platform if the blueprint does not name them.
func (s *sheet) addRehearsals(top subject) {
	for _, r := range s.plan.Rehearsals {
		top.has("rehearsal "+strconv.Quote(r.Name), fact{form: opaque, value: rehearsalText(withoutTeams(r))})
	}
	top.has("teams of the rehearsals",
		fact{form: opaque, value: rehearsalText(s.plan.Rehearsals), follows: []string{anything}})
}

// withoutTeams returns the rehearsal without the teams that submit jobs.
func withoutTeams(r ir.Rehearsal) ir.Rehearsal {
	r.Arrivals = slices.Clone(r.Arrivals)
	for i := range r.Arrivals {
		r.Arrivals[i].Teams = nil
	}
	return r
}

// rehearsalText returns rehearsals as a text in which every difference shows.
func rehearsalText(rehearsals any) string {
	text, err := json.Marshal(rehearsals)
	if err != nil {
		panic(err) // rehearsals consist of texts and numbers
	}
	return string(text)
}
