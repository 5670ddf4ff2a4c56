package runner

const (
	// KAI is the release of KAI Scheduler whose code decides, as go.mod pins it. It is the
	// newest release that Go's module proxy serves under one module path.
	KAI = "0.12.0"
	// Plays is the release for which it stands in: the one that platforms install.
	Plays = "0.17.0"
)
