package blueprint

import (
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/diag"
)

// guessValue returns CUE source of the value that is probably meant instead of a wrong
// one: a value of the right type, or a member of the enumeration. It returns "" if
// there is no such value that the schema accepts.
func (g *grammar) guessValue(schema, value cue.Value) string {
	var guesses []string
	if s, err := value.String(); err == nil {
		if near := diag.Nearest(s, enumMembers(schema)); near != "" {
			return strconv.Quote(near)
		}
		switch strings.ToLower(s) {
		case "true", "yes", "on":
			guesses = append(guesses, "true")
		case "false", "no", "off":
			guesses = append(guesses, "false")
		}
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			guesses = append(guesses, s)
		}
		guesses = append(guesses, "["+strconv.Quote(s)+"]")
	} else if text, err := value.MarshalJSON(); err == nil && value.IncompleteKind()&cue.NumberKind != 0 {
		guesses = append(guesses, strconv.Quote(string(text)), "["+string(text)+"]")
		if f, err := value.Float64(); err == nil && f == float64(int64(f)) {
			guesses = append(guesses, strconv.FormatInt(int64(f), 10))
		}
	}
	for _, guess := range guesses {
		if v := g.cue.CompileString(guess); v.Err() == nil &&
			schema.Unify(v).Validate(cue.Concrete(true), cue.Final()) == nil {
			return guess
		}
	}
	return ""
}

// formerValue returns CUE source that means today what a value of a field meant in
// an earlier version of the schema, and the end of a sentence about it. It returns ""
// for values that never were valid.
func formerValue(path []string, value string) (now, why string) {
	if len(path) != 3 || path[0] != "tiers" || path[2] != "preempts" {
		return "", ""
	}
	switch value {
	case "true":
		return `{inQueue: "LowerPriority", toReclaim: "LowerPriority"}`,
			`as true meant; or {inQueue: "LowerPriority"}, and a guarantee also comes back from jobs of the same ` +
				"priority"
	case "false":
		return `{toReclaim: "Never"}`,
			"as false meant; or remove preempts, and jobs that borrow a guarantee are evicted if its team needs it"
	}
	return "", ""
}
