package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// changes are changes of the platform in testdata/changes. Before each of them, each of
// two teams runs two jobs on capacity spot and one on capacity ondemand.
var changes = []struct {
	name string
	says string // what batchwright diff says of the jobs
	// pools holds the node pools whose nodes Terraform deletes. Of slow changes, their pods
	// take their whole grace period.
	pools []string
	slow  bool
	// retired holds the counts of each team's ClusterQueue before Terraform runs, and
	// applied the counts at the end, of all ClusterQueues with the ending of queues.
	retired, applied count
	queues           string
	// running holds the jobs' pods by node pool, at the end.
	running map[string]int
}{
	{
		"dropped", "running jobs stop before the nodes are deleted, and wait in their queues again",
		[]string{"ondemand"}, false, count{1, 2}, count{1, 2}, "-batch", map[string]int{"spot": 4},
	},
	{
		"shared", "running jobs stop, and wait in the new queue",
		nil, false, count{3, 0}, count{3, 3}, "cq-batch", map[string]int{"spot": 2, "ondemand": 1},
	},
	{
		"machine", "running jobs stop before the nodes are replaced, and wait in their queues again",
		[]string{"spot"}, false, count{2, 1}, count{0, 3}, "-batch", map[string]int{"spot": 4, "ondemand": 2},
	},
	{
		"driver", "running jobs stop before the nodes are replaced, and wait in their queues again",
		[]string{"ondemand", "spot"}, true, count{3, 0}, count{0, 3}, "-batch",
		map[string]int{"spot": 4, "ondemand": 2},
	},
	{
		"priority", "running jobs keep priority 10",
		nil, false, count{0, 3}, count{0, 3}, "-batch", map[string]int{"spot": 4, "ondemand": 2},
	},
	{
		"quota", "running jobs beyond 2 GPUs continue",
		nil, false, count{0, 3}, count{0, 3}, "-batch", map[string]int{"spot": 4, "ondemand": 2},
	},
}

// TestChanges plays changes of a platform whose jobs run: the steps of the build
// around Terraform, with the nodes that Terraform would delete and create. What
// batchwright diff says of the jobs must happen: no job keeps quota of nodes that are
// gone, and no queue admits more than its quota.
func TestChanges(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	compiler := buildCompiler(ctx, t)
	blueprint := changesRepository(ctx, t)
	before := filepath.Join(t.TempDir(), "before")
	runTool(ctx, t, blueprint, compiler, "compile", "-o", before)
	p := startPlane(ctx, t, plane.Start)
	tools := cloudTools(t, p)

	for _, change := range changes {
		held := t.Run(change.name, func(t *testing.T) {
			text := fmt.Sprintf("package platform\n\n_change: %q\n", change.name)
			if err := os.WriteFile(filepath.Join(blueprint, "change.cue"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			after := filepath.Join(t.TempDir(), "after")
			runTool(ctx, t, blueprint, compiler, "compile", "-o", after)
			// The exit code 1 says that there are differences.
			review := runTool(ctx, t, blueprint, "sh", "-c", compiler+" diff --base HEAD || [ $? = 1 ]")
			if !strings.Contains(review, change.says) {
				t.Errorf("the review does not say %q:\n%s", change.says, review)
			}
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
			changed.plan(change.pools...)
			if change.slow {
				f.kubectl("annotate", "pods", "--all", "--all-namespaces", "plane/ignores-sigterm=true")
			}
			changed.build(tools, "retire")
			for _, name := range change.pools {
				changed.withoutPods(name)
			}
			changed.queues("-batch", change.retired)
			for _, name := range change.pools {
				f.kubectl("delete", "nodes", "--selector=cloud.google.com/gke-nodepool="+name, "--wait=false")
				for _, p := range changed.pools() {
					if p.name == name {
						changed.add(p)
					}
				}
			}
			changed.build(tools, "priorities", "local-queues", "manifests", "queues")
			changed.queues(change.queues, change.applied)
			changed.running(change.running)
			const all = "--all-namespaces"
			for _, o := range changed.get("workloads", all) {
				if o.Spec.Priority != 10 {
					t.Errorf("%s has priority %d", o, o.Spec.Priority)
				}
			}
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

// planFile is where a step of the build has written Terraform's plan.
const planFile = "terraform/plan.json"

// plan writes the part of Terraform's plan that the step retire reads: the node pools that
// are deleted, or replaced if the folder still has them. conformance/terraform compares
// what the step reads with the plans of Terraform.
func (f *folder) plan(pools ...string) {
	f.Helper()
	changes := []any{}
	for _, name := range pools {
		arguments := map[string]any{"name": name, "node_locations": []string{"us-central1-a"}}
		change := map[string]any{"actions": []string{"delete"}, "before": arguments, "after": nil}
		for _, p := range f.pools() {
			if p.name == name {
				change["actions"], change["after"] = []string{"delete", "create"}, arguments
			}
		}
		changes = append(changes, map[string]any{
			"type": "google_container_node_pool", "name": strings.ReplaceAll(name, "-", "_"), "change": change,
		})
	}
	text, err := json.Marshal(map[string]any{"format_version": "1.2", "resource_changes": changes})
	if err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, planFile), text, 0o666); err != nil {
		f.Fatal(err)
	}
}

// withoutPods holds that no pod runs, or still stops, on the nodes of a pool.
func (f *folder) withoutPods(pool string) {
	f.Helper()
	nodes := strings.Fields(f.kubectl("get", "nodes", "--selector=cloud.google.com/gke-nodepool="+pool,
		"-o", "jsonpath={.items[*].metadata.name}"))
	pods := f.kubectl("get", "pods", "--all-namespaces",
		"--field-selector=status.phase!=Succeeded,status.phase!=Failed", "-o",
		`jsonpath={range .items[*]}{.spec.nodeName} {.metadata.name}{"\n"}{end}`)
	for line := range strings.Lines(pods) {
		if node, pod, _ := strings.Cut(strings.TrimSpace(line), " "); slices.Contains(nodes, node) {
			f.Errorf("pod %s is on a node of pool %s", pod, pool)
		}
	}
}

// deleteGone deletes the queues and flavors that the folder no longer has, as the build
// tells the administrator.
func (f *folder) deleteGone() {
	f.Helper()
	kept := map[string]bool{}
	for _, o := range f.applied() {
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
func buildCompiler(ctx context.Context, t *testing.T) string {
	t.Helper()
	compiler := filepath.Join(t.TempDir(), "batchwright")
	build := exec.CommandContext(ctx, "go", "build", "-o", compiler, "./cmd/batchwright")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return compiler
}

// changesRepository returns a git repository with the platform in testdata/changes.
func changesRepository(ctx context.Context, t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/changes")); err != nil {
		t.Fatal(err)
	}
	runTool(ctx, t, dir, "git", "init", "-q")
	runTool(ctx, t, dir, "git", "add", ".")
	runTool(ctx, t, dir, "git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.com", "commit", "-qm",
		"The platform before the changes")
	return dir
}

// runTool runs a program in a directory and returns its output. It must succeed.
func runTool(ctx context.Context, t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
