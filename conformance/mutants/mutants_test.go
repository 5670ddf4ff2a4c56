// Package mutants_test breaks deploy folders and the compiler, in one place or in a few that
// are independent, and demands that one of the real tools notices and names each place.
//
// A mutant is a change of a compiled folder, because that costs no build: it shows that
// the tool notices. A mistake is a change of the compiler's source: it shows that what
// reaches the tool comes from the compiler.
package mutants_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const root = "../.."

// hasty are flags for the tests of a cluster. Most mutants keep a state from being reached:
// a plane that is wrong in the same way for a minute, or in any way for two, will not reach
// it.
var hasty = []string{"-patience=1m", "-most-waits=2"}

// stripped lets go link a program without the data for debuggers, which takes less time.
const stripped = "-ldflags=-s -w"

// mutant is a change that a tool must notice. Changes that are independent of each other
// can share a run of a tool that notices all of them.
type mutant struct {
	name   string
	folder string // name of the folder under golden/ that the tool checks, or of the test that is the tool
	edits  []edit
	by     string   // one of tools
	says   string   // part of the tool's output, which leads to the place
	also   []string // the same for each further change
}

// edit is a change of files: all matches of old become new, as regexp.ReplaceAll does it.
// At least one match is required. Lines begin at ^ and end at $.
type edit struct {
	files    string // path of the files, with patterns of filepath.Match: of a folder, or of the repository
	old, new string
}

// tool checks the deploy folders of a directory. It is a package of a module below
// conformance/: a program or a test.
type tool struct {
	module, pkg string
	test        bool
	args        func(folders, folder string) []string
}

// tools are the tools by the names that mutants use.
var tools = map[string]tool{
	"check": {".", "./cmd/check", false, func(folders, folder string) []string {
		return []string{filepath.Join(folders, folder)}
	}},
	// Those of its checks that take no time. Almost all of the time of check is for policies.
	"cloudbuild":      check("cloudbuild"),
	"dashboards":      check("dashboards"),
	"kueueconfig":     check("kueueconfig"),
	"networkpolicies": check("networkpolicies"),
	// Kueue's scheduler in virtual time: the mutant itself runs this program. It takes a
	// second, where a plane takes minutes.
	"rehearsal": {"../rehearse", "./cmd/batchwright-rehearse", false, func(_, folder string) []string {
		return append([]string{"rehearse", "--only", "demonstration"}, blueprintPaths(folder)...)
	}},
	// Random objects of Kueue, which are imported, compiled and compared. The test contains the
	// compiler, so a mistake is in the test, and no folder is compiled.
	"worlds": {"..", "./golden/worlds", true, func(_, _ string) []string {
		return []string{"-test.run=^TestWorlds$"}
	}},
	"kai": {"kai", ".", true, func(folders, _ string) []string {
		return []string{"-folders=" + folders}
	}},
	"plan": {"terraform", ".", true, func(folders, folder string) []string {
		return []string{"-test.run=^TestPlan$/^" + folder + "$", "-folders=" + folders}
	}},
	"changes": {"terraform", ".", true, func(folders, _ string) []string {
		return []string{"-test.run=^TestChanges$", "-folders=" + folders}
	}},
	// Edits of the folder's blueprint, which the compiler compiles.
	"edits": {"terraform", ".", true, func(_, folder string) []string {
		return []string{"-test.run=^TestReplaced$/^" + folder + "$"}
	}},
	// A plane waits more than it computes.
	"cluster": {"cluster", ".", true, func(folders, folder string) []string {
		return append([]string{"-test.run=^TestFolders$/^" + folder + "$", "-folders=" + folders}, hasty...)
	}},
	// Only the scenario of a folder, which takes half of the time, and of its parts only the
	// demonstration.
	"scenario": {"cluster", ".", true, func(folders, folder string) []string {
		return scenario(folders, folder, "demonstration")
	}},
	// What holds even if a policy ever admits what it should refuse, and Kueue's outage.
	"behind the policies": {"cluster", ".", true, func(folders, folder string) []string {
		return scenario(folders, folder, "borrowing|unblocked|uncounted|outage")
	}},
	// The same for a folder that a GitOps tool applies.
	"gitops cluster": {"cluster", ".", true, func(folders, folder string) []string {
		return append([]string{"-test.run=^TestGitOps$/^" + folder + "$", "-folders=" + folders}, hasty...)
	}},
	// The same in a cluster that others own.
	"others": {"cluster", ".", true, func(folders, folder string) []string {
		return append([]string{"-test.run=^TestExistingCluster$/^" + folder + "$", "-folders=" + folders}, hasty...)
	}},
}

