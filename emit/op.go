package emit

// Op is what happened to something between two states of a platform.
type Op string

// What can happen.
const (
	Added   Op = "added"
	Removed Op = "removed" // from the configuration
	Changed Op = "changed"
)
