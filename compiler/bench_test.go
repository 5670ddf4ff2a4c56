package compiler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/lower"
	"github.com/batchwright/batchwright/compiler/rules"
	"github.com/batchwright/batchwright/golden/scale"
)

const example = "../blueprints/batch-platform"

// benchBlueprints runs a benchmark with the batch platform's blueprint and with
// generated ones.
func benchBlueprints(b *testing.B, run func(b *testing.B, dir string)) {
	b.Run("batch-platform", func(b *testing.B) {
		dir, err := filepath.Abs(example)
		if err != nil {
			b.Fatal(err)
		}
		run(b, dir)
	})
	for _, teams := range scale.Sizes {
		b.Run(fmt.Sprintf("teams=%d", teams), func(b *testing.B) {
			dir := b.TempDir()
			if err := scale.Write(dir, example, teams); err != nil {
				b.Fatal(err)
			}
			run(b, dir)
		})
	}
}

func benchLoad(tb testing.TB, dir string) *load.Loader {
	tb.Helper()
	var findings diag.List
	l, err := load.Read(load.Input{Dir: dir, Paths: []string{"."}}, &findings)
	if err != nil || l == nil {
		tb.Fatal(err, findings.Sorted())
	}
	return l
}

func BenchmarkLoad(b *testing.B) {
	benchBlueprints(b, func(b *testing.B, dir string) {
		b.ReportAllocs()
		for b.Loop() {
			benchLoad(b, dir)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	benchBlueprints(b, func(b *testing.B, dir string) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			l := benchLoad(b, dir)
			b.StartTimer()
			benchCheck(b, l)
		}
	})
}

func benchCheck(tb testing.TB, l *load.Loader) *blueprint.Checked {
	tb.Helper()
	var findings diag.List
	out, err := blueprint.Check(context.Background(), l, &findings, nil)
	if err != nil || out.Blueprint == nil {
		tb.Fatal(err, findings.Sorted())
	}
	return out
}

func BenchmarkLower(b *testing.B) {
	benchBlueprints(b, func(b *testing.B, dir string) {
		blueprint := benchCheck(b, benchLoad(b, dir)).Blueprint
		b.ReportAllocs()
		for b.Loop() {
			if _, err := lower.Blueprint(blueprint); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRules(b *testing.B) {
	benchBlueprints(b, func(b *testing.B, dir string) {
		checked := benchCheck(b, benchLoad(b, dir))
		plan, err := lower.Blueprint(checked.Blueprint)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			var findings diag.List
			rules.Run(&rules.Pass{Blueprint: checked.Blueprint, Plan: plan, Place: checked.Place,
				Written: checked.Written, Tag: checked.Tag, Embedded: checked.Embedded, Findings: &findings})
			if findings.HasErrors() {
				b.Fatal(findings.Sorted())
			}
		}
	})
}

// BenchmarkHidden compiles a blueprint with hidden fields. CUE's evaluator adds
// each field to its struct by looking through those before it, so that the time
// grows with the square of their number.
func BenchmarkHidden(b *testing.B) {
	blueprint, err := filepath.Abs(example)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 10_000, 50_000} {
		b.Run(fmt.Sprintf("fields=%d", n), func(b *testing.B) {
			hidden := filepath.Join(b.TempDir(), "hidden.cue")
			source := []byte("package platform\n")
			for i := range n {
				source = fmt.Appendf(source, "_hidden%d: %d\n", i, i)
			}
			if err := os.WriteFile(hidden, source, 0o644); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				res, err := Compile(b.Context(), Input{Dir: blueprint, Paths: []string{blueprint, hidden}})
				if err != nil || res.Plan == nil {
					b.Fatal(err, res.Findings.Sorted())
				}
			}
		})
	}
}
