package cloudbuild

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/batchwright/batchwright/compiler/ir"
)

// missing answers like a repository that lacks the image: its tags are on other images,
// or contain the tag.
const missing = `if [[ $call == *"images list"* ]]; then
  printf '%s\t%s\n' us-central1-docker.pkg.dev/my-project/gke-batch/maxtext '0.2;0.2.20, 10.2.2' \
    us-central1-docker.pkg.dev/my-project/gke-batch/maxtext '' \
    us-central1-docker.pkg.dev/my-project/gke-batch/other 0.2.2
fi
if [[ $call == "docker inspect"* ]]; then echo us-central1-docker.pkg.dev/my-project/gke-batch/maxtext@sha256:0123; fi`

// present answers like a repository that has the image.
const present = `printf '%s\t%s\n' us-central1-docker.pkg.dev/my-project/gke-batch/maxtext 'new;0.2.2'`

// TestImageBuild: a build pushes the image that it is asked for, once, and nothing else.
func TestImageBuild(t *testing.T) {
	const (
		image = "us-central1-docker.pkg.dev/my-project/gke-batch/maxtext:0.2.2"
		list  = "gcloud artifacts docker images list us-central1-docker.pkg.dev/my-project/gke-batch" +
			` --include-tags --format=value\(package\,tags\)`
	)
	p := fullPlatform()
	p.Delivery.Repository = "gke-batch"
	s := newSandbox(t, p)
	s.writeFile("bin/docker", stub, 0o755)
	for _, test := range []struct {
		name, image, answers, dockerfile string
		calls                            []string
		says                             string // "" if the build succeeds
	}{
		{"new", "maxtext:0.2.2", missing, "FROM python:3.12.8\n", []string{
			list, "docker build --tag " + image + " .", "docker push " + image,
			`docker inspect --format=\{\{index\ .RepoDigests\ 0\}\} ` + image,
		}, ""},
		{"there already", "maxtext:0.2.2", present, "FROM python:3.12.8\n", []string{list}, "choose another tag"},
		{"no answer", "maxtext:0.2.2", "echo PERMISSION_DENIED >&2; exit 1", "FROM python:3.12.8\n", []string{list},
			"PERMISSION_DENIED"},
		{"push fails", "maxtext:0.2.2", missing + "\nif [[ $call == *push* ]]; then echo denied >&2; exit 1; fi",
			"FROM python:3.12.8\n", []string{
				list, "docker build --tag " + image + " .", "docker push " + image,
			}, "denied"},
		{"no Dockerfile", "maxtext:0.2.2", missing, "", nil, "has no Dockerfile"},
		{"no name", "", missing, "FROM python:3.12.8\n", nil, "--substitutions=_IMAGE=NAME:TAG"},
		{"no tag", "maxtext", missing, "FROM python:3.12.8\n", nil, "--substitutions=_IMAGE=NAME:TAG"},
		{"latest", "maxtext:latest", missing, "FROM python:3.12.8\n", nil, "a tag other than latest"},
		{"another repository", "../other/maxtext:1", missing, "FROM python:3.12.8\n", nil, "The name of the image"},
		{"commands", "a:$(id)", missing, "FROM python:3.12.8\n", nil, "The name of the image"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			s.answer(test.answers)
			if err := os.RemoveAll(filepath.Join(s.folder, "Dockerfile")); err != nil {
				t.Fatal(err)
			}
			if test.dockerfile != "" {
				s.writeFile("deploy folder/Dockerfile", test.dockerfile, 0o644)
			}
			s.substitutions = map[string]string{ir.ImageSubstitution: test.image}
			r := s.runStep(imageBuild(p).Steps[0])
			if d := cmp.Diff(test.calls, r.calls, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if (r.code == 0) != (test.says == "") || !strings.Contains(r.output, test.says) {
				t.Errorf("exit code %d, want %q\n%s", r.code, test.says, r.output)
			}
			const digest = `image: "us-central1-docker.pkg.dev/my-project/gke-batch/maxtext@sha256:0123"`
			if r.code == 0 && !strings.Contains(r.output, digest) {
				t.Errorf("the output does not name the image for the blueprint:\n%s", r.output)
			}
		})
	}
}

// TestImageBuildIsApart: the build of an image has an account of its own, and the
// platform's builds neither wait for it nor count it as a build of the platform.
func TestImageBuildIsApart(t *testing.T) {
	p := fullPlatform()
	image, provision := imageBuild(p), provisionBuild(p)
	if want := "projects/my-project/serviceAccounts/gke-batch-image@my-project.iam.gserviceaccount.com"; image.
		ServiceAccount != want || provision.ServiceAccount == want {
		t.Errorf("images are built as %s, the platform as %s", image.ServiceAccount, provision.ServiceAccount)
	}
	if slices.Contains(image.Tags, provision.Tags[0]) {
		t.Errorf("the tags %q overlap the tags of the platform's builds, %q", image.Tags, provision.Tags)
	}
	if d := cmp.Diff(map[string]string{ir.ImageSubstitution: ""}, image.Substitutions); d != "" {
		t.Errorf("substitutions (-want +got):\n%s", d)
	}
}
