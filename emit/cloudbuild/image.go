package cloudbuild

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// imageBuild returns the build that makes one image of the teams from a directory with
// a Dockerfile, and pushes it into the platform's repository. The source of the build is
// that directory and not the deploy folder, and the build has an account of its own,
// which can only push images.
func imageBuild(p *ir.Platform) build {
	t := scriptStep(p, 7200, "image", readScript("image.sh"), variable{"REPOSITORY", p.ImageRepository()})
	t.Env = append(t.Env, "IMAGE=$"+ir.ImageSubstitution)
	b := newBuild(p, "image", t)
	b.ServiceAccount = escapeDollars("projects/" + p.Project + "/serviceAccounts/" +
		p.ImageAccount().Email(p.Project))
	// Builds with the tag batchwright wait for each other (turn.sh), and this one must
	// not hold up the platform.
	b.Tags = []string{"batchwright-image", escapeDollars(p.Name)}
	// The script refuses this value: a build must name its image.
	b.Substitutions = map[string]string{ir.ImageSubstitution: ""}
	return b
}
