package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag with few valid values.
type choice struct {
	value  string
	values []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return strings.Join(c.values, "|") }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.values, value) {
		return fmt.Errorf("want one of %s", strings.Join(c.values, ", "))
	}
	c.value = value
	return nil
}

// choiceFlag adds a flag whose first value is the default.
func choiceFlag(cmd *cobra.Command, name, usage string, values ...string) *choice {
	c := &choice{values[0], values}
	cmd.Flags().Var(c, name, usage)
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added a line above
	}
	return c
}

// Values of --format.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatGitHub = "github" // workflow commands
	formatSARIF  = "sarif"
)

// findingsFormatFlag is for commands that show findings.
func findingsFormatFlag(cmd *cobra.Command, usage string) *choice {
	return choiceFlag(cmd, "format", usage, formatText, formatJSON, formatGitHub, formatSARIF)
}

func formatFlag(cmd *cobra.Command, usage string) *choice {
	return choiceFlag(cmd, "format", usage, formatText, formatJSON)
}

func colorFlag(cmd *cobra.Command) *choice {
	return choiceFlag(cmd, "color", "whether to use colours", colorAuto, colorAlways, colorNever)
}

func tagFlag(cmd *cobra.Command) *[]string {
	return cmd.Flags().StringArrayP("tag", "t", nil, "value of a @tag attribute, as `key=value`; can be repeated")
}
