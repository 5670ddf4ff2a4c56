package workflows_test

import (
	"maps"
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
*markdown*) printf '%s\n' '<!-- batchwright review: p -->' '' '### Review & 1 + 1 = 2, 100%'; exit "$DIFF" ;;
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
	r := newShell(t, env)
	if out, err := r.runBash(`
		git init -q -b main && git commit -q --allow-empty -m base &&
		git switch -q -c change && git commit -q --allow-empty -m change &&
		git switch -q main && git commit -q --allow-empty -m later &&
		git merge -q --no-ff -m merge change`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// newShell returns a run without a repository.
func newShell(t *testing.T, env map[string]string) *run {
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
		"bin/batchwright": standInBatchwright, "bin/gh": standInGh, "bin/go": standInGo,
		"comments": env["COMMENTS"],
	} {
		if err := fixture.WriteProgram(r.runPath(name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.env["COMMENTS"] = r.runPath("comments")
	return r
}

func (r *run) runPath(name string) string { return filepath.Join(r.home, name) }

// addPrices writes a file of prices, or a link in its place, and sets PRICES to its name.
func (r *run) addPrices(t *testing.T, kind string) {
	t.Helper()
	var err error
	switch name := filepath.Join(r.dir, "prices.csv"); kind {
	case "a file":
		err = os.WriteFile(name, nil, 0o644)
	case "a link":
		err = os.Symlink("/proc/self/environ", name)
	case "missing":
	default:
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	r.env["PRICES"], r.env["_PRICES"] = "prices.csv", "prices.csv"
}

// withoutPrices is the message if there is no file of prices.
const withoutPrices = "the repository has no file prices.csv, so the review has no cost"

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
		remove  = "gh api --silent --method DELETE repos/o/r/issues/comments/12\n"
		compile = "batchwright compile --dry-run --exit-code --output deploy -t region=us-east4 .\n"

		other = `{"id": 10, "user": {"login": "github-actions[bot]"}, "body": "<!-- batchwright review: p-b -->\nx"},`
		copy  = `{"id": 11, "user": {"login": "somebody"}, "body": "<!-- batchwright review: p -->\nx"}`
		ours  = `{"id": 12, "user": {"login": "github-actions[bot]"}, "body": "<!-- batchwright review: p -->\r\nx"}`
	)
	for name, test := range map[string]struct {
		env         map[string]string
		push        bool
		calls       string
		prices      string // kind of the file of prices
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
			calls: build + vet + diff + list + remove + compile,
		},
		"a fork": {
			env: map[string]string{"COMMENTS": "[]", "GH": "1"}, calls: build + vet + diff + list + create + compile,
			log: "::notice title=batchwright::this run could not update the comment",
		},
		"with prices": {
			env: map[string]string{"COMMENTS": "[]"}, prices: "a file",
			calls: build + vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --prices prices.csv") +
				list + create + compile,
		},
		"with prices that are not there": {
			env: map[string]string{"COMMENTS": "[]"}, prices: "missing",
			calls: build + vet + diff + list + create + compile, log: "::notice title=batchwright::" + withoutPrices,
		},
		"with prices that are a link": {
			env: map[string]string{"COMMENTS": "[]"}, prices: "a link",
			calls: build + vet + diff + list + create + compile, log: "::notice title=batchwright::" + withoutPrices,
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
			r.addPrices(t, test.prices)
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
			_ = os.Remove(filepath.Join(r.dir, "prices.csv"))
			if files, _ := os.ReadDir(r.dir); len(files) != 1 { // .git
				t.Errorf("files: %v", files)
			}
		})
	}
}

