// Package workflows_test checks the workflows of GitHub Actions, of this project
// and for repositories of users, and the action of this project, with actionlint. It
// checks their scripts, and the scripts of GitLab CI and Cloud Build, with shellcheck if
// it is installed.
package workflows_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"
)

const templates = "../../cmd/batchwright/templates/"

func workflows(t *testing.T) []string {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	return append(files, templates+"github.yml")
}

func TestActionlint(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Log("without shellcheck")
	}
	for _, file := range workflows(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range lint(t, shellcheck, file, content) {
			t.Error(e)
		}
	}
}

// lint returns the complaints of actionlint.
func lint(t *testing.T, shellcheck, file string, content []byte) []*actionlint.Error {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: shellcheck})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint(file, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestActionlintFinds checks that actionlint finds mistakes in the workflow.
func TestActionlintFinds(t *testing.T) {
	content, err := os.ReadFile(templates + "github.yml")
	if err != nil {
		t.Fatal(err)
	}
	for old, mistake := range map[string]string{
		"pull-requests: write":                "pull-request: write",
		`batchwright vet --format github`:     `echo ${{ github.event.pull_request.title }}; batchwright vet`,
		"${{ steps.review.outputs.changed }}": "${{ steps.reviews.outputs.changed }}",
		"fetch-depth: 2":                      "fetch-dept: 2",
	} {
		changed := strings.Replace(string(content), old, mistake, 1)
		if changed == string(content) {
			t.Errorf("%q is not there", old)
		} else if len(lint(t, "", "github.yml", []byte(changed))) == 0 {
			t.Errorf("%q is not found", mistake)
		}
	}
}

// TestAction checks with actionlint that a workflow can use the action of this
// repository, and that actionlint knows its inputs.
func TestAction(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProjects().At(root)
	if err != nil || project == nil {
		t.Fatalf("no repository at %s: %v", root, err)
	}
	const head = "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: ./\n        with:\n"
	for _, test := range []struct{ with, want string }{
		{"          version: v1.2.3\n          sha256: a\n          repository: b\n", ""},
		{"          version: v1.2.3\n          sha256: a\n", ""},
		{"          version: v1.2.3\n", `"sha256"`},
		{"          sha256: a\n", `"version"`},
		{"          version: v1.2.3\n          sha256: a\n          checksum: b\n", `"checksum"`},
	} {
		linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := linter.Lint("workflow.yml", []byte(head+test.with), project)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 1 || (len(found) == 1) != (test.want != "") {
			t.Errorf("with\n%sactionlint finds %v, want %s", test.with, found, test.want)
		} else if len(found) == 1 && !strings.Contains(found[0].Message, test.want) {
			t.Errorf("with\n%sactionlint finds %v, want %s", test.with, found[0], test.want)
		}
	}
}

// TestSafe checks that no text from outside gets into a script, that no workflow
// has more rights than a pull request, and that every action and image is named by
// a version. A job that may write to the repository runs none of its code.
func TestSafe(t *testing.T) {
	for _, file := range workflows(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "pull_request_target") {
			t.Errorf("%s runs with the repository's rights on what others wrote", file)
		}
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []struct{ Uses, Run string }
			}
		}
		if err := yaml.Unmarshal(content, &workflow); err != nil {
			t.Fatal(err)
		}
		if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v, want contents: read", file, workflow.Permissions)
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if job.Permissions["contents"] == "write" && strings.HasPrefix(step.Uses, "actions/checkout@") {
					t.Errorf("%s: a job may write, and fetches the repository", file)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: an expression in a script: %s", file, step.Run)
				}
				if step.Uses != "" &&
					!regexp.MustCompile(`^actions/[a-z-]+@(v[0-9]+|[0-9a-f]{40})$`).MatchString(step.Uses) {
					t.Errorf("%s: %s is not one of GitHub's actions with a version", file, step.Uses)
				}
			}
		}
	}
}

// TestScripts checks the scripts in the files of the other services, and the script
// of the hooks for pre-commit.
func TestScripts(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	var scripts []string
	var build struct{ Steps []struct{ Script string } }
	read(t, "cloudbuild.yaml", &build)
	for _, step := range build.Steps {
		scripts = append(scripts, step.Script)
	}
	var gitlab struct {
		Batchwright struct {
			BeforeScript []string `json:"before_script"`
			Script       []string
		}
	}
	read(t, "gitlab-ci.yml", &gitlab)
	scripts = append(scripts, "#!/bin/bash\n"+strings.Join(gitlab.Batchwright.BeforeScript, "\n"),
		"#!/bin/bash\n"+strings.Join(gitlab.Batchwright.Script, "\n"))
	hook, err := os.ReadFile("../../.pre-commit.sh")
	if err != nil {
		t.Fatal(err)
	}
	scripts = append(scripts, string(hook))
	var action struct {
		Runs struct{ Steps []struct{ Run string } }
	}
	read(t, "../../../action.yml", &action)
	for _, step := range action.Runs.Steps {
		scripts = append(scripts, "#!/bin/bash\n"+step.Run)
	}
	if len(scripts) != 9 {
		t.Errorf("%d scripts, want 9", len(scripts))
	}
	for _, script := range scripts {
		cmd := exec.Command(shellcheck, "-")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(templates + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}
