package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// explainMirror explains the copies of images and manifests that must exist before the
// build, and who must be able to read them. Sources: Artifact Registry documentation,
// "Configure roles and permissions"; Cloud Build documentation, "User-specified service
// accounts".
func explainMirror(d *document, p *ir.Platform) {
	m := p.Images
	if m.Mirror == "" && m.Manifests == "" {
		return
	}
	var places []string
	if m.Mirror != "" {
		places = append(places, "images from "+string(codeSpan(m.Mirror)))
	}
	if m.Manifests != "" {
		places = append(places, "manifests from "+string(codeSpan(m.Manifests)))
	}
	d.Para("The platform takes ", markup(strings.Join(places, ", and ")), ". Make the copies before the first build, ",
		"and again after each change of a version. The first command lists them. The second makes them; it needs ",
		"[crane](https://github.com/google/go-containerregistry/blob/main/cmd/crane/README.md) and must reach the ",
		"public registries:")
	d.Code("sh", "./mirror.sh --list", "./mirror.sh")
	if m.Mirror != "" && !m.InProject(p.Project) {
		d.Para("The nodes and the build pull these images. Let ", codeSpan(p.NodeAccount.Email(p.Project)), " and ",
			codeSpan(p.Delivery.Account.Email(p.Project)), " read the mirror: in Artifact Registry they need ",
			"`roles/artifactregistry.reader` on the repository. The accounts exist after ",
			"`./create-platform.sh --prepare`.")
	}
	if m.Manifests != "" {
		d.Para("Let ", codeSpan(p.Delivery.Account.Email(p.Project)), " read the manifests: the account needs ",
			"`roles/storage.objectViewer` on the bucket.")
	}
}
