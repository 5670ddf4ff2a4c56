package main

import (
	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/spf13/cobra"
)

func (c Command) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a blueprint, for editors of YAML and JSON",
		Long: `Schema prints the grammar of a blueprint as a JSON Schema of draft 7: editors
complete fields, show what they mean and underline what does not fit. Write it to
a file beside the blueprint, anew after another version was installed, and name
it in the first line of the YAML:

  # yaml-language-server: $schema=blueprint.schema.json

It is that of a whole blueprint. A file that is laid over another one lacks what
is required. Blueprints in CUE have no need of it: see batchwright init.`,
		Example: `  batchwright schema > blueprint.schema.json
  batchwright schema | jq .properties.tiers`,
		Args: cobra.NoArgs,
		RunE: c.run(func(*cobra.Command, []string) error {
			schema, err := blueprint.JSONSchema()
			if err != nil {
				return err
			}
			_, err = c.Stdout.Write(schema)
			return err
		}),
	}
}
