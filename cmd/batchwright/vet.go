package main

import (
	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/diag"
)

func (c Command) vet() *cobra.Command {
	var strict bool
	var tags *[]string
	var format, color *choice
	cmd := &cobra.Command{
		Use:   "vet [PATH...]",
		Short: "Check a blueprint and write nothing",
		Long: `Vet checks a blueprint as compile does, and shows its findings on standard
output. PATHs are as for compile.

It exits with 1 if there are errors, and with --strict also if there are
warnings.`,
		Example: `  batchwright vet blueprints/prod
  batchwright vet --strict --format json . | jq -r 'select(.code) | .code'
  cat prod.yaml | batchwright vet yaml:-`,
	}
	cmd.RunE = c.run(func(cmd *cobra.Command, paths []string) error {
		res, err := c.check(cmd.Context(), paths, *tags)
		if err != nil {
			return err
		}
		if err := writeFindings(c.Stdout, &res.Findings, format, color); err != nil {
			return err
		}
		if res.Findings.HasErrors() || strict && res.Findings.Count(diag.Warning) > 0 {
			return errFindings
		}
		return nil
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	tags = tagFlag(cmd)
	format = formatFlag(cmd, "of findings")
	color = colorFlag(cmd)
	return cmd
}
