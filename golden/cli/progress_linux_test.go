package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/batchwright/batchwright/golden/fixture"
)

// endless is a file of a blueprint that no computer evaluates in an hour, and whose
// texts stay short, so that it runs in the first process.
func endless() string {
	source := "package platform\n_n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n_sum: len([for a in _n"
	for i := range 12 {
		source += fmt.Sprintf(" for x%d in _n", i)
	}
	return source + " if a < 0 {1}])\nnotes: [if _sum > 0 {\"never\"}]\n"
}

// growing is the same in the second process, whose memory is limited.
func growing() string {
	return "package platform\nimport \"list\"\n" +
		doubleLines("[1, 2, 3, 4, 5, 6, 7, 8]", "list.Concat([_s%[1]d, _s%[1]d])")
}

// TestProgress runs the program on a pseudo-terminal. Work of more than a second shows
// how far it is. In the end the terminal shows the same as a pipe gets: the line is
// erased, and all findings are whole.
//
// The tests of the line interrupt the program when the line appears, however long that takes.
// The tests with a limit of time end by themselves, with findings; on a busy computer their line
// need not appear.
func TestProgress(t *testing.T) {
	bin := fixture.Batchwright(t)
	evaluating := "evaluating the blueprint, no findings so far ("
	const limited = "--max-time 1500ms"
	for _, tt := range []struct {
		name, source string
		args         string // without a limit of time, the program is interrupted when the line appears
		columns      uint16 // of the terminal; 0 for a terminal without a size
		line         string // which appears; "" if it need not appear
		env          string
		stdoutPiped  bool
		typed        bool // Ctrl-C interrupts the program, otherwise a signal
		hidden       bool // the line never appears
	}{
		{name: "fast", source: "package platform\n", columns: 80, args: "--max-time 1h"},
		{name: "time limit", source: endless(), args: limited, columns: 80},
		{name: "without a size", source: endless(), line: evaluating + "1s)\x1b[K"},
		{name: "narrow", source: endless(), columns: 16, line: "\revaluating the…\x1b[K"},
		{name: "interrupted", source: endless(), columns: 80, line: evaluating, typed: true},
		{name: "piped products", source: endless(), args: limited, columns: 200, stdoutPiped: true},
		{name: "dumb", source: endless(), args: limited, columns: 80, env: "TERM=dumb", hidden: true},
		{name: "no colour", source: endless(), columns: 80, env: "NO_COLOR=1", line: evaluating},
		{name: "second process", source: growing(), args: limited, columns: 80},
		{name: "second process interrupted", source: growing(), columns: 80, line: evaluating, typed: true},
		{
			name:   "second process out of memory",
			source: "package platform\n" + doubleLines(`"`+strings.Repeat("x", 1000)+`"`, "_s%[1]d + _s%[1]d"),
			args:   "--max-memory 256Mi --max-time 1h", columns: 80,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			interrupt := tt.args == ""
			args := append([]string{"vet", "--color", "never", "small.cue", "growing.cue"}, strings.Fields(tt.args)...)
			if interrupt {
				args = append(args, "--max-time", "24h")
			}
			cmd := exec.CommandContext(t.Context(), bin, args...)
			cmd.Dir = blueprintWith(t, tt.source)
			cmd.Env = append(os.Environ(), "TERM=xterm", tt.env)
			var products bytes.Buffer
			if tt.stdoutPiped {
				cmd.Stdout = &products
			}
			written, seen := runOnTerminal(t, cmd, tt.columns, tt.line, func(keyboard io.Writer) {
				switch {
				case tt.typed:
					keyboard.Write([]byte{3})
				case interrupt:
					cmd.Process.Signal(os.Interrupt)
				}
			})
			if tt.line != "" && !seen {
				t.Errorf("the line %q never appeared:\n%q", tt.line, written)
			}
			if tt.hidden && strings.Contains(written, "\x1b") {
				t.Errorf("a terminal that cannot erase a line got %q", written)
			}
			got := products.String() + showScreen(written, int(tt.columns))
			if interrupt {
				if want := showScreen("batchwright: interrupted\n", int(tt.columns)); got != want {
					t.Errorf("the terminal shows %q, want %q", got, want)
				}
				if code := cmd.ProcessState.ExitCode(); code != 130 {
					t.Errorf("exit code %d, want 130", code)
				}
				return
			}
			want := pipeOutput(t, tt.source, args)
			if wrapped := showScreen(want, int(tt.columns)); got != wrapped {
				t.Errorf("the terminal shows\n%s\nand a pipe gets\n%s", got, wrapped)
			}
			if strings.Contains(want, "\r") || strings.Contains(want, "so far") {
				t.Errorf("a pipe got the line:\n%q", want)
			}
		})
	}
}

