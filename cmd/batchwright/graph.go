package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/graph"
	"github.com/batchwright/batchwright/emit/mermaid"
)

// drawing holds the graph command and its flags.
type drawing struct {
	Command
	full bool
}

// Values of --format of graph.
const (
	formatMermaid = "mermaid"
	formatDot     = "dot"
)

func (c Command) graphCommand() *cobra.Command {
	d := &drawing{Command: c}
	cmd := &cobra.Command{
		Use:   "graph [PATH...]",
		Short: "Draw the cohorts, teams, queues, flavors and pools of a blueprint",
		Long: `Graph draws a blueprint: cohorts contain teams, teams contain queues, and arrows
lead from a queue to the ResourceFlavors that it has quota of, and from a flavor
to its node pools.

GitHub and GitLab draw Mermaid in a Markdown code block; Graphviz draws dot.
A Mermaid drawing shows a flavor together with its node pools, in a color of its
own, and names the team of a queue in the queue's box.

If there are more than a dozen teams or cohorts, or more than 16 boxes of queues
in a Mermaid drawing, graph draws similar teams or cohorts as one, unless --full
is set. Such a drawing adds up the guaranteed quotas, and does not add up
borrowing limits. Mermaid draws at most 500 arrows and 50,000 characters.
If a full drawing has more, graph folds it too, and says so.`,
		Example: "  batchwright graph blueprints/batch-platform\n  batchwright graph --format dot . | dot -Tsvg > " +
			"platform.svg\n  batchwright graph --format json --full . | jq '.nodes[] | select(.kind == " +
			"\"queue\").name'",
		RunE: d.run,
	}
	cmd.Flags().BoolVar(&d.full, "full", false, "draw each team and cohort")
	d.addInput(cmd)
	d.addFormat(cmd, "output format of the drawing", formatMermaid, formatDot, formatJSON)
	d.addColor(cmd)
	return cmd
}

func (d *drawing) run(cmd *cobra.Command, paths []string) error {
	plan, err := d.compilePlan(cmd.Context(), paths)
	if err != nil {
		return err
	}
	var out []byte
	switch d.format.value {
	case formatDot:
		out = graph.Of(plan, d.full).Dot()
	case formatJSON:
		out, err = graph.Of(plan, d.full).JSON()
	default:
		out = d.drawMermaid(plan)
	}
	if err != nil {
		return err
	}
	_, err = d.Stdout.Write(out)
	return err
}

// drawMermaid draws a plan in Mermaid. If Mermaid cannot draw what --full asks for, it
// says what it draws instead.
func (d *drawing) drawMermaid(p *ir.Platform) []byte {
	finest := graph.Each
	if d.full {
		finest = graph.Full
	}
	drawn := graph.Draw(p, finest)
	if d.full && drawn.Detail != graph.Full {
		fmt.Fprintf(d.Stderr, "Mermaid draws at most %d arrows and %d characters, and this drawing has more. "+
			"Similar teams are drawn as one.\nTo draw each, use --format dot or --format json.\n",
			mermaid.MaxArrows, mermaid.MaxText)
	}
	return []byte(strings.Join(drawn.Lines, "\n") + "\n")
}
