//go:build unix

package scale_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/batchwright/batchwright/golden/scale"
	"github.com/batchwright/batchwright/schema"
)

const root = "../.."

// These benchmarks run whole processes and report what they take: CPU of all
// cores, and the most memory they held. The process that runs them must stay
// small, because the kernel counts a child's memory from the moment it is
// forked.

func benchProcesses(b *testing.B, command func(b *testing.B, dir string) *exec.Cmd) {
	example := filepath.Join(root, "blueprints/batch-platform")
	b.Run("batch-platform", func(b *testing.B) {
		dir := b.TempDir()
		if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
			b.Fatal(err)
		}
		benchProcess(b, 0, func() *exec.Cmd { return command(b, dir) })
	})
	for _, teams := range scale.Sizes {
		b.Run(fmt.Sprintf("teams=%d", teams), func(b *testing.B) {
			dir := b.TempDir()
			if err := scale.Write(dir, example, teams); err != nil {
				b.Fatal(err)
			}
			benchProcess(b, 0, func() *exec.Cmd { return command(b, dir) })
		})
	}
}

// benchProcess runs a command that must exit with a status.
func benchProcess(b *testing.B, status int, command func() *exec.Cmd) {
	b.Helper()
	var cpu, peak, runs float64
	for b.Loop() {
		cmd := command()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
			b.Fatalf("%v\n%s", err, stderr.Bytes())
		}
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		peak = max(peak, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024) // Linux counts in KiB
		runs++
	}
	b.ReportMetric(1000*cpu/runs, "cpu-ms/op")
	b.ReportMetric(peak, "peak-MiB")
}

func buildBinary(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "batchwright")
	if out, err := exec.Command("go", "build", "-o", bin, root+"/cmd/batchwright").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// BenchmarkVet checks a blueprint.
func BenchmarkVet(b *testing.B) {
	bin := buildBinary(b)
	benchProcesses(b, func(_ *testing.B, dir string) *exec.Cmd { return exec.Command(bin, "vet", dir) })
}

// BenchmarkVetMistakes checks blueprints with some twelve mistakes in each of
// many teams, and shows the first of them or, as JSON, all.
func BenchmarkVetMistakes(b *testing.B) {
	bin := buildBinary(b)
	for _, kind := range scale.Mistakes {
		for _, format := range []string{"text", "json"} {
			for _, teams := range scale.Sizes[1:] {
				b.Run(fmt.Sprintf("%s/%s/teams=%d", kind, format, teams), func(b *testing.B) {
					dir := b.TempDir()
					if err := scale.WriteMistakes(dir, kind, teams); err != nil {
						b.Fatal(err)
					}
					path := dir
					if kind == "yaml" {
						path = filepath.Join(dir, "platform.yaml")
					}
					benchProcess(b, 1, func() *exec.Cmd { return exec.Command(bin, "vet", "--format", format, path) })
				})
			}
		}
	}
}

// BenchmarkPrint compiles a blueprint and prints the folder instead of writing
// it: what batchwright takes without the file system.
func BenchmarkPrint(b *testing.B) {
	bin := buildBinary(b)
	benchProcesses(b, func(_ *testing.B, dir string) *exec.Cmd { return exec.Command(bin, "compile", "-o", "-", dir) })
}

// BenchmarkPrintJobs does the same where all teams submit jobs.
func BenchmarkPrintJobs(b *testing.B) {
	bin := buildBinary(b)
	for _, scheduler := range scale.Schedulers {
		for _, teams := range scale.Sizes {
			b.Run(fmt.Sprintf("%s/teams=%d", scheduler, teams), func(b *testing.B) {
				dir := b.TempDir()
				if err := scale.WriteJobs(dir, scheduler, teams); err != nil {
					b.Fatal(err)
				}
				benchProcess(b, 0, func() *exec.Cmd { return exec.Command(bin, "compile", "-o", "-", dir) })
			})
		}
	}
}

// BenchmarkCompile writes the folder anew each time.
func BenchmarkCompile(b *testing.B) {
	bin := buildBinary(b)
	n := 0
	benchProcesses(b, func(_ *testing.B, dir string) *exec.Cmd {
		n++
		return exec.Command(bin, "compile", "-o", filepath.Join(dir, "out", fmt.Sprint(n)), dir)
	})
}

// BenchmarkExisting imports queues that run, checks the blueprint, and compares it with the
// queues. It reports the CPU time of each size, and by which exponent of the number of queues
// the time grows.
func BenchmarkExisting(b *testing.B) {
	bin := buildBinary(b)
	var dirs []string
	for _, queues := range scale.Existing {
		dir := b.TempDir()
		if err := scale.WriteExport(filepath.Join(dir, "live.json"), queues); err != nil {
			b.Fatal(err)
		}
		new(spent).addProcess(b, 0, dir, bin, "import", "--output", "imported", "live.json")
		dirs = append(dirs, dir)
	}
	for _, command := range []struct {
		name   string
		status int
		args   []string
	}{
		{"import", 0, []string{bin, "import", "--force", "--output", "imported", "live.json"}},
		{"vet", 0, []string{bin, "vet", "imported"}},
		{"diff-live", 1, []string{bin, "diff", "--live", "live.json", "imported"}},
	} {
		b.Run(command.name, func(b *testing.B) {
			times := make([]spent, len(dirs))
			for b.Loop() {
				for i, dir := range dirs {
					times[i].addProcess(b, command.status, dir, command.args...)
				}
			}
			for i, queues := range scale.Existing {
				b.ReportMetric(1000*times[i].cpu.Seconds()/float64(b.N), fmt.Sprintf("cpu-ms/%d", queues))
			}
			few, many := 0, len(dirs)-1
			b.ReportMetric(exponent(times[few].cpu.Seconds(), times[many].cpu.Seconds(),
				float64(scale.Existing[few]), float64(scale.Existing[many])), "exponent")
		})
	}
}

