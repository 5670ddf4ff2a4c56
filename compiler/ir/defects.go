package ir

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// Defects of releases to which the folder responds, as the catalogue's advisories name
// them.
const (
	// LimitsUncounted: Kueue does not charge a job that is queued again for what its
	// containers name only in limits.
	LimitsUncounted = "kueue-15093"
	// ReclaimedTooMuch: Kueue gives back quota of pods that run, if a Job has parallelism
	// above completions.
	ReclaimedTooMuch = "kueue-16132"
	// QuotaKept: Kueue keeps the quota of a job that it has stopped.
	QuotaKept = "kueue-14811"
	// NegativePriority: a JobSet whose PriorityClass has a negative value gets no pods.
	NegativePriority = kinds.NegativePriority
)

// HasDefect reports whether a release that the platform uses has a defect.
func (p *Platform) HasDefect(name string) bool { return slices.Contains(p.Defects, name) }
