package workflows_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/golden/fixture"
)

// The output of a program that was built from the version that a workflow names, and
// its output if foreign code was built into it.
const (
	genuine = "genuine"
	foreign = "foreign"
)

// standInSource is the repository from which workflows build batchwright: a program
// that prints the text of its dependency.
const standInSource = `
-- go.mod --
module github.com/batchwright/batchwright

go 1.21

require example.com/dependency v0.0.0

replace example.com/dependency => ./dependency
-- cmd/batchwright/main.go --
package main

import "example.com/dependency"

func main() { println(dependency.Name) }
-- dependency/go.mod --
module example.com/dependency

go 1.21
-- dependency/dependency.go --
package dependency

const Name = "genuine"
`

// insideWorkspace is the path of batchwright's source in the old form of the
// workflows.
const insideWorkspace = ".batchwright-source"

// hostileWorkspace holds files that a pull request can contain: a go.work that
// replaces the dependency, and a program that go runs instead of the compiler and
// that records that it ran.
const hostileWorkspace = `
-- go.work --
go 1.21

use ./` + insideWorkspace + `

replace example.com/dependency => ./hostile
-- hostile/go.mod --
module example.com/dependency

go 1.21
-- hostile/dependency.go --
package dependency

const Name = "foreign"
-- toolexec --
#!/bin/bash
touch "$TOOLEXEC_RAN"
exec "$@"
`

// attack is a way to have foreign code built or run, prepared in a workspace.
type attack struct {
	name    string
	prepare func(t *testing.T, r *run)
}

// buildAttacks returns the ways in which go can be made to build other code. A pull
// request can use the first way; the other ways need a variable that something else
// has set.
func buildAttacks() []attack {
	return []attack{
		{"go.work in the workspace", func(t *testing.T, r *run) {}},
		{"GOWORK in the environment", func(t *testing.T, r *run) {
			moveFile(t, filepath.Join(r.dir, "go.work"), filepath.Join(r.dir, "other.work"))
			r.env["GOWORK"] = filepath.Join(r.dir, "other.work")
		}},
		{"GOFLAGS in the environment", func(t *testing.T, r *run) {
			moveFile(t, filepath.Join(r.dir, "go.work"), filepath.Join(r.dir, "none"))
			r.env["GOFLAGS"] = "-toolexec=" + filepath.Join(r.dir, "toolexec")
		}},
		{"GOFLAGS in go's configuration", func(t *testing.T, r *run) {
			moveFile(t, filepath.Join(r.dir, "go.work"), filepath.Join(r.dir, "none"))
			r.env["GOENV"] = filepath.Join(r.dir, "go.env")
			writeFile(t, r.env["GOENV"], "GOFLAGS=-toolexec="+filepath.Join(r.dir, "toolexec")+"\n")
		}},
	}
}

func moveFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fixture.WriteProgram(name, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// extractArchive writes the files of an archive to a directory.
func extractArchive(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		writeFile(t, filepath.Join(dir, f.Name), string(f.Data))
	}
}

// builder is the part of a workflow or hook that builds batchwright: the scripts
// that install the program, and the same scripts in the old form, which build in the
// workspace and do not change go's environment.
type builder struct {
	name string
	// scripts run in the workspace, each in a shell of its own.
	scripts, old []string
	program      string // relative to the temporary directory, or absolute
}

// templateBuilders returns the builders of all templates and of the hooks.
func templateBuilders(t *testing.T) []builder {
	t.Helper()
	var github workflow
	readYAML(t, templates+"github.yml", &github)
	var scripts []string
	for _, step := range github.Jobs["review"].Steps {
		if step.Name == "Fetch batchwright" || step.Name == "Build batchwright" {
			scripts = append(scripts, step.Run)
		}
	}
	all := []builder{{"github.yml", scripts, nil, "bin/batchwright"}}

	var gitlab struct {
		Batchwright struct {
			BeforeScript []string `json:"before_script"`
		}
	}
	readYAML(t, templates+"gitlab-ci.yml", &gitlab)
	scripts = []string{strings.Join(gitlab.Batchwright.BeforeScript, "\n")}
	all = append(all, builder{"gitlab-ci.yml", scripts, nil, "bin/batchwright"})

	var build struct {
		Steps []struct{ ID, Script string }
	}
	readYAML(t, templates+"cloudbuild.yaml", &build)
	for _, step := range build.Steps {
		if step.ID == "install" {
			all = append(all, builder{"cloudbuild.yaml", []string{step.Script}, nil, "bin/batchwright"})
		}
	}
	for i, b := range all {
		for j, script := range b.scripts {
			// Install programs to the directory that the test examines.
			for _, dir := range []string{" /usr/local/bin/", " /batchwright/"} {
				script = strings.ReplaceAll(script, dir, ` "$RUNNER_TEMP"/bin/`)
			}
			all[i].scripts[j] = script
			script = regexp.MustCompile(`(?m)^ *export GOENV.*\n`).ReplaceAllString(script, "")
			script = strings.ReplaceAll(script, `"$RUNNER_TEMP/batchwright"`, insideWorkspace)
			script = strings.ReplaceAll(script, "$(mktemp -d)", insideWorkspace)
			all[i].old = append(all[i].old, script)
		}
	}

	// The cache of pre-commit may be in the workspace, as it is on GitLab.
	const clone = `git clone -q "$BATCHWRIGHT_REPOSITORY" ` + insideWorkspace + "\n"
	// The commands that pre-commit runs for the language golang.
	const install = clone + "cd " + insideWorkspace + `
		GOPATH="$PWD/golangenv" go install ./...
		mkdir bin && mv golangenv/bin/batchwright bin`
	hook := []string{clone + insideWorkspace + "/.pre-commit.sh"}
	return append(all, builder{"pre-commit", hook, []string{install}, insideWorkspace + "/bin/batchwright"})
}