// scenario returns the arguments that play parts of a folder's scenario: a regular expression.
func scenario(folders, folder, parts string) []string {
	run := "-test.run=^TestFolders$/^" + folder + "$/^(" + parts + ")$"
	return append([]string{run, "-folders=" + folders, "-scenario"}, hasty...)
}

// check returns the tool that makes one of the checks.
func check(only string) tool {
	return tool{".", "./cmd/check", false, func(folders, folder string) []string {
		return []string{"-only=" + only, filepath.Join(folders, folder)}
	}}
}

// bases maps an overlay to the blueprint under it.
var bases = map[string]string{"batch-platform-argocd": "batch-platform", "batch-platform-dws": "batch-platform"}

// blueprintPaths returns the paths of a blueprint in the repository.
func blueprintPaths(blueprint string) []string {
	var paths []string
	for _, name := range []string{bases[blueprint], blueprint} {
		if name != "" {
			paths = append(paths, "blueprints/"+name)
		}
	}
	return paths
}

// The errors of a mutant.
var (
	errPlace    = errors.New("what is to be changed is not there")
	errSame     = errors.New("the folder is as before: nothing is broken")
	errSurvived = errors.New("it survives")
	errElse     = errors.New("what is said is something else")
	errSkipped  = errors.New("the tool is not here")
)

// TestMutants checks that a tool notices every change of a folder. Run one with -run 'TestMutants/TOOL/NAME'.
func TestMutants(t *testing.T) {
	t.Parallel()
	shared.holdAll(t, mutants, (*bench).change)
}

// TestMistakes checks that a tool notices every mistake in the compiler's source.
func TestMistakes(t *testing.T) {
	t.Parallel()
	shared.holdAll(t, mistakes, (*bench).compileMistake)
}

// holdAll holds mutants, each in a test of its own below one for its tool.
func (b *bench) holdAll(t *testing.T, all []mutant, lay layer) {
	for _, by := range slices.Sorted(maps.Keys(tools)) {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			of := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return m.by != by })
			for i, m := range of {
				if inShare(t, i, m.name) {
					b.holdApart(t, m, lay)
				}
			}
		})
	}
	for _, m := range all {
		if _, ok := tools[m.by]; !ok {
			t.Errorf("%s: no tool %q", m.name, m.by)
		}
	}
}

// inShare reports whether this run holds the mutant at an index. With SHARE=2/4, it holds the
// second of four shares, and says of each other mutant that it is not run.
func inShare(t *testing.T, i int, name string) bool {
	t.Helper()
	share := os.Getenv("SHARE")
	if share == "" {
		return true
	}
	var number, of int
	if _, err := fmt.Sscanf(share, "%d/%d", &number, &of); err != nil || number < 1 || number > of {
		t.Fatalf("SHARE is %q, want a share such as 2/4", share)
	}
	if i%of == number-1 {
		return true
	}
	fmt.Printf("not run: %s/%s, in another share than %s\n", t.Name(), name, share)
	return false
}

// holdApart holds a mutant in a parallel test.
func (b *bench) holdApart(t *testing.T, m mutant, lay layer) {
	t.Run(m.name, func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		err := b.hold(t, m, lay)
		if errors.Is(err, errSkipped) {
			t.Skip(err)
		} else if err != nil {
			t.Error(err)
		}
		t.Logf("%s, %s: %.0f s", m.by, m.folder, time.Since(began).Seconds())
	})
}

