package cluster_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

var (
	randomPlatforms = flag.Int("random", 8, "how `many` random platforms are played")
	randomSeed      = flag.Uint64("seed", 1, "the `number` that decides which random platforms are played")
)

// mostDrawn bounds how many random blueprints are drawn for each one that
// "batchwright vet --strict" passes.
const mostDrawn = 40

// TestRandomPlatforms holds vet to its promise. It draws random blueprints, keeps
// those that "batchwright vet --strict" passes without a word, and applies their
// folders. Every workload, alone on the empty platform, must be admitted and all its
// pods must run, on nodes of the sizes that GKE leaves for pods.
func TestRandomPlatforms(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	compiler := buildCompiler(ctx, t)
	p := startPlane(ctx, t, plane.Start)

	draw := drawer{rand.New(rand.NewPCG(*randomSeed, 0))}
	drawn := 0
	for i := range *randomPlatforms {
		dir := t.TempDir()
		for passed := false; !passed; drawn++ {
			if drawn > mostDrawn**randomPlatforms {
				t.Fatalf("vet passed %d of %d random blueprints", i, drawn)
			}
			passed = compiled(ctx, t, compiler, dir, draw.blueprint())
		}
		held := t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := &folder{T: t, ctx: ctx, plane: p, dir: filepath.Join(dir, "folder")}
			f.apply()
			f.add(f.pools()...)
			for _, team := range f.teams() {
				for _, name := range f.workloads(team) {
					f.runsAlone(team, name)
				}
			}
			f.delete()
		})
		if !held {
			text, err := os.ReadFile(filepath.Join(dir, "platform.json"))
			t.Fatalf("vet passes this blueprint:\n%s\n%v", text, err)
		}
	}
	t.Logf("vet passed %d of %d random blueprints", *randomPlatforms, drawn)
}

// compiled reports whether vet passes the blueprint without a word. Its folder is
// then dir/folder.
func compiled(ctx context.Context, t *testing.T, compiler, dir string, blueprint map[string]any) bool {
	t.Helper()
	text, err := json.MarshalIndent(blueprint, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "platform.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(ctx, compiler, "vet", "--strict", file).CombinedOutput(); err != nil ||
		len(out) > 0 {
		return false
	}
	out, err := exec.CommandContext(ctx, compiler, "compile", "-o", filepath.Join(dir, "folder"), file).CombinedOutput()
	if err != nil {
		t.Fatalf("vet passed the blueprint, compile does not: %v\n%s", err, out)
	}
	return true
}

// workloads returns the names of a team's workloads, of each the first copy.
func (f *folder) workloads(team string) []string {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, "workloads", team, "*.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name != "kustomization" && !strings.HasSuffix(name, "-files") {
			names = append(names, name)
		}
	}
	return names
}

// runsAlone submits a workload to the empty platform, waits until all its pods run,
// and deletes it.
func (f *folder) runsAlone(team, name string) {
	f.Helper()
	f.submit(team, name)
	f.allRun(team, name)
}

// allRun waits until all pods in a team's namespace run, and deletes its jobs. The message of a
// failure contains name.
func (f *folder) allRun(team, name string) {
	f.Helper()
	f.eventually(func() string {
		objects := f.get("workloads,jobs,pods", "--namespace="+team)
		want, running, state := 0, 0, ""
		for _, o := range objects {
			switch {
			case o.Kind == "Job":
				want += o.Spec.Parallelism
			case o.Kind == "Pod" && o.Status.Phase == "Running":
				running++
			case o.Kind == "Workload":
				state = fmt.Sprint(o.Status.Conditions)
			}
		}
		if want == 0 || running != want {
			return fmt.Sprintf("%s of %s: %d of %d pods run: %s", name, team, running, want, state)
		}
		return ""
	})
	f.kubectl("delete", "jobsets,jobs", "--all", "--wait=false", "--namespace="+team)
	f.emptied()
}

// drawer draws random blueprints of small platforms.
type drawer struct{ *rand.Rand }

type drawnClass struct {
	machine     string
	gpus        any // of an N1 machine
	perNode     int // accelerators
	cpu, memory float64
}

// drawnClasses are machine types that a drawn blueprint chooses from.
var drawnClasses = []drawnClass{
	{machine: "g2-standard-8", perNode: 1, cpu: 8, memory: 32},
	{machine: "g2-standard-24", perNode: 2, cpu: 24, memory: 96},
	{machine: "g2-standard-48", perNode: 4, cpu: 48, memory: 192},
	{machine: "a2-highgpu-2g", perNode: 2, cpu: 24, memory: 170},
	{machine: "a3-highgpu-8g", perNode: 8, cpu: 208, memory: 1872},
	{
		machine: "n1-standard-16", gpus: map[string]any{"type": "nvidia-tesla-t4", "count": 4}, perNode: 4, cpu: 16,
		memory: 60,
	},
	{machine: "n2-standard-16", cpu: 16, memory: 64},
	{machine: "e2-standard-8", cpu: 8, memory: 32},
	{machine: "c3-standard-22", cpu: 22, memory: 88},
}