// TestGitHubShallow runs the step that reviews in a clone without the base. The program
// must get a revision from which it can say what to do.
func TestGitHubShallow(t *testing.T) {
	var w workflow
	readYAML(t, templates+"github.yml", &w)
	r := newRun(t, nil)
	if out, err := r.runBash(`git clone -q --depth 1 "file://$PWD" "$HOME/clone"`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	origin := r.dir
	r.dir = r.runPath("clone")
	for _, step := range w.Jobs["review"].Steps {
		if step.Name == "Review the change" {
			if out, err := r.runBash(step.Run); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}
	r.dir = origin
	if calls := r.readFile(t, "calls"); !strings.HasPrefix(calls, "batchwright diff --base HEAD^1 --head HEAD ") {
		t.Errorf("calls: %s", calls)
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
	)
	for name, test := range map[string]struct {
		env    map[string]string
		prices string
		calls  string
		fails  bool
		log    string
	}{
		"a merge request": {calls: vet + diff + compile},
		// CI_MERGE_REQUEST_TARGET_BRANCH_SHA is set only in merged results pipelines, where HEAD
		// is a merge commit. Source: GitLab documentation, "Predefined CI/CD variables reference".
		"a merged results pipeline": {
			env: map[string]string{
				"CI_MERGE_REQUEST_DIFF_BASE_SHA": "0123456789012345678901234567890123456789", "TARGET": "1",
			},
			calls: vet + diff + compile,
		},
		"with rehearsals": {
			env:   map[string]string{"REHEARSE": "kueue"},
			calls: vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --rehearse") + compile,
		},
		"with prices": {
			prices: "a file",
			calls: vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --prices prices.csv") +
				compile,
		},
		"with prices that are not there": {prices: "missing", calls: vet + diff + compile, log: withoutPrices},
		"with prices that are a link":    {prices: "a link", calls: vet + diff + compile, log: withoutPrices},
		"nothing changes":                {env: map[string]string{"DIFF": "0"}, calls: vet + diff + compile},
		"a stale folder": {
			env: map[string]string{"COMPILE": "1"}, calls: vet + diff + compile, fails: true,
		},
		"trouble": {
			env: map[string]string{"DIFF": "3"}, calls: vet + strings.SplitAfter(diff, "\n")[0], fails: true,
		},
		"no merge request": {env: map[string]string{"CI_MERGE_REQUEST_IID": ""}, calls: vet + compile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"CI_MERGE_REQUEST_IID": "7"}
			maps.Copy(env, test.env)
			r := newRun(t, env)
			base, err := r.runBash("git rev-parse HEAD^1")
			if err != nil {
				t.Fatal(err)
			}
			variable := "CI_MERGE_REQUEST_DIFF_BASE_SHA"
			if test.env["TARGET"] != "" {
				variable = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"
			}
			r.env[variable] = strings.TrimSpace(base)
			r.addPrices(t, test.prices)
			out, err := r.runBash(strings.Join(file.Batchwright.Script, "\n"))
			if (err != nil) != test.fails || !strings.Contains(out, test.log) {
				t.Errorf("%v, want %q:\n%s", err, test.log, out)
			}
			if d := cmp.Diff(test.calls, r.readFile(t, "calls")); d != "" {
				t.Errorf("calls, -want +got:\n%s", d)
			}
		})
	}
}

// cloudBuild is the part of a build of Cloud Build that the tests read.
type cloudBuild struct {
	Steps []struct{ ID, Script string }
}

// runStep runs the script of a step, with another directory in place of its volume.
func (r *run) runStep(t *testing.T, id string) (log string, err error) {
	t.Helper()
	var build cloudBuild
	readYAML(t, templates+"cloudbuild.yaml", &build)
	for _, step := range build.Steps {
		if step.ID == id {
			return r.runBash(strings.ReplaceAll(step.Script, "/batchwright", r.runPath("bin")))
		}
	}
	t.Fatalf("there is no step %s", id)
	return "", nil
}

