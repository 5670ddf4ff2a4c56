package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (c Command) completionCommand() *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands and flags in a shell",
		Long:  "Completion prints a script for " + strings.Join(shells, ", ") + ".",
		Example: `  source <(batchwright completion bash)
  batchwright completion zsh > "${fpath[1]}/_batchwright"
  batchwright completion fish > ~/.config/fish/completions/batchwright.fish`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageErrorf("want one of the shells %s", strings.Join(shells, ", "))
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.Stdout, true)
			case "fish":
				return root.GenFishCompletion(c.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.Stdout)
			default:
				return root.GenZshCompletion(c.Stdout)
			}
		},
	}
}
