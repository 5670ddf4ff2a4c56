package compiler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue/build"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Sizes of the generated blueprints, in teams; 0 stands for the batch
// platform itself.
var benchSizes = []int{0, 100, 1000, 10000}

func benchName(teams int) string {
	if teams == 0 {
		return "batch-platform"
	}
	return fmt.Sprintf("teams=%d", teams)
}

// benchBlueprint returns the directory of a blueprint of that many teams: the
// batch platform's hardware and tiers, and teams written out one by one, two
// to a cohort, each with quota in three tiers.
func benchBlueprint(tb testing.TB, teams int) string {
	tb.Helper()
	const example = "../blueprints/batch-platform"
	if teams == 0 {
		dir, err := filepath.Abs(example)
		if err != nil {
			tb.Fatal(err)
		}
		return dir
	}
	source, err := os.ReadFile(filepath.Join(example, "platform.cue"))
	if err != nil {
		tb.Fatal(err)
	}
	head, _, found := strings.Cut(string(source), "cohorts: {")
	if !found {
		tb.Fatal("the batch platform has no cohorts")
	}
	var b strings.Builder
	b.WriteString(head)
	for _, name := range []string{"l4-ondemand", "l4-spot", "a100-compact"} {
		fmt.Fprintf(&b, "capacity: %q: overcommit: \"many teams\"\n", name)
	}
	b.WriteString("cohorts: {\n")
	for i := range (teams + 1) / 2 {
		fmt.Fprintf(&b, "\t\"cohort-%05d\": {}\n", i)
	}
	b.WriteString("}\nteams: {\n")
	for i := range teams {
		fmt.Fprintf(&b, `	"team-%05[1]d": {
		cohort: "cohort-%05[2]d"
		group:  "team-%05[1]d@example.com"
		bucket: true
		quota: {
			lp: {"l4-reserved": borrow: 4, "l4-spot": {accelerators: 12, borrow: 4}}
			hp: {"l4-reserved": accelerators: 4, "l4-ondemand": {accelerators: 4, borrow: 4}}
			compact: "a100-compact": accelerators: 2
		}
	}
`, i, i/2)
	}
	b.WriteString("}\n")
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(b.String()), 0o644); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func benchLoad(tb testing.TB, dir string) (*build.Instance, *sources) {
	tb.Helper()
	var findings diag.List
	sources := &sources{dir: dir}
	inst := load(Input{Dir: dir}, sources, &findings)
	if inst == nil {
		tb.Fatal(findings.Sorted())
	}
	return inst, sources
}

func BenchmarkLoad(b *testing.B) {
	for _, teams := range benchSizes {
		b.Run(benchName(teams), func(b *testing.B) {
			dir := benchBlueprint(b, teams)
			b.ReportAllocs()
			for b.Loop() {
				benchLoad(b, dir)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, teams := range benchSizes {
		b.Run(benchName(teams), func(b *testing.B) {
			dir := benchBlueprint(b, teams)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				inst, sources := benchLoad(b, dir)
				b.StartTimer()
				benchCheck(b, inst, sources)
			}
		})
	}
}

func benchCheck(tb testing.TB, inst *build.Instance, sources *sources) *checked {
	tb.Helper()
	var findings diag.List
	out, err := check(context.Background(), newContext(), inst, sources, &findings)
	if err != nil || out.blueprint == nil {
		tb.Fatal(err, findings.Sorted())
	}
	return out
}

func BenchmarkLower(b *testing.B) {
	for _, teams := range benchSizes {
		b.Run(benchName(teams), func(b *testing.B) {
			inst, sources := benchLoad(b, benchBlueprint(b, teams))
			blueprint := benchCheck(b, inst, sources).blueprint
			b.ReportAllocs()
			for b.Loop() {
				lower(blueprint)
			}
		})
	}
}

func BenchmarkRules(b *testing.B) {
	for _, teams := range benchSizes {
		b.Run(benchName(teams), func(b *testing.B) {
			inst, sources := benchLoad(b, benchBlueprint(b, teams))
			checked := benchCheck(b, inst, sources)
			plan := lower(checked.blueprint)
			b.ReportAllocs()
			for b.Loop() {
				var findings diag.List
				rules.Run(&rules.Pass{Blueprint: checked.blueprint, Plan: plan, Place: checked.locate.place, Findings: &findings})
				if findings.HasErrors() {
					b.Fatal(findings.Sorted())
				}
			}
		})
	}
}