// patient are flags for a test whose every state is reached.
var patient = []string{"-patience=5m", "-most-waits=4"}

// harmless are changes that break nothing, and changes that are refused.
var harmless = []struct {
	mutant
	lay  layer
	want error
	more []string // arguments of the tool
}{
	{
		mutant{
			name: "a description", folder: "tpu-training", by: "cluster",
			edits: []edit{{"kubernetes/priority-classes.yaml", `^description: .*`, "$0."}},
		}, (*bench).change, errSurvived, patient,
	},
	{
		mutant{
			name: "a comment", folder: "batch-platform", by: "plan",
			edits: []edit{{"emit/terraform/node_pools.go", "No nodes until the reservation", "$0 exists"}},
		}, (*bench).compileMistake, errSame, nil,
	},
	{
		mutant{
			name: "a longer comment", folder: "batch-platform", by: "plan",
			edits: []edit{{"terraform/node_pools.tf", "# The number of nodes in each zone", "$0 of the pool"}},
		}, (*bench).change, errSurvived, nil,
	},
	{
		mutant{
			name: "a title", folder: "batch-platform", by: "check",
			edits: []edit{{"emit/monitoring/panels.go", `newPanel\("Requested quota"`, `newPanel("Requests"`}},
		}, (*bench).compileMistake, errSurvived, nil,
	},
	{
		mutant{
			name: "a comment of the importer", folder: "worlds", by: "worlds",
			edits: []edit{{"compiler/importer/exact.go", `^// planFlavors makes`, "// planFlavors plans"}},
		}, (*bench).compileMistake, errSurvived, nil,
	},
	{
		mutant{
			name: "a team's label", folder: "kai-departments", by: "kai",
			edits: []edit{{"kubernetes/teams/*.yaml", `^    team: .*`, "$0-"}},
		}, (*bench).change, errSurvived, nil,
	},
	{
		mutant{
			name: "another place", folder: "batch-platform", by: "check", says: "kueue_cohort_quota",
			edits: []edit{
				{"dashboards/cloud-monitoring/kueue.json", "kueue_cluster_queue_nominal_quota", "kueue_quota"},
			},
		}, (*bench).change, errElse, nil,
	},
	{
		mutant{
			name: "in no place", folder: "batch-platform", by: "check",
			edits: []edit{{"terraform/*.tf", "the moon", "the sun"}},
		}, (*bench).change, errPlace, nil,
	},
	{
		mutant{
			name: "in no file", folder: "batch-platform", by: "check",
			edits: []edit{{"moon/*.tf", "a", "b"}},
		}, (*bench).change, errPlace, nil,
	},
	{
		mutant{
			name: "in no place of the source", folder: "batch-platform", by: "check",
			edits: []edit{{"emit/monitoring/panels.go", "the moon", "the sun"}},
		}, (*bench).compileMistake, errPlace, nil,
	},
}

// TestHarmless checks that a change that breaks nothing is not noticed, so that
// TestMutants and TestMistakes can fail.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for i, test := range harmless {
		if !inShare(t, i, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := shared.hold(t, test.mutant, test.lay, test.more...)
			if errors.Is(err, errSkipped) {
				t.Skip(err)
			} else if !errors.Is(err, test.want) {
				t.Errorf("%v, want: %v", err, test.want)
			}
		})
	}
}

// bench lays the folders of mutants and runs the tools on them.
type bench struct {
	root     string // absolute
	compiler func() (string, error)
	folders  map[string]func() (string, error) // as the compiler makes them, by name
	tools    map[string]func() (string, error)
}

// layer lays the folder of a mutant into an empty directory, and returns the compiler
// that belongs to it.
type layer func(b *bench, ctx context.Context, m mutant, dir string) (compiler string, err error)

// shared is the bench of all tests: the programs and folders are the same for each.
var shared *bench

func TestMain(m *testing.M) {
	os.Exit(testAll(m))
}

// testAll runs the tests, and removes afterwards what the bench has made.
func testAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	abs, err := filepath.Abs(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = newBench(abs, dir)
	return m.Run()
}

