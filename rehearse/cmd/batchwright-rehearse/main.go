// Batchwright-rehearse plays a scenario through Kueue's own scheduler. The command
// "batchwright rehearse" runs it; package program says what it reads, writes and returns.
package main

import (
	"os"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/program"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/world"
)

func main() {
	world.Quiet()
	os.Exit(program.Program{
		Name:      "batchwright-rehearse",
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: runner.Kueue},
		Plays:     runner.Kueue,
		Play:      runner.Play,
	}.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
