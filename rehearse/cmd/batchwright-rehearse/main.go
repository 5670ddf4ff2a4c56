// Batchwright-rehearse plays a scenario through Kueue's own scheduler. It reads a
// rehearsal.Scenario as JSON from standard input, and writes a rehearsal.History as JSON to
// standard output. The command "batchwright rehearse" runs it.
//
// With the argument "progress" it also writes a line of JSON to standard error each second:
// the virtual time in seconds, and the number of jobs that have ended, such as
// {"now":86400,"done":120}.
//
// With the argument "version" it prints the release of Kueue instead. Exit codes: 0 for a
// rehearsal, also for one that an interrupt ended early; 2 if the scenario cannot be
// played; 3 if the program could not do its work.
package main

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
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/world"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, problems io.Writer) int {
	err := do(args, in, out, problems)
	if err == nil {
		return 0
	}
	fmt.Fprintln(problems, "batchwright-rehearse:", err)
	if errors.Is(err, runner.ErrScenario) {
		return 2
	}
	return 3
}

func do(args []string, in io.Reader, out, problems io.Writer) error {
	if len(args) == 1 && args[0] == "version" {
		return json.NewEncoder(out).Encode(map[string]string{"kueue": runner.Kueue})
	}
	progress := func(int64, int) {}
	switch {
	case len(args) == 1 && args[0] == "progress":
		report := &reporter{}
		progress = report.note
		defer report.start(problems)()
	case len(args) > 0:
		return fmt.Errorf("%w: it is read from standard input, and %q is no command", runner.ErrScenario, args[0])
	}
	var scenario rehearsal.Scenario
	decoder := json.NewDecoder(bufio.NewReader(in))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&scenario); err != nil {
		return fmt.Errorf("%w: this program must be built together with batchwright, by \"make\": %w",
			runner.ErrScenario, err)
	}
	if scenario.Kueue != runner.Kueue {
		return fmt.Errorf("%w: the platform installs Kueue %s, and this program contains Kueue %s",
			runner.ErrScenario, scenario.Kueue, runner.Kueue)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// What lives long is small, and Kueue makes much that lives for one cycle.
	debug.SetGCPercent(800)
	world.Quiet()
	history, err := runner.Play(ctx, &scenario, progress)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := json.NewEncoder(buffered).Encode(history); err != nil {
		return err
	}
	return buffered.Flush()
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
