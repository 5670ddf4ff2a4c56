package cloudbuild

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// mirrorScript returns mirror.sh, which copies images and manifests. It is nil if the
// platform takes all of them from their public places.
func mirrorScript(p *ir.Platform) []byte {
	var images []string
	if p.Images.Mirror != "" {
		images = p.PublicImages()
	}
	var releases []ir.Release
	if p.Images.Manifests != "" {
		releases = p.Releases()
	}
	if images == nil && releases == nil {
		return nil
	}
	values := []string{
		words.ShellAssignment("NAME", p.Name),
		words.ShellAssignment("PROJECT", p.Project),
		words.ShellAssignment("MIRROR", p.Images.Mirror),
		words.ShellAssignment("FOLDER", p.Images.Manifests),
		assignArray("IMAGES", images),
		assignArray("WHOLE_NAMES", mapElements(images, ir.WholeImageName)),
		assignArray("MANIFESTS", mapElements(releases, func(r ir.Release) string { return r.Manifest })),
		assignArray("FILES", mapElements(releases, func(r ir.Release) string { return r.File })),
		assignArray("DIGESTS", mapElements(releases, func(r ir.Release) string { return r.SHA256 })),
	}
	return []byte(readScript("mirror.sh", "VALUES", strings.Join(values, "")))
}
