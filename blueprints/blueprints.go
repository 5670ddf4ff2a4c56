// Package blueprints holds the examples that a new platform can start from.
package blueprints

import "embed"

// Files holds the blueprints, each in the directory of its name.
//
//go:embed a3-ultra-flex batch-platform batch-platform-argocd batch-platform-dws existing kai-departments
//go:embed shared-vpc tpu-training
var Files embed.FS
