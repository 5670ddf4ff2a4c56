package objects_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/golden/scale"
)

// BenchmarkCompare compares platforms of 1,000 teams: one team's quota changes,
// or the region, and with it almost every file.
func BenchmarkCompare(b *testing.B) {
	dir := b.TempDir()
	if err := scale.Write(dir, "../../../blueprints/batch-platform", 1000); err != nil {
		b.Fatal(err)
	}
	state := func(old, new string) emit.Tree {
		file := filepath.Join(dir, "platform.cue")
		source, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		n := -1
		if old == "accelerators: 12" {
			n = 1
		}
		if err := os.WriteFile(file, bytes.Replace(source, []byte(old), []byte(new), n), 0o644); err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := os.WriteFile(file, source, 0o644); err != nil {
				b.Fatal(err)
			}
		}()
		res, err := compiler.Compile(b.Context(), compiler.Input{Dir: dir})
		if err != nil || res.Plan == nil {
			b.Fatal(err, res.Findings.Sorted())
		}
		tree, err := folder.Build(res.Plan)
		if err != nil {
			b.Fatal(err)
		}
		return tree
	}
	before := state("", "")
	for name, after := range map[string]emit.Tree{
		"quota":  state("accelerators: 12", "accelerators: 8"),
		"region": state("us-central1", "europe-west4"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				changed, _ := objects.Compare(before, after)
				if len(changed) == 0 {
					b.Fatal("nothing changed")
				}
				objects.EffectsOf(before, after, nil)
			}
		})
	}
}
