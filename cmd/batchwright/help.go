package main

import "github.com/spf13/cobra"

func (c Command) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the description, flags and examples of a command",
		Long:  "Help shows the description, flags and examples of batchwright or one of its commands.",
		Example: `  batchwright help
  batchwright help compile`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return unknownCommand(cmd.Root(), args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
