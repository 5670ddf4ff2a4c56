package ir

import (
	"slices"
	"strings"
)

// Images says where the platform gets the software that it installs.
type Images struct {
	// Mirror is a registry with a path, which has copies of all images, "" for the public
	// registries.
	Mirror string
	// Manifests is a folder in Cloud Storage, gs://BUCKET/PATH without a slash at its end,
	// which has copies of the manifests, "" for the releases on GitHub.
	Manifests string
}

// Copy returns the name under which the platform pulls a public image: the whole name of
// the image below the mirror, or the name itself without a mirror. Names without a
// registry belong to Docker Hub.
func (m Images) Copy(image string) string {
	if m.Mirror == "" {
		return image
	}
	return m.Mirror + "/" + WholeImageName(image)
}

// InProject reports whether the mirror is a repository of Artifact Registry in a project.
func (m Images) InProject(project string) bool {
	host, path, _ := strings.Cut(m.Mirror, "/")
	owner, _, _ := strings.Cut(path, "/")
	return strings.HasSuffix(host, "-docker.pkg.dev") && owner == project
}

// Release is software that the build installs from the manifest of a release.
type Release struct {
	Manifest string // URL of the manifest
	File     string // name of a copy of the manifest
	SHA256   string // of the manifest, "" if it is unknown
	Image    string // image of the release, without its tag
	Tag      string // of the image
}

// KueueRelease returns the release of Kueue.
func (v Versions) KueueRelease() Release {
	return Release{v.KueueManifest(), "kueue-" + v.Kueue + ".yaml", v.SHA256.Kueue, "registry.k8s.io/kueue/kueue",
		"v" + v.Kueue}
}

// JobSetRelease returns the release of JobSet.
func (v Versions) JobSetRelease() Release {
	return Controller{Controller: *JobSet.Facts().Controller, Version: v.JobSet, SHA256: v.SHA256.JobSet}.Release()
}

// Source returns the place from which the build gets the manifest of a release: its URL,
// or its copy in Cloud Storage.
func (m Images) Source(r Release) string {
	if m.Manifests == "" {
		return r.Manifest
	}
	return m.Manifests + "/" + r.File
}

// Releases returns the releases that the build installs from manifests.
func (p *Platform) Releases() []Release {
	var out []Release
	if p.InstallsKueue() {
		out = append(out, p.Versions.KueueRelease())
	}
	for _, c := range p.InstalledControllers() {
		out = append(out, c.Release())
	}
	return out
}

// PublicImages returns the public images that the platform pulls, in the order in which
// it needs them. It omits the images of KAI Scheduler, which its chart names.
func (p *Platform) PublicImages() []string {
	images := []string{p.Versions.GcloudImage()}
	if !p.Delivery.InfrastructureManager {
		images = append(images, p.Versions.TerraformImage())
	}
	for _, r := range p.Releases() {
		images = append(images, r.Image+":"+r.Tag)
	}
	uses := func(arm bool, direct GPUDirect) bool {
		return p.AnyCapacity(func(c Capacity) bool { return c.GPUDirect == direct && c.Machine.Arm == arm })
	}
	for _, need := range []struct {
		needed bool
		images []string
	}{
		{uses(false, RDMA), []string{p.Versions.GIBImage(false), PauseImage}},
		{uses(true, RDMA), []string{p.Versions.GIBImage(true), PauseImage}},
		{uses(false, TCPX), []string{TCPXPlugin, TCPXDaemon, InjectorImage, PauseImage}},
		{uses(false, TCPXO), []string{ShellImage, TCPXOPlugin, TCPXODaemon, InjectorImage, PauseImage}},
	} {
		for _, image := range need.images {
			if need.needed && !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	return images
}

// WholeImageName returns the name of an image with its registry. Source: distribution,
// reference/normalize.go: the part before the first slash is a registry if it has a dot
// or a colon, and images without a path belong to the library of Docker Hub.
func WholeImageName(image string) string {
	registry, _, hasPath := strings.Cut(image, "/")
	switch {
	case !hasPath:
		return "docker.io/library/" + image
	case !strings.ContainsAny(registry, ".:"):
		return "docker.io/" + image
	}
	return image
}