// genuineRepository creates the repository from which batchwright is built, with a version.
func genuineRepository(t *testing.T) string {
	t.Helper()
	source := t.TempDir()
	extractArchive(t, source, standInSource)
	writeFile(t, filepath.Join(source, ".pre-commit.sh"), fixture.ReadText(t, fixture.Path(".pre-commit.sh")))
	r := newRun(t, map[string]string{"SOURCE": source})
	if out, err := r.runBash(`
		cd "$SOURCE" && git init -q -b main && git add -A && git commit -qm source && git tag v1.0.0`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return source
}

// goCaches returns the variables with the caches of this machine.
var goCaches = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, err
	}
	var caches map[string]string
	return caches, json.Unmarshal(out, &caches)
})

// newAttackedRun returns a run with the real go, whose workspace has the files of a
// hostile pull request. The source is the repository of batchwright.
func newAttackedRun(t *testing.T, source string) *run {
	t.Helper()
	r := newRun(t, nil)
	for _, name := range []string{"go", "batchwright"} {
		if err := os.Remove(r.runPath("bin/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, r.runPath("bin/apt-get"), "#!/bin/bash\n")
	extractArchive(t, r.dir, hostileWorkspace)
	// Use the caches of this machine, so that the standard library is compiled only
	// once.
	caches, err := goCaches()
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(r.env, caches)
	r.env["TMPDIR"], r.env["TOOLEXEC_RAN"] = t.TempDir(), r.runPath("toolexec-ran")
	r.env["BATCHWRIGHT_REPOSITORY"], r.env["BATCHWRIGHT_REF"] = source, "v1.0.0"
	r.env["_BATCHWRIGHT_REPOSITORY"], r.env["_BATCHWRIGHT_REF"] = source, "v1.0.0"
	return r
}

// builtCode runs scripts that build batchwright, and returns whose code was built or
// run.
func (r *run) builtCode(t *testing.T, scripts []string, program string) string {
	t.Helper()
	for _, script := range scripts {
		if out, err := r.runBash(script); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if _, err := os.Stat(r.env["TOOLEXEC_RAN"]); err == nil {
		return foreign
	}
	for _, dir := range []string{r.dir, r.home} {
		out, err := exec.Command(filepath.Join(dir, program)).CombinedOutput()
		if !os.IsNotExist(err) {
			return string(bytes.TrimSpace(out))
		}
	}
	t.Fatalf("no program %s was built", program)
	return ""
}

// TestBuildAttack builds batchwright as each workflow and the hooks do, in the
// workspace of a hostile pull request. The result must be the version that they
// name. The old form of each builds foreign code in every case, which shows that
// each attack is real.
func TestBuildAttack(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed")
	}
	all := templateBuilders(t)
	if len(all) != 4 {
		t.Fatalf("%d builders, want 4", len(all))
	}
	source := genuineRepository(t)
	for _, b := range all {
		for _, a := range buildAttacks() {
			t.Run(b.name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				r := newAttackedRun(t, source)
				a.prepare(t, r)
				if got := r.builtCode(t, b.scripts, b.program); got != genuine {
					t.Errorf("the program says %q, want %q", got, genuine)
				}
				r = newAttackedRun(t, source)
				a.prepare(t, r)
				if got := r.builtCode(t, b.old, b.program); got != foreign {
					t.Errorf("the old form builds a program that says %q, want %q", got, foreign)
				}
			})
		}
	}
}

// TestBuildOrder checks that the GitHub workflow builds batchwright before it checks
// out the files of the pull request.
func TestBuildOrder(t *testing.T) {
	var w workflow
	readYAML(t, templates+"github.yml", &w)
	built := false
	for _, step := range w.Jobs["review"].Steps {
		if strings.HasPrefix(step.Uses, "actions/checkout@") && !built {
			t.Error("the files are fetched before batchwright is built")
		}
		built = built || step.Name == "Build batchwright"
	}
	if !built {
		t.Error("batchwright is not built")
	}
}

// TestHooks checks that every hook runs the script that builds batchwright itself.
func TestHooks(t *testing.T) {
	content, err := os.ReadFile(fixture.Path(".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Language string }
	if err := yaml.Unmarshal(content, &hooks); err != nil {
		t.Fatal(err)
	}
	if len(hooks) == 0 {
		t.Error("no hooks")
	}
	for _, hook := range hooks {
		if hook.Language != "script" || !strings.HasPrefix(hook.Entry, ".pre-commit.sh ") {
			t.Errorf("%s: %s of the language %s", hook.ID, hook.Entry, hook.Language)
		}
	}
	info, err := os.Stat(fixture.Path(".pre-commit.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&fs.FileMode(0o111) == 0 {
		t.Error(".pre-commit.sh is not executable")
	}
}
