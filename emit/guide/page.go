package guide

import (
	"github.com/batchwright/batchwright/compiler/words"
)

// fewTeams is the largest number of teams that the pages show one by one. They show
// more teams in groups of equal teams. So the length of a page depends on the variety
// of the platform, not on its size.
const fewTeams = 12

// maxGroups is the largest number of groups of equal teams that a table shows. It
// also limits the tables of cohorts.
const maxGroups = 40

// The pages.
const (
	readmePage    = "README.md"
	usingPage     = "USING.md"
	referencePage = "REFERENCE.md"
	// demonstrationPage exists only if the blueprint has a demonstration.
	demonstrationPage = "DEMONSTRATION.md"
	// networkTeamPage is for the owners of an existing network. It repeats
	// network-team/main.tf as tables, for a ticket.
	networkTeamPage = "network-team/README.md"
)

// formatDuration returns a number of seconds in the largest unit that divides it.
func formatDuration(seconds int) markup { return markup(words.Duration(seconds)) }
