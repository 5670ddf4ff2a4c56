package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/golden/scale"
)

// terminal is a terminal that keeps all that is written to it.
type terminal struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written.Write(p)
}

// take returns what was written since the last call.
func (t *terminal) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.written.Reset()
	return t.written.String()
}

// screenOf returns what a wide terminal shows after it has read a text: a carriage
// return leads to the start of the line, and eraseRest erases it.
func screenOf(written string) string {
	lines := strings.Split(written, "\n")
	for i, line := range lines {
		shown := ""
		for part := range strings.SplitSeq(line, lineStart) {
			text, erases := strings.CutSuffix(part, eraseRest)
			if before, after, ok := strings.Cut(part, eraseRest); ok {
				text, erases = before+after, true
			}
			if erases || len(text) >= len(shown) {
				shown = text
			} else {
				shown = text + shown[len(text):]
			}
		}
		lines[i] = shown
	}
	return strings.Join(lines, "\n")
}

// newTestMeter returns a meter for a terminal of some columns, and a function that lets
// time pass until the next tick.
func newTestMeter(columns int) (m *meter, screen *terminal, pass func(time.Duration)) {
	screen = &terminal{}
	now := time.Unix(0, 0)
	m = &meter{
		w: screen, columns: func() (int, bool) { return columns, columns > 0 }, patience: patience, redraw: time.Hour,
	}
	pass = func(d time.Duration) {
		now = now.Add(d)
		m.drawTask(now)
	}
	return m, screen, pass
}

func checkWritten(t *testing.T, screen *terminal, want string) {
	t.Helper()
	if got := screen.take(); got != want {
		t.Errorf("written:\n%q\nwant:\n%q", got, want)
	}
}

// TestMeter: the line appears after a second of work, changes, and is erased.
func TestMeter(t *testing.T) {
	m, screen, pass := newTestMeter(80)
	at, end := m.start("")
	pass(time.Hour) // the command waits for its input
	at.Start(progress.Reading, "")
	pass(redraw)
	pass(patience - 2*redraw)
	checkWritten(t, screen, "")

	pass(redraw)
	const reading = "\rreading the files, no findings so far (1s)\x1b[K"
	checkWritten(t, screen, reading)
	at.Start(progress.Checking, "teams")
	at.Expect(10_000)
	for range 4210 {
		at.Step()
	}
	at.Find()
	pass(2 * time.Second)
	const checking = "\rchecking teams: 4,210 of 10,000, 1 finding so far (3s)\x1b[K"
	checkWritten(t, screen, checking)
	end()
	end()
	checkWritten(t, screen, "\r\x1b[K")

	// Another piece of work of the same command need not last a second.
	at, end = m.start("")
	at.Start(progress.Writing, "")
	pass(redraw)
	const writing = "\rwriting files (3s)\x1b[K"
	checkWritten(t, screen, writing)
	end()
	checkWritten(t, screen, "\r\x1b[K")
}

