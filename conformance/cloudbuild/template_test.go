package cloudbuild

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
)

// reviewTemplate returns the build that reviews a pull request, which repositories of
// users get.
func reviewTemplate(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../cmd/batchwright/templates/cloudbuild.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkReview checks a build that reviews a pull request against Cloud Build's API and the
// rules of builds. Its account is the trigger's.
func checkReview(t *testing.T, text []byte) *cloudbuildpb.Build {
	t.Helper()
	build, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	problems := slices.Concat(times(build), order(build), images(build), commands(build), amounts(build),
		substitutions(build))
	for _, problem := range problems {
		t.Error(problem)
	}
	return build
}

func TestReviewTemplate(t *testing.T) {
	build := checkReview(t, reviewTemplate(t))
	if build.GetAvailableSecrets() != nil {
		t.Error("the build has secrets, so it fails without them")
	}
}

// TestReviewTemplateComment checks the build with the lines uncommented that give it a
// token: only one step gets it.
func TestReviewTemplateComment(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^( *)# (availableSecrets:| +secretManager:| +- \{versionName|secretEnv:)`)
	text := reviewTemplate(t)
	if n := len(lines.FindAll(text, -1)); n != 4 {
		t.Fatalf("%d lines to uncomment, want 4", n)
	}
	build := checkReview(t, lines.ReplaceAll(text, []byte("$1$2")))
	secrets := build.GetAvailableSecrets().GetSecretManager()
	if len(secrets) != 1 || secrets[0].GetEnv() != "REVIEW_TOKEN" {
		t.Errorf("secrets %v", secrets)
	}
	for _, step := range build.GetSteps() {
		var want []string
		if step.GetId() == "comment" {
			want = []string{"REVIEW_TOKEN"}
		}
		if got := step.GetSecretEnv(); !slices.Equal(got, want) {
			t.Errorf("step %s gets the secrets %v, want %v", step.GetId(), got, want)
		}
	}
}
