// Package stage holds what all engines of rehearsals play alike, whichever scheduler decides:
// the agenda in virtual time, the work of a job, and the limits and the use of nodes. It
// knows no scheduler.
package stage

import "errors"

// ErrScenario marks the errors about a scenario that cannot be played. Their text is for
// the user.
var ErrScenario = errors.New("the scenario cannot be played")