// BenchmarkDiff compares two revisions of a blueprint, in a repository of 200
// commits, and reports how many times the time, and CPU time, of one compilation
// that takes.
func BenchmarkDiff(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("git is not installed")
	}
	bin := buildBinary(b)
	for _, teams := range []int{100, 1000} {
		dir := makeHistory(b, teams, 200)
		for _, change := range []struct {
			name, base string
			status     int
		}{{"nothing", "HEAD", 0}, {"one-number", "HEAD~1", 1}, {"every-team", "HEAD~199", 1}} {
			b.Run(fmt.Sprintf("teams=%d/%s", teams, change.name), func(b *testing.B) {
				var compile, diff spent
				for b.Loop() {
					compile.addProcess(b, 0, dir, bin, "compile", "-o", "-")
					diff.addProcess(b, change.status, dir, bin, "diff", "--base", change.base)
				}
				b.ReportMetric(float64(compile.wall.Milliseconds())/float64(b.N), "compile-ms/op")
				b.ReportMetric(float64(diff.wall.Milliseconds())/float64(b.N), "diff-ms/op")
				b.ReportMetric(float64(diff.wall)/float64(compile.wall), "diff/compile")
				b.ReportMetric(float64(diff.cpu)/float64(compile.cpu), "cpu-diff/compile")
			})
		}
	}
}

// makeHistory makes a repository whose commits each change one number of a
// blueprint, and the first one besides every team.
func makeHistory(b *testing.B, teams, commits int) string {
	b.Helper()
	dir := b.TempDir()
	git := func(args ...string) {
		b.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test",
			"GIT_COMMITTER_EMAIL=test@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	if err := scale.Write(dir, filepath.Join(root, "blueprints/batch-platform"), teams); err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(dir, "platform.cue")
	later, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	for n := range commits {
		content := bytes.ReplaceAll(later, []byte("maxNodes: 36"), fmt.Appendf(nil, "maxNodes: %d", 36-n%20))
		if n == 0 {
			content = bytes.ReplaceAll(content, []byte("accelerators: 12,"), []byte("accelerators: 11,"))
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			b.Fatal(err)
		}
		git("add", "platform.cue")
		git("commit", "-q", "-m", fmt.Sprint(n))
	}
	return dir
}

// spent is the time that processes take, and their CPU time.
type spent struct{ wall, cpu time.Duration }

// addProcess adds a process that must exit with a status.
func (s *spent) addProcess(b *testing.B, status int, dir string, command ...string) *os.ProcessState {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		b.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	s.wall += time.Since(began)
	s.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return cmd.ProcessState
}

// BenchmarkBesideCue runs batchwright and CUE's own command in turn, with the same
// blueprints and the same schema: vet beside "cue vet", and compile without the file
// system beside "cue export". It reports medians of CPU and wall time and of peak
// memory, and the medians of the ratios of neighbours.
func BenchmarkBesideCue(b *testing.B) {
	bin := b.TempDir()
	install := exec.Command("go", "install", "cuelang.org/go/cmd/cue@v0.17.1")
	install.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := install.CombinedOutput(); err != nil {
		b.Skipf("the cue command cannot be built: %v\n%s", err, out)
	}
	own, cue := buildBinary(b), filepath.Join(bin, "cue")
	for _, teams := range scale.Sizes {
		dir, vendored := b.TempDir(), b.TempDir()
		for _, d := range []string{dir, vendored} {
			if err := scale.Write(d, root+"/blueprints/batch-platform", teams); err != nil {
				b.Fatal(err)
			}
		}
		vendorSchema(b, vendored)
		for _, pair := range []struct {
			name        string
			own, beside []string
		}{
			{"vet", []string{own, "vet"}, []string{cue, "vet", "-c", "."}},
			{"compile", []string{own, "compile", "-o", "-"}, []string{cue, "export", "."}},
		} {
			b.Run(fmt.Sprintf("%s/teams=%d", pair.name, teams), func(b *testing.B) {
				var a, c []usage
				for b.Loop() {
					a = append(a, useOf(b, dir, pair.own))
					c = append(c, useOf(b, vendored, pair.beside))
				}
				reportMedians(b, a, c)
			})
		}
	}
}

// usage holds the CPU time and the wall time of a process, in ms, and its peak memory, in
// MiB.
type usage struct{ cpu, wall, peak float64 }

// useOf runs a command in a directory.
func useOf(b *testing.B, dir string, command []string) usage {
	b.Helper()
	var s spent
	state := s.addProcess(b, 0, dir, command...)
	peak := float64(state.SysUsage().(*syscall.Rusage).Maxrss) / 1024 // Linux counts in KiB
	return usage{s.cpu.Seconds() * 1000, s.wall.Seconds() * 1000, peak}
}

// reportMedians reports the medians of two lists of neighbours, and of their ratios.
func reportMedians(b *testing.B, own, cue []usage) {
	for _, m := range []struct {
		name string
		of   func(usage) float64
	}{
		{"cpu-ms", func(u usage) float64 { return u.cpu }},
		{"wall-ms", func(u usage) float64 { return u.wall }},
		{"peak-MiB", func(u usage) float64 { return u.peak }},
	} {
		var owns, cues, ratios []float64
		for i := range own {
			owns, cues = append(owns, m.of(own[i])), append(cues, m.of(cue[i]))
			ratios = append(ratios, m.of(own[i])/m.of(cue[i]))
		}
		b.ReportMetric(median(owns), m.name)
		b.ReportMetric(median(cues), "cue-"+m.name)
		b.ReportMetric(median(ratios), "ratio-"+m.name)
	}
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
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