// blueprint draws a platform of one to three classes of machine, each with one or two
// capacities, a tier for each class, and one or two teams.
func (d drawer) blueprint() map[string]any {
	type fields = map[string]any
	hardware, capacity, tiers, workloads := fields{}, fields{}, fields{}, fields{}
	quotas := []fields{}
	for range 1 + d.IntN(2) {
		quotas = append(quotas, fields{})
	}
	cohort := d.IntN(2) == 0
	for i, n := range d.Perm(len(drawnClasses))[:1+d.IntN(3)] {
		class, name := drawnClasses[n], fmt.Sprintf("class-%d", i)
		h := fields{"machine": class.machine}
		if class.gpus != nil {
			h["gpus"] = class.gpus
		}
		hardware[name] = h
		capacities := []string{}
		for _, option := range [][]string{{"spot"}, {"onDemand"}, {"reservation"}, {"reservation", "onDemand"}, {"spot",
			"onDemand"}}[d.IntN(5)] {
			capacities = append(capacities, fmt.Sprintf("%s-%s", name, strings.ToLower(option)))
		}
		tier := fmt.Sprintf("tier-%d", i)
		for _, c := range capacities {
			perTeam := 1 + d.IntN(3) // nodes
			unit, amount := "accelerators", perTeam*class.perNode
			if class.perNode == 0 {
				unit, amount = "cpus", perTeam*int(class.cpu*0.9)
			}
			for _, q := range quotas {
				share := fields{unit: amount}
				if cohort && d.IntN(2) == 0 {
					share["borrow"] = "all"
				}
				if q[tier] == nil {
					q[tier] = fields{}
				}
				q[tier].(fields)[c] = share
			}
			entry := fields{"hardware": name}
			switch nodes := perTeam * len(quotas); {
			case strings.HasSuffix(c, "reservation"):
				entry["consumption"] = fields{"reservation": fields{"name": c}}
				entry["nodes"], entry["zones"] = nodes, []string{"us-central1-a"}
			case strings.HasSuffix(c, "spot"):
				entry["consumption"], entry["maxNodes"] = fields{"spot": fields{}}, nodes
			default:
				entry["consumption"], entry["maxNodes"] = fields{"onDemand": fields{}}, nodes+d.IntN(3)
			}
			capacity[c] = entry
		}
		tiers[tier] = fields{"priority": 10 * (i + 1), "default": i == 0, "capacity": capacities}
		for j := range 1 + d.IntN(2) {
			workloads[fmt.Sprintf("work-%d-%d", i, j)] = d.workload(tier, class)
		}
	}
	teams, cohorts := fields{}, fields{}
	for i, quota := range quotas {
		team := fields{"quota": quota}
		if cohort {
			cohorts["all"] = fields{}
			team["cohort"] = "all"
		}
		teams[fmt.Sprintf("team-%c", 'a'+i)] = team
	}
	return fields{
		"name": "random", "project": "my-project", "region": "us-central1", "zones": []string{"us-central1-a"},
		"hardware": hardware, "capacity": capacity, "tiers": tiers, "cohorts": cohorts, "teams": teams,
		"workloads": workloads,
	}
}

// workload draws a Job or JobSet whose pods take from a tenth of a node to all of it.
func (d drawer) workload(tier string, class drawnClass) map[string]any {
	share := 0.1 + 0.9*d.Float64()
	pod := map[string]any{}
	if class.perNode > 0 {
		accelerators := 1 + d.IntN(class.perNode)
		pod["accelerators"] = accelerators
		share = float64(accelerators) / float64(class.perNode)
	}
	// The share of cpu and memory, or somewhat more or less.
	pod["cpu"] = max(0.1, float64(int(10*class.cpu*share*(0.3+0.7*d.Float64())))/10)
	pod["memory"] = fmt.Sprintf("%dMi", max(64, int(1024*class.memory*share*(0.5+0.5*d.Float64()))))
	return map[string]any{
		"tier": tier, "kind": []string{"Job", "JobSet"}[d.IntN(2)], "pods": 1 + d.IntN(8), "perPod": pod,
		"image": "busybox:1.37", "command": []string{"sleep", "600"},
	}
}
