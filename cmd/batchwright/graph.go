package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/emit/graph"
)

func (c Command) graph() *cobra.Command {
	var input *inputFlags
	var format, color *choice
	var full bool
	cmd := &cobra.Command{
		Use:   "graph [PATH...]",
		Short: "Draw the cohorts, teams, queues, flavors and pools of a blueprint",
		Long: `Graph draws a blueprint: cohorts hold teams, teams have queues, arrows lead from
a queue to the ResourceFlavors it has quota of, and from a flavor to its node
pools.

Mermaid is drawn by GitHub and GitLab in a Markdown code block, dot by Graphviz.
With more than a dozen teams, or cohorts, those that are alike are drawn as one,
with the sum of their quotas, unless --full is given.`,
		Example: "  batchwright graph blueprints/batch-platform\n" +
			"  batchwright graph --format dot . | dot -Tsvg > platform.svg\n" +
			"  batchwright graph --format json --full . | jq '.nodes[] | select(.kind == \"queue\").name'",
	}
	cmd.RunE = c.run(func(cmd *cobra.Command, paths []string) error {
		return c.draw(cmd.Context(), paths, input, full, format.value, color)
	})
	input = addInputFlags(cmd)
	format = choiceFlag(cmd, "format", "of the drawing", formatMermaid, formatDot, formatJSON)
	cmd.Flags().BoolVar(&full, "full", false, "draw each team and cohort")
	color = colorFlag(cmd)
	return cmd
}

// Values of --format of graph.
const (
	formatMermaid = "mermaid"
	formatDot     = "dot"
)

func (c Command) draw(ctx context.Context, paths []string, in *inputFlags, full bool, format string, color *choice) error {
	res, err := c.check(ctx, paths, in)
	if err != nil {
		return err
	}
	if err := writeFindings(c.Stderr, &res.Findings, &choice{value: formatText}, color); err != nil {
		return err
	}
	if res.Plan == nil {
		return errFindings
	}
	g := graph.Of(res.Plan, full)
	var drawing []byte
	switch format {
	case formatDot:
		drawing = g.Dot()
	case formatJSON:
		drawing, err = g.JSON()
	default:
		drawing = g.Mermaid()
	}
	if err != nil {
		return err
	}
	_, err = c.Stdout.Write(drawing)
	return err
}
