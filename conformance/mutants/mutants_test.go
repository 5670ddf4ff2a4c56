// Package mutants_test breaks the compiler, one place at a time, and demands that
// one of the real tools notices the mistake and names its place.
package mutants_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const root = "../.."

// mutant is a mistake in the compiler's source, and the tool that must notice it.
type mutant struct {
	name      string
	file      string // of the repository
	old, new  string // old occurs once in the file
	blueprint string // name of the folder under golden/ that the tool checks
	by        string // one of tools
	says      string // part of the tool's output, which leads to the place
}

// tool checks the deploy folders of a directory. It is a package of a module below
// conformance/: a program or a test.
type tool struct {
	module, pkg string
	test        bool
	args        func(folders, blueprint string) []string
}

// tools are the tools by the names that mutants use.
var tools = map[string]tool{
	"check": {".", "./cmd/check", false, func(folders, blueprint string) []string {
		return []string{filepath.Join(folders, blueprint)}
	}},
	// Kueue's scheduler in virtual time: the mutant itself runs this program. It takes a
	// second, where a plane takes minutes.
	"rehearsal": {"../rehearse", "./cmd/batchwright-rehearse", false, func(_, blueprint string) []string {
		return append([]string{"rehearse", "--only", "demonstration"}, blueprintPaths(blueprint)...)
	}},
	"kai": {"kai", ".", true, func(folders, _ string) []string {
		return []string{"-folders=" + folders}
	}},
	"plan": {"terraform", ".", true, func(folders, blueprint string) []string {
		return []string{"-test.run=^TestPlan$/^" + blueprint + "$", "-folders=" + folders}
	}},
	"changes": {"terraform", ".", true, func(folders, _ string) []string {
		return []string{"-test.run=^TestChanges$", "-folders=" + folders}
	}},
	// A state on a plane is reached within seconds, and most mutants are noticed
	// because a state is not reached. The patience is therefore short.
	"cluster": {"cluster", ".", true, func(folders, blueprint string) []string {
		return []string{"-test.run=^TestFolders$/^" + blueprint + "$", "-folders=" + folders, "-patience=20s"}
	}},
	// The same for a folder that a GitOps tool applies.
	"gitops cluster": {"cluster", ".", true, func(folders, blueprint string) []string {
		return []string{"-test.run=^TestGitOps$/^" + blueprint + "$", "-folders=" + folders, "-patience=20s"}
	}},
	// The same in a cluster that others own.
	"others": {"cluster", ".", true, func(folders, blueprint string) []string {
		return []string{"-test.run=^TestExistingCluster$/^" + blueprint + "$", "-folders=" + folders}
	}},
	// The attempts of a member to exceed the quota, and Kueue's outage.
	"attempts": {"cluster", ".", true, func(folders, blueprint string) []string {
		return []string{"-test.run=^TestFolders$/^" + blueprint + "$", "-folders=" + folders, "-attempts"}
	}},
	// For changes that the tool must accept, and for mutants that it notices only after the
	// phases of the demonstration, on a machine that others use too.
	"patient cluster": {"cluster", ".", true, func(folders, blueprint string) []string {
		return []string{"-test.run=^TestFolders$/^" + blueprint + "$", "-folders=" + folders}
	}},
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
	errPlace    = errors.New("what is to be changed is not there once")
	errSame     = errors.New("the folder is the golden one: nothing is broken")
	errSurvived = errors.New("it survives")
	errElse     = errors.New("what is said is something else")
	errSkipped  = errors.New("the tool is not here")
)

// TestMutants checks that a tool notices every mutant. Two mutants run at a time. Run
// one with -run TestMutants/NAME.
func TestMutants(t *testing.T) {
	b := newBench(t)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			err := b.hold(t, m)
			if errors.Is(err, errSkipped) {
				t.Skip(err)
			} else if err != nil {
				t.Error(err)
			}
			t.Logf("%s, %s: %.0f s", m.by, m.blueprint, time.Since(began).Seconds())
		})
	}
}

// TestHarmless checks that a change that breaks nothing is not noticed, so that
// TestMutants can fail.
func TestHarmless(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		mutant
		want error
	}{
		{
			mutant{
				name: "a description", file: "emit/kubernetes/priorities.go", old: "c.Note,", new: `c.Note + ".",`,
				blueprint: "tpu-training", by: "patient cluster",
			}, errSurvived,
		},
		{
			mutant{
				name: "a comment", file: "emit/terraform/node_pools.go", old: "No nodes until the reservation",
				new: "Nothing until the reservation", blueprint: "batch-platform", by: "plan",
			}, errSame,
		},
		{
			mutant{
				name: "a longer comment", file: "emit/terraform/node_pools.go",
				old:       "np.note(\"The number of nodes in each zone.\")\n\tnp.setNumber(\"node_count\", p",
				new:       "np.note(\"The number of nodes in each of the zones.\")\n\tnp.setNumber(\"node_count\", p",
				blueprint: "batch-platform", by: "plan",
			}, errSurvived,
		},
		{
			mutant{
				name: "a title", file: "emit/monitoring/panels.go", old: `Title: "Requested quota"`,
				new: `Title: "Requests"`, blueprint: "batch-platform", by: "check",
			}, errSurvived,
		},
		{
			mutant{
				name: "a team's label", file: "emit/kai/queues.go", old: "= t.Name\n", new: "= t.Name + \"-\"\n",
				blueprint: "kai-departments", by: "kai",
			}, errSurvived,
		},
		{
			mutant{
				name: "another place", file: "emit/monitoring/panels.go",
				old: "expr: `sum(kueue_cluster_queue_nominal_quota", new: "expr: `sum(kueue_quota",
				blueprint: "batch-platform", by: "check", says: "kueue_cohort_quota",
			}, errElse,
		},
		{mutant{name: "in many places", file: "emit/monitoring/panels.go", old: "Title:", new: "Name:"}, errPlace},
		{mutant{name: "in no place", file: "emit/monitoring/panels.go", old: "the moon", new: "the sun"}, errPlace},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := b.hold(t, test.mutant)
			if errors.Is(err, errSkipped) {
				t.Skip(err)
			} else if !errors.Is(err, test.want) {
				t.Errorf("%v, want: %v", err, test.want)
			}
		})
	}
}