// newBench returns a bench for a repository. It builds every program and compiles every
// folder into dir once, when a mutant needs it.
func newBench(root, dir string) *bench {
	ctx := context.Background() // a test's own context ends before the other tests
	b := &bench{root: root, folders: map[string]func() (string, error){}, tools: map[string]func() (string, error){}}
	b.compiler = sync.OnceValues(func() (string, error) {
		compiler := filepath.Join(dir, "batchwright")
		return compiler, b.run(ctx, ".", "go", "build", stripped, "-o", compiler, "./cmd/batchwright")
	})
	for _, m := range slices.Concat(mutants, mistakes) {
		b.folders[m.folder] = sync.OnceValues(func() (string, error) {
			compiler, err := b.compiler()
			if err != nil {
				return "", err
			}
			folder := filepath.Join(dir, "folders", m.folder)
			return folder, b.compile(ctx, compiler, m.folder, folder)
		})
	}
	built := map[string]func() (string, error){}
	for name, tool := range tools {
		program := filepath.Base(filepath.Join(tool.module, tool.pkg))
		if built[program] == nil {
			built[program] = sync.OnceValues(func() (string, error) {
				return b.build(ctx, tool, filepath.Join(dir, program))
			})
		}
		b.tools[name] = built[program]
	}
	return b
}

// build builds a tool and what it starts, and returns its path.
func (b *bench) build(ctx context.Context, tool tool, bin string) (string, error) {
	if tool.module == "cluster" {
		if err := b.run(ctx, "conformance/cluster", "go", "run", "./cmd/plane", "build"); err != nil {
			return "", err
		}
	}
	args := []string{"build", stripped, "-o", bin, tool.pkg}
	if tool.test {
		args = []string{"test", "-c", "-vet=off", stripped, "-o", bin, tool.pkg}
	}
	return bin, b.run(ctx, filepath.Join("conformance", tool.module), "go", args...)
}

// compile compiles a blueprint into a directory.
func (b *bench) compile(ctx context.Context, compiler, blueprint, dir string) error {
	return b.run(ctx, ".", compiler, append([]string{"compile", "-o", dir}, blueprintPaths(blueprint)...)...)
}

// run runs a program in a directory of the repository. The error contains the whole
// output of the program.
func (b *bench) run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(b.root, dir)
	// Let the program stop its control plane in an orderly way.
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, 30*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	} else if bytes.Contains(out, []byte("--- SKIP")) {
		return fmt.Errorf("%w:\n%s", errSkipped, out)
	} else if bytes.Contains(out, []byte("no tests to run")) {
		return fmt.Errorf("the tool has no test for this:\n%s", out)
	}
	return nil
}

// hold lays the folder of a mutant and holds it against the mutant's tool, which it may give
// more arguments. It returns nil if the tool fails and says what it is to say.
func (b *bench) hold(t *testing.T, m mutant, lay layer, more ...string) error {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	folders := filepath.Join(dir, "folders")
	compiler, err := lay(b, ctx, m, filepath.Join(folders, m.folder))
	if err != nil {
		return err
	}
	tool := tools[m.by]
	bin := compiler
	if m.by != "worlds" {
		if bin, err = b.tools[m.by](); err != nil {
			return err
		}
	}
	// What changes without end is watched for some minutes.
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	where := filepath.Join("conformance", tool.module)
	if m.by == "rehearsal" {
		// The compiler finds the program beside itself.
		if err := os.Symlink(bin, filepath.Join(filepath.Dir(compiler), filepath.Base(bin))); err != nil {
			return err
		}
		where, bin = ".", compiler
	}
	args := append(tool.args(folders, m.folder), more...)
	if tool.module == "terraform" {
		args = append(args, "-compiler="+compiler)
	}
	if tool.test {
		args = append(args, "-test.v") // says what is skipped
	}
	caught := b.run(ctx, where, bin, args...)
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s came to no end", m.by)
	case caught == nil:
		return errSurvived
	case !errors.As(caught, &exit):
		return caught
	}
	for _, place := range append([]string{m.says}, m.also...) {
		if !strings.Contains(caught.Error(), place) {
			return fmt.Errorf("%w, not %q:\n%w", errElse, place, caught)
		}
	}
	if testing.Verbose() {
		t.Log(caught)
	}
	return nil
}

