package guide

import (
	"path"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// ownImages returns the workloads, by name, that run an image of the platform's
// repository which somebody must build, and these images without the name of the
// repository. An image with a digest is built already, because only a build knows its
// digest.
func ownImages(p *ir.Platform) (workloads, images []string) {
	prefix := p.ImageRepository() + "/"
	for _, t := range templatesOf(p) {
		all := []string{t.Image}
		for _, a := range t.Auxiliaries {
			all = append(all, a.Image)
		}
		for _, image := range all {
			if name, own := strings.CutPrefix(image, prefix); own && !strings.Contains(name, "@") {
				workloads, images = withName(workloads, t.Template), withName(images, name)
			}
		}
	}
	return workloads, images
}

// exampleImage returns an image to build: the first that a workload needs, or else an
// example.
func exampleImage(p *ir.Platform) string {
	if _, images := ownImages(p); images != nil {
		return images[0]
	}
	return "my-image:1.0"
}

// sourceDirectory returns the directory from which the examples build exampleImage: it
// has the name of the image. If a workload needs the image, the directory is beside the
// blueprint, and the blueprint is in the directory above the folder, as in a repository
// that "batchwright init" has made.
func sourceDirectory(p *ir.Platform) string {
	name, _, _ := strings.Cut(path.Base(exampleImage(p)), ":")
	if _, images := ownImages(p); images != nil {
		return path.Join("..", name)
	}
	return name
}
