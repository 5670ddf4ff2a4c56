package compiler_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/schema"
)

func benchTree(b *testing.B, teams int) emit.Tree {
	b.Helper()
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: compiler.BenchBlueprint(b, teams)})
	if err != nil || res.Plan == nil {
		b.Fatal(err, res.Findings.Sorted())
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		b.Fatal(err)
	}
	return tree
}

func BenchmarkEmit(b *testing.B) {
	for _, teams := range compiler.BenchSizes {
		b.Run(compiler.BenchName(teams), func(b *testing.B) {
			res, err := compiler.Compile(context.Background(), compiler.Input{Dir: compiler.BenchBlueprint(b, teams)})
			if err != nil || res.Plan == nil {
				b.Fatal(err, res.Findings.Sorted())
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := folder.Build(res.Plan); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, teams := range compiler.BenchSizes {
		b.Run(compiler.BenchName(teams), func(b *testing.B) {
			tree := benchTree(b, teams)
			parent := b.TempDir()
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if _, err := emit.Write(filepath.Join(parent, fmt.Sprint(n)), tree, emit.WriteOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProcess runs batchwright as its users do, and reports what the
// whole process takes: CPU of all cores, and the most memory it held.
func BenchmarkProcess(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "batchwright")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/batchwright").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, teams := range compiler.BenchSizes {
		b.Run(compiler.BenchName(teams), func(b *testing.B) {
			dir := compiler.BenchBlueprint(b, teams)
			parent := b.TempDir()
			n := 0
			benchProcess(b, func() *exec.Cmd {
				n++
				return exec.Command(bin, "compile", "-o", filepath.Join(parent, fmt.Sprint(n)), dir)
			})
		})
	}
}

// BenchmarkCueExport is what CUE's own command takes to evaluate and print the
// same blueprints with the same schema.
func BenchmarkCueExport(b *testing.B) {
	bin := b.TempDir()
	install := exec.Command("go", "install", "cuelang.org/go/cmd/cue@v0.17.1")
	install.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := install.CombinedOutput(); err != nil {
		b.Skipf("the cue command cannot be built: %v\n%s", err, out)
	}
	for _, teams := range compiler.BenchSizes {
		b.Run(compiler.BenchName(teams), func(b *testing.B) {
			dir := b.TempDir()
			if err := os.CopyFS(dir, os.DirFS(compiler.BenchBlueprint(b, teams))); err != nil {
				b.Fatal(err)
			}
			vendorSchema(b, dir)
			benchProcess(b, func() *exec.Cmd {
				cmd := exec.Command(filepath.Join(bin, "cue"), "export", ".")
				cmd.Dir = dir
				return cmd
			})
		})
	}
}

// vendorSchema lays the schema beside a blueprint and makes it use it.
func vendorSchema(b *testing.B, dir string) {
	b.Helper()
	content, err := fs.ReadFile(schema.Files, "blueprint.cue")
	if err != nil {
		b.Fatal(err)
	}
	for name, content := range map[string]string{
		"cue.mod/module.cue": "module: \"example.com/bench@v0\"\nlanguage: version: \"v0.17.0\"\n",
		"cue.mod/pkg/" + schema.ImportPath + "/blueprint.cue": string(content),
		"schema.cue": "package platform\n\nimport \"" + schema.ImportPath + "\"\n\nschema.#Blueprint\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func benchProcess(b *testing.B, command func() *exec.Cmd) {
	b.Helper()
	var cpu, peak, runs float64
	for b.Loop() {
		cmd := command()
		var errors bytes.Buffer
		cmd.Stderr = &errors
		if err := cmd.Run(); err != nil {
			b.Fatalf("%v\n%s", err, errors.Bytes())
		}
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		peak = max(peak, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024) // Linux counts in KiB
		runs++
	}
	b.ReportMetric(1000*cpu/runs, "cpu-ms/op")
	b.ReportMetric(peak, "peak-MiB")
}
