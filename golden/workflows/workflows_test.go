package workflows_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/golden/fixture"
)

// templates is the folder of the files that "batchwright init" writes for services
// that run reviews.
var templates = fixture.Path("cmd/batchwright/templates") + "/"

// workflow is the part of a GitHub Actions workflow that the tests read.
type workflow struct {
	Jobs map[string]struct {
		Strategy struct {
			Matrix struct {
				Include []map[string]string
			}
		}
		Steps []struct {
			Name, If, Uses, Run string
			Env                 map[string]string
		}
	}
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

// TestOwnWorkflow checks that the workflow for the reference systems equals the
// workflow that users get, except for the reviewed files, the source of batchwright, and
// the last step: the golden folders are not stored as a compilation leaves them.
func TestOwnWorkflow(t *testing.T) {
	read := func(name string) (all map[string]any, include []any) {
		readYAML(t, name, &all)
		delete(all, "env")
		review := all["jobs"].(map[string]any)["review"].(map[string]any)
		matrix := review["strategy"].(map[string]any)["matrix"].(map[string]any)
		include = matrix["include"].([]any)
		delete(matrix, "include")
		return all, include
	}
	want, _ := read(templates + "github.yml")
	review := want["jobs"].(map[string]any)["review"].(map[string]any)
	steps := review["steps"].([]any)
	last := len(steps) - 1
	if name := steps[last].(map[string]any)["name"]; name != "Check the committed folder" {
		t.Errorf("the last step of the template is %q", name)
	}
	review["steps"] = steps[:last]
	got, include := read(fixture.Path(".github/workflows/review.yml"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-template +own:\n%s", diff)
	}
	var platforms []any
	for _, name := range fixture.Blueprints(t) {
		platforms = append(platforms,
			map[string]any{"blueprint": strings.Join(fixture.BlueprintDirs("blueprints", name), " "),
				"folder": "golden/" + name})
	}
	byFolder := func(a, b any) int {
		return strings.Compare(a.(map[string]any)["folder"].(string), b.(map[string]any)["folder"].(string))
	}
	slices.SortFunc(platforms, byFolder)
	slices.SortFunc(include, byFolder)
	if diff := cmp.Diff(platforms, include); diff != "" {
		t.Errorf("-blueprints +own:\n%s", diff)
	}
}

// The stand-ins for the programs that the scripts run. Each writes a line to the
// file CALLS for every call, and exits as the test says.
const (
	standInBatchwright = `#!/bin/bash
echo "batchwright $*" >> "$CALLS"
case "$1 $*" in
vet*) exit "$VET" ;;
compile*) exit "$COMPILE" ;;
*markdown*) printf '<!-- batchwright review: p -->\n\n### Review\n'; exit "$DIFF" ;;
diff*) exit "$DIFF" ;;
esac
`
	standInGh = `#!/bin/bash
echo "gh $*" >> "$CALLS"
case "$*" in
*--paginate*) cat "$COMMENTS" ;;
*) exit "$GH" ;;
esac
`
	standInCurl = `#!/bin/bash
echo "curl $*" >> "$CALLS"
case "$*" in
*/user) echo '{"id": 5}' ;;
*per_page*) cat "$COMMENTS" ;;
*) exit "$GH" ;;
esac
`
	standInGo = `#!/bin/bash
echo "go $*" >> "$CALLS"
`
)

// run holds the scripts of a workflow in a repository of their own, with a commit of
// a pull request that was merged into main.
type run struct {
	dir, home string
	env       map[string]string
}

func newRun(t *testing.T, env map[string]string) *run {
	t.Helper()
	for _, tool := range []string{"bash", "git", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	r := &run{dir: t.TempDir(), home: t.TempDir()}
	r.env = map[string]string{
		"CALLS": r.runPath("calls"), "COMMENTS": r.runPath("comments"), "RUNNER_TEMP": r.home,
		"GITHUB_OUTPUT": r.runPath("output"), "GITHUB_PATH": r.runPath("path"),
		"GITHUB_STEP_SUMMARY": r.runPath("summary"), "GITHUB_REPOSITORY": "o/r",
		"HOME": r.home, "PATH": r.runPath("bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
		"VET": "0", "COMPILE": "0", "DIFF": "1", "GH": "0", "BLUEPRINT": "-t region=us-east4 .", "FOLDER": "deploy",
		"BATCHWRIGHT_REPOSITORY": r.dir, "BATCHWRIGHT_REF": "main", // go is a stand-in: any repository will do
	}
	for key, value := range env {
		r.env[key] = value
	}
	if err := os.Mkdir(r.runPath("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"bin/batchwright": standInBatchwright, "bin/gh": standInGh, "bin/curl": standInCurl, "bin/go": standInGo,
		"comments": env["COMMENTS"],
	} {
		if err := fixture.WriteProgram(r.runPath(name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.env["COMMENTS"] = r.runPath("comments")
	if out, err := r.runBash(`
		git init -q -b main && git commit -q --allow-empty -m base &&
		git switch -q -c change && git commit -q --allow-empty -m change &&
		git switch -q main && git commit -q --allow-empty -m later &&
		git merge -q --no-ff -m merge change`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

func (r *run) runPath(name string) string { return filepath.Join(r.home, name) }

// runBash runs a script like a step of a workflow.
func (r *run) runBash(script string) (string, error) {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = r.dir
	for key, value := range r.env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// readFile returns the content of a file that scripts have written; "" if it does not
// exist. It replaces revisions and paths that differ between runs by names.
func (r *run) readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(r.runPath(name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	base, err := r.runBash("git rev-parse HEAD^1")
	if err != nil {
		t.Fatal(err)
	}
	base = strings.TrimSpace(base)
	return strings.NewReplacer(base, "BASE", base[:12]+" ", "BASE ", r.home, "TEMP").Replace(string(content))
}

// runSteps runs the scripts of a workflow's job, and returns the log and the name of
// the step that failed.
func (r *run) runSteps(t *testing.T, pullRequest bool) (log, failed string) {
	t.Helper()
	var w workflow
	readYAML(t, templates+"github.yml", &w)
	for _, step := range w.Jobs["review"].Steps {
		switch step.If {
		case "":
		case "github.event_name == 'pull_request'":
			if !pullRequest {
				continue
			}
		case "env.BATCHWRIGHT_SHA256 != ''":
			if r.env["BATCHWRIGHT_SHA256"] == "" {
				continue
			}
		case "env.BATCHWRIGHT_SHA256 == ''":
			if r.env["BATCHWRIGHT_SHA256"] != "" {
				continue
			}
		default:
			t.Fatalf("the test does not know the condition %q", step.If)
		}
		for key, value := range step.Env {
			switch value {
			case "${{ github.token }}":
				value = "token"
			case "${{ github.event.number }}":
				value = "7"
			case "${{ steps.review.outputs.changed }}":
				value = strings.TrimSpace(strings.TrimPrefix(r.readFile(t, "output"), "changed="))
			default:
				t.Fatalf("the test does not know the expression %q", value)
			}
			r.env[key] = value
		}
		out, err := r.runBash(step.Run)
		log += out
		if err != nil {
			return log, step.Name
		}
	}
	return log, ""
}

func TestGitHubWorkflow(t *testing.T) {
	const (
		build = "go build -C TEMP/batchwright -o TEMP/bin/batchwright ./cmd/batchwright\n"
		vet   = "batchwright vet --format github -t region=us-east4 .\n"
		diff  = "batchwright diff --base BASE --head HEAD --output deploy --format github -t region=us-east4 " +
			".\nbatchwright diff --base BASE --head HEAD --output deploy --format markdown -t region=us-east4 .\n"
		list    = "gh api --paginate repos/o/r/issues/7/comments\n"
		create  = "gh api --silent --method POST repos/o/r/issues/7/comments -F body=@TEMP/review.md\n"
		edit    = "gh api --silent --method PATCH repos/o/r/issues/comments/12 -F body=@TEMP/review.md\n"
		compile = "batchwright compile --dry-run --exit-code --output deploy -t region=us-east4 .\n"

		other = `{"id": 10, "user": {"login": "github-actions[bot]"}, "body": "<!-- batchwright review: p-b -->\nx"},`
		copy  = `{"id": 11, "user": {"login": "somebody"}, "body": "<!-- batchwright review: p -->\nx"}`
		ours  = `{"id": 12, "user": {"login": "github-actions[bot]"}, "body": "<!-- batchwright review: p -->\r\nx"}`
	)
	for name, test := range map[string]struct {
		env         map[string]string
		push        bool
		calls       string
		failed, log string
		noSummary   bool
	}{
		"the first review": {
			env: map[string]string{"COMMENTS": "[]"}, calls: build + vet + diff + list + create + compile,
		},
		"with rehearsals": {
			env: map[string]string{"COMMENTS": "[]", "REHEARSE": "kueue"},
			calls: build + "go build -C TEMP/batchwright/rehearse -o TEMP/bin/ ./cmd/batchwright-rehearse\n" + vet +
				strings.ReplaceAll(diff, "--output deploy", "--output deploy --rehearse") + list + create + compile,
		},
		"with rehearsals of KAI Scheduler": {
			env: map[string]string{"COMMENTS": "[]", "REHEARSE": "kai"},
			calls: build + "go build -C TEMP/batchwright/rehearse/kai -o TEMP/bin/ ./cmd/batchwright-rehearse-kai\n" +
				vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --rehearse") + list + create +
				compile,
		},
		"with rehearsals of another scheduler": {
			env: map[string]string{"REHEARSE": "true"}, calls: build, failed: "Build batchwright", noSummary: true,
			log: `REHEARSE must be "kueue", "kai" or ""`,
		},
		"a later one, on the second page": {
			env:   map[string]string{"COMMENTS": "[" + other + copy + "][" + ours + "]"},
			calls: build + vet + diff + list + edit + compile,
		},
		"others' comments stay": {
			env:   map[string]string{"COMMENTS": "[" + other + copy + "]"},
			calls: build + vet + diff + list + create + compile,
		},
		"nothing changes": {
			env: map[string]string{"COMMENTS": "[]", "DIFF": "0"}, calls: build + vet + diff + list + compile,
		},
		"nothing changes any more": {
			env:   map[string]string{"COMMENTS": "[" + ours + "]", "DIFF": "0"},
			calls: build + vet + diff + list + edit + compile,
		},
		"a fork": {
			env: map[string]string{"COMMENTS": "[]", "GH": "1"}, calls: build + vet + diff + list + create + compile,
			log: "::notice title=batchwright::this run may not comment",
		},
		"mistakes": {
			env: map[string]string{"VET": "1"}, calls: build + vet, failed: "Check the blueprint", noSummary: true,
		},
		"the base does not compile": {
			env: map[string]string{"DIFF": "3"}, calls: build + vet + strings.SplitAfter(diff, "\n")[0],
			failed: "Review the change", noSummary: true,
		},
		"a stale folder": {
			env:    map[string]string{"COMMENTS": "[]", "COMPILE": "1"},
			calls:  build + vet + diff + list + create + compile,
			failed: "Check the committed folder",
			log:    "::error title=batchwright::deploy differs from the folder that the blueprint compiles to",
		},
		"trouble is no stale folder": {
			env:   map[string]string{"COMMENTS": "[]", "COMPILE": "3"},
			calls: build + vet + diff + list + create + compile, failed: "Check the committed folder",
		},
		"a push": {
			push: true, calls: build + vet + compile, noSummary: true,
		},
		"names that mean something to a shell": {
			env: map[string]string{
				"COMMENTS": "[]", "BLUEPRINT": "$(touch owned) a;b *", "FOLDER": "$(touch owned) d",
			},
			calls: build +
				strings.NewReplacer("-t region=us-east4 .", "$(touch owned) a;b *", "deploy",
					"$(touch owned) d").Replace(vet+diff+list+create+compile),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, test.env)
			log, failed := r.runSteps(t, !test.push)
			if failed != test.failed {
				t.Errorf("%q fails, want %q:\n%s", failed, test.failed, log)
			}
			if d := cmp.Diff(test.calls, r.readFile(t, "calls")); d != "" {
				t.Errorf("calls, -want +got:\n%s", d)
			}
			if !strings.Contains(log, test.log) || test.log == "" && strings.Contains(log, "::") {
				t.Errorf("log %q, want %q", log, test.log)
			}
			if summary := r.readFile(t, "summary"); strings.Contains(summary, "### Review") == test.noSummary {
				t.Errorf("summary %q", summary)
			}
			if files, _ := os.ReadDir(r.dir); len(files) != 1 { // .git
				t.Errorf("files: %v", files)
			}
		})
	}
}

func TestGitLabScript(t *testing.T) {
	var file struct {
		Batchwright struct {
			Script []string
		}
	}
	readYAML(t, templates+"gitlab-ci.yml", &file)
	const (
		vet  = "batchwright vet -t region=us-east4 .\n"
		diff = "batchwright diff --base BASE --head HEAD --output deploy -t region=us-east4 .\nbatchwright diff " +
			"--base BASE --head HEAD --output deploy --format markdown -t region=us-east4 .\n"
		compile = "batchwright compile --dry-run --exit-code --output deploy -t region=us-east4 .\n"
		curl    = "curl --fail --silent --show-error --header PRIVATE-TOKEN: t "
		user    = curl + "https://gitlab.example.com/api/v4/user\n"
		notes   = "https://gitlab.example.com/api/v4/projects/3/merge_requests/7/notes"
		list    = user + curl + notes + "?sort=asc&per_page=100\n"
		create  = curl + "--output /dev/null --data-urlencode body@review.md " + notes + "\n"
		edit    = curl + "--output /dev/null --request PUT --data-urlencode body@review.md " + notes + "/12\n"
	)
	for name, test := range map[string]struct {
		env   map[string]string
		calls string
		fails bool
	}{
		"the first review": {
			map[string]string{
				"COMMENTS":     `[{"id": 11, "author": {"id": 6}, "body": "<!-- batchwright review: p -->"}]`,
				"REVIEW_TOKEN": "t",
			}, vet + diff + list + create + compile, false,
		},
		"with rehearsals": {
			map[string]string{"COMMENTS": "[]", "REHEARSE": "kueue", "REVIEW_TOKEN": "t"},
			vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --rehearse") + list + create + compile,
			false,
		},
		"a later one": {
			map[string]string{
				"COMMENTS":     `[{"id": 12, "author": {"id": 5}, "body": "<!-- batchwright review: p -->\nx"}]`,
				"REVIEW_TOKEN": "t",
			}, vet + diff + list + edit + compile, false,
		},
		"nothing changes": {
			map[string]string{"COMMENTS": "[]", "REVIEW_TOKEN": "t", "DIFF": "0"}, vet + diff + list + compile, false,
		},
		"without a token": {map[string]string{}, vet + diff + compile, false},
		"no right": {
			map[string]string{"COMMENTS": "[]", "REVIEW_TOKEN": "t", "GH": "22"}, vet + diff + list + create, true,
		},
		"a stale folder":   {map[string]string{"COMPILE": "1"}, vet + diff + compile, true},
		"trouble":          {map[string]string{"DIFF": "3"}, vet + strings.SplitAfter(diff, "\n")[0], true},
		"no merge request": {map[string]string{"CI_MERGE_REQUEST_IID": ""}, vet + compile, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, test.env)
			base, err := r.runBash("git rev-parse HEAD^1")
			if err != nil {
				t.Fatal(err)
			}
			r.env["CI_API_V4_URL"], r.env["CI_PROJECT_ID"] = "https://gitlab.example.com/api/v4", "3"
			r.env["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = strings.TrimSpace(base)
			if _, set := test.env["CI_MERGE_REQUEST_IID"]; !set {
				r.env["CI_MERGE_REQUEST_IID"] = "7"
			}
			if out, err := r.runBash(strings.Join(file.Batchwright.Script, "\n")); (err != nil) != test.fails {
				t.Errorf("%v\n%s", err, out)
			}
			if d := cmp.Diff(test.calls, r.readFile(t, "calls")); d != "" {
				t.Errorf("calls, -want +got:\n%s", d)
			}
		})
	}
}

// TestCloudBuildScript runs the steps in a clone of one commit, like those of Cloud
// Build.
func TestCloudBuildScript(t *testing.T) {
	var build struct {
		Steps []struct{ ID, Script string }
	}
	readYAML(t, templates+"cloudbuild.yaml", &build)
	const (
		vet     = "batchwright vet -t region=us-east4 .\n"
		diff    = "batchwright diff --base BASE --output deploy -t region=us-east4 .\n"
		compile = "batchwright compile --dry-run --exit-code --output deploy -t region=us-east4 .\n"
	)
	for name, test := range map[string]struct {
		branch, calls string
	}{
		"a pull request": {"main", vet + diff + compile},
		"a push":         {"", vet + compile},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, map[string]string{"_BLUEPRINT": "-t region=us-east4 .", "_FOLDER": "deploy"})
			// A clone with one commit of a branch into which main was not merged.
			if out, err := r.runBash(
				`git reset -q --hard HEAD^1 && ` +
					`git clone -q --depth 1 --branch change "file://$PWD" "$HOME/clone"`); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			base, err := r.runBash("git merge-base main change")
			if err != nil {
				t.Fatal(err)
			}
			origin := r.dir
			r.dir = r.runPath("clone")
			if test.branch != "" {
				r.env["_BASE_BRANCH"] = test.branch
			}
			for _, step := range build.Steps {
				script := step.Script
				if step.ID == "review" { // the lines that install batchwright are not run
					_, rest, ok := strings.Cut(script, "read -ra paths")
					if !ok {
						t.Fatal("the step reads no paths")
					}
					script = "read -ra paths" + rest
				}
				if out, err := r.runBash("set -u\n" + script); err != nil {
					t.Fatalf("%s: %v\n%s", step.ID, err, out)
				}
			}
			r.dir = origin
			content, err := os.ReadFile(r.runPath("calls"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.calls,
				strings.ReplaceAll(string(content), strings.TrimSpace(base), "BASE")); d != "" {
				t.Errorf("calls, -want +got:\n%s", d)
			}
		})
	}
}

// TestTemplates checks that a template has only placeholders that init replaces,
// each on only one line.
func TestTemplates(t *testing.T) {
	for _, name := range []string{"github.yml", "gitlab-ci.yml", "cloudbuild.yaml"} {
		content, err := os.ReadFile(templates + name)
		if err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(`\b(VERSION|CHECKSUM|NAME)\b`).FindAllString(string(content), -1)
		if !slices.Equal(got, []string{"VERSION", "CHECKSUM", "NAME"}) {
			t.Errorf("%s: placeholders %q", name, got)
		}
	}
}