// pipeOutputs holds what commands have written to a pipe, by their blueprint and arguments.
var pipeOutputs sync.Map

// pipeOutput returns what a command writes to a pipe. A command runs once.
func pipeOutput(t *testing.T, source string, args []string) string {
	t.Helper()
	run, _ := pipeOutputs.LoadOrStore(source+strings.Join(args, " "), sync.OnceValues(func() (string, error) {
		cmd := exec.CommandContext(t.Context(), fixture.Batchwright(t), args...)
		cmd.Dir = blueprintWith(t, source)
		out, err := cmd.CombinedOutput()
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			err = nil
		}
		return string(out), err
	}))
	out, err := run.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// runOnTerminal runs a command on a pseudo-terminal: its standard input and standard
// error, and its standard output unless it is set. It returns all that was written to
// the terminal, and whether the text appeared. When it has appeared, it calls appeared.
func runOnTerminal(t *testing.T, cmd *exec.Cmd, columns uint16, text string,
	appeared func(keyboard io.Writer),
) (string, bool) {
	t.Helper()
	keyboard, terminal, err := openTerminal(columns)
	if err != nil {
		t.Skip("the system has no pseudo-terminals: ", err)
	}
	defer keyboard.Close()
	cmd.Stdin, cmd.Stderr = terminal, terminal
	if cmd.Stdout == nil {
		cmd.Stdout = terminal
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var written bytes.Buffer
	var seen bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for part := make([]byte, 1<<12); ; {
			n, err := keyboard.Read(part)
			written.Write(part[:n])
			if text != "" && !seen && bytes.Contains(written.Bytes(), []byte(text)) {
				seen = true
				appeared(keyboard)
			}
			if err != nil { // EIO, when the last process has closed the terminal
				return
			}
		}
	})
	reader.Wait()
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return written.String(), seen
}

// openTerminal opens a pseudo-terminal with this many columns: the side of the person,
// and the side of the program. Source: pty(7), ioctl_tty(2).
func openTerminal(columns uint16) (person, program *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			person.Close()
		}
	}()
	control, err := person.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var number int
	var failed error
	err = control.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
			return
		}
		if number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); failed != nil {
			return
		}
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, nil, err
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	return person, program, err
}

// showScreen returns the lines that a terminal shows after it has read a text. A line
// that is longer than the terminal is wide goes on in the next one. Spaces at the end
// of a line cannot be seen.
func showScreen(written string, columns int) string {
	var lines []string
	line, at := []rune{}, 0
	end := func() {
		lines = append(lines, strings.TrimRight(string(line), " "))
		line, at = []rune{}, 0
	}
	for text := []rune(written); len(text) > 0; {
		c := text[0]
		text = text[1:]
		switch {
		case c == '\n':
			end()
		case c == '\r':
			at = 0
		case c == '\x1b' && strings.HasPrefix(string(text[:min(2, len(text))]), "[K"):
			line, text = line[:min(at, len(line))], text[2:]
		default:
			if columns > 0 && at == columns {
				end()
			}
			if at == len(line) {
				line = append(line, ' ')
			}
			line[at] = c
			at++
		}
	}
	if len(line) > 0 {
		end()
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
