package cluster_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// changes are changes of the platform in testdata/changes. Before each of them, each of
// two teams runs two jobs on capacity spot and one on capacity ondemand.
var changes = []struct {
	tag string
	// pools holds the node pools whose nodes Terraform deletes.
	pools []string
	// retired holds the counts of each team's ClusterQueue before Terraform runs, and
	// applied the counts at the end, of all ClusterQueues with the ending of queues.
	retired, applied count
	queues           string
	// running holds the jobs' pods by node pool, at the end.
	running map[string]int
}{
	{"dropped", []string{"ondemand"}, count{1, 2}, count{1, 2}, "-batch", map[string]int{"spot": 4}},
	{"shared", nil, count{3, 0}, count{3, 3}, "cq-batch", map[string]int{"spot": 2, "ondemand": 1}},
	{"machine", []string{"spot"}, count{2, 1}, count{0, 3}, "-batch", map[string]int{"spot": 4, "ondemand": 2}},
}

// TestChanges plays changes of a platform whose jobs run: the steps of the build
// around Terraform, with the nodes that Terraform would delete and create. No job may
// keep quota of nodes that are gone, and no queue may admit more than its quota.
func TestChanges(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := plane.Root(ctx)
	if err != nil {
		t.Fatal(err)
	}
	compiler := buildCompiler(ctx, t, root)
	before := filepath.Join(t.TempDir(), "before")
	compileChange(ctx, t, compiler, before)
	p, err := plane.Start(ctx, root, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	tools := cloudTools(t, p)

	for _, change := range changes {
		held := t.Run(change.tag, func(t *testing.T) {
			after := filepath.Join(t.TempDir(), change.tag)
			compileChange(ctx, t, compiler, after, "-t", change.tag)
			f := &folder{T: t, ctx: ctx, plane: p, dir: before}
			f.apply()
			f.add(f.pools()...)
			for _, team := range f.teams() {
				f.submit(team, "train-1")
				f.submit(team, "train-2")
				f.submit(team, "train-3")
			}
			f.queues("-batch", count{0, 3})
			f.running(map[string]int{"spot": 4, "ondemand": 2})

			changed := &folder{T: t, ctx: ctx, plane: p, dir: after, nodes: f.nodes}
			changed.build(tools, "retire")
			changed.queues("-batch", change.retired)
			for _, name := range change.pools {
				f.kubectl("delete", "nodes", "--selector=cloud.google.com/gke-nodepool="+name, "--wait=false")
				for _, p := range changed.pools() {
					if p.name == name {
						changed.add(p)
					}
				}
			}
			changed.build(tools, "local-queues", "manifests", "queues")
			changed.queues(change.queues, change.applied)
			changed.running(change.running)
			const all = "--all-namespaces"
			changed.succeed(all, "^train-", changed.completed(all, "^train-", 6))
			changed.clear()
			changed.deleteGone()
			changed.delete()
		})
		if !held {
			t.Fatal("what this change may have left would be held against the next")
		}
	}
}

// deleteGone deletes the queues and flavors that the folder no longer has, as the build
// tells the administrator.
func (f *folder) deleteGone() {
	f.Helper()
	kept := map[string]bool{}
	for _, o := range f.get("-k", f.manifests()) {
		kept[o.String()] = true
	}
	for _, o := range f.get("clusterqueues,resourceflavors") {
		if !kept[o.String()] {
			f.kubectl("delete", "--wait=false", o.Kind+"/"+o.Metadata.Name)
		}
	}
}

// build runs steps of the folder's build. tools is a directory of programs that
// replace others.
func (f *folder) build(tools string, ids ...string) {
	f.Helper()
	for _, id := range ids {
		if out, err := f.step(id, "PATH="+tools+":"+f.plane.Bin()+":"+os.Getenv("PATH")); err != nil {
			f.Fatalf("step %s: %v\n%s", id, err, out)
		}
	}
}

// cloudTools returns a directory with a gcloud that says the cluster runs, and with a
// kubectl that says the same of Kueue, which has no Deployment on a plane.
func cloudTools(t *testing.T, p *plane.Plane) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"gcloud": "#!/bin/sh\necho RUNNING\n",
		"kubectl": fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n*'get deployment kueue-controller-manager'*) echo 1 ;;\n"+
			"*) exec '%s/kubectl' \"$@\" ;;\nesac\n", p.Bin()),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// buildCompiler builds the compiler and returns its path.
func buildCompiler(ctx context.Context, t *testing.T, root string) string {
	t.Helper()
	compiler := filepath.Join(t.TempDir(), "batchwright")
	build := exec.CommandContext(ctx, "go", "build", "-o", compiler, "./cmd/batchwright")
	build.Dir = filepath.Join(root, "../..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return compiler
}

// compileChange compiles the platform in testdata/changes into a folder.
func compileChange(ctx context.Context, t *testing.T, compiler, dir string, tags ...string) {
	t.Helper()
	args := append([]string{"compile", "-o", dir, "testdata/changes"}, tags...)
	if out, err := exec.CommandContext(ctx, compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("batchwright %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