// TestMeterSides: of two tasks at once the first is shown, until it ends.
func TestMeterSides(t *testing.T) {
	m, screen, pass := newTestMeter(80)
	one, endOne := m.start("v1.2")
	other, endOther := m.start("a\x1b[31mb\u202e")
	one.Start(progress.Evaluating, "")
	other.Start(progress.Planning, "")
	pass(redraw)
	pass(patience)
	endOne()
	if got, want := screenOf(screen.take()), "v1.2: evaluating the blueprint, no findings so far (1s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	pass(redraw)
	want := `a\x1b[31mb\u202e: resolving names and defaults, no findings so far (1s)`
	if got := screenOf(screen.take()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	endOther()
	checkWritten(t, screen, "\r\x1b[K")
}

// TestMeterNarrow: the line never fills the last column.
func TestMeterNarrow(t *testing.T) {
	for columns, want := range map[int]string{
		1: "", 2: "…", 11: "checking …", 24: "checking teams, no fin…",
		43: "checking teams, no findings so far (100s)", 44: "checking teams, no findings so far (100s)",
	} {
		m, screen, pass := newTestMeter(columns)
		at, end := m.start("")
		at.Start(progress.Checking, "teams")
		pass(redraw)
		pass(100*time.Second - redraw)
		if got := screenOf(screen.take()); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
		end()
	}
}

// TestMeterElsewhere: a stream that is no terminal gets nothing, and work that nobody
// watches has no Progress. The same holds after the terminal is handed over.
func TestMeterElsewhere(t *testing.T) {
	pipe := newMeter(&bytes.Buffer{})
	away, screen, _ := newTestMeter(80)
	away.handOver()
	for _, m := range []*meter{nil, pipe, away} {
		at, end := m.start("")
		if at != nil {
			t.Error("somebody watches")
		}
		end()
		m.draw("line")
		m.erase()
	}
	if pipe.timer != nil || away.timer != nil {
		t.Error("a timer draws")
	}
	pipe.eraseOther()
	if got := pipe.w.(*bytes.Buffer).String(); got != "" {
		t.Errorf("the pipe got %q", got)
	}
	screen.take()
	away.eraseOther()
	checkWritten(t, screen, "\r\x1b[K")
}

func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		state progress.State
		want  string
	}{
		{
			progress.State{Stage: progress.Checking, Subject: "teams", Done: 0, Total: 1},
			"checking teams: 0 of 1, no findings so far (1s)",
		},
		{
			progress.State{Stage: progress.Checking, Subject: "teams", Done: 999, Total: 1000, Findings: 1},
			"checking teams: 999 of 1,000, 1 finding so far (1s)",
		},
		{
			progress.State{Stage: progress.Judging, Done: 3, Total: 200, Findings: 120_000},
			"checking rules: 3 of 200, 120,000 findings so far (1s)",
		},
		{
			progress.State{Stage: progress.Rendering, Subject: countText(1, "team", "teams"), Findings: 3},
			"rendering the folder of 1 team (1s)",
		},
		{
			progress.State{Stage: progress.Rendering, Subject: countText(1234567, "team", "teams")},
			"rendering the folder of 1,234,567 teams (1s)",
		},
		{
			progress.State{Stage: progress.Comparing},
			"comparing (1s)",
		},
		{
			progress.State{Stage: progress.Importing},
			"reading the exports (1s)",
		},
		{
			progress.State{Stage: progress.Rehearsing, Subject: "week"},
			"rehearsing week on both platforms (1s)",
		},
	} {
		if got := progressLine("", tt.state, patience); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestMeterOfCommands runs the commands on a terminal whose time passes fast. In the
// end it shows the same as without the line.
func TestMeterOfCommands(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mistakes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := scale.Write(dir, "../../blueprints/batch-platform", 30); err != nil {
		t.Fatal(err)
	}
	if err := scale.WriteMistakes(filepath.Join(dir, "mistakes"), "fields", 15); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "a"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	for _, tt := range []struct {
		code  int
		stage string // pattern that a line must match
		args  string
	}{
		{exitClean, "", "vet --notes"},
		{exitFindings, "", "vet mistakes"},
		{exitFindings, "", "compile mistakes"},
		{exitClean, "rendering the folder of ", "compile -o -"},
		{exitClean, "rendering the folder of ", "compile -o out"},
		{exitClean, "rendering the folder of ", "diff -o out"},
		{exitClean, "(HEAD|the working tree): ", "diff --base HEAD"},
		{exitTrouble, "", "diff --base HEAD mistakes"},
		{exitClean, "", "graph"},
		{exitClean, "", "cost"},
		{exitUsage, "", "rehearse --only none"},
		{exitFindings, "", "import platform.cue"},
		{exitUsage, "", "vet --max-time 0s"},
		{exitFindings, "", "vet --max-time 1ns"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			run := func(m *meter, screen *terminal) {
				os.RemoveAll("out")
				if strings.HasPrefix(tt.args, "diff -o out") {
					written := Command{Stdin: strings.NewReader(""), Stdout: &terminal{}, Stderr: &terminal{}}
					written.Main([]string{"compile", "-o", "out"})
				}
				c := Command{Stdin: strings.NewReader(""), Stdout: screen, Stderr: screen, meter: m}
				if code := c.Main(strings.Fields(tt.args)); code != tt.code {
					t.Errorf("exit code %d, want %d", code, tt.code)
				}
			}
			plain := &terminal{}
			run(nil, plain)
			want := plain.take()
			if strings.Contains(want, eraseRest) {
				t.Error("a stream that is no terminal got the line")
			}
			// On a busy machine, a stage can pass between two ticks.
			const most = 1000
			for try := 1; ; try++ {
				m, screen := newFastMeter()
				run(m, screen)
				got := screen.take()
				if shown := screenOf(got); shown != want {
					t.Fatalf("the terminal shows\n%s\nwant\n%s", shown, want)
				}
				if regexp.MustCompile(tt.stage).MatchString(got) {
					break
				}
				if try == most {
					t.Fatalf("in %d runs the line never said %q; last it said\n%q", most, tt.stage, got)
				}
			}
		})
	}
}

// newFastMeter returns a meter that draws whenever it can.
func newFastMeter() (*meter, *terminal) {
	screen := &terminal{}
	return &meter{
		w: screen, columns: func() (int, bool) { return 80, true },
		redraw: time.Millisecond / 4, // the work needs the processors, too
	}, screen
}

// TestProgressWriter: the line of an engine is as wide as the terminal, too, and its
// other messages are kept.
func TestProgressWriter(t *testing.T) {
	m, screen, _ := newTestMeter(30)
	p := &progressWriter{meter: m, scenario: &rehearsal.Scenario{Until: 3600}}
	for _, part := range []string{"{\"now\": 60, \"do", "ne\": 0}\noops\n"} {
		if _, err := p.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := screenOf(screen.take()), "60s of 1h, 0 of 0 jobs have …"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.clear()
	checkWritten(t, screen, "\r\x1b[K")
	if got := p.words.String(); got != "oops\n" {
		t.Errorf("kept %q", got)
	}
}
