package main

import "github.com/spf13/cobra"

func (c Command) help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does, its flags and examples",
		Long:  "Help shows what batchwright or one of its commands does.",
		Example: `  batchwright help
  batchwright help compile`,
		DisableFlagsInUseLine: true,
		RunE: c.run(func(cmd *cobra.Command, args []string) error {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return unknownCommand(cmd.Root(), args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		}),
	}
}