// bench builds mutants and runs the tools on their folders.
type bench struct {
	root  string // absolute
	tools map[string]func() (string, error)
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{abs, map[string]func() (string, error){}}
	built := map[string]func() (string, error){}
	for name, tool := range tools {
		program := filepath.Base(filepath.Join(tool.module, tool.pkg))
		if built[program] == nil {
			built[program] = sync.OnceValues(func() (string, error) {
				return b.build(t.Context(), tool, filepath.Join(dir, program))
			})
		}
		b.tools[name] = built[program]
	}
	return b
}

// build builds a tool, once for all mutants, and returns its path.
func (b *bench) build(ctx context.Context, tool tool, bin string) (string, error) {
	args := []string{"build", "-o", bin, tool.pkg}
	if tool.test {
		args = []string{"test", "-c", "-o", bin, tool.pkg}
	}
	return bin, b.run(ctx, filepath.Join("conformance", tool.module), "go", args...)
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
	} else if bytes.Contains(out, []byte("SKIP")) {
		return fmt.Errorf("%w:\n%s", errSkipped, out)
	}
	return nil
}

// hold builds a mutant, compiles its blueprint and holds the folder against its
// tool. It returns nil if the tool fails and says what it is to say.
func (b *bench) hold(t *testing.T, m mutant) error {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	compiler, err := b.mutate(ctx, m, dir)
	if err != nil {
		return err
	}
	folders := filepath.Join(dir, "folders")
	args := append([]string{"compile", "-o", filepath.Join(folders, m.blueprint)}, blueprintPaths(m.blueprint)...)
	if err := b.run(ctx, ".", compiler, args...); err != nil {
		return err
	}
	changed, err := b.changed(folders, m.blueprint)
	if err != nil {
		return err
	}
	t.Logf("changed: %s", strings.Join(changed, ", "))
	if len(changed) == 0 {
		return errSame
	}

	tool, ok := tools[m.by]
	if !ok {
		return fmt.Errorf("no tool %q", m.by)
	}
	bin, err := b.tools[m.by]()
	if err != nil {
		return err
	}
	// A plane and its folder take a minute where nobody else works, and what changes without
	// end is watched for two minutes more.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	where := filepath.Join("conformance", tool.module)
	if m.by == "rehearsal" {
		if err := os.Symlink(bin, filepath.Join(dir, filepath.Base(bin))); err != nil {
			return err
		}
		where, bin = ".", compiler
	}
	caught := b.run(ctx, where, bin, tool.args(folders, m.blueprint)...)
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s came to no end", m.by)
	case caught == nil:
		return errSurvived
	case !errors.As(caught, &exit):
		return caught
	case !strings.Contains(caught.Error(), m.says):
		return fmt.Errorf("%w, not %q:\n%w", errElse, m.says, caught)
	}
	if testing.Verbose() {
		t.Log(caught)
	}
	return nil
}

// mutate builds the compiler with the mistake in it, into a directory, and leaves
// the checkout as it is.
func (b *bench) mutate(ctx context.Context, m mutant, dir string) (string, error) {
	file := filepath.Join(b.root, m.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 {
		return "", fmt.Errorf("%w: %s has %q %d times", errPlace, m.file, m.old, n)
	}
	changed, overlay, bin := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "batchwright")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(
		os.WriteFile(changed, bytes.Replace(text, []byte(m.old), []byte(m.new), 1), 0o666),
		os.WriteFile(overlay, replace, 0o666),
	); err != nil {
		return "", err
	}
	return bin, b.run(ctx, ".", "go", "build", "-overlay", overlay, "-o", bin, "./cmd/batchwright")
}

// changed lists the files of the compiled folder that are not as in the golden one.
func (b *bench) changed(folders, blueprint string) ([]string, error) {
	golden, compiled := os.DirFS(filepath.Join(b.root, "golden", blueprint)),
		os.DirFS(filepath.Join(folders, blueprint))
	var names []string
	err := fs.WalkDir(compiled, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(name, ".batchwright/") {
			return err
		}
		got, err := fs.ReadFile(compiled, name)
		if err != nil {
			return err
		}
		want, err := fs.ReadFile(golden, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !bytes.Equal(want, got) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
