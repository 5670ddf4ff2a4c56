package folders_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestAnotherFamily checks that two lines add a capacity of another GPU family to
// any of the reference systems. They add a node pool and the objects for it, and
// change no existing line. One more line lets every team use the whole capacity.
func TestAnotherFamily(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles each reference system three times")
	}
	for _, test := range []struct {
		name  string
		tags  []string
		lines string
	}{
		{"batch-platform", nil, `
hardware: h100: machine: "a3-highgpu-8g"
capacity: more: {hardware: "h100", consumption: spot: {}, maxNodes: 6}
`},
		{"batch-platform-dws", nil, `
hardware: mega: {machine: "a3-megagpu-8g", gpuDirect: true}
capacity: more: {hardware: "mega", consumption: flexStart: queued: true, maxNodes: 8, zones: ["us-central1-a"]}
`},
		{"a3-ultra-flex", nil, `
hardware: b200: {machine: "a4-highgpu-8g", gpuDirect: true}
capacity: more: {hardware: "b200", consumption: reservation: name: "b200", nodes: 4}
`},
		{"kai-departments", nil, `
hardware: a100: machine: "a2-highgpu-8g"
capacity: more: {hardware: "a100", consumption: onDemand: {}, nodes: 2}
`},
		{"tpu-training", []string{"type=v5e"}, `
hardware: t4: {machine: "n1-standard-8", gpus: {type: "nvidia-tesla-t4", count: 1}}
capacity: more: {hardware: "t4", consumption: spot: {}, maxNodes: 2}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			paths := fixture.BlueprintDirs(fixture.Path("blueprints"), test.name)
			before, _, findings := compileMore(t, test.tags, paths)
			if len(findings) > 0 {
				t.Errorf("the reference leads to %q", findings)
			}

			more := filepath.Join(t.TempDir(), "more.cue")
			write := func(lines string) {
				if err := os.WriteFile(more, []byte("package platform\n"+lines), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write(test.lines)
			after, p, findings := compileMore(t, test.tags, append(slices.Clone(paths), more))
			// The capacity exists, but no team can use it yet.
			if want := []string{"W0203 capacity.more"}; !slices.Equal(findings, want) {
				t.Errorf("two lines lead to %q, want %q", findings, want)
			}
			pools, err := check.NodePools(after)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(pools, func(p check.NodePool) bool { return slices.Contains(p.Names, "more") }) {
				t.Errorf("there is no node pool: %v", pools)
			}
			if flavors, err := fs.ReadFile(after, "kubernetes/resource-flavors.yaml"); p.Scheduler == ir.Kueue &&
				(err != nil || !strings.Contains(string(flavors), "name: more\n")) {
				t.Errorf("there is no flavor: %v", err)
			}
			for _, name := range []string{
				"terraform/node_pools.tf", "terraform/modules/network/main.tf", "terraform/identities.tf",
				"kubernetes/resource-flavors.yaml", "cloudbuild/provision.yaml",
			} {
				linesStay(t, name, before, after)
			}
			if p.Scheduler == ir.KAI {
				return // has only one tier, whose list of capacities belongs to the administrator
			}

			write(test.lines + `tiers: more: {priority: 5, capacity: ["more"], shared: {}}` + "\n")
			if _, p, findings = compileMore(t, test.tags, append(slices.Clone(paths), more)); len(findings) > 0 {
				t.Errorf("three lines lead to %q", findings)
			}
			i := slices.IndexFunc(p.SharedQueues, func(q ir.SharedQueue) bool { return q.Tier == "more" })
			c := p.Capacities[slices.IndexFunc(p.Capacities, func(c ir.Capacity) bool { return c.Name == "more" })]
			if i < 0 || len(p.SharedQueues[i].Teams) != len(p.Teams) {
				t.Fatalf("not every team shares it: %v", p.SharedQueues)
			}
			quotas := p.SharedQueues[i].Flavors[0].Quotas
			if got, want := quotas[2].Nominal.Value(), int64(c.MaxNodes*c.Machine.AcceleratorCount); got != want {
				t.Errorf("they share %d accelerators, want %d", got, want)
			}
		})
	}
}

// compileMore compiles a blueprint that must have no errors, runs all checks on its
// folder, and returns its warnings by code and path.
func compileMore(t *testing.T, tags, paths []string) (fs.FS, *ir.Platform, []string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: paths, Tags: tags})
	if err != nil {
		t.Fatal(err)
	}
	var findings []string
	for _, f := range res.Findings.Sorted() {
		if f.Severity == diag.Error {
			t.Errorf("%s: %s", f.Code, f.Message)
		}
		if f.Severity == diag.Warning {
			findings = append(findings, fmt.Sprintf("%s %s", f.Code, f.Path))
		}
	}
	if res.Plan == nil {
		t.FailNow()
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		t.Fatal(err)
	}
	files := fixture.FS(tree)
	checkFolder(t, files)
	return files, res.Plan, findings
}

// linesStay checks that a file still has all its earlier lines, in their order.
func linesStay(t *testing.T, name string, before, after fs.FS) {
	t.Helper()
	was, err := fs.ReadFile(before, name)
	if err != nil {
		return // there was no such file
	}
	is, err := fs.ReadFile(after, name)
	if err != nil {
		t.Error(err)
		return
	}
	rest := strings.Split(string(is), "\n")
	for line := range strings.SplitSeq(string(was), "\n") {
		i := slices.Index(rest, line)
		if i < 0 {
			t.Errorf("%s has lost or moved %q", name, line)
			return
		}
		rest = rest[i+1:]
	}
}
