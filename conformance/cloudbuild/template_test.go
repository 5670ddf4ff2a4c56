package cloudbuild

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReviewTemplate holds the build that reviews a pull request, for
// repositories of users, against Cloud Build's API and the rules of builds. Its
// account is the trigger's, and the image of git has no versions.
func TestReviewTemplate(t *testing.T) {
	text, err := os.ReadFile("../../cmd/batchwright/templates/cloudbuild.yaml")
	if err != nil {
		t.Fatal(err)
	}
	build, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	problems := slices.Concat(times(build), order(build), images(build), commands(build), amounts(build), substitutions(build))
	want := []string{`step "history": image "gcr.io/cloud-builders/git" is not pinned by a version or digest`}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
