package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler"
)

// choice is the value of a flag that accepts a few values.
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

// choiceFlag adds a flag with the given values. The first one is the default.
func choiceFlag(cmd *cobra.Command, name, usage string, values ...string) *choice {
	c := &choice{values[0], values}
	cmd.Flags().Var(c, name, usage)
	completeFlag(cmd, name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// completeFlag makes the shell offer values for a flag of the command.
func completeFlag(cmd *cobra.Command, name string, offer cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, offer); err != nil {
		panic(err) // the command has no such flag
	}
}

// Values of --format.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatGitHub = "github" // workflow commands
	formatSARIF  = "sarif"
)

// addFormat adds the flag --format.
func (c *Command) addFormat(cmd *cobra.Command, usage string, values ...string) {
	c.format = choiceFlag(cmd, "format", usage, values...)
}

// addFindingsFormat adds the flag --format to a command that shows findings.
func (c *Command) addFindingsFormat(cmd *cobra.Command, usage string) {
	c.addFormat(cmd, usage, formatText, formatJSON, formatGitHub, formatSARIF)
}

// addColor adds the flag --color.
func (c *Command) addColor(cmd *cobra.Command) {
	c.color = choiceFlag(cmd, "color", "whether to use colours", colorAuto, colorAlways, colorNever)
}

// checkNamed rejects a flag that is set to no file.
func checkNamed(cmd *cobra.Command, flag, name string) error {
	if name == "" && cmd.Flags().Changed(flag) {
		return usageErrorf("--%s: the name is empty; is a variable unset?", flag)
	}
	return nil
}

// inputFlags are the flags of commands that read a blueprint.
type inputFlags struct {
	tags      []string
	maxTime   time.Duration
	maxMemory resource.QuantityValue
}

// addInput adds the flags of inputFlags.
func (c *Command) addInput(cmd *cobra.Command) {
	in := &c.input
	in.maxMemory.Quantity = *resource.NewQuantity(compiler.DefaultMaxMemory, resource.BinarySI)
	flags := cmd.Flags()
	flags.StringArrayVarP(&in.tags, "tag", "t", nil, "value of a @tag attribute, as `key=value`; can be repeated")
	flags.DurationVar(&in.maxTime, "max-time", compiler.DefaultMaxTime,
		"reject a blueprint that takes more time to compile")
	flags.Var(&in.maxMemory, "max-memory", "reject a blueprint that takes more `memory` to compile")
}

// check rejects values that make no sense.
func (in *inputFlags) check() error {
	for _, t := range in.tags {
		if t == "" || t[0] == '=' {
			return usageErrorf("-t %q: want key=value, or the name of a condition", t)
		}
	}
	if in.maxTime <= 0 {
		return usageErrorf("--max-time %v: want a duration, such as 5m", in.maxTime)
	}
	if in.maxMemory.Value() <= 0 {
		return usageErrorf("--max-memory %s: want an amount, such as 8Gi", in.maxMemory.String())
	}
	return nil
}
