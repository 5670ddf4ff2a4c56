package folder_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/golden/scale"
)

const example = "../../blueprints/batch-platform"

// benchPlans runs a benchmark with the batch platform's plan and with those of
// generated blueprints.
func benchPlans(b *testing.B, run func(b *testing.B, plan *ir.Platform)) {
	compile := func(b *testing.B, dir string) *ir.Platform {
		res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir})
		if err != nil || res.Plan == nil {
			b.Fatal(err, res.Findings.Sorted())
		}
		return res.Plan
	}
	b.Run("batch-platform", func(b *testing.B) {
		dir, err := filepath.Abs(example)
		if err != nil {
			b.Fatal(err)
		}
		run(b, compile(b, dir))
	})
	for _, teams := range scale.Sizes {
		b.Run(fmt.Sprintf("teams=%d", teams), func(b *testing.B) {
			dir := b.TempDir()
			if err := scale.Write(dir, example, teams); err != nil {
				b.Fatal(err)
			}
			run(b, compile(b, dir))
		})
	}
}

func BenchmarkEmit(b *testing.B) {
	benchPlans(b, func(b *testing.B, plan *ir.Platform) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := folder.Build(plan); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	benchPlans(b, func(b *testing.B, plan *ir.Platform) {
		tree, err := folder.Build(plan)
		if err != nil {
			b.Fatal(err)
		}
		parent := b.TempDir()
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			if _, err := disk.Write(filepath.Join(parent, fmt.Sprint(n)), tree, disk.WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
