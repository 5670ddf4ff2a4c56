// Batchwright-rehearse plays a scenario through Kueue's own scheduler. It reads a
// rehearsal.Scenario as JSON from standard input, and writes a rehearsal.History as JSON to
// standard output. The command "batchwright rehearse" runs it.
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
	"slices"
	"syscall"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/world"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, problems io.Writer) int {
	err := do(args, in, out)
	if err == nil {
		return 0
	}
	fmt.Fprintln(problems, "batchwright-rehearse:", err)
	if errors.Is(err, runner.ErrScenario) {
		return 2
	}
	return 3
}

func do(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 1 && args[0] == "version" {
		return json.NewEncoder(out).Encode(map[string]string{"kueue": runner.Kueue})
	}
	// With "progress" the program is to say how far it is.
	if len(args) > 0 && !slices.Equal(args, []string{"progress"}) {
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
	history, err := runner.Play(ctx, &scenario, func(int64) {})
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := json.NewEncoder(buffered).Encode(history); err != nil {
		return err
	}
	return buffered.Flush()
}
