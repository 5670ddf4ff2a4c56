package main

import (
	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/spf13/cobra"
)

func (c Command) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a blueprint, for editors of YAML and JSON",
		Long: `Schema prints the grammar of a blueprint as a JSON Schema (draft 7). With it,
editors complete fields, show their meaning and underline mistakes. Write it to
a file beside the blueprint, again after each new version of batchwright, and
refer to it in the first line of the YAML:

  # yaml-language-server: $schema=blueprint.schema.json

It describes a whole blueprint, so it reports missing fields in a file that only
changes another one. Blueprints in CUE do not need it: see batchwright init.`,
		Example: `  batchwright schema > blueprint.schema.json
  batchwright schema | jq .properties.tiers`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema, err := blueprint.JSONSchema()
			if err != nil {
				return err
			}
			_, err = c.Stdout.Write(schema)
			return err
		},
	}
}
