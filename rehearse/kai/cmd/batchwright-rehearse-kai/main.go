// Batchwright-rehearse-kai plays a scenario through KAI Scheduler's own code. The command
// "batchwright rehearse" runs it; package program says what it reads, writes and returns.
package main

import (
	"fmt"
	"os"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/kai/runner"
	"github.com/batchwright/batchwright/rehearse/kai/world"
	"github.com/batchwright/batchwright/rehearse/program"
)

func main() {
	const name = "batchwright-rehearse-kai"
	if err := world.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(3)
	}
	os.Exit(program.Program{
		Name:      name,
		Scheduler: rehearsal.Scheduler{Name: ir.KAI, Version: runner.KAI},
		Plays:     runner.Plays,
		Play:      runner.Play,
	}.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
