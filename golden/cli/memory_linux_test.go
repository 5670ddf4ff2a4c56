package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/golden/fixture"
)

// memoryLimit is the --max-memory of TestMemory, in MiB.
const memoryLimit = 256

// doubleLines returns lines that define _s0 to _s34. Each is built from the one
// before it with format, in which %[1]d is its number.
func doubleLines(first, format string) string {
	lines := "_s0: " + first + "\n"
	for i := range 34 {
		lines += fmt.Sprintf("_s%d: ", i+1) + fmt.Sprintf(format, i) + "\n"
	}
	return lines
}

// TestMemory compiles blueprints of a few lines whose texts exceed the memory limit,
// and measures the processes. They use at most a fifth more than the limit, and the
// finding points at the text.
func TestMemory(t *testing.T) {
	bin := fixture.Batchwright(t)
	kilobyte := `"` + strings.Repeat("x", 1000) + `"`
	byteLiteral := "'" + strings.Repeat("x", 1000) + "'"
	for _, tt := range []struct {
		name, source string
		line         int // line of the finding; 0 if it is about the blueprint as a whole
	}{
		{"concatenation", doubleLines(kilobyte, "_s%[1]d + _s%[1]d"), 21},
		{"interpolation", doubleLines(kilobyte, `"\(_s%[1]d)\(_s%[1]d)"`), 21},
		{"bytes", doubleLines(byteLiteral, "_s%[1]d + _s%[1]d"), 21},
		{"multiplication", "_s0: 1_000_000 * \"0123456789\"\n_s1: 1000 * _s0\n", 3},
		{
			"strings.Repeat",
			"import \"strings\"\n_s0: strings.Repeat(\"0123456789\", 1_000_000)\n_s1: strings.Repeat(_s0, 1000)\n", 4,
		},
		{
			"strings.Join",
			"import \"strings\"\n_s0: 1_000_000 * \"x\"\n_s1: strings.Join([for i in _n {_s0}], \"\")\n_n: [for a in " +
				"_d for b in _d for c in _d for d in _d {a}]\n_d: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n", 4,
		},
		{"strings.Replace", "import \"strings\"\n_s0: 100_000 * \"x\"\n_s1: strings.Replace(_s0, \"x\", _s0, -1)\n", 4},
		{"regexp.ReplaceAll", "import \"regexp\"\n_s0: 100_000 * \"x\"\n_s1: regexp.ReplaceAll(\"x\", _s0, _s0)\n", 4},
		{"json.Marshal", "import \"encoding/json\"\n" + doubleLines(kilobyte, "json.Marshal([_s%[1]d, _s%[1]d])"), 4},
		{"list.Repeat", "import \"list\"\n_l0: list.Repeat([1], 1_000_000)\n_l1: list.Repeat(_l0, 1_000_000)\n", 3},
		{
			"template",
			"#Twice: {in: string, out: in + in}\n" +
				strings.ReplaceAll(doubleLines(kilobyte, "(#Twice & {in: _s%[1]d}).out"), "x", "\u00e4"), 2,
		},
		{
			"loop",
			"_s0: 1_000_000 * \"x\"\n_s1: [for i in [1, 2, 3, 4, 5] for part in [_s0 * 100] {\"\\(part)\\(i)\"}]\n", 3,
		},
		{"structs", doubleLines("{x: 1}", "{left: _s%[1]d & {y%[1]d: 1}, right: _s%[1]d & {z%[1]d: 1}}"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := blueprintWith(t, "package platform\n"+tt.source)
			cmd := exec.CommandContext(t.Context(), bin, "vet", "--max-memory", fmt.Sprintf("%dMi", memoryLimit),
				"small.cue", "growing.cue")
			cmd.Dir = dir
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			peak, code := measurePeak(t, cmd)
			if code != 1 || errs.Len() > 0 {
				t.Errorf("exit code %d, standard error %q", code, errs.String())
			}
			want := "small.cue: error[E0007]"
			if tt.line > 0 {
				want = fmt.Sprintf("growing.cue:%d:", tt.line)
			}
			if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "error[E0007]") {
				t.Errorf("finding is not at %s:\n%s", want, out.String())
			}
			t.Logf("peak: %d MiB", peak)
			if peak > memoryLimit*12/10 {
				t.Errorf("held %d MiB with a limit of %d MiB", peak, memoryLimit)
			}
		})
	}
}

// measuredProcess is the environment variable that makes a process of this test
// binary start the command in its arguments and report on descriptor 3.
const measuredProcess = "BATCHWRIGHT_TEST_MEASURE"

// measurePeak runs the command. It returns the largest amount of memory, in MiB, that
// the command or a process that it waited for has used, and the exit code. A process
// starts with the peak of its parent, which for a test binary with the race detector
// is hundreds of MiB. Therefore a second, small process of the binary starts the
// command.
func measurePeak(t *testing.T, cmd *exec.Cmd) (peak int64, code int) {
	t.Helper()
	report, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append([]string{self}, cmd.Args...)
	cmd.Path = self
	cmd.Env = append(os.Environ(), measuredProcess+"=1")
	cmd.ExtraFiles = []*os.File{write}
	err = cmd.Run()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(report, &peak, &code); err != nil {
		t.Fatal(err)
	}
	return peak, code
}

// TestMain runs the tests, or serves as the second process of measure.
func TestMain(m *testing.M) {
	if os.Getenv(measuredProcess) == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv(measuredProcess)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Fprintln(os.NewFile(3, "report"), usage.Maxrss>>10, cmd.ProcessState.ExitCode())
}

// blueprintWith creates a directory with the platform of golden/testdata and a second
// file of its package.
func blueprintWith(t *testing.T, source string) string {
	t.Helper()
	small, err := os.ReadFile(fixture.Path("golden/testdata/small.cue"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"small.cue": small, "growing.cue": []byte(source)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestConfinedInterrupt checks that a command that runs in a second process ends
// when the first process is interrupted, and leaves no files.
func TestConfinedInterrupt(t *testing.T) {
	dir := blueprintWith(t,
		"package platform\nimport \"list\"\n"+doubleLines("[1, 2, 3, 4, 5, 6, 7, 8]", "list.Concat([_s%[1]d, "+
			"_s%[1]d])"))
	cmd := exec.CommandContext(t.Context(), fixture.Batchwright(t), "compile", "--max-time", "10m", "-o", "deploy",
		"small.cue", "growing.cue")
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fixture.WaitForChild(t, cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code shows the error
	if code := cmd.ProcessState.ExitCode(); code != 143 || errs.String() != "batchwright: interrupted\n" {
		t.Errorf("exit code %d, standard error %q", code, errs.String())
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("beside the blueprint's two files: %v, %v", files, err)
	}
}

// TestBoundedBlueprints checks that the reference blueprints need no second process.
func TestBoundedBlueprints(t *testing.T) {
	for _, name := range fixture.Blueprints(t) {
		paths := fixture.BlueprintDirs(fixture.Path("blueprints"), name)
		for i, p := range paths {
			absolute, err := filepath.Abs(p)
			if err != nil {
				t.Fatal(err)
			}
			paths[i] = absolute
		}
		if _, err := compiler.Compile(t.Context(), compiler.Input{Paths: paths, RefuseUnbounded: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
