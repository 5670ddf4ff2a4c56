package cloudbuild

import (
	"os"
	"slices"
	"testing"
)

// TestReviewTemplate checks the build that reviews a pull request, which
// repositories of users get, against Cloud Build's API and the rules of builds. Its
// account is the trigger's.
func TestReviewTemplate(t *testing.T) {
	text, err := os.ReadFile("../../cmd/batchwright/templates/cloudbuild.yaml")
	if err != nil {
		t.Fatal(err)
	}
	build, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	problems := slices.Concat(times(build), order(build), images(build), commands(build), amounts(build),
		substitutions(build))
	for _, problem := range problems {
		t.Error(problem)
	}
}
