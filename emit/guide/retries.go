package guide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// retryPauses are the pauses before retries of requests for nodes.
type retryPauses struct {
	Checks  []string // AdmissionChecks with these pauses, nil for all
	Growing string   // the first pauses, "" for none
	Longest int      // seconds before every later retry
}

// RetryPauses returns the pauses, in the order of the AdmissionChecks that first have them.
func (v view) RetryPauses() []*retryPauses {
	var out []*retryPauses
	var known []ir.RetryPauses
	for _, c := range v.AdmissionChecks {
		pauses := c.Retry.Resolve()
		i := slices.Index(known, pauses)
		if i < 0 {
			i = len(out)
			known = append(known, pauses)
			out = append(out, &retryPauses{Growing: printPauses(pauses.Growing()), Longest: pauses.Longest})
		}
		out[i].Checks = append(out[i].Checks, c.Name)
	}
	if len(out) == 1 {
		out[0].Checks = nil
	}
	return out
}

// printPauses returns times in seconds in words, with the unit once if all are whole minutes.
func printPauses(pauses []int) string {
	var numbers, texts []string
	for _, p := range pauses {
		texts = append(texts, words.Duration(p))
		if p%60 == 0 {
			numbers = append(numbers, strconv.Itoa(p/60))
		}
	}
	if len(numbers) == len(pauses) && len(pauses) > 1 {
		return words.And(numbers) + " minutes"
	}
	return strings.TrimSpace(words.And(texts))
}
