package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/emit/review/graph"
)

// drawing holds the graph command and its flags.
type drawing struct {
	Command
	full   bool
	input  *inputFlags
	format *choice
	color  *choice
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
If there are more than a dozen teams or cohorts, graph draws similar ones as one,
with the sum of their quotas, unless --full is set.`,
		Example: "  batchwright graph blueprints/batch-platform\n  batchwright graph --format dot . | dot -Tsvg > " +
			"platform.svg\n  batchwright graph --format json --full . | jq '.nodes[] | select(.kind == " +
			"\"queue\").name'",
		RunE: c.markRunErrors(func(cmd *cobra.Command, paths []string) error { return d.run(cmd.Context(), paths) }),
	}
	cmd.Flags().BoolVar(&d.full, "full", false, "draw each team and cohort")
	d.input = c.addInputFlags(cmd)
	d.format = choiceFlag(cmd, "format", "output format of the drawing", formatMermaid, formatDot, formatJSON)
	d.color = colorFlag(cmd)
	return cmd
}

func (d *drawing) run(ctx context.Context, paths []string) error {
	res, err := d.compileBlueprint(ctx, paths, d.input)
	if err != nil {
		return err
	}
	if err := writeFindings(d.Stderr, res.Findings.Filter(noteFlag{}.keeps), &choice{value: formatText},
		d.color); err != nil {
		return err
	}
	if res.Plan == nil {
		return errFindings
	}
	g := graph.Of(res.Plan, d.full)
	var out []byte
	switch d.format.value {
	case formatDot:
		out = g.Dot()
	case formatJSON:
		out, err = g.JSON()
	default:
		out = g.Mermaid()
	}
	if err != nil {
		return err
	}
	_, err = d.Stdout.Write(out)
	return err
}
