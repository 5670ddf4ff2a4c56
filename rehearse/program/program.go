// Package program is the outside of an engine: what the program reads, writes and returns.
//
// The program reads a rehearsal.Scenario as JSON from standard input, and writes a
// rehearsal.History as JSON to standard output. With the argument "progress" it also writes
// a line of JSON to standard error each second: the virtual time in seconds, and the number
// of jobs that have ended, such as {"now":86400,"done":120}.
//
// With the argument "version" it prints the scheduler that it contains instead. Exit codes:
// 0 for a rehearsal, also for one that an interrupt ended early; 2 if the scenario cannot be
// played; 3 if the program could not do its work.
package program

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
)

// CollectSeldom lets the garbage collector of the process run seldom until the heap is large:
// what lives long is small, and schedulers make much that lives for one cycle. The limit is
// not strict, so a rehearsal that needs more memory has it.
func CollectSeldom() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(900 << 20)
}

// Program is an engine as a program.
type Program struct {
	Name      string              // of the program
	Scheduler rehearsal.Scheduler // the scheduler whose code decides
	// Plays is the release that a platform must install. It is the release of Scheduler,
	// unless that release stands in for another one.
	Plays string
	// Play plays a scenario, and calls progress at each event, with its time and the number
	// of jobs that have ended before. An error that is no stage.ErrScenario is a bug.
	Play func(ctx context.Context, s *rehearsal.Scenario, progress func(now int64, ended int)) (
		*rehearsal.History, error)
}

// Run runs the program, and returns the exit code.
func (p Program) Run(args []string, in io.Reader, out, problems io.Writer) int {
	err := p.do(args, in, out, problems)
	if err == nil {
		return 0
	}
	fmt.Fprintln(problems, p.Name+":", err)
	if errors.Is(err, stage.ErrScenario) {
		return 2
	}
	return 3
}

func (p Program) do(args []string, in io.Reader, out, problems io.Writer) error {
	if len(args) == 1 && args[0] == "version" {
		return json.NewEncoder(out).Encode(p.Scheduler)
	}
	progress := func(int64, int) {}
	switch {
	case len(args) == 1 && args[0] == "progress":
		report := &reporter{}
		progress = report.note
		defer report.start(problems)()
	case len(args) > 0:
		return fmt.Errorf("%w: it is read from standard input, and %q is no command", stage.ErrScenario, args[0])
	}
	var scenario rehearsal.Scenario
	decoder := json.NewDecoder(bufio.NewReader(in))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&scenario); err != nil {
		return fmt.Errorf("%w: this program must be built together with batchwright, by \"make\": %w",
			stage.ErrScenario, err)
	}
	if err := p.check(scenario.Scheduler); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	CollectSeldom()
	history, err := p.Play(ctx, &scenario, progress)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := json.NewEncoder(buffered).Encode(history); err != nil {
		return err
	}
	return buffered.Flush()
}

// check returns an error if the platform installs a scheduler that the program cannot play.
func (p Program) check(installed rehearsal.Scheduler) error {
	contains := p.Scheduler.Title()
	switch {
	case installed.Name != p.Scheduler.Name:
	case installed.Version == p.Plays:
		return nil
	case p.Plays != p.Scheduler.Version:
		contains += ", which stands in for " + p.Plays + " only"
	}
	return fmt.Errorf("%w: the platform installs %s, and this program contains %s", stage.ErrScenario,
		installed.Title(), contains)
}

// reporter writes the progress of a rehearsal. Only the clock of the rehearsal is virtual:
// the reporter runs outside, and sees what the rehearsal has noted last.
type reporter struct{ now, ended atomic.Int64 }

// note notes the time of the rehearsal and the number of jobs that have ended.
func (r *reporter) note(now int64, ended int) {
	r.now.Store(now)
	r.ended.Store(int64(ended))
}

// start writes a line each second until the returned function is called.
func (r *reporter) start(to io.Writer) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(time.Second)
	go func() {
		defer close(gone)
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(to, "{\"now\":%d,\"done\":%d}\n", r.now.Load(), r.ended.Load())
			case <-quit:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-gone
	}
}
