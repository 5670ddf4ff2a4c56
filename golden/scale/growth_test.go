//go:build unix

package scale_test

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/lower"
	"github.com/batchwright/batchwright/compiler/rules"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review"
	"github.com/batchwright/batchwright/golden/scale"
)

// mostGrowth is the exponent of the number of teams that no stage may exceed.
const mostGrowth = 1.05

// TestGrowth: no stage allocates more than in proportion to the number of teams. What
// allocates nothing, such as a search, is measured by BenchmarkGrowth.
func TestGrowth(t *testing.T) {
	const few, many = 400, 1600
	measure := func(teams int) map[string]float64 {
		used := map[string]float64{}
		eachStage(t, teams, func(stage string, run func()) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run()
			runtime.ReadMemStats(&after)
			used[stage] = float64(after.TotalAlloc - before.TotalAlloc)
		})
		return used
	}
	measure(few) // fills what the process computes once
	a, b := measure(few), measure(many)
	for stage, bytes := range b {
		if e := exponent(a[stage], bytes, few, many); e > mostGrowth {
			t.Errorf("%s: %.0f MB for %d teams, %.0f MB for %d: exponent %.2f, want at most %.2f",
				stage, a[stage]/1e6, few, bytes/1e6, many, e, mostGrowth)
		}
	}
}

// BenchmarkGrowth reports, for each stage, by which exponent of the number of teams its
// CPU time grows from 100 to 10,000 teams. It counts the CPU time of all threads, and
// takes the shortest of three runs.
func BenchmarkGrowth(b *testing.B) {
	const few, many = 100, 10_000
	measure := func(teams int) map[string]float64 {
		shortest := map[string]float64{}
		for range 3 {
			eachStage(b, teams, func(stage string, run func()) {
				runtime.GC()
				before := cpuTime(b)
				run()
				if used := (cpuTime(b) - before).Seconds(); shortest[stage] == 0 || used < shortest[stage] {
					shortest[stage] = used
				}
			})
		}
		return shortest
	}
	for b.Loop() {
		measure(few)
		less, more := measure(few), measure(many)
		for stage, seconds := range more {
			b.ReportMetric(exponent(less[stage], seconds, few, many), "exponent-"+stage)
		}
	}
}

// exponent returns the exponent by which an amount grows between two sizes.
func exponent(a, b, sizeA, sizeB float64) float64 { return math.Log(b/a) / math.Log(sizeB/sizeA) }

func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// eachStage compiles a platform stage by stage, and compares it with the same platform
// after a change of every team. It calls record with the name of each stage, and with a
// function that runs the stage once.
func eachStage(tb testing.TB, teams int, record func(stage string, run func())) {
	tb.Helper()
	dir := tb.TempDir()
	if err := scale.Write(dir, root+"/blueprints/batch-platform", teams); err != nil {
		tb.Fatal(err)
	}
	before := compileStages(tb, dir, func(_ string, run func()) { run() })
	name := filepath.Join(dir, "platform.cue")
	content, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	changed := strings.ReplaceAll(string(content), "accelerators: 12", "accelerators: 11")
	if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
		tb.Fatal(err)
	}
	after := compileStages(tb, dir, record)
	record("diff", func() {
		if r := review.Compare(before, after); len(r.Summary) == 0 {
			tb.Error("the change of every team is not in the summary")
		}
	})
}

func compileStages(tb testing.TB, dir string, record func(stage string, run func())) review.State {
	tb.Helper()
	var findings diag.List
	check := func(err error) {
		if err != nil || findings.HasErrors() {
			tb.Fatal(err, findings.Sorted())
		}
	}
	var loader *load.Loader
	var checked *blueprint.Checked
	var plan *ir.Platform
	var tree emit.Tree
	var err error
	record("load", func() { loader, err = load.Read(load.Input{Dir: dir, Paths: []string{"."}}, &findings) })
	check(err)
	record("check", func() { checked, err = blueprint.Check(tb.Context(), loader, &findings, nil) })
	check(err)
	record("lower", func() { plan, err = lower.Blueprint(checked.Blueprint) })
	check(err)
	record("rules", func() {
		rules.Run(&rules.Pass{
			Blueprint: checked.Blueprint, Plan: plan, Place: checked.Place, Written: checked.Written,
			Tag: checked.Tag, Embedded: checked.Embedded, Sources: checked.Sources, Findings: &findings,
		})
	})
	check(nil)
	record("emit", func() { tree, err = folder.Build(plan) })
	check(err)
	return review.State{Plan: plan, Tree: tree}
}
