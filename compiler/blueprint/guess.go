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
