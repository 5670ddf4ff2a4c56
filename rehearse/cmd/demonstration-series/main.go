// Demonstration-series plays the demonstration of a blueprint in a rehearsal, and prints
// the metrics that Kueue and GKE would have reported, as JSON: conformance/boards/phases
// draws the dashboards from them. PATHS are those of the blueprint.
//
//	demonstration-series PATHS...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/world"
)

func main() {
	if err := printSeries(os.Stdout, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

// phase is a phase that was played.
type phase struct {
	Name    string              `json:"name"`
	At      int64               `json:"at"` // the end, in seconds since the start
	Figures []monitoring.Figure `json:"figures"`
}

// output is what the program prints.
type output struct {
	Phases []phase   `json:"phases"`
	Series []*series `json:"series"`
}

func printSeries(to io.Writer, paths []string) error {
	world.Quiet()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	result, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: paths})
	if err != nil {
		return err
	}
	if result.Plan == nil || result.Plan.Scheduler != ir.Kueue {
		return fmt.Errorf("%v: no blueprint without errors and with Kueue", paths)
	}
	tree, err := folder.Build(result.Plan)
	if err != nil {
		return err
	}
	scenario, err := rehearsal.OfDemonstration(result.Plan, tree)
	if err != nil {
		return err
	}
	history, err := runner.Play(context.Background(), scenario, func(int64, int) {})
	if err != nil {
		return err
	}
	out := output{Series: seriesOf(result.Plan, scenario, history)}
	for i, p := range result.Plan.Demonstration {
		out.Phases = append(out.Phases, phase{p.Name, scenario.Looks[i], monitoring.Figures(result.Plan, i)})
	}
	return json.NewEncoder(to).Encode(out)
}
