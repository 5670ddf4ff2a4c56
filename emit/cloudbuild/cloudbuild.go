// Package cloudbuild renders the files that build and destroy a platform: two Cloud
// Build builds, and the scripts with which a person prepares the project and submits
// the builds. A third build makes images for the teams. A plan goes in; the folder
// cloudbuild/, create-platform.sh, destroy-platform.sh and .gcloudignore come out.
//
// The deploy folder itself is the source of the first two builds.
//
// The shell scripts are files in scripts/. Values of the plan reach a build step as
// environment variables, and the two scripts at the root as quoted assignments: the
// shell never parses a value as code.
package cloudbuild

import (
	_ "embed"

	"go.yaml.in/yaml/v2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

//go:embed scripts/gcloudignore
var ignore []byte

// Files returns the builds in cloudbuild/, the two scripts, which are executable,
// .gcloudignore, and mirror.sh if the platform takes images or manifests from copies.
func Files(p *ir.Platform) ([]emit.File, error) {
	provision, err := yaml.Marshal(provisionBuild(p))
	if err != nil {
		return nil, err
	}
	destroy, err := yaml.Marshal(destroyBuild(p))
	if err != nil {
		return nil, err
	}
	image, err := yaml.Marshal(imageBuild(p))
	if err != nil {
		return nil, err
	}
	files := []emit.File{
		{Path: "cloudbuild/provision.yaml", Content: provision},
		{Path: "cloudbuild/destroy.yaml", Content: destroy},
		{Path: "cloudbuild/image.yaml", Content: image},
		{Path: "create-platform.sh", Content: createScript(p), Mode: 0o755},
		{Path: "destroy-platform.sh", Content: destroyScript(p), Mode: 0o755},
		{Path: ".gcloudignore", Content: ignore},
	}
	if script := mirrorScript(p); script != nil {
		files = append(files, emit.File{Path: "mirror.sh", Content: script, Mode: 0o755})
	}
	return files, nil
}
