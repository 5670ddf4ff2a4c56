package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
)

// confinedVariable is the environment variable that is set in a process which runs a
// command for another process, with a memory limit.
const confinedVariable = "BATCHWRIGHT_CONFINED"

// Files of a confined process in addition to the standard ones: the user's standard
// error, which is separate from the stream of the Go runtime's last words, and the
// end of a pipe that closes when the first process is interrupted or ends.
const (
	confinedStderr   = 3
	confinedLifeline = 4
)

// exitOutOfMemory is the exit code of a confined process that exceeded the memory limit
// and has shown nothing.
const exitOutOfMemory = 100

// confinement runs a command in a process whose memory the operating system limits:
// evaluation can ask for several times the memory limit in one step, which nothing
// in the process itself can stop. Starting that process takes 13 ms of CPU time, a third
// of vet for blueprints/batch-platform, so it is done only for blueprints that need it.
type confinement struct {
	args   []string
	stdin  *recorder
	stdout io.Writer
	inside bool // this process is the confined one
	meter  *meter

	once sync.Once
	end  error // of the confined process; in that process, of limiting its memory
}

// errOutOfMemory says that a confined process exceeded the memory limit.
var errOutOfMemory = errors.New("out of memory")

// exitError ends a command with the exit code of the confined process, which has
// already shown everything.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// recorder keeps the data that is read from standard input for the confined process.
type recorder struct {
	io.Reader
	read bytes.Buffer
	used bool
}

func (r *recorder) Read(p []byte) (int, error) {
	r.used = true
	n, err := r.Reader.Read(p)
	r.read.Write(p[:n])
	return n, err
}

// confine returns the command prepared to run in a confined process, and a context
// that is done when the process must end.
func (c Command) confine(ctx context.Context, args []string) (Command, context.Context) {
	if !canConfine || !c.OwnsProcess {
		return c, ctx
	}
	c.confinement = &confinement{args: args, stdout: c.Stdout, inside: os.Getenv(confinedVariable) != ""}
	if !c.confinement.inside {
		c.confinement.stdin = &recorder{Reader: c.Stdin}
		c.Stdin = c.confinement.stdin
		return c, ctx
	}
	os.Unsetenv(confinedVariable)
	c.Stderr = os.NewFile(confinedStderr, "stderr")
	lifeline := os.NewFile(confinedLifeline, "lifeline")
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, lifeline)
		cancel()
		signal.Reset(os.Interrupt, syscall.SIGTERM)
	}()
	return c, ctx
}

// compileConfined compiles a blueprint, in the confined process if the blueprint
// needs one. That process does the whole work of the command, and the error is then
// an exitError.
func (c *confinement) compileConfined(ctx context.Context, in compiler.Input) (*compiler.Result, error) {
	if c != nil && c.inside {
		c.once.Do(func() { c.end = limitMemory(in.MaxMemory) })
		if c.end != nil {
			return nil, fmt.Errorf("limiting memory: %w", c.end)
		}
	}
	in.RefuseUnbounded = c != nil && !c.inside
	res, err := compiler.Compile(ctx, in)
	if c != nil && c.inside && res.OutOfMemory {
		// The evaluation that was given up still runs, and can end this process at any
		// moment. The first process shows the finding in both cases.
		return res, exitError{exitOutOfMemory}
	}
	if c != nil && c.inside && slices.ContainsFunc(res.Findings.Sorted(), exceedsLimit) {
		// The same is true of a compilation that took too long, but only this process can
		// show that.
		if err := limitMemory(math.MaxInt64 / 2); err != nil {
			return nil, fmt.Errorf("lifting the limit of memory: %w", err)
		}
	}
	var unbounded *compiler.UnboundedError
	if !errors.As(err, &unbounded) {
		return res, err
	}
	c.once.Do(func() { // one run serves all blueprints of the command
		c.meter.handOver()
		c.end = c.runConfined(ctx, in.MaxMemory)
		if !errors.As(c.end, new(exitError)) {
			c.meter.eraseOther()
		}
	})
	if c.end == errOutOfMemory {
		res.Findings.Add(unbounded.Finding)
		return res, nil
	}
	return res, c.end
}

// exceedsLimit reports whether a finding says that a compilation was given up.
func exceedsLimit(f diag.Finding) bool { return f.Code == "E0007" }

// ranOutOfMemory reports whether a confined process reached its memory limit, judged
// by its last words and its peak of memory in bytes. The Go runtime does not always
// check whether it got memory, for example in its garbage collector, and then dies
// from a signal in its own code. A mistake in this program ends as a panic instead.
func ranOutOfMemory(lastWords string, peak, limit int64) bool {
	for _, words := range []string{
		"out of memory", "cannot allocate memory", "pthread_create failed",
		"SIGSEGV: segmentation violation\nPC=", "unexpected signal during runtime execution",
	} {
		if strings.Contains(lastWords, words) {
			return true
		}
	}
	return peak > limit/2
}

// runConfined runs the command in a process with a memory limit, in bytes. The error is
// an exitError if the process did the work of the command.
func (c *confinement) runConfined(ctx context.Context, limit int64) error {
	lifeline, hold, err := os.Pipe()
	if err != nil {
		return err
	}
	defer lifeline.Close()
	release := sync.OnceFunc(func() { hold.Close() })
	defer release()
	defer context.AfterFunc(ctx, release)()

	lastWords := &limitedBuffer{limit: 64 << 10}
	cmd := exec.Command("/proc/self/exe", c.args...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), confinedVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.stdout, lastWords
	if c.stdin.used {
		cmd.Stdin = &c.stdin.read
	}
	cmd.ExtraFiles = []*os.File{os.Stderr, lifeline}
	err = cmd.Run()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return exitError{exitClean}
	case !errors.As(err, &failed):
		return err
	case failed.ExitCode() == exitOutOfMemory:
		return errOutOfMemory
	case lastWords.Len() == 0 && failed.Exited():
		return exitError{failed.ExitCode()}
	case ranOutOfMemory(lastWords.String(), peakMemory(failed.SysUsage()), limit):
		return errOutOfMemory
	}
	return fmt.Errorf("the confined compiler: %w\n%s", err, lastWords.Bytes())
}

// limitedBuffer keeps the beginning of the data that is written to it.
type limitedBuffer struct {
	bytes.Buffer
	limit int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(b.limit-b.Len(), 0))])
	return len(p), nil
}