// TestCloudBuildScript runs the steps in a clone of one commit, like those of Cloud
// Build. The steps that install batchwright and comment are not run.
func TestCloudBuildScript(t *testing.T) {
	const (
		vet  = "batchwright vet -t region=us-east4 .\n"
		diff = "batchwright diff --base BASE --head HEAD --output deploy -t region=us-east4 .\nbatchwright diff " +
			"--base BASE --head HEAD --output deploy --format markdown -t region=us-east4 .\n"
		compile = "batchwright compile --dry-run --exit-code --output deploy -t region=us-east4 .\n"
	)
	for name, test := range map[string]struct {
		env    map[string]string
		prices string
		calls  string
		failed string
		log    string
	}{
		"a pull request": {env: map[string]string{"_BASE_BRANCH": "main"}, calls: vet + diff + compile},
		"a push":         {calls: vet + compile},
		"with rehearsals": {
			env:   map[string]string{"_BASE_BRANCH": "main", "_REHEARSE": "kueue"},
			calls: vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --rehearse") + compile,
		},
		"with prices": {
			env: map[string]string{"_BASE_BRANCH": "main"}, prices: "a file",
			calls: vet + strings.ReplaceAll(diff, "--output deploy", "--output deploy --prices prices.csv") +
				compile,
		},
		"with prices that are not there": {
			env: map[string]string{"_BASE_BRANCH": "main"}, prices: "missing", calls: vet + diff + compile,
			log: withoutPrices,
		},
		"with prices that are a link": {
			env: map[string]string{"_BASE_BRANCH": "main"}, prices: "a link", calls: vet + diff + compile,
			log: withoutPrices,
		},
		"no common commit": {
			env: map[string]string{"_BASE_BRANCH": "other"}, calls: vet, failed: "review",
			log: "there is no common commit with other",
		},
		"trouble": {
			env:   map[string]string{"_BASE_BRANCH": "main", "DIFF": "3"},
			calls: vet + strings.SplitAfter(diff, "\n")[0], failed: "review",
		},
		"a stale folder": {
			env:   map[string]string{"_BASE_BRANCH": "main", "COMPILE": "1"},
			calls: vet + diff + compile, failed: "folder",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, test.env)
			r.env["_BLUEPRINT"], r.env["_FOLDER"] = "-t region=us-east4 .", "deploy"
			// A clone with one commit of a branch into which main was not merged.
			if out, err := r.runBash(`
				git reset -q --hard HEAD^1 && git switch -q --orphan other && git commit -q --allow-empty -m other &&
				git switch -q main && git clone -q --depth 1 --branch change "file://$PWD" "$HOME/clone"`); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			base, err := r.runBash("git merge-base main change")
			if err != nil {
				t.Fatal(err)
			}
			r.dir = r.runPath("clone")
			r.addPrices(t, test.prices)
			var log, failed string
			for _, step := range []string{"history", "review", "folder"} {
				out, err := r.runStep(t, step)
				log += out
				if err != nil {
					failed = step
					break
				}
			}
			if failed != test.failed || !strings.Contains(log, test.log) {
				t.Errorf("%q fails, want %q and %q:\n%s", failed, test.failed, test.log, log)
			}
			content, err := os.ReadFile(r.runPath("calls"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.calls, strings.ReplaceAll(string(content), base[:12], "BASE")); d != "" {
				t.Errorf("calls, -want +got:\n%s", d)
			}
		})
	}
}

// TestSameOptions checks that all templates have the same variables, with the same words,
// and the same lines that pass them to diff.
func TestSameOptions(t *testing.T) {
	part := func(text, from, to string) string {
		_, rest, found := strings.Cut(text, from)
		inside, _, closed := strings.Cut(rest, to)
		if !found || !closed {
			t.Errorf("there is no text between %q and %q", from, to)
		}
		return inside
	}
	indent := regexp.MustCompile(`(?m)^ +`)
	var want string
	for _, name := range []string{"github.yml", "gitlab-ci.yml", "cloudbuild.yaml"} {
		content, err := os.ReadFile(templates + name)
		if err != nil {
			t.Fatal(err)
		}
		// In Cloud Build the names of variables begin with _.
		text := regexp.MustCompile(`\b_([A-Z])`).ReplaceAllString(string(content), "$1")
		text = strings.ReplaceAll(text, "::notice title=batchwright::", "")
		variables := part(text, "# The repository of batchwright", "PRICES: \"\"\n")
		options := part(text, "compare+=(--rehearse); fi\n", "fi\n")
		got := indent.ReplaceAllString(variables+options, "")
		if want == "" {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -github.yml +got:\n%s", name, d)
		}
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