// change lays the folder as the compiler makes it, and edits it.
func (b *bench) change(_ context.Context, m mutant, dir string) (string, error) {
	compiler, err := b.compiler()
	if err != nil {
		return "", err
	}
	folder, err := b.folders[m.folder]()
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		return "", err
	}
	for _, e := range m.edits {
		if _, err := e.apply(dir, dir); err != nil {
			return "", err
		}
	}
	return compiler, nil
}

// compileMistake builds the compiler with the mistake in it, leaves the checkout as it is,
// and compiles the folder, which must differ from the right one. For tool "worlds", it only
// builds the tool, and returns it instead of the compiler.
func (b *bench) compileMistake(ctx context.Context, m mutant, dir string) (string, error) {
	above := filepath.Dir(filepath.Dir(dir))
	replace := map[string]string{}
	for _, e := range m.edits {
		changed, err := e.apply(b.root, filepath.Join(above, "source"))
		if err != nil {
			return "", err
		}
		maps.Copy(replace, changed)
	}
	overlay, compiler := filepath.Join(above, "overlay.json"), filepath.Join(above, "batchwright")
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, content, 0o666); err != nil {
		return "", err
	}
	if m.by == "worlds" {
		return compiler, b.run(ctx, ".", "go", "test", "-c", "-vet=off", stripped, "-overlay", overlay, "-o", compiler,
			tools[m.by].pkg)
	}
	if err := b.run(ctx, ".", "go", "build", stripped, "-overlay", overlay, "-o", compiler,
		"./cmd/batchwright"); err != nil {
		return "", err
	}
	if err := b.compile(ctx, compiler, m.folder, dir); err != nil {
		return "", err
	}
	right, err := b.folders[m.folder]()
	if err != nil {
		return "", err
	}
	differ, err := differ(os.DirFS(right), os.DirFS(dir))
	if err != nil {
		return "", err
	}
	if !differ {
		return "", errSame
	}
	return compiler, nil
}

// apply edits the files below a directory, and writes the changed ones to the same paths
// below another, which may be the same. It edits what an earlier edit has written there. It
// returns a map from the path of each replaced file to the path of the written one.
func (e edit) apply(from, to string) (map[string]string, error) {
	old, err := regexp.Compile("(?m)" + e.old)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(e.files)))
	if err != nil {
		return nil, err
	}
	changed := map[string]string{}
	for _, file := range files {
		relative, err := filepath.Rel(from, file)
		if err != nil {
			return nil, err
		}
		written := filepath.Join(to, relative)
		content, err := os.ReadFile(written)
		if errors.Is(err, fs.ErrNotExist) {
			content, err = os.ReadFile(file)
		}
		if err != nil {
			return nil, err
		}
		if !old.Match(content) {
			continue
		}
		changed[file] = written
		if err := os.MkdirAll(filepath.Dir(changed[file]), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(changed[file], old.ReplaceAll(content, []byte(e.new)), 0o666); err != nil {
			return nil, err
		}
	}
	if len(changed) == 0 {
		return nil, fmt.Errorf("%w: %s in %s", errPlace, e.old, e.files)
	}
	return changed, nil
}

// differ reports whether a file of one folder, besides the manifest, is missing in the
// other or differs.
func differ(a, b fs.FS) (bool, error) {
	for _, pair := range [][2]fs.FS{{a, b}, {b, a}} {
		found := false
		err := fs.WalkDir(pair[0], ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || found || entry.IsDir() || strings.HasPrefix(name, ".batchwright/") {
				return err
			}
			one, err := fs.ReadFile(pair[0], name)
			if err != nil {
				return err
			}
			other, err := fs.ReadFile(pair[1], name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			found = err != nil || !bytes.Equal(one, other)
			return nil
		})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}
