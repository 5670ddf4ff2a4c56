package runner

// Kueue is the release of Kueue whose code decides, as go.mod pins it. A test compares.
const Kueue = "0.19.2"
