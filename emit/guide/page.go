package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
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
)

// Headings to which other sections link. A test follows the links.
const (
	// of README.md
	beforeHeading      markup = "Before you build"
	buildHeading       markup = "Build it"
	syncHeading        markup = "Connect the GitOps tool"
	foreignHeading     markup = "Service accounts of others"
	othersHeading      markup = "Objects of others"
	showHeading        markup = "See that it works"
	secretsHeading     markup = "Create the Secrets"
	buildImagesHeading markup = "Build images"
	watchHeading       markup = "Watch it"
	undoHeading        markup = "Destroy the platform"
	teamsHeading       markup = "Teams"
	capacitiesHeading  markup = "Capacities"
	guaranteesHeading  markup = "What is guaranteed and what exists"
	// of USING.md
	accessHeading   markup = "Get access"
	yourTeamHeading markup = "Your team"
	submitHeading   markup = "Submit the workloads"
	resultsHeading  markup = "See what it did"
	waitsHeading    markup = "Why a job waits"
	promisesHeading markup = "What each tier promises"
	logsHeading     markup = "Read logs afterwards"
	refusedHeading  markup = "What is refused"
	ownHeading      markup = "A job of your own"
	imageHeading    markup = "An image of your own"
	// of REFERENCE.md
	quotaHeading         markup = "Google Cloud quota"
	queuesHeading        markup = "Quota of the queues"
	rightsHeading        markup = "Identities and rights"
	buildStepsHeading    markup = "Steps of the build"
	removalStepsHeading  markup = "Steps of the removal"
	buildRightsHeading   markup = "Rights of the build"
	nodeMarksHeading     markup = "Labels and taints of the nodes"
	networksHeading      markup = "Networks between GPUs"
	alertsHeading        markup = "Alerts"
	stepsHeading         markup = "Build it step by step"
	toolkitHeading       markup = "With Cluster Toolkit"
	substitutionsHeading markup = "Substitutions of the build"
	filesHeading         markup = "Files"
	// of DEMONSTRATION.md
	prepareHeading markup = "Before you begin"
	evictedHeading markup = "What happens to evicted jobs"
	cleanUpHeading markup = "Clean up"
)

// newPage returns a page: its title and introduction, a list of links to its
// sections, and the sections. Functions that have nothing to say write nothing.
func newPage(p *ir.Platform, introduction func(*document, *ir.Platform),
	sections ...func(*document, *ir.Platform)) *document {
	page, body := &document{}, &document{}
	introduction(page, p)
	for _, section := range sections {
		section(body, p)
	}
	page.Contents(body)
	page.Append(body)
	return page
}

// formatDuration returns a number of seconds in the largest unit that divides it.
func formatDuration(seconds int) markup { return markup(words.Duration(seconds)) }

// formatNumber returns a number as markup.
func formatNumber(n int) markup { return markup(strconv.Itoa(n)) }

// countNoun returns a number with its noun, in the plural unless the number is 1.
// The noun is trusted text of this package.
func countNoun(n int, noun markup) markup { return markup(words.Count(n, string(noun))) }

// schedulerName returns the name of the platform's scheduler.
func schedulerName(p *ir.Platform) markup { return escapeText(p.Scheduler.Facts().Name) }

// consoleLink returns a link to a page of the Google Cloud console.
func consoleLink(label markup, page, project string) markup {
	return "[" + label + "](" + markup(words.ConsolePage(page, project)) + ")"
}
